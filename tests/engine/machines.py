"""Digests of all registered learners, to be compared between this machine and one that can do less.

Run as a script it prints them, in whatever environment it is started.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import conformance as table
import numpy as np

import tacit
from tacit.engine.exact import ExactEngine
from tacit.learners import REGISTRY
from tacit.learners.spec import is_exact

EPISODES = 40

#: Those that play as they come (pg-storm with the theorem's schedule, which takes cube roots), and what they have not.
PLAYING: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in REGISTRY if "tables" not in REGISTRY.make(name).info.needs and name != "ppo"},
    **{name: table.LEARNERS[name] for name in ("stage-v-cce tsallis-inf", "pg-storm own ratio", "npg random start")},
}

#: What is left for the long run: swap regret over bandits that are compared by themselves, gradients that add nothing
#: but a schedule, learners that only add, multiply, divide, compare and take roots, which every machine rounds alike,
#: and large ones whose exponentials and logarithms are those of the others.
LONG = (
    *("adaptive-v-ce", "stage-v-ce", "stage-v-cce tsallis-inf", "pg-sgd", "pg-storm own ratio", "npg random start"),
    *("q-independent", "ucb-independent", "ucb-central", "model-central"),
    *(
        "q-distributed",
        "q-hysteretic",
        "q-phases",
        "q-smoothed",
        "wolf-phc",
        "pg-two-timescale",
        "nash-q",
        "nash-vi",
        "spocmar",
    ),
)

EXACT = [name for name in REGISTRY if is_exact(REGISTRY.make(name))]

#: Tables small enough for NumPy, and large enough for compiled code.
SIZES = {"small": {"states": 4, "actions": 3}, "large": {"states": 60, "actions": 6}}


def playing(name: str) -> str:
    """Learn without anything that watches, which would take the compiler longer than the learner does."""
    kind, params = PLAYING[name]
    spec = REGISTRY.make(kind, **params)
    engine = table.session(table.make_game("chicken"), spec, EPISODES, watched=False, kept=False)
    return table.digest(engine, engine.advance(EPISODES))


def exact(name: str, size: str) -> str:
    game = tacit.make("random-general-sum", **SIZES[size], horizon=3, seed=1)
    engine = ExactEngine(game, REGISTRY.make(name), episodes=3, seed=0)
    values = engine.advance(3)
    return hashlib.sha256(
        b"".join(x.tobytes() for x in (values, np.array(engine.gap), *engine.iterate.probs))
    ).hexdigest()


def digests(long: bool) -> dict[str, str]:
    """Return the digests of the learners of the long run, or of all others."""
    gradients = {f"{name} {size}": exact(name, size) for name in EXACT for size in SIZES}
    played = {name: playing(name) for name in PLAYING if (name in LONG) == long}
    return played if long else {**gradients, **played}


if __name__ == "__main__":
    print(json.dumps(digests(sys.argv[1:] == ["long"])))
