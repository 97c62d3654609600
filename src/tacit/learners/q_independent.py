"""Textbook independent Q-learning: ε-greedy, constant step. [Watkins 1989; Claus, Boutilier 1998]

    Q_h(s, a) ← Q_h(s, a) + step·(r + max_{a'} Q_{h+1}(s', a') − Q_h(s, a))

In episode t, counted from 0, an agent draws a uniform action with probability ε_t = exploration·exp(−decay·t), and
otherwise a best one; or it draws a ∝ exp(Q_h(s, a)/τ_t), and τ_t falls in the same way.

Play that never resets (`periods=`) has one table and an explicit discount. [Calvano et al. 2020]

    Q(s, a) ← Q(s, a) + step·(r + γ·max_{a'} Q(s', a') − Q(s, a))

Exploration then falls with the periods. Among equally good actions the one that was greedy before stays greedy, at
first the lowest.

Deviations: one table for each step of the finite horizon, where ties between best actions are broken at random.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.elementary import exp
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, capacity, index, records
from tacit.core.types import IntArray
from tacit.learners import ucb
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
    initial: str | None = field(default=None, repr=False)
    endless = True

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
        if self.initial is not None:
            check.choice("initial", self.initial, ["uniform-rivals"])

    def explores(self, state: Any, i: int) -> float:
        """Return the probability of a uniform action; Boltzmann exploration has none."""
        return 0.0 if self.temperature is not None else float(state.agents["explores"][i])

    def changed(self, state: Any, i: int) -> int:
        """Return the period since which agent i's greedy policy has not changed."""
        return int(state.agents["changed"][i])

    def init(self, world: World) -> QState | EndlessQState:
        """Make the state of all agents."""
        if world.discount is not None:
            return self._init_endless(world, world.discount)
        if self.initial is not None:
            raise TacitError("initial is of play that never resets; give periods instead of episodes")
        fields = [("Q", "f8", capacity(world.actions.max()))]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        players["Q"][:-1] = self.optimism * world.reward_range[1] * world.horizon
        agents = records((world.agents,), [("explores", NONNEGATIVE)])
        return QState(
            cells, sharing, agents, **self._exploration(agents), last=world.horizon - 1, actions=world.actions
        )

    def _exploration(self, agents: Any) -> dict[str, Any]:
        """Write ε or τ of the first episode, and return how it goes on."""
        agents["explores"] = self.exploration if self.temperature is None else self.temperature
        shrink = float(exp(-(self.decay or 0.0)))
        return {"step": float(self.step), "shrink": shrink, "boltzmann": self.temperature is not None}

    def _init_endless(self, world: World, discount: float) -> EndlessQState:
        A = capacity(world.actions.max())
        cells = records((1, world.states, world.agents), [("Q", "f8", A), ("greedy", index(A))])
        for i, size in enumerate(world.actions):
            first = self.optimism * world.reward_range[1] if self.initial is None else world.payoffs[i]
            cells["Q"][0, :, i, :size] = first / (1.0 - discount)
            cells["greedy"][0, :, i] = cells["Q"][0, :, i, :size].argmax(axis=-1)
        agents = records((world.agents,), [("explores", NONNEGATIVE), ("periods", "i8"), ("changed", "i8")])
        return EndlessQState(cells, agents, **self._exploration(agents), discount=discount, actions=world.actions)


@generics.jitable
def softmax_weight(Q, top, temperature, a):
    """Return exp((Q(a) − max Q)/τ)."""
    return exp(max((Q[a] - top) * (1.0 / max(temperature, 1e-300)), -1e3))


@generics.apart
def draw_softmax(Q, best, temperature, n, u):
    """Draw an action a ∝ exp(Q(a)/τ), where `best` is a best one."""
    top, total = Q[best], 0.0
    for a in range(n):
        total += softmax_weight(Q, top, temperature, a)
    left = u * total
    for a in range(n):
        left -= softmax_weight(Q, top, temperature, a)
        if left < 0.0:
            return a
    return best


class QState(NamedTuple):
    """All agents' tables, one for each step."""

    cells: Any  # [H+1, S, N]  Q [A]
    players: Any  # whose Q is where
    agents: Any  # [N]  explores: ε or τ
    step: float
    shrink: float  # exp(−decay)
    boltzmann: bool
    last: int  # the last step
    actions: IntArray  # [N]


@generics.policy.implement(QState)
def policy(learner, i, h, s, out):
    """Write the greedy policy, beyond which `act` explores; or Boltzmann's."""
    if not learner.boltzmann:
        ucb.policy(learner, i, h, s, out)
        return
    n, Q = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q
    top, _ = ucb.best(Q, n)
    total = 0.0
    for a in range(n):
        out[a] = softmax_weight(Q, top, learner.agents[i].explores, a)
        total += out[a]
    for a in range(n):
        out[a] /= total


@generics.act.implement(QState)
def act(learner, i, h, s, u):
    """Explore, or play a best action."""
    n, Q, explores = learner.actions[i], player(learner.players, learner.cells, i, h, s).Q, learner.agents[i].explores
    if not learner.boltzmann:
        return ucb.draw_greedily(Q, n, explores, u)
    best = 0
    for a in range(n):
        if Q[a] > Q[best]:
            best = a
    return draw_softmax(Q, best, explores, n, u)


@generics.learn.implement(QState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q towards the reward and the best that follows; after an episode, explore less."""
    Q, me = player(learner.players, learner.cells, i, h, s).Q, learner.agents[i]
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, learner.actions[i])
    Q[a] += learner.step * (r + ahead - Q[a])
    if h == learner.last:
        me.explores *= learner.shrink


# play that never resets -----------------------------------------------------------------------------------------------


class EndlessQState(NamedTuple):
    """All agents' tables, one for each, in play that never resets."""

    cells: Any  # [1, S, N]  Q [A], the greedy action
    agents: Any  # [N]  ε or τ, periods played, period of the last change of a greedy action
    step: float
    shrink: float  # exp(−decay)
    boltzmann: bool
    discount: float
    actions: IntArray  # [N]


@generics.policy.implement(EndlessQState)
def policy_endless(learner, i, h, s, out):
    """Write the greedy policy, which runs return; `act` explores beyond it."""
    for a in range(learner.actions[i]):
        out[a] = 0.0
    out[learner.cells[0, s, i].greedy] = 1.0


@generics.act.implement(EndlessQState)
def act_endless(learner, i, h, s, u):
    """Explore, or play the greedy action."""
    cell, explores, n = learner.cells[0, s, i], learner.agents[i].explores, learner.actions[i]
    if learner.boltzmann:
        return draw_softmax(cell.Q, cell.greedy, explores, n, u)
    if u < explores:
        return min(int(u / explores * n), n - 1)
    return cell.greedy


@generics.learn.implement(EndlessQState)
def learn_endless(learner, i, h, s, a, r, s_next):
    """Move Q, and note whether the greedy action changes."""
    cell, following, me = learner.cells[0, s, i], learner.cells[0, s_next, i], learner.agents[i]
    Q, greedy = cell.Q, cell.greedy
    before = Q[a]
    Q[a] += learner.step * (r + learner.discount * following.Q[following.greedy] - before)
    me.periods += 1
    me.explores *= learner.shrink
    best = greedy
    if a != greedy:
        if Q[a] > Q[greedy]:
            best = a
    elif Q[a] < before:
        for b in range(learner.actions[i]):
            if Q[b] > Q[best]:
                best = b
    if best != greedy:
        cell.greedy = best
        me.changed = me.periods
