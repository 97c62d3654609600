"""The other side of benchmarks/peers.py: other people's methods, run with the Python they are installed for.

Reads one job in JSON a line from standard input, and answers each with a line of JSON: versions, and for each amount of
work the policy, the CPU seconds and the steps of play so far; or why it cannot. It does not import tacit.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Answer = dict[str, Any]


def clock(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a call gives and its least CPU time of up to 5, after one that compiles and loads."""
    found, times = call(), []
    while len(times) < 5 and sum(times) < 1:
        start = time.process_time()
        found = call()
        times.append(time.process_time() - start)
    return found, min(times)


def listed(profiles: Any) -> list[Any]:
    return [[np.asarray(part, dtype=float).tolist() for part in profile] for profile in profiles]


def nashpy(job: Answer) -> Iterator[Answer]:
    import nashpy as nash

    game = nash.Game(*np.array(job["payoffs"]))
    ways = {
        "support": lambda: list(game.support_enumeration()),
        "vertex": lambda: list(game.vertex_enumeration()),
        "lemke-howson": lambda: [game.lemke_howson(initial_dropped_label=0)],
    }
    found, seconds = clock(ways[job["method"]])
    yield {"profiles": listed(found), "seconds": seconds}


def quantecon(job: Answer) -> Iterator[Answer]:
    from quantecon import game_theory as gt

    payoffs = np.array(job["payoffs"])
    order = range(len(payoffs))
    game = gt.NormalFormGame([gt.Player(np.transpose(pay, [*order[i:], *order[:i]])) for i, pay in enumerate(payoffs)])
    ways = {
        "support": lambda: gt.support_enumeration(game),
        "vertex": lambda: gt.vertex_enumeration(game),
        "lemke-howson": lambda: [gt.lemke_howson(game)],
        "mclennan-tourky": lambda: [gt.mclennan_tourky(game)],
    }
    found, seconds = clock(ways[job["method"]])
    yield {"profiles": listed(found), "seconds": seconds}


def gambit(job: Answer) -> Iterator[Answer]:
    import pygambit

    game = pygambit.StrategicGame.from_arrays(*np.array(job["payoffs"]))
    ways = {
        "enummixed": lambda: pygambit.nash.enummixed_solve(game, rational=False),
        "lcp": lambda: pygambit.nash.lcp_solve(game, rational=False, stop_after=1),
        "logit": lambda: pygambit.nash.logit_solve(game),
        "gnm": lambda: pygambit.nash.gnm_solve(game),
    }
    result, seconds = clock(ways[job["method"]])
    found = result.equilibria if hasattr(result, "equilibria") else [result.equilibrium] * bool(result.equilibrium)
    profiles = [[[float(p) for _, p in profile[player]] for player in game.players] for profile in found]
    yield {"profiles": profiles, "seconds": seconds}


def sgamesolver(job: Answer) -> Iterator[Answer]:
    vars(np)["NaN"] = np.nan  # release 1.0.2 wants the name that NumPy 2 removed
    import sgamesolver as sg

    def solve() -> Any:
        game = sg.SGame(np.array(job["rewards"]), np.array(job["transitions"]), job["discount"])
        homotopy = getattr(sg.homotopy, job["method"])(game)
        homotopy.solver_setup()
        homotopy.solver.verbose = 0
        homotopy.solve()
        return homotopy.equilibrium.strategies  # [S, N, A]

    found, seconds = clock(solve)
    yield {"tables": np.transpose(found, (1, 0, 2))[:, None].tolist(), "seconds": seconds}


def openspiel_game(job: Answer) -> Any:
    import pyspiel

    if "openspiel" in job:
        return pyspiel.load_game(job["openspiel"])
    payoffs = np.array(job["payoffs"])
    return pyspiel.create_tensor_game([pay.ravel().tolist() for pay in payoffs], list(payoffs.shape[1:]))


def tabulate(game: Any, probabilities: Callable[[Any, int], dict[int, float]]) -> dict[str, list[dict[int, float]]]:
    """Return what all play after every history in which they move at once."""
    found, waiting = {}, [game.new_initial_state()]
    while waiting:
        state = waiting.pop()
        if state.is_simultaneous_node():
            found[state.history_str()] = [probabilities(state, i) for i in range(game.num_players())]
            joints = np.stack(
                np.meshgrid(*(state.legal_actions(i) for i in range(game.num_players())), indexing="ij"), -1
            )
            for joint in joints.reshape(-1, game.num_players()):
                child = state.clone()
                child.apply_actions([int(a) for a in joint])
                waiting.append(child)
        elif not state.is_terminal():
            waiting += [state.child(a) for a, _ in state.chance_outcomes()]
    return found


