"""Is a counting game a Markov potential game? Two agents at a time, the others integrated out.

Where the others keep to their policies, agents i and j face a game of two: rewards and transitions are expectations
over the others' counts. The cross derivatives of V_i and V_j at a policy are those of this game, so the whole game has
a potential if and only if all these games of two have, whatever the policy. Agents of the same weights are alike: one
pair of each two kinds stands for all.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from tacit.core.ownership import Owned
from tacit.core.types import FloatArray
from tacit.evaluation.symmetry import Asymmetry, pairs, rounding, search
from tacit.games.count import CountGame
from tacit.games.tabular import TabularGame

#: Pairs that are looked at for each random policy, at most; where agents have many different weights, drawn evenly.
MOST_PAIRS = 40


def asymmetries(
    game: CountGame, rng: np.random.Generator, trials: int, tolerance: float
) -> tuple[float, float, list[Asymmetry]]:
    """Return the largest relative asymmetry, the tolerance in force, and the failures, worst first."""
    among, worst = _pairs(game, rng), 0.0
    if not among:
        return 0.0, tolerance, []
    for _ in range(trials):
        probs = 0.5 / game.actions[0] + 0.5 * rng.dirichlet(
            np.ones(game.actions[0]), (game.agents, game.horizon, game.states)
        )
        failures: list[Asymmetry] = []
        for i, j in among:
            two = pair_game(game, probs, i, j)
            # the others' distribution is a sum of positive products, one for each of them
            passing = max(tolerance, rounding(two) + np.finfo(float).eps * game.horizon * 4 * game.agents)
            found = search(two, [probs[i], probs[j]], among=pairs(two), tolerance=passing)
            worst = max(worst, found.worst)
            failures += [failure._replace(agents=(i, j)) for failure in found.failures]
        if failures:
            break
    return worst, passing, sorted(failures, key=lambda failure: -failure.amount)


def _pairs(game: CountGame, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Return a pair of agents for each two kinds of weights."""
    _, first, kind = np.unique(game.weights, axis=0, return_index=True, return_inverse=True)
    kind = kind.ravel()
    found = []
    for one, other in combinations_with_replacement(range(len(first)), 2):
        if one != other:
            found.append((int(first[one]), int(first[other])))
        elif (kind == one).sum() > 1:
            i, j = np.flatnonzero(kind == one)[:2]
            found.append((int(i), int(j)))
    if len(found) > MOST_PAIRS:
        found = [found[k] for k in rng.choice(len(found), MOST_PAIRS, replace=False)]
    return [(min(pair), max(pair)) for pair in found]


def pair_game(game: CountGame, probs: FloatArray, i: int, j: int) -> TabularGame:
    """Return the game of agents i and j where the others play `probs` [N, H, S, A]."""
    H, S, A = game.horizon, game.states, game.actions[0]
    others = [k for k in range(game.agents) if k not in (i, j)]
    rewards, moves = np.zeros((2, H, S, A, A)), np.zeros((H, S, A, A, S))
    for h in range(H):
        for s in range(S):
            sums = [_sum(np.array(statistic.scores), probs[others, h, s]) for statistic in game.statistics]
            for a in range(A):
                q = game._reward_of[a]
                scores, table = game.statistics[q].scores, game._rewards[a]
                row = table[h if len(table) > 1 else 0, s]
                for b in range(A):
                    at = scores[a] + scores[b]
                    paid = float(sums[q] @ row[at : at + len(sums[q])])
                    rewards[0, h, s, a, b], rewards[1, h, s, b, a] = (
                        game.weights[i, a] * paid,
                        game.weights[j, a] * paid,
                    )
            scores, others_sum = game.transition_statistic.scores, sums[game._transition_of]
            table = game._transitions[h if len(game._transitions) > 1 else 0, s]  # [S, X]
            for a in range(A):
                for b in range(A):
                    at = scores[a] + scores[b]
                    moves[h, s, a, b] = table[:, at : at + len(others_sum)] @ others_sum
    moves /= moves.sum(axis=-1, keepdims=True)
    return TabularGame(Owned(moves), Owned(rewards), game.initial, H)


def _sum(scores: FloatArray, probs: FloatArray) -> FloatArray:
    """Return the distribution of Σ_k scores[a_k] where each k plays its row of `probs` [n, A]."""
    total = np.ones(1)
    for own in probs:
        joined = np.zeros(len(total) + int(scores.max()))
        for score, chance in zip(scores, own, strict=True):
            joined[score : score + len(total)] += chance * total
        total = joined
    return total
