"""What a check raises, and what all of them share: comparisons, and states in pieces."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numba import errors

from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, one_line
from tacit.core.records import Array, arrays, columns, parts
from tacit.core.types import FloatArray, IntArray

#: Probability that a comparison of frequencies raises though nothing is wrong, for each call of a check; seeds are
#: fixed, so it is met once or never.
FALSE_ALARM = 1e-9

#: What differs by no more is called rounding, and what a kernel should do about it.
ROUNDING = 1e-9
LAST_DIGITS = (
    "the last digits differ, as those of np.exp, np.log and np.power do from processor to processor; use exp, log and "
    "pow of tacit.kernels (square roots are the same everywhere), or state a tolerance, such as 1e-9"
)


class Violation(TacitError, AssertionError):
    """Something does not do what its protocol asks; told in one sentence.

    Parameters
    ----------
    sentence : object

    Examples
    --------
    >>> from tacit.testing import Violation, check_bandit
    >>> try:
    ...     check_bandit("exp3")
    ... except Violation as error:
    ...     print(type(error).__name__)
    Violation
    """


def require(condition: bool | np.bool_, sentence: str) -> None:
    """Raise unless what was checked holds."""
    if not condition:
        raise Violation(sentence)


def require_kernels(state: Any, functions: Iterable[Any], what: str) -> None:
    """Raise unless a struct is a NamedTuple for whose type all of these generic functions are implemented."""
    kind = type(state)
    require(hasattr(state, "_fields"), f"{what} is a {kind.__name__}; it must be a NamedTuple")
    missing = [function.__name__ for function in functions if not function.known(kind)]
    require(not missing, f"{' and '.join(missing)} of tacit.kernels is not implemented for {kind.__name__}")


def both_ways(function: Callable[..., Any], what: str, *structs: object) -> tuple[Callable[..., Any], ...]:
    """Return a function compiled and as it stands; compiled, it tells in one sentence why it does not compile."""
    fast = compile_loop(function, *structs)

    def run_guarded(*args: Any) -> Any:
        try:
            return fast(*args)
        except errors.NumbaError as error:
            raise Violation(f"{what}: {_reason(str(error))}") from error

    return run_guarded, function


def _reason(text: str) -> str:
    """Return where a kernel does not compile, and the innermost reason of a compiler's long message."""
    matches = re.findall(r'File "([^"]+)", line (\d+)|at (\S+\.py) \((\d+)\)', text)
    places = [(one or other, line or number) for one, line, other, number in matches]
    where = next((f"{Path(file).name}:{line} " for file, line in places if "site-packages" not in file), "a kernel ")
    if "NRT required" in text or "returning of array" in text:
        return f"{where}allocates memory; kernels are plain loops over arrays that the state holds"
    after = text.rsplit("Failed in nopython mode pipeline", 1)[-1].split("\n", 1)[-1]
    return f"{where}does not compile: {one_line(after, 120)}"


def require_same(one: Any, other: Any, sentence: str, tolerance: float | None = None) -> None:
    """Raise unless two arrays have the same bits, or differ by a stated tolerance at most.

    With a tolerance, of 0 too, they are of compiled and interpreted kernels: the sentence says if last digits differ.
    """
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    same = one.shape == other.shape
    require(same and (tolerance is not None or one.tobytes() == other.tobytes()), sentence)
    if tolerance is None:
        return
    one, other = one.ravel(), other.ravel()
    differ = (one.view(np.uint8) != other.view(np.uint8)).reshape(len(one), one.dtype.itemsize).any(axis=1)
    if not differ.any() or (tolerance > 0 and np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)):
        return
    k = int(np.argmax(differ))  # later ones may follow from the first
    nearly = np.isclose(one[k], other[k], rtol=ROUNDING, atol=ROUNDING)
    raise Violation(f"{sentence}: {LAST_DIGITS}" if nearly else sentence)


