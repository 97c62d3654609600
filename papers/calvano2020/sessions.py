"""One session of Calvano et al. (2020): two or more Q-learners play until their strategies stand still; what they play.

Everything about the strategies is exact. `measure` asks tacit; `check` computes the same gaps again from nothing but
the profits and the strategies, by sums along paths and value iteration, and shares no code with it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tacit
from tacit.evaluation import follow, path_gains, respond

#: The learner of the paper's representative experiment: α, β and the first Q.
BASELINE = {"step": 0.15, "exploration": 1.0, "decay": 4e-6, "initial": "uniform-rivals"}

#: The paper stops a session after 100,000 periods without a change, or after a billion.
STILL, MOST = 100_000, 1_000_000_000

#: Periods of an impulse response, the one before the deviation included.
RESPONSE = 16


@dataclass(frozen=True)
class Setting:
    """An experiment: a game, a learner, and how many sessions; `learner` may be a list, one for each firm."""

    name: str
    sessions: int
    game: Mapping[str, Any] = field(default_factory=dict)
    learner: Any = field(default_factory=lambda: dict(BASELINE))
    most: int = MOST
    still: int | None = STILL
    exact: bool = True  # ask tacit for gaps; otherwise `check` alone, for games that are large

    @property
    def spec(self) -> dict[str, Any]:
        """What a stored session is of."""
        return {
            "game": dict(self.game),
            "learner": self.learner,
            "most": self.most,
            "still": self.still,
            "tacit": tacit.__version__,
        }


def run_session(game: Any, setting: Setting, seed: int) -> dict[str, Any]:
    """Let firms learn, and measure what they learned."""
    learner: Any = "q-independent"
    params = setting.learner
    if isinstance(params, list):
        learner, params = [tacit.learners.QIndependent(**own) for own in params], {}
    options = {"periods": setting.most, "still": setting.still, "seed": seed, "certify": False}
    run = tacit.learn(game, learner, **options, **params)
    return {"seed": seed, "periods": run.episodes, "ended": run.ended, **measure(game, run, exact=setting.exact)}


def measure(game: Any, run: Any, *, exact: bool = True) -> dict[str, Any]:
    """Return what is said of a session: profits, cycle, deviations, gaps, impulse response, visits."""
    policy = run.policy
    strategies = np.stack([probs[0].argmax(axis=1) for probs in policy.probs])
    cycle = follow(game, policy, start=run.place).cycle
    unit = float((game.market.monopoly_profits - game.market.nash_profits).mean()) / (1 - game.discount)
    if game.timing == "sequential":
        checked = ask_tacit(game, policy, cycle)
    else:
        checked = check(game.rewards[(slice(None), 0, 0)], strategies, game.discount, cycle.states)
    row: dict[str, Any] = {
        "profit_gain": game.market.profit_gain(cycle.rewards),
        "profits": cycle.rewards.mean(axis=0).tolist(),
        "prices": np.mean([game.market.grid[range(game.agents), joint] for joint in cycle.actions], axis=0).tolist(),
        "surplus": float(game.market.surplus(game.market.grid[range(game.agents), cycle.actions]).mean()),
        "cycle": len(cycle.states),
        "symmetric": bool((cycle.actions == cycle.actions[:, :1]).all()),
        "one_shot_unprofitable": checked["one_shot_unprofitable"],
        "path_gap": checked["path_gap"] / unit,
        "subgame_gap": checked["subgame_gap"] / unit,
        "loss_on_path": checked.get("loss_on_path"),
        "returns": checked.get("returns"),
        "visits_path": float(run.visits[cycle.states].sum() / run.episodes),
        "visits_other": float(np.median([0, *np.delete(run.visits, cycle.states)])),
    }
    if game.timing != "simultaneous" or not game.memory:
        return row
    row |= impulse_response(game, policy, cycle, checked["worth"])
    if game.actions[0] == 15:  # a small cut, to the eighth price
        small = impulse_response(game, policy, cycle, checked["worth"], cut=7)
        row |= {"small_deviator": small["deviator"], "small_rival": small["rival"]}
    if exact:
        asked = ask_tacit(game, policy, cycle)
        row["disagreement"] = max(abs(asked[name] - checked[name]) for name in asked)
        row |= best_response(game, policy, cycle, path_gains(game, policy, cycle), run.visits)
    return row


def ask_tacit(game: Any, policy: Any, cycle: Any) -> dict[str, Any]:
    """Return the gaps that tacit's oracle computes."""
    gains = path_gains(game, policy, cycle)
    names = ("one_shot_unprofitable", "subgame_gap")
    return {"path_gap": gains.gap, **{name: getattr(gains, name) for name in names}}


