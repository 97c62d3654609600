"""The mixtures of V-learning for agents that see different things: each remembers what it saw itself.

Each agent's part is a certified policy of that agent alone, with the states that it met. The first episode and the
earlier visits are drawn from the common seed, so agents that see the same play as with a certified policy; agents that
see different things each follow their own record. No theorem bounds its gap: `tacit.exploit` measures it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import archive, check
from tacit.core.errors import TacitError, one_line
from tacit.core.ownership import Owned
from tacit.policies import document
from tacit.policies.certified import CertifiedPart, CertifiedPolicy, columns
from tacit.policies.showable import Showable

KEYS = ("visited", "stored", "actions", "states", "rule", "start")


class SeparatePolicy(Showable):
    """A certified policy of one agent for each agent.

    Parameters
    ----------
    each : sequence of N CertifiedPolicy
        Each of one agent; all of the same horizon and number of episodes.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.policies import CertifiedPolicy
    >>> one = CertifiedPolicy(np.zeros((4, 1), int), np.full((4, 1, 1), 0.5, np.float32), actions=[2], states=1)
    >>> tacit.SeparatePolicy([one, one]).agents
    2
    """

    def __init__(self, each: Sequence[CertifiedPolicy]) -> None:
        self.each = tuple(check.listed("each", each, "certified policies, one for each agent"))
        if not self.each or any(not isinstance(own, CertifiedPolicy) or own.agents != 1 for own in self.each):
            raise TacitError("a separate policy must have a certified policy of one agent for each agent")
        sizes = {(own.episodes, own.horizon, own.rule, own.start) for own in self.each}
        if len(sizes) > 1:
            raise TacitError("the parts of a separate policy must have the same episodes, horizon, rule and start")
        self.actions = tuple(own.actions[0] for own in self.each)
        self.states = max(own.states for own in self.each)
        self.episodes, self.horizon, self.rule, self.start = sizes.pop()

    @classmethod
    def of(
        cls,
        visited: npt.NDArray[Any],
        stored: npt.NDArray[Any],
        *,
        actions: Sequence[int],
        states: Sequence[int],
        rule: str,
        start: str,
    ) -> SeparatePolicy:
        """Make one from each agent's own states [K, H, N] and the distributions of all [K, H, Σ(A_i − 1)]."""
        return cls(
            [
                CertifiedPolicy(
                    Owned(np.ascontiguousarray(visited[:, :, i])),
                    Owned(np.ascontiguousarray(stored[:, :, own])),
                    actions=[actions[i]],
                    states=states[i],
                    rule=rule,
                    start=start,
                )
                for i, own in enumerate(columns(actions))
            ]
        )

    @property
    def agents(self) -> int:
        """Number of agents, N."""
        return len(self.each)

    def part(self, agent: int) -> CertifiedPart:
        """Return agent i's part, which acts alone from the common seed on what it sees itself."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        return self._told(CertifiedPart(self.each[i], 0, number=i), i)

    def save(self, path: str | os.PathLike[str], *, agent: int | None = None) -> None:
        """Write the policy as `.npz`; parts are loaded from it (`Part.load`), and `agent` is refused."""
        document.whole_only(path, agent, "")
        document.checked_ending(path, ".npz")
        archive.write(
            path,
            {
                "kind": np.array("separate"),
                "visited": np.stack([own.visited for own in self.each], axis=2),
                "stored": np.concatenate([own.stored for own in self.each], axis=2).astype(np.float32),
                "actions": np.array(self.actions),
                "states": np.array([own.states for own in self.each]),
                "rule": np.array(self.rule),
                "start": np.array(self.start),
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SeparatePolicy:
        """Read a policy that `save` wrote."""
        arrays = archive.read(path)
        missing = [key for key in KEYS if key not in arrays]
        if missing:
            raise TacitError(f"{path} is not a separate policy: it has no {' and no '.join(missing)}")
        try:
            actions = archive.integers("actions", arrays["actions"])
            states = archive.integers("states", arrays["states"])
            visited, stored = arrays["visited"], arrays["stored"]
            width = sum(actions) - len(actions)
            if visited.ndim != 3 or visited.shape[2] != len(actions) or len(states) != len(actions):
                raise TacitError(f"visited has shape {visited.shape}; it must be [K, H, {len(actions)}]")
            if stored.shape != (*visited.shape[:2], width):
                raise TacitError(f"stored has shape {stored.shape}; it must be {(*visited.shape[:2], width)}")
            words = {key: archive.single(key, arrays[key]) for key in ("rule", "start")}
            return cls.of(visited, stored, actions=actions, states=states, **words)
        except (TacitError, ValueError, TypeError) as error:
            raise TacitError(f"{path} is not a separate policy: {one_line(error, 300)}") from None

    def __repr__(self) -> str:
        return f"SeparatePolicy({self.agents} agents, horizon {self.horizon}, from {self.episodes} episodes)"
