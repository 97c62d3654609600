"""Generic functions: one name, one implementation for each type of state, interpreted or compiled.

A generic function dispatches on the type of its first argument, a NamedTuple of arrays. Interpreted code looks it up in
a table; compiled code resolves it while compiling, through numba's `overload`, and inlines the implementation. So the
fused loop is written once for every learner, bandit and game, and a kernel is an ordinary Python function.

    @feed.implement(Exp3State)
    def feed_exp3(bandit, i, c, a, loss, prob):
        ...

A kernel may touch row `i` of the arrays only, and calls other kernels through generic functions or functions marked
`@jitable`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from numba.extending import overload, register_jitable

from tacit.core import elementary
from tacit.core.errors import TacitError, brief
from tacit.core.linking import KernelCompiler

F = TypeVar("F", bound=Callable[..., Any])

#: How kernels are compiled. They are inlined, and count no references: kernels allocate nothing, and without this every
#: use of a nested struct would count each of its arrays twice (measured: 14 M instead of 2.4 M steps a second).
OPTIONS = {"error_model": "numpy", "forceinline": True, "_nrt": False, "pipeline_class": KernelCompiler}


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


@jitable
def cell(h, s, states):
    """Return the number of the cell (h, s). Never negative: an index that may be costs three instructions a use."""
    return max(h * states + s, 0)


def generic(signature: Callable[..., Any], fallback: Callable[..., Any] | None = None) -> Any:
    """Make a generic function; `signature` gives its name and says what an implementation does.

    `fallback` is for types without an implementation.
    """
    table: dict[type, Callable[..., Any]] = {}
    name = signature.__name__

    def dispatch(state: Any, *args: Any) -> Any:
        kernel = table.get(type(state), fallback)
        if kernel is None:
            raise TacitError(f"{name} is not implemented for {type(state).__name__}")
        return kernel(state, *args)

    def choose(state: Any, *args: Any) -> Any:
        return table.get(getattr(state, "instance_class", None), fallback)  # type: ignore[arg-type]

    def implement(kind: type) -> Callable[[F], F]:
        def register(kernel: F) -> F:
            table[kind] = kernel
            return kernel

        return register

    dispatch.__name__ = dispatch.__qualname__ = name
    dispatch.__doc__ = signature.__doc__
    dispatch.implement = implement  # type: ignore[attr-defined]
    dispatch.known = table.__contains__  # type: ignore[attr-defined]
    overload(dispatch, strict=False, jit_options=OPTIONS)(choose)
    return dispatch


# games -----------------------------------------------------------------------------------------------------------


@generic
def start(game, u):
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
    >>> from tacit.kernels import start
    >>> int(start(tacit.make("good-state").kernels(), 0.3))
    0
    """


@generic
def place(game, h, s, actions):
    """Return a token for the joint action `actions` [N] at step h in state s.

    It is made once a step and read by `advance` and `reward`: whatever the game needs, such as the row of a table.

    Parameters
    ----------
    game : a game's struct
    h, s : int
    actions : int array [N]

    Returns
    -------
    token
        Whatever `advance` and `reward` read.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import place, reward
    >>> game = tacit.make("chicken").kernels()
    >>> token = place(game, 0, 0, np.array([0, 1]))
    >>> float(reward(game, 0, token)), float(reward(game, 1, token))
    (2.0, 7.0)
    """


@generic
def advance(game, token, u):
    """Return the next state, drawn with the uniform number u.

    Parameters
    ----------
    game : a game's struct
    token
        Of `place`.
    u : float
        Uniform in [0, 1).

    Returns
    -------
    int

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import advance, place
    >>> game = tacit.make("good-state").kernels()
    >>> int(advance(game, place(game, 0, 1, np.array([0, 1])), 0.5))
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
        Of `place`.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import place, reward
    >>> game = tacit.make("chicken").kernels()
    >>> float(reward(game, 1, place(game, 0, 0, np.array([0, 1]))))
    7.0
    """


@generic
def confront(game, cert, seats, h, s):
    """Write each agent's value and its payoff for every own action at (h, s), where all play `cert.mu`.

    The certificate asks for it: `cert.value` [N] with the continuation `cert.V`, `cert.gain` [N, A] with `cert.best`.
    """


# learners --------------------------------------------------------------------------------------------------------


