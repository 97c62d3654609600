"""Parameter sharing across time steps: every step has its own player, or all steps have one.

The player of a state is what decides the action there: a bandit, or the parameters of a policy. By the performance
difference lemma [Kakade, Langford 2002], for agent i's policies π and π' with the others' fixed,

    V^π'_1 − V^π_1 = Σ_h E_{s_h ~ π'}[ Σ_a π'_h(a|s_h)·A^π_h(s_h, a) ],

so a player that learns from the advantages of all steps looks for the best stationary policy of the game with its
horizon. Values stay by step. Certificates hold as before, since they look at what was played at (h, s).

Q-learners have one table for policy and values, which is shared as a whole: a state is then worth the rewards up to the
end of an episode that ends after each visit with the probability that this was the last step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.core import check, generics
from tacit.core.records import Fields, records
from tacit.learners.spec import World


class Each(NamedTuple):
    """Every step has a player of its own, which is in its cell."""

    empty: int = 0


class Shared(NamedTuple):
    """All steps have one player."""

    players: Any  # [1, S, N], or [2, S, N] with what follows the last step
    horizon: int


def check_steps(steps: str | None) -> None:
    """Check which steps share a player."""
    if steps is not None:
        check.choice("steps", steps, ["shared"])


def make(
    steps: str | None, world: World, player: Fields, values: Fields, *, beyond: bool = False
) -> tuple[Any, Any, Any]:
    """Return the cells, the players among them or beside them, and how kernels find a player.

    `player` are the fields that steps may share, `values` those that each has; with `beyond` there is something after
    the last step.
    """
    H, S, N = world.horizon, world.states, world.agents
    if steps is None:
        cells = records((H + beyond, S, N), [*player, *values])
        return cells, cells, Each()
    cells = records((H + beyond, S, N), values) if values else records((1, 1, N), [("none", "i8")])
    players = records((1 + beyond, S, N), player)
    return cells, players, Shared(players, H)


@generics.generic
def player(steps, cells, i, h, s):
    """Return agent i's player at (h, s)."""


@player.implement(Each)
def player_of_step(steps, cells, i, h, s):
    """Return the cell of the step."""
    return cells[h, s, i]


@player.implement(Shared)
def player_of_all(steps, cells, i, h, s):
    """Return the one player, or what follows the last step."""
    return steps.players[h // steps.horizon, s, i]
