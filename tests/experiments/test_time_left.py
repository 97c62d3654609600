"""The time left comes from each game's own rate, by a clock of the test's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tacit.core import check
from tacit.engine import Advanced, Finished, Started
from tacit.experiments import GameSpec, LearnerSpec, Progress, RunSpec
from tacit.experiments.progress import ProgressWatch
from tacit.experiments.runner import _probes_first
from tacit.options import Options


def spec(game: str, seed: int) -> RunSpec:
    return RunSpec(GameSpec(game), LearnerSpec("npg"), game, Options(100, seed, points=10, keep=False))


class Bench:
    def __init__(self, runs: list[RunSpec]) -> None:
        self.now, self.seen = 0.0, list[Progress]()
        each = [(one.game.name, one.options) for one in runs]
        self.watch = ProgressWatch(each, self.seen.append, clock=lambda: self.now)

    def play(self, k: int, seconds: float) -> None:
        self.watch.began(k, "node1:7")
        self.watch(k, Started("g", "npg", 0, 100))
        self.now += seconds
        self.watch(k, Advanced(100, 100))
        self.watch(k, Finished(100, "episodes"))
        self.watch.end(k, True)


def test_a_slow_game_counts_by_its_own_rate():
    runs = [spec("fast", 0), spec("slow", 0), spec("fast", 1), spec("slow", 1)]
    bench = Bench(runs)
    bench.play(0, 1.0)
    assert bench.seen[-1].left == pytest.approx(1.0)  # of the fast one; nothing is known of the slow
    assert bench.seen[-1].unknown == 1
    bench.play(1, 60.0)
    assert bench.seen[-1].left == pytest.approx(61.0)
    assert bench.seen[-1].unknown == 0
    bench.watch.began(2, "node1:7")
    bench.watch.began(3, "node2:8")
    assert bench.seen[-1].running == {"node1": 1, "node2": 1}
    assert bench.seen[-1].left == pytest.approx(60.0)  # the longer one decides
    bench.watch.end(2, True)
    bench.watch.end(3, False)
    last = bench.seen[-1]
    assert (last.done, last.failed, last.episodes, last.total, last.left) == (3, 1, 400, 400, 0.0)


def test_a_run_that_has_to_begin_again_is_counted_once():
    bench = Bench([spec("g", 0)])
    bench.watch.began(0, "a:1")
    bench.watch(0, Started("g", "npg", 0, 100))
    bench.now += 3.0
    bench.watch(0, Advanced(60, 100))
    bench.watch.began(0, "b:2")  # the first worker died
    assert (bench.seen[-1].episodes, bench.seen[-1].running) == (0, {"b": 1})
    assert bench.seen[-1].left == pytest.approx(5.0)
    bench.watch(0, Started("g", "npg", 0, 100, done=50))
    assert bench.seen[-1].left == pytest.approx(2.5)


def test_the_first_run_of_each_game_goes_first():
    runs = [spec(game, seed) for game in ("a", "b") for seed in range(3)]
    order = [(one.game.name, one.seed) for one in _probes_first(runs)]
    assert order == [("a", 0), ("b", 0), ("a", 1), ("a", 2), ("b", 1), ("b", 2)]


def test_runs_by_the_clock_are_as_far_as_their_time():
    each = [replace(spec("g", seed), options=Options(seed=seed, seconds=10.0)) for seed in range(2)]
    bench = Bench(each)
    bench.watch.began(0, "a:1")
    bench.watch(0, Started("g", "npg", 0, check.EPISODES))
    bench.now += 4.0
    bench.watch(0, Advanced(60, check.EPISODES))
    assert bench.seen[-1].total is None
    assert bench.seen[-1].share == pytest.approx(0.2)
    bench.now += 60.0
    bench.watch(0, Advanced(70, check.EPISODES))
    assert bench.seen[-1].share == pytest.approx(0.5)  # it is about to end
    bench.watch.end(0, True)
    bench.watch.end(1, True)
    assert bench.seen[-1].share == 1.0
