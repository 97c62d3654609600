"""The one table of learners, bandits and games, and what two ways of running them are compared by.

Run as a script it prints the digests of learners on all games: so the interpreted mode is compared with the
compiled one.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np

import tacit
from tacit.core.streams import stream
from tacit.engine.drive import Nothing
from tacit.engine.fused import FusedEngine
from tacit.engine.recorded import record
from tacit.evaluation.certificate import certificate
from tacit.learners import REGISTRY, Learner
from tacit.learners.spec import world_of

BONUS = 0.01  # small enough that values leave their caps within a few dozen episodes


def _small_bonus(name: str) -> dict[str, Any]:
    return {"bonus": BONUS} if "bonus" in REGISTRY.parameters(name) else {}


def _is_certified(name: str) -> bool:
    info = REGISTRY.make(name).info
    return info.returns == "certified" and "tables" not in info.needs


#: Every registered learner with a certified output as it comes, and with the other bandits that it can have.
CERTIFIED: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, _small_bonus(name)) for name in REGISTRY if _is_certified(name)},
    "adaptive-v-cce fixed step": ("adaptive-v-cce", {"step": 2.0, "memory": 0.0, "optimism": 0.0}),
    "adaptive-v-cce shared": ("adaptive-v-cce", {"steps": "shared"}),
    "v-learning ce": ("v-learning", {"equilibrium": "ce", "bonus": BONUS}),
    "stage-v-cce tsallis-inf": ("stage-v-cce", {"bandit": "tsallis-inf", "bonus": BONUS}),
    "stage-v-ce tsallis-inf": ("stage-v-ce", {"bandit": "tsallis-inf", "bonus": BONUS}),
}

#: Those that play and whose iterates are Markov policies. The theorem's schedule of pg-storm is not among them: its
#: constants know the number of agents, which an agent on its own does not.
GRADIENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pg-storm": ("pg-storm", {"eta": 1e-3, "exploration": 0.05}),
    "pg-storm own ratio": ("pg-storm", {"eta": 1e-3, "momentum": 0.1, "own_ratio": True, "exploration": 0.02}),
    "pg-storm random start": ("pg-storm", {"eta": 1e-3, "start": "random"}),
    "pg-sgd": ("pg-sgd", {"eta": 1e-3}),
    "pg-adaptive": ("pg-adaptive", {}),
    "pg-adaptive random start": ("pg-adaptive", {"eta": 0.5, "leniency": 0.3, "exploration": 0.0, "start": "random"}),
    "npg sampled": ("npg", {"gradient": "sampled", "eta": 0.01}),
    "npg random start": ("npg", {"gradient": "sampled", "eta": 0.01, "start": "random"}),
}

#: The others that each agent can run alone.
BENCHMARKS: dict[str, tuple[str, dict[str, Any]]] = {
    "model-independent": ("model-independent", {}),
    "ucb-independent": ("ucb-independent", {"bonus": 0.1, "reference": 20}),
    "q-independent": ("q-independent", {}),
    "q-backward": ("q-backward", {"fall": 20.0}),
}

#: Published algorithms to compare with.
PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "q-distributed": ("q-distributed", {}),
    "q-hysteretic": ("q-hysteretic", {"leniency": 50.0}),
    "q-phases": ("q-phases", {"phase": 7, "aspiration": 3}),
    "q-smoothed": ("q-smoothed", {}),
    "wolf-phc": ("wolf-phc", {}),
    "ogda": ("ogda", {"gradient": "sampled", "batch": 3}),
    "pg-q": ("pg-q", {"gradient": "sampled", "batch": 3}),
    "spocmar": ("spocmar", {"rounds": 4, "visits": 3, "memory": 6, "stages": 3}),
    "pg-two-timescale": ("pg-two-timescale", {"eta": 0.01}),
}

LEARNERS = {**CERTIFIED, **GRADIENTS, **BENCHMARKS, **PUBLISHED}

#: Two agents each: loops are compiled once for every number of agents, which no learner's kernel depends on. Three, of
#: different sizes, are what `check_learner` plays.
GAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "good-state": ("good-state", {"horizon": 5}),
    "matrix-team": ("matrix-team", {}),
    "uneven": ("random-general-sum", {"actions": [2, 3], "states": 3, "horizon": 3, "seed": 4}),
    "box-pushing": ("box-pushing", {"horizon": 4}),
    "chicken": ("chicken", {"horizon": 3}),
}

THREE_AGENTS = ("random-general-sum", {"agents": 3, "actions": [2, 3, 2], "states": 3, "horizon": 3, "seed": 4})

SEED = 11


def make_game(name: str) -> tacit.TabularGame:
    kind, params = THREE_AGENTS if name == "three agents" else GAMES[name]
    return tacit.make(kind, **params)


def make_learner(name: str, **params: Any) -> Learner:
    kind, own = LEARNERS[name]
    return REGISTRY.make(kind, **own, **params)


def session(
    game: tacit.TabularGame, spec: Learner, episodes: int, *, seed: int = SEED, watched: bool = True, kept: bool = True
) -> FusedEngine:
    """Make a session, with certificate and record unless they are declined or the learner has none."""
    certified = spec.info.returns == "certified"
    return FusedEngine(
        game,
        spec,
        episodes=episodes,
        seed=seed,
        certificate=certificate(game, spec.info.learns) if watched and certified else Nothing(),
        record=record(game, episodes) if kept and certified else Nothing(),
    )


def fused(game: tacit.TabularGame, spec: Learner, episodes: int, *, seed: int = SEED) -> tuple[FusedEngine, np.ndarray]:
    """Run the fused loop with certificate and record."""
    one = session(game, spec, episodes, seed=seed)
    return one, one.advance(episodes)


def iota_of(game: tacit.TabularGame, spec: Learner, episodes: int) -> float:
    world = world_of(spec, game, episodes=episodes, seed=0)
    return float(spec.log_factor(world)) if hasattr(spec, "log_factor") else 0.0  # of those with a theory


def apart(
    game: tacit.TabularGame, name: str, iota: float, episodes: int, *, seed: int = SEED
) -> tuple[list[tacit.Agent], np.ndarray]:
    """Run agents that know nothing of each other in a plain loop, with the environment's own stream."""
    kind, params = LEARNERS[name]
    known: dict[str, Any] = {"iota": iota} if "iota" in REGISTRY.parameters(kind) and name in CERTIFIED else {}
    agents = [
        tacit.agent(
            kind,
            states=game.states,
            actions=game.actions[i],
            horizon=game.horizon,
            reward_range=game.reward_range,
            seed=seed,
            index=i,
            **known,
            **params,
        )
        for i in range(game.agents)
    ]
    world = stream(seed, 0).random((episodes, game.horizon))
    returns = np.zeros((episodes, game.agents))
    for k in range(episodes):
        u = world[k]
        s = game.start(u[0])
        for h in range(game.horizon):
            actions = [agent.act(h, s) for agent in agents]
            last = h == game.horizon - 1
            s_next, rewards = game.step(h, s, actions, 0.0 if last else u[h + 1])
            for agent, a, r in zip(agents, actions, rewards, strict=True):
                agent.learn(h, s, a, float(r), None if last else s_next)
            returns[k] += rewards
            s = s_next
    return agents, returns


def digest(session: FusedEngine, returns: np.ndarray) -> str:
    """Sum up everything that a session holds."""
    summed = hashlib.sha256(np.ascontiguousarray(returns).tobytes())
    for part in _flat((session.state, session.certificate, session.record)):
        summed.update(np.ascontiguousarray(part).tobytes())
    return summed.hexdigest()


def _flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, tuple):
        return [array for part in value for array in _flat(part)]
    return [np.asarray(value)]


def digests(learner: str, episodes: int) -> dict[str, str]:
    """Run a learner on all games and sum up what each session holds."""
    return {game: digest(*fused(make_game(game), make_learner(learner), episodes)) for game in GAMES}


if __name__ == "__main__":
    print(json.dumps({name: digests(name, int(sys.argv[1])) for name in sys.argv[2:]}))
