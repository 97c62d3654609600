"""Random streams: one generator for each role, all from one seed.

Role 0 is the environment, role 1 + i agent i. Starting points and sampled outputs have roles of their own. Adding an
agent never shifts another's draws, and drawing one number at a time gives the same numbers as drawing a block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ENVIRONMENT = 0
START = 1 << 20  # plus i: the starting point of agent i
OUTPUT = 1 << 21  # which iterate a learner returns
AFTER = OUTPUT + 1  # the state after the last step, where somebody asks for it
SCOUT = OUTPUT + 2  # actions of episodes that only look at an environment
EPISODES = OUTPUT + 3  # seeds of an environment's episodes
PLAY = OUTPUT + 4  # seeds of episodes that measure a policy
SHUFFLE = 1 << 22  # plus i: in which order agent i's network learns from its steps
CHOICE = OUTPUT + 8  # seeds of play that chooses among a run's candidates


def stream(seed: int, role: int) -> np.random.Generator:
    """Return the generator of a role.

    >>> block = stream(7, 1).random(3); one = stream(7, 1)
    >>> [one.random() for _ in range(3)] == block.tolist()
    True
    """
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(role,))))


def move(generator: np.random.Generator, numbers: int) -> None:
    """Skip so many numbers of a generator, or go back by them."""
    generator.bit_generator.advance(numbers)  # type: ignore[attr-defined]


def seeds(seed: int, role: int, numbers: range) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a seed for each of these consecutive numbers. It depends on nothing but the number.

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
