"""Independent projected gradient ascent with exact gradients. [Mao2022, eqn:pga, thm:mpg_exact_gradient]

    π_i ← Proj(π_i + η·∇_{π_i} V_{1,i}(ρ))

with η from a line search on exact values, or the theorem's η = 1/(4·N·A_max·H³). In the search what is tested is the
sum of what each agent gains when the agents move one after another, first to last and last to first:

    Σ_i V_i(π⁺_1, …, π⁺_i, π_{i+1}, …, π_N) − V_i(π⁺_1, …, π⁺_{i−1}, π_i, …, π_N).

In a Markov potential game either sum is the rise of the potential. [Mao2022, eqn:potential] A step passes if the
smaller one is at least half of what the gradients promise, Σ_i ⟨∇_i V_i, π⁺_i − π_i⟩ (Armijo's rule). Tried are twice
the last step, then half of it again and again, down to the theorem's step, which always passes in a potential game.
[Mao2022, lemma:smoothness] So the potential never falls.

A potential never rises by more than N·H·span in all. Sums that exceed it prove that the game has none: the longest step
is then halved, and again whenever the next steps exceed it. That iterates converge there is not promised.

Deviations: the theorem's step is not the default, since it is far too short to be of use. It is for rewards in [0, 1];
in the game's units it is divided by the span of the rewards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.elementary import dot, project_each
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.evaluation.gradient import Gradient, lipschitz
from tacit.evaluation.values import settle
from tacit.games.exact import ExactGame
from tacit.learners.spec import ExactLearner, Start, World, check_start
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class PGExact(ExactLearner):
    """Independent projected gradient ascent with exact gradients.

    Parameters
    ----------
    eta : "auto", "theory" or float
        Step size: the longest that passes a line search on exact values; the theorem's, which is 1/(4·N·A_max·H³) over
        the span of the rewards; or a number.
    start : "uniform", "random" or MarkovPolicy
        The policy of the first iteration.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), tacit.learners.PGExact(), episodes=20).gap
    0.0
    """

    eta: float | str = "auto"
    start: Start = "uniform"

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check_eta(self.eta)
        check_start(self.start)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {**super().params(world), "eta": theory_step(world) if self.eta == "theory" else self.eta}

    def ascend(self, policy: MarkovPolicy, gradient: Gradient, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one step of every agent. Return the new policy and the norm of the gradient mapping."""
        moved = [
            project_each(
                probs + eta * (grad - grad.mean(axis=2, keepdims=True))
            )  # what all actions share only costs digits
            for probs, grad in zip(policy.probs, gradient.gradients, strict=True)
        ]
        change = sum(float(((new - old) ** 2).sum()) for new, old in zip(moved, policy.probs, strict=True))
        return MarkovPolicy([Owned(probs) for probs in moved]), float(np.sqrt(change)) / eta if eta > 0 else 0.0


# the line search ------------------------------------------------------------------------------------------------------


LONGEST = 1e4  # η times the largest gradient: beyond, projections lose digits


class LineSearch(NamedTuple):
    """Where the search is: plain numbers, which a checkpoint keeps."""

    eta: float  # the last step
    longest: float
    risen: float  # sum of the gains since `longest` was halved


class Ascent(NamedTuple):
    """A step that was taken."""

    policy: MarkovPolicy
    mapping: float  # how far it moved, over η
    search: LineSearch


def check_eta(eta: float | str, words: tuple[str, ...] = ("auto", "theory")) -> None:
    """Raise unless η is a number or one of the words."""
    if not isinstance(eta, str):
        check.real("eta", eta, least=0)
    elif eta not in words:
        raise TacitError(f"eta must be a number or one of {', '.join(words)}; got {brief(eta)}")


def theory_step(world: World) -> float:
    """Return 1/(4·N·A_max·H³), over the span of the rewards. [Mao2022, thm:mpg_exact_gradient]"""
    return 1.0 / (lipschitz(world.agents, int(world.actions.max()), world.scale.horizon) * world.unit)


def begin_search(world: World) -> LineSearch:
    """Return a search whose first step is 1 over the span of rewards."""
    return LineSearch(0.5 / world.unit, LONGEST / (world.scale.horizon * world.unit), 0.0)


def take_step(
    game: ExactGame, learner: ExactLearner, world: World, policy: MarkovPolicy, gradient: Gradient, search: LineSearch
) -> Ascent:
    """Take the longest of 2η, η, η/2, … that passes, or the theorem's step."""
    least = theory_step(world)
    eta = max(min(2.0 * search.eta, search.longest), least)
    while True:
        moved, mapping = learner.ascend(policy, gradient, eta)
        rise, enough = gains(game, policy, moved, gradient)
        if rise >= enough or eta <= least:
            return Ascent(moved, mapping, _note(search, eta, rise, world))
        eta = max(eta / 2.0, least)


def _note(search: LineSearch, eta: float, rise: float, world: World) -> LineSearch:
    risen = search.risen + max(rise, 0.0)
    if risen > world.agents * world.scale.horizon * world.unit:
        return LineSearch(eta, min(eta, search.longest) / 2.0, 0.0)
    return LineSearch(eta, search.longest, risen)


def gains(game: ExactGame, policy: MarkovPolicy, moved: MarkovPolicy, gradient: Gradient) -> tuple[float, float]:
    """Return the smaller sum of gains, and half of what the gradients promise."""
    pairs = zip(gradient.gradients, moved.probs, policy.probs, strict=True)
    promised = sum(float((slope * (new - old)).sum()) for slope, new, old in pairs)
    rounding = 1e-13 * game.effective_horizon * float(np.abs(game.reward_range).max()) * game.agents
    enough = 0.5 * promised - rounding
    if all_alike(policy.probs) and all_alike(moved.probs):
        alike = game.gain_alike(policy.probs[0], moved.probs[0])
        if alike is not None:  # in both orders
            return alike, enough
    order = range(game.agents)
    first = sum_gains(game, policy.probs, moved.probs, order)
    if first < enough:
        return first, enough
    return min(first, sum_gains(game, policy.probs, moved.probs, order[::-1])), enough


def all_alike(probs: Sequence[FloatArray]) -> bool:
    """Return whether all agents play the same."""
    return all(table is probs[0] or np.array_equal(table, probs[0]) for table in probs[1:])


def sum_gains(game: ExactGame, old: Sequence[FloatArray], new: Sequence[FloatArray], order: Sequence[int]) -> float:
    """Return the sum of agents' gains when they move one after another."""
    probs, total = list(old), 0.0
    for i in order:
        before = value_of(game, probs, i)
        probs[i] = new[i]
        total += value_of(game, probs, i) - before
    return total


def value_of(game: ExactGame, probs: Sequence[FloatArray], i: int) -> float:
    """Return V_i of independent policies [H or 1, S, A_j], agent i's alone."""
    V: FloatArray | None = None
    if game.discount is not None:
        V = settle(game, [table[0] for table in probs], None)[[i]]
    for h in reversed(range(game.horizon)):
        rows = [table[h if len(table) > 1 else 0] for table in probs]
        q = game.payoffs(h, rows, V, agents=[i])[..., : rows[i].shape[1]]
        V = np.einsum("nsa,sa->ns", q, rows[i])
    assert V is not None
    return float(dot(V[0], game.initial))
