"""Independent PPO: the paper's independent policy gradient, with a network in place of a table.

Each agent has an actor π_θ and a critic V_φ, with two hidden layers each, of its own observations o. After T steps,
with ρ = π_θ(a|o) / π_old(a|o) and δ_t = r_t + γ·V_φ(o_{t+1}) − V_φ(o_t), it minimises over minibatches

    Â_t = Σ_k (γλ)^k·δ_{t+k} up to the end of the episode,    R̂_t = Â_t + V_φ(o_t)            [Schulman2016, eq. 16]
    L = − E[min(ρ·Â, clip(ρ, 1 − ε, 1 + ε)·Â)] + ½·E[(V_φ(o) − R̂)²] − β·E[entropy of π_θ]   [Schulman2017, eq. 9]

with the settings of [Huang2022]: orthogonal weights, Adam with ε = 1e-5, gradients of norm at most 0.5, a rate that
falls linearly to 0, normalised advantages, observations normalised by running moments, no clipping of the value loss.
A Box whose bounds are all from 1 to 10 in size is read as it is, since moments cost level-based foraging much of what
it learns (docs/research/ppo.md).

Information: own observation, action and reward. With `share`, agents of the same kind train one network on the steps of
all of them, which is centralized. Guarantee: none; with tables instead of networks, gradients of this kind converge in
Markov potential games (`pg-storm`) [Mao2022, Thm. 2].
Deviations: rewards are divided by the root mean square of discounted returns, which is above 0 where rewards are
constant; advantages are normalised over all T steps; moments are updated before the weights, so that the returned
weights were trained with the returned moments; the horizon is an end, as in tacit's returns. Steps at which an agent
waits for its turn (a mask without any action) are left out: what is paid there belongs to its action before.

[Schulman2016] High-dimensional continuous control using generalized advantage estimation, ICLR.
[Schulman2017] Proximal policy optimization algorithms, arXiv 1707.06347.
[Huang2022] The 37 implementation details of proximal policy optimization, ICLR blog track.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from tacit.core import check, memory, registry, streams
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray
from tacit.learners.several import PlainAgent, PythonLearner
from tacit.learners.spec import Info
from tacit.policies import network
from tacit.policies.network import Input, Network, NetworkPart, forward, joint_logits


@dataclass(frozen=True)
class PPO(PythonLearner):
    """Independent PPO: a small network for each agent; the extra `networks`.

    Parameters
    ----------
    eta : float
        Learning rate of the first update; it falls linearly to 0 at the last episode.
    rollout : int, optional
        Steps T between updates; by default a hundredth of the run's steps, from 128 to 512.
    epochs, minibatch : int
        How often an update goes through its steps, and how many steps a gradient is taken of.
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
    minibatch: int = 64
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
        for name in ("epochs", "minibatch", "hidden"):
            check.integer(name, getattr(self, name), least=1, most=10_000)
        if self.rollout is not None:
            check.integer("rollout", self.rollout, least=2, most=10**7)
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


class NetworkMember:
    """One agent: its place among the networks of its kind, and what it plays."""

    def __init__(self, seed: int, index: int) -> None:
        self.seed, self.index = seed, index
        self.network: Any = None  # what it plays now; `Networks` keeps it up to date

    def probabilities(self, h: int, s: Any) -> FloatArray:
        """Return what it plays on an observation."""
        return self.part().distribution(h, s)

    def part(self) -> NetworkPart:
        """Return what it plays, as a device does."""
        return NetworkPart(self.network, self.index)


