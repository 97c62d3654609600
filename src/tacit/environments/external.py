"""Policies from elsewhere: functions and objects of other libraries, beside parts that were learned here.

`policy_of` is the boundary. In a game, functions of (h, s) become the tables of a `MarkovPolicy`, so that all that is
exact stays exact. What draws for itself or remembers, and whatever acts on observations, becomes `SeparateParts`, which
are played one episode after the other.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tacit.core import streams
from tacit.core.errors import TacitError, blame, brief, one_line
from tacit.core.memory import Owned
from tacit.core.types import FloatArray
from tacit.environments.adapters import GameAdapter, WrappedEnv, environment, kind
from tacit.environments.encoding import fit
from tacit.environments.episodes import EnvironmentGame
from tacit.environments.observations import Encode
from tacit.games.exact import as_exact
from tacit.games.protocol import is_game
from tacit.policies import MarkovPolicy, Part
from tacit.policies.base import find_mask, stand_in

#: Methods with which other libraries' objects act, in the order they are looked for.
METHODS = ("predict", "compute_single_action", "compute_action", "act")

#: Steps times states up to which functions of a game without tables are tabulated.
LARGEST_TABLE = 100_000

#: States up to which one is shown as a unit vector to who takes such.
LARGEST_UNIT = 10_000

#: Calls of a function at least, to see whether it draws for itself; and in episodes of the game, to see whether it
#: remembers.
_CALLS, _PLAYED = 64, 20_000

_FITS = (
    "a function {call} that returns an action or probabilities, an object with predict, compute_single_action, "
    "compute_action or act, a policy of tacit, a Run or a Part"
)


class NoTable(Exception):
    """A function did not answer twice the same: it is no table."""


class SeparateParts:
    """One part for each agent, from wherever: it can be played, and nothing else.

    Attributes
    ----------
    sees : bool
        Whether all parts act on observations, so that no states have to be numbered for them.
    product : bool
        Whether agents draw independently of each other.
    """

    observations = None

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = list(parts)
        self.agents, self.actions = len(parts), tuple(part.actions for part in parts)
        self.horizon = min((part.horizon for part in parts if part.horizon is not None), default=None)
        self.sees, self.product = all(part.sees for part in parts), all(part.product for part in parts)

    def part(self, agent: int) -> Part:
        """Return agent i's part."""
        return self.parts[agent]

    def __repr__(self) -> str:
        return f"SeparateParts({', '.join(map(repr, self.parts))})"


