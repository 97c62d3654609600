"""Playing: the fused loop, its sessions, and agents on their own."""

from __future__ import annotations

from tacit.play.learning import learn
from tacit.play.run import Gaps, Run
from tacit.play.solo import Agent, agent

__all__ = ["Agent", "Gaps", "Run", "agent", "learn"]
