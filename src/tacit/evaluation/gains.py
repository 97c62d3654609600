"""Who gains what by playing what instead of what, and where: a gap taken apart.

For a policy π and agent i's best deviation, with values V† of deviating from a step on and Q†(a) of playing a and
deviating afterwards, the gap is a sum over what π plays:

    gap_i = Σ_h Σ_s d_h(s) Σ_b π_i(b | s) · (Q†(a*) − Q†(b)),

d the probability of being in s at step h under π, a* what the deviation plays there. With a correlated policy the
payoffs are those given that b was recommended. Each term is what agent i gains by a* instead of b at (h, s), if it
goes on to deviate. The terms of a nash or ce gap are never negative; those of a cce gap can be, because who ignores
recommendations plays one action whatever is recommended.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.display import Cell, Document, Table, number
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.gaps import evaluate
from tacit.evaluation.values import choose, largest_return, occupancy, shift_rewards, steps
from tacit.games.exact import ExactGame, check_exact
from tacit.games.showing import action_names, state_name
from tacit.policies.markov import MarkovPolicy

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
        ("prob", np.float64),  # of being there, and of playing `instead_of` or having it recommended
        ("gain", np.float64),  # each time
        ("share", np.float64),  # of the gap: prob times gain
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
    gaps : array [N]
        As `tacit.evaluate` has them.
    sums : array [N]
        The sum of each agent's terms: the gap, or below zero where a cce gap is zero because who ignores
        recommendations does worse.
    terms : structured array
        agent, step, state, instead_of, play, prob, gain, share: the largest share first. It opens in pandas.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = tacit.evaluation.deviation_table(game, tacit.MarkovPolicy.deterministic([[[1]], [[1]]], [2, 2]))
    >>> found.gaps.tolist()
    [0.0, 0.0]
    """

    game: ExactGame
    kind: str
    gaps: FloatArray
    sums: FloatArray
    terms: npt.NDArray[Any]

    def show(self, *, limit: int | None = 12) -> Document:
        """Show the largest terms; None shows all."""
        most = len(self.terms) if limit is None else check.integer("limit", limit, least=1)
        rows = [self._row(term) for term in self.terms[:most]]
        gap = f"{self.kind} gap = {number(float(self.gaps.max()))}"
        title = f"who gains by deviating: {gap} (exact), the largest of {self.game.agents} agents"
        parts: list[str | Table] = []
        if rows:
            caption = "gain: each time; share: gain times probability. An agent's shares add up to its gap"
            if self.game.discount is not None:
                caption += "; prob: expected visits, discounted"
            played = "recommended" if self.kind != "nash" else "instead of"
            columns = ["agent", "step", "state", played, "play", "prob", "gain", "share"]
            parts.append(Table(caption, columns, rows, head=3))
        else:
            parts.append("nobody gains by deviating")
        left = len(self.terms) - len(rows)
        if left:
            parts.append(f"{left:,} smaller terms are not shown; limit=None, or --all on the command line, shows all")
        negative = [i for i in range(self.game.agents) if self.sums[i] < -1e-9 * largest_return(self.game)]
        if negative:
            named = ", ".join(f"agent {i} {number(float(-self.sums[i]))}" for i in negative[:6])
            parts.append(f"ignoring recommendations costs: {named}; the gap of these agents is 0")
        return Document(title, parts, lambda: self.data(limit=limit))

    def data(self, *, limit: int | None = None) -> dict[str, Any]:
        """Return the table as JSON has it."""
        terms = self.terms if limit is None else self.terms[:limit]
        return {
            "kind": self.kind,
            "max": float(self.gaps.max()),
            "per_agent": self.gaps.tolist(),
            "sums": self.sums.tolist(),
            "terms": [dict(zip(TERM.names or (), self._row(term), strict=True)) for term in terms],
            "terms_not_shown": len(self.terms) - len(terms),
        }

    def _row(self, t: Any) -> list[Cell]:
        names = action_names(self.game, int(t["agent"]))
        place: list[Cell] = [int(t["agent"]), int(t["step"]), state_name(self.game, int(t["state"]))]
        return [*place, names[t["instead_of"]], names[t["play"]], *(float(t[k]) for k in ("prob", "gain", "share"))]

    def __repr__(self) -> str:
        return str(self.show())

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def deviation_table(game: ExactGame, policy: MarkovPolicy, *, gap: str | None = None) -> DeviationTable:
    """Take a policy's gap apart: which agent gains what by playing what instead of what, at which step and state.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
    gap : {"nash", "cce", "ce"}, optional
        As for `tacit.evaluate`.

    Returns
    -------
    DeviationTable

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> tacit.evaluation.deviation_table(game, tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]))
    who gains by deviating: nash gap = 1 (exact), the largest of 2 agents
    <BLANKLINE>
    gain: each time; share: gain times probability. An agent's shares add up to its gap
    agent  step  state  instead of  play    prob  gain  share
        0     0  0      cooperate   defect     1     1      1
    """
    check_exact(game)
    if not isinstance(policy, MarkovPolicy):
        raise TacitError(f"policy must be a MarkovPolicy, as run.candidates['markov'].policy is; got {brief(policy)}")
    evaluation = evaluate(game, policy, gap=gap)
    shifted, _ = shift_rewards(game)
    terms = np.concatenate([np.zeros(0, dtype=TERM), *_markov_terms(shifted, policy, evaluation.kind)])
    sums = np.zeros(game.agents)
    np.add.at(sums, terms["agent"], terms["share"])
    terms = terms[np.abs(terms["share"]) > _ROUNDING * largest_return(shifted)]
    order = np.lexsort((terms["state"], terms["step"], terms["agent"], -terms["share"]))
    return DeviationTable(game, evaluation.kind, evaluation.gaps, sums, terms[order])


def _markov_terms(game: ExactGame, policy: MarkovPolicy, kind: str) -> list[npt.NDArray[Any]]:
    d = occupancy(game, policy)
    pieces = []
    for step in steps(game, policy, kind):
        there, chosen = d[step.h][:, None], choose(step.rows, step.gains, kind)
        for i, size in enumerate(game.actions):
            probs = policy.marginal(i)[step.h if policy.steps > 1 else 0]
            if policy.product:
                q, play = step.gains[i, :, :size], chosen[i][:, None]
                gain = probs * (np.take_along_axis(q, play, axis=1) - q)
            else:
                q = step.gains[i, :, :size, :size]  # [S, b, a]
                play = np.broadcast_to(chosen[i, :, :size] if kind == "ce" else chosen[i][:, None], q.shape[:2])
                gain = np.take_along_axis(q, play[..., None], axis=2)[..., 0] - np.diagonal(q, axis1=1, axis2=2)
            pieces.append(_terms(i, step.h, there * probs, there * gain, play))
    return pieces


def _terms(i: int, h: int, prob: FloatArray, share: FloatArray, play: IntArray, s: int = 0) -> npt.NDArray[Any]:
    """Return the terms of one agent and step, [S, b], that are not nothing."""
    state, instead = np.nonzero(share)
    terms = np.zeros(len(state), dtype=TERM)
    terms["agent"], terms["step"], terms["state"], terms["instead_of"] = i, h, s + state, instead
    terms["play"] = np.broadcast_to(play, share.shape)[state, instead]
    terms["prob"], terms["share"] = prob[state, instead], share[state, instead]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms["gain"] = np.where(terms["prob"] > 0, terms["share"] / terms["prob"], 0.0)
    return terms
