"""`tacit.solve`: exact solutions where possible, otherwise sweeps with full information and an exact gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tacit.core import check, memory
from tacit.core.display import Document, cell_text
from tacit.core.display import exact as fraction
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.evaluation.gaps import Evaluation, evaluate, uniform_gap
from tacit.evaluation.stage_game import OBJECTIVES, RULES, check_rule, fits
from tacit.evaluation.stages import NotExact, Report, StageGames
from tacit.evaluation.values import Step, backward, policy_values, shift_rewards
from tacit.games.exact import ExactGame, check_exact, joint_draw
from tacit.policies.markov import MarkovPolicy

#: Joint actions up to which they are written out.
JOINT = 200_000

#: Joint actions at all steps and states up to which the optimum takes a moment.
_QUICK_NUMBERS = 5_000_000

CONCEPTS = ("optimum", "cce", "ce", "nash")

METHODS = ("auto", "exact", "learn")

#: Each agent's gap up to which a solution counts as exact, in units of the span of its returns.
_EXACT = 1e-8

#: Seconds between two lines of progress.
_EVERY_SECONDS = 5.0

#: Sweeps where neither their number nor a time is given, and after how many the gap is looked at first.
ROUNDS, _FIRST_LOOK = 1000, 8

_ENDED = {"tolerance": "its gap", "rounds": "their number", "seconds": "the clock", "interrupted": "Ctrl-C"}


@dataclass(frozen=True, eq=False)
class Solution:
    """A solution of a game with its exact gap.

    Attributes
    ----------
    concept : {"optimum", "cce", "ce", "nash"}
    policy : MarkovPolicy
    values : array [N]
        Expected return of each agent from the initial distribution.
    V : array [N, H + 1, S]
        Expected return of each agent from step h on; of a discounted game [N, 2, S], twice the same.
    method : str
        The algorithm, in words.
    game : TabularGame or CountGame
    evaluation : Evaluation or None
        Of an equilibrium its exact gaps, as `tacit.evaluate` computes them.
    exact : bool
        Whether each agent's gap is at most 1e-8 of the span of its returns.
    ended : {"", "tolerance", "rounds", "seconds", "interrupted"}
        What ended the sweeps that led to an approximate solution; "" where there were none.

    Examples
    --------
    >>> import tacit
    >>> tacit.solve(tacit.make("good-state", horizon=2), "optimum").V[0, 0].round(2).tolist()
    [9.5, 4.5]
    """

    concept: str
    policy: MarkovPolicy
    values: FloatArray
    V: FloatArray = field(repr=False)
    method: str = "backward induction"
    game: ExactGame | None = field(default=None, repr=False)
    evaluation: Evaluation | None = None
    exact: bool = True
    ended: str = ""

    @property
    def gap(self) -> float:
        """The exact gap of an equilibrium, the largest of all agents; 0 of the optimum."""
        return 0.0 if self.evaluation is None else self.evaluation.gap

    def show(self, *, everything: bool = False, limit: int | None = 40) -> Document:
        """Show the policy, as `MarkovPolicy.show` does, and each agent's value."""
        shown = self.policy.show(self.game, everything=everything, limit=limit)
        values = ", ".join(f"agent {i} {cell_text(fraction(float(v)))}" for i, v in enumerate(self.values[:20]))
        more = f" and {len(self.values) - 20} more" if len(self.values) > 20 else ""
        return replace(shown, title=f"{self.concept}: {shown.title}", parts=[*shown.parts, f"values: {values}{more}"])


