"""A recorded policy made small for devices: M runs of the hidden index, drawn in advance.

Each run m fixes the first index and the uniform number of every step. The index then depends on the states that are met
and on nothing else, so a run is a graph: its nodes are the indices before each step, its edges the states. A stage is
drawn from as a whole, so a run can hold at most as many indices at (h, s) as (h, s) had stages: the size depends on M,
H, S and the logarithm of the number of episodes. (With the rule "rate" there are no stages, and a run holds more: it
grows with the number of states that can be met on the way.) Nodes from which everybody plays the same to the end are
kept once. Played, the policy draws m uniformly.

Its value and gap are those of the full policy in expectation over the M runs; they differ by sampling, of the order of
H times the span of the rewards over √M.

As JSON the graph is

    runs    the node that each run starts from
    nodes   for each node an object from a state to a row [next node, agent 0's probabilities, agent 1's, …]

A row has all but the last probability of each agent, as the shortest decimals that give the same 32-bit floats again.
Node 0 has no rows: from there on all agents play uniformly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tacit.core import check, files, memory, streams
from tacit.core.errors import TacitError, brief
from tacit.core.memory import Owned, freeze
from tacit.core.types import IntArray
from tacit.policies.base import Part, Policy, draw, list_of
from tacit.policies.recorded import (
    MOST,
    RecordedPolicy,
    check_actions,
    check_keys,
    check_stored,
    check_whole,
    columns,
)

#: What a `.npz` holds; the first four are arrays, in the order of the parameters.
KEYS = ("row", "following", "stored", "first", "actions", "states", "horizon")

#: Numbers that `_follow` holds for each node and state, beside the probabilities.
_FLOATS = 12


PLAY = (
    "In each episode all agents share one number u in [0, 1): node = runs[floor(u * runs.length)]. In state s take "
    "row = nodes[node][s]; the next node is row[0], and row[1 + i] has the probabilities of agent i's actions but the "
    "last, to be drawn from with a number of the agent's own. Without a row: node = 0, and all actions are equally "
    "likely."
)


class DeployedPolicy(Policy):
    """M fixed runs of a recorded policy.

    Parameters
    ----------
    row : int array [R]
        node·S + s, ascending, for each node and each state that has something to play there. Nodes count from 1 without
        a gap; node 0 has no rows, and an agent that reaches it plays uniformly to the end of the episode.
    following : int array [R]
        The next node.
    stored : float32 array [R, Σ_i (A_i − 1)]
        All but the last probability of each agent, agent after agent.
    first : int array [M]
        The node that each run starts from.
    actions : sequence of N ints
    states, horizon : int

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import RecordedPolicy
    >>> whole = RecordedPolicy(np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32), actions=[2, 2], states=1)
    >>> whole.deploy(3)
    DeployedPolicy(2 agents, 3 runs, ...)
    """

    said, kinds = "a deployed policy", ("deployed",)
    horizon: int

    def __init__(
        self,
        row: npt.NDArray[Any],
        following: npt.NDArray[Any],
        stored: npt.NDArray[Any],
        first: npt.NDArray[Any],
        *,
        actions: Sequence[int],
        states: int,
        horizon: int,
    ) -> None:
        self.row = check_whole("row", row)
        self.following = check_whole("following", following)
        self.actions = check_actions(actions)
        self.agents = len(self.actions)
        self.first = check_whole("first", first)
        self.states = check.integer("states", states, least=1, most=MOST)
        self.horizon = check.integer("horizon", horizon, least=1, most=MOST)
        probs = check.array("stored", stored)
        rows, width = len(self.row), sum(self.actions) - len(self.actions)
        if probs.shape != (rows, width) or self.following.shape != self.row.shape:
            raise TacitError(f"a deployed policy of {rows} rows must have [{rows}, {width}] probabilities")
        with np.errstate(over="ignore"):  # what is beyond 32-bit floats is no probability, and refused below
            self.stored = freeze("stored", Owned(probs.astype(np.float32)))
        check_stored(self.stored, self.actions)
        node = self.row // self.states
        if (np.diff(self.row) <= 0).any() or (node < 1).any() or (np.diff(node, prepend=0) > 1).any():
            raise TacitError("the rows of a deployed policy must ascend, and its nodes count from 1 without a gap")
        self.nodes = 1 + int(node.max(initial=0))
        for name, nodes in (("first", self.first), ("following", self.following)):
            if nodes.max(initial=0) >= self.nodes:
                raise TacitError(f"{name} has a node outside 0 to {self.nodes - 1}")
        if not len(self.first):
            raise TacitError("first is empty; a deployed policy must have at least one run")

    def _part(self, agent: int) -> DeployedPart:
        return DeployedPart(self, agent)

    def rows(self, k: IntArray, h: int) -> npt.NDArray[Any]:
        """Return what is stored in some rows, [len(k), Σ(A_i − 1)]. The step follows from them."""
        stored_rows: npt.NDArray[Any] = self.stored[k]
        return stored_rows

    def find(self, node: int, s: int) -> int:
        """Return the index of the row of a node and a state; −1 for none."""
        key = node * self.states + s
        at = int(self.row.searchsorted(key))
        return at if at < len(self.row) and self.row[at] == key else -1

    def _arrays(self) -> dict[str, Any]:
        return {"kind": np.array("deployed"), **{key: getattr(self, key) for key in KEYS}}

    def _content(self, path: object, shown: Sequence[int]) -> tuple[str, str, dict[str, Any]]:
        nodes: list[dict[str, Any]] = [{} for _ in range(self.nodes)]
        agent_columns = [columns(self.actions)[i] for i in shown]
        shortest = self.stored.astype(str).astype(np.float64).tolist()
        for key, after, probs in zip(self.row.tolist(), self.following.tolist(), shortest, strict=True):
            node, s = divmod(key, self.states)
            nodes[node][str(s)] = [after, *(probs[columns_of] for columns_of in agent_columns)]
        return "deployed", PLAY, {"horizon": self.horizon, "runs": self.first.tolist(), "nodes": nodes}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        check_keys(arrays, KEYS)
        sizes = {key: files.single(key, arrays[key]) for key in ("states", "horizon")}
        return cls(*(arrays[key] for key in KEYS[:4]), actions=files.integers("actions", arrays["actions"]), **sizes)

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self:
        states, horizon = (check.integer(key, content.get(key), least=1, most=MOST) for key in ("states", "horizon"))
        actions, nodes = check_actions(list_of(content, "actions")), list_of(content, "nodes")
        last, rows = len(nodes) - 1, []
        for n, node in enumerate(nodes):
            if not isinstance(node, dict):
                raise TacitError(f"nodes[{n}] is {brief(node)}; it must be an object from states to rows")
            for state, row in node.items():
                name = f"nodes[{n}][{brief(state)}]"
                key = n * states + _state(name, state, states)
                if not isinstance(row, list) or len(row) != 1 + len(actions):
                    wanted = f"a node and a list for each of {len(actions)} agents"
                    raise TacitError(f"{name} is {brief(row)}; it must be {wanted}")
                after = check.integer(f"{name}[0]", row[0], least=0, most=last)
                rows.append((key, after, _probabilities(name, row[1:], actions)))
        rows.sort(key=lambda row: row[0])
        keys, following, stored = zip(*rows, strict=True) if rows else ((), (), ())
        runs = [check.integer(f"runs[{m}]", n, least=0, most=last) for m, n in enumerate(list_of(content, "runs"))]
        return cls(
            np.array(keys, dtype=np.int64),
            np.array(following, dtype=np.int64),
            np.array(stored, dtype=np.float32).reshape(len(rows), sum(actions) - len(actions)),
            np.array(runs, dtype=np.int64),
            actions=actions,
            states=states,
            horizon=horizon,
        )

    def __repr__(self) -> str:
        return f"DeployedPolicy({self.agents} agents, {len(self.first)} runs, {self.nodes} nodes)"


class DeployedPart(Part):
    """One agent's part of a deployed policy.

    Parameters
    ----------
    policy : DeployedPolicy
    agent : int

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import RecordedPolicy
    >>> whole = RecordedPolicy(np.zeros((4, 1), int), np.full((4, 1, 2), 0.5, np.float32), actions=[2, 2], states=1)
    >>> mine = whole.deploy(3).part(1)
    >>> mine.begin(seed=3)
    >>> mine.act(0, 0) in (0, 1)
    True
    """

    def __init__(self, policy: DeployedPolicy, agent: int) -> None:
        super().__init__(agent, policy.actions[agent], policy.horizon)
        self.policy = policy
        self.node = 0  # the same for all agents; 0 once play has left the record
        self._columns = columns(policy.actions)[agent]

    def _begin(self) -> None:
        assert self._common is not None
        self.node = int(self.policy.first[int(self._common[0] * len(self.policy.first))])

    def _lose(self) -> None:
        self.node = 0

    def _act(self, h: int, s: int | None) -> int:
        if s is None:
            return self.stray(h)
        policy = self.policy
        state = check.integer("s", s, least=0, most=policy.states - 1)
        u = self._step(h)
        at = policy.find(self.node, state)
        if at < 0:
            self.node = 0
            return int(u * self._size)
        self.node = int(policy.following[at])
        return draw(policy.stored[at, self._columns].tolist(), u)


def deploy(policy: RecordedPolicy, starts: int, seed: int) -> DeployedPolicy:
    """Draw M runs, follow each through every state, and number the nodes."""
    met = _follow(policy, starts, streams.stream(seed, streams.ENVIRONMENT))
    node, nodes = np.zeros(1 + int(met[-1][1].max(initial=-1)), dtype=np.int64), 0  # after the last step
    row: list[IntArray] = []
    content, width = [], sum(policy.actions) - policy.agents
    for h in reversed(range(policy.horizon)):
        after, onward = met[h]
        following = np.append(node, -1)[onward][..., None]  # −1 where there is no row
        rows = np.zeros((*after.shape, width))
        rows[after >= 0] = policy.record.rows(after[after >= 0], h)
        table = np.concatenate([following, np.where(following < 0, 0.0, rows)], axis=2)
        different, which = np.unique(table, axis=0, return_inverse=True)
        occupied = different[..., 0] >= 0
        nonempty = occupied.any(axis=1)
        number = np.where(nonempty, nodes + np.cumsum(nonempty), 0)
        n, s = np.nonzero(occupied)
        row.append(number[n] * policy.states + s)
        content.append(different[occupied])
        node, nodes = number[which.ravel()], nodes + int(nonempty.sum())
    following, stored = np.split(np.concatenate(content), [1], axis=1)
    sizes: dict[str, Any] = {"actions": policy.actions, "states": policy.states, "horizon": policy.horizon}
    deployed = DeployedPolicy(np.concatenate(row), following[:, 0].astype(np.int64), stored, node, **sizes)
    deployed.observations = policy.observations
    return deployed


def _follow(policy: RecordedPolicy, starts: int, rng: np.random.Generator) -> list[tuple[IntArray, IntArray]]:
    """Follow M runs through all states: for each step, what comes after each of its nodes n in each state s.

    The two arrays [n, s] are the index after the step and its place among the nodes of the next step, −1 for none.
    """
    index = policy.first(rng.random(starts))
    numbers = rng.random((starts, policy.horizon))
    run, met = np.arange(starts), []
    for h in range(policy.horizon):
        size = memory.floats(len(run), policy.states, _FLOATS + sum(policy.actions))
        memory.require(size, f"a deployed policy of {starts} runs (fewer starts make it smaller)")
        m, k = np.repeat(run, policy.states), np.repeat(index, policy.states)
        s = np.tile(np.arange(policy.states), len(run))
        after = policy.record.earlier(h, k, s, numbers[m, h])
        ongoing = after >= 0
        pairs, at = np.unique(np.stack([m[ongoing], after[ongoing]]), axis=1, return_inverse=True)
        onward = np.full(after.shape, -1)
        onward[ongoing] = at.ravel()
        met.append((after.reshape(-1, policy.states), onward.reshape(-1, policy.states)))
        run, index = pairs
    return met


def _state(name: str, text: str, states: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and str(int(text)) == text and int(text) < states):
        raise TacitError(f"{name} is of no state; states go from 0 to {states - 1}")
    return int(text)


def _probabilities(name: str, lists: Sequence[Any], actions: Sequence[int]) -> list[float]:
    """Return the agents' probabilities, one after the other."""
    probs: list[float] = []
    for i, (row, size) in enumerate(zip(lists, actions, strict=True)):
        if not isinstance(row, list) or len(row) != size - 1:
            raise TacitError(f"{name}[{1 + i}] is {brief(row)}; it must be a list of {size - 1} probabilities")
        probs += [check.real(f"{name}[{1 + i}][{a}]", p, least=0, most=1) for a, p in enumerate(row)]
    return probs
