"""Games of OpenSpiel as tables: normal forms, repeated games, and games with perfect information.

Source: M. Lanctot et al., "OpenSpiel: a framework for reinforcement learning in games", arXiv:1908.09453. A state is
what OpenSpiel prints for it, as in OpenSpiel's own value iteration.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core import check, files, memory
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.registry import require
from tacit.games.matrix import matrix_game
from tacit.games.openspiel_states import distinct, table
from tacit.games.tabular import TabularGame

#: Pairs of a state and a joint action, and outcomes followed: 6 to 17 s. coop_box_pushing for 6 moves takes 1,080,705.
LIMIT = 1_200_000


def from_openspiel(
    game: Any, *, horizon: int | None = None, key: Callable[[Any], object] | None = None, limit: int = LIMIT
) -> TabularGame:
    """Read a game from OpenSpiel.

    Parameters
    ----------
    game : str or pyspiel.Game
        A string as for `pyspiel.load_game`, e.g. "goofspiel(num_cards=3)", or the game itself.
    horizon : int, optional
        Moves in an episode; what can be reached later is left out. If it is not given, the game is followed to its
        end. A normal form is played this many times, once if it is not given.
    key : function of a pyspiel.State, optional
        What tells states apart, `str` if it is not given. A state's text may hold more than the state, and then the
        table is larger than it needs to be. Who is to move need not be part of it. That states with one key are the
        same is checked on two ways to each, and where they are not, the number of moves before becomes part of it.
    limit : int
        The largest number of pairs of a state and a joint action, and the largest number of outcomes, of joint actions
        and of chance, that are followed to find them; 1,200,000 if it is not given. Beyond it the game is refused. A
        state is looked at on two ways, and in a game that is followed to its own limit of moves, once for each move
        after which it can be met: there a smaller horizon saves most.

    Returns
    -------
    TabularGame
        With OpenSpiel's names of states and actions. `notes` tell what was decided.

    Notes
    -----
    Rewards are expected differences of `returns()`; chance is part of the transitions; a state named "over" follows
    the end. An agent's actions are those that are legal for it anywhere. Where one is not legal it does what the first
    legal one does there, and nothing where the agent is not to move: values and equilibria are those of the game.

    With the default limit a game that is too large is refused within seconds, 17 at most in the games measured and
    most within one, and below 0.5 GB unless single states are enormous. What does not fit into memory is refused.

    Refused are games with imperfect information, mean-field games, and games that do not tell the probabilities of
    chance. OpenSpiel's type follows the parameters of a game, except for coop_box_pushing, which counts as perfect
    information if it is `fully_observable`; its states are its board, since its text tells the rewards so far.

    Examples
    --------
    >>> import tacit
    >>> tacit.from_openspiel("tic_tac_toe")
    TabularGame('tic_tac_toe()': 2 agents, 4521 states, 9×9 actions, horizon 9, rewards in [-1, 1])
    """
    pyspiel = require("pyspiel", "openspiel")
    limit = check.integer("limit", limit, least=1)
    if horizon is not None:
        horizon = check.integer("horizon", horizon)
    if key is not None and not callable(key):
        raise TacitError(f"key is {brief(key)}; it must be a function of a pyspiel.State")
    try:
        if isinstance(game, str):
            game = _load(pyspiel, game, max(limit, LIMIT))
        _refuse(pyspiel, game)
        actions = game.num_distinct_actions()
        if actions < 1 or min(game.max_game_length(), game.max_chance_outcomes()) < 0:
            # goofspiel(num_cards=-1) writes before the beginning of an array when its first state is made
            raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: {reason('vector::')}")
        if actions > max(limit, LIMIT):  # before OpenSpiel lists them
            raise TacitError(f"{game} has up to {actions:,} actions; give it parameters that make it smaller")
        kind = game.get_type()
        if kind.short_name == "repeated_game":
            return _normal_form(game, game.get_parameters()["num_repetitions"] if horizon is None else horizon, limit)
        if kind.information == kind.Information.ONE_SHOT:
            return _normal_form(game, 1 if horizon is None else horizon, limit)
        return table(game, horizon=horizon, key=key or (_box_board(game) if _boxes(game) else str), limit=limit)
    except TacitError:
        raise
    except MemoryError:
        raise TacitError(f"there is not enough memory for {brief(str(game))}; make it or the horizon smaller") from None
    except (pyspiel.SpielError, ValueError, TypeError) as error:  # the latter two for parameters that make no sense
        raise TacitError(f"OpenSpiel cannot play {brief(str(game))}: {reason(one_line(error, 300))}") from None


def _load(pyspiel: Any, text: str, most: int) -> Any:
    """Load a game of at most so many actions; unknown names are told here: OpenSpiel prints all that it knows."""
    params = pyspiel.game_parameters_from_string(text)
    name = params.pop("name", "")
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in kinds:
        near = check.suggestion(name, kinds)
        raise TacitError(f"OpenSpiel has no game {brief(name)}{near} pyspiel.registered_names() lists them")
    known = kinds[name].parameter_specification
    for param in params:
        if param not in known:
            takes = ", ".join(sorted(known)) or "none"
            raise TacitError(f"{name} has no parameter {param!r}{check.suggestion(param, known)} it takes: {takes}")
        if isinstance(params[param], str) and os.path.exists(params[param]):
            with files.open_regular(Path(params[param])):  # a pipe would never end
                pass
    try_out(pyspiel, text, most)
    return pyspiel.load_game(text)


def _refuse(pyspiel: Any, game: Any) -> None:
    """Raise for what is no tabular game."""
    if not isinstance(game, pyspiel.Game):
        raise TacitError(f"game is {brief(game)}; it must be a pyspiel.Game, or a string for pyspiel.load_game")
    kind = game.get_type()
    if kind.dynamics == kind.Dynamics.MEAN_FIELD:
        raise TacitError(f"{game} is a mean-field game; a game with a fixed number of agents is needed")
    if kind.chance_mode == kind.ChanceMode.SAMPLED_STOCHASTIC:
        raise TacitError(f"{game} does not tell the probabilities of chance; a game with explicit chance is needed")
    hidden = kind.information == kind.Information.IMPERFECT_INFORMATION
    if hidden and not (_boxes(game) and game.get_parameters()["fully_observable"]):
        needed = "fully_observable=true" if _boxes(game) else "a game with perfect information"
        raise TacitError(f"{game} has imperfect information: its agents do not see the state; {needed} is needed")


def _boxes(game: Any) -> bool:
    return bool(game.get_type().short_name == "coop_box_pushing")


def _box_board(game: Any) -> Callable[[Any], str]:
    """Return a key: the board below the three lines that count moves and rewards, and which robot is the first."""
    observation = require("open_spiel.python.observation", "openspiel").make_observation(game)
    # [11, 8, 8]; planes 3, 5, 7, 9 show the observer, one a direction. `observation_tensor` takes 10 times as long.
    own = np.arange(11 * 64).reshape(11, 64)[3::2].ravel()

    def board(state: Any) -> str:
        observation.set_from(state, 0)
        row, column = divmod(int(observation.tensor.take(own).argmax()) % 64, 8)
        return f"{str(state).split(chr(10), 3)[3]}first robot at ({row}, {column})"

    return board


def _normal_form(game: Any, horizon: int, limit: int) -> TabularGame:
    """Make the one-state game whose payoffs are what the first joint action returns."""
    state = game.new_initial_state()
    legal = [state.legal_actions(i) for i in range(game.num_players())]
    sizes = [len(own) for own in legal]
    if math.prod(sizes) > limit:
        raise TacitError(f"{game} has {math.prod(sizes):,} joint actions; give a larger limit than {limit:,}")
    payoffs = memory.zeros((len(sizes), math.prod(sizes)), f"the payoffs of {game}")
    for k, joint in enumerate(itertools.product(*legal)):
        after = state.clone()
        after.apply_actions(list(joint))
        payoffs[:, k] = after.returns()
    return matrix_game(
        payoffs.reshape(-1, *sizes),
        horizon=horizon,
        name=str(game),
        action_names=[distinct(state.action_to_string(i, a) for a in own) for i, own in enumerate(legal)],
    )


#: Seconds of computing, seconds in all (it may wait for a file), and bytes.
CPU, WALL, MEMORY = 5, 60, 2_000_000_000

_TRIAL = """
import json, sys
text, folder, cpu, size, limit = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
sys.path.append(folder)
import pyspiel
try:
    game = pyspiel.load_game(text)
    actions = game.num_distinct_actions()
    if actions < 1 or min(game.max_game_length(), game.max_chance_outcomes()) < 0:
        raise ValueError("vector::")  # before it writes where it must not
    if actions <= limit and game.max_chance_outcomes() <= limit:
        state = game.new_initial_state()
        str(state)
        if not state.is_chance_node():
            [state.legal_actions(i) for i in range(game.num_players())]
    print(json.dumps({"actions": actions}))
