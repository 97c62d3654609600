"""Independent natural policy gradient with softmax parameters. [Fox, McAleer, Overman, Panageas 2022]

The natural gradient of a softmax policy is its advantage, so each agent's policy moves by

    π_{h,i}(a|s) ∝ π_{h,i}(a|s)·exp(η·Q̄_{h,i}(s, a)),   Q̄ = E_{a_-i}[Q_{h,i}(s, a, a_-i)],

with η from a line search (pg_exact.py), or a number. With gradient = "sampled", agents play π' = (1 − ε)·π + ε/A, and
after an episode with returns R_h from step h on the logits θ of π move at the visited (h, s_h), from the second visit
on, by

    θ_h(s_h, a_h) ← θ_h(s_h, a_h) + η·(R_h − b_h(s_h))/π'_h(a_h|s_h),   b_h(s) = mean of R_h in earlier visits,

an estimate of Q̄ without bias, up to a number that all actions share.

Deviations: none from the cited update in its finite-horizon form, with a number as η. The source has no sampled form.
Without b and ε agents soon settle on whatever they played first, since each positive return raises the logit of its
action; play apart from π [Chung et al. 2021] and b [Mei et al. 2022] mend that. A number as η is for rewards of span 1
if the gradient is sampled, in the game's units if exact. The line search keeps probabilities above 1e-12: its steps can
be so long that an action would never come back. In play that never resets an episode is a window of periods
(`batches.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick
from tacit.core import generics
from tacit.core.elementary import exp, exp_each, log_each
from tacit.core.memory import Owned
from tacit.core.records import capacity, records
from tacit.core.types import IntArray
from tacit.evaluation.gradient import Gradient
from tacit.learners import batches, ucb
from tacit.learners.pg_exact import check_eta, theory_step
from tacit.learners.spec import World, make_cells, player, starting_point
from tacit.policies.markov import MarkovPolicy

SAMPLED_STEP = 0.1  # of sampled gradients, for which there is nothing to search with
LEAST = 1e-12  # least probability in a line search


@dataclass(frozen=True)
class NPG(batches.GradientLearner):
    """Independent natural policy gradient with softmax parameters.

    Parameters
    ----------
    eta : "auto", "theory" or float
        Step size: the longest that passes a line search on exact values (with sampled gradients, 0.1); the shortest
        that it tries, which is the theorem's for projected gradients; or a number.

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), tacit.learners.NPG(), episodes=20).gap < 0.1
    True
    """

    eta: float | str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_eta(self.eta, ("auto", "theory") if self.gradient == "exact" else ("auto",))

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {**super().params(world), "eta": self._step(world)}

    def _step(self, world: World) -> float | str:
        if self.eta == "theory":
            return theory_step(world)
        return SAMPLED_STEP if self.eta == "auto" and self.gradient == "sampled" else self.eta

    def ascend(self, policy: MarkovPolicy, gradient: Gradient, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one exact step of every agent; return the new policy and how far it moved, over η."""
        moved = []
        for probs, payoff in zip(policy.probs, gradient.q, strict=True):
            top = np.where(probs > 0, payoff, -np.inf).max(axis=2, keepdims=True)  # the best that is played
            weight = probs * exp_each(np.minimum(eta * (payoff - top), 0.0))
            if self.eta == "auto":
                weight = np.maximum(weight, LEAST * weight.sum(axis=2, keepdims=True))
            moved.append(weight / weight.sum(axis=2, keepdims=True))
        change = sum(float(((new - old) ** 2).sum()) for new, old in zip(moved, policy.probs, strict=True))
        return MarkovPolicy([Owned(probs) for probs in moved]), float(np.sqrt(change)) / eta if eta > 0 else 0.0

    def init(self, world: World) -> NPGState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        fields = [("logits", "f8", A), ("mean", "f8"), ("visits", "i8")]
        cells, players, sharing = make_cells(self.steps, world, fields, [])
        players["logits"] = np.maximum(log_each(starting_point(world)[: len(players)]), -1e300)
        return NPGState(
            cells=cells,
            players=sharing,
            window=batches.make_window(world, A, [("prob", "f8")]),
            agents=records((world.agents,), [("prob", "f8", A)]),
            eta=float(self._step(world)) / world.unit,
            exploration=float(self.exploration),
            actions=world.actions,
        )


class NPGState(NamedTuple):
    """All agents' logits, and the running episode."""

    cells: Any  # [H, S, N]  logits [A], relative to the largest; mean: b; visits
    players: Any  # whose logits are where
    window: batches.Window  # of the running episode, with the probability of the action
    agents: Any  # [N]  prob [A]: scratch
    eta: float  # over the rewards' span
    exploration: float
    actions: IntArray  # [N]


@generics.policy.implement(NPGState)
def policy(learner, i, h, s, out):
    """Write π, the softmax of the logits."""
    logits = player(learner.players, learner.cells, i, h, s).logits
    total = 0.0
    for a in range(learner.actions[i]):
        out[a] = exp(logits[a])
        total += out[a]
    for a in range(learner.actions[i]):
        out[a] /= total


@generics.act.implement(NPGState)
def act(learner, i, h, s, u):
    """Draw from π, or uniformly with probability ε."""
    n, explores, prob = learner.actions[i], learner.exploration, learner.agents[i].prob
    generics.policy(learner, i, h, s, prob)
    for a in range(n):
        prob[a] = (1.0 - explores) * prob[a] + explores / n
    chosen = pick(prob, 1.0, n, u)
    batches.note(learner.window, i, h, s, chosen).prob = max(prob[chosen], 1e-300)
    return chosen


@generics.learn.implement(NPGState)
def learn(learner, i, h, s, a, r, s_next):
    """Note the reward; after the last step, move the logits at the visited cells."""
    window, n = learner.window, learner.actions[i]
    if batches.fills(window, i, h, r):
        batches.add_up(window, i)
        for k in range(window.counted - 1, -1, -1):
            step, cell = window.steps[k, i], batches.visited(learner, i, k)
            if cell.visits > 0:
                cell.logits[step.action] += learner.eta * (step.reward - cell.mean) / step.prob
            cell.visits += 1
            cell.mean += (step.reward - cell.mean) / cell.visits
            top, _ = ucb.best(cell.logits, n)
            for b in range(n):
                cell.logits[b] = max(cell.logits[b] - top, -1e300)
