"""States of what agents are shown: the quick way gives the numbers and the refusals of the careful one."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete, MultiDiscrete

import tacit
from tacit.environments.observations import Numbering, Observations
from tacit.environments.play import EpisodePlayers


def observers(space: object, count: int = 2) -> list[Observations]:
    numbered = isinstance(space, Discrete)
    return [Observations(space, None, f"agent {i}", numbered=numbered) for i in range(count)]


def read(seen: Numbering, shown: list[object]) -> list[int]:
    out = np.full(len(shown), -1)
    seen.put(shown, out)
    return out.tolist()


def test_arrays_get_the_same_numbers_quickly():
    rng = np.random.default_rng(0)
    quick, slow = Numbering(observers(MultiDiscrete([3, 2]))), Numbering(observers(MultiDiscrete([3, 2])))
    for _ in range(50):
        shown = [rng.integers([3, 2]) for _ in range(2)]
        assert read(quick, shown) == slow.read(shown, None)
        assert quick.same == slow.same
    assert len(quick.known([np.array([1, 1]), np.array([0, 1])])) == 2
    assert not quick.same


def test_other_bytes_of_the_same_numbers_are_the_same_state():
    seen = Numbering(observers(Box(0, 9, (2,), dtype=np.int64)))
    first = read(seen, [np.array([1, 0]), np.array([1, 0])])
    assert read(seen, [np.array([1, 0], dtype=np.int8), [1, 0]]) == first
    assert read(seen, [np.array([[1, 0], [5, 5]])[0], np.array([[1, 5], [0, 5]])[:, 0]]) == first  # not contiguous
    assert seen.same
    read(seen, [np.array([1, 0]), np.array([2, 0])])
    assert not seen.same


@pytest.mark.parametrize(
    ("space", "good", "bad"),
    [
        (MultiDiscrete([3, 2]), np.array([2, 1]), np.array([2, 2])),
        (MultiDiscrete([3, 2]), np.array([1, 0]), np.array([1])),
        (Box(0, 3, (1,), dtype=np.int64), np.array([3]), np.array([1, 0], dtype=np.int32)),
        (Discrete(3), 2, 3),
        (Discrete(3), 2, -1),
        (Discrete(3, start=5), 7, 4),
        (Discrete(3), 2, 1.5),
    ],
)
def test_what_is_in_no_space_is_told_after_many_good_ones(space: object, good: object, bad: object):
    seen = Numbering(observers(space))
    seen.read([good, good], [True, False])  # so that "over" is a state
    for _ in range(3):
        read(seen, [good, good])
    for shown in ([good, bad], [bad, good]):
        with pytest.raises(tacit.TacitError, match="observed"):
            read(seen, shown)


def test_numbers_of_a_space_that_begins_elsewhere():
    seen = Numbering(observers(Discrete(3, start=5)))
    assert not seen.plain
    assert seen.known([6, np.int64(6)]) == [1, 1]
    assert seen.states([7, 5], None) == [2, 0]
    assert not seen.same


def test_numbers_given_back_are_those_in_force():
    own = observers(MultiDiscrete([3, 2]), 1)
    seen = Numbering(own)
    for array in ([0, 0], [1, 1]):
        read(seen, [np.array(array)])
    own[0].restore([(1, 1), (0, 0)])
    assert read(seen, [np.array([1, 1])]) == [0]


@pytest.mark.parametrize("steps", [1, 6])
def test_tables_are_played_as_their_parts_play_them(steps):
    """Some rows are deterministic, and one state is unknown: the draws are those of the part all the same."""
    rng = np.random.default_rng(0)
    table = rng.dirichlet(np.ones(3), size=(steps, 5))
    table[:, ::2] = np.eye(3)[rng.integers(3, size=(steps, 3))]
    policy = tacit.MarkovPolicy([table, table])
    slow, quick = [policy.part(i) for i in range(2)], EpisodePlayers(policy, [3, 3], 6)
    for seed in range(20):
        quick.begin(seed)
        for part in slow:
            part.begin(seed)
        for h in range(6):
            states = rng.integers(6, size=2).tolist()
            expected = [part.act(h, s) if s < 5 else part.stray(h) for part, s in zip(slow, states, strict=True)]
            assert quick.act(h, states, [None] * 2, [None] * 2) == expected
    assert quick.lost > 0