class ExternalPart(Part):
    """An agent that somebody else's function or object plays, on what it observes."""

    sees = product = True

    def __init__(self, agent: int, choices: Sequence[Any], policy: Any, *, states: int | None = None) -> None:
        super().__init__(agent, len(choices), None)
        if not (callable(policy) or any(callable(getattr(policy, name, None)) for name in METHODS)):
            call = "f(observation, step)" if states is None else "f(h, s)"
            raise TacitError(f"the policy of agent {agent} must be {_FITS.format(call=call)}; got {brief(policy)}")
        self._choices, self._given = choices, policy
        self._ask = _method(policy, states)
        self.remembers = callable(getattr(policy, "reset", None))

    def _begin(self) -> None:
        self._memory: Any = None
        if callable(getattr(self._given, "reset", None)):
            with blame(f"{self!r} failed"):
                self._given.reset()

    def _act(self, h: int, s: Any) -> int:
        return self.choose(h, s, find_mask(s))

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return an action among those that are allowed, all where that is None."""
        u, probs = self._step(h), self.distribution(h, s)
        if allowed is not None:
            probs = probs * allowed
            if not probs.sum() > 0:
                raise TacitError(f"{self!r} chose nothing that the action mask of {brief(s)} allows")
            probs = probs / probs.sum()
        return int((u >= np.cumsum(probs)[:-1]).sum())

    def distribution(self, h: int, s: Any) -> FloatArray:
        """Return the function's or object's probabilities of actions at step h on an observation."""
        with blame(f"{self!r} failed"):
            answer, self._memory = self._ask(h, s, self._memory)
        self.remembers = self.remembers or self._memory is not None
        return self._read(answer)

    def _read(self, answer: Any) -> FloatArray:
        """Return probabilities of an answer: an action, or probabilities."""
        A, first = self._size, self._choices[0]
        answer = getattr(answer, "probs", answer)  # a distribution of PyTorch
        try:
            array = np.squeeze(_to_array(answer))
        except (TypeError, ValueError, RuntimeError) as error:
            raise self._complain(answer, f" ({one_line(error, 100)})") from None
        if not isinstance(self._choices, range) and array.shape == np.shape(first):
            array = next(
                (np.array(a) for a, choice in enumerate(self._choices) if np.array_equal(choice, array)), array
            )
        if array.ndim == 0:
            a = float(array) - (first if isinstance(self._choices, range) else 0)
            if A > 1 and not (a.is_integer() and 0 <= a < A):
                raise self._complain(answer)
            probs = np.zeros(A)
            probs[int(a) if A > 1 else 0] = 1.0
            return probs
        if array.shape != (A,) or not (array >= 0).all() or not abs(array.sum() - 1) <= 1e-4:
            raise self._complain(answer, wanted=" that sum to 1 (of logits, take the softmax)")
        return np.asarray(array / array.sum())

    def _complain(self, answer: Any, why: str = "", *, wanted: str = "") -> TacitError:
        """Return the error for an answer that is none."""
        actions = f"an action, {brief(self._choices[0])} to {brief(self._choices[-1])}"
        must = f"must return {actions}, or {self._size} probabilities{wanted}"
        return TacitError(f"{self!r} {must}; got {brief(answer)}{why}")

    def __repr__(self) -> str:
        return f"{getattr(self._given, '__name__', type(self._given).__name__)} of agent {self.agent}"


class TrainedPart(ExternalPart):
    """A response by somebody else's trainer; forbidden actions stand for allowed ones."""

    def __init__(self, agent: int, actions: int, policy: Any, show: Callable[[Any], Any]) -> None:
        super().__init__(agent, range(actions), policy)
        self._show = show  # an observation as it was in training

    def distribution(self, h: int, s: Any) -> FloatArray:
        """Return the probabilities of actions at step h on an observation."""
        return super().distribution(h, self._show(s))

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return an action; a forbidden one stands for an allowed one."""
        a = super().choose(h, s, None)
        return a if allowed is None else stand_in(allowed)[a]


class ObservingPart(Part):
    """A part learned here, with its own numbering of observations."""

    sees = True

    def __init__(self, part: Part, number: Callable[[Any], int | None]) -> None:
        super().__init__(part.agent, part.actions, part.horizon)
        self._part, self._number, self.product = part, number, part.product

    def begin(self, seed: int) -> None:
        """Begin an episode with the common seed."""
        self._part.begin(seed)

    def _act(self, h: int, s: Any) -> int:
        state = self._number(s)
        if state is None:
            self.count_unknown(s)
        return self._part.act(h, state)

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return the action at step h. Unknown observations are counted without a warning, for the notes on play."""
        state = self._number(s)
        self.unknown += state is None
        return self._part.act(h, state)


def policy_of(game: Any, policy: Any) -> Any:
    """Return whatever plays a game or an environment as a policy.

    >>> import tacit
    >>> policy_of(tacit.make("chicken"), lambda h, s: [0.5, 0.5])
    MarkovPolicy(product, 2 agents, 1 state, 2×2 actions, the same at every step)
    """
    _refuse_class(policy)
    if hasattr(policy, "candidates"):  # a Run
        policy = policy.policy
    if callable(getattr(policy, "part", None)):
        return policy
    tables = is_game(game) and not isinstance(game, EnvironmentGame)
    adapter = None if tables else environment(game.wrap() if isinstance(game, EnvironmentGame) else game)
    players: Any = game if adapter is None else adapter
    sizes, names = players.actions, getattr(players, "names", list(range(len(players.actions))))
    choices = [range(size) for size in sizes] if adapter is None else adapter.choices
    each = _each(policy, names)
    encode = game.encode if isinstance(game, WrappedEnv) else None
    encodes = [None] * len(each) if adapter is None else fit(encode, adapter, horizon=None, seed=0)
    states = game.states if tables else None
    owners = [_part(i, one, sizes[i], choices[i], encodes[i], states=states) for i, one in enumerate(each)]
    if tables and (as_exact(game) is not None or game.horizon * game.states <= LARGEST_TABLE):
        try:
            return MarkovPolicy(_tabulate(game, each, owners))
        except NoTable:
            pass
    return SeparateParts(owners)


def _each(policy: Any, names: Sequence[Any]) -> list[Any]:
    """Return each agent's entry: the one for all, or that of a list or dict."""
    if isinstance(policy, Mapping):
        if set(policy) != set(names):
            raise TacitError(f"policy must be for the agents {brief(list(names))}; got {brief(list(policy))}")
        return [policy[name] for name in names]
    if isinstance(policy, list | tuple):
        if len(policy) != len(names):
            raise TacitError(f"policy must have an entry for each of {len(names)} agents; got {len(policy)}")
        return list(policy)
    if len(names) > 1 and callable(getattr(policy, "reset", None)):
        raise TacitError(f"a policy with reset(), which remembers, must be one for each agent; got {brief(policy)}")
    return [policy] * len(names)


