"""A best response on features of what an agent observes, where observations are too many for a table.

Fitted Q-iteration, a regression for each step and action, backwards from the last step [Ernst, Geurts, Wehenkel 2005;
Jin, Yang, Wang, Jordan 2020], in batches of episodes. Features are those of a radial basis function network. With z the
numbers of an observation, each scaled to spread 1,

    φ(z) = (1, z, k_1(z), …, k_m(z)),  k_j(z) = exp(−‖z − c_j‖²/(2·ℓ²)),

with centres c_j among what was met, each as far as possible from those before, and ℓ the mean distance of a centre from
its nearest neighbour. With no more observations than centres this is nearly a table. From all z_t where the agent
played a at step h, was paid r_t and saw z'_t next,

    w_{h,a} = (Σ φ(z_t)·φ(z_t)ᵀ + λ·I)⁻¹ Σ φ(z_t)·(r_t + V_{h+1}(z'_t)),   V_h(z) = max_a w_{h,a}·φ(z),

within what rewards allow. While it learns, an action is worth more by (H − h)·span·c/√n, with n its visits near z as
the k_j count them; a few episodes are played evenly at random, and a few follow the policy for some steps. When it has
learned, an action is worth a little less by the same measure.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tacit.core import streams
from tacit.core.compilation import compile_loop
from tacit.core.elementary import dot, exp
from tacit.core.errors import TacitError, brief
from tacit.core.generics import jitable
from tacit.core.types import FloatArray
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
STEPS, POOL = 250_000, 3_000

#: Numbers up to which a discrete observation is seen as a unit vector; longer vectors are projected on half as many.
LONGEST = 120


class Basis(NamedTuple):
    """What makes features of an observation of D numbers."""

    shift: FloatArray  # [D]
    scale: FloatArray  # [D]
    centres: FloatArray  # [m, D]
    sharpness: float  # 1/(2·ℓ²)


@jitable
def show(basis, x, phi):
    """Write the features of an observation x [D] into phi [1 + D + m]."""
    D = len(x)
    phi[0] = 1.0
    for k in range(D):
        phi[1 + k] = (x[k] - basis.shift[k]) * basis.scale[k]
    for j in range(len(basis.centres)):
        far = 0.0
        for k in range(D):
            less = phi[1 + k] - basis.centres[j, k]
            far += less * less
        phi[1 + D + j] = exp(-far * basis.sharpness)


@jitable
def judge(phi, D, weights, counts, bonus, least, most, allowed, Q):
    """Write into Q [A] what actions are worth; return the best that is allowed."""
    near = 1e-9
    for j in range(1 + D, len(phi)):
        near += phi[j]
    best = -1
    for a in range(len(Q)):
        value, visits = 0.0, 0.0
        for j in range(len(phi)):
            value += weights[a, j] * phi[j]
        for j in range(1 + D, len(phi)):
            visits += phi[j] * counts[a, j - 1 - D]
        Q[a] = min(max(value, least), most) + bonus / np.sqrt(max(visits / near, 0.25))
        if bonus > 0.0:
            Q[a] = min(Q[a], most)
        if allowed[a] and (best < 0 or Q[a] > Q[best]):
            best = a
    return best


def choose(basis, x, weights, counts, bonus, least, most, allowed, phi, Q):
    """Return the best action on one observation."""
    show(basis, x, phi)
    return judge(phi, len(x), weights, counts, bonus, least, most, allowed, Q)


def fit_step(basis, xs, acted, targets, ridge, phis, gram, moment, weights, counts):
    """Fit one step: features of xs [n, D] into phis [n, d], weights [A, d], visits near each centre into counts [A, m].

    Who played −1 is out of the game.
    """
    D, d = xs.shape[1], phis.shape[1]
    gram[:] = 0.0
    moment[:] = 0.0
    counts[:] = 0.0
    for t in range(len(acted)):
        a = acted[t]
        if a < 0:
            continue
        phi = phis[t]
        show(basis, xs[t], phi)
        near = 1e-9
        for i in range(d):
            if i > D:
                near += phi[i]
            moment[a, i] += phi[i] * targets[t]
            for j in range(i + 1):
                gram[a, i, j] += phi[i] * phi[j]
        for j in range(1 + D, d):
            counts[a, j - 1 - D] += phi[j] / near
    for a in range(len(weights)):
        solve(gram[a], moment[a], ridge, weights[a])


@jitable
def solve(gram, moment, ridge, x):
    """Write into x [d] the solution of (gram + ridge·I)·x = moment, by Cholesky's factor in place of gram."""
    d = len(x)
    for i in range(d):
        gram[i, i] += ridge
        for j in range(i + 1):
            total = gram[i, j]
            for k in range(j):
                total -= gram[i, k] * gram[j, k]
            gram[i, j] = np.sqrt(max(total, 1e-12)) if i == j else total / gram[j, j]
    for i in range(d):
        total = moment[i]
        for k in range(i):
            total -= gram[i, k] * x[k]
        x[i] = total / gram[i, i]
    for i in range(d - 1, -1, -1):
        total = x[i]
        for k in range(i + 1, d):
            total -= gram[k, i] * x[k]
        x[i] = total / gram[i, i]


