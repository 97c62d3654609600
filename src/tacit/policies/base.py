"""What all policies share: files, how they are shown, and parts.

A part is what one agent's device holds and plays, with NumPy and nothing else: what policies ask of games is imported
when it is asked for.

    part = tacit.policies.Part.load("part_0.json")        # that policy.save("part_0.json", agent=0) wrote
    part = tacit.policies.Part.load("policy.npz", agent=0)
    part.begin(seed)                             # the common seed of the episode, the same for all agents
    a = part.act(h, s)
    a = part.act(h, observation=observation)     # of an environment; what learning never met is counted and said

A part does its arithmetic on plain numbers: for one agent and one step arrays cost more than they save.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import warnings
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, cast

import numpy as np
import numpy.typing as npt

from tacit.core import call_hook, check, files, memory, streams
from tacit.core.display import count
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Sealed

if TYPE_CHECKING:
    from tacit.core.display import Document
    from tacit.games.protocol import Game


# A policy as one JSON document, for devices without Python; `docs/policy-json.md` describes it. Reading is bounded by
# the memory that is free, and takes numbers, text, lists and objects only. A file that is cut short or altered is
# reported by name.

FORMAT, VERSION = "tacit policy", 1

#: Bytes of memory that one byte of JSON may become: "{}," is a pointer of 8 bytes and an object of 64.
_MEMORY_PER_BYTE = 24


def is_json(path: str | os.PathLike[str]) -> bool:
    """Return whether a path asks for JSON by its ending."""
    return files.path(path).suffix.lower() == ".json"


def read_document(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the document of a policy, or of one agent's part, and check its header."""
    file = files.path(path)
    content: dict[str, Any] = parse_json(
        files.read_utf8(file), f"{file}", "a whole JSON file: cut short, altered or of another kind"
    )
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise TacitError(f"{file} is not a policy: it must be a JSON object whose format is {FORMAT!r}")
    if content.get("version") != VERSION:
        raise TacitError(f"{file} has version {brief(content.get('version'))}; this tacit reads version {VERSION}")
    return {"kind": None, **content}