def _refuse_class(policy: Any) -> None:
    if inspect.isclass(policy):
        name = policy.__name__
        raise TacitError(f"a policy must be an object, such as {name}(…); got the class {name}")


def _part(
    i: int, policy: Any, actions: int, choices: Sequence[Any], encode: Encode | None, *, states: int | None
) -> Part:
    """Return an agent's part of whatever was given for it. `states` are those of a game."""
    game = states is not None
    _refuse_class(policy)
    if hasattr(policy, "candidates"):
        policy = policy.policy
    observations: Any = None
    if callable(getattr(policy, "part", None)):
        index = i if policy.agents > 1 else 0
        observations = policy.observations[index] if policy.observations is not None else None
        policy = policy.part(index)
    if callable(getattr(policy, "begin", None)):  # a part
        if policy.actions != actions:
            raise TacitError(f"the policy of agent {i} must have {actions} actions; got {policy!r}")
        if game:
            return policy  # type: ignore[no-any-return]
        if hasattr(observations, "known"):
            return ObservingPart(policy, observations.copy().known)
        if policy.observations is not None:
            return ObservingPart(policy, lambda shown: policy.number(shown if encode is None else encode(shown)))
        return policy  # type: ignore[no-any-return]
    if not game and callable(getattr(policy, "probabilities", None)):  # an agent of ours, which counts states
        raise TacitError(f"the policy of agent {i} must be a Run or its policy; got {brief(policy)}")
    return ExternalPart(i, choices, policy, states=states)


def _method(policy: Any, states: int | None) -> Callable[[int, Any, Any], tuple[Any, Any]]:
    """Return a function of step, observation and memory that returns action and memory."""
    game = states is not None
    probs_of = None if states is None else _probabilities(policy, states)
    if probs_of is not None:
        return lambda h, s, memory: (probs_of(s), None)
    if game and callable(getattr(policy, "probabilities", None)):  # an agent of ours, with all that it would draw from
        return lambda h, s, memory: (policy.probabilities(h, s), None)
    if callable(getattr(policy, "forward_inference", None)):  # of what it observes in an environment
        return lambda h, s, memory: (_infer(policy, s), None)
    name = next((name for name in METHODS if callable(getattr(policy, name, None))), None)
    if name in METHODS[:3]:
        return _predict(getattr(policy, name))
    function = policy if name is None else getattr(policy, name)
    if _counts_steps(function):
        if game:
            return lambda h, s, memory: (function(h, s), None)
        return lambda h, s, memory: (function(s, h), None)
    return lambda h, s, memory: (function(s), None)


def _probabilities(policy: Any, states: int) -> Callable[[int], Any] | None:
    """Return a function from states to an object's probabilities; None where it has none.

    A state is shown as its number, or as a unit vector where that is what the object takes.
    """
    inner = _inner(policy)
    units = np.eye(states, dtype=np.float32) if states <= LARGEST_UNIT else None
    wants_unit = getattr(getattr(inner, "observation_space", None), "shape", None) == (states,)
    show = units.__getitem__ if wants_unit and units is not None else np.int64
    discrete = kind(getattr(inner, "action_space", None)) == "Discrete"
    if discrete and hasattr(inner, "get_distribution") and not hasattr(inner, "lstm_actor"):  # Stable-Baselines3
        return lambda s: inner.get_distribution(inner.obs_to_tensor(show(s))[0]).distribution.probs
    if discrete and hasattr(inner, "q_net"):  # a DQN of Stable-Baselines3 explores in `predict` too
        A, random = int(inner.action_space.n), getattr(policy, "exploration_rate", 0.0)
        best = np.eye(A)
        return lambda s: random / A + (1 - random) * best[int(inner.predict(show(s), deterministic=True)[0])]
    if discrete and hasattr(inner, "forward_inference"):  # a module of RLlib
        return lambda s: _infer(inner, show(s))
    if discrete and hasattr(inner, "compute_log_likelihoods"):  # an older policy of RLlib
        actions = np.arange(int(inner.action_space.n))
        return lambda s: np.exp(_to_array(inner.compute_log_likelihoods(actions, np.stack([show(s)] * len(actions)))))
    if not (callable(policy) and callable(getattr(policy, "forward", None))) or _counts_steps(policy):
        return None
    tensor = getattr(sys.modules.get("torch"), "as_tensor", np.asarray)  # a module of PyTorch
    try:
        policy(tensor(0))
    except Exception:  # it takes no number of a state
        return None if units is None else lambda s: policy(tensor(units[s]))
    return lambda s: policy(tensor(s))


