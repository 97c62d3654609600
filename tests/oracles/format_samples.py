"""Small files of our own that use every construct of the two formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tacit

PREAMBLE = """\
agents: 2
discount: 0.9
values: reward
states: dry wet flooded
start: dry
actions:
dig wait
pump dig wait
observations:
sun rain
2
"""

WHOLE = """\
T: * :
uniform
O: * :
uniform
R: * : * : * : * : 0
"""

EVERY_CONSTRUCT = (
    PREAMBLE
    + """\
# comments, and lines with one
T: * :
identity
T: dig 1 :   # by name and by index
0.5 0.25 0.25
0 1 0
0.1 0.2 0.7
T: 5 : wet :
0 0.5 0.5
T: wait * : flooded :
uniform
T: dig pump : 0 : 0 : 0
T: dig pump : 0 : 1 : 1.0
O: * : * : * : 0.25
O: dig dig : wet :
0.5 0.5 0 0
O: wait wait :
uniform
O: 0 : dry : sun * : 0.5
O: 0 : dry : rain * : 0
R: * : * : * : * : -1
R: dig dig : dry : 4.5
R: * : wet : flooded : * : -10
R: dig * : wet : * : rain 1 : 2
R: wait pump : flooded : dry :
1 2 3 4
R: 3 : dry :
1 0 0 0
0 1 0 0
0 0 1 -1e-3
"""
)

THREE_AGENTS = """\
agents: one two three
discount: 1.0
values: cost
states: 2
start:
0.25 0.75
actions:
2
1
2
observations:
1
1
2
T: * * * : * : 0 : 1
T: 0 0 1 : 1 :
0.5 0.5
O: * : * : 0 0 0 : 1
R: 1 0 * : * : * : * : 3
"""

ONE_AGENT = """\
agents: 1
discount: 1
values: reward
states: 2
actions:
left right
observations:
2
start include: 0 1
T: left :
1 0
1 0
T: right :
0 1
0 1
O: * :
1 0
0 1
R: right : 0 : * : * : 1
"""

DPOMDP = [EVERY_CONSTRUCT, THREE_AGENTS, ONE_AGENT, PREAMBLE + WHOLE]

PAYOFF_FORM = """\
NFG 1 R "A game" { "Row" "Column" } { 2 3 }

1 -1 2 -2 3/4 -3/4
4 -4 5.5 -5.5 6e-1 -6e-1
"""

NAMED_PAYOFF_FORM = """\
NFG 1 D "with \\"quotes\\"" { "a" "b" "c" }
{ { "up" "down" } { "l" "r" } { "only" } }
"a comment
on two lines"
1, 2, 3
4, 5, 6
7, 8, 9
-1/3, .5, +1
"""

OUTCOME_FORM = """\
NFG 1 R "outcomes" { "1" "2" }
{ { "C" "D" } { "C" "D" } }
""

{
{ "both" 3, 3 }
{ "temptation" 5 0 }
{ "sucker" 0, 5 }
}
1 2 3 0
"""

NFG = [PAYOFF_FORM, NAMED_PAYOFF_FORM, OUTCOME_FORM]


def write(folder: Path, text: str | bytes, name: str) -> Path:
    """Write a file and return where it is."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def wide_game(actions: tuple[int, ...], name: str | None) -> tacit.TabularGame:
    """A matrix game whose payoffs differ by many orders of magnitude."""
    rng = np.random.default_rng(actions)
    shape = (len(actions), *actions)
    return tacit.games.matrix_game(rng.normal(size=shape) * 10.0 ** rng.integers(-30, 30, size=shape), name=name)
