"""What a run gives out besides rewards: a certified policy and its certificate, or a Markov policy and its gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import memory, streams
from tacit.core.compilation import compiled
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.evaluation import evaluate, evaluate_iterates, l2_gap
from tacit.evaluation.certificate import Certificate, bound, certificate, fixed_deviation
from tacit.games.tabular import TabularGame
from tacit.learners import Learner, World
from tacit.play import loop
from tacit.play.checkpoint import Arrays
from tacit.play.observers import Record, Trace, certified_policy, record, trace
from tacit.play.run import Gaps
from tacit.play.session import Session, chunk_of
from tacit.play.windows import Measures
from tacit.policies import CertifiedPolicy, MarkovPolicy

#: Up to this many joint actions exact measures are taken while learning unless they are declined; above, only on
#: request: their cost grows with the number of joint actions.
CERTIFY_JOINT_ACTIONS = 1024

#: Up to this many steps × states × joint actions every iterate is evaluated for the averages: one then costs 1 to 3 µs,
#: as much as learning from an episode. In larger games the averages are over the points of the curve.
AVERAGE_ALL = 64


@dataclass(frozen=True)
class Result:
    """The part of a run that depends on the kind of learner."""

    policy: CertifiedPolicy | MarkovPolicy | None
    gaps: Gaps
    values: FloatArray | None
    sampled: MarkovPolicy | None = None


class CertifiedOutput:
    """For learners whose guarantee is about a certified policy."""

    def __init__(self, game: TabularGame, spec: Learner, *, episodes: int, certify: bool | None, keep: bool) -> None:
        self.game, self.spec = game, spec
        wanted = game.joint_actions <= CERTIFY_JOINT_ACTIONS if certify is None else certify
        self.certificate: Certificate | None = certificate(game, spec.equilibrium) if wanted else None
        self.record: Record | None = record(game, episodes) if keep else None

    def pause(self, done: int) -> int | None:
        """Return before which episode the run must pause: never."""
        return None

    def paused(self, session: Session) -> None:
        """Nothing to do."""

    def advanced(self) -> None:
        """Nothing to do."""

    def snapshot(self) -> Arrays:
        """Nothing: certificate and record belong to the session."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Nothing to take back."""

    def measures(self, session: Session, done: int) -> Measures:
        """Return the policy's values, where they are known, and the bounds on its gaps."""
        if self.certificate is not None:
            values, gaps = bound(self.game, self.certificate)
            return {"value": values, "gap": np.maximum(gaps, 0.0)}
        return {"value": np.full(self.game.agents, np.nan), "gap": own_bounds(self.game, session.state, done)}

    def result(self, session: Session, done: int, world: World, seed: int) -> Result:
        """Return policy, gaps and values of the run that `world` and `seed` began."""
        game, spec, cert = self.game, self.spec, self.certificate
        policy = None if self.record is None else certified_policy(game, self.record, spec.output)
        if cert is None:
            source = "model-free" if getattr(spec, "guaranteed", False) else "estimate"
            return Result(policy, Gaps(spec.equilibrium, own_bounds(game, session.state, done), source), None)
        values, gaps = bound(game, cert)
        replay = Replay(game, spec, world, seed, done, cert)
        return Result(policy, Gaps(spec.equilibrium, np.maximum(gaps, 0.0), "certificate", replay), values)


@dataclass(frozen=True)
class Replay:
    """The same run once more, with one fixed deviation for each agent: the lower bounds on the gaps."""

    game: TabularGame
    spec: Learner
    world: World
    seed: int
    episodes: int
    certificate: Certificate

    def __call__(self) -> FloatArray:
        """Return the lower bounds [N]."""
        choice = fixed_deviation(self.game, self.certificate)
        fixed = certificate(self.game, self.spec.equilibrium, choice=choice)
        Session(self.game, self.spec, self.world, seed=self.seed, certificate=fixed).advance(self.episodes)
        return bound(self.game, fixed).gaps


