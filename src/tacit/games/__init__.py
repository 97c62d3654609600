"""Games: tables, functions, counts, the paper's games, and their files.

A new game is one file here and one line in the table below, or an entry point of the group `tacit.games`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tacit.core import files
from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.games import atlas, crowds, matrix
from tacit.games.box_pushing import box_pushing
from tacit.games.count import CountGame, count_vectors
from tacit.games.dpomdp import load_dpomdp
from tacit.games.exact import Successors
from tacit.games.formats import load_nfg, load_npz, save_nfg, save_npz
from tacit.games.function import FunctionGame
from tacit.games.matrix import matrix_game
from tacit.games.pricing import Market, Pricing, PricingGame
from tacit.games.tabular import TabularGame, check_game, check_length
from tacit.games.tabulate import tabulate

REGISTRY: Registry[Any] = Registry("game")
REGISTRY.add("matrix-team", matrix.matrix_team)
REGISTRY.add("good-state", matrix.good_state)
REGISTRY.add("box-pushing", box_pushing)
REGISTRY.add("distancing", crowds.distancing)
for _kind, _about, _fixed in (
    ("general-sum", "Independent uniform rewards for each agent and Dirichlet transitions.", {}),
    ("zero-sum", "Two agents, one uniform reward that the other loses, and Dirichlet transitions.", {"agents": 2}),
    ("team", "One uniform reward that all agents share, and Dirichlet transitions.", {}),
    ("potential", "A Markov potential game that is not a team; no action changes a transition.", {}),
):
    REGISTRY.add(f"random-{_kind}", matrix.random_game, about=_about, fixed={"kind": _kind, **_fixed})
REGISTRY.add("congestion", crowds.congestion)
REGISTRY.add("spectrum", crowds.spectrum)
REGISTRY.add("minority", crowds.minority)
REGISTRY.add("matching-pennies", matrix.matching_pennies)
REGISTRY.add("rock-paper-scissors", matrix.rock_paper_scissors)
REGISTRY.add("shapley", matrix.shapley)
REGISTRY.add("chicken", matrix.chicken)
REGISTRY.add("battle-of-the-sexes", matrix.battle_of_the_sexes)
REGISTRY.add("prisoners-dilemma", matrix.prisoners_dilemma)
REGISTRY.add("stag-hunt", matrix.stag_hunt)
REGISTRY.add("climbing", matrix.climbing)
REGISTRY.add("penalty", matrix.penalty)
REGISTRY.add("pricing", Pricing)
for _entry in atlas.ENTRIES.values():
    REGISTRY.add(f"atlas/{_entry.name}", _entry.make, about=_entry.about)

#: What reads files of an ending, and what writes them.
READERS: dict[str, Callable[..., TabularGame]] = {".npz": load_npz, ".dpomdp": load_dpomdp, ".nfg": load_nfg}
WRITERS: dict[str, Callable[..., None]] = {".npz": save_npz, ".nfg": save_nfg}

#: Libraries whose games are named after a colon, as in `openspiel:tic_tac_toe`.
LIBRARIES = ("gymnasium", "openspiel", "pettingzoo")


def make(name: str, /, *, discount: float | None = None, **params: Any) -> Any:
    """Make a registered game by name: a TabularGame, or for crowds a CountGame.

    Parameters
    ----------
    name : str
        A name from `tacit games`, or "atlas/" and one from `tacit atlas`.
    discount : float, optional
        Instead of a horizon: the same game without a last step, discounted.
    **params
        Parameters of the game, as `tacit games NAME` lists them.

    Returns
    -------
    TabularGame or CountGame

    Examples
    --------
    >>> import tacit
    >>> tacit.make("good-state", horizon=3, slip=0.2)
    TabularGame('good-state': 2 agents, 2 states, 2×2 actions, horizon 3, rewards in [-2, 5])
    """
    if discount is not None:
        check_length(params.get("horizon"), discount)
    if str(name).startswith("atlas/"):
        atlas.find(str(name).removeprefix("atlas/"))
    game = REGISTRY.make(name, **params)
    if discount is None:
        return game
    if not hasattr(game, "with_discount"):
        raise TacitError(f"{name} has no tables over joint actions, which a discounted game needs; leave discount out")
    return game.with_discount(discount)


def load(path: str | os.PathLike[str], *, horizon: int | None = None, discount: float | None = None) -> TabularGame:
    """Read a game from a file; the ending says the format: `.npz`, `.dpomdp` or `.nfg`.

    A `.dpomdp` file has no horizon: if none is given, its own discount counts. A `.nfg` game is played once unless a
    horizon or a discount is given.

    Parameters
    ----------
    path : path
        A file as `save` writes it, or one from elsewhere.
    horizon : int, optional
        Steps in an episode.
    discount : float, optional
        Instead of a horizon, of a game that is the same at every step.

    Returns
    -------
    TabularGame

    See Also
    --------
    save : Writes such a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tacit
    >>> from tacit.games import save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chicken.nfg"
    >>> save(tacit.make("chicken"), path)
    >>> tacit.load(path, horizon=3)
    TabularGame('chicken': 2 agents, 1 state, 2×2 actions, horizon 3, rewards in [0, 7])
    """
    file = files.path(path)
    read: Callable[..., TabularGame] = _format(file, READERS)
    if discount is None:
        return read(file, horizon=horizon)
    check_length(horizon, discount)
    if read is load_npz:
        return read(file, discount=discount)
    return read(file, horizon=1).with_discount(discount)


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game atomically; the ending says the format: `.npz` or `.nfg`.

    Parameters
    ----------
    game : TabularGame
    path : path

    See Also
    --------
    load : Reads it again.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tacit
    >>> from tacit.games import save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chicken.npz"
    >>> save(tacit.make("chicken"), path)
    >>> tacit.load(path).name
    'chicken'
    """
    file = files.path(path)
    check_game(game)
    _format(file, WRITERS)(game, file)


