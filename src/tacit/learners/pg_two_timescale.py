"""Independent policy gradient with unequal step sizes, for zero-sum games. [Daskalakis, Foster, Golowich 2020]

Both agents follow REINFORCE with ε-greedy direct parameters θ, π = (1 − ε)·θ + ε/A: after an episode of return R with
actions a_h in states s_h,

    θ_h(s_h) ← Proj(θ_h(s_h) + η_i·R·(1 − ε)/π_h(a_h|s_h)·e_{a_h}),

one agent with the slow step η, the other with ratio·η. So the fast one is near a best response all the time, and the
slow one descends on what its best-responding opponent leaves to it. With gradient = "exact", the gradients of
`pg-exact` take the place of the estimates.

Information: an agent's own trajectory, and which of the two is the slow one.
Guarantee: in two-agent zero-sum games the slow agent's iterates are, on average, near a min-max policy, for steps that
are polynomial in the accuracy (the fast step much longer than the slow one). It says nothing of the fast agent.
Deviations: rewards are brought to [0, 1]. The source's game stops with a positive probability and its policies are
stationary; here there is a table for each step of a finite horizon. Its agents have different ε; here they share one.
Read in: the abstract, which states the setting and the two-timescale rule. Estimator and steps are as later authors
cite them, and the theorem's exponents are left out for that reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick
from tacit.core import check, generics
from tacit.core.elementary import project_each
from tacit.core.memory import Owned
from tacit.core.records import NONNEGATIVE, capacity, records
from tacit.core.types import IntArray
from tacit.evaluation.gradient import Gradient
from tacit.learners import batches
from tacit.learners.spec import Info, World, make_cells, player, starting_point, unit_rewards
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class PGTwoTimescale(batches.GradientLearner):
    """Independent policy gradient with unequal step sizes, for zero-sum games.

    Parameters
    ----------
    eta : float
        Step size of the slow agent, for rewards in [0, 1].
    ratio : float
        The fast agent's step size over the slow one's.
    slow : int
        Which of the two agents is slow.
    exploration : float
        Of sampled gradients: ε of the ε-greedy parameterization.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.PGTwoTimescale(ratio=30.0).slow
    0
    """

    eta: float = 1e-4
    ratio: float = 10.0
    slow: int = 0
    gradient: str = field(default="sampled", kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        check.real("eta", self.eta, least=0)
        check.real("ratio", self.ratio, least=1)
        check.integer("slow", self.slow, least=0, most=1)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=super().info.needs | {"zero-sum"})

    def explores(self, state: Any, i: int) -> float:
        """Return 0: π explores by itself."""
        return 0.0

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force; exact gradients are in the game's units."""
        return {**super().params(world), "eta": self.eta / world.unit if self.gradient == "exact" else self.eta}

    def seat(self, i: int) -> PGTwoTimescale:
        """Return agent i's learner, with the step size of that agent."""
        return replace(self, slow=0, ratio=1.0, eta=self.eta * (1.0 if i == self.slow else self.ratio))

    def ascend(self, policy: MarkovPolicy, gradient: Gradient, eta: float) -> tuple[MarkovPolicy, float]:
        """Take one exact step of both agents; return the new policy and how far it moved, over η."""
        moved = [
            project_each(probs + eta * (1.0 if i == self.slow else self.ratio) * slope)
            for i, (probs, slope) in enumerate(zip(policy.probs, gradient.gradients, strict=True))
        ]
        change = sum(float(((new - old) ** 2).sum()) for new, old in zip(moved, policy.probs, strict=True))
        return MarkovPolicy([Owned(probs) for probs in moved]), float(np.sqrt(change)) / eta if eta > 0 else 0.0

    def init(self, world: World) -> TwoTimescaleState:
        """Make the state of all agents."""
        N, A = world.agents, capacity(world.actions.max())
        cells, players, sharing = make_cells(self.steps, world, [("theta", NONNEGATIVE, A)], [])
        players["theta"] = starting_point(world)[: len(players)]
        agents = records((N,), [("total", "f8"), ("eta", "f8"), ("prob", "f8", A)])
        agents["eta"] = self.eta * np.where(np.arange(N) == self.slow, 1.0, self.ratio)
        low, scale = unit_rewards(world)
        return TwoTimescaleState(
            cells=cells,
            players=sharing,
            window=batches.make_window(world, A, [("prob", "f8")]),
            agents=agents,
            exploration=float(self.exploration),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
        )


class TwoTimescaleState(NamedTuple):
    """Both agents' parameters, and the running episode."""

    cells: Any  # [H, S, N]  theta [A]
    players: Any  # whose parameters are where
    window: batches.Window  # of the running episode, with the probability of the action
    agents: Any  # [N]  total: return so far; eta; prob [A]: scratch
    exploration: float
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]


@generics.policy.implement(TwoTimescaleState)
def policy(learner, i, h, s, out):
    """Write π = (1 − ε)·θ + ε/A."""
    theta, n = player(learner.players, learner.cells, i, h, s).theta, learner.actions[i]
    for a in range(n):
        out[a] = (1.0 - learner.exploration) * theta[a] + learner.exploration / n


@generics.act.implement(TwoTimescaleState)
def act(learner, i, h, s, u):
    """Draw from π."""
    prob = learner.agents[i].prob
    generics.policy(learner, i, h, s, prob)
    chosen = pick(prob, 1.0, learner.actions[i], u)
    batches.note(learner.window, i, h, s, chosen).prob = prob[chosen]
    return chosen


@generics.learn.implement(TwoTimescaleState)
def learn(learner, i, h, s, a, r, s_next):
    """Add the reward; after the last step move θ where the episode was."""
    me, n, window = learner.agents[i], learner.actions[i], learner.window
    r = (r - learner.reward_low) * learner.reward_scale
    me.total += r
    if batches.fills(window, i, h, r):
        batches.add_up(window, i)
        for k in range(window.counted):
            step, theta = window.steps[k, i], batches.visited(learner, i, k).theta
            gain = step.reward if window.endless == 1 else me.total
            theta[step.action] += me.eta * gain * (1.0 - learner.exploration) / max(step.prob, 1e-300)
            batches.project(theta, n)
        me.total = 0.0
