"""Random streams: one generator for each role, all from one seed.

Role 0 is the environment, role 1 + i agent i. Starting points and sampled outputs have roles of their own. Adding an
agent never shifts another's draws, and drawing one number at a time gives the same numbers as drawing a block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core.types import FloatArray

ENVIRONMENT = 0
START = 1 << 20  # plus i: the starting point of agent i
OUTPUT = 1 << 21  # which iterate a learner returns
AFTER = OUTPUT + 1  # the state after the last step, where somebody asks for it
SCOUT = OUTPUT + 2  # actions of episodes that only look at an environment
EPISODES = OUTPUT + 3  # seeds of an environment's episodes
PLAY = OUTPUT + 4  # seeds of episodes that measure a policy
STARTS = OUTPUT + 5  # seeds of the starts of a run after the first


def stream(seed: int, role: int) -> np.random.Generator:
    """Return the generator of a role.

    >>> block = stream(7, 1).random(3); one = stream(7, 1)
    >>> [one.random() for _ in range(3)] == block.tolist()
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(role,))))


class Rota(NamedTuple):
    """Which of M learners plays which episode: each has `first` in a row, the last learner first, then by turns.

    >>> rota = Rota(2, 3)
    >>> [rota.whose(k) for k in range(10)], [rota.number(k) for k in range(10)]
    ([1, 1, 1, 0, 0, 0, 0, 1, 0, 1], [0, 1, 2, 0, 1, 2, 3, 3, 4, 4])
    >>> all(rota.find(rota.whose(k), rota.number(k)) == k for k in range(10)), rota.share(0, 5), rota.share(1, 5)
    (True, 2, 3)
    """

    learners: int = 1
    first: int = 0

    def whose(self, episode: int) -> int:
        """Return the learner of an episode."""
        if episode < self.learners * self.first:
            return self.learners - 1 - episode // self.first
        return episode % self.learners

    def number(self, episode: int) -> int:
        """Return how many episodes its learner had before an episode."""
        return episode % self.first if episode < self.learners * self.first else episode // self.learners

    def find(self, learner: int, number: int) -> int:
        """Return the episode before which a learner had so many."""
        if number < self.first:
            return (self.learners - 1 - learner) * self.first + number
        return number * self.learners + learner

    def share(self, learner: int, done: int) -> int:
        """Return how many of the first `done` episodes are a learner's."""
        if done < self.learners * self.first:
            return min(max(done - self.find(learner, 0), 0), self.first)
        return (done + self.learners - 1 - learner) // self.learners


#: One learner has all episodes.
ALONE = Rota()


def fill(generator: np.random.Generator, out: FloatArray, *, first: int, rota: Rota = ALONE) -> None:
    """Draw the numbers of the episodes from number `first` on into `out` [episodes, H].

    Where learners take turns, each has the numbers that it would have alone. The generator always stands before those
    of the next episode.

    >>> import numpy as np
    >>> source, out, rota = stream(7, 1), np.empty((7, 2)), Rota(2, 2)
    >>> fill(source, out[:3], first=0, rota=rota); fill(source, out[3:], first=3, rota=rota)
    >>> alone = stream(7, 1).random((4, 2))
    >>> (out[[2, 3, 4, 6]] == alone).all(), (out[[0, 1, 5]] == alone[:3]).all()
    (np.True_, np.True_)
    """
    if rota.learners == 1 or len(out) == 0:
        generator.random(out=out)
        return
    numbers = np.array([rota.number(k) for k in range(first, first + len(out) + 1)])
    least, most, steps = int(numbers[:-1].min()), int(numbers[:-1].max()), out.shape[1]
    move(generator, (least - int(numbers[0])) * steps)
    out[:] = generator.random((most + 1 - least, steps))[numbers[:-1] - least]
    move(generator, (int(numbers[-1]) - most - 1) * steps)


def move(generator: np.random.Generator, numbers: int) -> None:
    """Skip so many numbers of a generator, or go back by them."""
    generator.bit_generator.advance(numbers)  # type: ignore[attr-defined]


def seeds(seed: int, role: int, numbers: range) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a seed for each of these consecutive numbers; it depends on nothing but the number.

    >>> seeds(7, PLAY, range(10))[4:6].tolist() == seeds(7, PLAY, range(4, 6)).tolist()
    True
    """
    source = stream(seed, role)
    source.bit_generator.advance(numbers.start)  # type: ignore[attr-defined]
    return (source.random(len(numbers)) * 2**31).astype(np.int64)


def check_state(generator: np.random.Generator, state: Any) -> None:
    """Raise ValueError, TypeError, KeyError or OverflowError unless `generator` can have come to this state."""
    inner = generator.bit_generator
    np.random.PCG64().state = state
    if state["state"]["inc"] != inner.state["state"]["inc"]:
        raise ValueError("a random stream is of another seed")


def agent_role(i: int) -> int:
    """Return the role of agent i."""
    return 1 + i