@functools.lru_cache(maxsize=32)
def kernels(learner: PPO, heads: tuple[int, ...]) -> Any:
    """Return the functions of an update in JAX: `advantages`, `loss`, `update` of one network, `updates` of several."""
    import jax
    import optax
    from jax import numpy as jnp

    adam = optax.chain(optax.clip_by_global_norm(0.5), optax.scale_by_adam(eps=1e-5))  # [Huang2022, details 3 and 11]

    def log_policy(actor: Any, x: Any, allowed: Any) -> Any:
        logits = joint_logits(forward(actor, x, jnp.tanh), heads, jnp)
        return jax.nn.log_softmax(jnp.where(allowed, logits, -1e9))

    def pick(log_probs: Any, actions: Any) -> Any:
        return jnp.take_along_axis(log_probs, actions[..., None], axis=-1)[..., 0]

    def advantages(rewards: Any, values: Any, last: Any, ends: Any, counts: Any) -> Any:
        """Return Â [T] of steps with these values [T], `last` being that after them; steps of count 0 are left out."""

        def back(following: Any, step: Any) -> Any:
            reward, value, end, count = step
            ahead, value_ahead, paid = ((1.0 - end) * one for one in following)
            paid = reward + paid
            advantage = paid + learner.gamma * (value_ahead + learner.lam * ahead) - value
            acted, waited = (advantage, value, 0.0 * paid), (ahead, value_ahead, paid)
            return tuple(jnp.where(count > 0, a, b) for a, b in zip(acted, waited, strict=True)), advantage

        start = (0.0 * last, last, 0.0 * last)
        return jax.lax.scan(back, start, (rewards, values, ends, counts), reverse=True)[1]

    def loss(weights: Any, batch: Mapping[str, Any]) -> Any:
        """Return L over the steps of a minibatch, those of count 0 left out."""
        share = batch["counts"] / jnp.maximum(batch["counts"].sum(), 1.0)
        log_probs = log_policy(weights["actor"], batch["x"], batch["allowed"])
        ratio = jnp.exp(pick(log_probs, batch["actions"]) - batch["log_prob"])
        clipped = jnp.clip(ratio, 1.0 - learner.clip, 1.0 + learner.clip)
        gain = jnp.minimum(ratio * batch["advantages"], clipped * batch["advantages"])
        error = (forward(weights["critic"], batch["x"], jnp.tanh)[:, 0] - batch["returns"]) ** 2
        entropy = -(jnp.exp(log_probs) * log_probs).sum(axis=1)
        return (share * (-gain + 0.5 * error - learner.entropy * entropy)).sum()

    def update(state: Any, data: Mapping[str, Any], order: Any, eta: Any) -> Any:
        """Return weights and Adam's moments after an update of one network.

        `data` has arrays [agents, T, …] of those that use the network, `order` [descents, minibatch] numbers of steps.
        """
        weights = state[0]
        values, last = (forward(weights["critic"], data[name], jnp.tanh)[..., 0] for name in ("x", "last"))
        A = jax.vmap(advantages)(data["rewards"], values, last, data["ends"], data["counts"])
        share = data["counts"] / jnp.maximum(data["counts"].sum(), 1.0)
        centred = A - (share * A).sum()
        flat = {
            **{name: data[name] for name in ("x", "allowed", "actions", "counts")},
            "log_prob": pick(log_policy(weights["actor"], data["x"], data["allowed"]), data["actions"]),
            "advantages": centred / (jnp.sqrt((share * centred**2).sum()) + 1e-8),
            "returns": A + values,
        }
        flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in flat.items()}

        def descend(before: Any, rows: Any) -> Any:
            weights, moments = before
            gradient = jax.grad(loss)(weights, {name: array[rows] for name, array in flat.items()})
            direction, moments = adam.update(gradient, moments)
            return (jax.tree.map(lambda w, d: w - eta * d, weights, direction), moments), None

        return jax.lax.scan(descend, state, order)[0]

    return SimpleNamespace(
        advantages=advantages,
        loss=loss,
        update=update,
        updates=jax.jit(jax.vmap(update, in_axes=(0, 0, 0, None))),
        moments=lambda weights: jax.tree.map(  # Adam's first ones are 0
            lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(jax.vmap(adam.init), weights)
        ),
        tree=jax.tree,
    )