def _inner(policy: Any) -> Any:
    """Return the policy within a model of Stable-Baselines3, or an algorithm of RLlib."""
    if not callable(getattr(policy, "get_policy", None)):
        return getattr(policy, "policy", policy)
    try:
        return policy.get_policy()
    except AttributeError:  # RLlib's new interface has modules only
        return policy.get_module()


def _infer(module: Any, seen: Any) -> FloatArray:
    """Return the probabilities of a module of RLlib on an observation; an action where it says no more."""
    tensor = getattr(sys.modules.get("torch"), "as_tensor", np.asarray)
    answer = module.forward_inference({"obs": tensor(np.asarray(seen, np.float32)[None])})
    if "action_dist_inputs" not in answer:
        return np.asarray(_to_array(answer["actions"])[0])
    logits = _to_array(answer["action_dist_inputs"])[0]
    weights = np.exp(logits - logits.max())
    return np.asarray(weights / weights.sum())


def _to_array(answer: Any) -> FloatArray:
    """Return a tensor of PyTorch, or an array, as an array."""
    return np.asarray(answer.detach() if callable(getattr(answer, "detach", None)) else answer, dtype=np.float64)


def _predict(method: Any) -> Callable[[int, Any, Any], tuple[Any, Any]]:
    """Return such a function for a `predict`, which may return a memory too."""

    def ask(h: int, s: Any, memory: Any) -> tuple[Any, Any]:
        answer = method(s) if memory is None else method(s, state=memory)
        if not isinstance(answer, tuple):
            return answer, None
        state: Any = answer[1] if len(answer) > 1 else None
        return answer[0], None if hasattr(state, "__len__") and len(state) == 0 else state

    return ask


def _counts_steps(function: Any) -> bool:
    """Return whether a function takes the step too. It needs two arguments, or the second is called so."""
    try:  # the call of a PyTorch module takes anything, and hands it to `forward`
        arguments = list(inspect.signature(getattr(function, "forward", function)).parameters.values())
    except (TypeError, ValueError):
        return True
    places = [one for one in arguments if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    return len(places) > 1 and (places[1].default is inspect.Parameter.empty or places[1].name in ("step", "s", "h"))


def _tabulate(game: Any, each: Sequence[Any], parts: Sequence[Part]) -> list[Owned[FloatArray]]:
    """Return tables [H, S, A_i]; raise `NoTable` where somebody draws for itself or remembers."""
    keys = [(id(one), part.actions if part.sees else -part.agent) for one, part in zip(each, parts, strict=True)]
    distinct = dict(zip(keys, parts, strict=True))  # one function for all is asked once for all
    tables = {key: _table(game, part) for key, part in distinct.items()}
    if getattr(game, "discount", None) is None:
        functions = [(part, tables[key]) for key, part in distinct.items() if part.sees]
        _compare_in_play(game, functions, [tables[key] for key in keys])
    return [Owned(tables[key]) for key in keys]


def _table(game: Any, part: Any) -> FloatArray:
    """Return the table of a part; a function is called again in other orders."""
    H, S = game.horizon, game.states
    if not part.sees:
        table = part.table
        if table is None:
            raise NoTable
        if table.shape[0] not in (1, H) or table.shape[1] != S:
            raise TacitError(f"a policy of {game!r} must fit it; got {part!r}")
        return np.broadcast_to(table, (H, *table.shape[1:])).copy()
    table = np.zeros((H, S, part.actions))
    part.begin(0)
    for h, s in np.ndindex(H, S):
        table[h, s] = part.distribution(h, s)
    shuffle = streams.stream(0, streams.SCOUT).permutation
    for _ in range(max(2, -(-_CALLS // (H * S)))):
        for path in zip(*(shuffle(S).tolist() for _ in range(H)), strict=True):  # each state once at every step
            part.begin(0)
            for h, s in enumerate(path):
                _ask_again(part, h, s, table)
    return table


def _ask_again(part: Any, h: int, s: int, table: FloatArray) -> None:
    """Raise `NoTable` unless a part plays what its table has."""
    if not np.array_equal(part.distribution(h, s), table[h, s]) or part.remembers:
        raise NoTable


def _compare_in_play(game: Any, functions: list[tuple[Any, FloatArray]], tables: Sequence[FloatArray]) -> None:
    """Raise `NoTable` where a part differs from its table in episodes of the game."""
    adapter, draw = GameAdapter(game), streams.stream(0, streams.SCOUT)
    episodes = max(2, min(_CALLS, _PLAYED // (game.horizon * len(tables)))) if functions else 0
    for episode in range(episodes):
        s = adapter.reset(episode)[0]
        for part, _ in functions:
            part.begin(0)
        for h in range(game.horizon):
            for part, table in functions:
                _ask_again(part, h, s, table)
            s = adapter.step([int(draw.choice(table.shape[2], p=table[h, s])) for table in tables])[0][0]