def _format(file: Path, functions: dict[str, Callable[..., Any]]) -> Callable[..., Any]:
    """Return what reads or writes files of this ending."""
    if file.suffix not in functions:
        ending = f"the ending {file.suffix!r}" if file.suffix else "no ending"
        raise TacitError(f"{file} has {ending}; a game file ends in {' or '.join(functions)}")
    return functions[file.suffix]


def is_file(name: str) -> bool:
    """Return whether a GAME of the command line means a file. It has an ending, and no library before a colon.

    Parameters
    ----------
    name : str
        What the command line takes as GAME.

    Returns
    -------
    bool

    Examples
    --------
    >>> from tacit.games import is_file
    >>> is_file("tiger.dpomdp"), is_file("openspiel:kuhn.x")
    (True, False)
    """
    return isinstance(name, str | os.PathLike) and _library(name) is None and bool(Path(name).suffix)


def is_registered(name: str) -> bool:
    """Return whether a GAME means a registered one, by its form.

    Parameters
    ----------
    name : str
        What the command line takes as GAME.

    Returns
    -------
    bool

    Examples
    --------
    >>> from tacit.games import is_registered
    >>> is_registered("chicken"), is_registered("x.nfg")
    (True, False)
    """
    return not is_file(name) and _library(name) is None


def _library(name: str | os.PathLike[str]) -> str | None:
    before, colon, _ = str(name).partition(":")
    return before if colon and before in LIBRARIES else None


def is_code(name: str) -> bool:
    """Return whether making a game imports code that its name chooses. The package's and library's own do not count.

    Parameters
    ----------
    name : str
        What the command line takes as GAME.

    Returns
    -------
    bool

    Examples
    --------
    >>> from tacit.games import is_code
    >>> is_code("pettingzoo:my.module"), is_code("chicken")
    (True, False)
    """
    library = _library(name)
    if library == "gymnasium":
        from tacit.games.gymnasium import is_own

        return not is_own(name.partition(":")[2])
    return library == "pettingzoo"


def from_name_or_file(name: str, /, **params: Any) -> Any:
    """Make the game that a GAME of the command line means.

    A registered name; a file; `openspiel:` with a name and arguments as OpenSpiel writes them; or `gymnasium:` with the
    id of an environment that carries its own transition table.

    Parameters
    ----------
    name : str
        What the command line takes as GAME.
    **params
        Parameters of the game.

    Returns
    -------
    TabularGame, CountGame or FunctionGame

    Examples
    --------
    >>> from tacit.games import from_name_or_file
    >>> from_name_or_file("chicken", horizon=2).horizon
    2
    """
    if is_file(name):
        return load(name, **_only("a game from a file", params, "horizon", "discount"))
    library, text = _library(name), str(name).partition(":")[2]
    if library == "openspiel":
        from tacit.games.openspiel import from_openspiel

        return from_openspiel(text, **_only(name, params, "horizon", "limit"))
    if library == "gymnasium":
        from tacit.games.gymnasium import read_gymnasium

        if "env" in params:
            raise TacitError(f"{name} has no parameter 'env'; the id stands after the colon")
        return read_gymnasium(text, **params)
    if library == "pettingzoo":
        raise TacitError(f"{name} can only be played, it has no tables; `tacit run` takes it")
    return make(name, **params)


def _only(what: str, params: dict[str, Any], *allowed: str) -> dict[str, Any]:
    for key in params:
        if key not in allowed:
            raise TacitError(f"{what} has no parameter {key!r}; its parameters: {', '.join(allowed)}")
    return params


__all__ = [
    "REGISTRY",
    "CountGame",
    "FunctionGame",
    "Market",
    "Pricing",
    "PricingGame",
    "Successors",
    "TabularGame",
    "count_vectors",
    "from_name_or_file",
    "is_code",
    "is_file",
    "is_registered",
    "load",
    "make",
    "matrix_game",
    "save",
    "tabulate",
]
