"""Generic functions: one name, one implementation for each type of state, interpreted or compiled.

A generic function dispatches on the type of its first argument, a NamedTuple. Interpreted code is `functools`'
`singledispatch`; compiled code resolves it while compiling, through numba's `overload`, and inlines it. So the
fused loop is written once for every learner, bandit and game, and a kernel is an ordinary Python function.

    @update.implement(Exp3IXParams)
    def update(bandit, cell, a, loss, prob):
        ...

A kernel touches what it is given, or the records of its agent i, and calls other kernels through generic functions or
functions marked `@jitable`.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable
from functools import partial, singledispatch, update_wrapper
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.extending import intrinsic, overload, register_jitable

from tacit.core import beyond, elementary, snapshots
from tacit.core.errors import TacitError, brief

F = TypeVar("F", bound=Callable[..., Any])

#: How kernels are compiled. They are inlined, and count no references: kernels allocate nothing, and without this every
#: use of a nested struct would count each of its arrays twice.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "forceinline": True, **beyond.OPTIONS}


def jitable(function: F) -> F:
    """Mark a plain function that kernels may call."""
    if not inspect.isfunction(function):
        raise TacitError(f"@jitable is for functions written in Python, and this is {brief(function)}")
    marked: F = register_jitable(**OPTIONS)(function)
    return marked


#: The same for a large function that is called seldom: inlining it would only make it long to compile.
apart: Callable[[F], F] = register_jitable(**{**OPTIONS, "forceinline": False})

for _inlined in (elementary.exp, elementary.exp_less, elementary.log_in_two):
    jitable(_inlined)
for _seldom in (elementary.log, elementary.pow):
    apart(_seldom)


_generics: list[Any] = []


def generic(signature: Callable[..., Any], default: Callable[..., Any] | None = None) -> Any:
    """Make a generic function; `signature` gives its name and says what an implementation does.

    A type without an implementation has the `default`, where there is one.
    """

    def refuse(state: Any, *args: Any) -> Any:
        raise TacitError(f"{signature.__name__} is not implemented for {type(state).__name__}")

    dispatch: Any = update_wrapper(singledispatch(default or refuse), signature)

    def choose(state: Any, *args: Any) -> Any:
        return dispatch.registry.get(getattr(state, "instance_class", None), default)

    def implement(kind: type) -> Callable[[F], F]:
        def register(function: F) -> F:
            if is_own(kind) and not snapshots.is_of_library(function):
                raise TacitError(f"{signature.__name__} of {kind.__name__} is tacit's own; use a type of your own")
            dispatch.register(kind)(function)
            return function

        return register

    dispatch.implement, dispatch.known = implement, dispatch.registry.__contains__
    overload(dispatch, strict=False, jit_options=OPTIONS)(choose)
    _generics.append(dispatch)
    return dispatch


# users' types: kernels are copied when a game or a learner's state is made -----------------------------------------

_editions: dict[Any, type] = {}
_lock = threading.Lock()


def is_own(kind: Any) -> bool:
    """Return whether a class or function is found in this package by its name."""
    package = __name__.partition(".")[0]
    if str(kind.__module__).partition(".")[0] != package:
        return False
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind


def seal(struct: Any, like: Any = None) -> Any:
    """Return a struct whose kernels, nested ones too, read for good what holds now.

    A struct of a user's type becomes one of a subtype with copies of that type's kernels. There is one subtype for all
    structs whose kernels do and read the same, so that they are compiled once. With `like`, a struct that was sealed
    before, the types are those of that one.
    """
    if not isinstance(struct, tuple):
        return struct
    parts = [seal(part, None if like is None else like[k]) for k, part in enumerate(struct)]
    if type(struct) is tuple:
        return tuple(parts)
    return (_edition(type(struct)) if like is None else type(like))(*parts)


def _edition(kind: type) -> type:
    """Return a subtype of a user's type with copies of its kernels. A type of this package as it is."""
    generics = [dispatch for dispatch in _generics if kind in dispatch.registry]
    if not generics or is_own(kind) or hasattr(kind, "_original"):
        return kind
    kernels, copies = snapshots.copy_functions([dispatch.registry[kind] for dispatch in generics])
    key = kind, *(dispatch.__name__ for dispatch in generics), snapshots.describe(kernels)
    with _lock:
        if key not in _editions:
            for copy in copies:
                jitable(copy)
            _editions[key] = edition = subtype(kind, digest=snapshots.digest(kernels))
            for dispatch, kernel in zip(generics, kernels, strict=True):
                dispatch.register(edition)(kernel)
        return _editions[key]


def digest_kernels(struct: Any) -> list[str]:
    """Return digests of the users' kernels of a sealed struct, nested ones too."""
    within = [text for part in struct for text in digest_kernels(part)] if isinstance(struct, tuple) else []
    return [*within, type(struct)._digest] if hasattr(type(struct), "_original") else within