def list_of(document: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of the document."""
    value = document.get(key)
    if not isinstance(value, list):
        raise TacitError(f"its {key} must be a list; got {brief(value)}")
    return value


def parse_json(content: str, what: str, expected: str) -> Any:
    """Return what JSON says, as far as memory holds it."""
    memory.require(_MEMORY_PER_BYTE * len(content), what)
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError, MemoryError) as error:
        raise TacitError(f"{what} is not {expected} ({one_line(error)})") from None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


# A policy learned in an environment holds `observations`, one object for each agent whose `to_list()` returns what the
# agent observed, by the number of the state: so a device finds the number of the state that it sees. Files of the
# policy hold these lists, a `.npz` as one text of JSON.

#: What stands for "the agent is out of the game", which no device ever looks up.
OVER = {"over": True}

#: Bits of the largest whole number that is taken; no environment counts so far.
_BITS = 1024


def plain(value: Any) -> Any:
    """Return an observation as JSON has it: tuples and arrays are lists. Raise TacitError where JSON has nothing.

    >>> plain((np.int64(1), ("low", None), np.array([0.5, 2.0])))
    [1, ['low', None], [0.5, 2.0]]
    """
    match value:
        case np.ndarray() | np.generic():
            return plain(value.tolist())
        case None | bool():
            return value
        case int() if value.bit_length() <= _BITS:
            return int(value)
        case str():
            return str.__str__(value)  # of an enumeration, its value
        case float() if math.isfinite(value):
            return float(value)
        case list() | tuple():
            return [plain(part) for part in value]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {str(name): plain(part) for name, part in value.items()}
    raise TacitError(f"{brief(value)} is not a number, text, or a list or an object of them")


def observation_key(observation: Any) -> Hashable:
    """Return an observation as something that is equal for equal observations, tuple, list or array."""
    return _hashable(plain(observation))


def observations_of(policy: Any, agents: Sequence[int]) -> dict[str, Any]:
    """Return the field `observations` of a policy's document; nothing where they are unknown."""
    observers = policy.observations
    each = [] if observers is None else [as_list(observers[i], policy.states) for i in agents]
    if not each or None in each:
        return {}
    encodes = [getattr(observers[i], "stored_encode", None) for i in agents]
    if policy.encodes is not None:
        encodes = [getattr(policy.encodes[i], "stored", policy.encodes[i]) for i in agents]
    return {"observations": each} | ({"encode": encodes} if any(encodes) else {})


def as_list(observer: Any, states: int) -> list[Any] | None:
    """Return what one agent observed, from a list or from who numbers it. None where JSON cannot hold it."""
    listed: list[Any] | None = observer.to_list() if hasattr(observer, "to_list") else observer
    return None if listed is None else listed[:states]


def read_observations(content: Mapping[str, Any], agents: int, states: int) -> tuple[list[Any], ...] | None:
    """Return what a file says that each agent observed, None where it says nothing."""
    lists = content.get("observations")
    if lists is None:
        return None
    if isinstance(lists, np.ndarray):  # of a `.npz`
        lists = parse_json(str(files.single("observations", lists)), "the text of its observations", "JSON")
    if not isinstance(lists, list) or [type(one) for one in lists] != [list] * agents:
        raise TacitError(f"its observations must be a list for each of {agents} agents; got {brief(lists)}")
    for i, observations in enumerate(lists):
        if len(observations) > states:
            raise TacitError(f"observations[{i}] must have at most {states} entries; got {len(observations)}")
        number_observations(observations)
    return tuple(lists)


#: What stands in a file for a function, which it cannot hold.
FUNCTION = "function"


class StoredBins:
    """Bins of an observation's numbers, as a policy's file holds them.

    `order` is the observation's structure: an object of named parts, a list of parts, or null for numbers. `numbers`
    has for each number null, or the edges of its bins and what stands for each bin.

    Examples
    --------
    >>> StoredBins({"order": {"at": None}, "numbers": [[[0.0], [-0.5, 0.5]]]})({"at": [0.3]})
    (0.5,)
    """

    def __init__(self, stored: Any) -> None:
        if not isinstance(stored, dict) or not isinstance(stored.get("numbers"), list):
            raise TacitError(f"its encode must have an order, and a list of numbers; got {brief(stored)}")
        for k, cell in enumerate(stored["numbers"]):
            if cell is not None:
                edges, middles = (check.array(f"encode.numbers[{k}][{j}]", part) for j, part in enumerate(cell))
                if edges.ndim != 1 or middles.shape != (len(edges) + 1,) or (np.diff(edges) <= 0).any():
                    raise TacitError(f"encode.numbers[{k}] must be ascending edges, and one number more for the bins")
        self.stored = stored

    def __call__(self, observation: Any) -> tuple[Any, ...]:
        """Return what stands for an observation."""
        try:
            values = _list_numbers(self.stored.get("order"), observation)
        except (KeyError, TypeError, ValueError, IndexError):
            raise TacitError(f"{brief(observation)} is not of the structure that was learned with") from None
        cells = self.stored["numbers"]
        if len(values) != len(cells) or any(value != value for value in values):
            raise TacitError(f"{brief(observation)} must be {len(cells)} numbers, none of them nan")
        pairs = zip(cells, values, strict=True)
        return tuple(value if cell is None else cell[1][bisect_right(cell[0], value)] for cell, value in pairs)


def _list_numbers(order: Any, observation: Any) -> list[Any]:
    """Return the numbers of an observation in their order."""
    if isinstance(order, dict):
        return [x for name, part in order.items() for x in _list_numbers(part, observation[name])]
    if isinstance(order, list):
        return [x for part, share in zip(order, observation, strict=True) for x in _list_numbers(part, share)]
    return np.asarray(observation).ravel().tolist()


def read_encodes(content: Mapping[str, Any], agents: int) -> list[Any] | None:
    """Return how each agent's observations become keys: bins, "function", or None."""
    stored = content.get("encode")
    if stored is None:
        return None
    if isinstance(stored, np.ndarray):  # of a `.npz`
        stored = parse_json(str(files.single("encode", stored)), "the text of its encode", "JSON")
    if not isinstance(stored, list) or len(stored) != agents:
        raise TacitError(f"its encode must be a list with an entry for each of {agents} agents; got {brief(stored)}")
    return [one if one in (None, FUNCTION) else StoredBins(one) for one in stored]


def number_observations(observations: Sequence[Any]) -> dict[Hashable, int]:
    """Return the number of each observation of a list."""
    try:
        number_of = {observation_key(observation): s for s, observation in enumerate(observations)}
    except RecursionError:
        raise TacitError("its observations are nested too deeply") from None
    if len(number_of) != len(observations):
        raise TacitError("it has an observation twice")
    return number_of


def _hashable(value: Any) -> Hashable:
    match value:
        case list():
            return tuple(_hashable(part) for part in value)
        case dict():
            return frozenset((name, _hashable(part)) for name, part in value.items())
    return value  # type: ignore[no-any-return]


#: Which class reads which kind of file; a policy's file states its kind.
KINDS: dict[str, Any] = {}


class Policy(Sealed, ABC):
    """What agents play. It remembers its game, for people, and is stored without it.

    A kind of policy says what it is (`said`), which kinds of files it reads, what they hold, and how one agent plays.

    Attributes
    ----------
    agents, states : int
    actions : tuple of N ints
    horizon : int or None
        None where the same is played at every step.
    product : bool
        Whether agents draw independently of each other.

    Examples
    --------
    >>> import tacit
    >>> from tacit.policies import Policy
    >>> isinstance(tacit.solve(tacit.make("chicken"), "ce").policy, Policy)
    True
    """

    said: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]] = ()
    game: Any = None
    product = False
    agents: int
    actions: tuple[int, ...]
    states: int
    horizon: int | None
    observations: Any = None  # of an environment: for each agent a list of what it saw in each state, or who numbers it
    encodes: list[Any] | None = None  # of a file: how each agent's observations become what is listed

    def __init_subclass__(cls) -> None:
        """Note which kinds of files the class reads."""
        for kind in cls.kinds:
            KINDS.setdefault(kind, cls)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the game out, and what `predict` plays with."""
        return {key: value for key, value in self.__dict__.items() if key not in ("game", "_players")}

    def check_fits(self, game: Game) -> None:
        """Raise unless the policy has the game's agents, states, actions and horizon."""
        check_game(game)
        if (self.states, self.actions) != (game.states, game.actions) or self.horizon not in (None, game.horizon):
            raise TacitError(f"the policy does not fit the game: {self!r} for {game!r}")

    def part(self, agent: int) -> Part:
        """Return agent i's part, which acts alone, from the common seed where play is correlated."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        part = self._part(i)
        if self.observations is not None:
            encodes = self.encodes or [getattr(one, "bins", None) for one in self.observations]
            part.tell(self.observations[i], self.states, encodes[i])
        return part

    def predict(
        self, observation: Any, state: int | None = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, int]:
        """Return an action, and the `state` of the next step, as models of Stable-Baselines3 do.

        Parameters
        ----------
        observation
            As the environment shows it, or the state of a game; with several agents, one for each in their order, in a
            list or a dict.
        state : int, optional
            What the step before returned; None begins an episode.
        episode_start : bool, optional
            Whether an episode begins, whatever `state` is.
        deterministic : bool
            The most likely action instead of a drawn one; of product policies with tables.

        Returns
        -------
        action, state
            With several agents, a list of actions, which count from 0.

        Examples
        --------
        >>> import tacit
        >>> policy = tacit.solve(tacit.from_gymnasium("FrozenLake-v1"), "optimum").policy
        >>> policy.predict(0)
        (0, 1)
        """
        if "_players" not in self.__dict__:
            self._players = [self.part(i) for i in range(self.agents)]
        h = 0 if state is None or np.any(episode_start) else check.integer("state", state, least=0)
        if h == 0:
            seed = int(np.random.default_rng().integers(2**31))
            for part in self._players:
                part.begin(seed)
        by_agent = observation.values() if isinstance(observation, Mapping) else observation
        shown = [observation] if self.agents == 1 else list(by_agent) if np.iterable(by_agent) else []
        if len(shown) != self.agents:
            raise TacitError(
                f"observation must have one entry for each of {self.agents} agents; got {brief(observation)}"
            )
        each = zip(self._players, shown, strict=True)
        actions = [part.best(h, one) if deterministic else part.act(h, observation=one) for part, one in each]
        return actions if self.agents > 1 else actions[0], h + 1

    @abstractmethod
    def _part(self, agent: int) -> Part: ...

    def save(self, path: str | os.PathLike[str], *, agent: int | None = None) -> None:
        """Write the policy as `.json` or `.npz`, by the ending. With `agent`, that agent's part alone as `.json`.

        A recorded policy is written as `.npz` only. Policies learned in an environment say what each agent observed.
        """
        suffix = files.path(path).suffix.lower()
        if suffix not in (".npz", ".json"):
            ending = f"the ending {suffix!r}" if suffix else "no ending"
            raise TacitError(f"{path} has {ending}; a file of this policy ends in .npz or .json")
        if agent is not None and not is_json(path):
            raise TacitError(f"cannot write the part of agent {brief(agent)} to {path}; a part alone is a .json file")
        if not is_json(path):
            fields = observations_of(self, range(self.agents))
            texts = {name: np.array(json.dumps(lists, separators=(",", ":"))) for name, lists in fields.items()}
            files.write_arrays(path, {**self._arrays(), **texts})
            return
        shown = range(self.agents)
        if agent is not None:
            shown = range(check.integer("agent", agent, least=0, most=self.agents - 1), agent + 1)
        kind, play, content = self._content(path, shown)
        states = {"states": self.states} if hasattr(self, "states") else {}  # networks number none
        sizes = {**states, "actions": [self.actions[i] for i in shown]}
        header = {"format": FORMAT, "version": VERSION, "kind": kind, "play": play}
        whose = {} if agent is None else {"agent": agent}
        document = {**header, **whose, **sizes, **content, **observations_of(self, shown)}
        files.write_pieces(path, [json.dumps(document, separators=(",", ":"), allow_nan=False), "\n"])

    @abstractmethod
    def _arrays(self) -> dict[str, Any]:
        """Return what a `.npz` holds, its kind too."""

    @abstractmethod
    def _content(self, path: object, shown: Sequence[int]) -> tuple[str, str, dict[str, Any]]:
        """Return kind, instructions to play, and content of a document for these agents."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a policy that `save` wrote; `Policy.load` reads every kind."""
        content: Any = read_document(path) if is_json(path) else files.read_arrays(path)
        reader: Any = cls if cls.kinds else _reader(path, content)
        if "agent" in content:
            agent = brief(content["agent"])
            raise TacitError(f"{path} holds the part of agent {agent} alone; tacit.policies.Part.load reads it")
        try:
            return reader._from_file(content)  # type: ignore[no-any-return]
        except (TacitError, ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise TacitError(f"{path} is not {reader.said}: {one_line(error, 300)}") from None

    @classmethod
    def _from_file(cls, content: Mapping[str, Any]) -> Self:
        """Make the policy that a JSON document or the arrays of a `.npz` hold."""
        if "format" not in content:
            policy = cls._from_arrays(content)
        elif content["kind"] in cls.kinds:
            policy = cls._from_content(content)
        else:
            raise TacitError("it holds another kind of policy; tacit.policies.load reads every kind")
        policy.observations = read_observations(content, policy.agents, getattr(policy, "states", 0))
        policy.encodes = None if policy.observations is None else read_encodes(content, policy.agents)
        return policy

    @classmethod
    @abstractmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self: ...

    @classmethod
    @abstractmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self: ...

    def show(self, game: Any = None, *, everything: bool = False, limit: int | None = 40) -> Document:
        """Show what is played at each step and state that is reached.

        Parameters
        ----------
        game : optional
            Whose names to use, and what is reached; policies that `tacit.solve` and `tacit.learn` return know theirs.
        everything : bool
            Show places that are never reached too.
        limit : int or None
            Rows to show at most; None shows all.

        Examples
        --------
        >>> import tacit
        >>> tacit.solve(tacit.make("chicken"), "ce").policy.show()
        correlated policy: all agents follow one joint draw
        <BLANKLINE>
        joint actions that are played
        agent 0  agent 1  probability
        yield    yield            0.5
        yield    dare            0.25
        dare     yield           0.25
        """
        return cast("Document", call_hook("show_policy", self, self.game if game is None else game, everything, limit))

    def plot(self, game: Any = None, *, ax: Any = None, size: tuple[float, float] | None = None) -> Any:
        """Draw the joint distribution, or each agent's heat map by step and state.

        Parameters
        ----------
        game : optional
            As for `show`.
        ax : axes, or one for each agent; optional
            New ones of pyplot if not given.
        size : (float, float), optional
            Width and height in inches.

        Returns
        -------
        array of axes
        """
        return call_hook("plot_policy", self, game, ax=ax, size=size)


def _reader(path: object, content: Mapping[str, Any]) -> Any:
    """Return the class that reads a file of this content."""
    kind = content.get("kind", "game" if {"rewards", "initial"} <= set(content) else None)
    if isinstance(kind, np.ndarray):
        kind = str(kind) if kind.dtype.kind == "U" and not kind.ndim else None
    if kind is None:
        raise TacitError(f"{path} is no policy: it does not state its kind")
    if kind not in tuple(KINDS):
        other = {"agent": "an agent, which tacit.Agent.load reads", "game": "a game, which tacit.load reads"}
        unknown = f"a policy of an unknown kind, {brief(kind)}; known: {', '.join(KINDS)}"
        raise TacitError(f"{path} holds {other.get(brief(kind)[1:-1], unknown)}")
    return KINDS[kind]


def check_game(game: object) -> None:
    """Raise unless something means to be a game. What games are is imported when it is asked for."""
    from tacit.games.exact import check_exact
    from tacit.games.protocol import is_game

    if not is_game(game):
        check_exact(game)  # says what would work


def find_mask(*holders: Any) -> Any:
    """Return the first `action_mask` of observations and infos; None where there is none."""
    for one in holders:
        if isinstance(one, dict) and one.get("action_mask") is not None:
            return np.asarray(one["action_mask"])
    return None


def stand_in(mask: Any) -> list[int]:
    """Return allowed actions: forbidden ones are replaced by the allowed ones in turn.

    >>> stand_in([0, 1, 0, 0, 1])
    [1, 1, 4, 1, 4]
    """
    allowed = np.flatnonzero(mask).tolist()
    turns = itertools.cycle(allowed)
    return [a if free else next(turns) for a, free in enumerate(mask)]


#: Stands for an observation that is not given.
_NOTHING: Any = object()


class Part:
    """What all parts have in common.

    Attributes
    ----------
    agent : int
        Whose part it is.
    horizon : int or None
        Steps of an episode; None for a Markov policy that is the same at every step.
    product : bool
        Whether it draws independently of the others.
    sees : bool
        Whether it acts on observations instead of the numbers of states.
    table : array [H or 1, S, A], or None
        What it plays, where that is a table of its own.
    unknown : int
        How many observations were met that learning never met: there it draws uniformly, and warns once.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tacit
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "policy.json"
    >>> tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2]).save(path)
    >>> part = tacit.policies.Part.load(path, agent=1)
    >>> part.begin(seed=7)
    >>> part.act(0, 0)
    1
    """

    agent: int
    horizon: int | None
    product = sees = False
    unknown = 0
    table: npt.NDArray[np.float64] | None = None
    _size: int  # actions

    def __init__(self, agent: int, actions: int, horizon: int | None) -> None:
        self.agent, self._size, self.horizon = agent, actions, horizon
        self._next = 0  # the step that has to come next
        self._common: list[float] | None = None
        self._own: list[float] = []
        self._lone: np.random.Generator | None = None
        self._observed: Any = None
        self._encode: Any = None
        self._states = 2**63
        self._numbers: dict[Hashable, int] | None = None

    @staticmethod
    def load(path: str | os.PathLike[str], *, agent: int | None = None) -> Part:
        """Read a part that `policy.save(path, agent=)` wrote, or agent i's part of a whole policy."""
        content = read_document(path) if is_json(path) else {}
        if "agent" not in content:
            policy = Policy.load(path)
            if agent is None:
                raise TacitError(f"{path} holds the policy of all agents; say whose part it is to be, agent=0 to …")
            return policy.part(agent)
        number = check.integer("agent", content["agent"], least=0, most=2**31 - 1)
        try:
            policy = cast(Policy, KINDS[content["kind"]]._from_file(content))
            if policy.agents != 1 or content["kind"] == "correlated":
                raise TacitError(f"it is a {policy!r}")
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
            raise TacitError(f"{path} is not a part of a policy: {one_line(error, 300)}") from None
        if agent not in (None, number):
            raise TacitError(f"{path} holds the part of agent {number}, not of agent {agent}")
        part = policy.part(0)
        part.agent = number
        return part

    def __repr__(self) -> str:
        steps = "the same at every step" if self.horizon is None else f"horizon {self.horizon}"
        return f"{type(self).__name__}(agent {self.agent}, {count(self._size, 'action')}, {steps})"

    @property
    def actions(self) -> int:
        """The agent's number of actions."""
        return self._size

    def tell(self, observations: Any, states: int, encode: Any = None) -> None:
        """Say what the agent observed in each state: a list, or who numbers it."""
        self._observed, self._states, self._encode, self._numbers = observations, states, encode, None

    @property
    def observations(self) -> list[Any] | None:
        """What the agent observed in learning, by state; None for a game's own states."""
        return None if self._observed is None else as_list(self._observed, self._states)

    def number(self, observation: Any) -> int | None:
        """Return the number of the state in which the agent observes this. None if it never did in learning.

        Parameters
        ----------
        observation
            As the environment shows it; where the policy was learned with a function as `encode`, what that makes of
            it. Tuples, lists and arrays of the same content are the same.

        Examples
        --------
        >>> import numpy as np
        >>> from tacit.policies import MarkovPart
        >>> part = MarkovPart(np.array([[[0.0, 1.0], [1.0, 0.0]]]), 0)
        >>> part.tell([["low", 0], ["high", 3]], 2)
        >>> part.number(("high", 3)), part.number(("high", 4))
        (1, None)
        """
        if self._numbers is None:
            observations = self.observations
            if observations is None:
                raise TacitError("this part does not say what its agent observes: it was learned in a game's states")
            self._numbers = number_observations(observations)
        try:
            s = self._numbers.get(observation_key(observation))
        except TacitError:
            s = None
        bins = self._encode or getattr(self._observed, "encoding", None)
        if s is None and isinstance(bins, StoredBins):
            s = self._numbers.get(observation_key(bins(observation)))
        return s

    def find(self, observation: Any) -> int | None:
        """Return the number of the state that an environment shows. None, counted and said, if it is unknown."""
        if self._observed is None:
            return cast(int, observation)  # a game's own state
        if self._encode == FUNCTION:
            raise TacitError("encode, a function that the file does not hold, must be called: part.number(encode(…))")
        known = getattr(self._observed, "known", self.number)
        s: int | None = None
        with contextlib.suppress(TacitError):  # what has another structure was never met either
            s = known(observation)
        if s is not None and s < self._states:
            return s
        self.count_unknown(observation)
        return None

    def count_unknown(self, observation: Any) -> None:
        """Count an observation that learning never met; warn of the first."""
        self.unknown += 1
        if self.unknown == 1:
            text = f"agent {self.agent} observed {brief(observation)}, which it never met in learning"
            warnings.warn(f"{text}; it draws uniformly there, and part.unknown counts on", stacklevel=4)

    def begin(self, seed: int) -> None:
        """Begin an episode with the common seed. The agent's own draws come from it too, by the agent's number."""
        seed = check.integer("seed", seed)
        steps = self.horizon or 0
        common = streams.stream(seed, streams.ENVIRONMENT)
        self._lone = streams.stream(seed, streams.agent_role(self.agent))
        self._common = common.random(steps + 1).tolist()
        self._own = self._lone.random(steps).tolist()
        self._stream = common
        self._next = 0
        self._begin()

    def _begin(self) -> None:
        """Set what an episode begins with."""

    def act(self, h: int, s: Any = None, *, observation: Any = _NOTHING) -> int:
        """Return the action at step h in state s, or on an observation. Drawn uniformly where both are unknown."""
        if self.sees or observation is _NOTHING:
            return self._act(h, s if observation is _NOTHING else observation)
        return self._allow(self._act(h, self.find(observation)), observation)

    def _allow(self, action: int, observation: Any) -> int:
        """Return what an action stands for, where the observation's mask forbids it."""
        mask = find_mask(observation)
        if mask is not None and mask.shape != (self._size,):
            raise TacitError(f"the action mask must have one entry for each of {self._size} actions; got {brief(mask)}")
        return action if mask is None or not mask.any() else stand_in(mask)[action]

    def _act(self, h: int, s: Any) -> int:
        raise NotImplementedError

    def best(self, h: int, observation: Any) -> int:
        """Return the most likely action at step h on an observation. Where that is unknown, a random one."""
        if self.table is None:
            raise TacitError("deterministic must be False for a policy that is no product of tables; got True")
        s = self.find(observation)
        u = self._step(h)
        a = int(u * self._size) if s is None else int(self.table[h % len(self.table), s].argmax())
        return self._allow(a, observation)

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return the action at step h where only some are `allowed`. By itself a part knows of no masks."""
        return self.act(h, s)

    def stray(self, h: int) -> int:
        """Return an action, drawn uniformly, in a state that the policy does not know."""
        u = self._step(h)
        self._lose()
        return int(u * self._size)

    def _lose(self) -> None:
        """Forget where in the policy play was."""

    def _step(self, h: int) -> float:
        """Check that step h comes next; return the agent's own number of it."""
        if self._common is None or self._lone is None:
            raise TacitError("a part acts within an episode; call begin(seed) with the common seed first")
        if self.horizon is None:
            return self._lone.random()
        if h != self._next or type(h) is not int or h >= self.horizon:
            h = check.integer("h", h, least=0, most=self.horizon - 1)
            if h != self._next:
                expected = "begin(seed)" if self._next == self.horizon else f"step {self._next}"
                raise TacitError(f"h must be the next step of the episode; got {h}, and {expected} comes next")
        self._next = h + 1
        return self._own[h]


def draw(probs: list[float], u: float) -> int:
    """Draw from stored probabilities, of which the last is left out, as `recorded.restore` does."""
    total = 0.0
    for p in probs:
        total += p
    rest = max(1.0 - total, 0.0)
    scale, reached, a = total + rest, 0.0, 0
    for p in probs:
        reached += p / scale
        a += u >= reached
    return a
