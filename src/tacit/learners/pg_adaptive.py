"""Adaptive policy gradient from each agent's own trajectories: no hyperparameters.

Natural gradient ascent with softmax parameters θ at every (h, s), as in npg.py, with a baseline, a unit of its own for
every state, and implicit exploration. After an episode, at each (h, s) that it visited, for the t-th time, with the
action a, its probability p and the reward to go G = r_h + … + r_H:

    x = G − V,  V ← V + x·(H+1)/(H+t)                                  the baseline: what this state usually brings
    σ² ← (1−ρ)·σ² + ρ·x²,  ρ = (H+1)/(H+t−1)                            the unit of the step
    y = lenient(x/σ, leniency·T/(T+t)),  T = 3000,  m ← (1−ρ)·m + ρ·y    gains and losses, and their baseline
    θ(a) ← θ(a) + η·(y − m)/(p + γ)·(1−p)/(1−p + γ),  γ = η/2
    θ(c) ← max(θ(c), max θ + log(exploration/(A·√t))) for all c,  π = softmax(θ)

    lenient(x, λ) = (1−λ)·x for x < 0, x for 0 ≤ x ≤ 2, x + min(2·λ·(x−2)², 20) for x > 2.

Without leniency, (y − m)/p at the action played and zero at the others estimates the advantage, which is the natural
gradient. Dividing by p + γ bounds a single step [Neu 2015: implicit exploration], and the last factor does the same for
the other actions. In the unit σ, steps are short while noise exceeds the differences between actions, so that agents
follow the gradient and not their first episodes. Of bad actions about 1/t is left, whatever η.

Leniency: at first losses count for less and rare successes for more, because others still explore. It fades. [Panait,
Tuyls 2007]

An agent uses its state, its own actions and its own rewards, in any units. Nothing is bootstrapped, and nothing is
proven: where last iterates of policy gradients circle, so do these. `benchmarks/gradients.py` measures it.
In play that never resets an episode is a window of periods (`batches.py`), and H is 1/(1 − γ).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tacit.bandits.spec import pick, share
from tacit.core import check, generics
from tacit.core.elementary import exp, log, log_each
from tacit.core.records import NONNEGATIVE, Fields, capacity
from tacit.core.types import IntArray
from tacit.learners import batches
from tacit.learners.spec import Learner, Start, World, check_start, check_steps, make_cells, player, starting_point

LENIENT_VISITS = 3000.0  # T, after which half of the leniency is gone
MOST = 20.0  # that leniency adds to a success
LEAST = float(log(1e-300))  # no logarithm of a probability is smaller


@dataclass(frozen=True)
class PGAdaptive(Learner):
    """Independent policy gradient that tunes itself: nothing to choose. The parameters are for ablations.

    Parameters
    ----------
    eta : float
        Step size η, in units of the standard deviation of the rewards to go.
    leniency : float
        Share of a loss that is forgiven at first, and weight of rare successes; 0 for none.
    exploration : float
        Least probability of an action at the first visit, in units of 1/A; it falls as 1/√t.
    start : "uniform", "random" or MarkovPolicy
        The policy of the first episode.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> tacit.learners.PGAdaptive().leniency
    1.0
    """

    eta: float = 0.04
    leniency: float = 1.0
    exploration: float = 0.01
    start: Start = "uniform"
    steps: str | None = field(default=None, repr=False)
    endless = True

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.positive("eta", self.eta, most=1e100)
        check.real("leniency", self.leniency, least=0, most=1)
        check.real("exploration", self.exploration, least=0, most=1)
        check_start(self.start)
        check_steps(self.steps)

    def init(self, world: World) -> PGAdaptiveState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        cells, players, sharing = make_cells(self.steps, world, fields(A), VALUES)
        players["prob"] = starting_point(world)[: len(players)]
        players["theta"] = log_each(np.maximum(players["prob"], 1e-300))
        return PGAdaptiveState(
            cells=cells,
            players=sharing,
            window=batches.make_window(world, A),
            eta=float(self.eta),
            leniency=float(self.leniency),
            exploration=float(self.exploration),
            actions=world.actions,
            horizon=world.horizon if world.discount is None else world.scale.horizon,
        )


def fields(actions: int) -> Fields:
    """Return what a player remembers."""
    return [
        ("prob", NONNEGATIVE, actions),  # π
        ("theta", "f8", actions),  # θ, relative to the largest once a cell was visited
    ]


#: What a cell remembers besides.
VALUES: Fields = [
    ("value", "f8"),  # V
    ("square", NONNEGATIVE),  # σ²
    ("usual", "f8"),  # m
    ("visits", "i8"),  # t
]


class PGAdaptiveState(NamedTuple):
    """All agents' parameters and baselines, and the running episode."""

    cells: Any  # [H, S, N]
    players: Any  # whose π and θ are where
    window: batches.Window  # of the running episode
    eta: float
    leniency: float
    exploration: float
    actions: IntArray  # [N]
    horizon: int  # H, or 1/(1 − γ)