def openspiel(job: Answer) -> Iterator[Answer]:
    """Fictitious play in Python, CFR and CFR+ compiled: the game in turns, the second does not see the first's move."""
    import pyspiel
    from open_spiel.python.algorithms.fictitious_play import XFPSolver

    game = openspiel_game(job)
    turns = pyspiel.convert_to_turn_based(game)
    start = time.process_time()
    solver = {"xfp": XFPSolver, "cfr": pyspiel.CFRSolver, "cfr+": pyspiel.CFRPlusSolver}[job["method"]](turns)
    step = solver.iteration if job["method"] == "xfp" else solver.evaluate_and_update_policy
    seconds, done = time.process_time() - start, 0

    def probabilities(state: Any, i: int) -> dict[int, float]:
        turn = turns.new_initial_state()
        for a in state.history():
            turn.apply_action(a)
        for _ in range(i):  # what those before choose does not matter: it is not seen
            turn.apply_action(turn.legal_actions()[0])
        found: dict[int, float] = policy.action_probabilities(turn)
        return found

    for amount in job["amounts"]:
        start = time.process_time()
        for _ in range(amount - done):
            step()
        policy, done = solver.average_policy(), amount
        seconds += time.process_time() - start
        yield {"histories": tabulate(game, probabilities), "seconds": seconds, "iterations": done}


def openspiel_q(job: Answer) -> Iterator[Answer]:
    """Independent Q-learning as in OpenSpiel's example, with its defaults; the answer is greedy."""
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms.tabular_qlearner import QLearner

    np.random.seed(job["seed"])  # noqa: NPY002 (the generator that OpenSpiel's agents draw from)
    game = openspiel_game(job)
    env = rl_environment.Environment(game)
    env.seed(job["seed"])
    agents = [QLearner(player_id=i, num_actions=game.num_distinct_actions()) for i in range(game.num_players())]
    tensor = "observation_tensor" if env._use_observation else "information_state_tensor"

    def greedy(state: Any, i: int) -> dict[int, float]:
        known = agents[i]._q_values[str(getattr(state, tensor)(i))]
        return {max(state.legal_actions(i), key=lambda a: known[a]): 1.0}

    seconds, steps, done = 0.0, 0, 0
    for amount in job["amounts"]:
        start = time.process_time()
        for _ in range(amount - done):
            now = env.reset()
            while not now.last():
                now = env.step([agent.step(now).action for agent in agents])
                steps += 1
            for agent in agents:
                agent.step(now)
        done = amount
        seconds += time.process_time() - start
        yield {"histories": tabulate(game, greedy), "seconds": seconds, "steps": steps}


