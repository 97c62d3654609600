"""`tacit.solve`: exactly where that is possible, otherwise learned with full information and evaluated exactly."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.evaluation.gaps import evaluate
from tacit.evaluation.objectives import OBJECTIVES, RULES, checked
from tacit.evaluation.solve import CONCEPTS, NoExactNash, Solution
from tacit.evaluation.solve import solve as exactly
from tacit.games.exact import ExactGame, check_exact
from tacit.policies.markov import MarkovPolicy

#: Numbers of the linear program of one stage up to which it is solved, and joint actions that are written out.
LP_NUMBERS, JOINT = 3_000_000, 200_000

METHODS = ("auto", "exact", "learn")

#: Seconds between two lines of progress.
_EVERY_SECONDS = 5.0


def solve(
    game: ExactGame,
    concept: str = "optimum",
    *,
    weights: Sequence[float] | None = None,
    objective: str = "welfare",
    select: str = "welfare",
    method: str = "auto",
    rounds: int = 200,
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """Solve a game: exactly where that is possible, otherwise approximately with an exact gap.

    Parameters
    ----------
    game : TabularGame or CountGame
    concept : {"optimum", "cce", "ce", "nash"}
        "optimum" maximises the total reward. "cce" and "ce" are (coarse) correlated equilibria. "nash" of a team is its
        optimum; of a two-player game of few actions an equilibrium of each stage game, backwards from the last step; of
        other games one in pure actions if every stage has one.
    weights : sequence of N numbers, optional
        What each agent's reward counts in the total, for "optimum", "cce" and "ce".
    objective : {"welfare", "egalitarian", "entropy", "agent:K"}
        Which cce or ce of each stage: of largest total reward; of the largest reward for who gets least; of the largest
        entropy, the most random one; the best for agent K. Of several that are equally good, one is returned.
    select : {"welfare", "egalitarian", "first", "agent:K"}
        Which nash equilibrium of each stage, where there are several; of those that are equally good, the first.
    method : {"auto", "exact", "learn"}
        "learn" lets agents that know the game play `rounds` rounds of each stage by optimistic Hedge, backwards over
        the steps; for "nash" exact policy gradients are tried too. "auto" does so where the exact way does not exist or
        is too large: a linear program over more than about 3,000,000 numbers.
    rounds : int
        Rounds of learning at each step and state.
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Solution
        `.policy`, `.values`, `.method` in words, and `.gap`, the exact evaluation of a solution that was learned.

    Examples
    --------
    >>> import tacit
    >>> chicken = tacit.make("chicken")
    >>> tacit.solve(chicken, "ce").values.round(9)
    array([5.25, 5.25])
    >>> tacit.solve(chicken, "ce", objective="agent:0").values.round(6)
    array([7., 2.])
    >>> tacit.solve(chicken, "nash", select="egalitarian").values.round(3)
    array([4.667, 4.667])
    """
    check_exact(game)
    check.choice("concept", concept, CONCEPTS)
    check.choice("method", method, METHODS)
    check.function("progress", progress)
    rounds = check.integer("rounds", rounds, least=2, most=1_000_000)
    objective = checked("objective", objective, OBJECTIVES, game.agents)
    select = checked("select", select, RULES, game.agents)
    options: dict[str, Any] = {"weights": weights, "objective": objective, "select": select}
    options["told"] = _told(progress, "stage games are solved")
    if method == "learn" and concept == "optimum":
        raise TacitError("the optimum is not learned; leave method='learn' out, or solve for 'cce', 'ce' or 'nash'")
    if method == "exact" or concept == "optimum":
        return exactly(game, concept, **options)
    if method == "auto" and _fits(game, concept):
        try:
            return exactly(game, concept, **options)
        except NoExactNash as error:
            if progress is not None:
                progress(f"{error}; it is learned instead")
    if objective != "welfare" or weights is not None:
        raise TacitError("a solution that is learned is not chosen by an objective or by weights; leave them out")
    return _nash(game, rounds, progress) if concept == "nash" else _correlated(game, concept, rounds, progress)


def _fits(game: ExactGame, concept: str) -> bool:
    """Return whether the exact way is small enough."""
    joint = game.joint_actions
    if game.anonymous and joint > JOINT:
        return False
    if concept == "nash":
        return joint * game.states <= 50 * JOINT
    deviations = sum(game.actions) if concept == "cce" else sum(a * a for a in game.actions)
    return joint * deviations <= LP_NUMBERS


def _correlated(game: ExactGame, concept: str, rounds: int, progress: Callable[[str], None] | None) -> Solution:
    from tacit.evaluation.optimistic import learned

    found = learned(game, concept, rounds=rounds, told=_told(progress, f"steps are learned, by {rounds} rounds each"))
    gap = evaluate(game, found.policy, gap=concept)
    rounds_told = f"{rounds} rounds of each stage, backwards from the last step"
    way = f"optimistic Hedge with full information, {rounds_told}; approximate"
    return Solution(concept, found.policy, gap.values, found.V, way, game, gap)


def _nash(game: ExactGame, rounds: int, progress: Callable[[str], None] | None) -> Solution:
    """Return the best of several approximate equilibria, by its exact gap."""
    from tacit.evaluation.optimistic import learned
    from tacit.evaluation.values import policy_values
    from tacit.learning import learn

    stages = learned(game, "cce", rounds=rounds, told=_told(progress, f"steps are learned, by {rounds} rounds each"))
    known: dict[str, MarkovPolicy] = {
        f"the last of {rounds} rounds of optimistic Hedge": stages.last,
        f"the average of {rounds} rounds of optimistic Hedge": stages.marginals,
    }
    if progress is not None:
        progress(f"exact policy gradients, {rounds} iterations")
    run = learn(game, "pg-exact", episodes=rounds, eta="auto", points=min(rounds, 10))
    assert isinstance(run.policy, MarkovPolicy)
    known[f"{rounds} iterations of exact policy gradients"] = run.policy
    judged = {name: evaluate(game, policy, gap="nash") for name, policy in known.items()}
    name = min(judged, key=lambda way: judged[way].gap)
    policy = known[name]
    policy.game = game
    V = policy_values(game, policy).V
    way = f"{name}, the best of {len(known)} ways by its exact gap; approximate"
    return Solution("nash", policy, judged[name].values, np.asarray(V), way, game, judged[name])


def _told(progress: Callable[[str], None] | None, what: str) -> Callable[[int, int], None] | None:
    """Return what passes on how much is done, every few seconds."""
    if progress is None:
        return None
    last = time.monotonic()

    def told(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _EVERY_SECONDS:
            last = time.monotonic()
            progress(f"{done:,} of {total:,} {what}")

    return told
