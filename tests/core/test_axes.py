"""States grow where they declare to, and nowhere else."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import pytest

import tacit
from tacit.core import axes
from tacit.learners import REGISTRY


class Inner(NamedTuple):
    weight: Annotated[np.ndarray, "N C A"]


class State(NamedTuple):
    upper: Annotated[np.ndarray, "N H+1 S"]
    inner: Inner
    room: Annotated[np.ndarray, "N A"]
    eta: float = 0.5


def made(H: int, S: int, *, copies: int = 2, start: int = 0) -> State:
    """A state whose numbers say where they belong: h·1000 + s·10 + copy."""
    h, s, k = np.meshgrid(np.arange(H), np.arange(S), np.arange(copies), indexing="ij")
    cells = (start + 1000 * h + 10 * s + k).reshape(1, -1, 1).repeat(3, axis=2).astype(float)
    upper = (1000 * np.arange(H + 1)[:, None] + 10 * np.arange(S))[None].astype(float) + start
    return State(upper, Inner(cells), np.zeros((1, 3)))


@pytest.mark.parametrize(("H", "S", "after"), [(1, 1, 4), (2, 2, 4), (3, 2, 5), (2, 4, 8), (4, 2, 3)])
def test_what_was_learned_keeps_its_place(H: int, S: int, after: int):
    """Sizes that could be taken for each other (H = S, H·S = after) do not matter."""
    small, large = made(H, S), made(H, after, start=-500_000)
    axes.transfer(small, large, horizon=H, before=S, after=after)
    whole = made(H, after)
    old = np.arange(after) < S
    assert (large.upper[:, :, old] == whole.upper[:, :, old]).all()
    assert (large.upper[:, :, ~old] == whole.upper[:, :, ~old] - 500_000).all()
    grown, wanted = (x.inner.weight.reshape(H, after, 2, 3) for x in (large, whole))
    assert (grown[:, old] == wanted[:, old]).all()
    assert (grown[:, ~old] == wanted[:, ~old] - 500_000).all()


class Silent(NamedTuple):
    weight: np.ndarray


class Wrong(NamedTuple):
    weight: Annotated[np.ndarray, "N A C"]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Silent, "weight does not say which of its axes is the state; declare them all"),
        (Wrong, "axis 2 of weight is declared C, for 4 of them, and has 3 entries"),
    ],
)
def test_one_clear_sentence(kind: Any, message: str):
    small, large = kind(np.zeros((1, 4, 3))), kind(np.zeros((1, 8, 3)))
    with pytest.raises(tacit.TacitError, match=message):
        axes.transfer(small, large, horizon=2, before=2, after=4)


def test_annotations_that_cannot_be_read():
    class Local(NamedTuple):
        weight: Annotated[Hidden, "N C A"]  # type: ignore[name-defined] # noqa: F821

    with pytest.raises(tacit.TacitError, match="the annotations of Local cannot be read"):
        list(axes.parts(Local(np.zeros(3))))


@pytest.mark.parametrize("name", [name for name in REGISTRY if not REGISTRY.make(name).exact])
def test_every_array_of_every_learner_declares_its_axes(name: str):
    spec = REGISTRY.make(name)
    scale = tacit.kernels.Scale(2, 3, 4, 5, 6)
    world = tacit.kernels.World(3, np.array([2, 4]), 5, (0.0, 1.0), scale)
    for part in axes.parts(spec.init(world)):
        assert len(axes.axes_of(part)) == part.array.ndim
