"""What policy gradients learn from: windows of steps, and batches of visits.

A window is an episode. In play that never resets it is so many periods that nothing but γ^t < 1 % of a return lies
beyond its first half; those periods are learned from, with discounted rewards to go up to the window's end, and the
policy stands still while it is played. So visits in the long run take the place of those from the first state.

At each (h, s) an agent plays (1 − ε)·x + ε/A for a batch of visits, and sums what followed each action:

    q̂(a) = mean of what followed a in the batch, or the mean of the batch if a was not played.

All agents see the state, so a batch of (h, s) ends for all of them at the same visit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.bandits.spec import pick
from tacit.core import check, elementary, generics
from tacit.core.elementary import log
from tacit.core.errors import TacitError
from tacit.core.records import NONNEGATIVE, Fields, index, records
from tacit.learners.spec import ExactLearner, Info, Start, World, check_start, check_steps, player

project = generics.jitable(elementary.project)

#: Of the return after a period that is learned from, at most so much lies beyond its window.
CUT_OFF = 0.01


@dataclass(frozen=True, kw_only=True)
class GradientLearner(ExactLearner):
    """Agents that follow exact gradients, or estimates of them from their own episodes.

    Parameters
    ----------
    gradient : {"exact", "sampled"}
        From the game's tables, or estimated from the agent's own episodes.
    exploration : float
        Of sampled gradients: probability ε of a uniform action.
    start : "uniform", "random" or MarkovPolicy
        The policy of the first iteration.
    steps : {"shared"}, optional
        Of sampled gradients, parameter sharing across time steps: none (default), or full with "shared".
    """

    gradient: str = "exact"
    exploration: float = 0.05
    start: Start = "uniform"
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("gradient", self.gradient, ["exact", "sampled"])
        check.real("exploration", self.exploration, least=0, most=0.999)
        check_start(self.start)
        check_steps(self.steps)
        if self.gradient == "exact" and self.steps is not None:
            raise TacitError(f"steps is {self.steps!r}; it is for sampled gradients: gradient='sampled'")

    @property
    def info(self) -> Info:
        """What it learns, returns and needs."""
        return Info(needs=frozenset({"tables"} if self.gradient == "exact" else ()))

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: from samples it does."""
        return self.gradient == "sampled"

    def explores(self, state: Any, i: int) -> float:
        """Return the probability ε of a uniform action."""
        return self.exploration


class Window(NamedTuple):
    """The steps that are learned from at once: those of an episode, or so many periods of play that never resets."""

    steps: Any  # [H or periods, N]  s, action, reward, and what else a learner notes
    agents: Any  # [N]  passed: periods of the window that are over; 0 in episodes
    counted: int  # steps that are learned from, the first ones
    discount: float  # γ between periods; 1 in episodes
    endless: int  # 1 where play never resets and every period is step 0; otherwise 0


def count_steps(world: World) -> int:
    """Return the steps of a window: H, or twice the periods after which γ^t is `CUT_OFF`."""
    if world.discount is None:
        return world.horizon
    return 2 * (1 if world.discount <= CUT_OFF else math.ceil(log(CUT_OFF) / log(world.discount)))


def make_window(world: World, actions: int, fields: Fields = (), length: int | None = None) -> Window:
    """Return a window; in play that never resets of so many periods, or if not given of `count_steps`."""
    endless = int(world.discount is not None)
    length = length if endless and length is not None else count_steps(world)
    noted = [("s", index(world.numbers)), ("action", index(actions)), ("reward", "f8"), *fields]
    return Window(
        steps=records((length, world.agents), noted),
        agents=records((world.agents,), [("passed", index(length if endless else 1))]),
        counted=length // 2 if endless else length,
        discount=1.0 if world.discount is None else world.discount,
        endless=endless,
    )


@generics.jitable
def note(window, i, h, s, a):
    """Return agent i's record of step h, or of the running period, with its state and action."""
    step = window.steps[h + window.agents[i].passed, i]
    step.s, step.action = s, a
    return step


@generics.jitable
def fills(window, i, h, r):
    """Note a reward and go on to the next step; return whether this was the last of the window."""
    me = window.agents[i]
    k = h + me.passed
    window.steps[k, i].reward = r
    full = k + 1 == len(window.steps)
    me.passed = 0 if full else me.passed + window.endless
    return full


@generics.jitable
def add_up(window, i):
    """Write the discounted rewards to go in place of the rewards."""
    for k in range(len(window.steps) - 2, -1, -1):
        window.steps[k, i].reward += window.discount * window.steps[k + 1, i].reward


@generics.jitable
def visited(learner, i, k):
    """Return agent i's player at step k of the window."""
    window = learner.window
    return player(learner.players, learner.cells, i, 0 if window.endless == 1 else k, window.steps[k, i].s)


def fields(actions: int) -> Fields:
    """Return what a cell remembers of its batch, and x."""
    return [
        ("prob", NONNEGATIVE, actions),  # x
        ("total", "f8", actions),  # sum of what followed each action in the batch
        ("count", "i8", actions),  # visits of the batch with each action
        ("visits", "i8"),  # visits of the batch
    ]


@generics.jitable
def act(learner, i, h, s, u):
    """Draw from x, or uniformly with probability ε."""
    n, explores = learner.actions[i], learner.exploration
    if u < explores:
        return min(int(u / explores * n), n - 1)
    prob = player(learner.players, learner.cells, i, h, s).prob
    return pick(prob, 1.0, n, (u - explores) / (1.0 - explores))


@generics.jitable
def policy(learner, i, h, s, out):
    """Write x."""
    prob = player(learner.players, learner.cells, i, h, s).prob
    for a in range(learner.actions[i]):
        out[a] = prob[a]


@generics.jitable
def add(cell, a, value):
    """Add what followed an action to the batch."""
    cell.total[a] += value
    cell.count[a] += 1
    cell.visits += 1


@generics.jitable
def close(cell, n):
    """End a batch: write q̂ less its mean into `total`, and return that mean over the visits."""
    mean = 0.0
    for a in range(n):
        mean += cell.total[a]
    mean /= cell.visits
    for a in range(n):
        cell.total[a] = cell.total[a] / cell.count[a] - mean if cell.count[a] > 0 else 0.0
    return mean


@generics.jitable
def ascend(x, q, eta, n):
    """Move x to Proj(x + η·q), in place."""
    for a in range(n):
        x[a] += eta * q[a]
    project(x, n)


@generics.jitable
def clear(cell, n):
    """Begin a batch."""
    for a in range(n):
        cell.total[a] = 0.0
        cell.count[a] = 0
    cell.visits = 0


def begin(players: Any, start: Any, *names: str) -> None:
    """Write the first policies [H, S, N, A] into fields of the players."""
    for name in names:
        players[name][: len(start)] = start[: len(players)]