def subtype(kind: type, *, digest: str = "") -> type:
    """Return a new subtype of a NamedTuple, with the same name. A struct of it pickles as one of the original."""

    def reduce(struct: Any) -> Any:
        return kind, tuple(struct)

    members = {"__slots__": (), "__module__": kind.__module__, "__reduce__": reduce}
    members |= {"_original": kind, "_digest": digest}
    return type(kind.__name__, (kind,), members)


# numbers that compiled code keeps in registers -----------------------------------------------------------------------
#
# Compiled code must assume that a number written to one array may change any other, so sums over short rows are kept in
# tuples instead, whose length the compiler knows (measured: a third of the time). And it takes a negative index from
# the end, as Python does, unless it knows better.


def pairs(seats: tuple[int, ...]) -> tuple[float, ...]:
    """Return two zeros for each seat."""
    return (0.0,) * (2 * len(seats))


def put(lanes: tuple[float, ...], i: int, x: float) -> tuple[float, ...]:
    """Return the tuple with x in place i."""
    return (*lanes[:i], x, *lanes[i + 1 :])


def plain(i: int) -> int:
    """Return an index that is known not to be negative."""
    return i


def _pairs(seats: Any) -> Any:
    zeros = (0.0,) * (2 * len(seats))
    return lambda seats: zeros


overload(pairs, strict=False, jit_options=OPTIONS)(_pairs)


@intrinsic
def _set(context, lanes, i, x):
    def write(context, builder, signature, args):
        value, index, number = args
        with builder.goto_entry_block():  # of memory that the optimiser takes away again
            place = builder.alloca(value.type)
        builder.store(value, place)
        builder.store(number, builder.gep(place, [index.type(0), index], inbounds=True))
        return builder.load(place)

    return lanes(lanes, types.intp, types.float64), write


def _put(lanes: Any, i: Any, x: Any) -> Any:
    return lambda lanes, i, x: _set(lanes, i, x)


overload(put, strict=False, jit_options=OPTIONS)(_put)


def _plain(i: Any) -> Any:
    return (lambda i: np.uint64(i)) if isinstance(i, types.Integer) else None


overload(plain, strict=False, jit_options=OPTIONS)(_plain)


# games -----------------------------------------------------------------------------------------------------------


@generic
def initial_state(game, u):
    """Return the first state, drawn with the uniform number u.

    Parameters
    ----------
    game : a game's struct
    u : float
        Uniform in [0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import initial_state
    >>> int(initial_state(tacit.make("good-state").kernels(), 0.3))
    0
    """


@generic
def joint_action(game, h, s, actions):
    """Return a token for the joint action `actions` [N] at step h in state s.

    It is made once a step and read by `next_state` and `reward`: whatever the game needs, such as the row of a table.

    Parameters
    ----------
    game : a game's struct
    h, s : int
    actions : int array [N]

    Returns
    -------
    token
        Whatever `next_state` and `reward` read.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import joint_action, reward
    >>> game = tacit.make("chicken").kernels()
    >>> token = joint_action(game, 0, 0, np.array([0, 1]))
    >>> float(reward(game, 0, token)), float(reward(game, 1, token))
    (2.0, 7.0)
    """


@generic
def next_state(game, token, u):
    """Return the next state, drawn with the uniform number u.

    Parameters
    ----------
    game : a game's struct
    token
        Of `joint_action`.
    u : float
        Uniform in [0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import next_state, joint_action
    >>> game = tacit.make("good-state").kernels()
    >>> int(next_state(game, joint_action(game, 0, 1, np.array([0, 1])), 0.5))
    0
    """


@generic
def reward(game, i, token):
    """Return agent i's reward.

    Parameters
    ----------
    game : a game's struct
    i : int
        The agent.
    token
        Of `joint_action`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import joint_action, reward
    >>> game = tacit.make("chicken").kernels()
    >>> float(reward(game, 1, joint_action(game, 0, 0, np.array([0, 1]))))
    7.0
    """


@generic
def induced_payoffs(game, cert, seats, h, s):
    """Write each agent's value and payoffs of own actions, where all play `cert.mu`.

    The certificate asks for it: `cert.value` [N] with the continuation `cert.V`, `cert.gain` [N, A] with `cert.best`.
    """


# learners --------------------------------------------------------------------------------------------------------


@generic
def act(learner, i, h, s, u):
    """Return agent i's action at (h, s), drawn with the uniform number u.

    Parameters
    ----------
    learner : a learner's state
    i, h, s : int
        Agent, step and state.
    u : float
        Uniform in [0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import act
    >>> me = tacit.agent("stage-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1))
    >>> int(act(me.state, 0, 0, 0, 0.9))
    1
    """


