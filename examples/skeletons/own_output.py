"""An output of your own: how fair the agents' current policies are, measured while they learn."""

from dataclasses import dataclass

import numpy as np

import tacit
from tacit.engine import outputs
from tacit.learners import Info


class FairOutput(outputs.MarkovOutput):  # derive from one that is there, or write all of kernels.Output
    def measure(self, engine, done):
        """Return what a row of the curve shows besides rewards: a number, or one for each agent."""
        found = super().measure(engine, done)
        value = np.asarray(found["value"])
        return {**found, "worst_off": float(value.min()), "spread": float(np.ptp(value))}

    def result(self, engine, done):
        """Return the candidates that a run can answer with, by name, and which of them is `run.policy`."""
        return super().result(engine, done)


outputs.REGISTRY.add("fair", FairOutput)  # a package would use the entry point group tacit.outputs


@dataclass(frozen=True)
class FairQ(tacit.learners.QIndependent):  # a learner names the output in its info
    """Independent Q-learning that is judged by how fair it is."""

    @property
    def info(self):
        return Info(returns="fair")


if __name__ == "__main__":
    run = tacit.learn(tacit.make("battle-of-the-sexes"), FairQ(), episodes=5000, points=5)
    for row in run.curve:
        print(f"{row['episode']:5d} episodes: the worse off gets {row['worst_off']:.2f}, {row['spread']:.2f} less")