def nash_vi(job: Answer) -> Iterator[Answer]:
    """Optimistic Nash value iteration after Liu, Yu, Bai and Jin (2021): one learner for both players, own code.

    It plays a Nash equilibrium, by QuantEcon's Lemke–Howson, of each stage game of its model with a bonus proportional
    to H/√n, and plans again whenever the visits of some joint action have doubled, not every episode. Its answer is the
    equilibrium of the model without bonus.
    """
    from quantecon import game_theory as gt

    P, r = np.array(job["transitions"]), np.array(job["rewards"])  # [S, A, B, S], [2, S, A, B]
    H, initial, (S, A, B) = job["horizon"], np.array(job["initial"]), r.shape[1:]
    rng, span = np.random.default_rng(job["seed"]), float(r.max() - r.min())
    cumulative = P.cumsum(-1)
    visits, seen = np.zeros((S, A, B)), np.zeros((S, A, B, S))
    known = np.zeros_like(r)

    def plan(bonus: float) -> tuple[Any, Any]:
        rows = [np.full((H, S, A), 1 / A), np.full((H, S, B), 1 / B)]
        V, n = np.zeros((2, S)), np.maximum(visits, 1)
        model = np.where(visits[..., None] > 0, seen / n[..., None], 1 / S)
        for h in reversed(range(H)):
            Q = known + np.einsum("sabt,it->isab", model, V) + bonus * span * H / np.sqrt(n)
            Q = np.minimum(Q, (H - h) * r.max())
            for s in np.flatnonzero(visits.sum((1, 2))):
                game = gt.NormalFormGame([gt.Player(Q[0, s]), gt.Player(np.ascontiguousarray(Q[1, s].T))])
                for row, part in zip(rows, gt.lemke_howson(game), strict=True):
                    row[h, s] = np.maximum(part, 0) / np.maximum(part, 0).sum()
            V = np.einsum("isab,sa,sb->is", Q, rows[0][h], rows[1][h])
        return rows

    plan(1.0)
    seconds, steps, done = 0.0, 0, 0
    rows, doubled = plan(job["bonus"]), False
    for amount in job["amounts"]:
        start = time.process_time()
        for _ in range(amount - done):
            s = rng.choice(S, p=initial)
            for h in range(H):
                a, b = rng.choice(A, p=rows[0][h, s]), rng.choice(B, p=rows[1][h, s])
                then = min(int(np.searchsorted(cumulative[s, a, b], rng.random(), side="right")), S - 1)
                visits[s, a, b] += 1
                seen[s, a, b, then] += 1
                known[:, s, a, b] = r[:, s, a, b]
                doubled |= visits[s, a, b] == 2 ** int(np.log2(visits[s, a, b]))
                s, steps = then, steps + 1
            if doubled:
                rows, doubled = plan(job["bonus"]), False
        answer, done = plan(0.0), amount
        seconds += time.process_time() - start
        yield {"tables": [row.tolist() for row in answer], "seconds": seconds, "steps": steps}


def psro(job: Answer) -> Iterator[Answer]:
    """PSRO as in OpenSpiel's example, with exact best responses to a Nash equilibrium of the game between policies."""
    import contextlib
    import io

    import pyspiel
    from open_spiel.python import policy as policies
    from open_spiel.python.algorithms import policy_aggregator
    from open_spiel.python.algorithms.psro_v2 import best_response_oracle, psro_v2

    game = openspiel_game(job)
    turns = pyspiel.convert_to_turn_based(game)
    np.random.seed(0)  # noqa: NPY002 (the generator that OpenSpiel draws from)
    start = time.process_time()
    first = policies.TabularPolicy(turns)
    with contextlib.redirect_stdout(io.StringIO()):
        solver = psro_v2.PSROSolver(
            turns,
            best_response_oracle.BestResponseOracle(game=turns, policy=first),
            sims_per_entry=1000,
            initial_policies=[first.__copy__() for _ in range(turns.num_players())],
            meta_strategy_method="nash",
            training_strategy_selector="probabilistic",
            sample_from_marginals=True,
        )
    seconds, done = time.process_time() - start, 0
    for amount in job["amounts"]:
        start = time.process_time()
        with contextlib.redirect_stdout(io.StringIO()):
            for _ in range(amount - done):
                solver.iteration()
            aggregator = policy_aggregator.PolicyAggregator(turns)
            mixed = aggregator.aggregate(
                range(turns.num_players()), solver.get_policies(), solver.get_meta_strategies()
            )
        done, seconds = amount, seconds + time.process_time() - start

        def probabilities(state: Any, i: int, mixed: Any = mixed) -> dict[int, float]:
            turn = turns.new_initial_state()
            for a in state.history():
                turn.apply_action(a)
            for _ in range(i):
                turn.apply_action(turn.legal_actions()[0])
            found = dict(mixed.action_probabilities(turn, i))
            total = sum(found.values())
            legal = turn.legal_actions()
            return {a: found.get(a, 0.0) / total if total > 0 else 1 / len(legal) for a in legal}

        yield {"histories": tabulate(game, probabilities), "seconds": seconds, "iterations": done}


def mfglib(job: Answer) -> Iterator[Answer]:
    """MFGLib with its defaults on the limit of infinitely many agents; rewards of an action fall with its share."""
    import torch
    from mfglib.alg import FictitiousPlay, OnlineMirrorDescent
    from mfglib.env import Environment

    torch.set_num_threads(1)
    base, slope = (torch.tensor(job[name], dtype=torch.float32) for name in ("base", "slope"))
    environment = Environment(
        T=0,
        S=(1,),
        A=(len(base),),
        mu0=torch.ones(1),
        r_max=float((base.abs() + slope.abs()).max()),
        reward_fn=lambda env, t, L_t: (base + slope * L_t.sum(dim=0))[None],
        transition_fn=lambda env, t, L_t: torch.ones(1, 1, len(base)),
    )
    way = {"OMD": OnlineMirrorDescent, "fictitious play": FictitiousPlay}[job["method"]]
    (found, *_), seconds = clock(lambda: way().solve(environment))
    yield {"row": found[-1].reshape(-1).tolist(), "seconds": seconds, "iterations": len(found) - 1}