def solve(
    game: ExactGame,
    concept: str = "optimum",
    *,
    weights: Sequence[float] | None = None,
    objective: str = "welfare",
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
    objective : {"welfare", "egalitarian", "agent:K", "first"}
        Which equilibrium of each stage: of largest total reward; of the largest reward for who gets least; the best for
        agent K; the first nash equilibrium. Of several that are equally good, one is returned. A nash equilibrium is a
        ce too, and a ce a cce: where they are cheap to compute, the best of all of them is returned.
    method : {"auto", "exact", "learn"}
        "learn" lets agents that know the game move by regret matching, in sweeps over all steps and states, and
        returns the best policy of the sweeps by its exact gap. "auto" does so where the exact way does not exist, is
        too large (a linear program over more than about 3,000,000 numbers) or takes longer than `seconds`.
    tolerance : float, optional
        The gap at which the sweeps end; if not given, a ten-thousandth of the uniform policy's.
    seconds : float, optional
        After how long they end.
    rounds : int, optional
        Sweeps at most; if neither this nor `seconds` is given, 1000.
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Solution
        `.policy`, `.values`, `.method` in words, `.gap` as `tacit.evaluate` computes it, `.exact` and of an
        approximate solution `.ended`. Ctrl-C ends the sweeps too, and the best policy so far is returned.

    Examples
    --------
    >>> import tacit
    >>> chicken = tacit.make("chicken")
    >>> tacit.solve(chicken, "ce").values.round(9)
    array([5.25, 5.25])
    >>> tacit.solve(chicken, "ce", objective="agent:0").values.round(6)
    array([7., 2.])
    >>> tacit.solve(chicken, "nash", objective="egalitarian").values.round(3)
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
    objective = check_rule("objective", objective, RULES if concept == "nash" else OBJECTIVES, game.agents)
    if concept == "optimum" and objective != "welfare":
        raise TacitError(f"objective must be left out of the optimum, which has the largest total; got {objective!r}")
    if concept == "optimum" and (method == "learn" or tolerance is not None or seconds is not None):
        raise TacitError("method='learn', tolerance and seconds must be left out: the optimum is always exact")
    timer = Timer(seconds, progress)
    options: dict[str, Any] = {"weights": weights, "objective": objective, "report": timer.stage}
    if method == "exact" or concept == "optimum":
        return _solve_exactly(game, concept, **options)
    if method == "auto" and _fits(game, concept):
        try:
            return _solve_exactly(game, concept, **options)
        except NotExact as error:
            timer.show(f"{error}; by sweeps instead")
    if objective != "welfare" or weights is not None:
        raise TacitError("objective and weights must be left out of an approximate solution")
    most = rounds if rounds is not None or seconds is not None else ROUNDS
    return _sweep(game, concept, timer, tolerance, most)


def _solve_exactly(
    game: ExactGame,
    concept: str,
    *,
    weights: Sequence[float] | None = None,
    objective: str = "welfare",
    report: Report = lambda done, total: None,
) -> Solution:
    """Solve each stage game, backwards from the last step, as `tacit.solve` says. `report` is called after each.

    >>> import tacit
    >>> _solve_exactly(tacit.make("chicken"), "ce").values.round(9)
    array([5.25, 5.25])
    """
    tables = check_exact(game).tabular()
    w = _check_weights(weights, game.agents)
    if concept == "nash" and weights is not None:
        raise TacitError("weights must be left out for 'nash'; they choose among cce and ce")
    if concept in ("cce", "ce") and objective != "welfare" and weights is not None:
        raise TacitError(f"objective must be 'welfare' where weights are given; got {objective!r}")
    shifted, least = shift_rewards(tables)
    stages = StageGames(shifted.tabular(), least, report)
    if concept == "optimum":
        policy, V, method = stages.optimum(w)
    elif concept == "nash":
        policy, V, method = stages.nash(objective)
    else:
        policy, V, method = stages.correlated(concept, w, objective)
    left = np.arange(tables.horizon, -1, -1) if tables.discount is None else np.full(2, tables.effective_horizon)
    V = V + least[:, None, None] * left[:, None]
    policy.game = game
    solution = Solution(concept, policy, dot(V[:, 0], tables.initial), V, method, game)
    return solution if concept == "optimum" else _check_gap(solution, stages.spans * tables.effective_horizon)


def _check_gap(solution: Solution, spans: FloatArray) -> Solution:
    """Add the exact gap, and say so where it is above the tolerance."""
    assert solution.game is not None
    evaluation = evaluate(solution.game, solution.policy, gap=solution.concept)
    exact = bool((evaluation.gaps <= _EXACT * spans).all())
    warning = "" if exact else f"; not exact: its {solution.concept} gap is {evaluation.gap:.3g}"
    return replace(solution, evaluation=evaluation, exact=exact, method=solution.method + warning)


def _check_weights(weights: Sequence[float] | None, agents: int) -> FloatArray:
    if weights is None:
        return np.ones(agents)
    w = check.array("weights", weights)
    if w.shape != (agents,) or not np.isfinite(w).all():
        raise TacitError(f"weights must be {agents} finite numbers, one for each agent; got {brief(weights)}")
    return w


class Timer:
    """How long a solution takes: shown now and then, and limited."""

    def __init__(self, seconds: float | None, progress: Callable[[str], None] | None) -> None:
        self._seconds, self._progress = seconds, progress
        self._began = self._shown = time.monotonic()

    def up(self, share: float = 1.0) -> bool:
        """Return whether the time, or a share of it, is used up."""
        return self._seconds is not None and time.monotonic() - self._began >= share * self._seconds

    def show(self, line: str) -> None:
        """Show a line."""
        if self._progress is not None:
            self._progress(line)

    def now_and_then(self, line: str) -> None:
        """Show a line, if the last one was a while ago."""
        if time.monotonic() - self._shown >= _EVERY_SECONDS:
            self._shown = time.monotonic()
            self.show(line)

    def stage(self, done: int, total: int) -> None:
        """Note how many stage games are solved exactly. Raise where they take more than half of the time."""
        self.now_and_then(f"{done:,} of {total:,} stage games are solved")
        if done < total and self.up(0.5):
            raise NotExact(f"only {done:,} of {total:,} stage games are solved exactly in half of the time")


def is_quickly_solved(game: ExactGame) -> bool:
    """Return whether the optimum takes a moment at most.

    >>> import tacit
    >>> is_quickly_solved(tacit.make("chicken")), is_quickly_solved(tacit.make("congestion"))
    (True, False)
    """
    return game.joint_actions <= JOINT and game.joint_actions * game.states * game.horizon <= _QUICK_NUMBERS


def welfare_range(game: ExactGame) -> tuple[float, float] | None:
    """Return the least and the largest total that all agents can get together. None where that takes longer.

    >>> import tacit
    >>> welfare_range(tacit.make("chicken"))
    (0.0, 12.0)
    """
    if not game.joint_rows or not is_quickly_solved(game):
        return None
    ends = [_solve_exactly(game, "optimum", weights=[sign] * game.agents) for sign in (-1.0, 1.0)]
    least, most = (float(end.values.sum()) for end in ends)
    return least, most


def useful_optimum(game: ExactGame) -> float | None:
    """Return the largest total of all agents. None where it takes longer, or every policy has the same.

    >>> import tacit
    >>> useful_optimum(tacit.make("chicken")), useful_optimum(tacit.make("matching-pennies"))
    (12.0, None)
    """
    totals = welfare_range(game)
    if totals is None or totals[1] - totals[0] <= 1e-9 * max(map(abs, (*game.reward_range, *totals))):
        return None
    return totals[1]


def _fits(game: ExactGame, concept: str) -> bool:
    """Return whether the exact way is small enough."""
    joint = game.joint_actions
    if not game.joint_rows and joint > JOINT:
        return False
    if concept == "nash":
        return joint * game.states <= 50 * JOINT
    return fits(game.actions, concept)


def _sweep(game: ExactGame, concept: str, timer: Timer, tolerance: float | None, rounds: int | None) -> Solution:
    """Sweep until the gap is small or time is up. Return the best policy."""
    enough = 1e-4 * uniform_gap(game) if tolerance is None else tolerance
    sweeps, look, ended = Sweeps(game, concept), _FIRST_LOOK, ""
    best: list[tuple[Evaluation, str, MarkovPolicy]] = []
    while not ended:
        try:
            sweeps.advance()
            ended = "seconds" if timer.up() else "rounds" if sweeps.done == rounds else ""
            if ended or sweeps.done >= look:
                best, look = [_best(best, sweeps, game, concept)], look + look // 2
                ended = "tolerance" if best[0][0].gap <= enough else ended
                timer.now_and_then(f"{sweeps.done:,} sweeps, {concept} gap {best[0][0].gap:.3g}")
        except KeyboardInterrupt:
            ended = "interrupted"
    gap, name, policy = _best(best, sweeps, game, concept) if ended == "interrupted" else best[0]
    policy.game = game
    way = f"{name} play of {sweeps.done:,} sweeps of predictive regret matching⁺, ended by {_ENDED[ended]}; approximate"
    return Solution(
        concept, policy, gap.values, policy_values(game, policy).V, way, game, gap, exact=False, ended=ended
    )


def _best(
    before: list[tuple[Evaluation, str, MarkovPolicy]], sweeps: Sweeps, game: ExactGame, concept: str
) -> tuple[Evaluation, str, MarkovPolicy]:
    """Return the policy of smallest gap among those before and those of sweeps."""
    now = [(evaluate(game, policy, gap=concept), name, policy) for name, policy in sweeps.policies().items()]
    return min([*before, *now], key=lambda candidate: candidate[0].gap)


# approximate equilibria of large games, by sweeps ---------------------------------------------------------------------


#: Numbers of the table of joint play up to which it is kept: 160 MB.
JOINT_NUMBERS = 20_000_000

#: How much of the advice for ce is uniform, so that it has one stationary distribution.
_UNIFORM = 1e-7


class Sweeps:
    """Predictive regret matching⁺ of all agents with full information; `advance` is one sweep.

    A sweep is one backward pass over what all agents play, at every (h, s). It gives each agent the advantage
    D(a) = Q(a) − V of every own action, after which the agent moves:

        R ← max(R + D, 0),    π ∝ max(R + D, 0), where the second D foretells the next one

    [Farina, Kroer, Sandholm, "Faster game solving via predictive Blackwell approachability", 2021]. For ce there is one
    such learner for each recommended action, and all play the stationary distribution of their advice [Blum, Mansour,
    "From external to internal regret", 2007].

    Policies are what is played last, its average over the sweeps (the t-th weighs about t²), and where joint actions
    are few, the average of joint play, which for cce and ce needs no convergence at the last step.

    >>> import tacit
    >>> from tacit.evaluation import evaluate
    >>> game = tacit.make("rock-paper-scissors")
    >>> sweeps = Sweeps(game, "nash")
    >>> for _ in range(10):
    ...     sweeps.advance()
    >>> evaluate(game, sweeps.policies()["average"]).gap
    0.0
    """

    def __init__(self, game: ExactGame, concept: str) -> None:
        N, H, S, A = game.agents, game.horizon, game.states, max(game.actions)
        self.done = 0
        self._game, self._swap = game, concept == "ce"
        self._has = np.arange(A) < np.array(game.actions)[:, None, None]  # [N, 1, A]  actions there are
        self._even = self._has / self._has.sum(axis=-1, keepdims=True)
        swaps = (A,) if self._swap else ()
        memory.require(memory.floats(H, N, S, A, 2 + 2 * (A if self._swap else 1)), "the regrets of all agents")
        self._play = np.broadcast_to(self._even, (H, N, S, A)).copy()
        self._average = self._play.copy()
        self._regret = np.zeros((H, N, S, *swaps, A))
        self._advice = np.broadcast_to(self._even[:, :, None, :], (H, N, S, A, A)).copy() if self._swap else None
        joint = concept != "nash" and 0 < H * S * game.joint_rows <= JOINT_NUMBERS
        self._joint = np.full((H, S, game.joint_actions), 1 / game.joint_actions) if joint else None

    def advance(self) -> None:
        """Sweep backwards over all steps: evaluate the policies and let every agent move."""
        self.done += 1
        weight = 3 / (self.done + 2)
        for step in backward(self._game, self._rows):
            self._average[step.h] += weight * (self._play[step.h] - self._average[step.h])
            if self._joint is not None:
                self._joint[step.h] += weight * (joint_draw(self._rows(step.h)) - self._joint[step.h])
            self._move(step)

    def policies(self) -> dict[str, MarkovPolicy]:
        """Return what the sweeps led to so far, by name."""
        policies = {"last": self._policy(self._play), "average": self._policy(self._average)}
        if self._joint is not None:
            policies["joint average"] = MarkovPolicy(self._joint.reshape(*self._joint.shape[:2], *self._game.actions))
        return policies

    def _rows(self, h: int) -> list[FloatArray]:
        return [self._play[h, i, :, :a] for i, a in enumerate(self._game.actions)]

    def _policy(self, play: FloatArray) -> MarkovPolicy:
        return MarkovPolicy([play[:, i, :, :a] for i, a in enumerate(self._game.actions)])

    def _move(self, step: Step) -> None:
        """Move all agents at one step."""
        h, payoffs = step.h, step.payoffs
        if self._advice is None:
            self._play[h] = self._match(h, payoffs - step.V[..., None], self._even)
            return
        followed = np.einsum("nsba,nsa->nsb", self._advice[h], payoffs)
        advantage = self._play[h][..., None] * (payoffs[..., None, :] - followed[..., None])
        self._advice[h] = self._match(h, advantage, self._even[:, :, None, :])
        self._play[h] = _stationary((1 - _UNIFORM) * self._advice[h] + _UNIFORM * self._even[:, :, None, :]) * self._has
        self._play[h] /= self._play[h].sum(axis=-1, keepdims=True)

    def _match(self, h: int, advantage: FloatArray, even: FloatArray) -> FloatArray:
        """Add advantages to regrets. Play is in proportion to the regrets if these advantages come again."""
        if not self._has.all():
            advantage = np.where(even > 0, advantage, 0.0)
        regret = self._regret[h]
        regret += advantage
        np.maximum(regret, 0.0, out=regret)
        predicted = np.maximum(regret + advantage, 0.0)
        total = predicted.sum(axis=-1, keepdims=True)
        positive = total > 0
        if positive.all():  # as in most sweeps of most games
            matched: FloatArray = predicted / total
        else:
            matched = np.where(positive, predicted / np.where(positive, total, 1.0), even)
        return matched


def _stationary(advice: FloatArray) -> FloatArray:
    """Return p with p = p·advice for advice [..., A, A], whose rows are distributions."""
    A = advice.shape[-1]
    left = np.swapaxes(advice, -1, -2) - np.eye(A)
    left[..., -1, :] = 1.0  # the equations are dependent: one gives way to Σ p = 1
    right = np.zeros((*advice.shape[:-1], 1))
    right[..., -1, :] = 1.0
    p: FloatArray = np.maximum(np.linalg.solve(left, right)[..., 0], 0.0)
    return p
