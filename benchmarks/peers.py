"""What a user might take instead, side by side in one run: gaps against CPU time and steps of play.

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install nashpy quantecon open_spiel pygambit==17.0.0b2 setuptools cython
    /tmp/peers/bin/pip install torch==2.13.0 stable-baselines3 mfglib "cvxpy<1.6"    (for PPO, MFGLib, and PSRO)
    /tmp/peers/bin/pip install --no-build-isolation sgamesolver                      (compiles for some minutes)
    python benchmarks/peers.py --python /tmp/peers/bin/python                        prints the tables
    python benchmarks/peers.py --python /tmp/peers/bin/python --out docs/peers.md    and replaces those of the page

Peers run in that environment, in processes of benchmarks/peer.py; a peer that is missing there is left out, and the
table says so. Every policy that a peer finds is judged by its nash gap, `tacit.evaluate(…, gap="nash")`; tacit's
learners by the gap that their runs report: cce for portfolio and adaptive-v-cce, nash for the others. Times are CPU
seconds of one thread, compilation and loading left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402

import tacit  # noqa: E402
from peer import clock  # noqa: E402

PEER = Path(__file__).parent / "peer.py"
HEADING = "## Tables"
SEEDS = 3

#: Seconds by the clock after which a peer is given up.
LIMIT = 60


class Row(NamedTuple):
    game: str
    method: str
    gap: str
    seconds: float | None = None
    amount: str = ""


class Peers:
    """The processes of the peers, one for each library, and the versions that answered."""

    def __init__(self, python: str) -> None:
        self.python, self.versions = python, {}
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def ask(self, peer: str, **job: Any) -> tuple[list[dict[str, Any]], str]:
        """Return what a peer found, and why it found no more."""
        if peer not in self.processes:
            self.processes[peer] = subprocess.Popen(
                [self.python, "-P", "-W", "ignore", str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        stdin, stdout = self.processes[peer].stdin, self.processes[peer].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"peer": peer, **job}) + "\n")
        stdin.flush()
        timer = threading.Timer(LIMIT, self.processes[peer].kill)
        timer.start()
        line = next((line for line in stdout if line.startswith("{")), "")
        timer.cancel()
        if not line:
            del self.processes[peer]
            return [], f"no answer within {LIMIT} s"
        answer = json.loads(line)
        self.versions |= answer.get("versions", {})
        return answer["found"], answer.get("error", "")


def show(gap: float) -> str:
    return "0" if gap < 1e-12 else f"{gap:.1e}" if gap < 1e-3 else f"{gap:.3g}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def judge(game: tacit.TabularGame, tables: list[Any]) -> float:
    return float(tacit.evaluate(game, tacit.MarkovPolicy([np.array(part) for part in tables]), gap="nash").gap)


def worst(game: tacit.TabularGame, profiles: list[Any]) -> str:
    """Return the largest gap; probabilities that rounding has left below 0 are 0."""
    clipped = [[np.maximum(part, 0) for part in profile] for profile in profiles]
    if [part for profile in clipped for part in profile if not 0.99 < part.sum() < 1.01]:
        return "not probabilities"
    return show(max(judge(game, [(part / part.sum())[None, None] for part in profile]) for profile in clipped))


def histories(game: tacit.TabularGame, found: dict[str, list[dict[str, float]]]) -> list[Any]:
    """Write what OpenSpiel's policies play after each history as tables; elsewhere nothing is chosen."""
    index = {name: s for s, name in enumerate(game.state_names)} if game.states > 1 else {"": 0}
    tables = [np.zeros((game.horizon, game.states, A)) for A in game.actions]
    for table in tables:
        table[..., 0] = 1
    for history, parts in found.items():
        for table, part in zip(tables, parts, strict=True):
            table[:, index[history]] = 0
            for a, p in part.items():
                table[:, index[history], int(a)] = p
    return tables


