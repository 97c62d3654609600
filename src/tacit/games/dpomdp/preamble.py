"""The first part of a .dpomdp file: agents, discount, values, states, start, actions, observations, once each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tacit.core import check, memory
from tacit.core.errors import TacitError, brief
from tacit.core.files import Lines
from tacit.core.types import FloatArray, IntArray
from tacit.games.dpomdp import words
from tacit.games.dpomdp.labels import Joint, Labels, Selection
from tacit.games.dpomdp.table import SUM_TOLERANCE
from tacit.games.tabular import check_axes

#: Bytes for each state and joint action: two tables with two numbers a row, their sums, the reward, and each agent's.
_PER_ROW = 96
_PER_ROW_AND_AGENT = 16


class Preamble(NamedTuple):
    """What a file says before its first T, O or R."""

    discount: float
    cost: bool  # values are costs, to be negated
    states: Labels
    actions: Joint
    observations: Joint
    initial: FloatArray  # [S]

    @property
    def rows(self) -> int:
        """Number of pairs of a state and a joint action."""
        return self.states.count * self.actions.count

    def row(self, state: Selection, joint: Selection) -> Selection:
        """Return the rows s·J + joint of every pair of these states and joint actions."""
        if isinstance(state, int) and isinstance(joint, int):
            return state * self.actions.count + joint
        several: IntArray = np.add.outer(np.multiply(state, self.actions.count), joint).ravel()
        return several


def read(lines: Lines) -> Preamble:
    """Read the preamble; `start` may also stand after the observations."""
    agents = _agents(_entry(lines, "agents"))
    discount = words.probability(_one(_entry(lines, "discount"), "discount"), "discount")
    values = check.choice("values", _one(_entry(lines, "values"), "values"), ["reward", "cost"])
    states = Labels("states", _entry(lines, "states"))
    initial = None
    line = lines.expect('"start:" or "actions:"')
    if _key(line).startswith("start"):
        initial = _start(line, lines, states)
        line = lines.expect('"actions:"')
    actions = _joint(line, lines, "actions", agents)
    observations = _joint(lines.expect('"observations:"'), lines, "observations", agents)
    if initial is None:
        initial = _start(lines.expect('"start:"'), lines, states)
    preamble = Preamble(discount, values == "cost", states, actions, observations, initial)
    memory.require(
        (_PER_ROW + _PER_ROW_AND_AGENT * agents) * preamble.rows,
        f"a game with {states.count} states and {actions.count} joint actions",
    )
    return preamble


def _key(line: str) -> str:
    return " ".join(words.fields(line)[0])


def _entry(lines: Lines, key: str) -> list[str]:
    """Return the words after `key:` on the next line."""
    return _after(lines.expect(f'"{key}:"'), key)


def _after(line: str, key: str) -> list[str]:
    parts = words.fields(line)
    if len(parts) != 2 or parts[0] != key.split():
        raise TacitError(
            f'{brief(line)} stands where "{key}:" must; a file begins with agents, discount, values, states, start, '
            f"actions, observations, in this order"
        )
    return parts[1]


def _one(found: list[str], key: str) -> str:
    if len(found) != 1:
        raise TacitError(f'"{key}:" has {brief(" ".join(found))}; it must have one word')
    return found[0]


def _agents(found: list[str]) -> int:
    count = Labels("agents", found).count
    check_axes(count)
    return count


def _joint(line: str, lines: Lines, key: str, agents: int) -> Joint:
    """Read `key:` and then a line for each agent: how many, or their names."""
    if _after(line, key):
        raise TacitError(f'{brief(line)}: after "{key}:" comes a line for each agent')
    return Joint(f"joint {key}", [_own(lines, key, i) for i in range(agents)])


def _own(lines: Lines, key: str, i: int) -> Labels:
    what = f"{key} of agent {i}"
    line = lines.expect(f"the {what}")
    parts = words.fields(line)
    if len(parts) != 1:
        raise TacitError(f"{brief(line)} stands where the {what} must: their number or their names")
    return Labels(what, parts[0])


def _start(line: str, lines: Lines, states: Labels) -> FloatArray:
    """Read the distribution of the first state in one of its forms."""
    memory.require(memory.floats(3, states.count), f"a distribution over {states.count} states")
    key = _key(line)
    if key in ("start include", "start exclude"):
        return _subset(_after(line, key), states, exclude=key == "start exclude")
    given = _after(line, "start")
    if not given:
        given = lines.expect("the distribution of the first state").split()
    elif len(given) == 1 and given != ["uniform"]:
        return _subset(given, states, exclude=False)
    return np.full(states.count, 1 / states.count) if given == ["uniform"] else _vector(given, states.count)


def _subset(names: list[str], states: Labels, *, exclude: bool) -> FloatArray:
    chosen = [states.index(name) for name in names]
    if len(set(chosen)) != len(chosen):
        raise TacitError(f"{brief(' '.join(names))} has a state twice")
    inside = np.full(states.count, exclude)
    inside[chosen] = not exclude
    if not inside.any():
        raise TacitError("no state is left to start from")
    probs: FloatArray = inside / inside.sum()
    return probs


def _vector(given: list[str], count: int) -> FloatArray:
    probs = words.probabilities(" ".join(given), count, "the start")
    total = probs.sum()
    if abs(total - 1) > SUM_TOLERANCE:
        raise TacitError(f"the start sums to {total:.12g}; it must sum to 1 (±{SUM_TOLERANCE:g})")
    return probs if abs(total - 1) <= check.SUM_TOLERANCE else probs / total
