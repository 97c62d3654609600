"""A problem file of the planning community: read a .dpomdp, solve it exactly, and learn it.

    python examples/dpomdp_file.py [FILE.dpomdp]

Without a file, the script writes a small one of its own: two cleaners and a room that gets dirty.
"""

import sys
import tempfile
from pathlib import Path

import tacit

CLEANERS = """\
agents: 2
discount: 1.0
values: reward
states: clean dusty filthy
start:
1.0 0.0 0.0
actions:
rest sweep
rest sweep
observations:
nothing dust
nothing dust
# a room left alone gets worse
T: * :
0.6 0.4 0.0
0.0 0.7 0.3
0.0 0.0 1.0
# one cleaner keeps it from getting worse, and may help
T: sweep rest :
1.0 0.0 0.0
0.5 0.5 0.0
0.0 0.2 0.8
T: rest sweep :
1.0 0.0 0.0
0.5 0.5 0.0
0.0 0.2 0.8
# only both can deal with filth
T: sweep sweep : * : clean : 0.9
T: sweep sweep : * : dusty : 0.1
T: sweep sweep : * : filthy : 0.0
O: * :
uniform
# the room pays by its state, and sweeping costs
R: * : clean : * : * : 4
R: * : dusty : * : * : 1
R: * : filthy : * : * : -3
R: sweep rest : clean : * : * : 3
R: rest sweep : clean : * : * : 3
R: sweep rest : dusty : * : * : 0
R: rest sweep : dusty : * : * : 0
R: sweep sweep : clean : * : * : 2
R: sweep sweep : dusty : * : * : -1
R: sweep sweep : filthy : * : * : -5
"""

folder = Path(tempfile.mkdtemp())
path = Path(sys.argv[1]) if len(sys.argv) > 1 else folder / "cleaners.dpomdp"
if len(sys.argv) == 1:
    path.write_text(CLEANERS, encoding="utf-8")

game = tacit.load(path, horizon=10)
print(game)
for note in game.notes:
    print("note:", note)

optimum = tacit.solve(game, "optimum")
print("best the team can do in 10 steps:", round(float(optimum.values[0]), 6))

run = tacit.learn(game, "stage-v-cce", episodes=30_000, seed=0, bonus=0.1, step=0.5, loss="raw")
print("what two learners reach, each alone:", round(float(run.values[0]), 3), " ", run)
assert run.values[0] <= optimum.values[0] + 1e-9