def normal_forms(peers: Peers) -> Iterator[Row]:
    """One equilibrium, and all of them, of games in normal form."""
    every = [("nashpy", "support"), ("nashpy", "vertex"), ("quantecon", "support"), ("quantecon", "vertex")]
    every += [("gambit", "enummixed")]
    one = [("nashpy", "lemke-howson"), ("quantecon", "lemke-howson"), ("gambit", "lcp")]
    several = [("quantecon", "mclennan-tourky"), ("gambit", "logit"), ("gambit", "gnm")]
    cases = {
        "biased-rock-paper-scissors": one,
        "stengel-75": [*one, *every],
        "nashpy-82": [*one, *every],
        "blotto": one,
        "nau-irrational": several,
        "volunteer-4": several,
        "braess": several,
    }
    for name, methods in cases.items():
        game = tacit.make(f"atlas/{name}")
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(name, "tacit.solve", show(tacit.evaluate(game, found.policy, gap="nash").gap), seconds, "one")
        if ("nashpy", "support") in methods:
            both, seconds = clock(lambda game=game: tacit.equilibria(game))
            yield Row(name, "tacit.equilibria", show(both.gap), seconds, f"{len(both)}")
        payoffs = game.rewards[:, 0, 0].tolist()
        for peer, method in methods:
            answers, error = peers.ask(peer, method=method, payoffs=payoffs)
            if error or not answers[0]["profiles"]:
                yield Row(name, f"{peer} {method}", error or "no answer")
            for answer in answers if not error else []:
                if profiles := answer["profiles"]:
                    amount = "one" if (peer, method) in [*one, *several] and len(profiles) == 1 else f"{len(profiles)}"
                    yield Row(name, f"{peer} {method}", worst(game, profiles), answer["seconds"], amount)
        if name == "biased-rock-paper-scissors":
            yield from iterate(peers, name, game, {"payoffs": payoffs})


def all_equilibria(peers: Peers) -> Iterator[Row]:
    """All extreme equilibria of random games with normal payoffs, and of degenerate ones with payoffs 0, 1 and 2."""
    rng = np.random.default_rng(0)
    others = [("quantecon", "support"), ("quantecon", "vertex"), ("gambit", "enummixed")]
    for size in (7, 9):
        games = rng.normal(size=(5, 2, size, size))
        label = f"5 random games of {size}×{size}, together"
        made = [tacit.TabularGame(np.ones((1, size, size, 1)), game[:, None], 0, 1) for game in games]
        timed = [clock(lambda game=game: tacit.equilibria(game)) for game in made]
        worst_gap = show(max(found.gap for found, _ in timed))
        counted = f"{sum(len(found) for found, _ in timed)}"
        yield Row(label, "tacit.equilibria", worst_gap, sum(seconds for _, seconds in timed), counted)
        for peer, method in others:
            asked = [peers.ask(peer, method=method, payoffs=game.tolist()) for game in games]
            if error := next((error for _, error in asked if error), ""):
                yield Row(label, f"{peer} {method}", error)
                continue
            found = [answers[0] for answers, _ in asked]
            gaps = [worst(game, one["profiles"]) for game, one in zip(made, found, strict=True)]
            total = f"{sum(len(one['profiles']) for one in found)}"
            yield Row(label, f"{peer} {method}", max(gaps, key=float), sum(one["seconds"] for one in found), total)
    degenerate = [rng.integers(0, 3, (2, m, n)).astype(float) for m in (2, 3, 4) for n in (2, 3, 4) for _ in range(50)]
    counts: dict[str, list[int]] = {}
    for game in degenerate:
        m, n = game.shape[1:]
        ours = tacit.equilibria(tacit.TabularGame(np.ones((1, m, n, 1)), game[:, None], 0, 1))
        counts.setdefault("tacit.equilibria", []).append(len(ours))
        for peer, method in others:
            answers, _ = peers.ask(peer, method=method, payoffs=game.tolist())
            listed = answers[0]["profiles"] if answers else []
            counts.setdefault(f"{peer} {method}", []).append(
                len({str(np.round(np.concatenate(one), 9)) for one in listed})
            )
    most = np.max(list(counts.values()), axis=0)
    for method, own in counts.items():
        amount = f"all in {int((np.array(own) == most).sum())} games, {sum(own):,} in all"
        yield Row(f"{len(degenerate)} games with payoffs 0 to 2", method, "", None, amount)


