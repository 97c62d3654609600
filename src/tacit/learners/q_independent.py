"""Textbook independent Q-learning: ε-greedy, constant step. [Watkins 1989; Claus, Boutilier 1998]

    Q_h(s, a) ← Q_h(s, a) + step·(r + max_{a'} Q_{h+1}(s', a') − Q_h(s, a))

With `decay`, `power` or `temperature`, exploration falls or is Boltzmann's (`q_scheduled.py`).

Deviations: one table for each step of the finite horizon; ties between best actions are broken at random. In play that
never resets (`periods=`) there is one table (`q_endless.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.elementary import exp
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, capacity, records
from tacit.core.types import IntArray
from tacit.learners import q_endless, ucb
from tacit.learners.q_scheduled import ExplorationSchedule, ScheduledQState
from tacit.learners.spec import Learner, World, check_steps, make_cells, player


@dataclass(frozen=True)
class QIndependent(Learner):
    """Textbook independent Q-learning.

    Parameters
    ----------
    step : float
        The constant step size.
    exploration : float
        Probability ε of a uniform action.
    optimism : float
        Initial Q in units of the largest return.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".
    decay : float, optional
        β of the exploration ε·exp(−β·t) after t episodes, or periods where play never resets.
    temperature : float, optional
        Boltzmann exploration, actions drawn in proportion to exp(Q/τ), instead of ε; τ falls as ε does.
    power : float, optional
        Instead of `decay`: p of the exploration ε/(1 + t)^p.
    initial : {"uniform-rivals"}, optional
        Of play that never resets: initial Q is the discounted reward of an action for ever, where the others play
        uniformly. The agent must know the game for it.

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.QIndependent(exploration=0.0, optimism=1.0).step
    0.1
    """

    step: float = 0.1
    exploration: float = 0.1
    optimism: float = 0.0
    steps: str | None = field(default=None, repr=False)
    decay: float | None = field(default=None, repr=False)
    temperature: float | None = field(default=None, repr=False)
    power: float | None = field(default=None, repr=False)
    initial: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.real("step", self.step, least=0, most=1)
        check.real("exploration", self.exploration, least=0, most=1)
        check.real("optimism", self.optimism)
        check_steps(self.steps)
        if self.decay is not None:
            check.real("decay", self.decay, least=0)
        if self.temperature is not None:
            check.positive("temperature", self.temperature)
        if self.power is not None:
            check.positive("power", self.power)
            if self.decay is not None:
                raise TacitError("decay and power are both given; exploration falls exponentially or as a power")
        if self.initial is not None:
            check.choice("initial", self.initial, ["uniform-rivals"])

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability of a uniform action; Boltzmann exploration has none."""
        if isinstance(state, QState):
            return self.exploration
        return 0.0 if self.temperature is not None else float(state.agents["explores"][i])

    def changed(self, state: Any, i: int) -> int:
        """Return the period since which agent i's greedy policy has not changed."""
        return int(state.agents["changed"][i])

    def init(self, world: World) -> QState | ScheduledQState | q_endless.EndlessQState:
        """Make the state of all agents."""
        H, boltzmann = world.horizon, self.temperature is not None
        explores = float(self.exploration if self.temperature is None else self.temperature)
        schedule = ExplorationSchedule(explores, float(exp(-(self.decay or 0.0))), float(self.power or 0.0), boltzmann)
        if world.discount is not None:
            first: Any = self.optimism * world.reward_range[1] / (1.0 - world.discount)
            if self.initial is not None:
                first = tuple(paid / (1.0 - world.discount) for paid in world.payoffs)
            return q_endless.make_state(world, step=float(self.step), first=first, schedule=schedule)
        if self.initial is not None:
            raise TacitError("initial is of play that never resets; give periods instead of episodes")
        fields = [("Q", "f8", capacity(world.actions.max()))]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        players["Q"][:-1] = self.optimism * world.reward_range[1] * H
        if self.decay is None and self.power is None and not boltzmann:
            return QState(cells, sharing, float(self.step), float(self.exploration), world.actions)
        agents = records((world.agents,), [("explores", NONNEGATIVE), ("episodes", "i8")])
        agents["explores"] = explores
        return ScheduledQState(cells, sharing, agents, float(self.step), schedule, H - 1, world.actions)


class QState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [H+1, S, N]  Q [A]
    players: Any  # whose Q is where
    step: float
    exploration: float
    actions: IntArray  # [N]


generics.policy.implement(QState)(ucb.policy)  # which is returned; `act` explores beyond it


@generics.act.implement(QState)
def act(learner, i, h, s, u):
    """Draw from the ε-greedy policy."""
    Q = player(learner.players, learner.cells, i, h, s).Q
    return ucb.draw_greedily(Q, learner.actions[i], learner.exploration, u)


@generics.learn.implement(QState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q towards the reward and the best that follows."""
    Q = player(learner.players, learner.cells, i, h, s).Q
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, learner.actions[i])
    Q[a] += learner.step * (r + ahead - Q[a])
