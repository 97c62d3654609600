"""For your own games, bandits, learners and outputs: what the engine calls, and how.

A kernel is a plain Python function, registered for the type of its first argument, a NamedTuple:

    from tacit import kernels

    @kernels.draw.implement(MyParams)
    def draw(bandit, cell, u): ...

It is compiled into the loop, and runs as plain Python too. It touches the cell that it is given, or records of agent
`i` only, allocates nothing, draws no random numbers (it gets uniform ones), and calls other kernels through the
functions below or functions marked `@jitable`. It takes `exp`, `log` and `pow` from here, which have the same bits on
every machine; square roots have them anyway. `tacit.testing` checks all of this for you.

What you write implements

=========  ==============================================================================
a game     `initial_state(game, u)`, `joint_action(game, h, s, actions)`, `next_state(game, token, u)`,
           `reward(game, i, token)`
a bandit   `draw(bandit, cell, u)`, `prob(bandit, cell, a)`, `probs(bandit, cell, out)`,
           `update(bandit, cell, a, loss, prob)`, `restart(bandit, cell, rounds)`
a learner  `act(learner, i, h, s, u)`, `learn(learner, i, h, s, a, r, s_next)`, `policy(learner, i, h, s, out)`;
           to return certified policies `averaging(learner, h, s)` too; to return averages
           `average_policy(learner, i, h, s, out)`
an output  `observe(observer, learner, game, seats, h, s)` for what it watches in the loop, where it watches anything
=========  ==============================================================================

Learners and bandits do alike things at two levels, hence two words for each:

- `act` is an agent's move in a state (h, s); `draw` is the pull of one bandit, whose cell knows no states.
- `learn` takes a step of the game: reward and next state; `update` takes a loss and the probability it was drawn with.
- `policy` writes an agent's distribution at (h, s), which runs return: a learner whose `act` explores beyond it
  says how often (`Learner.explores`). `probs` writes that of one cell. `average_policy` writes an agent's
  average over its iterates, where `info.returns` is "average".

What is remembered is an array of records, which `records` makes: [steps, states, agents], [steps, agents] or [agents].

    cells = kernels.records((H, S, N), [("weight", "f8", kernels.capacity(A)), ("visits", "i8")])
    cell = cells[h, s, i]      # in a kernel: cell.visits += 1, cell.weight[a] = 0.5

A learner with a bandit gives it a field of its cells, of the type `record(bandit.fields(capacity))`, and passes
`learner.cells[h, s, i].bandit`.

The descriptions: a game fits `Game`; a bandit derives from `Bandit` and makes cells for a `Setting`; a learner derives
from `Learner` and makes its state for a `World`, whose `Scale` is that of the whole run; an output fits `Output` and
looks at an `Engine`. `Nothing` is what watches the loop where nobody does.
"""

from __future__ import annotations

from tacit.bandits.spec import Bandit, Setting
from tacit.core.elementary import exp, log, pow
from tacit.core.generics import (
    act,
    average_policy,
    averaging,
    draw,
    initial_state,
    jitable,
    joint_action,
    learn,
    next_state,
    observe,
    policy,
    prob,
    probs,
    restart,
    reward,
    update,
)
from tacit.core.records import capacity, record, records
from tacit.engine.drive import Engine, Nothing, Output, Result
from tacit.engine.run import Candidate, Gaps
from tacit.games.protocol import Game
from tacit.learners.spec import Info, Learner, Scale, World

__all__ = [
    "Bandit",
    "Candidate",
    "Engine",
    "Game",
    "Gaps",
    "Info",
    "Learner",
    "Nothing",
    "Output",
    "Result",
    "Scale",
    "Setting",
    "World",
    "act",
    "average_policy",
    "averaging",
    "capacity",
    "draw",
    "exp",
    "initial_state",
    "jitable",
    "joint_action",
    "learn",
    "log",
    "next_state",
    "observe",
    "policy",
    "pow",
    "prob",
    "probs",
    "record",
    "records",
    "restart",
    "reward",
    "update",
]
