"""Q-learning in phases during which policies stand still, with inertia. [Arslan, Yüksel 2017]

For a phase of `phase` episodes every agent keeps a deterministic policy π, explores with probability ρ, and learns

    Q_h(s, a) ← Q_h(s, a) + n^−power·(r + max_{a'} Q_{h+1}(s', a') − Q_h(s, a))

with n the visits of (h, s, a) in the phase. At its end π stays if Q_h(s, π_h(s)) ≥ max_a Q_h(s, a) − tolerance at all
(h, s), and otherwise with probability `inertia`; else a best reply is drawn, uniformly among the actions within the
tolerance.

With aspiration [Yongacoglu, Arslan, Yüksel 2019] the score of a phase is Σ_{h,s} Q_h(s, π_h(s)). An agent is content if
it is at least the best of the last `aspiration` scores less `slack`. It draws a uniform policy with probability
`content` or `discontent`; otherwise π stays with probability `inertia`, and else a best reply is drawn.

Information: an agent's own actions and rewards, and a common clock: all agents' phases begin together.
Guarantee: Nash equilibria of weakly acyclic games for long enough phases; with aspiration, team-optimal policies.
Deviations: one table for each step of a finite horizon, where the sources discount, and phases count episodes, or
periods where play never resets. Q goes on from phase to phase. The first policy is the first action everywhere. The
coin is the low bits of the number that drew the last action of the phase; draws of states are a hash of it.
Read in: the code of co-workers of the authors (github.com/Awni00/decentralized-MARL-general-cts-spaces), which has
both rules as above, begins each phase with Q = 0, and draws the first policy. The papers' text was not at hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.elementary import pow
from tacit.core.records import capacity, index, records
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import Info, Learner, World, check_steps, count_states, make_cells, player


@dataclass(frozen=True)
class QPhases(Learner):
    """Q-learning in phases during which policies stand still, with inertia.

    Parameters
    ----------
    phase : int
        Episodes of a phase; periods, where play never resets.
    exploration : float
        Probability ρ of a uniform action.
    inertia : float
        Probability of keeping a policy that is no best reply.
    tolerance : float
        How far below the best an action may be in a best reply, in units of the rewards' span.
    power : float
        Exponent of the step sizes.
    aspiration : int
        Phases that an agent compares its score with; 0 for no aspiration.
    slack : float
        How far below the best score an agent is content, in units of the rewards' span.
    content, discontent : float
        Probabilities of drawing a uniform policy, with aspiration.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learn(tacit.make("stag-hunt"), "q-phases", episodes=5000).gap
    0.0
    """

    phase: int = 200
    exploration: float = 0.1
    inertia: float = 0.5
    tolerance: float = 0.0
    power: float = 0.75
    aspiration: int = 0
    slack: float = 0.1
    content: float = 0.0
    discontent: float = 0.2
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.integer("phase", self.phase, least=1)
        for name in ("exploration", "inertia", "content", "discontent"):
            check.real(name, getattr(self, name), least=0, most=1)
        check.real("tolerance", self.tolerance, least=0)
        check.real("slack", self.slack, least=0)
        check.real("power", self.power, least=0, most=1)
        check.integer("aspiration", self.aspiration, least=0, most=10_000)
        check_steps(self.steps)

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=frozenset({"clock"}))

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ρ of a uniform action."""
        return self.exploration

    def init(self, world: World) -> QPhasesState:
        """Make the state of all agents."""
        A = world.actions.max()
        fields = [("Q", "f8", capacity(A)), ("visits", "i8", capacity(A)), ("action", index(A))]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        clock = [("clock", index(self.phase)), ("coin", "f8"), ("phases", "i8")]
        scores = [("scores", "f8", max(1, self.aspiration))]
        return QPhasesState(
            cells=cells,
            players=sharing,
            agents=records((world.agents,), [*clock, *scores]),
            phase=int(self.phase),
            exploration=float(self.exploration),
            inertia=float(self.inertia),
            tolerance=self.tolerance * world.unit,
            power=float(self.power),
            aspiration=int(self.aspiration),
            slack=self.slack * world.unit,
            content=float(self.content),
            discontent=float(self.discontent),
            discount=1.0 if world.discount is None else world.discount,
            rows=len(players) - 1,
            last=world.horizon - 1,
            actions=world.actions,
        )


