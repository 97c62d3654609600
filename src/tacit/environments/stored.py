"""The numbering of a stored run: what each agent had met, in the environment that it is played in again."""

from __future__ import annotations

from typing import Any

from tacit.core.errors import TacitError
from tacit.environments.adapters import environment, name_of
from tacit.environments.observations import Observations, numberings


def numbered(env: Any, met: list[list[Any]]) -> list[Observations]:
    """Return each agent's observations, numbered as they were when the run was stored."""
    found = numberings(environment(env), None, early=False)
    if len(found) != len(met):
        raise TacitError(f"{name_of(env)} has {len(found)} agents, and the run had {len(met)}")
    for own, before in zip(found, met, strict=True):
        if own.numbered and before[: len(own.met)] != own.met:
            raise TacitError(f"{name_of(env)} shows other states than when the run was made")
        own.restore(before)
    return found
