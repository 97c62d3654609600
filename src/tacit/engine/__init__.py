"""The engine: one driver for every game, learner and output, and agents on their own."""

from __future__ import annotations

from tacit.engine.agents import Agent, agent
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.events import Advanced, Compiling, Event, Finished, Measured, Noted, Scouted, Started, Watcher
from tacit.engine.run import Candidate, Gaps, Run

__all__ = [
    "Advanced",
    "Agent",
    "Candidate",
    "Checkpoint",
    "Compiling",
    "Event",
    "Finished",
    "Gaps",
    "Measured",
    "Noted",
    "Run",
    "Scouted",
    "Started",
    "Watcher",
    "agent",
]
