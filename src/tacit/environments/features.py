"""A best response on features of what an agent observes, where observations are too many for a table.

Fitted Q-iteration, a regression for each step and action, backwards from the last step [Ernst, Geurts, Wehenkel 2005;
Jin, Yang, Wang, Jordan 2020], in batches of episodes. Features are those of a radial basis function network. With z the
numbers of an observation, each scaled to spread 1,

    φ(z) = (1, z, k_1(z), …, k_m(z)),  k_j(z) = exp(−‖z − c_j‖²/(2·ℓ²)),

with centres c_j among what was met, each as far as possible from those before, and ℓ the mean distance of a centre from
its nearest neighbour. With no more observations than centres this is nearly a table. From all z_t where the agent
played a at step h, was paid r_t and saw z'_t next,

    w_{h,a} = (Σ φ(z_t)·φ(z_t)ᵀ + λ·I)⁻¹ Σ φ(z_t)·(r_t + V_{h+1}(z'_t)),   V_h(z) = max_a w_{h,a}·φ(z),

within what rewards allow. The same is done a second time with the step as one more number of z and the samples of all
steps in each regression; the better of the two in a tenth of the episodes is the response. While it learns, an action
is worth more by (H − h)·span·c/√n, with n its visits near z as the k_j count them; a few episodes are played evenly at
random, and a few follow the policy for some steps. When it has learned, an action is worth a little less by the same
measure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core import memory, streams
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.environments.adapters import find_mask
from tacit.environments.spaces import kind, pairs, parts
from tacit.policies import Part

#: Centres; fewer, down to half, where observations are long.
CENTRES = 100

#: λ of the regressions, in squares of features.
RIDGE = 0.1

#: The constant c of the bonus while learning, and what takes its place in the response.
CURIOSITY, CAUTION = 0.15, -0.02

#: Share of episodes at random, and of those that follow the policy at first; and of single actions at random.
RANDOM, STRAY = 0.1, 0.02

#: Fits are made after this many episodes, and whenever there are so many times as many.
FIRST, GROWTH = 32, 1.5

#: Steps of the latest episodes that are kept; observations that centres are chosen among.
STEPS, POOL = 100_000, 3_000

#: Numbers up to which a discrete observation is seen as a unit vector; longer vectors are projected on half as many.
LONGEST = 120


class Basis(NamedTuple):
    """What makes features of an observation of D numbers."""

    shift: FloatArray  # [D]
    scale: FloatArray  # [D]
    centres: FloatArray  # [m, D]
    sharpness: float  # 1/(2·ℓ²)

    def show(self, xs: FloatArray) -> FloatArray:
        """Return the features [n, 1 + D + m] of observations [n, D]."""
        z, c = (xs - self.shift) * self.scale, self.centres
        far = (z * z).sum(axis=1, keepdims=True) - 2 * z @ c.T + (c * c).sum(axis=1)  # ‖z − c‖²
        return np.concatenate([np.ones((len(z), 1)), z, np.exp(-self.sharpness * np.maximum(far, 0.0))], axis=1)

    def near(self, phis: FloatArray) -> FloatArray:
        """Return which share of each sample is near each centre [n, m], by features."""
        k = phis[:, 1 + len(self.shift) :]
        share: FloatArray = k / (k.sum(axis=1, keepdims=True) + 1e-9)
        return share


def spread_out(xs: FloatArray, most: int) -> list[int]:
    """Choose at most so many rows of xs [n, D] that differ, each the farthest from those before."""
    chosen, nearest = [0], np.full(len(xs), np.inf)
    while True:
        nearest = np.minimum(nearest, ((xs - xs[chosen[-1]]) ** 2).sum(axis=1))
        far = int(nearest.argmax())
        if nearest[far] <= 1e-12 or len(chosen) == most:
            return chosen
        chosen.append(far)


class Regression:
    """Regressions on features [n, d], one for each action that was played; −1 stands for none."""

    def __init__(self, phis: FloatArray, acted: IntArray, actions: int) -> None:
        self._own = [np.flatnonzero(acted == a) for a in range(actions)]
        self._phis = [phis[rows] for rows in self._own]
        ridge = RIDGE * np.eye(phis.shape[1])
        self._squares = np.stack([rows.T @ rows + ridge for rows in self._phis])

    def fit(self, targets: FloatArray) -> FloatArray:
        """Return the weights [A, d] of targets [n]."""
        moments = [phis.T @ targets[rows] for phis, rows in zip(self._phis, self._own, strict=True)]
        return np.asarray(np.linalg.solve(self._squares, np.stack(moments)[:, :, None])[:, :, 0])


class Vector:
    """Makes a float vector of what is observed; one that is very long is projected at random.

    Parameters
    ----------
    space : gymnasium space, or what stands for one
    who : str
        The agent, for messages.

    Examples
    --------
    >>> from tacit.environments.features import Vector
    >>> from tacit.environments.spaces import Anything, Discrete
    >>> Vector(Discrete(3), "agent 0")(1).tolist(), Vector(Anything(), "agent 0")((2, [0.5, True])).tolist()
    ([0.0, 1.0, 0.0], [2.0, 0.5, 1.0])
    """

    def __init__(self, space: Any, who: str) -> None:
        self._space, self._who = space, who
        self._length: int | None = None
        self._projection: FloatArray | None = None

    def flatten(self, observation: Any) -> FloatArray:
        """Return all numbers of an observation."""
        try:
            return np.array(_numbers(self._space, observation))
        except (TypeError, ValueError, KeyError, AttributeError):
            message = "is no array of numbers; give encode= and train responses in a table (deviators='table')"
            raise TacitError(f"{self._who} observed {brief(observation)}, which {message}") from None

    def __call__(self, observation: Any) -> FloatArray:
        """Return an observation as a vector."""
        numbers = self.flatten(observation)
        if self._length is None:
            self._length = len(numbers)
            if len(numbers) > LONGEST:
                draw = streams.stream(0, streams.PLAY + 1).normal
                self._projection = draw(size=(LONGEST // 2, len(numbers))) / len(numbers) ** 0.5
        if len(numbers) != self._length or not np.isfinite(numbers).all():
            message = f"must be {self._length} finite numbers, as the first that was seen"
            raise TacitError(f"{self._who} observed {brief(observation)}, which {message}")
        return numbers if self._projection is None else np.asarray(dot(self._projection, numbers))


def _numbers(space: Any, observation: Any) -> list[float]:
    """Return the numbers of an observation: whole ones of few values as unit vectors, an action mask left out."""
    match kind(space):
        case "Discrete":
            return _unit(int(observation) - int(space.start), int(space.n))
        case "MultiDiscrete":
            values = np.ravel(observation).tolist()
            sizes = np.ravel(space.nvec).tolist()
            units = [_unit(int(x), n) for x, n in zip(values, sizes, strict=True)] if sum(sizes) <= LONGEST else []
            return [float(x) for x in values] + [one for unit in units for one in unit]
        case "Tuple" | "Dict":
            named = zip(parts(space), pairs(space, observation), strict=True)
            return [x for name, (part, share) in named if name != "action_mask" for x in _numbers(part, share)]
    return _flatten(observation)


def _unit(value: int, size: int) -> list[float]:
    return [float(value == k) for k in range(size)] if size <= LONGEST else [float(value)]


def _flatten(observation: Any) -> list[float]:
    if isinstance(observation, list | tuple):
        return [x for part in observation for x in _flatten(part)]
    return np.asarray(observation, dtype=np.float64).ravel().tolist()


class Episode(NamedTuple):
    """What an agent has met in one episode."""

    xs: FloatArray  # [H, D]
    acted: IntArray  # [H]  −1 once it is out
    paid: FloatArray  # [H]
    allowed: Any  # [H, A]


class FeaturePart(Part):
    """A response on features.

    With `clock`, the step is one more number of an observation, and the regression of each step takes the samples of
    all: what is paid and what follows is learned once, which is better where it hardly depends on the step.
    """

    sees = product = True

    def __init__(self, agent: int, actions: int, horizon: int, vector: Vector, *, clock: bool) -> None:
        super().__init__(agent, actions, horizon)
        self.steps, self.vector, self.clock, self.fitted = horizon, vector, clock, False

    def fit(self, episodes: list[Episode], draw: np.random.Generator, constant: float) -> None:
        """Fit all steps, backwards, with a bonus of this constant."""
        H, A, n = self.steps, self.actions, len(episodes)
        each = [np.stack(fitted, axis=1) for fitted in zip(*episodes, strict=True)]  # [H, n, …]
        xs, acted, paid, allowed = (fitted.reshape(H * n, *fitted.shape[2:]) for fitted in each)
        if self.clock:
            xs = np.column_stack([xs, np.repeat(np.arange(H), n)])
        self._basis = _basis(xs[acted >= 0], draw)
        phis, rewards = self._basis.show(xs), paid[acted >= 0]
        near = self._basis.near(phis)
        left, span = np.arange(H, 0, -1.0), float(np.ptp(rewards)) or 1.0  # where all are the same, better is hoped for
        self._least, self._most = left * min(rewards.min(), 0.0), left * max(rewards.min() + span, 0.0)
        self._bonus = constant * span * left
        d = phis.shape[1]
        memory.require(memory.floats(A, H + 2 * d, d), "a response on features")
        self._weights = np.zeros((H, A, d))
        self._counts = np.zeros((H, A, near.shape[1]))
        V = np.zeros((H + 1) * n)
        for h in reversed(range(H)):
            fitted, valued = slice(h * n, (h + 1) * n), slice(h * n, (h + 1) * n)
            if self.clock:  # of the last step nobody knows what follows
                fitted, valued = slice(0, (H if h + 1 == H else H - 1) * n), slice(0, H * n)
            if not self.clock or h + 2 >= H:
                regression = Regression(phis[fitted], acted[fitted], A)
                counts = np.stack([near[fitted][acted[fitted] == a].sum(axis=0) for a in range(A)])
            self._weights[h], self._counts[h] = (
                regression.fit(paid[fitted] + V[fitted.start + n : fitted.stop + n]),
                counts,
            )
            worth = self._judge(h, phis[valued], near[valued], allowed[valued]).max(axis=1)
            V[valued] = np.where(acted[valued] >= 0, worth, 0.0)
        if constant <= 0:
            self._bonus = CAUTION * span * left
        self.fitted = True

    def _judge(self, h: int, phis: FloatArray, near: FloatArray, allowed: Any) -> FloatArray:
        """Return what actions are worth at step h [n, A], −∞ those that are not allowed."""
        visits = near @ self._counts[h].T
        Q = np.minimum(np.maximum(phis @ self._weights[h].T, self._least[h]), self._most[h])
        Q += self._bonus[h] / np.sqrt(np.maximum(visits, 0.25))
        if self._bonus[h] > 0:
            Q = np.minimum(Q, self._most[h])
        return np.where(allowed, Q, -np.inf)

    def best(self, h: int, x: FloatArray, allowed: Any) -> int:
        """Return the best action at step h on a vector."""
        phis = self._basis.show(np.append(x, float(h))[None] if self.clock else x[None])
        return int(self._judge(h, phis, self._basis.near(phis), True if allowed is None else allowed).argmax())

    def act(self, h: int, s: Any) -> int:
        """Return the action at step h on an observation, which may hold an action mask."""
        return self.choose(h, s, find_mask(s))

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return the action at step h where only some are allowed."""
        self._step(h)
        return self.best(h, self.vector(s), allowed)


