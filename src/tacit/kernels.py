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
a game     `start(game, u)`, `place(game, h, s, actions)`, `advance(game, token, u)`, `reward(game, i, token)`
a bandit   `draw(bandit, cell, u)`, `chance(bandit, cell, a)`, `spread(bandit, cell, out)`,
           `feed(bandit, cell, a, loss, prob)`, `restart(bandit, cell, rounds)`
a learner  `act(learner, i, h, s, u)`, `learn(learner, i, h, s, a, r, s_next)`, `weigh(learner, i, h, s, out)`;
           for certified outputs `pace(learner, h, s)` too; `average(learner, i, h, s, out)` if it is `recent`
an output  `observe(observer, learner, game, seats, h, s)` for what it watches in the loop, where it watches anything
=========  ==============================================================================

Learners and bandits do alike things at two levels, hence two words for each:

- `act` is an agent's move in a state (h, s); `draw` is the pull of one bandit, whose cell knows no states.
- `learn` takes a step of the game: reward and next state; `feed` takes a loss and the probability it was drawn with.
- `weigh` writes an agent's distribution at (h, s), with which runs answer: a learner whose `act` explores beyond it
  says how often (`Learner.explores`). `spread` writes that of one cell. `average` writes an agent's
  average over its iterates, where it keeps one (`Learner.recent`).

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
    advance,
    average,
    chance,
    draw,
    feed,
    jitable,
    learn,
    observe,
    pace,
    place,
    restart,
    reward,
    spread,
    start,
    weigh,
)
from tacit.core.records import capacity, record, records
from tacit.engine.drive import Engine, Nothing, Output, Result
from tacit.engine.run import Candidate, Gaps
from tacit.games.protocol import Game
from tacit.learners.spec import Learner, Scale, World

__all__ = [
    "Bandit",
    "Candidate",
    "Engine",
    "Game",
    "Gaps",
    "Learner",
    "Nothing",
    "Output",
    "Result",
    "Scale",
    "Setting",
    "World",
    "act",
    "advance",
    "average",
    "capacity",
    "chance",
    "draw",
    "exp",
    "feed",
    "jitable",
    "learn",
    "log",
    "observe",
    "pace",
    "place",
    "pow",
    "record",
    "records",
    "restart",
    "reward",
    "spread",
    "start",
    "weigh",
]
