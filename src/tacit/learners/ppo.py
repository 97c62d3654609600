"""Independent PPO: the paper's independent policy gradient, with a network in place of a table.

Each agent has an actor π_θ and a critic V_φ, both with two hidden layers, of its own observations. From T steps of its
own play, with λ-advantages [Schulman2016, eq. 16] and ρ = π_θ(a|o) / π_old(a|o), it minimises over minibatches

    L = − E[min(ρ·Â, clip(ρ, 1 − ε, 1 + ε)·Â)] + ½·E[(V_φ(o) − R̂)²] − β·E[entropy of π_θ]

[Schulman2017, eq. 7 and 9]. Settings are those recommended by [Huang2022] and, for several agents, [Yu2022] and
[deWitt2020]: orthogonal weights, Adam with ε = 1e-5, gradients of norm at most 0.5, the rate falls linearly to 0,
advantages normalised in each minibatch, observations normalised by running moments, no clipping of the value loss.

Information: own observation, action and reward. With `share`, agents of the same kind train one network on the steps of
all of them, which is centralized. Guarantee: none; with tables instead of networks, gradients of this kind converge in
Markov potential games (`pg-storm`) [Mao2022, Thm. 2].
Deviations: rewards are divided by the root mean square of the discounted returns so far, not by their standard
deviation, which is 0 where rewards are constant; moments are taken in before an update, so that the weights that are
returned were trained with the moments that are returned; the end of the horizon is an end, since tacit's returns end
there too. An agent that waits for its turn (a mask without any action) has one action.

[Schulman2016] High-dimensional continuous control using generalized advantage estimation, ICLR.
[Schulman2017] Proximal policy optimization algorithms, arXiv 1707.06347.
[deWitt2020] Is independent learning all you need in the StarCraft multi-agent challenge? arXiv 2011.09533.
[Huang2022] The 37 implementation details of proximal policy optimization, ICLR blog track.
[Yu2022] The surprising effectiveness of PPO in cooperative multi-agent games, NeurIPS.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check, memory, registry, streams
from tacit.core.types import FloatArray
from tacit.learners.several import PlainAgent, PythonLearner
from tacit.learners.spec import Info
from tacit.policies.network import CLIP, Input, Network, NetworkPart, round_to_float32


@dataclass(frozen=True)
class PPO(PythonLearner):
    """Independent PPO: a small network for each agent; the extra `networks`.

    Parameters
    ----------
    eta : float
        Learning rate of the first update; it falls linearly to 0 at the last episode.
    rollout : int, optional
        Steps T between updates; by default a hundredth of the run's steps, from 128 to 1024.
    epochs, minibatches : int
        How often an update goes through its steps, and in how many pieces.
    clip : float
        How far ratios count, ε.
    gamma, lam : float
        Discount γ and λ of advantages.
    entropy : float
        Weight β of the entropy.
    hidden : int
        Units in each of the two hidden layers.
    share : bool
        One network for all agents with the same observations and actions; they then train together.

    Examples
    --------
    >>> from tacit.learners import PPO
    >>> PPO(share=True).clip
    0.2
    """

    eta: float = 1e-3
    rollout: int | None = None
    epochs: int = 10
    minibatches: int = 4
    clip: float = 0.2
    gamma: float = 0.99
    lam: float = 0.95
    entropy: float = 0.01
    hidden: int = 64
    share: bool = False

    observes = resumes = True

    def __post_init__(self) -> None:
        check.plain_fields(self)
        for name in ("eta", "clip"):
            check.positive(name, getattr(self, name), most=1)
        for name in ("gamma", "lam", "entropy"):
            check.real(name, getattr(self, name), least=0, most=1)
        for name in ("epochs", "minibatches", "hidden"):
            check.integer(name, getattr(self, name), least=1, most=10_000)
        if self.rollout is not None:
            check.integer("rollout", self.rollout, least=self.minibatches, most=10**7)
        check.flag("share", self.share)

    @property
    def info(self) -> Info:
        """It returns what it plays, and scales rewards itself."""
        return Info(reward_scale_free=True)

    def agent(
        self, size: tuple[int, int, int], reward_range: tuple[float, float], *, seed: int, index: int
    ) -> PlainAgent:
        """Make one agent; its network comes with `Networks`."""
        registry.require("jax", "networks")
        registry.require("optax", "networks")
        return PlainAgent(NetworkMember(seed, index), size, observes=True)

    def steps_between(self, steps: int) -> int:
        """Return T in a run of so many steps."""
        return max(self.minibatches, min(max(steps // 100, 128), 1024)) if self.rollout is None else self.rollout


# the update, in JAX ---------------------------------------------------------------------------------------------------


def forward(layers: Any, x: Any) -> Any:
    """Return the outputs of a network for inputs [..., D]."""
    import jax.numpy as jnp

    for weights, bias in layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def log_policy(actor: Any, x: Any, allowed: Any, heads: Sequence[int]) -> Any:
    """Return the logarithms of probabilities [..., A]; −1e9 stands for those of forbidden actions."""
    import jax
    import jax.numpy as jnp

    outputs = forward(actor, x)
    logits = jnp.zeros((*outputs.shape[:-1], 1))
    for part in jnp.split(outputs, np.cumsum(heads)[:-1], axis=-1):  # an action's logit is the sum of its parts'
        logits = (logits[..., :, None] + part[..., None, :]).reshape(*logits.shape[:-1], -1)
    return jax.nn.log_softmax(jnp.where(allowed, logits, -1e9))


def advantages(rewards: Any, values: Any, ends: Any, gamma: float, lam: float) -> Any:
    """Return Â [T] from rewards [T], values [T + 1] and ends of episodes [T]. [Schulman2016, eq. 16]"""
    import jax

    goes_on = 1.0 - ends
    errors = rewards + gamma * goes_on * values[1:] - values[:-1]

    def back(following: Any, step: Any) -> Any:
        error, onward = step
        advantage = error + gamma * lam * onward * following
        return advantage, advantage

    return jax.lax.scan(back, 0.0 * errors[0], (errors, goes_on), reverse=True)[1]


def loss(weights: Any, batch: Mapping[str, Any], learner: PPO, heads: Sequence[int]) -> Any:
    """Return L over the steps of a minibatch; those of agents that are out have weight 0. [Schulman2017, eq. 9]"""
    import jax.numpy as jnp

    share = batch["counts"] / jnp.maximum(batch["counts"].sum(), 1.0)

    def mean(x: Any) -> Any:
        return (share * x).sum()

    log_probs = log_policy(weights["actor"], batch["x"], batch["allowed"], heads)
    log_prob = jnp.take_along_axis(log_probs, batch["actions"][:, None], axis=1)[:, 0]
    ratio = jnp.exp(log_prob - batch["log_prob"])
    centred = batch["advantages"] - mean(batch["advantages"])
    advantage = centred / (jnp.sqrt(mean(centred**2)) + 1e-8)
    clipped = jnp.clip(ratio, 1.0 - learner.clip, 1.0 + learner.clip)
    gain = mean(jnp.minimum(ratio * advantage, clipped * advantage))
    error = mean((forward(weights["critic"], batch["x"])[:, 0] - batch["returns"]) ** 2)
    entropy = mean(-(jnp.exp(log_probs) * log_probs).sum(axis=1))
    return -gain + 0.5 * error - learner.entropy * entropy


def update(state: Any, data: Mapping[str, Any], order: Any, eta: Any, learner: PPO, heads: Sequence[int]) -> Any:
    """Return weights and Adam's moments after an update of one network.

    `data` has arrays [agents, T, …] of those that share the network, `order` [descents, minibatch] the steps of each
    minibatch.
    """
    import jax
    import jax.numpy as jnp

    weights, adam = state[0], optimizer()
    values = forward(weights["critic"], jnp.concatenate([data["x"], data["last"][:, None]], axis=1))[..., 0]
    each = jax.vmap(functools.partial(advantages, gamma=learner.gamma, lam=learner.lam))
    estimates = each(data["rewards"], values, data["ends"])
    log_probs = log_policy(weights["actor"], data["x"], data["allowed"], heads)
    log_prob = jnp.take_along_axis(log_probs, data["actions"][..., None], axis=-1)[..., 0]
    steps = {
        **{name: data[name] for name in ("x", "allowed", "actions", "counts")},
        "log_prob": log_prob,
        "advantages": estimates,
        "returns": estimates + values[:, :-1],
    }
    flat = {name: jnp.asarray(array).reshape(-1, *array.shape[2:]) for name, array in steps.items()}

    def descend(before: Any, rows: Any) -> Any:
        weights, moments = before
        gradient = jax.grad(loss)(weights, {name: array[rows] for name, array in flat.items()}, learner, heads)
        direction, moments = adam.update(gradient, moments)
        return (jax.tree.map(lambda w, d: w - eta * d, weights, direction), moments), None

    return jax.lax.scan(descend, state, order)[0]


@functools.lru_cache(maxsize=32)
def compile_update(learner: PPO, heads: tuple[int, ...]) -> Any:
    """Return the update of several networks at once."""
    import jax

    one = functools.partial(update, learner=learner, heads=heads)
    return jax.jit(jax.vmap(one, in_axes=(0, 0, 0, None)))


# agents ---------------------------------------------------------------------------------------------------------------


class NetworkMember:
    """One agent: it draws from its network, and hands its steps to the networks of its kind."""

    def __init__(self, seed: int, index: int) -> None:
        self.seed, self.index, self.draws = seed, index, 0
        self.stream = streams.stream(seed, streams.agent_role(index))
        self.networks: Any = None  # and its place among their members
        self.seat = 0

    @property
    def network(self) -> Network:
        """What it plays now."""
        return self.networks.current[self.networks.of[self.seat]]  # type: ignore[no-any-return]

    def act(self, h: int, s: Any) -> int:
        """Draw an action on an observation."""
        x, allowed = self.network.read(s), self.networks.allowed[self.index]
        if allowed is None:
            allowed = np.ones(self.network.actions, dtype=bool)
            if isinstance(s, Mapping) and "action_mask" in s:  # of zeros: it is not this agent's turn
                allowed[1:] = False
        self.networks.place(self.seat, x, allowed)
        self.draws += 1
        probs = self.network.probs(x, allowed)
        return int((self.stream.random() >= np.cumsum(probs)[:-1]).sum())

    def learn(self, h: int, s: Any, a: int, reward: float, next_state: Any) -> None:
        """Hand on what followed the action."""
        last = None if next_state is None else self.network.read(next_state)
        self.networks.follow(self.seat, a, reward, last)

    def probabilities(self, h: int, s: Any) -> FloatArray:
        """Return what it plays on an observation."""
        return self.network.probs(self.network.read(s))

    def part(self) -> NetworkPart:
        """Return what it plays, as a device does."""
        return NetworkPart(self.network, self.index)


class Networks:
    """The networks of agents with the same observations and actions, which are updated in one call.

    Parameters
    ----------
    learner : PPO
    members : sequence of NetworkMember
    inputs : tuple of Input
    heads : tuple of int
        Values of each part of an action.
    allowed : list
        The environment's action masks of now, by agent; None for no mask.
    steps, episodes : int
        Of the whole run, at most.

    Attributes
    ----------
    episode : int
        The one that is played.
    current : list of Network
        What is played now.
    of : list of int
        Which network each member uses.
    """

    def __init__(
        self,
        learner: PPO,
        members: Sequence[NetworkMember],
        inputs: tuple[Input, ...],
        heads: tuple[int, ...],
        allowed: list[Any],
        *,
        steps: int,
        episodes: int,
    ) -> None:
        self.learner, self.members, self.inputs, self.heads = learner, members, inputs, heads
        self.allowed, self.episodes, self.episode, self.updates = allowed, episodes, 0, 0
        M, self.T = len(members), learner.steps_between(steps)
        self.of = [0] * M if learner.share else list(range(M))
        n, D, A = 1 + max(self.of), sum(one.size for one in inputs), math.prod(heads)
        memory.require(self.T * M * (4 * D + A + 16), "the steps that networks learn from")
        self._filled = 0  # steps since the last update
        self._steps = {
            "x": np.zeros((self.T, M, D), dtype=np.float32),
            "allowed": np.ones((self.T, M, A), dtype=bool),
            "actions": np.zeros((self.T, M), dtype=np.int32),
            "rewards": np.zeros((self.T, M)),
            "ends": np.zeros((self.T, M), dtype=np.float32),
            "counts": np.zeros((self.T, M), dtype=np.float32),
        }
        self._last = np.zeros((M, D), dtype=np.float32)  # what followed the last step
        self._discounted = np.zeros(M)  # each member's discounted rewards up to now
        self._seen = np.zeros(n)  # steps, of which the following are moments
        self._mean, self._square = np.zeros((n, D)), np.ones((n, D))
        self._return_square = np.zeros(n)
        self._normalised = np.concatenate([np.full(one.size, one.start is None) for one in inputs])
        seeds = [(members[self.of.index(k)].seed, members[self.of.index(k)].index) for k in range(n)]
        self._orders = [streams.stream(seed, streams.SHUFFLE + index) for seed, index in seeds]
        first = [_initial(streams.stream(seed, streams.START + index), learner, D, heads) for seed, index in seeds]
        self._state = _with_moments(first)
        for seat, member in enumerate(members):
            member.networks, member.seat = self, seat
        self._read_networks()

    def place(self, seat: int, x: FloatArray, allowed: Any) -> None:
        """Note what a member observes before it acts."""
        self._steps["x"][self._filled, seat] = x
        self._steps["allowed"][self._filled, seat] = allowed

    def follow(self, seat: int, a: int, reward: float, last: FloatArray | None) -> None:
        """Note what a member did, and what followed; None where its episode ended."""
        for name, value in (("actions", a), ("rewards", reward), ("ends", last is None), ("counts", 1)):
            self._steps[name][self._filled, seat] = value
        if last is not None:
            self._last[seat] = last

    def advance(self) -> None:
        """Go on to the next step, and update all networks after T of them."""
        if self._steps["counts"][self._filled].any():
            self._filled += 1
        if self._filled == self.T:
            self._update()
            self._filled = 0
            self._steps["counts"][:] = 0

    def _update(self) -> None:
        self._take_moments()
        n, steps = len(self._seen), dict(self._steps)
        mean, deviation = self._normalising()
        k = np.array(self.of)
        steps["x"] = np.clip((steps["x"] - mean[k]) / deviation[k], -CLIP, CLIP)
        steps["rewards"] = steps["rewards"] / _root(self._return_square)[k]
        data = {name: self._by_network(np.moveaxis(array, 0, 1)) for name, array in steps.items()}
        data["last"] = self._by_network(np.clip((self._last - mean[k]) / deviation[k], -CLIP, CLIP))
        width = len(self.of) // n * self.T
        minibatch = width // self.learner.minibatches
        order = np.empty((n, self.learner.epochs, self.learner.minibatches, minibatch), dtype=np.int32)
        for one, stream in zip(order, self._orders, strict=True):
            shuffled = stream.random((self.learner.epochs, width)).argsort(axis=1, kind="stable")
            one[:] = shuffled[:, : one[0].size].reshape(one.shape)
        rate = np.float32(self.learner.eta * max(0.0, 1.0 - self.episode / self.episodes))
        run = compile_update(self.learner, self.heads)
        self._state = run(self._state, data, order.reshape(n, -1, minibatch), rate)
        self.updates += 1
        self._read_networks()

    def _by_network(self, array: Any) -> Any:
        """Return an array [members, …] as [networks, members of each, …]."""
        narrow = array.astype(np.float32) if array.dtype == np.float64 else array
        return narrow.reshape(len(self._seen), -1, *array.shape[1:])

    def _take_moments(self) -> None:
        """Take the steps since the last update into the moments of observations and of discounted returns."""
        counts, ends = self._steps["counts"], self._steps["ends"]
        returns = np.zeros(counts.shape)
        for t, rewards in enumerate(self._steps["rewards"]):
            returns[t] = self._discounted = counts[t] * (rewards + self.learner.gamma * self._discounted)
            self._discounted = self._discounted * (1 - ends[t])
        for k in range(len(self._seen)):
            mine = np.flatnonzero(np.array(self.of) == k)
            present = counts[:, mine] > 0
            x = self._steps["x"][:, mine][present].astype(np.float64)
            self._seen[k] += len(x)
            share = len(x) / max(self._seen[k], 1)
            for moment, new in (
                (self._mean, x),
                (self._square, x**2),
                (self._return_square, returns[:, mine][present] ** 2),
            ):
                if len(x):
                    moment[k] += share * (new.mean(axis=0) - moment[k])

    def _normalising(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation [networks, D] of observations; 0 and 1 where they are not normalised."""
        variance = np.maximum(self._square - self._mean**2, 0.0) + 1e-8
        plain = ~self._normalised | (self._seen == 0)[:, None]
        return np.where(plain, 0.0, self._mean), np.where(plain, 1.0, np.sqrt(variance))

    def _read_networks(self) -> None:
        """Bring what is played up to date."""
        mean, deviation = map(round_to_float32, self._normalising())
        actor = [(round_to_float32(weights), round_to_float32(bias)) for weights, bias in self._state[0]["actor"]]
        self.current = [
            Network(self.inputs, mean[k], deviation[k], tuple((w[k], b[k]) for w, b in actor), self.heads)
            for k in range(len(self._seen))
        ]

    def snapshot(self) -> dict[str, Any]:
        """Return all that has changed since the networks were made, as arrays."""
        import jax

        weights = {f"state{j}": np.asarray(leaf) for j, leaf in enumerate(jax.tree.leaves(self._state))}
        steps = {f"steps.{name}": array.copy() for name, array in self._steps.items()}
        moments = {name: np.array(getattr(self, name)) for name in _REMEMBERED}
        return {**weights, **steps, **moments, "draws": np.array([member.draws for member in self.members])}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `snapshot` returned, in networks that have just been made."""
        import jax

        leaves, structure = jax.tree.flatten(self._state)
        self._state = jax.tree.unflatten(structure, [arrays[f"state{j}"] for j in range(len(leaves))])
        for name in self._steps:
            self._steps[name] = arrays[f"steps.{name}"].copy()
        for name in _REMEMBERED:
            before = getattr(self, name)
            setattr(self, name, int(arrays[name]) if isinstance(before, int) else arrays[name].copy())
        for member, draws in zip(self.members, arrays["draws"].tolist(), strict=True):
            streams.move(member.stream, draws)
            member.draws = draws
        width = len(self.of) // len(self._seen) * self.T
        for stream in self._orders:
            streams.move(stream, self.updates * self.learner.epochs * width)
        self._read_networks()


#: What networks remember beside weights and steps.
_REMEMBERED = ("_filled", "updates", "_last", "_discounted", "_seen", "_mean", "_square", "_return_square")


def _root(square: FloatArray) -> FloatArray:
    """Return roots of mean squares; 1 where there was nothing but zeros."""
    return np.sqrt(np.where(square > 0, square, 1.0))


def _initial(rng: np.random.Generator, learner: PPO, inputs: int, heads: Sequence[int]) -> dict[str, Any]:
    """Return orthogonal weights: √2 times in hidden layers, 0.01 and 1 in the last ones. [Huang2022, detail 2]"""

    def layer(rows: int, columns: int, gain: float) -> tuple[Any, Any]:
        q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
        q = q * np.sign(np.diag(r))
        weights = gain * (q if rows >= columns else q.T)
        return weights.astype(np.float32), np.zeros(columns, dtype=np.float32)

    def layers(outputs: int, gain: float) -> list[Any]:
        width = learner.hidden
        return [layer(inputs, width, math.sqrt(2)), layer(width, width, math.sqrt(2)), layer(width, outputs, gain)]

    return {"actor": layers(sum(heads), 0.01), "critic": layers(1, 1.0)}


def _with_moments(weights: Sequence[Any]) -> Any:
    """Return the weights of several networks, stacked, with fresh moments for Adam."""
    import jax

    stacked = jax.tree.map(lambda *each: np.stack(each), *weights)
    return stacked, jax.vmap(optimizer().init)(stacked)


def optimizer() -> Any:
    """Return what makes a direction of a gradient: a bound on its norm, then Adam. [Huang2022, details 3 and 11]"""
    import optax

    return optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))
