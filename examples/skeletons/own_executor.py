"""A place for runs of your own: every run in a fresh Python, handed over in files, as a queue of a cluster would."""

import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment

#: What the other side does: read a job, do it, write its result. Replace `subprocess.run` below by `sbatch` or `ssh`.
WORKER = """
import pickle, sys
function, args, kwargs = pickle.load(open(sys.argv[1], "rb"))
pickle.dump(function(*args, **kwargs), open(sys.argv[2], "wb"))
"""


class FileExecutor(Executor):
    """Runs jobs elsewhere; a job is a pure function of what it is given, so all it needs is to be carried there."""

    def __init__(self, workers=2):
        self.waiting = ThreadPoolExecutor(workers)  # each thread waits for one job

    def submit(self, fn, /, *args, **kwargs):
        return self.waiting.submit(self.carry, (fn, args, kwargs))

    def carry(self, job):
        with tempfile.TemporaryDirectory() as folder:
            there, back = Path(folder) / "job", Path(folder) / "result"
            there.write_bytes(pickle.dumps(job))
            done = subprocess.run([sys.executable, "-c", WORKER, there, back], capture_output=True, text=True)
            if done.returncode:  # the run is listed as failed with this sentence; the others go on
                raise RuntimeError(done.stderr.strip().splitlines()[-1])
            return pickle.loads(back.read_bytes())

    def shutdown(self, wait=True, *, cancel_futures=False):
        self.waiting.shutdown(wait, cancel_futures=cancel_futures)


if __name__ == "__main__":
    experiment = Experiment("elsewhere", 2000, (GameSpec("chicken"),), (LearnerSpec("q-independent"),), seeds=2)
    with FileExecutor() as executor:
        results = run_experiment(experiment, on=executor)
    for group in results.groups:
        print(f"{group.learner}: {len(group.outcomes)} runs, reward {group.summary()['reward']['mean']:.2f}")
