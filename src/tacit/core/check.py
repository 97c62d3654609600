"""Checks at the boundary. Each returns the value in its proper type or raises one clear sentence."""

from __future__ import annotations

import dataclasses
import difflib
import math
import numbers
import operator
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, freeze, refuse_masked, unwrap
from tacit.core.types import FloatArray

#: How far from 1 the sum of a distribution may be.
SUM_TOLERANCE = 1e-9

# The largest numbers that are taken at all; what memory holds may be less, and is looked at where it is needed.

#: Episodes of a run: at ten million a second they take three years.
EPISODES = 10**15

#: Seeds of an experiment, and a seed itself.
SEEDS, SEED = 10**6, 2**128 - 1

#: Actions of an agent.
ACTIONS = 10**6

#: The least and the largest number of each kind.
RANGES = {
    "agents": (1, 1 << 20),
    "actions": (1, ACTIONS),
    "states": (1, 10**15),
    "horizon": (1, 10**15),
    "episodes": (1, EPISODES),
    "seeds": (1, SEEDS),
    "first_seed": (0, SEED),
    "seed": (0, SEED + SEEDS),  # the last seed of an experiment
    "points": (1, 10**8),  # rows of a curve
    "workers": (1, 1024),
    "trials": (1, 10_000),  # random policies that are tried
}


def integer(
    name: str, value: object, *, least: int | None = None, most: int | None = None, of: str | None = None
) -> int:
    """Return `value` as an int within [least, most]. Without `least`, within the range of its name, or of another.

    >>> integer("horizon", 0)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: horizon must be a whole number of at least 1; got 0
    >>> integer("seeds", 10**9)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: seeds must be at most 1,000,000; got 1000000000
    """
    if least is None:
        least, high = RANGES[of or name]
        number = integer(name, value, least=least)
        if number > high:
            raise TacitError(f"{name} must be at most {high:,}; got {brief(number)}")
        return number
    if type(value) is int and least <= value and (most is None or value <= most):
        return value  # by far the most calls, from agents at every step
    bounds = f"of at least {least}" if most is None else f"from {least} to {most}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
        fits = type(value) is not bool and least <= number and (most is None or number <= most)
    except TypeError:
        fits = False
    if not fits:
        raise TacitError(f"{name} must be a whole number {bounds}; got {brief(value)}")
    return number


def real(name: str, value: object, *, least: float = -math.inf, most: float = math.inf) -> float:
    """Return `value` as a finite float within [least, most].

    >>> real("slip", 2, least=0, most=1)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: slip must be a number from 0 to 1; got 2
    """
    if least > -math.inf and most < math.inf:
        bounds = f" from {least:g} to {most:g}"
    elif least > -math.inf:
        bounds = f" of at least {least:g}"
    else:
        bounds = f" of at most {most:g}" if most < math.inf else ""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not _finite(value):
        raise TacitError(f"{name} must be a finite number{bounds}; got {brief(value)}")
    number = float(value)
    if not least <= number <= most:
        raise TacitError(f"{name} must be a number{bounds}; got {brief(value)}")
    return number


def positive(name: str, value: object, *, most: float = math.inf) -> float:
    """Return `value` as a finite float above 0.

    >>> positive("seconds", 0)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: seconds must be a positive number; got 0
    """
    number = real(name, value, most=most)
    if number <= 0:
        raise TacitError(f"{name} must be a positive number; got {number:g}")
    return number


def interval(name: str, value: object) -> tuple[float, float]:
    """Return a pair (low, high) of finite numbers.

    >>> interval("reward_range", (1, 0))
    Traceback (most recent call last):
    tacit.core.errors.TacitError: reward_range must be (low, high) with low at most high; got (1, 0)
    """
    low, high = (real(f"{name}[{k}]", x) for k, x in enumerate(list_of(name, value, "numbers: low, high", count=2)))
    if low > high:
        raise TacitError(f"{name} must be (low, high) with low at most high; got ({low:g}, {high:g})")
    return low, high


def _finite(value: numbers.Real) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond any float
        return False


def flag(name: str, value: object) -> bool:
    """Return `value` as a bool. Numbers and words are refused, since they are most often a slip."""
    if not isinstance(value, bool | np.bool_):
        raise TacitError(f"{name} must be True or False; got {brief(value)}")
    return bool(value)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    """Return `value` if it is one of the known words, otherwise suggest one.

    >>> choice("gap", "nahs", ["nash", "cce", "ce"])
    Traceback (most recent call last):
    tacit.core.errors.TacitError: no gap 'nahs'; did you mean 'nash'? known: nash, cce, ce
    """
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    raise TacitError(f"no {name} {brief(value)}{suggestion(value, known)} known: {', '.join(known)}")


def suggestion(value: object, known: Iterable[str]) -> str:
    """Return "; did you mean …?" for the nearest known word, or ";"."""
    near = difflib.get_close_matches(str(value)[:100], list(known), n=1, cutoff=0.6)
    return f"; did you mean {near[0]!r}?" if near else ";"


def text(name: str, value: object, *, empty: bool = True) -> str:
    """Return `value` if it is text, and has a letter unless it may be empty.

    >>> text("name", 3)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: name must be text; got 3
    """
    if not isinstance(value, str) or not (value or empty):
        raise TacitError(f"{name} must be text; got {brief(value)}")
    return value


