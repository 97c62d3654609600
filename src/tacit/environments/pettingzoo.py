"""PettingZoo and Gymnasium: games as environments, environments with options, environments by name."""

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
from tacit.environments.adapters import Range, WrappedEnv, is_environment, name_of, wrap
from tacit.environments.encoding import Bins, read_encode
from tacit.environments.observations import Encode
from tacit.games.exact import ExactGame, check_exact
from tacit.games.gymnasium import has_table, is_own, make_environment, read_gymnasium
from tacit.games.tabular import TabularGame

if TYPE_CHECKING:
    from tacit.environments.exported import GameEnv

PREFIX, GYMNASIUM = "pettingzoo:", "gymnasium:"

#: Options of an environment that files and the command line give beside its own parameters.
OPTIONS = ("horizon", "reward_range", "encode")


def to_pettingzoo(game: ExactGame) -> GameEnv:
    """Return a game as a PettingZoo `ParallelEnv`.

    Agents are `agent_0`, `agent_1`, …; each observes the state's number. The end of the horizon is a truncation.

    Parameters
    ----------
    game : TabularGame or CountGame

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

    return GameEnv(game)


def from_pettingzoo(
    env: Any, *, encode: Encode | Bins | None = None, horizon: int | None = None, reward_range: Range | None = None
) -> WrappedEnv:
    """Return an environment with its options, for `learn`, `evaluate` and `exploit`.

    Parameters
    ----------
    env : pettingzoo.ParallelEnv or AECEnv, or an object with `reset`, `step` and `actions`
    encode : callable or tacit.Bins, optional
        From an observation to something hashable, which is then the state that the agent sees; or bins for its numbers.
    horizon : int, optional
        Steps in an episode. If not given, what the environment states or what a few episodes show.
    reward_range : (low, high), optional
        Where rewards lie. If not given, likewise; bounds are then estimates.

    Returns
    -------
    WrappedEnv

    Examples
    --------
    >>> import tacit
    >>> env = tacit.from_pettingzoo(tacit.to_pettingzoo(tacit.make("good-state")), encode=lambda s: s > 0, horizon=5)
    >>> tacit.learn(env, "q-independent", episodes=20).game.horizon
    5
    """
    return _wrap(env, horizon=horizon, reward_range=reward_range, encode=read_encode(encode))


def _wrap(env: Any, **options: Any) -> WrappedEnv:
    """Return an environment with options; one that has some already keeps those that are not given."""
    return replace(wrap(env), **{name: option for name, option in options.items() if option is not None})


def from_gymnasium(
    env: Any,
    *,
    encode: Encode | Bins | None = None,
    horizon: int | None = None,
    discount: float | None = None,
    reward_range: Range | None = None,
    **kwargs: Any,
) -> TabularGame | WrappedEnv:
    """Return the game of a Gymnasium environment with a transition table; others with their options.

    Parameters
    ----------
    env : str or gymnasium.Env
        An id such as "FrozenLake-v1", or the environment itself.
    horizon : int, optional
        Steps in an episode; the environment's own time limit if it is not given.
    discount : float, optional
        Instead of a horizon, for an environment with a transition table: without its time limit, discounted.
    encode, reward_range
        For environments that are played, as in `tacit.from_pettingzoo`. With `encode`, one with a table is played too.
    **kwargs
        Passed to `gymnasium.make`, where `env` is an id.

    Returns
    -------
    TabularGame or WrappedEnv
        The game has one agent; states and actions are numbered as in the environment. A state named "over" follows
        termination. The table is that of `env.unwrapped`: masks of actions, such as Taxi's, are not in it.

    Examples
    --------
    >>> import tacit
    >>> tacit.from_gymnasium("FrozenLake-v1", is_slippery=False)
    TabularGame('FrozenLake-v1': 1 agent, 17 states, 4 actions, horizon 100, rewards in [0, 1])
    >>> tacit.from_gymnasium("CartPole-v1", encode=tacit.Bins(6), horizon=100)
    WrappedEnv(env=<...<CartPole-v1>...>, horizon=100, reward_range=None, encode=Bins(count=6))
    """
    options = {"horizon": horizon, "reward_range": reward_range, "encode": read_encode(encode)}
    if isinstance(env, WrappedEnv) and discount is None and not kwargs:
        return _wrap(env, **options)
    env = make_environment(env, kwargs)
    if encode is None and has_table(env):
        if reward_range is not None:
            raise TacitError(f"reward_range must be left out for {name_of(env)}, which has a transition table")
        return read_gymnasium(env, horizon=horizon, discount=discount)
    if discount is not None:
        raise TacitError(f"discount must be left out for {name_of(env)}, which has no transition table")
    return _wrap(env, **options)


#: Stands before the digest of an environment's code, which takes the place of the tables it does not have.
NO_TABLES = "environment"


@dataclass(frozen=True)
class NamedEnvironment:
    """An environment by name, of which every run makes its own.

    The name is `pettingzoo:module.path`, or one that a script registers.

    Parameters
    ----------
    name : str
        A module with a function `parallel_env`, such as pettingzoo.classic.rps_v2 or a file beside you; a class of
        environments within a module, module.path.Env.
        Nothing else is called. The module is imported, so a name is code: take it from nobody whom you do not trust.
    params : mapping
        Keyword arguments of that function, and the options of an environment: `horizon`, `reward_range`, `encode`.
    """

    name: str
    params: Mapping[str, Any] = field(default_factory=dict)
    code: str = ""  # digest of the file that defines the environment

    @property
    def digest(self) -> str:
        """What takes the place of a digest of tables, which it does not have."""
        return f"{NO_TABLES} {self.code}"

    @contextmanager
    def enter(self) -> Iterator[WrappedEnv]:
        """Make the environment, with its options, and close it in the end."""
        named = self.name.startswith((PREFIX, GYMNASIUM))  # what a script registers takes its own parameters
        options = {key: self.params[key] for key in OPTIONS if named and key in self.params}
        env = self.make({key: value for key, value in self.params.items() if key not in options})
        try:
            if not is_environment(env):
                raise TacitError(f"{self.name} must make an environment, with reset and step; got {brief(env)}")
            yield from_pettingzoo(env, **options) if options else wrap(env)
        finally:
            close = getattr(env.env if isinstance(env, WrappedEnv) else env, "close", None)
            if callable(close):
                close()

    def make(self, params: Mapping[str, Any]) -> Any:
        """Make what the name means: an environment, unless a script says otherwise."""
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
    """Return whether a name is of a Gymnasium environment without a table, or encoded.

    >>> is_played("gymnasium:CartPole-v1", {}), is_played("gymnasium:FrozenLake-v1", {})
    (True, False)
    """
    if "encode" in params or not name.startswith(GYMNASIUM) or is_own(name.removeprefix(GYMNASIUM)):
        return name.startswith(GYMNASIUM) and "encode" in params
    with NamedEnvironment(name, {key: value for key, value in params.items() if key != "discount"}).enter() as env:
        return not hasattr(env.env.unwrapped, "P")


def name_environment(name: str, /, **params: Any) -> NamedEnvironment:
    """Name an environment, once it has been made to see."""
    named = NamedEnvironment(name, params)
    with named.enter() as wrapped:
        return replace(named, code=_code_digest(wrapped.env))


def _code_digest(env: Any) -> str:
    """Return a digest of the source that defines an environment, without its imports."""
    module = sys.modules.get(type(getattr(env, "unwrapped", env)).__module__)
    file = getattr(module, "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _factory(path: str) -> Callable[..., Any]:
    """Return what makes an environment: a module's `parallel_env`, or a class in a module."""
    import gymnasium
    import pettingzoo

    search_also(os.getcwd())  # a module beside the user
    parent, _, name = path.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        target = _import_environment(path)
        if target is not None:
            target, name = getattr(target, "parallel_env", None), "parallel_env"
        elif parent:
            target = getattr(_import_environment(parent), name, None)
    kinds = pettingzoo.ParallelEnv | pettingzoo.AECEnv | gymnasium.Env
    if issubclass(target, kinds) if inspect.isclass(target) else callable(target) and name == "parallel_env":
        return target  # type: ignore[no-any-return]
    must = "must be a module with a function parallel_env, or a class of environments in a module"
    got = "nothing of this name, installed or beside you" if target is None else brief(target)
    raise TacitError(f"{PREFIX}{path} {must}; got {got}")


def search_also(directory: str) -> None:
    """Let modules be found in a directory too, after all libraries."""
    if directory not in sys.path:
        sys.path.append(directory)


def _import_environment(path: str) -> Any:
    """Return a module, None where there is none of that name."""
    with blame(f"{PREFIX}{path} cannot be imported"):
        try:
            return importlib.import_module(path)
        except ModuleNotFoundError as error:
            if error.name is not None and (path == error.name or path.startswith(f"{error.name}.")):
                return None
            raise TacitError(f"{PREFIX}{path} needs {error.name}; pip install {error.name}") from None
