"""How long an exact evaluation takes, from the operations that it needs: told before it begins."""

from __future__ import annotations

from tacit.core.errors import TacitError
from tacit.evaluation.seats import in_words, seconds_to_certify
from tacit.games.count import CountGame
from tacit.games.exact import ExactGame
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy

#: Seconds for each visit, agent and joint action, and for each visit and agent (measured; a busy machine takes longer).
_PRODUCT, _VISIT = 3e-9, 5e-6


def seconds_to_evaluate(game: ExactGame, policy: MarkovPolicy | RecordedPolicy) -> float:
    """Return roughly how long `evaluate` takes.

    >>> import tacit
    >>> game = tacit.make("chicken")
    >>> seconds_to_evaluate(game, tacit.MarkovPolicy.uniform(game)) < 0.01
    True
    """
    if isinstance(policy, MarkovPolicy):
        visits, joint = game.horizon * game.states, not policy.product
    else:
        visits, joint = max(len(own.keys) for own in policy.records), False
    if isinstance(game, CountGame) and not joint:
        return seconds_to_certify(game, visits)
    return visits * game.agents * (_PRODUCT * game.joint_actions + _VISIT)


def check_cost(seconds: float, most: float, what: str) -> None:
    """Raise where something takes longer than is allowed, and say how to allow it.

    >>> check_cost(300.0, 60.0, "its exact evaluation")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: its exact evaluation takes about 5 min; --seconds 600 allows it
    """
    if seconds > most:
        raise TacitError(f"{what} takes {in_words(seconds)}; --seconds {2 * seconds:.0f} allows it")
