"""A game of your own, from arrays: two routers share two links, and a link that both use may stay jammed.

python examples/own_game.py
"""

import tempfile

import numpy as np

import tacit

CLEAR, JAMMED = 0, 1  # states of the fast link
FAST, SLOW = 0, 1  # actions: which link a router sends its packet on

# transitions[step (1: the same at every step), state, action of router 0, action of router 1, next state]
transitions = np.zeros((1, 2, 2, 2, 2))
transitions[0, CLEAR, :, :, CLEAR] = 1.0
transitions[0, CLEAR, FAST, FAST] = [0.2, 0.8]  # both on the fast link: it is likely to jam
transitions[0, JAMMED, :, :] = [0.1, 0.9]  # while anybody uses it, it rarely clears
transitions[0, JAMMED, SLOW, SLOW] = [0.7, 0.3]

# rewards[router, step, state, action of router 0, action of router 1]: packets delivered
rewards = np.zeros((2, 1, 2, 2, 2))
rewards[:, 0, CLEAR] = [[[1.0, 3.0], [1.0, 0.5]], [[1.0, 1.0], [3.0, 0.5]]]
rewards[:, 0, JAMMED] = [[[0.0, 0.2], [1.0, 0.5]], [[0.0, 1.0], [0.2, 0.5]]]

game = tacit.TabularGame(
    transitions,
    rewards,
    initial=[1.0, 0.0],
    horizon=8,
    name="two links",
    state_names=["clear", "jammed"],
    action_names=[["fast", "slow"]] * 2,
)
print(game)

# exact references
best = tacit.solve(game, "optimum")
fair = tacit.solve(game, "ce")
print("best total:", best.values.sum().round(3), " best correlated equilibrium:", fair.values.sum().round(3))

# each router learns from the state, its own link and its own deliveries, without a word to the other
run = tacit.learn(game, "stage-v-cce", episodes=300_000, seed=0, bonus=0.05, step=0.2, loss="raw")
print(run)
print("what they deliver:", run.values.round(3), " none gains more than", run.gaps.upper.round(3), "by leaving")

assert run.gaps.source == "exact"  # the answer is a table; the mixture that it was made of has a certificate
assert run.candidates["average"].gaps.source == "certificate"
assert (tacit.evaluate(game, run.policy, gap="cce").gaps <= run.gaps.upper + 1e-9).all()

with tempfile.TemporaryDirectory() as folder:  # a game is a file, too
    game.save(f"{folder}/two-links.npz")
    assert tacit.load(f"{folder}/two-links.npz").horizon == 8
