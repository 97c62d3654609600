"""The check of a game: its kernels do what it says of itself, compiled and interpreted."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.protocol import Game, check_sizes
from tacit.games.tabular import TabularGame, as_tables
from tacit.testing.violation import Violation, both_ways, require, require_frequencies, require_kernels, require_same

#: Places (h, s, joint action) that are looked at, and draws of each next state where it is compared with tables.
PLACES, DRAWS = 200, 20_000


def check_game(game: Game, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Check a game: one with tables, or with kernels of its own.

    Its sizes make sense and its kernels have the same. At random steps, states and joint actions, next states are
    states and rewards lie in the range; all depend on nothing but the place and the uniform number; compiled and
    interpreted kernels agree bit for bit, or to a stated tolerance. For a TabularGame, rewards are those of the table,
    and the frequencies of first and next states those of the tables (with a probability of 1e-9 of raising though
    nothing is wrong; the seed is fixed).

    Parameters
    ----------
    game : a game
    seed : int
    tolerance : float
        How much compiled and interpreted kernels may differ, absolutely and relatively. 0 asks for the same bits, which
        +, −, ·, /, square roots and `exp`, `log` and `pow` of `tacit.kernels` give on every machine. State 1e-9 for
        kernels that call other functions, such as np.tanh: their last digits differ from processor to processor.

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> import tacit
    >>> from tacit.testing import check_game
    >>> check_game(tacit.make("chicken"))
    """
    rng = np.random.default_rng(check.integer("seed", seed))
    try:
        check_sizes(game)
        kernels = generics.seal(game.kernels())
    except TacitError as error:
        raise Violation(str(error)) from error
    _check_struct(game, kernels)
    places = _places(game, rng)
    _check_walks(game, places, rng, tolerance)
    tables = as_tables(game)
    if tables is not None:
        _check_tables(tables, places, rng)


def _check_struct(game: Game, kernels: Any) -> None:
    functions = (generics.initial_state, generics.joint_action, generics.next_state, generics.reward)
    require_kernels(kernels, functions, "what kernels() returns")
    for field, wanted in (("horizon", game.horizon), ("states", game.states), ("actions", game.actions)):
        name = type(kernels).__name__
        require(hasattr(kernels, field), f"{name} has no field {field}; the loop reads it")
        value = getattr(kernels, field)
        same = tuple(value) == wanted if field == "actions" else value == wanted
        require(same, f"{field} of {name} is {brief(value)}, and the game's is {brief(wanted)}")


class _Places(NamedTuple):
    """Where the game is looked at: steps, states, joint actions, and the uniform numbers of the transitions."""

    h: IntArray
    s: IntArray
    actions: IntArray
    u: FloatArray


def _places(game: Game, rng: np.random.Generator) -> _Places:
    u = rng.random(PLACES)
    u[:2] = 0.0, np.nextafter(1.0, 0.0)
    h, s = rng.integers(game.horizon, size=PLACES), rng.integers(game.states, size=PLACES)
    return _Places(h, s, rng.integers(game.actions, size=(PLACES, game.agents)), u)


def walk(game, h, s, actions, u, first, after, rewards):
    """Write the first state, the next state and the rewards [N] for each place and its uniform number."""
    for k in range(len(h)):
        first[k] = generics.initial_state(game, u[k])
        token = generics.joint_action(game, h[k], s[k], actions[k])
        after[k] = s[k]
        if h[k] + 1 < game.horizon:  # after the last step the loop asks for no state
            after[k] = generics.next_state(game, token, u[k])
        for i in range(rewards.shape[1]):
            rewards[k, i] = generics.reward(game, i, token)


def _check_walks(game: Game, at: _Places, rng: np.random.Generator, tolerance: float) -> None:
    name = game.name or type(game).__name__
    order = rng.permutation(PLACES)
    compiled, plain = both_ways(walk, name, generics.seal(game.kernels()))
    walks = []
    for run, turn in ((plain, np.arange(PLACES)), (compiled, np.arange(PLACES)), (plain, order)):
        first, after = np.full(PLACES, -1.0), np.full(PLACES, -1.0)
        rewards, actions = np.full((PLACES, game.agents), np.nan), at.actions[turn]
        run(generics.seal(game.kernels()), at.h[turn], at.s[turn], actions, at.u[turn], first, after, rewards)
        require_same(actions, at.actions[turn], f"joint_action of {name} changes the actions it is given")
        back = np.argsort(turn)
        walks.append((first[back], after[back], rewards[back]))
    for what, states in (("initial_state", walks[0][0]), ("next_state", walks[0][1])):
        inside = (states == np.floor(states)) & (states >= 0) & (states < game.states)
        k = int(np.argmin(inside))
        require(inside.all(), f"{what} of {name} returned {states[k]:g}; states are whole numbers to {game.states - 1}")
    low, high = game.reward_range
    outside = ~((walks[0][2] >= low) & (walks[0][2] <= high))
    if outside.any():
        k, i = (int(x) for x in np.argwhere(outside)[0])
        raise Violation(
            f"agent {i} of {name} is paid {walks[0][2][k, i]:g} at h={at.h[k]}, s={at.s[k]}, "
            f"actions {brief(at.actions[k].tolist())}; reward_range is [{low:g}, {high:g}]"
        )
    for what, one, other, turned in zip(("initial_state", "next_state", "reward"), *walks, strict=True):
        require_same(one, turned, f"{what} of {name} depends on what was played before, not on its arguments alone")
        require_same(one, other, f"{what} of {name} is not the same compiled and interpreted", tolerance)


def draw_often(game, h, s, actions, u, first, after):
    """Count first states and the next states of one place over many uniform numbers."""
    token = generics.joint_action(game, h, s, actions)
    for k in range(len(u)):
        first[generics.initial_state(game, u[k])] += 1
        if h + 1 < game.horizon:
            after[generics.next_state(game, token, u[k])] += 1


def _check_tables(game: TabularGame, at: _Places, rng: np.random.Generator) -> None:
    name = game.name or "the game"
    kernels = generics.seal(game.kernels())
    compiled, _ = both_ways(draw_often, name, kernels)
    few = min(PLACES, 30)
    for k in range(few):
        h, s, actions = int(at.h[k]), int(at.s[k]), at.actions[k]
        place = f"h={h}, s={s}, actions {tuple(actions.tolist())}"
        token = generics.joint_action(kernels, h, s, actions)
        paid = np.array([generics.reward(kernels, i, token) for i in range(game.agents)])
        stated = game.step_rewards(h)[(slice(None), s, *actions)]
        require_same(paid, stated, f"the rewards of {name} at {place} are not those of its table")
        first, after = np.zeros(game.states, dtype=np.int64), np.zeros(game.states, dtype=np.int64)
        compiled(kernels, h, s, actions, rng.random(DRAWS), first, after)
        require_frequencies(first, game.initial, f"the first state of {name}", comparisons=2 * few)
        if h + 1 < game.horizon:
            row = _row(game, h, s, actions)
            require_frequencies(after, row, f"the next state of {name} at {place}", comparisons=2 * few)


def _row(game: TabularGame, h: int, s: int, actions: IntArray) -> FloatArray:
    """Return the table's distribution of the next state, [S]."""
    step = h if game.transition_steps > 1 else 0
    joint = int(np.ravel_multi_index(tuple(actions), game.actions))
    row = (step * game.states + s) * game.joint_actions + joint
    cut = slice(*game.successors.first[row : row + 2])
    probs = np.zeros(game.states)
    probs[game.successors.state[cut]] = game.successors.prob[cut]
    return probs