def ppo(job: Answer) -> Iterator[Answer]:
    """PPO self-play with stable-baselines3's defaults: in turn each learns for 2048 steps while the other stays."""
    import gymnasium
    import torch
    from stable_baselines3 import PPO

    torch.set_num_threads(1)
    P, r = np.array(job["transitions"]), np.array(job["rewards"])  # [S, A, B, S], [2, S, A, B]
    H, initial, S, sizes = job["horizon"], np.array(job["initial"]), P.shape[0], P.shape[1:3]
    rng = np.random.default_rng(job["seed"])
    seen = np.zeros((H, S, H + S), dtype=np.float32)  # what is seen: the step and the state, one-hot
    seen[np.arange(H), :, np.arange(H)] = 1
    seen[:, np.arange(S), H + np.arange(S)] = 1
    tables = [np.full((H, S, size), 1 / size) for size in sizes]

    class OneSide(gymnasium.Env):  # type: ignore[type-arg]
        """The game as one of the two sees it, while the other plays its table."""

        def __init__(self, me: int) -> None:
            self.me, self.h, self.s = me, 0, 0
            self.observation_space = gymnasium.spaces.Box(0, 1, (H + S,))
            self.action_space = gymnasium.spaces.Discrete(sizes[me])

        def reset(self, **_: Any) -> Any:
            self.h, self.s = 0, int(rng.choice(S, p=initial))
            return seen[0, self.s], {}

        def step(self, action: Any) -> Any:
            other = int(rng.choice(sizes[1 - self.me], p=tables[1 - self.me][self.h, self.s]))
            joint = (int(action), other) if self.me == 0 else (other, int(action))
            paid = float(r[(self.me, self.s, *joint)])
            self.s, self.h = int(rng.choice(S, p=P[(self.s, *joint)])), self.h + 1
            over = self.h == H
            return seen[min(self.h, H - 1), self.s], paid, over, False, {}

    agents = [PPO("MlpPolicy", OneSide(me), seed=job["seed"] + me, device="cpu") for me in range(2)]
    seconds, done = 0.0, 0
    for amount in job["amounts"]:
        start = time.process_time()
        for _ in range(amount - done):
            for me, agent in enumerate(agents):
                agent.learn(agent.n_steps, reset_num_timesteps=False)
                with torch.no_grad():
                    spread: Any = agent.policy.get_distribution(torch.as_tensor(seen.reshape(H * S, -1)))
                    found = spread.distribution.probs.numpy().astype(float).reshape(H, S, -1)
                tables[me] = found / found.sum(axis=2, keepdims=True)
        done, seconds = amount, seconds + time.process_time() - start
        steps = 2 * agents[0].n_steps * done
        yield {"tables": [table.tolist() for table in tables], "seconds": seconds, "steps": steps}


PEERS = {
    "nashpy": (nashpy, ["nashpy"]),
    "quantecon": (quantecon, ["quantecon"]),
    "gambit": (gambit, ["pygambit"]),
    "sgamesolver": (sgamesolver, ["sgamesolver"]),
    "openspiel": (openspiel, ["open_spiel"]),
    "openspiel-q": (openspiel_q, ["open_spiel"]),
    "nash-vi": (nash_vi, ["quantecon"]),
    "psro": (psro, ["open_spiel"]),
    "mfglib": (mfglib, ["mfglib", "torch"]),
    "ppo": (ppo, ["stable-baselines3", "torch"]),
}


def main() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        run, packages = PEERS[job["peer"]]
        answer: Answer = {"found": []}
        try:
            answer["versions"] = {name: importlib.metadata.version(name) for name in packages}
            for found in run(job):
                answer["found"].append(found)
        except ImportError:
            answer["error"] = f"{packages[0]} is not installed there"
        except Exception as error:  # of somebody else's code: the row says what it said
            answer["error"] = f"{type(error).__name__}: {error}".splitlines()[0]
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
