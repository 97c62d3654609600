"""The exact engine: learners that follow exact gradients instead of playing. An episode is an iteration."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from tacit.core.elementary import dot
from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays
from tacit.engine.drive import Engine
from tacit.evaluation import evaluate
from tacit.evaluation.gradient import Gradient, policy_gradient
from tacit.games.exact import ExactGame
from tacit.learners.pg_exact import LineSearch, begin_search, take_step
from tacit.learners.spec import ExactLearner, world_of
from tacit.policies import MarkovPolicy


class ExactEngine(Engine):
    """All agents of a tabular game, from its tables. The reward of an iteration is the exact value."""

    chunk = 1

    def __init__(self, game: ExactGame, learner: ExactLearner, *, episodes: int, seed: int) -> None:
        self.game: ExactGame = game
        self.learner: ExactLearner = learner
        self.world = world_of(learner, game, episodes=episodes, seed=seed)
        first: list[Any] = list(self.world.start)
        self.iterate = MarkovPolicy(first) if first else MarkovPolicy.uniform(game)
        self.seconds, self.finished, self.gap = 0.0, False, math.inf
        self._memory = learner.recall(game, self.iterate)
        self._step = learner.params(self.world)["eta"]
        self._search = begin_search(self.world) if self._step == "auto" else None
        if self._search is not None:
            self.gap = evaluate(game, self.iterate).gap

    def advance(self, episodes: int) -> FloatArray:
        """Take steps until there is nothing left to gain. Return the values [iterations, N] before each."""
        began = time.perf_counter()
        values: list[FloatArray] = []
        while len(values) < episodes and not self.finished:
            gradient = policy_gradient(self.game, self.iterate)
            values.append(dot(gradient.V[:, 0], self.game.initial))
            mapping = self._take_step(gradient)
            self.gap = math.inf if self._search is None else evaluate(self.game, self.iterate).gap
            self.finished = self.gap <= 0.0 or mapping <= 0.0
        self.seconds += time.perf_counter() - began
        return np.array(values)

    def _take_step(self, gradient: Gradient) -> float:
        """Move to the next iterate; return the norm of the gradient mapping."""
        if self._search is None:
            self.iterate, self._memory, mapping = self.learner.follow(
                self.game, self.iterate, gradient, self._memory, self._step
            )
            return mapping
        taken = take_step(self.game, self.learner, self.world, self.iterate, gradient, self._search)
        self.iterate, self._search = taken.policy, taken.search
        return taken.mapping

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return the current policy's distributions."""
        return list(self.iterate.probs)

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return distributions as a policy."""
        return MarkovPolicy(distributions)

    def snapshot(self) -> Arrays:
        """Return the current policy."""
        probs = {str(i): table for i, table in enumerate(self.iterate.probs)}
        memory = {f"memory {k}": table for k, table in enumerate(self._memory)}
        numbers = {"numbers": np.array([self.gap, self.seconds]), "search": np.array(self._search or ())}
        return {**probs, **memory, **numbers}

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot."""
        self.iterate = MarkovPolicy([arrays[str(i)] for i in range(self.game.agents)])
        self._memory = tuple(arrays[f"memory {k}"] for k in range(len(self._memory)))
        self.gap, self.seconds = arrays["numbers"].tolist()
        self._search = LineSearch(*arrays["search"].tolist()) if self._search is not None else None
