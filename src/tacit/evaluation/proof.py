"""Proofs of gaps that anybody can check: tables of doubles that satisfy Bellman inequalities exactly.

A table's entries are the inequality's right side, computed in integers and rounded once to where the inequality holds.
In a discounted game they are values in floating point, moved by the smallest common slack with which it holds.
"""

from __future__ import annotations

import gzip
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

import numpy as np

from tacit._version import __version__
from tacit.core import files
from tacit.core.errors import TacitError
from tacit.evaluation import verify
from tacit.evaluation.values import check_kind, deviations
from tacit.games.exact import Successors, with_tables
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy, check_policy
from tacit.policies.recorded import RecordedPolicy

#: For each agent a row of numbers of both sides; None where nothing follows.
Tables = list[dict[str, Any]]


@dataclass(frozen=True, eq=False)
class Proof:
    """A proof that no agent gains more than a bound by deviating from a policy.

    Attributes
    ----------
    kind : {"nash", "cce", "ce"}
        Which deviations count.
    bounds : tuple of float
        What each agent gains at most; checked in exact arithmetic, and rounded up.
    document : dict
        What `save` writes, as docs/proof-json.md describes it.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.prove(game, tacit.MarkovPolicy.uniform(game))
    Proof(nash gap ≤ 0.75)
    """

    kind: str
    bounds: tuple[float, ...]
    document: dict[str, Any]

    @property
    def bound(self) -> float:
        """The largest bound of all agents."""
        return max(self.bounds)

    @property
    def size(self) -> str:
        """The bound in four digits, rounded up."""
        return f"{Context(prec=4, rounding=ROUND_CEILING).create_decimal(self.bound).normalize():g}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the proof as JSON, compressed where the name ends in .gz. `python verify.py FILE` checks it."""
        file = files.path(path)
        content = json.dumps(self.document, allow_nan=False, separators=(",", ":")).encode()
        files.write(file, gzip.compress(content, mtime=0) if file.suffix == ".gz" else content)

    def __repr__(self) -> str:
        return f"Proof({self.kind} gap ≤ {self.size})"


def prove(game: Any, policy: Any, *, gap: str | None = None) -> Proof:
    """Prove what each agent gains at most by deviating from a Markov policy.

    Parameters
    ----------
    game : TabularGame or CountGame
        Finite or discounted.
    policy : MarkovPolicy, or Run
        Product or correlated; of a run, the policy that it returns.
    gap : {"nash", "cce", "ce"}, optional
        Which deviations count; by default nash for a product policy and cce for a correlated one.

    Returns
    -------
    Proof
        Checked already. Its bound is above the exact gap by at most 1e-9 of the largest absolute reward times the
        horizon, or 1/(1 − γ).

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> proof = tacit.prove(game, tacit.solve(game, "ce").policy, gap="ce")
    >>> bool(proof.bound < 1e-9), proof.kind
    (True, 'ce')
    """
    tables = with_tables(game)
    policy = policy.policy if hasattr(policy, "candidates") else policy
    if isinstance(policy, RecordedPolicy):
        raise TacitError("policy must be a Markov policy, as run.candidates['markov'].policy is; got a mixture")
    check_policy(policy)
    policy.check_fits(tables)
    kind = ("nash" if policy.product else "cce") if gap is None else gap
    check_kind(policy, kind)
    document = _state(tables, policy, kind)
    statement = verify.Statement(document)
    if tables.discount is None:
        document["agents"] = _round_backwards(statement)
    else:
        normal, same = _normalize(tables, policy)
        best = deviations(normal, same, kind)
        document["agents"] = _move_apart(statement, best.V[:, 0].tolist(), best.best[:, 0].tolist())
    weights, total = statement.initial
    for agent in document["agents"]:
        apart = [w * (Fraction(agent["high"][0][s]) - Fraction(agent["low"][0][s])) for s, w in weights.items()]
        agent["bound"] = max(0.0, _round(sum(apart, Fraction(0)) / total, up=True))
    code, sentence = verify.check(document)
    if code:
        raise RuntimeError(f"{sentence}: a defect of tacit, please report it")
    return Proof(kind, tuple([agent["bound"] for agent in document["agents"]]), document)


