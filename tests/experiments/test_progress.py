"""Progress of an experiment: the events of its runs, summed up."""

from __future__ import annotations

from tacit.core import check
from tacit.engine import Advanced, Started
from tacit.experiments import Progress
from tacit.experiments.runner import ProgressWatch
from tacit.options import Options


def test_runs_and_episodes_are_counted():
    heard: list[Progress] = []
    watch = ProgressWatch([Options(100, seed) for seed in range(3)], heard.append)
    watch.began(0)
    watch(0, Started("g", "npg", 0, 100, 80))  # a checkpoint had 80
    watch(0, Advanced(90, 100))
    assert heard[-1] == Progress(done=0, runs=3, episodes=90, total=300, running=1)
    watch.end(0, good=True)
    watch.end(1, good=False)
    assert heard[-1] == Progress(done=1, runs=3, episodes=200, total=300, failed=1)


def test_a_run_that_has_to_begin_again_is_counted_once():
    heard: list[Progress] = []
    watch = ProgressWatch([Options(100, 0)], heard.append)
    watch.began(0)
    watch(0, Advanced(60, 100))
    watch.began(0)  # the first worker died
    assert (heard[-1].episodes, heard[-1].running) == (0, 1)
    watch(0, Started("g", "npg", 0, 100, done=50))
    assert heard[-1].episodes == 50


def test_runs_by_the_clock_have_no_total():
    heard: list[Progress] = []
    watch = ProgressWatch([Options(seconds=10.0)], heard.append)
    watch(0, Advanced(60, check.EPISODES))
    watch.end(0, good=True)
    assert (heard[-1].episodes, heard[-1].total, heard[-1].done) == (60, None, 1)
