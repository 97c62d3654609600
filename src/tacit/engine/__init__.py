"""The engine: one driver for every game, learner and output, and agents on their own."""

from __future__ import annotations

from tacit.engine.agents import Agent, agent
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced, Event, Finished, Measured, Noted, Started, Watcher
from tacit.engine.run import Candidate, Gaps, Run

__all__ = [
    "Advanced",
    "Agent",
    "Candidate",
    "Checkpoint",
    "Event",
    "Finished",
    "Gaps",
    "Measured",
    "Noted",
    "Run",
    "Started",
    "Watcher",
    "agent",
]
