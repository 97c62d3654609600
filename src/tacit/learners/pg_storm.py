"""Independent policy gradient with recursive momentum (STORM). [Mao2022, Alg. 3, eqn:gradient_estimator]

Each agent i keeps parameters θ on the simplex of each (h, s) and plays π = (1 − ε̃)·θ + ε̃/A_i. From its own trajectory
ξ_t of episode t, with return R and actions a_h in states s_h, it estimates

    g(θ, ξ)(h, s_h, a_h) = R·(1 − ε̃)/π_θ(a_h | s_h),  zero elsewhere,

and ascends:

    d_t = g(θ_t, ξ_t) + (1 − a_t)·(d_{t−1} − g(θ_{t−1}, ξ_t)),   θ_{t+1} = Proj(θ_t + η_t·d_t).

Steps: constants η and a, or the theorem's η_t = k/(w + σ²·t)^{1/3}, a_{t+1} = c·η_t². With a = 1 there is no momentum:
this is `pg-sgd`, stochastic gradient ascent.

Deviations: ascent on V where the paper descends on F. g(θ_{t−1}, ξ_t) puts the *same* trajectory, drawn with θ_t, into
the old policy's estimator with no importance weight, which would need the other agents' policies; `own_ratio` adds the
agent's own, Π_h π_old(a_h)/π(a_h). Where the old policy gave the action probability 0, the correction is left out.
Between two visits of a state its direction only shrinks, and projections along a fixed direction compose, so the
updates of a state wait until it is visited next: an episode costs O(H·A), whatever the number of states. Returns are
in the game's own units; the theorem's schedule brings rewards to [0, 1]. Its L is at least the Lipschitz constant of
the potential's gradient, as its Assumption 1 asks and its proof forgets (evaluation/theory.py). The estimator's mean
is the gradient along the simplex only: past rewards add the same to all actions of a state, which the projection
removes. In play that never resets an episode is a window of periods, and R the rewards to go (`batches.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.core import check, elementary, generics
from tacit.core.elementary import pow
from tacit.core.errors import TacitError
from tacit.core.records import capacity, records
from tacit.core.types import IntArray
from tacit.evaluation.theory import Storm, storm
from tacit.learners import batches
from tacit.learners.spec import (
    Learner,
    Start,
    World,
    check_start,
    check_steps,
    make_cells,
    player,
    starting_point,
    unit_rewards,
)

project = generics.jitable(elementary.project)


@dataclass(frozen=True)
class PGStorm(Learner):
    """Independent policy gradient with recursive momentum.

    Parameters
    ----------
    eta : float or "theory"
        Step size η.
    momentum : float, or "theory" together with eta
        Momentum parameter a in [0, 1]; 1 is no momentum.
    exploration : float
        ε̃ of the ε̃-greedy parameterization. The theorem's schedule needs it positive.
    own_ratio : bool
        Weigh the old policy's estimate by the agent's own importance ratio.
    start : "uniform", "random" or MarkovPolicy
        The parameters θ of the first episode.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.PGStorm(eta=1e-4, momentum=0.5).exploration
    0.0
    """

    eta: float | str = 1e-4
    momentum: float | str = 0.5
    exploration: float = 0.0
    own_ratio: bool = False
    start: Start = "uniform"
    steps: str | None = field(default=None, repr=False)
    endless = True

    def __post_init__(self) -> None:
        check.plain_fields(self)
        if isinstance(self.eta, str) or isinstance(self.momentum, str):
            if self.eta != "theory" or self.momentum != "theory":
                raise TacitError(
                    f"eta and momentum must be two numbers, or 'theory' both; got {self.eta!r} and {self.momentum!r}"
                )
            if check.real("exploration", self.exploration, least=0, most=1) == 0:
                raise TacitError("exploration must be positive for the theorem's schedule, e.g. 0.1; got 0")
        else:
            check.real("eta", self.eta, least=0)
            check.real("momentum", self.momentum, least=0, most=1)
        check.real("exploration", self.exploration, least=0, most=1)
        check.flag("own_ratio", self.own_ratio)
        check_start(self.start)
        check_steps(self.steps)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        constants = schedule(self, world)._asdict() if self.eta == "theory" else {}
        return {**super().params(world), **constants}

    def init(self, world: World) -> PGStormState:
        """Make the state of all agents."""
        N, A = world.agents, capacity(world.actions.max())
        theory = self.eta == "theory"
        low, scale = unit_rewards(world) if theory else (0.0, 1.0)
        fields = [("theta", "f8", A), ("direction", "f8", A), ("since", "i8")]
        cells, players, sharing = make_cells(self.steps, world, fields, [])
        players["theta"] = starting_point(world)[: len(players)]
        agents = records((N,), [("clock", "i8"), ("total", "f8"), ("old", "f8", A)])
        agents["clock"] = 1
        return PGStormState(
            cells=cells,
            players=sharing,
            window=batches.make_window(world, A, [("theta", "f8", A), ("old_prob", "f8")]),
            agents=agents,
            schedule=schedule(self, world) if theory else Storm(0.0, 1.0, 0.0, 0.0, 0.0),
            eta=-1.0 if theory else float(self.eta),
            momentum=0.0 if theory else float(self.momentum),
            exploration=float(self.exploration),
            own_ratio=bool(self.own_ratio),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
        )


def schedule(spec: PGStorm, world: World) -> Storm:
    """Return the constants of the theorem's steps for the whole run. An agent on its own counts itself only."""
    scale = world.scale
    return storm(scale.agents, scale.actions, batches.count_steps(world), float(spec.exploration))