def check(profits: np.ndarray, strategies: np.ndarray, delta: float, cycle: np.ndarray) -> dict[str, Any]:
    """Return gaps of strategies [N, S] from the profits [N, m, …, m] of a period, where the state is the last prices.

    V by sums along paths, best responses by value iteration until rounding stops it.
    """
    N, S = strategies.shape
    sizes = profits.shape[1:] if S > 1 else ()
    strides = [int(np.prod(sizes[i + 1 :])) for i in range(N)] if S > 1 else [0] * N
    onward = sum(stride * own for stride, own in zip(strides, strategies, strict=True)) * np.ones(S, dtype=int)
    most = int(np.ceil(np.log(1e-18) / np.log(delta))) if delta > 0 else 1
    on_path = {"one": [], "best": []}
    subgame, losses, worth = 0.0, [], []
    for i in range(N):
        paid = profits[(i, *strategies)]
        V, weight, state = np.zeros(S), 1.0, np.arange(S)
        for _ in range(most):
            V += weight * paid[state]
            state, weight = onward[state], weight * delta
        others = [np.repeat(own[:, None], profits.shape[1 + i], axis=1) for own in strategies]
        others[i] = np.broadcast_to(np.arange(profits.shape[1 + i]), others[i].shape)
        reward = profits[(i, *others)]
        follows = sum(stride * own for stride, own in zip(strides, others, strict=True)) * np.ones_like(others[i])
        once = reward + delta * V[follows]
        best = V.copy()
        for _ in range(most):
            better = (reward + delta * best[follows]).max(axis=1)
            if np.array_equal(better, best):
                break
            best = better
        subgame = max(subgame, float((best - V).max()))
        on_path["best"].append(float((best - V)[cycle].max()))
        top = once[cycle].max(axis=1)
        losses.append(float(((top - V[cycle]) / np.abs(top)).mean()))
        other = np.arange(once.shape[1]) != strategies[i][cycle][:, None]
        on_path["one"] += (once[cycle] <= V[cycle][:, None] + 1e-9)[other].tolist()
        worth.append((V, once))
    state = np.arange(S)
    for _ in range(2 * S):
        state = onward[state]
    return {
        "one_shot_unprofitable": float(np.mean(on_path["one"])),
        "path_gap": max(0.0, *on_path["best"]),
        "subgame_gap": subgame,
        "loss_on_path": float(np.mean(losses)),
        "returns": float(np.isin(state, cycle).mean()),
        "worth": worth,
    }