class MarkovOutput:
    """For learners whose iterates are Markov policies: exact gaps of the last, and of one drawn evenly from all."""

    record = None

    def __init__(self, game: TabularGame, *, episodes: int, certify: bool | None, seed: int) -> None:
        self.game = game
        self._watch = game.joint_actions <= CERTIFY_JOINT_ACTIONS if certify is None else certify
        self._all = self._watch and game.horizon * game.states * game.joint_actions <= AVERAGE_ALL
        self.certificate: Trace | None = trace(game, chunk_of(game.horizon)) if self._all else None
        self._final = certify is not False
        self._sampled_at = int(streams.stream(seed, streams.OUTPUT).integers(episodes))
        self._sampled: MarkovPolicy | None = None
        self._sum, self._count = np.zeros(3), 0  # of value, gap and L² gap, over the iterates averaged

    def pause(self, done: int) -> int | None:
        """Return before which episode the run must pause, to keep the sampled iterate."""
        return self._sampled_at if self._sampled is None and done <= self._sampled_at else None

    def paused(self, session: Session) -> None:
        """Keep the iterate that is about to be played. [Mao2022, Alg. 3, l. 7]"""
        self._sampled = last_iterate(self.game, session.state)

    def advanced(self) -> None:
        """Take in the iterates of a chunk that was played, where all of them are averaged."""
        if self.certificate is not None:
            self._average(self.certificate.table[: int(self.certificate.clock[0])])
            self.certificate.clock[0] = 0

    def iterated(self, policy: MarkovPolicy) -> None:
        """Take in one iterate of an exact ascent, likewise."""
        if self.certificate is not None:
            table = np.zeros((1, *self.certificate.table.shape[1:]))
            for i, own in enumerate(policy.probs):
                table[0, i, ..., : own.shape[-1]] = own
            self._average(table)

    def _average(self, table: FloatArray) -> None:
        found = evaluate_iterates(self.game, table)
        each = (found.values[:, 0], found.gaps.max(axis=1), found.l2_gaps)
        self._sum = self._sum + np.array([one.sum() for one in each])
        self._count += len(table)

    def snapshot(self) -> Arrays:
        """Return the sampled iterate, where there is one yet, and the measures so far."""
        return {"sum": self._sum, "count": np.array(self._count), **_named("sampled", self._sampled)}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        self._sum, self._count = arrays["sum"], int(arrays["count"])
        self._sampled = _policy("sampled", arrays)

    def measures(self, session: Session, done: int) -> Measures:
        """Return exact value and gaps of the last iterate, and averages over the iterates so far ("Average")."""
        if not self._watch:
            nan = np.full(self.game.agents, np.nan)
            return {"value": nan, "gap": nan}
        return self.measured(last_iterate(self.game, session.state))

    def measured(self, policy: MarkovPolicy) -> Measures:
        """Return the measures of one iterate; where not all are averaged, it joins the average."""
        found = evaluate(self.game, policy)
        distance = l2_gap(self.game, policy)
        if not self._all:
            self._sum = self._sum + np.array([found.values[0], found.gap, distance])
            self._count += 1
        value, gap, l2 = self._sum / self._count
        return {
            "value": found.values,
            "gap": found.gaps,
            "l2_gap": distance,
            "average_value": float(value),
            "average_gap": float(gap),
            "average_l2_gap": float(l2),
            "averaged": float(self._count),
        }

    def result(self, session: Session, done: int, world: World, seed: int) -> Result:
        """Return the last iterate with its exact gaps, and the sampled one."""
        last = last_iterate(self.game, session.state)
        return Result(last, *exact_gaps(self.game, last, self._final), self._sampled or last)


@dataclass
class Iterates:
    """The iterates that exact ascent holds on to: the current one, the best and the sampled one."""

    policy: MarkovPolicy
    best: MarkovPolicy
    sampled: MarkovPolicy
    best_gap: float = np.inf
    seconds: float = 0.0

    def snapshot(self) -> Arrays:
        """Return all of them."""
        iterates = {**_named("policy", self.policy), **_named("best", self.best), **_named("sampled", self.sampled)}
        return {**iterates, "numbers": np.array([self.best_gap, self.seconds])}

    def restore(self, arrays: Arrays) -> None:
        """Go on from a snapshot."""
        self.policy = _policy("policy", arrays) or self.policy
        self.best = _policy("best", arrays) or self.best
        self.sampled = _policy("sampled", arrays) or self.sampled
        self.best_gap, self.seconds = arrays["numbers"].tolist()


def _named(name: str, policy: MarkovPolicy | None) -> Arrays:
    return {} if policy is None else {f"{name}_{i}": own for i, own in enumerate(policy.probs)}


def _policy(name: str, arrays: Arrays) -> MarkovPolicy | None:
    probs = [array for key, array in arrays.items() if key.rpartition("_")[0] == name]  # in the order of the agents
    return MarkovPolicy(probs) if probs else None


def exact_gaps(game: TabularGame, policy: MarkovPolicy, wanted: bool) -> tuple[Gaps, FloatArray | None]:
    """Return a Markov policy's nash gaps and values, or that they were not wanted."""
    if not wanted:
        return Gaps("nash", np.full(game.agents, np.nan), "none"), None
    found = evaluate(game, policy)
    return Gaps("nash", found.gaps, "exact"), found.values


def last_iterate(game: TabularGame, state: Any) -> MarkovPolicy:
    """Return the agents' current distributions at every step and state."""
    table = memory.zeros((game.agents, game.horizon, game.states, max(game.actions)), "the last iterate")
    compiled(loop.distributions, state)(state, game.horizon, game.states, table)
    probs = [own[:, :, :size] for own, size in zip(table, game.actions, strict=True)]
    if not np.isfinite(table).all():
        raise TacitError("the policies are no longer numbers; learn with a smaller step (eta)")
    return MarkovPolicy(probs)


def own_bounds(game: TabularGame, state: Any, episodes: int) -> FloatArray:
    """Return each agent's own bound on its gap, (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k), in the game's units."""
    low, high = game.reward_range
    found: FloatArray = state.bound_sum / episodes * (high - low)
    return found
