"""What running elsewhere costs: overhead a job, speed of two workers against one, storing results, compilation.

    python benchmarks/cluster.py                                 # all of it on all engines: about 25 minutes
    python benchmarks/cluster.py --only overhead                 # 1,000 jobs of 10 ms: a minute
    python benchmarks/cluster.py --only scaling --runs 20        # 20 runs of a second instead of 300

Everything that is compared is measured in one run, side by side with a plain `ProcessPoolExecutor`. Overhead is the
time of a worker between two jobs: from the first job's start to the last one's end, times the workers, over the jobs,
less the job itself. So start-up is left out; it is printed beside. The load of the machine is printed too: with other
work on it, only overhead of jobs that sleep means anything.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from cluster_jobs import nap, toil
from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment
from tacit.experiments.backends import choose_backend
from tacit.experiments.runner import Dispatcher
from tacit.experiments.worker import WorkerSetup

#: Clusters must be running: `ray start --head`, `dask scheduler` with workers.
ENGINES = ("processes", "dask:tcp://127.0.0.1:8786", "ray:auto")


def plain(job: Any, count: int, workers: int) -> list[tuple[float, float]]:
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        return list(pool.map(partial(_second, job), range(count)))


def _second(job: Any, item: int) -> Any:
    return job(item, None)


def measured(engine: str, job: Any, count: int, workers: int) -> tuple[float, float]:
    """Return the seconds from the first job's start to the last one's end, and those before and after."""
    began = time.time()
    if engine == "plain pool":
        spans = plain(job, count, workers)
    else:
        dispatcher = Dispatcher(job, range(count))
        dispatcher.dispatch(partial(choose_backend(engine, workers), WorkerSetup.pack(())))
        spans = [span for span in dispatcher.results if isinstance(span, tuple)]
        assert len(spans) == count, dispatcher.results[:3]
    inside = max(end for _, end in spans) - min(start for start, _ in spans)
    return inside, time.time() - began - inside


def overhead(engines: list[str], jobs: int) -> None:
    print(f"\n{jobs} jobs of 10 ms that sleep, on 2 workers\n{'':<12}{'ms a job over':>14}{'start and end, s':>18}")
    for engine in ("plain pool", *engines):
        inside, outside = measured(engine, partial(nap, 0.01), jobs, 2)
        print(f"{engine:<12}{1e3 * (2 * inside / jobs - 0.01):>14.2f}{outside:>18.1f}", flush=True)


def scaling(engines: list[str], runs: int, kind: str) -> None:
    job = partial(nap if kind == "sleep" else toil, 1.0)
    print(f"\n{runs} jobs of 1 s that {kind}: speed of 2 workers over twice that of 1 (start-up left out)")
    for engine in ("plain pool", *engines):
        one, _ = measured(engine, job, runs, 1)
        two, _ = measured(engine, job, runs, 2)
        print(f"{engine:<12}{one / two / 2:>8.3f}   {one:.1f} s, {two:.1f} s", flush=True)


def storing(engines: list[str], runs: int) -> None:
    """Real runs of a few milliseconds, with all their files."""
    learner = LearnerSpec("stage-v-cce", {"bonus": 0.1})
    tiny = Experiment("tiny", 1000, (GameSpec("chicken"),), (learner,), seeds=runs, points=10)
    run_experiment(tiny)  # compile
    print(f"\n{runs} runs of 1000 episodes on 2 workers, stored: ms a run, start-up of the engine included")
    for engine in ("threads", *engines):
        with tempfile.TemporaryDirectory(dir=".") as out:
            began = time.time()
            run_experiment(tiny, out=out, on=engine, workers=2)
            print(f"{engine:<12}{1e3 * (time.time() - began) / runs:>8.1f}", flush=True)


COMPILE = """
import sys, time
import tacit
from tacit.core import compilation
compiled = []
save = compilation.KernelCache.save_overload
compilation.KernelCache.save_overload = lambda self, sig, cres: (compiled.append(1), save(self, sig, cres))[1]
began = time.time()
tacit.learn(tacit.make("good-state"), "stage-v-cce", episodes=10, bonus=0.1)
print(len(compiled), round(time.time() - began, 1))
"""


def compilation() -> None:
    """Start processes at once with an empty cache: one compiles, the others wait and load."""
    print("\ncompilation with an empty cache: kernels compiled, and seconds, of each process")
    for count in (1, 2, 4):
        with tempfile.TemporaryDirectory() as cache:
            env = {**os.environ, "TACIT_CACHE_DIR": cache}
            started = [
                subprocess.Popen([sys.executable, "-c", COMPILE], env=env, stdout=subprocess.PIPE, text=True)
                for _ in range(count)
            ]
            told = [process.communicate()[0].split() for process in started]
            files = len(list(Path(cache).rglob("*.kernel")))
            print(f"{count} processes: " + "; ".join(" ".join(one) for one in told) + f"; {files} files", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["overhead", "scaling", "storing", "compilation"])
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--kind", choices=["sleep", "compute"], default="compute")
    args = parser.parse_args()
    engines = args.engines.split(",")
    print(f"{os.cpu_count()} cores, load {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    if args.only in (None, "overhead"):
        overhead(engines, args.jobs)
    if args.only in (None, "scaling"):
        scaling(engines, args.runs, args.kind)
    if args.only in (None, "storing"):
        storing(engines, args.runs)
    if args.only in (None, "compilation"):
        compilation()
    print(f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())}")


if __name__ == "__main__":
    main()