def _state(game: TabularGame, policy: MarkovPolicy, kind: str) -> dict[str, Any]:
    """Return the document of a game and a policy; the tables are still missing."""
    steps = max(game.transition_steps, game.rewards.shape[1])
    lists = steps * (5 * game.states * game.joint_actions + len(game.successors.state) // game.transition_steps)
    if lists > verify.MOST_LISTS:
        raise TacitError(f"a proof must have at most {verify.MOST_LISTS:,} lists; that of {game!r} has {lists:,}")
    draws = [(h, s) for h in range(policy.steps) for s in range(policy.states)]
    return {
        "format": "tacit-proof-1",
        "name": game.name,
        "tacit": __version__,
        "kind": kind,
        "horizon": game.horizon if game.discount is None else None,
        "discount": game.discount,
        "states": game.states,
        "actions": list(game.actions),
        "initial": [[s, p] for s, p in enumerate(game.initial.tolist()) if p > 0],
        "game": list(_outcomes(game, steps)),
        "product": policy.product,
        "policy": [[h if policy.steps > 1 else None, s, _draw(policy, h, s)] for h, s in draws],
        "agents": [],
    }


def _outcomes(game: TabularGame, steps: int) -> Iterator[list[Any]]:
    """Yield the rows of the game; after the last step nothing follows."""
    first, state, prob = (array.tolist() for array in game.successors)
    joint = [list(actions) for actions in np.ndindex(*game.actions)]
    for h in range(steps):
        rewards = np.moveaxis(game.step_rewards(h), 0, -1).reshape(-1, game.agents).tolist()
        row = len(rewards) * (h if game.transition_steps > 1 else 0)
        for k, payoffs in enumerate(rewards):
            s, j = divmod(k, len(joint))
            cut = slice(first[row + k], first[row + k + 1])
            successors = [list(pair) for pair in zip(state[cut], prob[cut], strict=True)]
            yield [h if steps > 1 else None, s, joint[j], payoffs, [] if 1 < steps == h + 1 else successors]


def _draw(policy: MarkovPolicy, h: int, s: int) -> list[Any]:
    if policy.product:
        return [table[h, s].tolist() for table in policy.probs]
    joint = policy.probs[0][h, s]
    return [[actions, float(joint[tuple(actions)])] for actions in np.argwhere(joint > 0).tolist()]


def _right_sides(statement: verify.Statement, h: int, following: Tables) -> Iterator[tuple[int, int, str, Fraction]]:
    """Yield state, agent, side and right side of each inequality of step h. It is rounded to where it still holds."""
    for s in range(statement.states):
        for i, rows in enumerate(following):
            for side, divide in verify.DIVIDE.items():
                value, total = statement.right(h, s, i, side, rows[side], divide)
                yield s, i, side, Fraction(value, total * verify.UNIT)


def _round_backwards(statement: verify.Statement) -> list[dict[str, Any]]:
    """Return tables of a finite game. They are right sides, rounded to doubles, from the last step to the first."""
    agents: list[dict[str, Any]] = [{"low": [], "high": []} for _ in statement.actions]
    following: Tables = [{"low": None, "high": None} for _ in agents]
    for h in reversed(range(statement.horizon)):
        rows: Tables = [{side: [0.0] * statement.states for side in agent} for agent in agents]
        for s, i, side, value in _right_sides(statement, h, following):
            rows[i][side][s] = _round(value, up=side == "high")
        for agent, row in zip(agents, rows, strict=True):
            for side in agent:
                agent[side].insert(0, row[side])
        following = rows
    return agents


def _move_apart(statement: verify.Statement, V: list[list[float]], best: list[list[float]]) -> list[dict[str, Any]]:
    """Return tables of a discounted game. They are values in floating point, moved by the slack with which they hold.

    Moved by d the left side changes by d and the right one by γd, so that d = residual/(1 − γ) is enough, where the
    residual is the most by which an inequality fails, and what rounding to doubles may add.
    """
    values: Tables = [{"low": low, "high": high} for low, high in zip(V, best, strict=True)]
    residual = [{"low": Fraction(0), "high": Fraction(0)} for _ in values]
    for s, i, side, right in _right_sides(statement, 0, values):
        short = Fraction(values[i][side][s]) - right if side == "low" else right - Fraction(values[i][side][s])
        residual[i][side] = max(residual[i][side], short)
    agents = []
    for table, short_by in zip(values, residual, strict=True):
        rows = {}
        for side, numbers in table.items():
            rounding = 2 * Fraction(math.ulp(max(map(abs, numbers))))
            slack = (short_by[side] + rounding) / (1 - Fraction(*statement.gamma)) if short_by[side] else Fraction(0)
            sign = 1 if side == "high" else -1
            rows[side] = [[_round(Fraction(x) + sign * slack, up=side == "high") for x in numbers]]
        agents.append(rows)
    return agents


def _normalize(game: TabularGame, policy: MarkovPolicy) -> tuple[TabularGame, MarkovPolicy]:
    """Return a discounted game and a policy whose distributions sum to 1 up to rounding."""
    first, state, prob = game.successors
    sums = np.add.reduceat(prob, first[:-1])
    moves = Successors(first, state, prob / np.repeat(sums, np.diff(first)))
    same = TabularGame(moves, game.rewards, game.initial / game.initial.sum(), discount=game.discount)
    axes = (-1,) if policy.product else tuple(range(2, 2 + policy.agents))
    probs = [table / table.sum(axis=axes, keepdims=True) for table in policy.probs]
    return same, MarkovPolicy(probs if policy.product else probs[0])


def _round(value: Fraction, *, up: bool) -> float:
    """Return the nearest double that is not below a number, or not above."""
    x = float(value)
    if x < value if up else x > value:
        x = math.nextafter(x, math.inf if up else -math.inf)
    return x