@generic
def act(learner, i, h, s, u):
    """Return agent i's action at step h in state s, drawn with the uniform number u.

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
def weigh(learner, i, h, s, out):
    """Write agent i's current distribution over its actions at (h, s) into `out`.

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
    >>> from tacit.kernels import weigh
    >>> me, out = tacit.agent("stage-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1)), np.zeros(2)
    >>> weigh(me.state, 0, 0, 0, out)
    >>> out
    array([0.5, 0.5])
    """


@generic
def pace(learner, h, s):
    """Return (α, publish) for the visit of (h, s) that is about to be learned from.

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
    >>> from tacit.kernels import pace
    >>> me = tacit.agent("stage-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1))
    >>> alpha, publish = pace(me.state, 0, 0)
    >>> float(alpha), bool(publish)  # the first stage has one visit
    (1.0, True)
    """


def _jot(learner, i, h, s, size, room, row, column):
    weigh(learner, i, h, s, room)
    for a in range(size - 1):
        row[column + a] = room[a]


@partial(generic, fallback=_jot)
def jot(learner, i, h, s, size, room, row, column):
    """Write all but the last of what `weigh` writes into `row` from a column on; no learner needs it."""


# bandits: each cell c of agent i is a bandit of its own, and its kernels touch no other cell ------------------------


@generic
def draw(bandit, i, c, u):
    """Return an action of cell c, drawn with the uniform number u.

    Parameters
    ----------
    bandit : a bandit's state
    i, c : int
        Agent and cell.
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
    >>> cells = tacit.bandits.Cells(np.array([2]), 1, 10, 1, 1.0, None)
    >>> int(draw(tacit.Exp3IX().init(cells), 0, 0, 0.9))
    1
    """


@generic
def spread(bandit, i, c, out):
    """Write the current distribution of cell c into `out`.

    Parameters
    ----------
    bandit : a bandit's state
    i, c : int
        Agent and cell.
    out : array [A]

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import spread
    >>> cells, out = tacit.bandits.Cells(np.array([2]), 1, 10, 1, 1.0, None), np.zeros(2)
    >>> spread(tacit.Exp3IX().init(cells), 0, 0, out)
    >>> out
    array([0.5, 0.5])
    """


@generic
def chance(bandit, i, c, a):
    """Return the current probability of action a in cell c.

    Parameters
    ----------
    bandit : a bandit's state
    i, c, a : int
        Agent, cell and action.

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import chance
    >>> cells = tacit.bandits.Cells(np.array([2]), 1, 10, 1, 1.0, None)
    >>> float(chance(tacit.Exp3IX().init(cells), 0, 0, 1))
    0.5
    """


@generic
def feed(bandit, i, c, a, loss, prob):
    """Learn that action a, drawn with probability `prob`, cost `loss` (in [0, 1] where the theory is to hold).

    Parameters
    ----------
    bandit : a bandit's state
    i, c, a : int
        Agent, cell and action.
    loss, prob : float

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import chance, feed
    >>> bandit = tacit.Exp3IX().init(tacit.bandits.Cells(np.array([2]), 1, 10, 1, 1.0, None))
    >>> feed(bandit, 0, 0, 1, 1.0, 0.5)
    >>> bool(chance(bandit, 0, 0, 1) < 0.5)
    True
    """


@generic
def restart(bandit, i, c, rounds):
    """Forget everything about cell c; about `rounds` rounds will follow.

    Parameters
    ----------
    bandit : a bandit's state
    i, c, rounds : int
        Agent, cell and how many rounds will follow.

    Examples
    --------
    >>> import numpy as np
    >>> import tacit
    >>> from tacit.kernels import chance, feed, restart
    >>> bandit = tacit.Exp3IX().init(tacit.bandits.Cells(np.array([2]), 1, 10, 1, 1.0, None))
    >>> feed(bandit, 0, 0, 1, 1.0, 0.5)
    >>> restart(bandit, 0, 0, 10)
    >>> float(chance(bandit, 0, 0, 1))
    0.5
    """


@generic
def lean(bandit, i, c, target, rounds, scale):
    """Begin cell c at the distribution `target`, as in that round, with losses of about `scale`; no bandit needs it."""


@generic
def regret(bandit, i, c):
    """Return the bandit's own estimate of its mean regret in cell c; only bandits that tune themselves have one."""


def _jot_cell(bandit, i, c, size, room, row, column):
    spread(bandit, i, c, room)
    for a in range(size - 1):
        row[column + a] = room[a]


@partial(generic, fallback=_jot_cell)
def jot_cell(bandit, i, c, size, room, row, column):
    """Write all but the last of what `spread` writes into `row` from a column on; no bandit needs it."""


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