def _basis(met: FloatArray, draw: np.random.Generator) -> Basis:
    """Return what makes features, from all that was met [n, D]."""
    spread = met.std(axis=0)
    scale = np.where(spread > 1e-9, 1 / np.maximum(spread, 1e-9), 0.0)
    pool = met if len(met) <= POOL else met[draw.choice(len(met), POOL, replace=False)]
    z = (pool - met.mean(axis=0)) * scale
    centres = z[spread_out(z, min(CENTRES, max(CENTRES // 2, CENTRES * 3 // 2 - met.shape[1])))]
    apart = ((centres[:, None] - centres) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    width = float(np.sqrt(apart.min(axis=1)).mean()) if len(centres) > 1 else 1.0
    return Basis(met.mean(axis=0), scale, centres, 1 / (2 * width**2))


def train(env: Any, episodes: int) -> FeaturePart:
    """Train a response in what one agent faces, a `SingleAgentEnv`: by step and by the clock, whichever is better."""
    draw, H, A = streams.stream(env.seed, streams.PLAY + 2), env.horizon, int(env.action_space.n)
    by_step, by_clock = (FeaturePart(env.agent, A, H, env.vector, clock=clock) for clock in (False, True))
    compare = episodes // 10
    met: list[Episode] = []
    due = FIRST
    for k in range(1, max(episodes - compare, 1) + 1):
        kind = draw.random()
        at_random = not by_step.fitted or kind < RANDOM
        begin = int(draw.integers(H)) if RANDOM <= kind < 2 * RANDOM else 0
        model = by_clock if k % 2 else by_step
        episode, _ = _play(env, model, draw, begin=begin, stray=1.0 if at_random else STRAY)
        met.append(episode)
        del met[: -max(STEPS // H, FIRST)]
        if k >= due:
            for one in (by_step, by_clock):
                one.fit(met, draw, CURIOSITY)
            due = int(k * GROWTH)
    gains = []
    for one in (by_step, by_clock):
        one.fit(met, draw, 0.0)
        gains.append(sum(_play(env, one, draw, begin=0, stray=0.0)[1] for _ in range(compare // 2)))
    return by_clock if gains[1] > gains[0] else by_step


def _play(
    env: Any, model: FeaturePart, draw: np.random.Generator, *, begin: int, stray: float
) -> tuple[Episode, float]:
    """Play an episode, the policy until step `begin`, then the model, with single actions at random; and the return."""
    H, A = env.horizon, model.actions
    observation, info = env.reset()
    x = env.vector(observation)
    episode = Episode(np.zeros((H, len(x))), np.full(H, -1), np.zeros(H), np.ones((H, A), np.bool_))
    for h in range(H):
        mask = info.get("action_mask")
        episode.xs[h] = x = env.vector(observation)
        episode.allowed[h] = True if mask is None else mask
        a = None  # what the policy plays
        if h >= begin:
            a = draw.choice(np.flatnonzero(episode.allowed[h])) if draw.random() < stray else model.best(h, x, mask)
        observation, episode.paid[h], terminated, truncated, info = env.step(a)
        episode.acted[h] = info["action"]
        if terminated or truncated:
            break
    return episode, float(episode.paid.sum())
