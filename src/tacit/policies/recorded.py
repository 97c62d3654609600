"""The output policy of V-learning: non-Markov, correlated by a common seed. [Mao2022, Alg. 2 and Alg. 4]

The policy is made of recorded visits (`visits.py`). Played, it draws an episode k, the hidden index, and at each step h
in state s

1. draws an earlier visit of (h, s) from those whose average was in force before episode k: evenly from the visits of
   the last stage that had ended or, for V-learning with the rate α_t, visit j of t with probability α_t^j;
2. sets k to the episode of that visit, and
3. draws every agent's action from the distribution that the agent had at that visit.

All draws of step 1 come from the common seed, so each agent can play its part alone. Instead of drawing the first k,
play may begin with what the last episode left behind (`start = "recent"`): that leaves out the random play at first.

The record may hold M visits of each stage instead of all: that is a policy of its own, whose gap the certificate bounds
exactly. Where agents saw different things each has a record of its own. The indices are then drawn from the same common
numbers, so that agents which see the same play as with one record; no theorem bounds the gap, `tacit.exploit` measures
it.

Deviations: [Mao2022, Alg. 2] acts before it draws j and lets j range over the running stage; the proof needs the order
and the range above: V^{π̄_h^k}(s) = (1/ň)·Σ_j D_{μ^{l_j}}(r + P·V^{π̄_{h+1}^{l_j}}). Where no stage has ended before
episode k the paper leaves the policy open; here all agents play evenly from there to the end of the episode.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from tacit.core import check, files
from tacit.core.display import count, times
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.policies.base import Part, Policy, draw
from tacit.policies.visits import Visits, columns

if TYPE_CHECKING:
    from tacit.games.protocol import Game
    from tacit.policies.deployed import DeployedPolicy

STARTS = ("average", "recent")


def take_start(name: str) -> str:
    """Return the name of a start or of a candidate; "latest" is what "recent" was called before.

    >>> take_start("latest")
    'recent'
    """
    return "recent" if name == "latest" else name


#: What a `.npz` holds of every visit, or of some of each stage; the first five of these are arrays [V, …].
_GRID = ("visited", "stored", "actions", "states", "rule", "start")
_VISITS = ("cell", "stage", "episode", "until", "stored", "actions", "states", "horizon", "episodes", "start")


class RecordedPolicy(Policy):
    """The output policy π̄ of V-learning.

    Parameters
    ----------
    visited : int array [K, H]
        State visited in each episode of learning, at each step.
    stored : float32 array [K, H, Σ_i (A_i − 1)]
        The distributions the agents had there: all but the last probability of each agent, agent after agent.
    actions : sequence of N ints
    states : int
    rule : {"stage", "rate"}
        How an earlier visit is drawn.
    start : {"average", "recent"}
        With which episode an episode of play begins: one drawn evenly from all, as in the paper, or what the last one
        left behind.

    Attributes
    ----------
    records : tuple of Visits
        One that all agents share, or one for each agent.

    Notes
    -----
    Memory is K·H·(4·Σ_i(A_i − 1) + 4) bytes for the arrays, and 8·K·H more once it is played. On disk states take one
    byte where there are at most 256 of them.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> tacit.RecordedPolicy(np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32), actions=[2, 2], states=1)
    RecordedPolicy(2 agents, 1 state, 2×2 actions, horizon 1, from 4 episodes)
    """

    said, kinds = "a recorded policy", ("certified", "sampled", "separate")
    horizon: int
    records: tuple[Visits, ...]
    visited: npt.NDArray[Any] | None  # [K, H] of a shared record; None where some visits of each stage were kept
    stored: npt.NDArray[Any]  # of a shared record: all but the last probability of each agent at each visit

    def __init__(
        self,
        visited: npt.NDArray[Any] | Owned[Any],
        stored: npt.NDArray[Any] | Owned[Any],
        *,
        actions: Sequence[int],
        states: int,
        rule: str = "stage",
        start: str = "average",
    ) -> None:
        self._hold([Visits.everything(visited, stored, actions=actions, states=states, rule=rule)], start)

    @classmethod
    def of_records(cls, records: Sequence[Visits], *, start: str = "average") -> RecordedPolicy:
        """Make a policy of one record that all agents share, or of one for each agent.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> from tacit.policies.visits import Visits
        >>> played = np.full((4, 1, 1), 0.5, np.float32)
        >>> own = Visits.everything(np.zeros((4, 1), int), played, actions=[2], states=1, rule="stage")
        >>> tacit.RecordedPolicy.of_records([own, own]).agents
        2
        """
        made = cls.__new__(cls)
        made._hold(records, start)
        return made

    @classmethod
    def of_stages(
        cls, cell: Any, stage: Any, episode: Any, until: Any, stored: Any, *, start: str = "average", **sizes: Any
    ) -> RecordedPolicy:
        """Make a policy of M visits of each stage.

        Parameters
        ----------
        cell : int array [V]
            h·S + s of each visit, ascending; visits of one cell are ordered by episode.
        stage, episode, until : int arrays [V]
            The visit's stage, its episode, and the episode in which its stage ended.
        stored : float32 array [V, Σ_i (A_i − 1)]
            All but the last probability of each agent, agent after agent.
        start : {"average", "recent"}
        **sizes
            `actions`, `states`, `horizon` and `episodes` of the run.

        Examples
        --------
        >>> import numpy as np
        >>> import tacit
        >>> one, played = np.zeros(1, np.int64), np.full((1, 2), 0.5, np.float32)
        >>> sizes = {"actions": [2, 2], "states": 1, "horizon": 1, "episodes": 2}
        >>> tacit.RecordedPolicy.of_stages(one, one, one, one + 1, played, **sizes)
        RecordedPolicy(2 agents, 1 state, 2×2 actions, horizon 1, 1 visit from 2 episodes)
        """
        return cls.of_records([Visits.chosen(cell, stage, episode, until, stored, **sizes)], start=start)

    def _hold(self, records: Sequence[Visits], start: str) -> None:
        self.records = tuple(check.list_of("records", records, "records"))
        self.start = check.choice("start", take_start(start), STARTS)
        if not self.records or any(not isinstance(own, Visits) for own in self.records):
            raise TacitError("a recorded policy must have a record for all agents, or one for each")
        if len(self.records) > 1 and any(len(own.actions) != 1 for own in self.records):
            raise TacitError("of several records each must be of one agent")
        sizes = {(own.episodes, own.horizon, own.rule) for own in self.records}
        if len(sizes) > 1:
            raise TacitError("the records of a policy must have the same episodes, horizon and rule")
        self.episodes, self.horizon, self.rule = sizes.pop()
        self.actions = tuple(a for own in self.records for a in own.actions)
        if len(self.records) == 1:
            self.visited, self.stored = self.records[0].visited, self.records[0].stored
        self.agents, self.states = len(self.actions), max(own.states for own in self.records)

    @property
    def record(self) -> Visits:
        """The record that all agents share."""
        if len(self.records) > 1:
            raise TacitError(
                f"{self!r} has a record for each agent, which saw different things: what is played has no "
                f"distribution by state, and no exact gap; tacit.exploit measures it by play"
            )
        return self.records[0]

    def distributions(self, agent: int, k: npt.ArrayLike, h: int) -> FloatArray:
        """Return agent i's distributions [len(k), A_i] at step h of the episodes k of learning."""
        return self.record.distributions(agent, k, h)

    def known_states(self, agent: int) -> int:
        """Return how many states agent i's record has."""
        return self.records[agent if len(self.records) > 1 else 0].states

    def with_start(self, start: str) -> RecordedPolicy:
        """Return the same policy, beginning with "average" or "recent"; nothing is checked or copied again."""
        other = copy.copy(self)
        other.start = check.choice("start", take_start(start), STARTS)
        return other

    def starts(self) -> IntArray:
        """Return the episodes with which an episode of play begins, each as likely as the others."""
        return np.array([self.episodes]) if self.start == "recent" else np.arange(self.episodes)

    def first(self, u: FloatArray) -> IntArray:
        """Return the episodes with which episodes of play begin, drawn with the uniform numbers u."""
        starts = self.starts()
        return starts[(u * len(starts)).astype(np.int64)]

    def _part(self, agent: int) -> RecordedPart:
        return RecordedPart(self, agent)

    def check_fits(self, game: Game) -> None:
        """Raise unless all agents share a record, of the game's states, actions and horizon."""
        _ = self.record
        super().check_fits(game)

    def deploy(self, starts: int, *, seed: int = 0) -> DeployedPolicy:
        """Return a small form for devices: `starts` sampled runs of the hidden index, fixed in advance."""
        from tacit.policies.deployed import deploy  # it builds on this file

        return deploy(self, check.integer("starts", starts, least=1), check.integer("seed", seed, least=0))

    thinned = deploy  #: the old name

    def _content(self, path: object, shown: Sequence[int]) -> NoReturn:
        raise TacitError(
            f"cannot write {path}: a recorded policy is a .npz, of which Part.load(…, agent=0) reads a part; for a "
            f"small policy use policy.deploy(200).save({str(path)!r})"
        )

    def _arrays(self) -> dict[str, Any]:
        own = self.records[0]
        shared = {"actions": np.array(self.actions), "start": np.array(self.start)}
        if own.visited is None:
            sizes = {name: np.asarray(getattr(own, name)) for name in ("states", "horizon", "episodes")}
            cell, episode = np.divmod(own.keys, own.episodes)
            visits = {"cell": cell, "stage": own.stage, "episode": episode, "until": own.until, "stored": own.stored}
            return {"kind": np.array("sampled"), **shared, **visits, **sizes}
        shared |= {"rule": np.array(self.rule)}
        if len(self.records) == 1:
            visited, states = own.visited.astype(np.min_scalar_type(self.states - 1)), np.asarray(self.states)
            kind, stored = "certified", own.stored
        else:
            visited = np.stack([each.visited for each in self.records], axis=2)  # type: ignore[misc]
            stored = np.concatenate([each.stored for each in self.records], axis=2)
            kind, states = "separate", np.array([each.states for each in self.records])
        stored = stored.astype(np.float32)
        return {"kind": np.array(kind), **shared, "visited": visited, "stored": stored, "states": states}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> RecordedPolicy:
        kind = files.single("kind", arrays["kind"]) if "kind" in arrays else "certified"
        if kind not in cls.kinds:
            raise TacitError(f"it holds a policy of the kind {kind!r}")
        check_keys(arrays, _VISITS if kind == "sampled" else _GRID)
        start, actions = files.single("start", arrays["start"]), files.integers("actions", arrays["actions"])
        if kind == "sampled":
            sizes = {key: files.single(key, arrays[key]) for key in ("states", "horizon", "episodes")}
            return cls.of_stages(*(arrays[key] for key in _VISITS[:5]), start=start, actions=actions, **sizes)
        visited, stored, rule = arrays["visited"], arrays["stored"], files.single("rule", arrays["rule"])
        if kind == "certified":
            states = files.single("states", arrays["states"])
            return cls(Owned(visited), Owned(stored), actions=actions, states=states, rule=rule, start=start)
        each = files.integers("states", arrays["states"])
        if visited.ndim != 3 or visited.shape[2] != len(actions) or len(each) != len(actions):
            raise TacitError(f"visited has shape {visited.shape}; it must be [K, H, {len(actions)}]")
        shape = (*visited.shape[:2], sum(actions) - len(actions))
        if stored.shape != shape:
            raise TacitError(f"stored has shape {stored.shape}; it must be {shape}")
        return cls.of_records(each_agents_own(visited, stored, actions=actions, states=each, rule=rule), start=start)

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> NoReturn:
        raise TacitError("a recorded policy is a .npz")

    def __repr__(self) -> str:
        sizes = f"{self.agents} agents, {count(self.states, 'state')}, {times(self.actions)} actions"
        own = self.records[0]
        number = "" if own.visited is not None else f"{count(len(own.keys), 'visit')} "
        apart = ", a record for each agent" if len(self.records) > 1 else ""
        return f"RecordedPolicy({sizes}, horizon {self.horizon}, {number}from {self.episodes} episodes{apart})"