class Networks:
    """The networks of agents with the same observations and actions, which act and are updated in one call.

    Parameters
    ----------
    learner : PPO
    members : sequence of M NetworkMember
    inputs : tuple of Input
    plain : tuple of bool
        Which inputs are read as they are, not normalised.
    heads : tuple of int
        Values of each part of an action.
    masks : object
        Has action masks of now, by agent: `allowed`, None for no mask, and `waits`, whether a mask has no action.
    steps, episodes : int
        Of the whole run, at most.

    Attributes
    ----------
    agents : list of int
        The numbers of the members among all agents.
    episode : int
        The one that is played.
    """

    def __init__(
        self,
        learner: PPO,
        members: Sequence[NetworkMember],
        inputs: tuple[Input, ...],
        plain: tuple[bool, ...],
        heads: tuple[int, ...],
        masks: Any,
        *,
        steps: int,
        episodes: int,
    ) -> None:
        self.learner, self.members, self.inputs, self.heads = learner, members, inputs, heads
        self.agents, self.episode = [member.index for member in members], 0
        self._masks, self._episodes, self._kernels = masks, episodes, kernels(learner, heads)
        T = min(max(steps // 100, 128), 512, max(steps, 2)) if learner.rollout is None else learner.rollout
        M, D, A = len(members), sum(one.size for one in inputs), math.prod(heads)
        n = 1 if learner.share else M  # networks: all members use the first, or each its own
        memory.require(T * M * (16 * D + 2 * A + 64), "the steps that networks learn from")
        self._steps: dict[str, Any] = {
            "x": np.zeros((T, M, D), dtype=np.float32),
            "allowed": np.ones((T, M, A), dtype=bool),
            "actions": np.zeros((T, M), dtype=np.int32),
            "rewards": np.zeros((T, M)),
            "ends": np.zeros((T, M), dtype=np.float32),
            "counts": np.zeros((T, M), dtype=np.float32),  # 1 for a step at which the member acts
        }
        self._inside = np.zeros(M, dtype=bool)  # who was not out when it acted last
        self._filled, self._updates = np.array(0), np.array(0)  # steps since the last update, and how many there were
        self._discounted = np.zeros(M)  # discounted rewards of the episode up to now
        self._seen, self._square = np.zeros(n), np.zeros(n)  # steps, and the mean square of their discounted rewards
        self._mean, self._variance = np.zeros((n, D)), np.ones((n, D))  # of observations
        self._plain = np.repeat(plain, [one.size for one in inputs])
        self._draws = [streams.stream(one.seed, streams.agent_role(one.index)) for one in members]
        self._orders = [streams.stream(one.seed, streams.SHUFFLE + one.index) for one in members[:n]]
        self._minibatch = min(learner.minibatch, M // n * T)
        starts = [streams.stream(one.seed, streams.START + one.index) for one in members[:n]]
        each = [_initial(rng, learner.hidden, D, sum(heads)) for rng in starts]
        weights = self._kernels.tree.map(lambda *leaves: np.stack(leaves), *each)
        self._state = weights, self._kernels.moments(weights)
        self._begin()

    def _begin(self) -> None:
        """Draw numbers for the next T steps, and bring what is played up to date."""
        self._u = np.stack([stream.random(len(self._steps["x"])) for stream in self._draws], axis=1)
        self._actor = [(np.asarray(weights), np.asarray(bias)[:, None]) for weights, bias in self._state[0]["actor"]]
        self._normal = self._normalising()
        networks = [
            Network(self.inputs, mean, deviation, tuple((w[k], b[k, 0]) for w, b in self._actor), self.heads)
            for k, (mean, deviation) in enumerate(zip(*self._normal, strict=True))
        ]
        for seat, member in enumerate(self.members):
            member.network = networks[seat % len(networks)]

    def act(self, observations: Sequence[Any], chosen: Any) -> None:
        """Write into `chosen` what members do on what they observe; who is out observes None."""
        t, steps = int(self._filled), self._steps
        for seat, i in enumerate(self.agents):
            shown, mask = observations[i], self._masks.allowed[i]
            self._inside[seat] = shown is not None
            steps["counts"][t, seat] = shown is not None and not self._masks.waits[i]
            if shown is not None:
                steps["x"][t, seat] = network.read(self.inputs, shown)
                steps["allowed"][t, seat] = True if mask is None else mask
        y = self._by_network(network.normalise(steps["x"][t], *self._normal))
        logits = joint_logits(forward(self._actor, y).reshape(len(self.agents), -1), self.heads)
        probs = network.softmax(logits, steps["allowed"][t])
        steps["actions"][t] = (self._u[t, :, None] >= probs.cumsum(axis=1)[:, :-1]).sum(axis=1)
        chosen[self.agents] = steps["actions"][t]

    def learn(self, rewards: FloatArray, after: Sequence[Any]) -> None:
        """Take in what followed, None where an episode ended; update all networks after T steps."""
        if not self._inside.any():
            return
        t, steps = int(self._filled), self._steps
        steps["rewards"][t] = np.where(self._inside, rewards[self.agents], 0.0)
        steps["ends"][t] = [after[i] is None for i in self.agents]
        self._filled += 1
        if self._filled == len(steps["x"]):
            last = np.zeros(steps["x"].shape[1:])
            for seat, i in enumerate(self.agents):
                if after[i] is not None:
                    last[seat] = network.read(self.inputs, after[i])
            self._update(last)

    def _update(self, last: FloatArray) -> None:
        """Update all networks from T steps and what was observed after them, [M, D]."""
        self._take_moments()
        normal, n, epochs = self._normalising(), len(self._seen), self.learner.epochs
        root = np.sqrt(np.where(self._square > 0, self._square, 1.0))
        steps = {
            **self._steps,
            "x": network.normalise(self._steps["x"], *normal),
            "rewards": self._steps["rewards"] / root,
        }
        data = {name: self._by_network(np.moveaxis(array, 0, 1)) for name, array in steps.items()}
        data["last"] = self._by_network(network.normalise(last, *normal))
        width = data["rewards"][0].size
        kept = width - width % self._minibatch
        orders = [one.random((epochs, width)).argsort(axis=1, kind="stable")[:, :kept] for one in self._orders]
        order = np.stack(orders).astype(np.int32).reshape(n, -1, self._minibatch)
        eta = np.float32(self.learner.eta * max(0.0, 1.0 - self.episode / self._episodes))
        self._state = self._kernels.updates(self._state, data, order, eta)
        self._filled[...] = 0
        self._updates += 1
        self._begin()

    def _by_network(self, array: Any) -> Any:
        """Return an array [M, …] as [networks, members of each, …]."""
        narrow = array.astype(np.float32) if array.dtype == np.float64 else array
        return narrow.reshape(len(self._seen), -1, *array.shape[1:])

    def _normalising(self) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation [networks, D] of observations; 0 and 1 for plain ones."""
        plain = self._plain | (self._seen == 0)[:, None]
        deviation = np.where(plain, 1.0, np.sqrt(self._variance + 1e-8))
        return network.round_to_float32(np.where(plain, 0.0, self._mean)), network.round_to_float32(deviation)

    def _take_moments(self) -> None:
        """Take the last T steps into the moments of observations and of discounted rewards."""
        steps, n = self._steps, len(self._seen)
        discounted = np.empty(steps["rewards"].shape)
        for t, (rewards, ends) in enumerate(zip(steps["rewards"], steps["ends"], strict=True)):
            discounted[t] = rewards + self.learner.gamma * self._discounted
            self._discounted = discounted[t] * (1.0 - ends)
        for k in range(n):
            acted = steps["counts"][:, k::n] > 0
            x, squares = steps["x"][:, k::n][acted].astype(float), discounted[:, k::n][acted] ** 2
            if len(x):
                self._seen[k] += len(x)
                share, ahead = len(x) / self._seen[k], x.mean(axis=0) - self._mean[k]
                self._mean[k] += share * ahead
                self._variance[k] += share * (x.var(axis=0) + (1.0 - share) * ahead**2 - self._variance[k])
                self._square[k] += share * (squares.mean() - self._square[k])

    def _remembered(self) -> dict[str, Any]:
        """Return all that changes, but for weights and streams, by name."""
        names = ("_filled", "_updates", "_discounted", "_seen", "_square", "_mean", "_variance")
        return {**{f"steps.{name}": array for name, array in self._steps.items()}, **{k: vars(self)[k] for k in names}}

    def snapshot(self) -> dict[str, Any]:
        """Return all that has changed since the networks were made, as arrays."""
        leaves = enumerate(self._kernels.tree.leaves(self._state))
        weights = {f"state{j}": np.asarray(leaf) for j, leaf in leaves}
        return {**weights, **{name: array.copy() for name, array in self._remembered().items()}}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        """Take back what `snapshot` returned, in networks that have just been made."""
        for name, array in self._remembered().items():
            array[...] = arrays[name]
        T, M = self._steps["rewards"].shape
        if not 0 <= self._filled < T:
            raise TacitError(f"_filled must be from 0 to {T - 1}; got {self._filled}")
        leaves, structure = self._kernels.tree.flatten(self._state)
        self._state = self._kernels.tree.unflatten(structure, [arrays[f"state{j}"] for j in range(len(leaves))])
        for stream in self._draws:
            streams.move(stream, (int(self._updates) - 1) * T)  # T numbers have been drawn
        for stream in self._orders:
            streams.move(stream, int(self._updates) * self.learner.epochs * T * M // len(self._seen))
        self._begin()


def _initial(rng: np.random.Generator, hidden: int, inputs: int, outputs: int) -> dict[str, Any]:
    """Return orthogonal weights: √2 times in hidden layers, 0.01 and 1 in the last ones. [Huang2022, detail 2]"""

    def layer(rows: int, columns: int, gain: float) -> tuple[Any, Any]:
        q, r = np.linalg.qr(rng.normal(size=(max(rows, columns), min(rows, columns))))
        q = gain * q * np.sign(np.diag(r))
        return (q if rows >= columns else q.T).astype(np.float32), np.zeros(columns, dtype=np.float32)

    def layers(last: int, gain: float) -> list[Any]:
        return [layer(inputs, hidden, math.sqrt(2)), layer(hidden, hidden, math.sqrt(2)), layer(hidden, last, gain)]

    return {"actor": layers(outputs, 0.01), "critic": layers(1, 1.0)}