class QPhasesState(NamedTuple):
    """All agents' tables, policies and phases."""

    cells: Any  # [H+1, S, N]  Q [A], visits [A]: n, action: π
    players: Any  # whose Q is where
    agents: (
        Any  # [N]  clock: episodes in the phase; coin; phases: how many there were; scores [aspiration]: of the last
    )
    phase: int
    exploration: float
    inertia: float
    tolerance: float
    power: float
    aspiration: int
    slack: float
    content: float
    discontent: float
    discount: float  # γ of play that never resets, otherwise 1
    rows: int  # steps with a table of their own
    last: int  # the last step
    actions: IntArray  # [N]


@generics.policy.implement(QPhasesState)
def policy(learner, i, h, s, out):
    """Write π."""
    for a in range(learner.actions[i]):
        out[a] = 0.0
    out[player(learner.players, learner.cells, i, h, s).action] = 1.0


@generics.act.implement(QPhasesState)
def act(learner, i, h, s, u):
    """Play π, or explore; keep the rest of the number."""
    learner.agents[i].coin = u * 16777216.0 % 1.0
    if u < learner.exploration:
        return min(int(u / learner.exploration * learner.actions[i]), learner.actions[i] - 1)
    return player(learner.players, learner.cells, i, h, s).action


@generics.learn.implement(QPhasesState)
def learn(learner, i, h, s, a, r, s_next):
    """Move Q; at the end of a phase, reconsider the policy."""
    cell, me = player(learner.players, learner.cells, i, h, s), learner.agents[i]
    ahead, _ = ucb.best(player(learner.players, learner.cells, i, h + 1, s_next).Q, learner.actions[i])
    cell.visits[a] += 1
    cell.Q[a] += pow(cell.visits[a], -learner.power) * (r + learner.discount * ahead - cell.Q[a])
    if h == learner.last:
        me.clock = (me.clock + 1) % learner.phase
        if me.clock == 0:
            reconsider(learner, i)


@generics.apart
def reconsider(learner, i):
    """Keep the policy, or draw a best reply or a uniform policy."""
    n, me, coin = learner.actions[i], learner.agents[i], learner.agents[i].coin
    score, stays = 0.0, learner.aspiration == 0
    for h in range(learner.rows):
        for s in range(count_states(learner.players, learner.cells)):
            cell = player(learner.players, learner.cells, i, h, s)
            top, _ = ucb.best(cell.Q, n)
            stays = stays and cell.Q[cell.action] >= top - learner.tolerance
            score += cell.Q[cell.action]
            for a in range(n):
                cell.visits[a] = 0
    experiments = 0.0
    if learner.aspiration > 0:
        me.scores[me.phases % learner.aspiration] = score
        me.phases += 1
        best = score
        for k in range(min(me.phases, learner.aspiration)):
            best = max(best, me.scores[k])
        experiments = learner.content if score >= best - learner.slack else learner.discontent
    if coin < experiments:
        draw_policy(learner, i, coin, 1e300)
    elif not stays and coin >= experiments + (1.0 - experiments) * learner.inertia:
        draw_policy(learner, i, coin, learner.tolerance)


@generics.apart
def draw_policy(learner, i, coin, tolerance):
    """Draw everywhere one of the actions within a tolerance of the best."""
    n = learner.actions[i]
    for h in range(learner.rows):
        for s in range(count_states(learner.players, learner.cells)):
            cell = player(learner.players, learner.cells, i, h, s)
            top, _ = ucb.best(cell.Q, n)
            count = 0
            for a in range(n):
                if cell.Q[a] >= top - tolerance:
                    count += 1
            left = int(hash_uniform(coin, h, s) * count)
            for a in range(n):
                if cell.Q[a] >= top - tolerance:
                    if left == 0:
                        cell.action = a
                    left -= 1


@generics.jitable
def hash_uniform(coin, h, s):
    """Return a number in [0, 1) for a cell, from a uniform one."""
    mixed = (int(coin * 536870912.0) + 374761393 * h + 668265263 * s) % 2147483648
    mixed = ((mixed ^ (mixed >> 13)) * 1274126177) % 2147483648
    mixed = ((mixed ^ (mixed >> 15)) * 1103515245) % 2147483648
    return (mixed ^ (mixed >> 16)) / 2147483648.0