@generic
def learn(learner, i, h, s, a, r, s_next):
    """Let agent i learn from its own step.

    Parameters
    ----------
    learner : a learner's state
    i, h, s, a : int
        Agent, step, state and own action.
    r : float
        Own reward.
    s_next : int
        The next state.

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import learn
    >>> me = tacit.agent("q-independent", states=1, actions=2, horizon=1, reward_range=(0, 1))
    >>> learn(me.state, 0, 0, 0, 1, 1.0, 0)
    """


@generic
def policy(learner, i, h, s, out):
    """Write agent i's current distribution over its actions at (h, s) into `out`, without exploration.

    Parameters
    ----------
    learner : a learner's state
    i, h, s : int
        Agent, step and state.
    out : array [A]

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import policy
    >>> me, out = tacit.agent("stage-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1)), np.zeros(2)
    >>> policy(me.state, 0, 0, 0, out)
    >>> out
    array([0.5, 0.5])
    """


def _current_policy(learner, i, h, s, out):
    """Write the current distribution."""
    policy(learner, i, h, s, out)


@partial(generic, default=_current_policy)
def average_policy(learner, i, h, s, out):
    """Write the average of agent i's recent iterates at (h, s). Learners that are not `recent` write `policy`.

    Parameters
    ----------
    learner : a learner's state
    i, h, s : int
        Agent, step and state.
    out : array [A]

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import average_policy
    >>> me, out = tacit.agent("model-independent", states=1, actions=2, horizon=1, reward_range=(0, 1)), np.zeros(2)
    >>> average_policy(me.state, 0, 0, 0, out)
    >>> out
    array([0.5, 0.5])
    """


@generic
def averaging(learner, h, s):
    """Return (α, publish) for the next visit of (h, s).

    The learner's value there is the average x ← (1 − α)·x + α·new, and takes effect when `publish` is true.

    Parameters
    ----------
    learner : a learner's state
    h, s : int
        Step and state.

    Returns
    -------
    (float, bool)

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import averaging
    >>> me = tacit.agent("stage-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1))
    >>> alpha, publish = averaging(me.state, 0, 0)
    >>> float(alpha), bool(publish)  # the first stage has one visit
    (1.0, True)
    """


# bandits: a kernel gets the record of its cell, and can touch no other --------------------------------------------


@generic
def draw(bandit, cell, u):
    """Return an action, drawn with the uniform number u.

    Parameters
    ----------
    bandit : a bandit's parameters
    cell : record
    u : float
        Uniform in [0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import draw
    >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
    >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
    >>> int(draw(bandit, cells[0, 0], 0.9))
    1
    """


@generic
def probs(bandit, cell, out):
    """Write the current distribution into `out`.

    Parameters
    ----------
    bandit : a bandit's parameters
    cell : record
    out : array [A]

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import probs
    >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
    >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
    >>> out = np.zeros(2)
    >>> probs(bandit, cells[0, 0], out)
    >>> out
    array([0.5, 0.5])
    """


@generic
def prob(bandit, cell, a):
    """Return the current probability of action a.

    Parameters
    ----------
    bandit : a bandit's parameters
    cell : record
    a : int
        The action.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import prob
    >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
    >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
    >>> float(prob(bandit, cells[0, 0], 1))
    0.5
    """


@generic
def update(bandit, cell, a, loss, prob):
    """Learn that action a, drawn with probability `prob`, cost `loss`. The theory has losses in [0, 1].

    Parameters
    ----------
    bandit : a bandit's parameters
    cell : record
    a : int
        The action.
    loss, prob : float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import prob, update
    >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
    >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
    >>> update(bandit, cells[0, 0], 1, 1.0, 0.5)
    >>> bool(prob(bandit, cells[0, 0], 1) < 0.5)
    True
    """


@generic
def restart(bandit, cell, rounds):
    """Forget everything; about `rounds` rounds will follow.

    Parameters
    ----------
    bandit : a bandit's parameters
    cell : record
    rounds : int
        How many rounds will follow.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import prob, update, restart
    >>> setting = tacit.kernels.Setting(np.array([2]), rounds=10, horizon=1, iota=1.0)
    >>> bandit, cells = tacit.bandits.Exp3IX().make(setting)
    >>> update(bandit, cells[0, 0], 1, 1.0, 0.5)
    >>> restart(bandit, cells[0, 0], 10)
    >>> float(prob(bandit, cells[0, 0], 1))
    0.5
    """


@generic
def regret(bandit, cell):
    """Return the bandit's own estimate of its mean regret. Only bandits that tune themselves have one."""


# what may watch the loop ---------------------------------------------------------------------------------------------


@generic
def observe(observer, learner, game, seats, h, s):
    """See (h, s) and the agents' distributions there, before anybody learns from the step.

    Parameters
    ----------
    observer : what an output watches with
    learner, game : structs
    seats
        The agents' numbers, as the loop has them.
    h, s : int

    Examples
    --------
    >>> from tacit.kernels import Nothing, observe
    >>> observe(Nothing(), None, None, None, 0, 0)
    """
