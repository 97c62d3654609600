"""The options of a run: one frozen object from `tacit.learn` to a stored run.

An option is a field of `Options`, with its check and its words on the command line, and a keyword of `tacit.learn`.
Experiments, stored runs, their TOML files and `tacit run` read the fields. A new one is None where it is not given:
then it is left out of files, and the runs that are stored keep their hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief

#: Joint actions up to which exact measures are taken while learning unless they are declined; above, only on request:
#: their cost grows with the number of joint actions.
CERTIFY_JOINT_ACTIONS = 1024

#: Episodes where nothing else is asked for: a small gap in most small games.
EPISODES = 10_000


def _whole(of: str) -> Callable[[str, Any], int]:
    return partial(check.integer, of=of)


def _option(default: Any, checked: Callable[[str, Any], Any], metavar: str, help: str) -> Any:
    return field(default=default, metadata={"check": checked, "metavar": metavar, "help": help})


def _check_preference(name: str, value: Any) -> str | int:
    """Return a preference; on the command line an agent's number is text."""
    if isinstance(value, str) and value in ("welfare", "egalitarian"):
        return value
    try:
        return check.integer(name, int(value) if isinstance(value, str) else value, least=0)
    except (TacitError, ValueError):
        message = f"{name} must be 'welfare', 'egalitarian' or the number of an agent, from 0; got {brief(value)}"
        raise TacitError(message) from None


@dataclass(frozen=True)
class Options:
    """What `tacit.learn` is asked for beside the game and the learner."""

    episodes: int | None = _option(
        None,
        _whole("episodes"),
        "K",
        "episodes to learn for (10,000; with --gap or --seconds, until those end it)",
    )
    seed: int = _option(0, _whole("seed"), "S", "the first seed (0)")
    points: int = _option(100, _whole("points"), "N", "rows of each curve (100)")
    keep: bool = _option(True, check.flag, "", "do not store the policies")
    certify: bool | None = _option(None, check.flag, "", "keep the certificate, a proven upper bound on the gap (auto)")
    gap: float | None = _option(
        None, partial(check.real, least=0), "G", "stop when the gap is certified, or exactly known, to be at most G"
    )
    seconds: float | None = _option(
        None,
        check.positive,
        "T",
        "stop each run after T seconds, compilation left out; how far it comes then depends on the machine",
    )
    visits_per_stage: int | None = _option(
        None,
        partial(check.integer, least=1, most=10**6),
        "M",
        "keep and certify M visits of each stage instead of all: for crowds and long runs (in counting games, as many "
        "as can be certified in a minute)",
    )
    prefer: str | int | None = _option(
        None,
        _check_preference,
        "WHAT",
        "which of the candidates close to the smallest gap to return: the best by 'welfare' (the sum of all agents' "
        "values), 'egalitarian' (the least of them) or for an agent, by its number",
    )
    periods: int | None = _option(
        None,
        _whole("episodes"),
        "T",
        "periods of play that never resets, instead of episodes; of discounted games",
    )
    still: int | None = _option(
        None,
        _whole("episodes"),
        "T",
        "stop when no agent's greedy policy has changed for T periods",
    )

    def __post_init__(self) -> None:
        for name, value in self.__dict__.items():
            object.__setattr__(self, name, check_option(name, value))
        if self.periods is not None and self.episodes not in (None, self.periods):
            raise TacitError(f"episodes or periods must be given, not both; got {self.episodes} and {self.periods}")
        if self.still is not None and self.periods is None:
            raise TacitError("still counts periods of play that never resets; give periods too, which end it at last")
        if self.periods is not None:
            object.__setattr__(self, "episodes", self.periods)  # a period is counted as an episode is
        if self.episodes is None and not self.stops:
            object.__setattr__(self, "episodes", EPISODES)

    @property
    def stops(self) -> bool:
        """Whether the run may stop before it has played all episodes."""
        return self.gap is not None or self.seconds is not None or self.still is not None

    @property
    def choice(self) -> dict[str, Any]:
        """By what a run chooses the returned policy."""
        return {"target": self.gap, "prefer": self.prefer}

    @property
    def open(self) -> bool:
        """Whether only the gap or the clock ends the run."""
        return self.stops and self.most == check.EPISODES

    @property
    def most(self) -> int:
        """Episodes at most."""
        return check.EPISODES if self.episodes is None else self.episodes


FIELDS = {one.name: one for one in fields(Options)}


def check_option(name: str, value: Any, called: str | None = None) -> Any:
    """Return the value of an option in its proper type. None where it may be left out."""
    if value is None and FIELDS[name].default is None:
        return None
    return FIELDS[name].metadata["check"](called or name, value)