def impulse_response(game: Any, policy: Any, cycle: Any, worth: list[Any], cut: int | None = None) -> dict[str, Any]:
    """Return prices around a one-period deviation, averaged over firms and cycle.

    The deviation is to the best reply of a period, or to the price with number `cut`. It pays or not by the discounted
    sum of profits; punishment lasts until play is in the cycle again.
    """
    grid, rewards = game.market.grid, game.rewards[:, 0, 0]
    deviator, rival, pays, lengths = [], [], [], []
    for i in range(game.agents):
        V, once = worth[i]
        for t, s in enumerate(cycle.states):
            joint: list[Any] = list(cycle.actions[t])
            joint[i] = slice(None)
            a = int(rewards[(i, *joint)].argmax()) if cut is None else cut
            path = follow(game, policy, start=int(s), forced={i: a}, periods=RESPONSE - 1)
            prices = np.array([grid[range(game.agents), chosen] for chosen in (cycle.actions[t], *path.actions)])
            deviator.append(prices[:, i])
            rival.append(np.delete(prices, i, axis=1).mean(axis=1))
            pays.append(bool(once[s, a] > V[s] + 1e-9))
            back = [k for k, state in enumerate(path.states) if k > 0 and state in cycle.states]
            lengths.append(back[0] if back else RESPONSE)
    return {
        "deviator": np.mean(deviator, axis=0).round(5).tolist(),
        "rival": np.mean(rival, axis=0).round(5).tolist(),
        "deviation_unprofitable": 1.0 - float(np.mean(pays)),
        "punishment": float(np.mean(lengths)),
    }


def best_response(game: Any, policy: Any, cycle: Any, gains: Any, visits: np.ndarray) -> dict[str, Any]:
    """Return what the firm does that gains most by a best response from the path, and how often its states were met."""
    i, t = np.unravel_index(gains.best.argmax(), gains.best.shape)
    path = follow(game, respond(game, policy, int(i), gains), start=int(cycle.states[t]))
    off = np.setdiff1d(path.states, cycle.states)
    prices = game.market.grid[range(game.agents), path.cycle.actions]
    profits = path.cycle.rewards.mean(axis=0)
    return {
        "response_cycle": len(path.cycle.states),
        "response_prices": [float(prices[:, int(i)].mean()), float(np.delete(prices, int(i), axis=1).mean())],
        "response_profits": [float(profits[int(i)]), float(np.delete(profits, int(i)).mean())],
        "response_visits": float(np.median(visits[off])) if len(off) else 0.0,
    }


def run_setting(setting: Setting, folder: Path, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Return the sessions of a setting: those stored in a folder, and the rest, stored as they end."""
    place = folder / f"{setting.name}.jsonl"
    rows = list(_stored(place, setting.spec))[: setting.sessions]
    if len(rows) == setting.sessions:
        return rows
    folder.mkdir(parents=True, exist_ok=True)
    game, began = tacit.make("pricing", **setting.game), time.time()
    with place.open("a" if rows else "w") as file:
        if not rows:
            file.write(json.dumps(setting.spec) + "\n")
        for seed in range(len(rows), setting.sessions):
            rows.append(run_session(game, setting, seed))
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
            if (seed + 1) % max(1, setting.sessions // 5) == 0:
                note(f"{setting.name}: {seed + 1} of {setting.sessions} sessions, {time.time() - began:.0f} s")
    return rows


def _stored(place: Path, spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the stored sessions of this very setting."""
    if not place.is_file():
        return
    lines = place.read_text().splitlines()
    if not lines or json.loads(lines[0]) != json.loads(json.dumps(spec)):
        return
    for line in lines[1:]:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:  # the last one, cut off
            return


def summarize(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the numbers of an experiment, gaps in units of (π_M − π_N)/(1 − δ)."""
    gain = np.array([row["profit_gain"] for row in rows])
    one = np.array([row["one_shot_unprofitable"] for row in rows])
    return {
        "profit_gain": float(gain.mean()),
        "profit_gain_sd": float(gain.std()),
        "periods": float(np.mean([row["periods"] for row in rows])),
        "one_shot_unprofitable": float(one.mean()),
        "one_shot_equilibria": float((one == 1.0).mean()),
        "path_gap": float(np.mean([row["path_gap"] for row in rows])),
        "path_gap_least": float(np.min([row["path_gap"] for row in rows])),
        "path_equilibria": float(np.mean([row["path_gap"] < 1e-7 for row in rows])),
        "subgame_gap": float(np.mean([row["subgame_gap"] for row in rows])),
        "sessions": len(rows),
    }