class PGStormState(NamedTuple):
    """All agents' parameters and directions; those of a cell are as of episode `since`."""

    cells: Any  # [H, S, N]  theta [A]: θ in episode `since`; direction [A]: d of that; since: 0 where never visited
    players: Any  # whose parameters are where
    window: batches.Window  # of the running episode, with θ [A] there, and the old policy's probability of the action
    agents: Any  # [N]  clock: the running episode, from 1; total: its return so far; old [A]: scratch for the θ before
    schedule: Storm
    eta: float  # negative: the schedule's
    momentum: float
    exploration: float
    own_ratio: bool
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]


@generics.jitable
def step_size(learner, t):
    """Return η_t."""
    if learner.eta >= 0.0:
        return learner.eta
    plan = learner.schedule
    return plan.k / pow(plan.w + plan.sigma2 * t, 1.0 / 3.0)


@generics.jitable
def fading(learner, t):
    """Return 1 − a_t."""
    if learner.eta >= 0.0:
        return 1.0 - learner.momentum
    eta = step_size(learner, t - 1)
    return 1.0 - min(learner.schedule.c * eta * eta, 1.0)


@generics.jitable
def reach(learner, since, until):
    """Return how far θ has moved along d, and what is left of d.

    Σ_{j=since..until−1} η_j·Π_{since<i≤j}(1 − a_i), and Π_{since<i<until}(1 − a_i).
    """
    m = until - since
    if m <= 0:
        return 0.0, 1.0
    if learner.eta >= 0.0:
        a = learner.momentum
        if a == 0.0:
            return learner.eta * m, 1.0
        keep = pow(1.0 - a, m - 1.0)
        return learner.eta * (1.0 - keep * (1.0 - a)) / a, keep
    moved = step_size(learner, since)
    left = 1.0
    for j in range(since + 1, until):
        left *= fading(learner, j)
        moved += left * step_size(learner, j)
        if left < 1e-20:
            return moved, 0.0
    return moved, left


@generics.jitable
def bring(learner, cell, n, until, out):
    """Write θ of episode `until` at a cell with n actions into `out`."""
    moved, _ = reach(learner, cell.since, until)
    for a in range(n):
        out[a] = cell.theta[a] + moved * cell.direction[a]
    if moved > 0.0:
        project(out, n)


@generics.jitable
def mix(learner, theta, a, n):
    """Return π(a) = (1 − ε̃)·θ(a) + ε̃/A."""
    return (1.0 - learner.exploration) * theta[a] + learner.exploration / n


@generics.act.implement(PGStormState)
def act(learner, i, h, s, u):
    """Bring the cell up to date and draw from it."""
    cell = player(learner.players, learner.cells, i, h, s)
    step, agent, n = batches.note(learner.window, i, h, s, 0), learner.agents[i], learner.actions[i]
    theta = step.theta
    visited = cell.since > 0
    if visited:
        bring(learner, cell, n, agent.clock, theta)
    else:
        for a in range(n):
            theta[a] = cell.theta[a]
    chosen = n - 1
    for a in range(n - 1):
        u -= mix(learner, theta, a, n)
        if u < 0.0:
            chosen = a
            break
    while chosen > 0 and mix(learner, theta, chosen, n) <= 0.0:  # rounding must not draw what has probability 0
        chosen -= 1
    if visited:
        bring(learner, cell, n, agent.clock - 1, agent.old)
        step.old_prob = mix(learner, agent.old, chosen, n)
    else:
        step.old_prob = mix(learner, theta, chosen, n)
    return chosen


@generics.policy.implement(PGStormState)
def policy(learner, i, h, s, out):
    """Write π of the running episode."""
    cell, n = player(learner.players, learner.cells, i, h, s), learner.actions[i]
    if cell.since > 0:
        bring(learner, cell, n, learner.agents[i].clock, out)
    else:
        for a in range(n):
            out[a] = cell.theta[a]
    for a in range(n):
        out[a] = mix(learner, out, a, n)


@generics.learn.implement(PGStormState)
def learn(learner, i, h, s, a, r, s_next):
    """Note the step. After the last one, renew the direction at the cells of the episode. [Mao2022, Alg. 3, l. 6]"""
    agent, n, window = learner.agents[i], learner.actions[i], learner.window
    r = (r - learner.reward_low) * learner.reward_scale
    agent.total += r
    batches.note(window, i, h, s, a)
    if batches.fills(window, i, h, r):
        ratio = 1.0
        if learner.own_ratio:
            for k in range(len(window.steps)):
                step = window.steps[k, i]
                ratio *= step.old_prob / mix(learner, step.theta, step.action, n)
        batches.add_up(window, i)
        for k in range(window.counted):
            step = window.steps[k, i]
            gain = step.reward if window.endless == 1 else agent.total
            renew(learner, batches.visited(learner, i, k), step, agent, n, ratio, gain)
        agent.total = 0.0
        agent.clock += 1


@generics.jitable
def renew(learner, cell, step, agent, n, ratio, gain):
    """Write d_t and θ_t at the cell that episode t visited at a step. The old estimate is weighed by `ratio`."""
    t, a = agent.clock, step.action
    fade = 0.0
    if t > 1:
        fade = fading(learner, t)
    left = 0.0
    if cell.since > 0:
        _, left = reach(learner, cell.since, t)
    scale = gain * (1.0 - learner.exploration)
    new = scale / mix(learner, step.theta, a, n)
    old = 0.0
    if fade > 0.0 and step.old_prob > 0.0:
        old = ratio * scale / step.old_prob
    if cell.since != t:  # the first visit of an episode, where steps share the cell
        for b in range(n):
            cell.direction[b] *= fade * left
            cell.theta[b] = step.theta[b]
    cell.direction[a] += new - fade * old
    cell.since = t
