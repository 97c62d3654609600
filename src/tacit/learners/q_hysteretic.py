"""Hysteretic Q-learning, and its lenient sibling, for teams. [Matignon, Laurent, Le Fort-Piat 2007; Wei, Luke 2016]

    δ = r + max_{a'} Q_{h+1}(s', a') − Q_h(s, a),   Q_h(s, a) ← Q_h(s, a) + (step if δ ≥ 0 else slow)·δ

An agent whose teammates explore is punished for what they do; the smaller rate makes it forgive most of that. With
`leniency`, a fall is instead taken in at the full rate with probability

    1 − exp(−1/T_h(s, a)),   T_h(s, a) ← 0.995·(0.9·T_h(s, a) + 0.1·mean_{a'} T_{h+1}(s', a'))

at each visit, without the mean in the last step, from T = leniency on: an agent forgives much at first and nothing
later. [Panait, Sullivan, Luke 2006; the rule is LMRL2's, Wei, Luke 2016]

Information: an agent's own actions and rewards. Guarantee: none.
Deviations: one table for each step of a finite horizon, where the sources discount. T is LMRL2's temperature times its
moderation factor θ. Exploration is ε-greedy, where LMRL2 draws by a Boltzmann distribution of the mean temperature and
begins at the least value. The coin of leniency is the low bits of the number that drew the action.
Read in: of LMRL2 two implementations by others; the paper's text was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.elementary import exp
from tacit.core.records import NONNEGATIVE, capacity, records
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import Learner, World, check_steps, make_cells, player

#: What is left of a temperature after a visit, and what it takes over from the next state. [Wei, Luke 2016]
COOLING, DIFFUSION = 0.995, 0.1


@dataclass(frozen=True)
class QHysteretic(Learner):
    """Hysteretic Q-learning: estimates fall more slowly than they rise.

    Parameters
    ----------
    step : float
        Rate at which estimates rise.
    slow : float
        Rate at which they fall, at most `step`.
    leniency : float
        First temperature of lenient learning, which takes the place of `slow`; 0 for none, 50 in the source.
    exploration : float
        Probability ε of a uniform action.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("matrix-team"), "q-hysteretic", episodes=2000).values
    array([10., 10.])
    """

    step: float = 0.1
    slow: float = 0.01
    leniency: float = 0.0
    exploration: float = 0.1
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("step", self.step, least=0, most=1)
        check.real("slow", self.slow, least=0, most=self.step)
        check.real("leniency", self.leniency, least=0, most=1e9)
        check.real("exploration", self.exploration, least=0, most=1)
        check_steps(self.steps)

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ε of a uniform action."""
        return self.exploration

    def init(self, world: World) -> QHystereticState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        fields = [("Q", "f8", A), ("temperature", NONNEGATIVE, A)]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        players["temperature"] = self.leniency
        return QHystereticState(
            cells=cells,
            players=sharing,
            agents=records((world.agents,), [("coin", "f8")]),
            step=float(self.step),
            slow=float(self.slow),
            lenient=self.leniency > 0,
            exploration=float(self.exploration),
            discount=1.0 if world.discount is None else world.discount,
            last=world.horizon - 1 if world.discount is None else -1,
            actions=world.actions,
        )


class QHystereticState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [H+1, S, N]  Q [A], temperature [A]: T
    players: Any  # whose Q is where
    agents: Any  # [N]  coin: a uniform number for the running step
    step: float
    slow: float
    lenient: bool
    exploration: float
    discount: float  # γ of play that never resets, otherwise 1
    last: int  # the last step; -1 for none
    actions: IntArray  # [N]


generics.policy.implement(QHystereticState)(ucb.policy)


@generics.act.implement(QHystereticState)
def act(learner, i, h, s, u):
    """Draw from the ε-greedy policy, and keep the rest of the number."""
    learner.agents[i].coin = u * 16777216.0 % 1.0
    Q = player(learner.players, learner.cells, i, h, s).Q
    return ucb.draw_greedily(Q, learner.actions[i], learner.exploration, u)


@generics.learn.implement(QHystereticState)
def learn(learner, i, h, s, a, r, s_next):
    """Rise fast, fall slowly or seldom."""
    n, cell = learner.actions[i], player(learner.players, learner.cells, i, h, s)
    following = player(learner.players, learner.cells, i, h + 1, s_next)
    ahead, _ = ucb.best(following.Q, n)
    delta = r + learner.discount * ahead - cell.Q[a]
    rate = learner.step
    if learner.lenient:
        T = cell.temperature[a]
        if delta < 0.0 and learner.agents[i].coin >= 1.0 - exp(-1.0 / max(T, 1e-9)):
            rate = 0.0
        if h != learner.last:
            mean = 0.0
            for b in range(n):
                mean += following.temperature[b] / n
            T = (1.0 - DIFFUSION) * T + DIFFUSION * mean
        cell.temperature[a] = COOLING * T
    elif delta < 0.0:
        rate = learner.slow
    cell.Q[a] += rate * delta
