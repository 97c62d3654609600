"""PettingZoo: a game as its environment, and its environments by name."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import games
from tacit.core import registry
from tacit.core.errors import TacitError, blame, brief
from tacit.environments.adapters import is_environment
from tacit.games.exact import ExactGame, check_exact
from tacit.games.gymnasium import is_own

if TYPE_CHECKING:
    from tacit.environments.exported import GameEnv

PREFIX, GYMNASIUM = "pettingzoo:", "gymnasium:"


def to_pettingzoo(game: ExactGame, *, render_mode: str | None = "ansi") -> GameEnv:
    """Return a game as a PettingZoo `ParallelEnv`.

    Agents are `agent_0`, `agent_1`, …; each observes the state's number. The end of the horizon is a truncation.

    Parameters
    ----------
    game : TabularGame or CountGame
    render_mode : {"ansi", "human", "rgb_array"} or None
        What `render` does: return text, print it, or return a picture, for games that have one (BoxPushing).

    Returns
    -------
    pettingzoo.ParallelEnv

    Examples
    --------
    >>> import tacit
    >>> env = tacit.to_pettingzoo(tacit.make("chicken"))
    >>> observations, infos = env.reset(seed=0)
    >>> env.step({"agent_0": 0, "agent_1": 1})[1]
    {'agent_0': 2.0, 'agent_1': 7.0}
    """
    check_exact(game)
    registry.require("pettingzoo", "pettingzoo")
    from tacit.environments.exported import GameEnv  # imports PettingZoo

    return GameEnv(game, render_mode=render_mode)


#: Stands before the digest of an environment's code, which takes the place of the tables it does not have.
NO_TABLES = "environment"


@dataclass(frozen=True)
class NamedEnvironment:
    """An environment by name, `pettingzoo:module.path` or what a script registers, of which every run makes its own.

    Parameters
    ----------
    name : str
        A module with a function `parallel_env`, such as pettingzoo.classic.rps_v2 or a file beside you; a class of
        environments within a module, module.path.Env; or an id of PettingZoo's registry, such as classic/rps-v2.
        Nothing else is called. The module is imported, so a name is code: take it from nobody whom you do not trust.
    params : mapping
        Keyword arguments of that function, and `horizon`, `reward_range` and `encode` for `tacit.learn`.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""  # digest of the file that defines the environment

    @property
    def digest(self) -> str:
        """What takes the place of a digest of tables, which it does not have."""
        return f"{NO_TABLES} {self.code}"

    @property
    def bounds(self) -> dict[str, Any]:
        """What `tacit.learn` is told besides the environment; what a script registers takes its own parameters."""
        if not self.name.startswith((PREFIX, GYMNASIUM)):
            return {}
        return {key: self.params[key] for key in ("horizon", "reward_range", "encode") if key in self.params}

    @contextmanager
    def enter(self) -> Iterator[Any]:
        """Make the environment, and close it in the end."""
        env = self._make()
        try:
            yield env
        finally:
            if callable(getattr(env, "close", None)):
                env.close()

    def _make(self) -> Any:
        params = {key: value for key, value in self.params.items() if key not in self.bounds}
        if self.name.startswith(GYMNASIUM):
            search_also(os.getcwd())  # a module beside the user
            factory: Callable[..., Any] = partial(
                registry.require("gymnasium", "gymnasium").make, self.name.removeprefix(GYMNASIUM)
            )
        elif self.name.startswith(PREFIX):
            registry.require("pettingzoo", "pettingzoo")
            factory = _factory(self.name.removeprefix(PREFIX))
        else:
            return games.from_name_or_file(self.name, **params)
        with blame(f"{self.name} cannot be made with {brief(params)}"), warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return factory(**params)

    def __repr__(self) -> str:
        return self.name


def is_played(name: str, params: Mapping[str, Any]) -> bool:
    """Return whether a name is of a Gymnasium environment that is played: it has no table, or what is seen is encoded.

    >>> is_played("gymnasium:CartPole-v1", {}), is_played("gymnasium:FrozenLake-v1", {})
    (True, False)
    """
    if "encode" in params or not name.startswith(GYMNASIUM) or is_own(name.removeprefix(GYMNASIUM)):
        return name.startswith(GYMNASIUM) and "encode" in params
    with NamedEnvironment(name, {key: value for key, value in params.items() if key != "discount"}).enter() as env:
        return not hasattr(env.unwrapped, "P")


def name_environment(name: str, /, **params: Any) -> NamedEnvironment:
    """Name an environment, once it has been made to see."""
    named = NamedEnvironment(name, params)
    with named.enter() as env:
        if not is_environment(env):
            raise TacitError(f"{name} made {brief(env)}, which is not an environment: it has no reset and step")
        return replace(named, code=_code_digest(env))


def _code_digest(env: Any) -> str:
    """Return a digest of the source that defines an environment; what that imports is not looked at."""
    module = sys.modules.get(type(getattr(env, "unwrapped", env)).__module__)
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _factory(path: str) -> Callable[..., Any]:
    """Return what makes an environment: of the registry, of a module, or within one."""
    if "/" in path:
        return _find_registered(path)
    search_also(os.getcwd())  # a module beside the user
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        found = _import_environment(path)
        if found is None and "." in path:
            parent, _, attribute = path.rpartition(".")
            found = getattr(_import_environment(parent), attribute, None)
    if _makes_environments(found, path):
        return found  # type: ignore[no-any-return]
    factory = getattr(found, "parallel_env", None) if inspect.ismodule(found) else None
    if not callable(factory):
        if found is None and _import_environment(path.partition(".")[0]) is None:
            raise TacitError(f"{PREFIX}{path}: there is no module {path.partition('.')[0]}, installed or beside you")
        raise TacitError(
            f"{PREFIX}{path} is no module with a function parallel_env, no such function, and no class of environments "
            f"(ParallelEnv or gymnasium.Env)"
        )
    return factory  # type: ignore[no-any-return]


def search_also(directory: str) -> None:
    """Let modules be found in a directory too, after all others: a file there never takes the place of a library."""
    if directory not in sys.path:
        sys.path.append(directory)


def _makes_environments(found: object, path: str) -> bool:
    """Return whether something within a module may be called: a class of environments, or a function parallel_env."""
    import gymnasium
    import pettingzoo

    if inspect.isclass(found):
        return issubclass(found, pettingzoo.ParallelEnv | pettingzoo.AECEnv | gymnasium.Env)
    return inspect.isfunction(found) and path.rpartition(".")[2] == "parallel_env"


def _import_environment(path: str) -> Any:
    """Return a module, None where there is none of that name; one that cannot be imported is told."""
    with blame(f"{PREFIX}{path} cannot be imported"):
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
                return None
            told = f"{PREFIX}{path} needs {error.name}, which is not installed; pip install {error.name}"
            raise TacitError(told) from None


def _find_registered(name: str) -> Callable[..., Any]:
    import pettingzoo

    make = getattr(pettingzoo, "make", None)
    if make is None:
        raise TacitError(f"{PREFIX}{name} is a registry id, and this PettingZoo has no registry; name a module instead")
    return lambda **params: make("parallel", name, **params)