def list_of(name: str, value: object, of: str, *, count: int | None = None, least: int = 0) -> list[Any]:
    """Return the entries of a list, a tuple or an array. `of` says what they are, `count` how many there must be.

    >>> list_of("columns", 3, "names of columns")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: columns must be a list of names of columns; got 3
    """
    bare = isinstance(value, str | bytes) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not bare and isinstance(value, Sequence | np.ndarray) and count in (None, len(value)) and len(value) >= least:
        return list(value)
    number = f"{count} " if count is not None else f"at least {least} " if least else ""
    raise TacitError(f"{name} must be a list of {number}{of}; got {brief(value)}")


def names(what: str, value: object, count: int) -> tuple[str, ...]:
    """Return `count` names that differ.

    >>> names("state_names", ["up", "up"], 2)
    Traceback (most recent call last):
    tacit.core.errors.TacitError: state_names must differ; got 'up' more than once
    """
    strings = tuple(list_of(what, value, "strings", count=count))
    if not all(isinstance(name, str) for name in strings):
        raise TacitError(f"{what} must be a list of {count} strings; got {brief(value)}")
    twice = [name for name, times in Counter(strings).items() if times > 1]
    if twice:
        raise TacitError(f"{what} must differ; got {twice[0]!r} more than once")
    return strings


def function(name: str, value: object, *, needed: bool = False) -> Any:
    """Return `value` if it can be called. None stands for no function, unless one is needed.

    >>> function("progress", "x")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: progress must be a function; got 'x'
    """
    if callable(value) or (value is None and not needed):
        return value
    raise TacitError(f"{name} must be a function; got {brief(value)}")


def plain_fields(instance: Any) -> None:
    """Turn NumPy numbers in the fields of a dataclass into Python's."""
    for field in dataclasses.fields(instance):
        number = getattr(instance, field.name)
        if isinstance(number, np.generic):
            object.__setattr__(instance, field.name, number.item())


def uniform(u: float) -> None:
    """Check a number that stands for a draw from [0, 1)."""
    if not real("u", u, least=0) < 1:
        raise TacitError(f"u must be from 0 to below 1; got {brief(u)}")


def array(name: str, value: npt.ArrayLike | Owned[Any]) -> FloatArray:
    """Return `value` as a C-contiguous float array that nobody can write to.

    It is copied, so that a later change by the caller never reaches the game, unless it is `Owned`.
    """
    inner, owned = unwrap(value)
    refuse_masked(name, inner)
    try:
        values = np.asarray(inner)
    except (ValueError, TypeError, OverflowError):
        raise TacitError(f"{name} must be a rectangular array of numbers; got {brief(inner)}") from None
    if values.dtype.kind not in "biuf":
        raise TacitError(f"{name} must be an array of real numbers; got {values.dtype} values ({brief(inner)})")
    fresh = owned or isinstance(inner, list | tuple)  # other objects may have given an array that they keep
    return freeze(name, Owned(values) if fresh else values, np.float64)


Axis = str | tuple[str, tuple[int, ...]]  # a name, or a name and the shape that the axis flattens


def distributions(name: str, probs: FloatArray, axes: Sequence[Axis], *, over: str) -> None:
    """Check that `probs` holds a distribution along its last axis. `axes` names all of them for the message.

    >>> distributions("initial", np.array([0.5, 0.4]), ["s"], over="states")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: initial must sum to 1 (±1e-09) over states; got 0.9
    """
    with np.errstate(invalid="ignore"):  # infinities of both signs are told below
        sums = probs.sum(axis=-1)
    if probs.min() >= 0 and np.abs(sums - 1).max() <= SUM_TOLERANCE:  # NaN fails this
        return
    wrong = np.argwhere(~((probs >= 0) & np.isfinite(probs)))
    if len(wrong):
        value = probs[tuple(wrong[0])]
        raise TacitError(f"{name}{_index(axes, wrong[0])} must be a probability from 0 to 1; got {value:g}")
    row = np.argwhere(~(np.abs(sums - 1) <= SUM_TOLERANCE))[0]
    where, total = f"{name}{_index(axes[:-1], row)}", f"{sums[tuple(row)]:.12g}"
    raise TacitError(f"{where} must sum to 1 (±{SUM_TOLERANCE:g}) over {over}; got {total}")


def finite(name: str, values: FloatArray, axes: Sequence[Axis]) -> None:
    """Check that every entry is a finite number."""
    if np.isfinite(values.min()) and np.isfinite(values.max()):
        return
    index = np.argwhere(~np.isfinite(values))[0]
    raise TacitError(f"{name}{_index(axes, index)} must be a finite number; got {values[tuple(index)]}")


def _index(axes: Sequence[Axis], index: Iterable[int]) -> str:
    """Write an index with the names of its axes, e.g. "[h=3, s=1, joint=(0, 1)]"."""
    parts = []
    for axis, k in zip(axes, index, strict=True):
        if isinstance(axis, str):
            parts.append(f"{axis}={k}")
        else:
            label, shape = axis
            parts.append(f"{label}=({', '.join(str(part) for part in np.unravel_index(k, shape))})")
    return f"[{', '.join(parts)}]" if parts else ""
