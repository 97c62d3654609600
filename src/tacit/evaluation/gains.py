"""Who gains what by playing what instead of what, and where: a gap taken apart.

For a policy π and agent i's best deviation, with values V† of deviating from a step on and Q†(a) of playing a and
deviating afterwards, the gap is a sum over what π plays:

    gap_i = Σ_h Σ_s d_h(s) Σ_b π_i(b | s) · (Q†(a*) − Q†(b)),

d the probability of being in s at step h under π, a* what the deviation plays there. With a correlated policy the
payoffs are those given that the agent was told b. Each term is what agent i gains by a* instead of b at (h, s), if it
goes on to deviate. The terms of a nash or ce gap are never negative; those of a cce gap can be, because who ignores
what it is told plays one action whatever it was told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, memory
from tacit.core.display import Cell, Document, Table, number
from tacit.core.elementary import dot
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.behaviour import follow
from tacit.evaluation.certified import histories
from tacit.evaluation.gaps import evaluate
from tacit.evaluation.values import choose, largest_return, occupancy, steps
from tacit.games.exact import ExactGame, check_exact
from tacit.games.showing import action_names, state_name
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy

#: How many evaluations taking a gap apart is worth.
APART = 3

#: One term of a gap.
TERM = np.dtype(
    [
        ("agent", np.int64),
        ("step", np.int64),
        ("state", np.int64),
        ("instead_of", np.int64),
        ("play", np.int64),
        ("chance", np.float64),  # of being there, and of playing or being told `instead_of`
        ("gain", np.float64),  # each time
        ("share", np.float64),  # of the gap: chance times gain
    ]
)

#: Terms below this share of the largest return are rounding, and left out.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class DeviationTable:
    """A gap taken apart.

    Attributes
    ----------
    game : TabularGame or CountGame
    kind : {"nash", "cce", "ce"}
    exact : bool
        Whether the gaps are exact; over several steps those of certified policies are upper bounds.
    gaps : array [N]
        As `tacit.evaluate` has them.
    sums : array [N]
        The sum of each agent's terms: the gap, or below zero where a cce gap is zero because who ignores what it is
        told does worse.
    terms : structured array
        agent, step, state, instead_of, play, chance, gain, share: the largest share first. It opens in pandas.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = tacit.deviation_table(game, tacit.MarkovPolicy.deterministic([[[1]], [[1]]], [2, 2]))
    >>> found.gaps.tolist()
    [0.0, 0.0]
    """

    game: ExactGame
    kind: str
    exact: bool
    gaps: FloatArray
    sums: FloatArray
    terms: npt.NDArray[Any]

    def show(self, *, limit: int | None = 12) -> Document:
        """Show the largest terms; None shows all."""
        most = len(self.terms) if limit is None else check.integer("limit", limit, least=1)
        rows = [self._row(term) for term in self.terms[:most]]
        told = f"{self.kind} gap {'=' if self.exact else '≤'} {number(float(self.gaps.max()))}"
        told += " (exact)" if self.exact else " (upper bound)"
        title = f"who gains by deviating: {told}, the largest of {self.game.agents} agents"
        parts: list[str | Table] = []
        if rows:
            caption = "gain: each time; share: gain times chance. An agent's shares add up to its gap"
            if self.game.discount is not None:
                caption += "; chance: expected visits, discounted"
            played = "when told" if self.kind != "nash" else "instead of"
            columns = ["agent", "step", "state", played, "play", "chance", "gain", "share"]
            parts.append(Table(caption, columns, rows, head=3))
        else:
            parts.append("nobody gains by deviating")
        left = len(self.terms) - len(rows)
        if left:
            parts.append(f"{left:,} smaller terms are not shown; limit=None, or --all on the command line, shows all")
        negative = [i for i in range(self.game.agents) if self.sums[i] < -1e-9 * largest_return(self.game)]
        if negative:
            named = ", ".join(f"agent {i} {number(float(-self.sums[i]))}" for i in negative[:6])
            parts.append(f"to ignore what it is told costs: {named}; such agents stay, and their gap is 0")
        return Document(title, parts, lambda: self.data(limit=limit))

    def data(self, *, limit: int | None = None) -> dict[str, Any]:
        """Return the table as JSON has it."""
        terms = self.terms if limit is None else self.terms[:limit]
        return {
            "kind": self.kind,
            "exact": self.exact,
            "max": float(self.gaps.max()),
            "per_agent": self.gaps.tolist(),
            "sums": self.sums.tolist(),
            "terms": [dict(zip(TERM.names or (), self._row(term), strict=True)) for term in terms],
            "terms_not_shown": len(self.terms) - len(terms),
        }

    def _row(self, t: Any) -> list[Cell]:
        names = action_names(self.game, int(t["agent"]))
        place: list[Cell] = [int(t["agent"]), int(t["step"]), state_name(self.game, int(t["state"]))]
        return [*place, names[t["instead_of"]], names[t["play"]], *(float(t[k]) for k in ("chance", "gain", "share"))]

    def __repr__(self) -> str:
        return str(self.show())

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def deviation_table(
    game: ExactGame, policy: MarkovPolicy | RecordedPolicy, *, gap: str | None = None
) -> DeviationTable:
    """Take a policy's gap apart: which agent gains what by playing what instead of what, at which step and state.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy, RecordedPolicy
    gap : {"nash", "cce", "ce"}, optional
        As for `tacit.evaluate`.

    Returns
    -------
    DeviationTable

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.deviation_table(game, tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]))
    who gains by deviating: nash gap = 1 (exact), the largest of 2 agents
    <BLANKLINE>
    gain: each time; share: gain times chance. An agent's shares add up to its gap
    agent  step  state  instead of  play    chance  gain  share
        0     0  0      cooperate   defect       1     1      1
    """
    check_exact(game)
    found = evaluate(game, policy, gap=gap)
    if isinstance(policy, RecordedPolicy):
        pieces = _recorded_terms(game, policy, found.kind)
    else:
        pieces = _markov_terms(game, policy, found.kind)
    terms = np.concatenate([np.zeros(0, dtype=TERM), *pieces])
    sums = np.zeros(game.agents)
    np.add.at(sums, terms["agent"], terms["share"])
    terms = terms[np.abs(terms["share"]) > _ROUNDING * largest_return(game)]
    order = np.lexsort((terms["state"], terms["step"], terms["agent"], -terms["share"]))
    return DeviationTable(game, found.kind, found.exact, found.gaps, sums, terms[order])


def _markov_terms(game: ExactGame, policy: MarkovPolicy, kind: str) -> list[npt.NDArray[Any]]:
    d = occupancy(game, policy)
    pieces = []
    for step in steps(game, policy, kind):
        there, chosen = d[step.h][:, None], choose(step.rows, step.gains, kind)
        for i, size in enumerate(game.actions):
            chance = policy.marginal(i)[step.h if policy.steps > 1 else 0]
            if policy.product:
                q, play = step.gains[i, :, :size], chosen[i][:, None]
                gain = chance * (np.take_along_axis(q, play, axis=1) - q)
            else:
                told = step.gains[i, :, :size, :size]  # [S, b, a]
                play = np.broadcast_to(chosen[i, :, :size] if kind == "ce" else chosen[i][:, None], told.shape[:2])
                gain = np.take_along_axis(told, play[..., None], axis=2)[..., 0] - np.diagonal(told, axis1=1, axis2=2)
            pieces.append(_terms(i, step.h, there * chance, there * gain, play))
    return pieces


def _recorded_terms(game: ExactGame, policy: RecordedPolicy, kind: str) -> list[npt.NDArray[Any]]:
    """Take the certificate's bound apart: its deviator knows the hidden index from the second step on."""
    kept = policy.episodes if policy.rule == "rate" else policy.episodes // 4
    needed = memory.floats(kept * game.horizon, sum(a * (a + 1) for a in game.actions))
    memory.require(needed, "the deviations of a certified policy")
    held = histories(game, policy.record, kind, apart=True)
    pieces = []
    for h, s, share, _, _ in follow(game, policy):
        for i, size in enumerate(game.actions):
            q, chance = held[h][s].q[:, i, :size, :size], held[h][s].told[:, i, :size]  # [J, b, a]: told b, play a
            entries = dot(share, q)[None] if h == 0 else share[:, None, None] * q
            top = entries.argmax(axis=2) if kind == "ce" else entries.sum(axis=1).argmax(axis=1)[:, None]
            play = np.broadcast_to(top, entries.shape[:2])
            gain = np.take_along_axis(entries, play[..., None], axis=2)[..., 0] - np.diagonal(entries, axis1=1, axis2=2)
            weight = share[:, None] * chance if h else dot(share, chance)[None]
            for a in np.unique(play):
                some = play == a
                total, count = np.where(some, gain, 0).sum(axis=0), np.where(some, weight, 0).sum(axis=0)
                pieces.append(_terms(i, h, count[None], total[None], np.full((1, len(total)), a), s))
    return pieces


def _terms(i: int, h: int, chance: FloatArray, share: FloatArray, play: IntArray, s: int = 0) -> npt.NDArray[Any]:
    """Return the terms of one agent and step, [S, b], that are not nothing."""
    state, told = np.nonzero(share)
    terms = np.zeros(len(state), dtype=TERM)
    terms["agent"], terms["step"], terms["state"], terms["instead_of"] = i, h, s + state, told
    terms["play"] = np.broadcast_to(play, share.shape)[state, told]
    terms["chance"], terms["share"] = chance[state, told], share[state, told]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms["gain"] = np.where(terms["chance"] > 0, terms["share"] / terms["chance"], 0.0)
    return terms
