"""Independent PPO in NumPy, as one would write it beside Q-learning: two small networks per agent, no sharing.

Schulman et al. 2017 with usual settings: clip .2, GAE with λ = .95 and γ = 1, 64 hidden tanh units, Adam with a rate
that falls from .003 to 0, 8 epochs over each batch of 10 episodes (1/100 of all, if that is more), entropy .01.
Observations are flattened to numbers, and they and returns are scaled by what was met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

CLIP, TRACE, HIDDEN, RATE, EPOCHS, BATCH, ENTROPY = 0.2, 0.95, 64, 3e-3, 8, 10, 0.01


def numbers(seen: Any) -> Iterator[float]:
    """Yield the numbers of an observation."""
    if isinstance(seen, tuple):
        for part in seen:
            yield from numbers(part)
    elif isinstance(seen, str):
        yield float(sum(map(ord, seen)))
    else:
        yield -1.0 if seen is None else float(seen)


def max_numbers(env: Any) -> int:
    """Return the most numbers that an observation has in an episode of first actions."""
    seen, over, most = env.reset(0), False, 0
    while not over:
        most = max(most, *(len(list(numbers(one))) for one in seen))
        seen, _, over = env.step([0] * env.agents)
    return most


class Networks:
    """One network per agent: tanh layer and a linear one, learned by Adam."""

    def __init__(self, rng: Any, agents: int, inputs: int, outputs: int, scale: float) -> None:
        self.weights = [
            rng.normal(0, inputs**-0.5, (agents, inputs, HIDDEN)),
            np.zeros((agents, 1, HIDDEN)),
            rng.normal(0, scale * HIDDEN**-0.5, (agents, HIDDEN, outputs)),
            np.zeros((agents, 1, outputs)),
        ]
        self.moments, self.time = [(np.zeros_like(w), np.zeros_like(w)) for w in self.weights], 0

    def __call__(self, x: Any) -> Any:
        w, b, w_out, b_out = self.weights
        self.hidden = np.tanh(x @ w + b)
        return self.hidden @ w_out + b_out

    def descend(self, x: Any, slope: Any, rate: float) -> None:
        """Take a step down, the slope being the loss's by the outputs [N, B, outputs]."""
        inner = slope @ self.weights[2].swapaxes(1, 2) * (1 - self.hidden**2)
        slopes = [x.swapaxes(1, 2) @ inner, inner.sum(1, keepdims=True)]
        slopes += [self.hidden.swapaxes(1, 2) @ slope, slope.sum(1, keepdims=True)]
        self.time += 1
        for w, (first, second), g in zip(self.weights, self.moments, slopes, strict=True):
            first += 0.1 * (g - first)
            second += 0.001 * (g * g - second)
            w -= rate * (first / (1 - 0.9**self.time)) / (np.sqrt(second / (1 - 0.999**self.time)) + 1e-8)


def softmax(logits: Any) -> Any:
    e = np.exp(logits - logits.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def learn_ppo(env: Any, episodes: int, seed: int) -> list[Callable[[Any], Any]]:
    """Return for each agent a function from an observation to probabilities."""
    rng, N, A = np.random.default_rng(seed), env.agents, max(env.actions)
    D = max_numbers(env)
    mask = np.array([[0.0] * n + [-1e9] * (A - n) for n in env.actions])[:, None]
    actor, critic = Networks(rng, N, D, A, 0.01), Networks(rng, N, D, 1, 1.0)
    low, high = np.full((N, 1, D), np.inf), np.full((N, 1, D), -np.inf)
    batch = max(BATCH, episodes // 100)

    def read(observations: Any) -> Any:
        x = np.zeros((N, 1, D))
        for i, one in enumerate(observations):
            flat = list(numbers(one))
            x[i, 0, : len(flat)] = flat
        return x

    def scaled(x: Any) -> Any:
        return np.where(high > low, 2 * (x - low) / np.where(high > low, high - low, 1.0) - 1, 0.0)

    k = 0
    while k < episodes:
        rate, X, acts, rewards, ends = RATE * (1 - k / episodes), [], [], [], []
        for _ in range(min(batch, episodes - k)):
            observations, over = env.reset(seed * 10**6 + k), False
            k += 1
            while not over:
                x = read(observations)
                low, high = np.minimum(low, x), np.maximum(high, x)
                cumulated = softmax(actor(scaled(x)) + mask)[:, 0].cumsum(1)
                actions = np.minimum((rng.random((N, 1)) > cumulated).sum(1), np.array(env.actions) - 1)
                observations, reward, over = env.step(actions.tolist())
                X.append(x)
                acts.append(actions)
                rewards.append(reward)
                ends.append(over)
        x = scaled(np.concatenate(X, axis=1))
        chosen, r = np.eye(A)[np.array(acts).T], np.array(rewards).T  # [N, B, A], [N, B]
        if k <= batch:
            unit = max(float(np.std(np.add.reduceat(r, np.flatnonzero([True, *ends[:-1]]), axis=1))), 1e-6)
        values, advantage = critic(x)[..., 0], np.zeros_like(r)
        ahead = trace = np.zeros(N)
        for t in reversed(range(len(ends))):
            ahead, trace = (np.zeros(N), np.zeros(N)) if ends[t] else (ahead, trace)
            trace = r[:, t] / unit + ahead - values[:, t] + TRACE * trace
            advantage[:, t], ahead = trace, values[:, t]
        target = advantage + values
        advantage = (advantage - advantage.mean(1, keepdims=True)) / (advantage.std(1, keepdims=True) + 1e-8)
        before = (softmax(actor(x) + mask) * chosen).sum(-1)
        for _ in range(EPOCHS):
            probs = softmax(actor(x) + mask)
            ratio = (probs * chosen).sum(-1) / before
            inside = np.where(advantage > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
            slope = -(advantage * ratio * inside)[..., None] * (chosen - probs)
            logs = np.log(probs + 1e-12)
            slope += ENTROPY * probs * (logs - (probs * logs).sum(-1, keepdims=True))
            actor.descend(x, slope / len(ends), rate)
            critic.descend(x, (critic(x) - target[..., None]) / len(ends), rate)

    def player(i: int) -> Callable[[Any], Any]:
        def probs(observation: Any) -> Any:
            x = np.zeros((N, 1, D))
            flat = list(numbers(observation))
            x[i, 0, : len(flat)] = flat
            return softmax(actor(scaled(x)) + mask)[i, 0, : env.actions[i]]

        return probs

    return [player(i) for i in range(N)]
