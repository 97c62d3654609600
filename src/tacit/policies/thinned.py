"""A certified policy made small for deployment: M runs of the hidden index, drawn in advance.

Each run m fixes the first index and the uniform number of every step. The index then depends on the states that are met
and on nothing else, and since a stage is drawn from as a whole, a run can hold at most as many indices at (h, s) as
(h, s) had stages: the size depends on M, H, S and the logarithm of the number of episodes. (With the rule "rate" there
are no stages, and a run holds more: it grows with the number of states that can be met on the way.) Played, the policy
draws m evenly.

Its value and gap are those of the full policy in expectation over the M runs; they differ by sampling, of the order of
H times the span of the rewards over √M.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import archive, check, streams
from tacit.core.errors import TacitError
from tacit.core.types import FloatArray

if TYPE_CHECKING:
    from tacit.policies.certified import CertifiedPolicy


class ThinnedPolicy:
    """M fixed runs of a certified policy.

    Nodes are (m, h, hidden index before the step, s), sorted; each has the node's next index and distributions.
    """

    def __init__(
        self,
        node: npt.NDArray[Any],
        following: npt.NDArray[Any],
        stored: npt.NDArray[Any],
        first: npt.NDArray[Any],
        *,
        actions: Sequence[int],
        states: int,
        horizon: int,
        episodes: int,
    ) -> None:
        self.node = np.asarray(node, dtype=np.int64)  # [nodes]  ((m·H + h)·(K + 1) + index + 1)·S + s, ascending
        self.following = np.asarray(following, dtype=np.int64)  # [nodes]  index after the step, −1 for none
        self.stored = np.asarray(stored, dtype=np.float32)  # [nodes, Σ(A_i − 1)]
        self.first = np.asarray(first, dtype=np.int64)  # [M]  index before the first step
        self.actions = tuple(check.integer(f"actions[{i}]", a, least=1) for i, a in enumerate(actions))
        self.states = check.integer("states", states, least=1)
        self.horizon = check.integer("horizon", horizon, least=1)
        self.episodes = check.integer("episodes", episodes, least=1)
        width = sum(self.actions) - len(self.actions)
        if self.stored.shape != (len(self.node), width) or self.following.shape != self.node.shape:
            raise TacitError(
                f"a thinned policy of {len(self.node)} nodes must have [{len(self.node)}, {width}] probabilities"
            )
        if self.stored.size and not (self.stored.min() >= 0 and self.stored.max() <= 1):
            raise TacitError("stored has a probability outside [0, 1]")
        if len(self.first) < 1 or (len(self.node) and (np.diff(self.node) <= 0).any()):
            raise TacitError("the nodes of a thinned policy must ascend, and there must be at least one run")

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.actions)

    def part(self, agent: int) -> ThinnedPart:
        """Return agent i's part, which acts alone from the common seed."""
        return ThinnedPart(self, check.integer("agent", agent, least=0, most=self.agents - 1))

    def find(self, m: int, h: int, index: int, s: int) -> int:
        """Return the place of a node, or −1 where play has left the record."""
        key = _key(m, h, index, s, self.horizon, self.episodes, self.states)
        place = int(np.searchsorted(self.node, key))
        return place if place < len(self.node) and self.node[place] == key else -1

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as `.npz`."""
        sizes = {"states": self.states, "horizon": self.horizon, "episodes": self.episodes}
        arrays: dict[str, npt.ArrayLike] = {key: np.int64(value) for key, value in sizes.items()}
        for key in ("node", "following", "stored", "first"):
            arrays[key] = getattr(self, key)
        archive.write(path, {**arrays, "actions": np.array(self.actions)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ThinnedPolicy:
        """Read a policy that `save` wrote."""
        arrays = archive.read(path)
        try:
            sizes = {key: arrays[key].item() for key in ("states", "horizon", "episodes")}
            parts = [arrays[key] for key in ("node", "following", "stored", "first")]
            return cls(*parts, actions=np.atleast_1d(arrays["actions"]).tolist(), **sizes)
        except (TacitError, ValueError, TypeError, KeyError) as error:
            raise TacitError(f"{path} is not a thinned policy: {error}") from None

    def __repr__(self) -> str:
        return f"ThinnedPolicy({self.agents} agents, {len(self.first)} runs, {len(self.node)} nodes)"


class ThinnedPart:
    """One agent's part of a thinned policy."""

    def __init__(self, policy: ThinnedPolicy, agent: int) -> None:
        self.policy = policy
        self.agent = agent
        self.index = -1
        self._run = -1
        self._next = 0
        self._own: FloatArray

    def begin(self, seed: int) -> None:
        """Begin an episode with the common seed."""
        seed = check.integer("seed", seed, least=0)
        self._run = int(streams.stream(seed, streams.ENVIRONMENT).random() * len(self.policy.first))
        self._own = streams.stream(seed, streams.agent_role(self.agent)).random(self.policy.horizon)
        self.index = int(self.policy.first[self._run])
        self._next = 0

    def act(self, h: int, s: int) -> int:
        """Return the action at step h in state s; steps come in order."""
        from tacit.policies.certified import in_order, restored

        if self._run < 0:
            raise TacitError("a part acts within an episode; call begin(seed) with the common seed first")
        policy, size = self.policy, self.policy.actions[self.agent]
        self._next = in_order(h, self._next, policy.horizon)
        s = check.integer("s", s, least=0, most=policy.states - 1)
        place = policy.find(self._run, h, self.index, s) if self.index >= 0 else -1
        self.index = int(policy.following[place]) if place >= 0 else -1
        if self.index < 0:
            return int(self._own[h] * size)
        begin = sum(a - 1 for a in policy.actions[: self.agent])
        probs = restored(policy.stored[place, begin : begin + size - 1])
        return int((self._own[h] >= np.cumsum(probs)[:-1]).sum())


def thin(policy: CertifiedPolicy, starts: int, seed: int) -> ThinnedPolicy:
    """Draw M runs and follow each through every state it can meet."""
    rng = streams.stream(seed, streams.ENVIRONMENT)
    first = (rng.random(starts) * policy.episodes).astype(np.int64)
    numbers = rng.random((starts, policy.horizon))
    nodes, following, stored = [], [], []
    run, index = np.arange(starts), first
    for h in range(policy.horizon):
        # every (run, index) with every state
        m = np.repeat(run, policy.states)
        k = np.repeat(index, policy.states)
        s = np.tile(np.arange(policy.states), len(run))
        after = policy.earlier(h, k, s, numbers[m, h])
        kept = after >= 0
        m, k, s, after = m[kept], k[kept], s[kept], after[kept]
        nodes.append(_key(m, h, k, s, policy.horizon, policy.episodes, policy.states))
        following.append(after)
        stored.append(policy.stored[after, h])
        pairs = np.unique(np.stack([m, after]), axis=1)
        run, index = pairs[0], pairs[1]
    node = np.concatenate(nodes)
    order = np.argsort(node)
    return ThinnedPolicy(
        node[order],
        np.concatenate(following)[order],
        np.concatenate(stored)[order],
        first,
        actions=policy.actions,
        states=policy.states,
        horizon=policy.horizon,
        episodes=policy.episodes,
    )


def _key(m: Any, h: int, index: Any, s: Any, horizon: int, episodes: int, states: int) -> Any:
    return ((m * horizon + h) * (episodes + 1) + index + 1) * states + s
