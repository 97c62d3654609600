"""For your own games, bandits, learners and outputs: what the engine calls, and how.

A kernel is a plain Python function, registered for the type of a state or of a game's struct, a NamedTuple of arrays:

    from tacit import kernels

    @kernels.draw.implement(MyState)
    def draw(bandit, i, c, u): ...

It is compiled into the loop, and runs as plain Python too. It touches row `i` of the arrays only, allocates nothing,
draws no random numbers (it gets uniform ones), and calls other kernels through the functions below or functions marked
`@jitable`. `tacit.testing` checks all of this for you.

What you write implements

=========  ==============================================================================
a game     `start(game, u)`, `place(game, h, s, actions)`, `advance(game, token, u)`, `reward(game, i, token)`
a bandit   `draw(bandit, i, c, u)`, `chance(bandit, i, c, a)`, `spread(bandit, i, c, out)`,
           `feed(bandit, i, c, a, loss, prob)`, `restart(bandit, i, c, rounds)`
a learner  `act(learner, i, h, s, u)`, `learn(learner, i, h, s, a, r, s_next)`, `weigh(learner, i, h, s, out)`;
           for certified outputs `pace(learner, h, s)` too
an output  `observe(observer, learner, game, seats, h, s)` for what it watches in the loop, where it watches anything
=========  ==============================================================================

Learners and bandits do alike things at two levels, hence two words for each:

- `act` is an agent's move in a state (h, s); `draw` is the pull of one bandit, a cell c that knows no states.
- `learn` takes a step of the game: reward and next state; `feed` takes a loss and the probability it was drawn with.
- `weigh` writes an agent's distribution at (h, s); `spread` writes that of one cell.

A learner with a bandit in each cell passes from the first to the second with c = h·S + s.

The descriptions: a game fits `Game`; a bandit derives from `Bandit` and makes its state for `Cells`; a learner derives
from `Learner` and makes its state for a `World`, whose `Scale` is that of the whole run; an output fits `Output` and
looks at an `Engine`. `Nothing` is what watches the loop where nobody does.

States declare the axes of their arrays, so that they can grow and be checked:

    class MyState(NamedTuple):
        weight: Annotated[np.ndarray, "N C A"]  # agents, cells, actions; H are the steps, S the states
"""

from __future__ import annotations

from tacit.bandits.spec import Bandit, Setting
from tacit.core.generics import (
    act,
    advance,
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
from tacit.engine.protocols import Engine, Output, Result
from tacit.engine.record import Nothing
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
    "chance",
    "draw",
    "feed",
    "jitable",
    "learn",
    "observe",
    "pace",
    "place",
    "restart",
    "reward",
    "spread",
    "start",
    "weigh",
]
