"""Where pure policies lead, period by period, and what deviations from the path gain.

Of stationary pure policies in a discounted game whose next states are certain. What is looked at in repeated games:

- the impulse response: an agent is forced to an action for one or more periods, then all play on;
- the gain of a one-shot deviation, Q_i(s, a) − V_i(s): agent i plays a once and returns to its policy at once;
- the gain of a best response, V†_i(s) − V_i(s), which may deviate again off the path: 0 in the states of the path for
  a Nash equilibrium, 0 in all states for a subgame-perfect one.

Without a one-shot deviation that pays *in any state* a policy is subgame perfect (the one-shot deviation principle).
Without one on the path alone, a longer deviation may still pay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.gaps import ROUNDING
from tacit.evaluation.values import choose, largest_return, shift_rewards, steps
from tacit.games.exact import ExactGame
from tacit.games.tabular import TabularGame, check_game
from tacit.policies.markov import MarkovPolicy, check_policy


@dataclass(frozen=True, eq=False)
class Path:
    """What is played, period by period.

    Attributes
    ----------
    states : int array [T]
    actions : int array [T, N]
    rewards : array [T, N]
    repeats : int or None
        The period from which play repeats itself, up to the end of the path; None where it does not yet.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("pricing", prices=3)
    >>> path = tacit.evaluation.follow(game, tacit.MarkovPolicy.deterministic([[[2] * 9]] * 2, [3, 3]), start=0)
    >>> path.states.tolist(), path.repeats, path.cycle.states.tolist()
    ([0, 8], 1, [8])
    """

    states: IntArray
    actions: IntArray
    rewards: FloatArray
    repeats: int | None

    @property
    def cycle(self) -> Path:
        """The part that repeats itself."""
        if self.repeats is None:
            raise TacitError(f"the path has not come to its cycle in {len(self.states)} periods; leave periods out")
        return Path(self.states[self.repeats :], self.actions[self.repeats :], self.rewards[self.repeats :], 0)


def follow(
    game: TabularGame,
    policy: MarkovPolicy,
    *,
    start: int,
    forced: Mapping[int, int | Sequence[int]] | None = None,
    periods: int | None = None,
) -> Path:
    """Follow a pure policy from a state, some agents perhaps forced to deviate at first.

    Parameters
    ----------
    game : TabularGame
        Discounted, with next states that are certain.
    policy : MarkovPolicy
        A product policy that plays one action in each state.
    start : int
        The first state.
    forced : mapping, optional
        Actions that agents are forced to, by agent: one, or one for each of the first periods. The impulse response of
        a cycle is the path from one of its states.
    periods : int, optional
        Length of the path; if not given, until play repeats itself.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("pricing", prices=3)
    >>> other, own = [s % 3 for s in range(9)], [s // 3 for s in range(9)]
    >>> imitate = tacit.MarkovPolicy.deterministic([[other], [own]], [3, 3])
    >>> tacit.evaluation.follow(game, imitate, start=8, forced={0: 1}, periods=4).actions.tolist()
    [[1, 2], [2, 1], [1, 2], [2, 1]]
    """
    onward, pure = _pure(game, policy)
    s = check.integer("start", start, least=0, most=game.states - 1)
    most = None if periods is None else check.integer("periods", periods, least=1)
    script = _take_forced(game, forced or {})
    shocks = max(map(len, script.values()), default=0)
    met: dict[int, int] = {}
    states: list[int] = []
    actions: list[list[int]] = []
    while len(states) < (game.states + shocks + 1 if most is None else most):
        t = len(states)
        if t >= shocks:
            if most is None and s in met:
                break
            met.setdefault(s, t)
        joint = [script[i][t] if t < len(script.get(i, ())) else int(pure[i, s]) for i in range(game.agents)]
        states.append(s)
        actions.append(joint)
        s = int(onward[(s, *joint)])
    played: Any = (slice(None), states, *zip(*actions, strict=True))
    rewards = game.step_rewards(0)[played].T
    return Path(np.array(states), np.array(actions), rewards, met.get(s) if most is None else None)


def _pure(game: TabularGame, policy: MarkovPolicy) -> tuple[Any, IntArray]:
    """Return the next states [S, A_1, …, A_N] and the actions [N, S] of a deterministic game and policy."""
    check_game(game)
    check_policy(policy, product="a path")
    policy.check_fits(game)
    if game.discount is None:
        raise TacitError(f"game must be discounted; got {game!r}")
    if len(game.successors.state) != game.states * game.joint_actions:
        raise TacitError(f"next states must be certain for a path; got {game!r}, where they are drawn")
    for i, probs in enumerate(policy.probs):
        if not (probs.max(axis=-1) == 1.0).all():
            raise TacitError(f"policy must play one action in each state for a path; agent {i} draws among several")
    return game.successors.state.reshape(game.states, *game.actions), np.stack(
        [p[0].argmax(axis=-1) for p in policy.probs]
    )


def _take_forced(game: TabularGame, forced: Mapping[int, int | Sequence[int]]) -> dict[int, list[int]]:
    """Return the actions that each agent is forced to, period by period."""
    script = {}
    for agent, forced_to in forced.items():
        i = check.integer("forced", agent, least=0, most=game.agents - 1)
        each: Any = [forced_to]
        if not isinstance(forced_to, int | np.integer):
            each = check.list_of(f"forced[{i}]", forced_to, "actions")
        script[i] = [check.integer(f"forced[{i}]", a, least=0, most=game.actions[i] - 1) for a in each]
    return script


@dataclass(frozen=True, eq=False)
class PathGains:
    """What deviations from a policy gain on its path, exactly.

    Attributes
    ----------
    states : int array [T]
        The states of the path.
    one_shot : array [N, T, A]
        Gain of playing an action once; 0 for that of the policy.
    best : array [N, T]
        Gain of a best response.
    everywhere : array [N, S]
        Gain of a best response in every state.
    responses : int array [N, S]
        The best responses.
    slack : float
        What counts as no gain: rounding.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("pricing", prices=3)
    >>> high = tacit.MarkovPolicy.deterministic([[[2] * 9]] * 2, [3, 3])
    >>> tacit.evaluation.path_gains(game, high, tacit.evaluation.follow(game, high, start=8)).best.shape
    (2, 1)
    """

    states: IntArray
    one_shot: FloatArray
    best: FloatArray
    everywhere: FloatArray
    responses: IntArray
    slack: float

    @property
    def gap(self) -> float:
        """The largest gain of a best response on the path."""
        return max(float(self.best.max()), 0.0)

    @property
    def subgame_gap(self) -> float:
        """The largest gain of a best response in any state."""
        return max(float(self.everywhere.max()), 0.0)

    @property
    def one_shot_unprofitable(self) -> float:
        """The share of one-shot deviations on the path that do not pay."""
        total = np.isfinite(self.one_shot).sum() - self.best.size  # all but what the policy plays
        return 1.0 - float((self.one_shot > self.slack).sum()) / float(max(total, 1))


def path_gains(game: TabularGame, policy: MarkovPolicy, path: Path) -> PathGains:
    """Return what one-shot deviations and best responses gain in the states of a path.

    Parameters
    ----------
    game : TabularGame
    policy : MarkovPolicy
    path : Path
        Such as the cycle of `follow`.

    Returns
    -------
    PathGains

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("pricing", prices=3)
    >>> high = tacit.MarkovPolicy.deterministic([[[2] * 9]] * 2, [3, 3])
    >>> gains = tacit.evaluation.path_gains(game, high, tacit.evaluation.follow(game, high, start=8))
    >>> gains.one_shot_unprofitable, gains.responses[0, 8].tolist(), bool(gains.gap == gains.subgame_gap > 0)
    (0.0, 1, True)
    """
    _pure(game, policy)
    shifted: ExactGame = shift_rewards(game)[0]
    (step,) = steps(shifted, policy, "nash")
    one_shot = step.payoffs - step.V[..., None]
    for i, size in enumerate(game.actions):
        one_shot[i, :, size:] = -np.inf
    gains, there = step.best - step.V, path.states
    slack = ROUNDING * largest_return(shifted)
    return PathGains(there, one_shot[:, there], gains[:, there], gains, choose(step.rows, step.gains, "nash"), slack)


def respond(game: TabularGame, policy: MarkovPolicy, agent: int, gains: PathGains) -> MarkovPolicy:
    """Return the policy in which one agent plays its best response.

    Parameters
    ----------
    game : TabularGame
    policy : MarkovPolicy
    agent : int
    gains : PathGains
        Of the policy.

    Returns
    -------
    MarkovPolicy
        `follow` has the path that the best response leads to.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("pricing", prices=3)
    >>> high = tacit.MarkovPolicy.deterministic([[[2] * 9]] * 2, [3, 3])
    >>> gains = tacit.evaluation.path_gains(game, high, tacit.evaluation.follow(game, high, start=8))
    >>> response = tacit.evaluation.respond(game, high, 0, gains)
    >>> tacit.evaluation.follow(game, response, start=8).cycle.actions.tolist()
    [[1, 2]]
    """
    check_game(game)
    check_policy(policy, product="a response")
    i = check.integer("agent", agent, least=0, most=game.agents - 1)
    if not isinstance(gains, PathGains):
        raise TacitError(f"gains must be a PathGains, as from path_gains; got {brief(gains)}")
    return MarkovPolicy(
        [np.eye(size)[gains.responses[[j]]] if j == i else policy.probs[j] for j, size in enumerate(game.actions)]
    )
