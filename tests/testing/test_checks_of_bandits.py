"""Each way in which a bandit can be wrong is found, and told in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

from tacit import kernels
from tacit.testing import Violation, check_bandit
from tacit.testing import bandits as checks


class State(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    seen: Annotated[np.ndarray, "N C"]
    actions: Annotated[np.ndarray, "N"]


class Undeclared(NamedTuple):
    weight: np.ndarray
    actions: Annotated[np.ndarray, "N"]


class Misdeclared(NamedTuple):
    weight: Annotated[np.ndarray, "N A C"]
    actions: Annotated[np.ndarray, "N"]


@dataclass(frozen=True)
class Plain(kernels.Bandit):
    """Multiplies the weight of what was played: right, unless a kernel or the state is replaced."""

    kind: Any = State
    regret: Any = "external"

    def init(self, cells: kernels.Cells) -> Any:
        grid = (cells.agents, cells.number)
        weight = np.ones((*grid, cells.most))
        seen = [] if self.kind is not State else [np.zeros(grid)]
        return self.kind(weight, *seen, cells.actions)


@kernels.jitable
def total(bandit, i, c):
    found = 0.0
    for a in range(bandit.actions[i]):
        found += bandit.weight[i, c, a]
    return found


def chance(bandit, i, c, a):
    return bandit.weight[i, c, a] / total(bandit, i, c)


def spread(bandit, i, c, out):
    for a in range(bandit.actions[i]):
        out[a] = kernels.chance(bandit, i, c, a)


def draw(bandit, i, c, u):
    for a in range(bandit.actions[i]):
        u -= kernels.chance(bandit, i, c, a)
        if u < 0.0:
            return a
    return bandit.actions[i] - 1


def feed(bandit, i, c, a, loss, prob):
    bandit.seen[i, c] += 1
    bandit.weight[i, c, a] *= 1.0 - 0.1 * loss
    whole = total(bandit, i, c)
    for b in range(bandit.actions[i]):
        bandit.weight[i, c, b] = bandit.weight[i, c, b] / whole + 0.001


def restart(bandit, i, c, rounds):
    bandit.seen[i, c] = 0
    for a in range(bandit.actions[i]):
        bandit.weight[i, c, a] = 1.0


RIGHT = {"chance": chance, "spread": spread, "draw": draw, "feed": feed, "restart": restart}


@pytest.fixture(autouse=True)
def right_kernels():
    for kind in (State, Undeclared, Misdeclared):
        for name, kernel in RIGHT.items():
            getattr(kernels, name).implement(kind)(kernel)


def test_the_right_one_passes():
    check_bandit(Plain())


def chance_of_others(bandit, i, c, a):
    return 1.0 / bandit.actions[i]


def chance_without_a_sum(bandit, i, c, a):
    return bandit.weight[i, c, a]


def negative_spread(bandit, i, c, out):
    for a in range(bandit.actions[i]):
        out[a] = 0.0
    out[0], out[1] = 1.5, -0.5


def wide_spread(bandit, i, c, out):
    for a in range(len(out)):
        out[a] = 1.0 / bandit.actions[i]


def draw_beyond(bandit, i, c, u):
    return int(u * (bandit.actions[i] + 1))


def draw_evenly(bandit, i, c, u):
    return int(u * bandit.actions[i])


def draw_that_learns(bandit, i, c, u):
    bandit.weight[i, c, 0] *= 1.001
    return int(u * bandit.actions[i])


def feed_all_cells(bandit, i, c, a, loss, prob):
    bandit.weight[i, 0, a] *= 1.0 - 0.1 * loss


def feed_the_next_agent(bandit, i, c, a, loss, prob):
    bandit.weight[(i + 1) % len(bandit.actions), c, 0] *= 1.0 - 0.1 * loss


def feed_from_others(bandit, i, c, a, loss, prob):
    bandit.weight[i, c, a] *= 1.0 - 0.01 * bandit.weight[(i + 1) % len(bandit.actions), c, 0]


def restart_half(bandit, i, c, rounds):
    bandit.weight[i, c, 0] = 1.0


def restart_all(bandit, i, c, rounds):
    for cell in range(bandit.weight.shape[1]):
        for a in range(bandit.actions[i]):
            bandit.weight[i, cell, a] = 1.0


def feed_with_a_list(bandit, i, c, a, loss, prob):
    losses = [loss, loss]
    bandit.weight[i, c, a] *= 1.0 - 0.1 * losses[a % 2]


def feed_what_is_not_there(bandit, i, c, a, loss, prob):
    if loss > 2.0:
        bandit.weight[i, c, a] *= bandit.step


BROKEN: list[tuple[str, Callable[..., Any], str]] = [
    ("chance", chance_without_a_sum, "with the sum"),
    ("spread", negative_spread, "it must be a distribution"),
    ("spread", wide_spread, "writes more than the actions"),
    ("draw", draw_beyond, r"draw of Plain returned \[.\]; agent"),
    ("draw", draw_evenly, "does not draw from spread: . was drawn"),
    ("draw", draw_that_learns, "draw or spread of Plain changes the state; weight differs"),
    ("feed", feed_all_cells, "touches another agent's row or another cell; weight differs"),
    ("feed", feed_the_next_agent, "touches another agent's row or another cell; weight differs"),
    ("feed", feed_from_others, "feed of Plain reads other agents' rows"),
    ("restart", restart_half, "remembers something after restart"),
    ("restart", restart_all, "restart of Plain touches another"),
]


@pytest.mark.parametrize(("name", "kernel", "message"), BROKEN, ids=[kernel.__name__ for _, kernel, _ in BROKEN])
def test_a_broken_kernel(name: str, kernel: Callable[..., Any], message: str, monkeypatch: pytest.MonkeyPatch):
    """All of these are found by the interpreted rounds, before anything is compiled."""
    monkeypatch.setattr(checks, "_check_both_ways", lambda *_: None)
    getattr(kernels, name).implement(State)(kernel)
    with pytest.raises(Violation, match=message) as caught:
        check_bandit(Plain())
    assert "\n" not in str(caught.value)


def test_chance_that_is_not_spread(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checks, "_check_both_ways", lambda *_: None)

    def own_spread(bandit, i, c, out):
        for a in range(bandit.actions[i]):
            out[a] = bandit.weight[i, c, a] / total(bandit, i, c)

    kernels.spread.implement(State)(own_spread)
    kernels.chance.implement(State)(chance_of_others)
    with pytest.raises(Violation, match=r"chance of Plain returns .* and spread writes"):
        check_bandit(Plain())


def test_what_the_state_says():
    with pytest.raises(Violation, match="weight does not say which of its axes is the state"):
        check_bandit(Plain(kind=Undeclared))
    with pytest.raises(Violation, match=r"axis . of weight is declared"):
        check_bandit(Plain(kind=Misdeclared))


def test_what_the_bandit_says():
    with pytest.raises(Violation, match="regret of Plain is 'none'"):
        check_bandit(Plain(regret="none"))
    with pytest.raises(Violation, match="is not a bandit"):
        check_bandit(Plain)  # type: ignore[arg-type]
    with pytest.raises(Violation, match="is not a bandit"):
        check_bandit("exp3")  # type: ignore[arg-type]


class Bare(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    actions: Annotated[np.ndarray, "N"]


@kernels.draw.implement(Bare)
def draw_bare(bandit, i, c, u):
    return 0


def test_missing_kernels():
    with pytest.raises(Violation, match=r"chance and spread and feed and restart .* not implemented for Bare"):
        check_bandit(Plain(kind=Bare))


class Greedy(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    seen: Annotated[np.ndarray, "N C"]
    actions: Annotated[np.ndarray, "N"]


class Lost(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]
    seen: Annotated[np.ndarray, "N C"]
    actions: Annotated[np.ndarray, "N"]


for kind, own in ((Greedy, feed_with_a_list), (Lost, feed_what_is_not_there)):
    for word, kernel in {**RIGHT, "feed": own}.items():
        getattr(kernels, word).implement(kind)(kernel)


@dataclass(frozen=True)
class Other(Plain):
    def init(self, cells: kernels.Cells) -> Any:
        return self.kind(*Plain().init(cells))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Greedy, r"Other: test_checks_of_bandits.py:\d+ allocates memory; kernels are plain loops"),
        (Lost, r"Other: test_checks_of_bandits.py:\d+ does not compile: Unknown attribute 'step'"),
    ],
)
def test_what_does_not_compile(kind: type, message: str):
    with pytest.raises(Violation, match=message) as caught:
        check_bandit(Other(kind=kind))
    assert "\n" not in str(caught.value)
