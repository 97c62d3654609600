"""Arrays of records: fields as attributes in both modes, and all that is read from their types and shapes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import tacit
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError
from tacit.core.records import capacity, columns, parts, record, records, transfer
from tacit.engine import loop
from tacit.engine.fused import FusedEngine
from tacit.learners import REGISTRY
from tacit.learners.spec import world_of

INNER = record([("weight", "f8", 4), ("mean", "f8"), ("round", "i8")])  # methods of NumPy's scalars do no harm


class State(NamedTuple):
    cells: Any
    agents: Any
    scratch: Any
    actions: np.ndarray


def made(states: int = 2) -> State:
    cells = records((3, states, 2), [("own", INNER), ("visits", "i8"), ("copies", INNER, 3)])
    actions = np.array([2, 3])
    actions.flags.writeable = False
    return State(cells, records((2,), [("total", "f8")]), (np.zeros(2),), actions)


def work(state, h, s, i):
    cell = state.cells[h, s, i]
    cell.visits += 2
    cell.own.weight[1] = 0.5
    cell.own.mean -= 0.25
    copy = cell.copies[2]
    copy.round = cell.visits + 1
    copy.weight[3] += cell.own.weight[1]
    state.agents[i].total += cell.own.mean
    return copy.round


def test_compiled_and_interpreted_write_the_same_bytes():
    one, other = made(), made()
    assert work(one, 2, 1, 0) == compile_loop(work, other)(other, 2, 1, 0) == 3
    assert (one.cells.tobytes(), one.agents.tobytes()) == (other.cells.tobytes(), other.agents.tobytes())
    assert np.count_nonzero(one.cells["visits"]) == 1
    assert one.cells[2, 1, 0].own.mean == one.agents[0].total == -0.25
    with pytest.raises(AttributeError):
        _ = one.cells[0, 0, 0].nothing


def test_what_a_state_remembers():
    state = made()
    assert [path for path, _ in parts(state)] == ["cells", "agents"]
    found = dict(columns(state.cells, "cells"))
    assert found["cells.copies.weight"].shape == (3, 2, 2, 3, 4)
    found["cells.copies.mean"][2, 1, 0, 2] = 7.0
    assert state.cells[2, 1, 0].copies[2].mean == 7.0


def test_more_states():
    old, new = made(2), made(5)
    work(old, 1, 1, 1)
    transfer(old, new)
    assert new.cells[:, :2].tobytes() == old.cells.tobytes()
    assert new.agents.tobytes() == old.agents.tobytes()
    assert not new.cells["visits"][:, 2:].any()
    transfer(old, new._replace(scratch=(np.zeros(5),)))  # in which nothing is remembered
    with pytest.raises(tacit.TacitError, match=r"agents has the shape \(2,\), and \(1,\) with more states"):
        transfer(old, new._replace(agents=new.agents[:1]))


def test_capacities_come_in_classes():
    """So a loop is compiled once for 2, 3 and 4 actions."""
    kinds = {}
    for actions in (2, 3, 4, 5, 8):
        game = tacit.make("random-general-sum", states=2, actions=actions, horizon=2, seed=0)
        spec = REGISTRY.make("stage-v-ce")
        kinds[actions] = spec.init(world_of(spec, game, episodes=1, seed=0)).cells.dtype
    assert kinds[2] == kinds[3] == kinds[4] != kinds[5] == kinds[8]
    assert [capacity(actions) for actions in (1, 4, 5, 9, 129)] == [4, 4, 8, 16, 256]


def test_a_state_that_does_not_fit_into_memory():
    with pytest.raises(tacit.TacitError, match="the state of the learners would take"):
        records((10**6, 10**6, 10**3), [("value", "f8", 4)])


def test_the_interpreted_loop_gives_the_same_records():
    game = tacit.make("random-general-sum", agents=2, states=3, actions=2, horizon=4, seed=1)
    spec = REGISTRY.make("stage-v-cce", bonus=0.1, iota=1.0)
    ours, plain = (FusedEngine(game, spec, episodes=100, seed=3) for _ in range(2))
    plain._loop = loop.episodes
    np.testing.assert_array_equal(ours.advance(100), plain.advance(100))
    assert ours.state.cells.tobytes() == plain.state.cells.tobytes()


@pytest.mark.parametrize(
    "call",
    [
        lambda bad: capacity(bad),
        lambda bad: record(bad),
        lambda bad: records(bad, [("visits", "i8")]),
        lambda bad: records((1, 1), bad),
    ],
)
@pytest.mark.parametrize("bad", ["x", None, np.zeros(2), {1: 2}])
def test_wrong_shapes_and_fields_are_refused_in_a_sentence(call: Any, bad: object):
    with pytest.raises(TacitError, match="must be"):
        call(bad)
