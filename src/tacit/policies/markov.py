"""Markov policies: a distribution for each step and state, for each agent or jointly. [Mao2022, Sec. 2]"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from tacit.core import check, files, memory
from tacit.core.display import count, times
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.memory import Owned, lock, refuse_masked, unwrap
from tacit.core.types import FloatArray
from tacit.policies.base import Part, Policy, check_game, list_of, plain, read_observations

if TYPE_CHECKING:
    from tacit.games.protocol import Game

_PLAY = {
    "product": "At step h in state s agent i draws its action from probs[i][h][s] with a number of its own; "
    "where probs[i] has one step, that is played at every step, h = 0.",
    "correlated": "In each step all agents share one number u in [0, 1) and draw the same joint action from "
    "probs[h][s] with it; the last agent's action counts fastest. Where probs has one step, that is played at every "
    "step, h = 0.",
}


class MarkovPolicy(Policy):
    """A product policy (agents draw independently) or a correlated one (one joint draw).

    Parameters
    ----------
    probs : list of arrays [H, S, A_i], or one array [H, S, A_1, …, A_N]
        One array for each agent makes a product policy, a single array a correlated one. A leading 1 in place of H
        means the same at every step.
    observations : list of N lists, optional
        In an environment whose states are numbered as they are met: what each agent observes in state 0, 1, …; with
        `encode=`, what that makes of it.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> tacit.MarkovPolicy([np.full((1, 1, 2), 0.5), np.full((1, 1, 3), 1 / 3)])
    MarkovPolicy(product, 2 agents, 1 state, 2×3 actions, the same at every step)
    """

    said, kinds = "a Markov policy", ("markov", "product", "correlated")
    probs: tuple[FloatArray, ...]
    actions: tuple[int, ...]

    def __init__(
        self,
        probs: Sequence[npt.ArrayLike | Owned[Any]] | npt.NDArray[np.float64] | Owned[Any],
        *,
        observations: Sequence[Sequence[Any]] | None = None,
    ) -> None:
        self.product = not isinstance(probs, np.ndarray | Owned)
        if self.product:
            each = check.list_of(
                "probs",
                probs,
                "arrays [H, S, A_i], one for each agent (product), or one NumPy array [H, S, A_1, …, A_N] (correlated)",
            )
            if not each:
                raise TacitError("probs must have one array [H, S, A_i] for each agent; got none")
            self.probs = tuple([_check_own(i, table) for i, table in enumerate(each)])
            self.actions = tuple([table.shape[2] for table in self.probs])
        else:
            self.probs = (_check_joint(probs),)
            self.actions = self.probs[0].shape[2:]
        self.agents = len(self.actions)
        self.steps, self.states = self.probs[0].shape[:2]
        self.horizon = None if self.steps == 1 else self.steps
        for i, table in enumerate(self.probs):
            if table.shape[:2] != (self.steps, self.states):
                shapes = f"{self.probs[0].shape} and {table.shape}"
                raise TacitError(f"probs[0] and probs[{i}] must have the same steps and states; got {shapes}")
        if observations is not None:
            content = {"observations": plain(observations)}
            self.observations = read_observations(content, self.agents, self.states)
            most = max(map(len, self.observations or ()), default=0)
            if most < self.states:
                raise TacitError(f"observations must have an entry for each of {self.states} states; got {most}")

    @classmethod
    def uniform(cls, game: Game) -> MarkovPolicy:
        """Every agent draws uniformly from its actions, always."""
        check_game(game)
        return cls([Owned(np.full((1, game.states, a), 1 / a)) for a in game.actions])

    @classmethod
    def random(cls, game: Game, *, seed: int = 0, correlated: bool = False) -> MarkovPolicy:
        """Draw each distribution from Dirichlet(1, …, 1)."""
        check_game(game)
        correlated = check.flag("correlated", correlated)
        rng = np.random.default_rng(check.integer("seed", seed))
        grid = (game.horizon, game.states)
        if correlated:
            joint = math.prod(game.actions)
            memory.require(2 * memory.floats(*grid, joint), "a correlated policy")
            return cls(Owned(rng.dirichlet(np.ones(joint), grid).reshape(*grid, *game.actions)))
        return cls([Owned(rng.dirichlet(np.ones(a), grid)) for a in game.actions])

    @classmethod
    def shared(cls, probs: npt.ArrayLike, *, agents: int) -> MarkovPolicy:
        """All agents play one table [H or 1, S, A], as mean-field policies are given.

        >>> import tacit
        >>> tacit.MarkovPolicy.shared([[[0.5, 0.5]]], agents=1000)
        MarkovPolicy(product, 1000 agents, 1 state, 2^1000 actions, the same at every step)
        """
        table = cls([probs]).probs[0]
        return cls([Owned(table)] * check.integer("agents", agents))

    @classmethod
    def deterministic(cls, choices: Sequence[npt.ArrayLike], actions: Sequence[int]) -> MarkovPolicy:
        """Each agent i plays action `choices[i][h, s]` of its `actions[i]`.

        >>> import tacit
        >>> tacit.MarkovPolicy.deterministic([[[1]]], [2]).probs[0]
        array([[[0., 1.]]])
        """
        refuse_masked("choices", check.list_of("choices", choices, "arrays [H, S], one for each agent"))
        actions = check.list_of("actions", actions, "numbers of actions, one for each agent")
        try:
            tables = [np.asarray(table) for table in choices]
        except ValueError:
            raise TacitError(f"choices must be one array [H, S] for each agent; got {brief(choices)}") from None
        actions = [check.integer(f"actions[{i}]", a, least=1) for i, a in enumerate(actions)]
        if len(tables) != len(actions):
            raise TacitError(f"choices must have a table for each of {len(actions)} agents; got {len(tables)}")
        for i, (table, a) in enumerate(zip(tables, actions, strict=True)):
            is_table = table.ndim == 2 and table.size and table.dtype.kind in "iu"
            if not is_table or table.min() < 0 or table.max() >= a:
                raise TacitError(f"choices[{i}] must be an array [H, S] of actions 0 to {a - 1}; got {brief(table)}")
        probs = [memory.zeros((*table.shape, a), "the policy") for table, a in zip(tables, actions, strict=True)]
        for table_probs, table in zip(probs, tables, strict=True):
            np.put_along_axis(table_probs, table[..., None].astype(np.int64), 1.0, axis=2)
        return cls([Owned(table_probs) for table_probs in probs])

    def at(self, h: int) -> tuple[FloatArray, ...]:
        """Return step h: [S, A_i] for each agent, or one [S, A_1, …, A_N]."""
        step = check.integer("h", h, least=0, most=self.steps - 1) if self.steps > 1 else 0
        return tuple([table[step] for table in self.probs])

    def joint(self, h: int) -> FloatArray:
        """Return the joint distribution of step h, [S, A_1, …, A_N]."""
        rows = self.at(h)
        if not self.product:
            return rows[0]
        memory.require(memory.floats(self.states, math.prod(self.actions)), "the joint distribution of one step")
        joint = rows[0]
        for row in rows[1:]:
            joint = joint[..., None] * row.reshape(self.states, *[1] * (joint.ndim - 1), -1)
        return joint

    def as_product(self) -> MarkovPolicy:
        """Return the product of the marginals: what each agent plays on average, drawn independently.

        >>> import tacit
        >>> tacit.solve(tacit.make("chicken"), "ce").policy.as_product().probs[0].round(2).tolist()
        [[[0.75, 0.25]]]
        """
        return MarkovPolicy([self.marginal(i) for i in range(self.agents)])

    def to_random_horizon(self) -> MarkovPolicy:
        """Return a stationary policy for `TabularGame.to_random_horizon`: uniform in its last state, "over".

        >>> import tacit
        >>> tacit.MarkovPolicy([[[[1.0, 0.0]]]]).to_random_horizon().probs[0].tolist()
        [[[1.0, 0.0], [0.5, 0.5]]]
        """
        uniform = [np.full((len(table), 1, *table.shape[2:]), 1 / np.prod(table.shape[2:])) for table in self.probs]
        tables = [Owned(np.concatenate(pair, axis=1)) for pair in zip(self.probs, uniform, strict=True)]
        return MarkovPolicy(tables if self.product else tables[0])

    def marginal(self, agent: int) -> FloatArray:
        """Return agent i's own distributions [H or 1, S, A_i]."""
        i = check.integer("agent", agent, least=0, most=self.agents - 1)
        if self.product:
            return self.probs[i]
        others = tuple(2 + j for j in range(self.agents) if j != i)
        table: FloatArray = self.probs[0].sum(axis=others)
        return table

    def _part(self, agent: int) -> MarkovPart:
        return MarkovPart(Owned(self.probs[agent if self.product else 0]), agent, correlated=not self.product)

    def _arrays(self) -> dict[str, Any]:
        """Return the arrays `probs_0`, `probs_1`, … (product) or `probs` (correlated)."""
        keys = [f"probs_{i}" for i in range(self.agents)] if self.product else ["probs"]
        tables = [table[:1] if self._shared else table for table in self.probs]
        steps = {"steps": np.array(self.steps)} if self._shared and self.steps > 1 else {}
        return {"kind": np.array("markov"), **steps, **dict(zip(keys, tables, strict=True))}

    @property
    def _shared(self) -> bool:
        """Whether the same is played at every step, which files hold once."""
        return all(bool((table[1:] == table[:1]).all()) for table in self.probs)

    def _content(self, path: object, shown: Sequence[int]) -> tuple[str, str, dict[str, Any]]:
        if not self.product and len(shown) < self.agents:
            raise TacitError("a correlated policy has no parts: every agent must hold all of it to draw the same")
        kind = "product" if self.product else "correlated"
        stored = slice(1) if self._shared else slice(None)
        if self.product:
            tables = [self.probs[i][stored].tolist() for i in shown]
        else:  # by joint actions
            tables = self.probs[0][stored].reshape(-1, self.states, math.prod(self.actions)).tolist()
        return kind, _PLAY[kind], {"steps": self.steps, "probs": tables}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        steps = _check_steps(files.single("steps", arrays["steps"])) if "steps" in arrays else None
        if "probs" in arrays:
            return cls(Owned(_at_each_step(arrays["probs"], steps)))
        tables = set(arrays) - {"kind", "steps", "observations", "encode"}
        keys = [f"probs_{i}" for i in range(len(tables))]
        if not keys or set(keys) != tables:
            names = one_line(", ".join(sorted(arrays)), 200) or "nothing"
            raise TacitError(f"it has no probs and no probs_0 (it has {names})")
        return cls([Owned(_at_each_step(arrays[key], steps)) for key in keys])

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self:
        actions, probs = list_of(content, "actions"), list_of(content, "probs")
        steps = _check_steps(content.get("steps"))
        if content["kind"] == "product":
            policy = cls([_at_each_step(check.array(f"probs[{i}]", table), steps) for i, table in enumerate(probs)])
        else:
            sizes = [check.integer(f"actions[{i}]", a, least=1) for i, a in enumerate(actions)]
            flat = check.array("probs", probs)
            if flat.ndim != 3 or 0 in flat.shape or flat.shape[2] != math.prod(sizes):
                raise TacitError(f"probs must be [H, S, {math.prod(sizes)} joint actions]; got shape {flat.shape}")
            policy = cls(Owned(_at_each_step(flat.reshape(*flat.shape[:2], *sizes), steps)))
        stated = (content.get("states"), content.get("steps"), actions)
        if stated != (policy.states, policy.steps, list(policy.actions)):
            raise TacitError(f"its states, steps and actions are {brief(stated)}, and its probs make a {policy!r}")
        return policy

    def __repr__(self) -> str:
        kind = "product" if self.product else "correlated"
        when = "the same at every step" if self.steps == 1 else f"{self.steps} steps"
        sizes = f"{count(self.agents, 'agent')}, {count(self.states, 'state')}, {times(self.actions)} actions"
        return f"MarkovPolicy({kind}, {sizes}, {when})"


