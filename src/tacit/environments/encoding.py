"""Large observations become few states: bins of their numbers, by name and reversible.

`Bins` says how fine; `fit` makes of it, for the space that an agent observes, an `Encoding`: a function from an
observation to a tuple of plain numbers, each the middle of its bin. So a state's key is a typical observation.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check
from tacit.core.display import number
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.environments.adapters import Environment, Numbers, ends, flatten, kind, parts, unflatten
from tacit.environments.episodes import scout, stated_horizon
from tacit.environments.observations import Encode
from tacit.policies.base import StoredBins

#: Bounds of a space beyond which a number counts as unbounded: some libraries write the largest float.
UNBOUNDED = 1e30

SCOUTED = (
    "bins of numbers without bounds lie between the least and the largest of a few random episodes, and what is beyond "
    "falls into the outermost; edges can be given (encode)"
)
_WANTED = "a function from an observation to something hashable, or tacit.Bins(6), in a file or command bins=6"


@dataclass(frozen=True)
class Bins:
    """Bins for the numbers of an observation, for `encode=`.

    What falls into the same bins is the same state.

    Numbers of a Box are put into bins; Discrete, MultiDiscrete and MultiBinary observations, alone or within a Dict or
    Tuple, stay as they are, unless an entry of their own says otherwise.

    Parameters
    ----------
    count : int, list or dict
        How many bins of equal width each number gets, 1 to leave it out. They lie between the bounds of the space, or
        where it has none between the least and the largest number of a few random episodes. A list has an entry for
        each number or each part of a Tuple, a dict for each part of a Dict; for a Box, a dict names its numbers in
        their order. An entry that is a list again holds the edges between bins.

    Examples
    --------
    >>> import tacit
    >>> coarse = tacit.Bins({"position": 1, "velocity": 1, "angle": 6, "spin": [-1, 0, 1]})
    >>> run = tacit.learn(tacit.from_gymnasium("CartPole-v1", horizon=50, encode=coarse), episodes=20)
    >>> run.game.observations[0].name(run.game.state([0.1, 0.5, 0.02, -0.3]))
    'angle 0 to 0.1396, spin -1 to 0'
    """

    count: Any


class Cell(NamedTuple):
    """What becomes of one number of an observation: a bin between edges, or itself."""

    name: str
    edges: tuple[float, ...] = ()
    middles: tuple[float, ...] = ()  # of the bins, one more than there are edges; none where the number stays

    def describe(self, key: Any) -> str:
        """Return a bin in words; "" where there is one bin only."""
        if not self.middles:
            return f"{self.name} {key if isinstance(key, str) else number(key)}".lstrip()
        if not self.edges:
            return ""
        k, ends = self.middles.index(key), [number(edge) for edge in self.edges]
        between = f"{ends[k - 1]} to {ends[k]}" if k < len(ends) else f"from {ends[-1]}"
        return f"{self.name} {between if k else f'below {ends[0]}'}".lstrip()


class Encoding(StoredBins):
    """A function from observations to keys of states: a bin for each number.

    Attributes
    ----------
    space : space of observations
    cells : tuple of Cell
        One for each number of an observation.
    """

    def __init__(self, space: Any, cells: tuple[Cell, ...]) -> None:
        self.space, self.cells = space, cells
        numbers = [[list(cell.edges), list(cell.middles)] if cell.middles else None for cell in cells]
        super().__init__({"order": _order(space), "numbers": numbers})

    def describe(self, key: Sequence[Any]) -> str:
        """Return a state in words: the bins that it lies in."""
        words = [cell.describe(part) for cell, part in zip(self.cells, key, strict=True)]
        return ", ".join(one for one in words if one)

    def restore(self, key: Sequence[Any]) -> Any:
        """Return an observation of the space whose key this is: the middle of its bins."""
        return unflatten(self.space, iter(key))


def _order(space: Any) -> Any:
    """Return the structure of a space: objects and lists of its parts, None for numbers."""
    each = {name: _order(part) for name, part in parts(space).items()}
    return each if kind(space) == "Dict" else list(each.values()) if kind(space) == "Tuple" else None


def read_encode(encode: Any) -> Any:
    """Return an `encode`; text and tables, from files and the command line, become `Bins`.

    >>> read_encode("bins=6"), read_encode({"bins": [4, 1]})
    (Bins(count=6), Bins(count=[4, 1]))
    """
    if encode is None or isinstance(encode, Bins) or (callable(encode) and encode is not Bins):
        return encode
    error = TacitError(f"encode must be {_WANTED}; got {brief(encode)}")
    if isinstance(encode, str):
        key, _, text = encode.partition("=")
        try:
            encode = {key: json.loads(text)}
        except (ValueError, RecursionError):
            raise error from None
    if not isinstance(encode, Mapping) or list(encode) != ["bins"]:
        raise error
    return Bins(encode["bins"])


def fit(encode_or_bins: Any, environment: Environment, *, horizon: int | None, seed: int) -> list[Encode | None]:
    """Return how each agent encodes its observations. Agents with the same space do it alike."""
    encode = read_encode(encode_or_bins)
    if not isinstance(encode, Bins):
        return [encode] * len(environment.spaces)
    first = [environment.spaces.index(space) for space in environment.spaces]  # the first agent with this space
    for space in environment.spaces:
        for leaf in () if kind(space) == "Anything" else _leaves(space, encode.count):
            _cell(leaf, (0.0, 1.0))  # raises where an entry is wrong, before any episode
    scouted: dict[int, tuple[FloatArray, FloatArray]] = {}
    if scouts(encode, environment):
        scouted = _scout_ends(environment, first, horizon or stated_horizon(environment.source), seed)
    encodings: dict[int, Encode] = {}
    for i in sorted(set(first)):
        space = environment.spaces[i]
        if kind(space) == "Anything":
            space = Numbers(np.shape(scouted[i][0]))
        leaves = list(_leaves(space, encode.count))
        extremes = zip(*(end.ravel().tolist() for end in scouted[i]), strict=True) if scouted else [None] * len(leaves)
        encodings[i] = Encoding(space, tuple(_cell(leaf, pair) for leaf, pair in zip(leaves, extremes, strict=True)))
    return [encodings[i] for i in first]


def see_nothing(observation: Any) -> None:
    """Return the same for every observation, for agents that need no states."""


def scouts(encode: Any, environment: Environment) -> bool:
    """Return whether a few random episodes have to show where bins lie."""
    bins = read_encode(encode)
    return isinstance(bins, Bins) and any(
        kind(space) == "Anything" or any(map(_is_open, _leaves(space, bins.count))) for space in environment.spaces
    )


def _is_open(leaf: Leaf) -> bool:
    """Return whether bins of a number have no bounds to lie between."""
    return leaf.entry not in (None, 1) and not _is_container(leaf.entry) and max(-leaf.low, leaf.high) >= UNBOUNDED


def _scout_ends(
    environment: Environment, first: list[int], horizon: int | None, seed: int
) -> dict[int, tuple[FloatArray, FloatArray]]:
    """Return the range of each number in a few episodes, by space."""
    rows_of: dict[int, list[FloatArray]] = {i: [] for i in first}

    def see(shown: Sequence[Any]) -> None:
        for i, observation in zip(first, shown, strict=True):
            space = environment.spaces[i]
            try:
                values = observation if kind(space) == "Anything" else flatten(space, observation)
                rows_of[i].append(np.asarray(values, dtype=np.float64))
                if rows_of[i][-1].shape != rows_of[i][0].shape or not np.isfinite(rows_of[i][-1]).all():
                    raise ValueError
            except (ValueError, TypeError):
                must = "must be as many finite numbers at every step, for bins without edges"
                raise TacitError(f"observations of {environment.names[i]} {must}; got {brief(observation)}") from None

    scout(environment, horizon, seed, see)
    return {i: (np.min(rows, axis=0), np.max(rows, axis=0)) for i, rows in rows_of.items()}


def _is_container(tree: Any) -> bool:
    return isinstance(tree, Mapping | list | tuple | np.ndarray)


class Leaf(NamedTuple):
    """One number of a space, and its entry of `Bins`; None keeps the number."""

    name: str
    entry: Any
    low: float
    high: float
    integer: bool


def _leaves(space: Any, tree: Any, name: str = "", *, by_itself: bool = False) -> Iterator[Leaf]:
    """Return the numbers of a space in their order.

    `by_itself` says whether the entry of `Bins` is for this part alone.
    """
    if kind(space) in ("Dict", "Tuple"):
        each = parts(space)
        entries = _entries(tree, list(each), space) if _is_container(tree) else dict.fromkeys(each, tree)
        by_itself = by_itself or _is_container(tree)
        for key, part in each.items():
            yield from _leaves(part, entries.get(key), f"{name}.{key}".strip("."), by_itself=by_itself)
        return
    low, high, integer = ends(space)
    if not low.shape or not _is_container(tree):
        at = [f"{name}[{','.join(map(str, place))}]" if place else name for place in np.ndindex(low.shape)]
        entries = dict.fromkeys(at, tree if by_itself or kind(space) in ("Box", "Numbers") else None)
    else:
        at = list(tree) if isinstance(tree, Mapping) else [str(i) for i in range(low.size)]
        entries = {f"{name}.{key}".strip("."): entry for key, entry in _entries(tree, at, space).items()}
        if len(entries) != low.size:
            raise _miscounted(low.size, space, len(entries))
    for (key, entry), least, most in zip(entries.items(), low.ravel().tolist(), high.ravel().tolist(), strict=True):
        yield Leaf(key, entry, least, most, integer)


def _entries(tree: Any, names: list[str], space: Any) -> dict[str, Any]:
    """Return the entries of a list or dict by name."""
    if not isinstance(tree, Mapping):
        if len(tree) != len(names):
            raise _miscounted(len(names), space, len(tree))
        return dict(zip(names, tree, strict=True))
    for key in tree:
        check.choice(f"entry of encode for {brief(space)},", str(key), names)
    return {str(key): entry for key, entry in tree.items()}


def _miscounted(wanted: int, space: Any, got: int) -> TacitError:
    return TacitError(f"encode must have {wanted} entries for {brief(space)}, 1 for what is left out; got {got}")


def _cell(leaf: Leaf, met: tuple[float, float] | None) -> Cell:
    """Return the bins of one number."""
    if leaf.entry is None:
        if not leaf.integer:
            raise TacitError(f"encode must have an entry for {leaf.name}, 1 to leave it out; got none")
        return Cell(leaf.name)
    if _is_container(leaf.entry):
        edges = check.array(f"edges of {leaf.name}", leaf.entry)
        if edges.ndim != 1 or not len(edges) or (np.diff(edges) <= 0).any() or not np.isfinite(edges).all():
            raise TacitError(f"edges of {leaf.name} must be numbers that ascend; got {brief(leaf.entry)}")
        gaps = np.diff(edges) if len(edges) > 1 else np.ones(1)  # the outermost bins are as wide as their neighbours
        ends = [edges[0] - gaps[0], *edges, edges[-1] + gaps[-1]]
        return Cell(leaf.name, tuple(edges.tolist()), _middles(ends))
    bins = check.integer(f"bins of {leaf.name or 'observations'}", leaf.entry, least=1, most=10**6)
    low, high = leaf.low, leaf.high
    if bins == 1:
        return Cell(leaf.name, (), (_middles([low, high])[0] if max(-low, high) < UNBOUNDED else 0.0,))
    if leaf.integer and high - low < bins:
        return Cell(leaf.name)
    if leaf.integer:
        low, high = low - 0.5, high + 0.5
    if met is not None:
        low, high = (end if abs(end) < UNBOUNDED else extreme for end, extreme in zip((low, high), met, strict=True))
    if not low < high:
        low, high = low - 0.5, low + 0.5
    ends = np.linspace(low, high, bins + 1).tolist()
    return Cell(leaf.name, tuple(ends[1:-1]), _middles(ends))


def _middles(ends: Sequence[float]) -> tuple[float, ...]:
    """Return the middle of each bin, in few digits where that stays inside.

    >>> _middles([0, 1 / 3, 2 / 3, 1])
    (0.167, 0.5, 0.833)
    """
    middles = []
    for low, high in itertools.pairwise(ends):
        middle = 0.5 * (low + high)
        short = float(f"{middle:.3g}")
        middles.append(short if low < short < high else float(middle))
    return tuple(middles)