def value_step(phis, D, acted, weights, counts, bonus, least, most, allowed, Q, V):
    """Write into V [n] what the observations of a step are worth, 0 for who is out of the game."""
    for t in range(len(V)):
        V[t] = 0.0
        if acted[t] >= 0:
            V[t] = Q[judge(phis[t], D, weights, counts, bonus, least, most, allowed[t], Q)]


def spread_out(xs, chosen, nearest):
    """Choose rows of xs [n, D], each the farthest from those before; return how many differ. `nearest` is [n]."""
    nearest[:] = np.inf
    last = 0
    for m in range(len(chosen)):
        chosen[m] = last
        far = 0
        for t in range(len(xs)):
            total = 0.0
            for k in range(xs.shape[1]):
                less = xs[t, k] - xs[last, k]
                total += less * less
            nearest[t] = min(nearest[t], total)
            if nearest[t] > nearest[far]:
                far = t
        if nearest[far] <= 1e-12:
            return m + 1
        last = far
    return len(chosen)


class Vector:
    """Makes a float vector of what is observed; one that is very long is projected at random.

    Parameters
    ----------
    space : gymnasium space, or what stands for one
    who : str
        The agent, for messages.

    Examples
    --------
    >>> from tacit.environments.adapters import Anything, Discrete
    >>> from tacit.environments.features import Vector
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
            told = "is no array of numbers; give encode= and train responses in a table (deviators='table')"
            raise TacitError(f"{self._who} observed {brief(observation)}, which {told}") from None

    def __call__(self, observation: Any) -> FloatArray:
        """Return an observation as a vector."""
        found = self.flatten(observation)
        if self._length is None:
            self._length = len(found)
            if len(found) > LONGEST:
                draw = streams.stream(0, streams.PLAY + 1).normal
                self._projection = draw(size=(LONGEST // 2, len(found))) / len(found) ** 0.5
        if len(found) != self._length or not np.isfinite(found).all():
            told = f"must be {self._length} finite numbers, as the first that was seen"
            raise TacitError(f"{self._who} observed {brief(observation)}, which {told}")
        return found if self._projection is None else np.asarray(dot(self._projection, found))


def _numbers(space: Any, observation: Any) -> list[float]:
    """Return the numbers of an observation: whole ones of few values as unit vectors, an action mask left out."""
    kind = type(space).__name__
    if kind == "Discrete":
        return _unit(int(observation) - int(space.start), int(space.n))
    if kind == "MultiDiscrete":
        values = np.ravel(observation).tolist()
        sizes = np.ravel(space.nvec).tolist()
        units = [_unit(int(x), n) for x, n in zip(values, sizes, strict=True)] if sum(sizes) <= LONGEST else []
        return [float(x) for x in values] + [one for unit in units for one in unit]
    if kind == "Tuple":
        pairs = zip(space.spaces, observation, strict=True)
        return [x for part, own in pairs for x in _numbers(part, own)]
    if kind == "Dict":
        names = [name for name in space.spaces if name != "action_mask"]
        return [x for name in names for x in _numbers(space.spaces[name], observation[name])]
    return _flatten(observation)


def _unit(value: int, size: int) -> list[float]:
    return [float(value == k) for k in range(size)] if size <= LONGEST else [float(value)]


def _flatten(observation: Any) -> list[float]:
    if isinstance(observation, list | tuple):
        return [x for part in observation for x in _flatten(part)]
    return np.asarray(observation, dtype=np.float64).ravel().tolist()


class FeaturePart(Part):
    """A response on features: what it has met of each episode, and what it makes of it."""

    sees = product = True

    def __init__(self, agent: int, actions: int, horizon: int, vector: Vector) -> None:
        super().__init__(agent, actions, horizon)
        self.steps, self.vector, self.fitted = horizon, vector, False
        self._episodes: list[tuple[Any, ...]] = []
        self._free = np.ones(actions, np.bool_)

    def add(self, xs: list[FloatArray], acted: list[int], paid: list[float], allowed: list[Any]) -> None:
        """Take in an episode; the earliest is forgotten where there are too many."""
        rest = self.steps - len(acted)
        shown = np.zeros((self.steps, len(xs[0])))
        shown[: len(xs)] = xs
        masks = None if all(one is None for one in allowed) else np.array([self.mask(one) for one in allowed])
        self._episodes.append((shown, np.array(acted + [-1] * rest), np.array(paid + [0.0] * rest), masks))
        del self._episodes[: -max(STEPS // self.steps, FIRST)]

    def mask(self, allowed: Any) -> Any:
        """Return which actions are allowed."""
        return self._free if allowed is None else np.asarray(allowed, np.bool_)

    def fit(self, draw: np.random.Generator, constant: float) -> None:
        """Fit all steps, backwards, with a bonus of this constant."""
        H, A = self.steps, self.actions
        xs, acted, paid = (np.stack([one[k] for one in self._episodes], axis=1) for k in range(3))  # [H, n, …]
        n, D = xs.shape[1:]
        masks = np.ones((H, n, A), np.bool_)
        for t, (*_, own) in enumerate(self._episodes):
            if own is not None:
                masks[: len(own), t] = own
        self._basis = basis = _basis(xs[acted >= 0], draw)
        d, rewards = 1 + D + len(basis.centres), paid[acted >= 0]
        left, span = np.arange(H, 0, -1.0), float(np.ptp(rewards)) or 1.0  # where all are the same, better is hoped for
        self._least, self._most = left * min(rewards.min(), 0.0), left * max(rewards.min() + span, 0.0)
        bonus, self._caution = constant * span * left, CAUTION * span * left
        self._weights, self._counts = np.zeros((H, A, d)), np.zeros((H, A, len(basis.centres)))
        self._bonus = bonus if constant > 0 else self._caution
        phis, gram, moment, V, Q = np.zeros((n, d)), np.zeros((A, d, d)), np.zeros((A, d)), np.zeros(n), np.zeros(A)
        fit, value = compile_loop(fit_step, basis), compile_loop(value_step)
        for h in reversed(range(H)):
            own = self._weights[h], self._counts[h]
            fit(basis, xs[h], acted[h], paid[h] + V, RIDGE, phis, gram, moment, *own)
            value(phis, D, acted[h], *own, bonus[h], self._least[h], self._most[h], masks[h], Q, V)
        self._scratch = np.zeros(d), Q
        self._choose = compile_loop(choose, basis)
        self.fitted = True

    def best(self, h: int, x: FloatArray, allowed: Any) -> int:
        """Return the best action at step h on a vector."""
        own = self._weights[h], self._counts[h], self._bonus[h], self._least[h], self._most[h]
        return int(self._choose(self._basis, x, *own, self.mask(allowed), *self._scratch))

    def act(self, h: int, s: Any) -> int:
        """Return the action at step h on an observation."""
        return self.choose(h, s, None)

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
    chosen = np.zeros(min(CENTRES, max(CENTRES // 2, CENTRES * 3 // 2 - met.shape[1])), np.int64)
    m = compile_loop(spread_out)(z, chosen, np.zeros(len(z)))
    centres = np.ascontiguousarray(z[chosen[:m]])
    apart = ((centres[:, None] - centres) ** 2).sum(axis=2)
    np.fill_diagonal(apart, np.inf)
    width = float(np.sqrt(apart.min(axis=1)).mean()) if m > 1 else 1.0
    return Basis(met.mean(axis=0), scale, centres, 1 / (2 * width**2))


def train(env: Any, episodes: int) -> FeaturePart:
    """Train a response in what one agent faces, a `SingleAgentEnv`."""
    draw, H = streams.stream(env.seed, streams.PLAY + 2), env.horizon
    model = FeaturePart(env.agent, int(env.action_space.n), H, env.vector)
    due = FIRST
    for k in range(1, episodes + 1):
        kind = draw.random()
        at_random = not model.fitted or kind < RANDOM
        begin = int(draw.integers(H)) if RANDOM <= kind < 2 * RANDOM else 0
        xs: list[FloatArray] = []
        acted: list[int] = []
        paid: list[float] = []
        masks: list[Any] = []
        seen, info = env.reset()
        for h in range(H):
            x, mask = env.vector(seen), info.get("action_mask")
            a = None  # what the policy plays
            if h >= begin and (at_random or draw.random() < STRAY):
                a = int(draw.choice(np.flatnonzero(model.mask(mask))))
            elif h >= begin:
                a = model.best(h, x, mask)
            seen, reward, terminated, truncated, info = env.step(a)
            for own, one in ((xs, x), (acted, info["action"]), (paid, reward), (masks, mask)):
                own.append(one)
            if terminated or truncated:
                break
        model.add(xs, acted, paid, masks)
        if k >= due and k < episodes:
            model.fit(draw, CURIOSITY)
            due = int(k * GROWTH)
    model.fit(draw, 0.0)
    return model