def require_distribution(probs: FloatArray, what: str) -> None:
    """Raise unless these are probabilities that sum to 1."""
    if not (probs >= 0).all() or not abs(float(probs.sum()) - 1.0) < 1e-9:
        shown = one_line(np.array2string(probs, precision=6, threshold=8))
        raise Violation(f"{what} is {shown}, with the sum {float(probs.sum()):.12g}; it must be a distribution")


def require_frequencies(counts: IntArray, probs: FloatArray, what: str, *, comparisons: int) -> None:
    """Raise where counts differ from probabilities more than chance explains, or where what has none was drawn.

    By Bernstein's inequality the share of n draws is further from p than √(2·p·(1−p)·L/n) + L/(3·n) with probability
    2·exp(−L) at most; L makes that FALSE_ALARM for all comparisons and all outcomes together.
    """
    n = int(counts.sum())
    log = math.log(2 * comparisons * len(probs) / FALSE_ALARM)
    allowed = np.sqrt(2 * probs * (1 - probs) * log / n) + log / (3 * n)
    wrong = (np.abs(counts / n - probs) > allowed) | ((probs == 0) & (counts > 0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise Violation(f"{what}: {k} was drawn {counts[k]} times of {n}, and its probability is {probs[k]:.6g}")


def copy(state: Any) -> Any:
    """Return a state with arrays of its own; those that cannot be written to are shared."""
    if isinstance(state, np.ndarray):
        return state.copy() if state.flags.writeable else state
    if not isinstance(state, tuple):
        return state
    copies = [copy(part) for part in state]
    return type(state)(*copies) if hasattr(state, "_fields") else tuple(copies)


def numbers(state: Any) -> Iterator[tuple[str, Array]]:
    """Yield what a state remembers, field by field, with their paths."""
    for path, array in parts(state):
        yield from columns(array, path)


def require_same_states(one: Any, other: Any, sentence: str, tolerance: float | None = None) -> None:
    """Raise unless two states remember the same; the sentence goes on with the first field that differs."""
    for (path, left), (_, right) in zip(numbers(one), numbers(other), strict=True):
        require_same(left, right, f"{sentence}; {path} differs", tolerance)


def scramble(state: Any, i: int, rng: np.random.Generator) -> None:
    """Overwrite the records of all agents but i with noise, and all that is no record."""
    for _, array in arrays(state):
        if array.dtype.names is None:
            if array.flags.writeable:
                _fill(array, rng)
            continue
        others = np.arange(array.shape[-1]) != i
        noise = array[..., others]
        for _, column in columns(noise):
            _fill(column, rng)
        array[..., others] = noise


def _fill(array: Array, rng: np.random.Generator) -> None:
    array[...] = (rng.random(array.shape) * 3 + 1).astype(array.dtype)


def own_records(state: Any, i: int, actions: int) -> dict[str, Array]:
    """Return what a state remembers of agent i, as if it were alone, field by field.

    What a record holds for each action is cut to those that the agent has: there is room for more.
    """
    numbers_by_path = {}
    for path, array in parts(state):
        records = array[..., i : i + 1]
        for name, column in columns(records, path):
            cut: Any = (..., *(slice(actions),) * (column.ndim - records.ndim))
            numbers_by_path[name] = column[cut]
    return numbers_by_path


def require_same_records(
    one: tuple[Any, int], other: tuple[Any, int], actions: int, sentence: str, of: str = ""
) -> None:
    """Raise unless two pairs of a state and an agent remember the same bits of that agent."""
    left, right = own_records(*one, actions), own_records(*other, actions)
    for path, array in left.items():
        require_same(array, right[path], f"{sentence}; {path}{of} differs")


def check_shapes(name: str, state: Any, agents: int, steps: int, states: int) -> None:
    """Raise unless the records of a state are [agents], [steps, agents] or [steps, states, agents]."""
    for path, array in parts(state):
        fitting = [(agents,), *(shape for h in (1, steps, steps + 1) for shape in ((h, agents), (h, states, agents)))]
        require(
            array.shape in fitting,
            f"{path} of {name} has the shape {array.shape} for {agents} agents, {steps} steps and {states} states; "
            f"records are [agents], [steps, agents] or [steps, states, agents], with steps, one more, or one for all",
        )
