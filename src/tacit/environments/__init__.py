"""Other people's environments: adapters, observations, episode bounds, and PettingZoo in and out; `tacit.evaluate`."""

from __future__ import annotations

from typing import Any

from tacit.core.errors import TacitError, brief
from tacit.games.protocol import is_game


def evaluate(
    game: Any,
    policy: Any,
    *,
    gap: str | None = None,
    episodes: int | None = None,
    seed: int | None = None,
    confidence: float | None = None,
    return_range: tuple[float, float] | None = None,
) -> Any:
    """Evaluate a policy: exactly where the game has tables, otherwise by play, with confidence intervals.

    Parameters
    ----------
    game : TabularGame, another game with kernels, or an environment
        An environment's options come with it: `tacit.from_pettingzoo(env, encode=…, horizon=…, reward_range=…)`. A
        policy that was learned there knows them.
    policy
        A policy of it; or whatever plays it, one for all agents or one for each in a list or a dict by name: functions
        f(h, s) of a game, f(observation, step) of an environment, that return an action or probabilities; objects with
        `predict`, `compute_single_action`, `compute_action` or `act`; `Run`s; `Part`s. `reset()` is called before each
        episode. With tables, functions of (h, s) are tabulated and everything is exact, unless they draw for themselves
        (two calls differ) or remember: then they are played. Return probabilities rather than draw.
    gap : {"nash", "cce", "ce"}, optional
        With tables: which deviations count; by default nash for a product policy and cce for a correlated one.
    episodes : int, optional
        Episodes to play (10,000); with tables, play instead of computing.
    seed : int, optional
        By play: everything random comes from it. The same seed means the same draws for every policy.
    confidence : float, optional
        By play: of the intervals (0.95), which hold for every distribution of returns in the range of rewards.
    return_range : (float, float), optional
        By play: where an episode's return lies, if you know better than the horizon times `reward_range`. Intervals
        reach at least 4/n of the way to its ends, in n episodes.

    Returns
    -------
    Evaluation or PlayedEvaluation

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("good-state", horizon=10)
    >>> policy = tacit.solve(game, "optimum").policy
    >>> tacit.evaluate(game, policy).values
    array([45.5, 45.5])
    >>> tacit.evaluate(game, lambda h, s: 0).values  # anybody's policy
    array([-3.8, -3.8])
    >>> played = tacit.evaluate(game, policy, episodes=200)
    >>> bool(played.low[0] <= 45.5 <= played.high[0])
    True
    """
    from tacit.evaluation import evaluate as exactly

    options = {"seed": seed, "confidence": confidence, "return_range": return_range}
    by_play = {name: option for name, option in options.items() if option is not None}
    if episodes is None and not by_play and _exact(game):
        if isinstance(policy, type) or not callable(getattr(policy, "part", None)):
            from tacit.environments.external import policy_of  # imports the compiler

            policy = policy_of(game, policy)
        if not hasattr(policy, "parts"):  # what draws for itself, or remembers, is played
            return exactly(game, policy, gap=gap)
    if gap is not None:
        raise TacitError(f"gap must be left out where policies are played, which tacit.exploit does; got {brief(gap)}")
    from tacit.environments.measuring import evaluate_by_play  # imports the compiler

    return evaluate_by_play(game, policy, episodes=10_000 if episodes is None else episodes, **by_play)  # type: ignore[arg-type]


def _exact(game: Any) -> bool:
    """Return whether a game is evaluated exactly; what is no game is refused there."""
    from tacit.environments.adapters import is_environment  # imports the compiler
    from tacit.games.exact import as_exact

    return as_exact(game) is not None or not (is_game(game) or is_environment(game))