def check_keys(arrays: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Raise unless a file has all of these arrays."""
    missing = [key for key in keys if key not in arrays]
    if missing:
        raise TacitError(f"it has no {' and no '.join(missing)}")


def each_agents_own(
    visited: npt.NDArray[Any],
    stored: npt.NDArray[Any],
    *,
    actions: Sequence[int],
    states: Sequence[int],
    rule: str,
) -> list[Visits]:
    """Return a record for each agent, from its own states [K, H, N] and the distributions of all [K, H, Σ(A_i − 1)]."""
    return [
        Visits.everything(
            Owned(np.ascontiguousarray(visited[:, :, i])),
            Owned(np.ascontiguousarray(stored[:, :, own])),
            actions=[actions[i]],
            states=states[i],
            rule=rule,
        )
        for i, own in enumerate(columns(actions))
    ]


class RecordedPart(Part):
    """One agent's part of a recorded policy: it needs the common seed and the states, and no message.

    Parameters
    ----------
    policy : RecordedPolicy
    agent : int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> played = np.full((4, 1, 2), 0.5, np.float32)
    >>> policy = tacit.RecordedPolicy(np.zeros((4, 1), int), played, actions=[2, 2], states=1)
    >>> mine = policy.part(1)
    >>> mine.begin(seed=3)  # of the episode; the same for all agents
    >>> mine.act(0, 0) in (0, 1)
    True
    """

    def __init__(self, policy: RecordedPolicy, agent: int) -> None:
        super().__init__(agent, policy.actions[agent], policy.horizon)
        self.policy = policy
        self.index = -1  # the hidden index, the same for all agents; −1 once it has been lost in a first stage
        apart = len(policy.records) > 1
        self._record = policy.records[agent if apart else 0]
        self._columns = columns(self._record.actions)[0 if apart else agent]

    def _begin(self) -> None:
        assert self._common is not None
        policy = self.policy
        self.index = policy.episodes if policy.start == "recent" else int(self._common[-1] * policy.episodes)

    def _lose(self) -> None:
        self.index = -1

    def act(self, h: int, s: int | None) -> int:
        """Return the action at step h in state s, evenly drawn with None; steps come in order."""
        if s is None:
            return self.stray(h)
        if type(s) is not int or not 0 <= s < self._record.states:
            s = check.integer("s", s, least=0, most=self._record.states - 1)
        u = self._step(h)
        assert self._common is not None
        self.index = self._record.earlier_one(h, self.index, s, self._common[h])
        if self.index < 0:
            return int(u * self._size)
        return draw(self._record.rows(self.index, h)[self._columns].tolist(), u)
