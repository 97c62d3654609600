"""What a run yields: one file for each kind of output, and its name here.

A learner states its output by name. A new one is a file with a class as in `engine/drive.py` and a line in the
table below, or an entry point of the group `tacit.outputs`; it is made with (game, learner, options).
"""

from __future__ import annotations

from tacit.core.registry import Registry
from tacit.engine.drive import Output
from tacit.engine.outputs.markov import MarkovOutput
from tacit.engine.outputs.recorded import RecordedOutput

REGISTRY: Registry[Output] = Registry("output")
REGISTRY.add("certified", RecordedOutput)
REGISTRY.add("last", MarkovOutput)
REGISTRY.add("average", MarkovOutput)

__all__ = ["REGISTRY", "MarkovOutput", "Output", "RecordedOutput"]
