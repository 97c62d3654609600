"""Which steps share what is played: each has its own, all have one, or groups of steps split as visits come in.

What an agent knows of values stays by step. What steps share is the player: the bandit of a state, or the parameters of
its policy. By the performance difference lemma [Kakade, Langford 2002], for agent i's policies π and π', the others'
fixed,

    V^π'_1 − V^π_1 = Σ_h E_{s_h ~ π'}[ Σ_a π'_h(a|s_h)·A^π_h(s_h, a) ],

so a player that is fed the advantages of all steps of a group looks for the best policy that is the same at all of
them, in the game as it is, with its horizon. Records and certificates look at what is played at (h, s) and at visits by
step: they hold as ever.

With "adaptive" each agent has, for each state, one group of all steps at first. A group that was visited SPLIT times
becomes two halves, which both begin with what it has learned: in the end each step has its own. With "shared" nothing
is ever split, and policies are stationary.

Q-learners have one table for what is played and for values, so it is shared as a whole: a state is then worth the
rewards up to the end of an episode that ends after each visit with the chance that this was the last step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.records import Fields, index, records
from tacit.learners.spec import World

WORDS = ("each", "shared", "adaptive")

#: Visits of a group of steps, after which it is split.
SPLIT = 3000


class Each(NamedTuple):
    """Every step has a player of its own, which is in its cell."""

    empty: int = 0


class Shared(NamedTuple):
    """All steps have one player."""

    players: Any  # [1, S, N], or [2, S, N] with what follows the last step
    horizon: int


class Splitting(NamedTuple):
    """Groups of steps have a player each, found at the first step of the group."""

    players: Any  # [H, S, N], or [H+1, S, N] with what follows the last step
    groups: Any  # likewise: `first` step of the group that a step belongs to; at that step, its `end` and its `visits`
    split: int


def check_steps(steps: str | None) -> None:
    """Check the word that says which steps share a player; None is for each."""
    if steps is not None:
        check.choice("steps", steps, WORDS)


def describe(steps: str | None) -> dict[str, str]:
    """Return what a run says of it among its parameters: nothing where nothing was said."""
    return {} if steps is None else {"steps": steps}


def make(
    steps: str | None, world: World, player: Fields, values: Fields, *, beyond: bool = False
) -> tuple[Any, Any, Any]:
    """Return the cells, the players among them or beside them, and how kernels find a player.

    `player` are the fields that steps may share, `values` those that each has; with `beyond` there is something after
    the last step.
    """
    H, S, N = world.horizon, world.states, world.agents
    rows = H + beyond
    if steps in (None, "each"):
        cells = records((rows, S, N), [*player, *values])
        return cells, cells, Each()
    cells = records((rows, S, N), values) if values else records((1, 1, N), [("none", "i8")])
    if steps == "shared":
        players = records((1 + beyond, S, N), player)
        return cells, players, Shared(players, H)
    players = records((rows, S, N), player)
    groups = records((rows, S, N), [("first", index(rows)), ("end", index(H + 1)), ("visits", "i8")])
    groups["first"][H:], groups["end"][0] = H, H
    return cells, players, Splitting(players, groups, SPLIT)


@generics.generic
def player(steps, cells, i, h, s):
    """Return agent i's player at (h, s)."""


@generics.generic
def visit(steps, i, h, s):
    """Take note that agent i's player at (h, s) has learned from a visit."""


@player.implement(Each)
def player_of_step(steps, cells, i, h, s):
    """Return the cell of the step."""
    return cells[h, s, i]


@visit.implement(Each)
def visit_step(steps, i, h, s):
    """Do nothing."""


@player.implement(Shared)
def player_of_all(steps, cells, i, h, s):
    """Return the one player, or what follows the last step."""
    return steps.players[h // steps.horizon, s, i]


@visit.implement(Shared)
def visit_all(steps, i, h, s):
    """Do nothing."""


@player.implement(Splitting)
def player_of_group(steps, cells, i, h, s):
    """Return the player of the group of the step."""
    return steps.players[steps.groups[h, s, i].first, s, i]


@visit.implement(Splitting)
def visit_group(steps, i, h, s):
    """Count the visit; split the group in two halves when there were enough of them."""
    first = steps.groups[h, s, i].first
    group = steps.groups[first, s, i]
    group.visits += 1
    if group.visits >= steps.split and group.end - first > 1:
        end, middle = group.end, (first + group.end + 1) // 2
        steps.players[middle, s, i] = steps.players[first, s, i]
        for k in range(middle, end):
            steps.groups[k, s, i].first = middle
        steps.groups[middle, s, i].end = end
        group.end = middle
        group.visits = 0
