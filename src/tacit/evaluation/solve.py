"""`tacit.solve`: exactly where that is possible, otherwise by sweeps with full information, and an exact gap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.evaluation.gaps import Evaluation, evaluate, uniform_gap
from tacit.evaluation.stage_game import OBJECTIVES, RULES, check_rule, fits
from tacit.evaluation.stages import CONCEPTS, Clock, NotExact, Solution, solve_stages
from tacit.evaluation.sweeps import Sweeps
from tacit.evaluation.values import policy_values
from tacit.games.exact import ExactGame, check_exact
from tacit.policies.markov import MarkovPolicy

#: Joint actions up to which they are written out.
JOINT = 200_000

#: Joint actions at all steps and states up to which the optimum takes a moment.
_QUICK_NUMBERS = 5_000_000

METHODS = ("auto", "exact", "learn")

#: Sweeps where neither their number nor a time is given, and after how many the gap is looked at first.
ROUNDS, _FIRST_LOOK = 1000, 8

_ENDED = {"tolerance": "its gap", "rounds": "their number", "seconds": "the clock", "interrupted": "Ctrl-C"}


def solve(
    game: ExactGame,
    concept: str = "optimum",
    *,
    weights: Sequence[float] | None = None,
    objective: str = "welfare",
    select: str = "welfare",
    method: str = "auto",
    tolerance: float | None = None,
    seconds: float | None = None,
    rounds: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Solution:
    """Solve a game: exactly where that is possible, otherwise approximately with an exact gap.

    Parameters
    ----------
    game : TabularGame or CountGame
    concept : {"optimum", "cce", "ce", "nash"}
        "optimum" maximises the total reward. "cce" and "ce" are (coarse) correlated equilibria. "nash" of a team is its
        optimum, of a zero-sum game its minimax solution; of other games an equilibrium of each stage game, backwards
        from the last step: of all where two players have few actions, otherwise of those in pure actions, or where
        there are none the one at the end of the logit path.
    weights : sequence of N numbers, optional
        What each agent's reward counts in the total, for "optimum", "cce" and "ce".
    objective : {"welfare", "egalitarian", "entropy", "agent:K"}
        Which cce or ce of each stage: of largest total reward; of the largest reward for who gets least; of the largest
        entropy, the most random one; the best for agent K. Of several that are equally good, one is returned.
    select : {"welfare", "egalitarian", "first", "agent:K"}
        Which nash equilibrium of each stage, where there are several; of those that are equally good, the first.
    method : {"auto", "exact", "learn"}
        "learn" lets agents that know the game move by regret matching, in sweeps over all steps and states, and
        returns the best policy of the sweeps by its exact gap. "auto" does so where the exact way does not exist, is
        too large (a linear program over more than about 3,000,000 numbers) or takes longer than `seconds`.
    tolerance : float, optional
        The gap at which the sweeps end; if not given, a ten-thousandth of uniform play's.
    seconds : float, optional
        After how long they end.
    rounds : int, optional
        Sweeps at most; if neither this nor `seconds` is given, 1000.
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Solution
        `.policy`, `.values`, `.method` in words, `.gap` (0 where it is exact), and of an approximate solution
        `.evaluation` and `.ended`. Ctrl-C ends the sweeps too, and the best policy so far is returned.

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
    >>> found = tacit.solve(tacit.make("congestion"), "cce", tolerance=1e-3)
    >>> found.ended, found.gap < 1e-3
    ('tolerance', True)
    """
    check_exact(game)
    check.choice("concept", concept, CONCEPTS)
    check.choice("method", method, METHODS)
    check.function("progress", progress)
    limits = {"tolerance": tolerance, "seconds": seconds, "rounds": rounds}
    for name, value in limits.items():
        if value is not None:
            check.integer(name, value, least=1) if name == "rounds" else check.positive(name, value)
    objective = check_rule("objective", objective, OBJECTIVES, game.agents)
    select = check_rule("select", select, RULES, game.agents)
    if concept == "optimum" and (method == "learn" or tolerance is not None or seconds is not None):
        raise TacitError(
            "the optimum is always exact; leave method='learn', tolerance and seconds out, or solve for 'cce', 'ce' or "
            "'nash'"
        )
    clock = Clock(seconds, progress)
    options: dict[str, Any] = {"weights": weights, "objective": objective, "select": select, "report": clock.stage}
    if method == "exact" or concept == "optimum":
        return solve_stages(game, concept, **options)
    if method == "auto" and _fits(game, concept):
        try:
            return solve_stages(game, concept, **options)
        except NotExact as error:
            clock.tell(f"{error}; by sweeps instead")
    if objective != "welfare" or weights is not None:
        raise TacitError("an approximate solution is not chosen by an objective or by weights; leave them out")
    most = rounds if rounds is not None or seconds is not None else ROUNDS
    return _sweep(game, concept, clock, tolerance, most)


def is_quickly_solved(game: ExactGame) -> bool:
    """Return whether the optimum takes a moment at most.

    >>> import tacit
    >>> is_quickly_solved(tacit.make("chicken")), is_quickly_solved(tacit.make("congestion"))
    (True, False)
    """
    return game.joint_actions <= JOINT and game.joint_actions * game.states * game.horizon <= _QUICK_NUMBERS


def welfare_range(game: ExactGame) -> tuple[float, float] | None:
    """Return the least and the largest total that all agents can get together; None where that takes longer.

    >>> import tacit
    >>> welfare_range(tacit.make("chicken"))
    (0.0, 12.0)
    """
    if not game.joint_rows or not is_quickly_solved(game):
        return None
    least, most = (float(solve(game, weights=[sign] * game.agents).values.sum()) for sign in (-1.0, 1.0))
    return least, most


def _fits(game: ExactGame, concept: str) -> bool:
    """Return whether the exact way is small enough."""
    joint = game.joint_actions
    if not game.joint_rows and joint > JOINT:
        return False
    if concept == "nash":
        return joint * game.states <= 50 * JOINT
    return fits(game.actions, concept)


def _sweep(game: ExactGame, concept: str, clock: Clock, tolerance: float | None, rounds: int | None) -> Solution:
    """Sweep until the gap is small enough, or the sweeps or the time are used up; return the best policy."""
    enough = 1e-4 * uniform_gap(game) if tolerance is None else tolerance
    sweeps, look, ended = Sweeps(game, concept), _FIRST_LOOK, ""
    best: list[tuple[Evaluation, str, MarkovPolicy]] = []
    while not ended:
        try:
            sweeps.advance()
            ended = "seconds" if clock.up() else "rounds" if sweeps.done == rounds else ""
            if ended or sweeps.done >= look:
                best, look = [_best(best, sweeps, game, concept)], look + look // 2
                ended = "tolerance" if best[0][0].gap <= enough else ended
                clock.now_and_then(f"{sweeps.done:,} sweeps, {concept} gap {best[0][0].gap:.3g}")
        except KeyboardInterrupt:
            ended = "interrupted"
    gap, name, policy = _best(best, sweeps, game, concept) if ended == "interrupted" else best[0]
    policy.game = game
    way = f"{name} play of {sweeps.done:,} sweeps of predictive regret matching⁺, ended by {_ENDED[ended]}; approximate"
    return Solution(concept, policy, gap.values, policy_values(game, policy).V, way, game, gap, ended)


def _best(
    before: list[tuple[Evaluation, str, MarkovPolicy]], sweeps: Sweeps, game: ExactGame, concept: str
) -> tuple[Evaluation, str, MarkovPolicy]:
    """Return the policy of smallest gap, of those before and those of the sweeps so far."""
    now = [(evaluate(game, policy, gap=concept), name, policy) for name, policy in sweeps.policies().items()]
    return min([*before, *now], key=lambda found: found[0].gap)
