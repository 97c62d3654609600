"""Each way in which a bandit can be wrong is found, and told in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tacit import kernels
from tacit.testing import Violation, check_bandit, checks


class Params(NamedTuple):
    share: float
    scratch: np.ndarray


@dataclass(frozen=True)
class Plain(kernels.Bandit):
    """Multiplies the weight of what was played: right, unless a kernel is replaced."""

    kind: Any = Params
    regret: Any = "external"

    def fields(self, actions: int) -> Any:
        return [("weight", "f8", actions), ("seen", "i8"), ("actions", "i8")]

    def init(self, cells: Any, setting: kernels.Setting) -> Any:
        cells["weight"] = 1.0
        cells["actions"] = setting.actions
        return self.kind(0.1, np.zeros(1))


@kernels.jitable
def total(cell):
    found = 0.0
    for a in range(cell.actions):
        found += cell.weight[a]
    return found


def prob(bandit, cell, a):
    return cell.weight[a] / total(cell)


def probs(bandit, cell, out):
    for a in range(cell.actions):
        out[a] = kernels.prob(bandit, cell, a)


def draw(bandit, cell, u):
    for a in range(cell.actions):
        u -= kernels.prob(bandit, cell, a)
        if u < 0.0:
            return a
    return cell.actions - 1


def update(bandit, cell, a, loss, prob):
    cell.seen += 1
    cell.weight[a] *= 1.0 - bandit.share * loss
    whole = total(cell)
    for b in range(cell.actions):
        cell.weight[b] = cell.weight[b] / whole + 0.001


def restart(bandit, cell, rounds):
    cell.seen = 0
    for a in range(cell.actions):
        cell.weight[a] = 1.0


RIGHT = {"prob": prob, "probs": probs, "draw": draw, "update": update, "restart": restart}


@pytest.fixture(autouse=True)
def right_kernels():
    for name, kernel in RIGHT.items():
        getattr(kernels, name).implement(Params)(kernel)


def test_the_right_one_passes():
    check_bandit(Plain())


def chance_of_others(bandit, cell, a):
    return 1.0 / cell.actions


def chance_without_a_sum(bandit, cell, a):
    return cell.weight[a]


def negative_spread(bandit, cell, out):
    for a in range(cell.actions):
        out[a] = 0.0
    out[0], out[1] = 1.5, -0.5


def wide_spread(bandit, cell, out):
    for a in range(len(out)):
        out[a] = 1.0 / cell.actions


def draw_beyond(bandit, cell, u):
    return int(u * (cell.actions + 1))


def draw_evenly(bandit, cell, u):
    return int(u * cell.actions)


def draw_that_learns(bandit, cell, u):
    cell.weight[0] *= 1.001
    return int(u * cell.actions)


def feed_outside(bandit, cell, a, loss, prob):
    bandit.scratch[0] += loss
    cell.weight[a] *= 1.0 - 0.01 * bandit.scratch[0] / (1.0 + bandit.scratch[0])


def restart_half(bandit, cell, rounds):
    cell.weight[0] = 1.0


def feed_with_a_list(bandit, cell, a, loss, prob):
    losses = [loss, loss]
    cell.weight[a] *= 1.0 - 0.1 * losses[a % 2]


def feed_what_is_not_there(bandit, cell, a, loss, prob):
    if loss > 2.0:
        cell.weight[a] *= bandit.step


BROKEN: list[tuple[str, Callable[..., Any], str]] = [
    ("prob", chance_without_a_sum, "with the sum"),
    ("probs", negative_spread, "it must be a distribution"),
    ("probs", wide_spread, "writes more than the actions"),
    ("draw", draw_beyond, r"draw of Plain returned \[.\]; agent"),
    ("draw", draw_evenly, "does not draw from probs: . was drawn"),
    ("draw", draw_that_learns, "draw or probs of Plain changes the cell; weight differs"),
    ("update", feed_outside, "update of Plain remembers something outside its cell; weight differs"),
    ("restart", restart_half, "remembers something after restart"),
]


@pytest.mark.parametrize(("name", "kernel", "message"), BROKEN, ids=[kernel.__name__ for _, kernel, _ in BROKEN])
def test_a_broken_kernel(name: str, kernel: Callable[..., Any], message: str, monkeypatch: pytest.MonkeyPatch):
    """All of these are found by the interpreted rounds, before anything is compiled."""
    monkeypatch.setattr(checks, "_check_both_ways", lambda *_: None)
    getattr(kernels, name).implement(Params)(kernel)
    with pytest.raises(Violation, match=message) as caught:
        check_bandit(Plain())
    assert "\n" not in str(caught.value)


def test_chance_that_is_not_spread(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(checks, "_check_both_ways", lambda *_: None)

    def own_spread(bandit, cell, out):
        for a in range(cell.actions):
            out[a] = cell.weight[a] / total(cell)

    kernels.probs.implement(Params)(own_spread)
    kernels.prob.implement(Params)(chance_of_others)
    with pytest.raises(Violation, match=r"prob of Plain returns .* and probs writes"):
        check_bandit(Plain())


def test_what_the_bandit_says():
    with pytest.raises(Violation, match="regret of Plain must be"):
        check_bandit(Plain(regret="none"))
    with pytest.raises(Violation, match="is not a bandit"):
        check_bandit(Plain)  # type: ignore[arg-type]
    with pytest.raises(Violation, match="is not a bandit"):
        check_bandit("exp3")  # type: ignore[arg-type]


class Bare(NamedTuple):
    share: float
    scratch: np.ndarray


@kernels.draw.implement(Bare)
def draw_bare(bandit, cell, u):
    return 0


def test_missing_kernels():
    with pytest.raises(Violation, match=r"prob and probs and update and restart .* not implemented for Bare"):
        check_bandit(Plain(kind=Bare))


class Greedy(NamedTuple):
    share: float
    scratch: np.ndarray


class Lost(NamedTuple):
    share: float
    scratch: np.ndarray


for kind, own in ((Greedy, feed_with_a_list), (Lost, feed_what_is_not_there)):
    for word, kernel in {**RIGHT, "update": own}.items():
        getattr(kernels, word).implement(kind)(kernel)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Greedy, r"Plain: test_checks_of_bandits.py:\d+ does not compile: it allocates memory"),
        (Lost, r"Plain: test_checks_of_bandits.py:\d+ does not compile: Unknown attribute 'step'"),
    ],
)
def test_what_does_not_compile(kind: type, message: str):
    with pytest.raises(Violation, match=message) as caught:
        check_bandit(Plain(kind=kind))
    assert "\n" not in str(caught.value)
