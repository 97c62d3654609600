"""What bandits that keep weights or probabilities for each action share: drawing from a row, and writing it out.

Bandits whose cells have `weight` with its sum `total`, or `prob`, beside `actions`, get their `draw`, `chance` and
`spread` here: `play_weights(MyParams)`, `play_probs(MyParams)`.
"""

from __future__ import annotations

from tacit.core import generics

#: Up to this many actions it is faster to go through all of them than to stop at the one drawn.
FEW = 8


@generics.jitable
def pick(weights, total, n, u):
    """Draw one of n actions in proportion to `weights`, which sum to `total`, with the uniform number u."""
    left = u * total
    if len(weights) <= FEW:  # without branches: where a draw ends cannot be predicted
        chosen = 0
        for a in range(min(n, len(weights)) - 1):
            left -= weights[a]
            if not left < 0.0:
                chosen += 1
        return chosen
    for a in range(n - 1):
        left -= weights[a]
        if left < 0.0:
            return a
    return n - 1


@generics.jitable
def share(weights, total, n, out):
    """Write the weights divided by their sum; there is room for n at least, by which the compiler unrolls the loop."""
    scale = 1.0 / total
    for a in range(min(n, len(weights))):
        out[a] = weights[a] * scale


def draw_weight(bandit, cell, u):
    """Draw in proportion to the weights."""
    return pick(cell.weight, cell.total, cell.actions, u)


def weight_chance(bandit, cell, a):
    """Return the share of a weight."""
    return cell.weight[a] * (1.0 / cell.total)


def spread_weights(bandit, cell, out):
    """Write the shares of all weights."""
    share(cell.weight, cell.total, cell.actions, out)


def play_weights(kind):
    """Let cells that keep weights draw, and say what they play."""
    generics.draw.implement(kind)(draw_weight)
    generics.chance.implement(kind)(weight_chance)
    generics.spread.implement(kind)(spread_weights)


def draw_prob(bandit, cell, u):
    """Draw from the probabilities."""
    return pick(cell.prob, 1.0, cell.actions, u)


def prob_chance(bandit, cell, a):
    """Return a probability."""
    return cell.prob[a]


def spread_probs(bandit, cell, out):
    """Write all probabilities."""
    share(cell.prob, 1.0, cell.actions, out)


def play_probs(kind):
    """Let cells that keep probabilities draw, and say what they play."""
    generics.draw.implement(kind)(draw_prob)
    generics.chance.implement(kind)(prob_chance)
    generics.spread.implement(kind)(spread_probs)