def iterate(peers: Peers, name: str, game: tacit.TabularGame, job: dict[str, Any]) -> Iterator[Row]:
    """OpenSpiel's solvers, which come closer with every iteration."""
    for method, amounts in (("xfp", [10, 30]), ("psro", [3, 8]), ("cfr", [100, 1000]), ("cfr+", [100, 1000])):
        peer = "psro" if method == "psro" else "openspiel"
        answers, error = peers.ask(peer, method=method, amounts=amounts, **job)
        for answer in answers:
            gap = show(judge(game, histories(game, answer["histories"])))
            yield Row(name, f"openspiel {method}", gap, answer["seconds"], count(answer["iterations"], "iteration"))
        if error:
            yield Row(name, f"openspiel {method}", error)


def rules_known(peers: Peers) -> Iterator[Row]:
    """Markov games whose rules are known, as OpenSpiel has them."""
    for name, text in (
        ("goofspiel-3", "goofspiel(num_cards=3)"),
        ("goofspiel-4, prizes 4 to 1", "goofspiel(num_cards=4,points_order=descending)"),
        ("oshi-zumo", "oshi_zumo(coins=5,size=2,min_bid=1)"),
    ):
        game = tacit.from_openspiel(text)
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(name, "tacit.solve", show(tacit.evaluate(game, found.policy, gap="nash").gap), seconds)
        unfolded = tacit.from_openspiel(text, key=lambda state: state.history_str())
        yield from iterate(peers, name, unfolded, {"openspiel": text})


def discounted(peers: Peers) -> Iterator[Row]:
    """Stationary equilibria of discounted games."""
    cases: dict[str, dict[str, Any]] = {
        "big-match": {"discount": 0.9},
        "inspection-4-2": {"discount": 0.9},
        "soccer": {"discount": 0.9, "rows": 2, "columns": 3},
    }
    for name, params in cases.items():
        game = tacit.make(f"atlas/{name}", **params)
        label = f"{name}, {count(game.states, 'state')}"
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(label, "tacit.solve", show(found.gap), seconds)
        rewards, transitions = np.moveaxis(game.rewards[:, 0], 0, 1).tolist(), game.transitions[0].tolist()
        job = {"rewards": rewards, "transitions": transitions, "discount": game.discount}
        answers, error = peers.ask("sgamesolver", method="QRE", **job)
        for answer in answers:
            yield Row(label, "sgamesolver QRE", show(judge(game, answer["tables"])), answer["seconds"])
        if error:
            yield Row(label, "sgamesolver QRE", error)


def crowds(peers: Peers) -> Iterator[Row]:
    """Crowds: the limit of infinitely many agents, judged among finitely many, beside the finite game itself."""
    for agents in (20, 100, 1000):
        links = 4
        game = tacit.make("congestion", agents=agents, links=links, states=1, horizon=1)
        label = f"congestion, {count(agents, 'agent')}, {links} links"
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(label, "tacit.solve", show(found.gap), seconds)
        job = {"base": [-a / (2 * links - 2) for a in range(links)], "slope": [-1.0] * links}
        for method in ("OMD", "fictitious play"):
            answers, error = peers.ask("mfglib", method=method, **job)
            for answer in answers:
                row = np.array(answer["row"], dtype=float)
                policy = tacit.MarkovPolicy([np.tile(row / row.sum(), (1, 1, 1))] * agents)
                gap = show(tacit.evaluate(game, policy, gap="nash").gap)
                yield Row(label, f"mfglib {method}", gap, answer["seconds"], count(answer["iterations"], "iteration"))
            if error:
                yield Row(label, f"mfglib {method}", error)


