"""Win or learn fast, by policy hill-climbing: WoLF-PHC. [Bowling, Veloso 2002]

    Q_h(s, a) ← Q_h(s, a) + α·(r + max_{a'} Q_{h+1}(s', a') − Q_h(s, a))
    π̄(s) ← π̄(s) + (π(s) − π̄(s))/n(s)
    δ = win if Σ_a π(s, a)·Q(s, a) > Σ_a π̄(s, a)·Q(s, a), else lose
    π(s, a) ← π(s, a) − min{π(s, a), δ/(A − 1)} for all a but the best by Q, which gets what the others lose.

α is step·c/(c + n(s)) with c = `step_visits`, and δ falls in the same way with `policy_visits`; both are constant by
default. The source's, for matrix games, are α = 1/(100 + t/10000), win = 1/(20000 + t), lose = 2·win.

Information: an agent's own actions and rewards.
Guarantee: none. The theorem is that of WoLF-IGA, which knows the gradient, in games of two agents with two actions.
Deviations: one table for each step of a finite horizon, where the source discounts. Rates fall with the visits of the
state, not with time. Exploration is ε-greedy around π. Of several best actions the first gets the gain.
Read in: OpenSpiel's implementation, with the constants, and the authors' summary; the paper's text was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.bandits.spec import pick
from tacit.core import check, generics
from tacit.core.records import NONNEGATIVE, capacity
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import Info, Learner, World, check_steps, make_cells, player


@dataclass(frozen=True)
class WoLFPHC(Learner):
    """Win or learn fast, by policy hill-climbing.

    Parameters
    ----------
    step : float
        Rate of Q.
    win, lose : float
        Rates of the policy while it does better than its average, and while it does not.
    exploration : float
        Probability ε of a uniform action.
    step_visits, policy_visits : float, optional
        Visits of a state after which the rate of Q, or those of the policy, are halved; constant if not given.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "wolf-phc", episodes=5000).gap < 0.1
    True
    """

    step: float = 0.1
    win: float = 0.0025
    lose: float = 0.01
    exploration: float = 0.05
    step_visits: float | None = None
    policy_visits: float | None = None
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("step", self.step, least=0, most=1)
        check.real("lose", self.lose, least=0, most=1)
        check.real("win", self.win, least=0, most=self.lose)
        check.real("exploration", self.exploration, least=0, most=0.999)
        for name in ("step_visits", "policy_visits"):
            if getattr(self, name) is not None:
                check.positive(name, getattr(self, name))
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(returns="average")

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ε of a uniform action."""
        return self.exploration

    def init(self, world: World) -> WoLFState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        fields = [("Q", "f8", A), ("prob", NONNEGATIVE, A), ("average", NONNEGATIVE, A), ("visits", "i8")]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        for i, actions in enumerate(world.actions):
            players["prob"][:, :, i, :actions] = players["average"][:, :, i, :actions] = 1.0 / actions
        return WoLFState(
            cells=cells,
            players=sharing,
            step=float(self.step),
            win=float(self.win),
            lose=float(self.lose),
            exploration=float(self.exploration),
            step_fall=0.0 if self.step_visits is None else 1.0 / self.step_visits,
            policy_fall=0.0 if self.policy_visits is None else 1.0 / self.policy_visits,
            discount=1.0 if world.discount is None else world.discount,
            actions=world.actions,
        )


class WoLFState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [H+1, S, N]  Q [A], prob [A]: π, average [A]: π̄, visits: n
    players: Any  # whose Q is where
    step: float
    win: float
    lose: float
    exploration: float
    step_fall: float  # 1/c of the rate of Q; 0 for a constant one
    policy_fall: float  # the same of the policy's
    discount: float  # γ of play that never resets, otherwise 1
    actions: IntArray  # [N]


@generics.policy.implement(WoLFState)
def policy(learner, i, h, s, out):
    """Write π."""
    prob = player(learner.players, learner.cells, i, h, s).prob
    for a in range(learner.actions[i]):
        out[a] = prob[a]


@generics.average_policy.implement(WoLFState)
def average_policy(learner, i, h, s, out):
    """Write π̄."""
    average = player(learner.players, learner.cells, i, h, s).average
    for a in range(learner.actions[i]):
        out[a] = average[a]


@generics.act.implement(WoLFState)
def act(learner, i, h, s, u):
    """Draw from π, or uniformly with probability ε."""
    n, explores = learner.actions[i], learner.exploration
    if u < explores:
        return min(int(u / explores * n), n - 1)
    prob = player(learner.players, learner.cells, i, h, s).prob
    return pick(prob, 1.0, n, (u - explores) / (1.0 - explores))


@generics.learn.implement(WoLFState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q, the average and the policy. [Bowling, Veloso 2002]"""
    n, cell = learner.actions[i], player(learner.players, learner.cells, i, h, s)
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, n)
    alpha = learner.step / (1.0 + learner.step_fall * cell.visits)
    fall = 1.0 + learner.policy_fall * cell.visits
    cell.Q[a] += alpha * (r + learner.discount * ahead - cell.Q[a])
    cell.visits += 1
    value, average, best = 0.0, 0.0, 0
    for b in range(n):
        cell.average[b] += (cell.prob[b] - cell.average[b]) / cell.visits
        value += cell.prob[b] * cell.Q[b]
        average += cell.average[b] * cell.Q[b]
        if cell.Q[b] > cell.Q[best]:
            best = b
    delta = (learner.win if value > average else learner.lose) / fall
    others = 0.0
    for b in range(n):
        if b != best:
            cell.prob[b] -= min(cell.prob[b], delta / (n - 1))
            others += cell.prob[b]
    cell.prob[best] = max(1.0 - others, 0.0)
