"""How long an exact evaluation takes, from the operations that it needs: told before it begins."""

from __future__ import annotations

from tacit.core.errors import TacitError
from tacit.games.exact import ExactGame, seconds_over_joint_actions
from tacit.policies.markov import MarkovPolicy
from tacit.policies.recorded import RecordedPolicy

#: What takes more seconds than this by the estimate (several times as long on a busy machine) is left out after Ctrl-C.
_QUICK = 0.2


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
    return seconds_over_joint_actions(game, visits) if joint else game.seconds_to_answer(visits)


def in_words(seconds: float) -> str:
    """Say how long something takes.

    >>> in_words(1), in_words(90), in_words(300), in_words(20_000)
    ('about a second', 'about 90 s', 'about 5 min', 'about 6 h')
    """
    if seconds < 2:
        return "about a second"
    if seconds < 120:
        return f"about {seconds:.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 7200 else f"about {seconds / 3600:.0f} h"


def is_quick(game: ExactGame, policy: MarkovPolicy | RecordedPolicy) -> bool:
    """Return whether there is time to evaluate a policy even after Ctrl-C."""
    return seconds_to_evaluate(game, policy) <= _QUICK


def check_cost(seconds: float, most: float, what: str) -> None:
    """Raise where something takes longer than is allowed, and say how to allow it.

    >>> check_cost(300.0, 60.0, "its exact evaluation")
    Traceback (most recent call last):
    tacit.core.errors.TacitError: its exact evaluation takes about 5 min; --seconds 600 allows it
    """
    if seconds > most:
        raise TacitError(f"{what} takes {in_words(seconds)}; --seconds {2 * seconds:.0f} allows it")