@generics.policy.implement(PGAdaptiveState)
def policy(learner, i, h, s, out):
    """Write π."""
    share(player(learner.players, learner.cells, i, h, s).prob, 1.0, learner.actions[i], out)


@generics.act.implement(PGAdaptiveState)
def act(learner, i, h, s, u):
    """Draw from π."""
    return pick(player(learner.players, learner.cells, i, h, s).prob, 1.0, learner.actions[i], u)


@generics.learn.implement(PGAdaptiveState)
def learn(learner, i, h, s, a, r, s_next):
    """Note the reward; after the last step, ascend at the visited cells."""
    window = learner.window
    batches.note(window, i, h, s, a)
    if batches.fills(window, i, h, r):
        batches.add_up(window, i)
        for k in range(window.counted - 1, -1, -1):
            step = window.steps[k, i]
            cell = learner.cells[min(k, len(learner.cells) - 1), step.s, i]
            z = signal(learner, cell, step.reward)
            ascend(learner, batches.visited(learner, i, k), learner.actions[i], step.action, z, cell.visits)


@generics.jitable
def signal(learner, cell, to_go):
    """Move the baselines and the unit of a cell. Return how much better than usual the reward to go was."""
    H = learner.horizon
    t = cell.visits + 1
    cell.visits = t
    if t == 1:
        cell.value = to_go
        return 0.0
    x = to_go - cell.value
    cell.value += x * (H + 1.0) / (H + t)
    rho = (H + 1.0) / (H + t - 1.0)
    cell.square += rho * (x * x - cell.square)
    sigma = math.sqrt(cell.square)
    if sigma <= 1e-12 * abs(to_go):  # nothing but rounding
        return 0.0
    y = lenient(x / sigma, learner.leniency * LENIENT_VISITS / (LENIENT_VISITS + t))
    cell.usual += rho * (y - cell.usual)
    return y - cell.usual


@generics.jitable
def lenient(x, leniency):
    """Forgive losses, and make much of what is rare and good."""
    if x < 0.0:
        return (1.0 - leniency) * x
    if x > 2.0:
        return x + min(2.0 * leniency * (x - 2.0) * (x - 2.0), MOST)
    return x


@generics.jitable
def ascend(learner, cell, n, a, z, visits):
    """Move θ(a), keep the others from falling too far behind, and renew π."""
    if z == 0.0 or n == 1:
        return
    p = cell.prob[a]
    gamma = 0.5 * learner.eta
    cell.theta[a] += learner.eta * z / (p + gamma) * (1.0 - p) / (1.0 - p + gamma)
    top = cell.theta[0]
    for b in range(1, n):
        top = max(top, cell.theta[b])
    least = LEAST
    if learner.exploration > 0.0:
        least = max(log(learner.exploration / (n * math.sqrt(visits))), LEAST)
    total = 0.0
    for b in range(n):
        cell.theta[b] = max(cell.theta[b] - top, least)
        cell.prob[b] = exp(cell.theta[b])
        total += cell.prob[b]
    for b in range(n):
        cell.prob[b] /= total