def by_play(peers: Peers) -> Iterator[Row]:
    """Learning by play alone: medians over seeds."""
    amounts = [300, 3000, 30000]
    for name, text in {
        "chicken": "",
        "biased-rock-paper-scissors": "",
        "climbing-25": None,
        "inspection-4-2": None,
        "goofspiel-3": "goofspiel(num_cards=3)",
    }.items():
        game = tacit.make(f"atlas/{name}")
        for learner in ("portfolio", "adaptive-v-cce", "model-central", "q-independent"):
            for episodes in amounts[: 2 if learner == "model-central" else 3]:
                tacit.learn(game, learner, episodes=2, seed=0)
                runs = [learn(game, learner, episodes, seed) for seed in range(SEEDS)]
                yield median(name, f"tacit {learner}", runs, episodes * game.horizon)
        jobs: dict[str, dict[str, Any]] = {}
        if text is not None:
            job = {"openspiel": text} if text else {"payoffs": game.rewards[:, 0, 0].tolist()}
            jobs["openspiel-q"] = {"amounts": amounts[:2], **job}
        tables = {"transitions": game.transitions[0].tolist(), "rewards": game.rewards[:, 0].tolist()}
        where = {"initial": game.initial.tolist(), "horizon": game.horizon, "bonus": 0.1}
        if game.states < 100:
            jobs["nash-vi"] = {"amounts": [100, 1000], **tables, **where}
        jobs["ppo"] = {"amounts": [1, 3], **tables, **where}
        judged = tacit.from_openspiel(text, key=lambda state: state.history_str()) if text else game
        for peer, job in jobs.items():
            asked = [peers.ask(peer, seed=seed, **job) for seed in range(SEEDS)]
            for error in {error for _, error in asked if error}:
                yield Row(name, peer, error)
            for answers in zip(*(found for found, _ in asked), strict=False):
                gaps = [
                    judge(game, a["tables"]) if "tables" in a else judge(judged, histories(judged, a["histories"]))
                    for a in answers
                ]
                runs = list(zip(gaps, (a["seconds"] for a in answers), strict=True))
                yield median(name, "stable-baselines3 PPO" if peer == "ppo" else peer, runs, answers[0]["steps"])


def learn(game: tacit.TabularGame, learner: str, episodes: int, seed: int) -> tuple[float, float]:
    start = time.process_time()
    run = tacit.learn(game, learner, episodes=episodes, seed=seed)
    return float(run.gap), time.process_time() - start


def median(game: str, method: str, runs: list[tuple[float, float]], steps: int) -> Row:
    gap, seconds = np.median(runs, axis=0)
    return Row(game, method, show(gap), float(seconds), count(steps, "step"))


PARTS = {
    "normal-forms": (normal_forms, "Normal forms", "equilibria found"),
    "all-equilibria": (all_equilibria, "All equilibria of random and of degenerate games", "equilibria found"),
    "rules-known": (rules_known, "Markov games whose rules are known", "iterations"),
    "discounted": (discounted, "Discounted games, stationary equilibria", ""),
    "crowds": (crowds, "Crowds: MFGLib solves the limit of infinitely many agents", "iterations"),
    "play": (by_play, f"By play alone (medians of {SEEDS} seeds)", "steps of play"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the Python of the peers' environment")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="some parts")
    parser.add_argument("--out", type=Path, help="a page whose tables are replaced")
    args = parser.parse_args()
    peers, lines = Peers(args.python), []
    for part in args.only:
        rows, title, amount = PARTS[part]
        lines += ["", f"### {title}", "", f"| game | method | gap | CPU s | {amount} |", "|---|---|---|---|---|"]
        before = ""
        for row in rows(peers):
            seconds = "" if row.seconds is None else f"{row.seconds:.2g}"
            lines.append(f"| {row.game * (row.game != before)} | {row.method} | {row.gap} | {seconds} | {row.amount} |")
            print(lines[-1], file=sys.stderr, flush=True)
            before = row.game
    versions = {"tacit": tacit.__version__, "Python": sys.version.split()[0], **peers.versions}
    said = "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."
    text = "\n".join([HEADING, "", said, *lines, ""])
    print(text)
    if args.out:
        args.out.write_text(args.out.read_text(encoding="utf-8").partition(HEADING)[0] + text, encoding="utf-8")


if __name__ == "__main__":
    main()