except MemoryError:
    print(json.dumps({"memory": True}))
except Exception as error:
    print(json.dumps({"error": " ".join(str(error).split())[:300]}))
"""


def reason(said: str) -> str:
    """Return what OpenSpiel said, or what a size means that C++ refuses."""
    sizes = ("vector::", "basic_string::")
    return "one of its parameters is negative or far too large" if any(size in said for size in sizes) else said


def try_out(pyspiel: Any, text: str, limit: int) -> None:
    """Raise if a game cannot be made within bounds, or has more actions than the limit."""
    if not sys.executable or "(" not in text:
        return
    folder = str(Path(pyspiel.__file__).parent)
    size = min(MEMORY, memory.available())
    arguments = [text, folder, *map(str, (CPU, size, limit))]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _TRIAL, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TacitError(f"OpenSpiel does not come to an end making {brief(text)}; make it smaller") from None
    except (OSError, ValueError):  # no process to be had, or no argument of one: then it is made here
        return
    found: dict[str, Any] = {}
    with contextlib.suppress(ValueError, IndexError):
        found = json.loads(done.stdout.splitlines()[-1])
    if found.get("memory"):
        raise TacitError(f"OpenSpiel takes more than {memory.human(size)} to make {brief(text)}; make it smaller")
    if done.returncode < 0:
        raise TacitError(
            f"OpenSpiel takes more than {CPU} s to make {brief(text)}, or fails at it altogether; make it smaller"
        )
    if "error" in found:  # told here, since OpenSpiel prints it besides
        raise TacitError(f"OpenSpiel cannot play {brief(text)}: {reason(found['error'])}")
    if found.get("actions", 0) > limit:
        raise TacitError(f"{text} has up to {found['actions']:,} actions; give it parameters that make it smaller")
