"""Independent projected ascent on averaged Q: policy gradient without the occupancy. [Ding, Wei, Zhang, Jovanović 2022]

    π_{h,i}(·|s) ← Proj(π_{h,i}(·|s) + η·Q̄_{h,i}(s, ·)),   Q̄ = E_{a_-i}[Q_{h,i}(s, a, a_-i)].

Projected gradient ascent (`pg-exact`) weighs each state by the probability of its visit; here all states move alike.
With gradient = "exact", Q̄ is computed from the tables and η comes from a line search (pg_exact.py), or is a number.
With "sampled", Q̄ is the mean return from (h, s) on after each action, over a batch of visits (`batches.py`).

Information: an agent's own trajectory, and that all agents use the same length of batches; or the tables.
Guarantee: in Markov potential games the average gap of T exact iterations falls as 1/√T for [Thm. 1]

    η = (1 − γ)⁴/(8·min(κ, S)³·N·A):  eta = "theory", with S for min(κ, S).

Deviations: on a finite horizon there is a table for each step, and H stands for 1/(1 − γ). The source's sampled version
[Alg. 2] fits Q̄ by linear regression on returns; a mean for each (h, s, a) is that with one feature each, and a state's
batch ends by its own visits. It projects onto the ξ-greedy policies, where here play explores around the policy. A
number as η is for rewards in [0, 1] if the gradient is sampled, in the game's units if exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.elementary import project_each
from tacit.core.memory import Owned
from tacit.core.records import capacity
from tacit.core.types import IntArray
from tacit.evaluation.gradient import Gradient
from tacit.learners import batches
from tacit.learners.pg_exact import check_eta
from tacit.learners.spec import World, make_cells, starting_point, unit_rewards
from tacit.policies.markov import MarkovPolicy

SAMPLED_STEP = 0.1  # of sampled gradients, for which there is nothing to search with


@dataclass(frozen=True)
class PGQ(batches.GradientLearner):
    """Independent projected ascent on averaged Q.

    Parameters
    ----------
    eta : "auto", "theory" or float
        Step size: the longest that passes a line search on exact values (with sampled gradients, 0.1); the theorem's
        for exact gradients, over the span of the rewards; or a number.
    batch : int
        Of sampled gradients: visits of a state between two steps there.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "pg-q", episodes=20).gap
    0.0
    """

    eta: float | str = "auto"
    batch: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        check_eta(self.eta, ("auto", "theory") if self.gradient == "exact" else ("auto",))
        check.integer("batch", self.batch, least=1)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {**super().params(world), "eta": self._step(world)}

    def _step(self, world: World) -> float | str:
        if self.eta == "theory":
            size = 8.0 * world.states**3 * world.agents * int(world.actions.max()) * world.scale.horizon**4
            return 1.0 / (size * world.unit)
        return SAMPLED_STEP if self.eta == "auto" and self.gradient == "sampled" else self.eta

    def ascend(self, policy: MarkovPolicy, gradient: Gradient, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one exact step of every agent; return the new policy and how far it moved, over η."""
        moved = [
            project_each(probs + eta * (q - q.mean(axis=2, keepdims=True)))
            for probs, q in zip(policy.probs, gradient.q, strict=True)
        ]
        change = sum(float(((new - old) ** 2).sum()) for new, old in zip(moved, policy.probs, strict=True))
        return MarkovPolicy([Owned(probs) for probs in moved]), float(np.sqrt(change)) / eta if eta > 0 else 0.0

    def init(self, world: World) -> PGQState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        cells, players, sharing = make_cells(self.steps, world, batches.fields(A), [])
        batches.begin(players, starting_point(world), "prob")
        low, scale = unit_rewards(world)
        return PGQState(
            cells=cells,
            players=sharing,
            window=batches.make_window(world, A),
            eta=float(self._step(world)),
            batch=int(self.batch),
            exploration=float(self.exploration),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
        )


class PGQState(NamedTuple):
    """All agents' policies and batches, and the running episode; rewards in units of their span."""

    cells: Any  # [H, S, N]  batches.fields
    players: Any  # whose policy is where
    window: batches.Window  # of the running episode
    eta: float
    batch: int
    exploration: float
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]


generics.act.implement(PGQState)(batches.act)
generics.policy.implement(PGQState)(batches.policy)


@generics.learn.implement(PGQState)
def learn(learner, i, h, s, a, r, s_next):
    """Note the step; after the last one add the returns, and move where a batch ends."""
    window, n = learner.window, learner.actions[i]
    batches.note(window, i, h, s, a)
    if batches.fills(window, i, h, (r - learner.reward_low) * learner.reward_scale):
        batches.add_up(window, i)
        for k in range(window.counted - 1, -1, -1):
            step, cell = window.steps[k, i], batches.visited(learner, i, k)
            batches.add(cell, step.action, step.reward)
            if cell.visits >= learner.batch:
                batches.close(cell, n)
                batches.ascend(cell.prob, cell.total, learner.eta, n)
                batches.clear(cell, n)