class MarkovPart(Part):
    """Agent i's part of a Markov policy. Its own distributions, or all of a correlated policy.

    Parameters
    ----------
    probs : array [H or 1, S, A_i], or [H or 1, S, A_1, …, A_N] where the policy is correlated
    agent : int
    correlated : bool

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import MarkovPart
    >>> part = MarkovPart(np.array([[[0.0, 1.0]]]), 0)
    >>> part.begin(seed=0)
    >>> part.act(0, 0)
    1
    """

    def __init__(self, probs: npt.ArrayLike | Owned[Any], agent: int, *, correlated: bool = False) -> None:
        agent = check.integer("agent", agent, least=0)
        table = _check_joint(probs) if check.flag("correlated", correlated) else _check_own(agent, probs)
        (steps, self.states), sizes = table.shape[:2], table.shape[2:]
        check.integer("agent", agent, least=0, most=len(sizes) - 1 if correlated else None)
        super().__init__(agent, sizes[agent] if correlated else sizes[0], None if steps == 1 else steps)
        self._flat = table.reshape(steps, self.states, -1)
        self._rows: dict[int, list[float]] = {}  # cumulated, of what was played: plain numbers take memory
        self._below = int(np.prod(sizes[agent + 1 :])) if correlated else 0
        self._correlated, self.product = correlated, not correlated
        self.table = None if correlated else table

    def _act(self, h: int, s: int | None) -> int:
        if s is None:
            return self.stray(h)
        if type(s) is not int or not 0 <= s < self.states:
            s = check.integer("s", s, least=0, most=self.states - 1)
        u = self._step(h)  # what is refused uses no step up
        cell = s if self.horizon is None else h * self.states + s
        row = self._rows.get(cell)
        if row is None:
            row = self._rows[cell] = np.cumsum(self._flat[cell // self.states, s])[:-1].tolist()
        if not self._correlated:
            return bisect_right(row, u)
        shared = self._common[h] if self.horizon is not None else self._stream.random()  # type: ignore[index]
        return bisect_right(row, shared) // self._below % self._size

    def stray(self, h: int) -> int:
        """Return an action, drawn uniformly. The common number is drawn too, so that all stay together."""
        if self.horizon is None and self._correlated and self._common is not None:
            self._stream.random()
        return super().stray(h)


def _check_steps(value: object) -> int:
    return check.integer("steps", value, least=1, most=2**31 - 1)


def _at_each_step(table: npt.NDArray[Any], steps: int | None) -> npt.NDArray[Any]:
    """Return a table of a file for every step. One that holds for all is stored once."""
    if steps is None or steps == 1 or table.ndim < 3 or len(table) != 1:
        return table
    memory.require(memory.floats(steps, *table.shape[1:]), "the policy of all steps")
    return np.repeat(table, steps, axis=0)


def check_policy(policy: object, *, product: str = "") -> None:
    """Raise unless `policy` is a Markov policy, of the kind that is needed."""
    if not isinstance(policy, MarkovPolicy):
        raise TacitError(f"policy must be a policy, as from tacit.solve or tacit.learn; got {brief(policy)}")
    if product and not policy.product:
        raise TacitError(f"{product} needs a product policy, and this one is correlated")


def _check_own(i: int, probs: npt.ArrayLike | Owned[Any]) -> FloatArray:
    table = check.array(f"probs[{i}]", probs)
    if table.ndim != 3 or 0 in table.shape:
        raise TacitError(f"probs[{i}] must be [H, S, A_i]; got shape {table.shape}")
    table = _normalise(probs, table, 1)
    check.distributions(f"probs[{i}]", table, ["h", "s", "a"], over="actions")
    return table


def _normalise(given: Any, table: FloatArray, actions: int) -> FloatArray:
    """Return a table of short floats with sums of 1 in 64-bit floats."""
    kind = getattr(unwrap(given)[0], "dtype", None)
    if kind not in (np.float32, np.float16):
        return table
    total = table.sum(axis=tuple(range(-actions, 0)), keepdims=True)
    rounded = np.abs(total - 1) <= 4 * np.finfo(kind).eps * math.prod(table.shape[-actions:])
    return lock(np.divide(table, total, out=table.copy(), where=rounded))


def _check_joint(probs: Any) -> FloatArray:
    joint = check.array("probs", probs)
    if joint.ndim < 3 or 0 in joint.shape:
        raise TacitError(f"probs must be [H, S, A_1, …, A_N], or a list of [H, S, A_i]; got shape {joint.shape}")
    joint = _normalise(probs, joint, joint.ndim - 2)
    flat = joint.reshape(*joint.shape[:2], -1)
    try:
        check.distributions("probs", flat, ["h", "s", ("joint", joint.shape[2:])], over="joint actions")
    except TacitError as error:
        if joint.ndim == 4 and np.allclose(joint.sum(axis=-1), 1.0):
            raise TacitError(
                f"{error}; one array is a correlated policy [H, S, A_1, …], and this one of shape {joint.shape} looks "
                f"like one table [H, S, A] for each agent: give them as a list, MarkovPolicy(list(probs))"
            ) from None
        raise
    return joint
