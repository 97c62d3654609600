"""Progress of an experiment: the events of its runs, summed up."""

from __future__ import annotations

from typing import Any

from tacit.core import check
from tacit.engine import Advanced, Started
from tacit.experiments import Experiment, Progress
from tacit.experiments.runner import ExperimentRunner, Failure
from tacit.experiments.spec import plan


def watched(seeds: int, **options: Any) -> tuple[ExperimentRunner, list[Progress]]:
    heard: list[Progress] = []
    specs = plan(Experiment("e", games="chicken", learners="npg", seeds=seeds, **options), keep=False)
    return ExperimentRunner(specs, None, heard.append, None, every=30.0, timeout=None), heard


def test_runs_and_episodes_are_counted():
    runner, heard = watched(3, episodes=100)
    runner.began(0)
    runner.event(0, Started("g", "npg", 0, 100, 80))  # a checkpoint had 80
    runner.event(0, Advanced(90, 100))
    assert heard[-1] == Progress(done=0, runs=3, episodes=90, total=300, running=1)
    runner._count(0, runner._done)
    runner.end(1, Failure("no"))
    assert heard[-1] == Progress(done=1, runs=3, episodes=200, total=300, failed=1)


def test_a_run_that_has_to_begin_again_is_counted_once():
    runner, heard = watched(1, episodes=100)
    runner.began(0)
    runner.event(0, Advanced(60, 100))
    runner.began(0)  # the first worker died
    assert (heard[-1].episodes, heard[-1].running) == (0, 1)
    runner.event(0, Started("g", "npg", 0, 100, done=50))
    assert heard[-1].episodes == 50


def test_runs_by_the_clock_have_no_total():
    runner, heard = watched(1, seconds=10.0)
    runner.event(0, Advanced(60, check.EPISODES))
    runner._count(0, runner._done)
    assert (heard[-1].episodes, heard[-1].total, heard[-1].done) == (60, None, 1)
