"""What the dispatcher makes of messages as they come: timeouts count from when a worker is ready, and none is lost."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tacit.engine import Event, Noted
from tacit.experiments.backends import Backend, Began, Ended, Key, Message
from tacit.experiments.runner import Dispatcher, Failure


class Script(Backend):
    """Says what is written, each at its time, in seconds after the job was handed over."""

    def __init__(self, lines: list[tuple[float, Message]]) -> None:
        super().__init__(1)
        self.lines, self.killed = lines, False

    def start(self, key: Key, parcel: Any) -> None:
        self.key, self.began = key, time.monotonic()

    def receive(self, timeout: float) -> list[tuple[Key, Message]]:
        time.sleep(0.01)
        found: list[tuple[Key, Message]] = []
        while self.lines and time.monotonic() > self.began + self.lines[0][0]:
            found.append((self.key, self.lines.pop(0)[1]))
        return found

    def kill(self, key: Key) -> None:
        self.killed = True

    def stop(self) -> None:
        pass


def ended(lines: list[tuple[float, Message]], timeout: float) -> tuple[Any, bool]:
    place = Script(lines)
    jobs = Dispatcher(None, [None], timeout)
    jobs.dispatch(lambda: place)
    return jobs.results[0], place.killed


def test_time_that_a_worker_takes_to_get_ready_does_not_count():
    assert ended([(0.6, Began("a")), (0.6, Ended(7))], timeout=0.2) == (7, False)


def test_a_job_that_hangs_is_ended():
    result, killed = ended([(0, Began("a"))], timeout=0.2)
    assert isinstance(result, Failure)
    assert (result.sentence, killed) == ("it ran for more than 0.2 s, the timeout", True)


def test_a_watcher_that_interrupts_loses_no_message_that_came_with_its_event():
    """Event and result come at once; were the result lost, this would wait for it without end."""

    class Interrupting(Dispatcher):
        def event(self, k: int, event: Event) -> None:
            raise KeyboardInterrupt

    place = Script([(0, Began("a")), (0, Noted("one")), (0, Noted("two")), (0, Ended(7))])
    with pytest.raises(KeyboardInterrupt):  # the second one, of a watcher that does not let go
        Interrupting(None, [None]).dispatch(lambda: place)
    place = Script([(0, Began("a")), (0, Noted("one")), (0, Ended(7))])
    jobs = Interrupting(None, [None])
    jobs.dispatch(lambda: place)
    assert (jobs.results, jobs.interrupted) == ([7], True)
