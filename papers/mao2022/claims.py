"""The paper's empirical claims, judged from what was measured. [Mao2022, app:simulations]

Settings come in groups, as the experiments in `papers/mao2022` label them: "V-Learning", "PG", "Centralized",
"Independent, caption", "Independent, appendix", and such as "PG with a larger step" for what departs from print. Each
group is judged on its own, against each reading of Independent on its own.

The rules were written down before the runs that they judge. Where the paper's word is vague ("high", "clearly", "most
of the time"), the rule takes the reading that favours the paper. What the paper leaves open (bonus constants,
exploration, units of the losses, which reading of "Independent") is run in several settings. A claim *holds* if it does
in every setting, *depends on the setting* if it does in some, and *does not hold* if it does in none. Settings that
depart from what is printed are judged apart.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from measures import AT_EQUILIBRIUM, OPTIMAL, OWN_GAIN, STEADY, Measured, Task, TeamMeasured
from tacit.evaluation import theory

#: A high reward has at least this share of what there is to gain over random play.
HIGH = 0.5
#: Below this share nothing was learned, and nothing can be said of what bounds it or of how soon.
LEARNED = 0.05
#: A clearly suboptimal one has at most this share.
SUBOPTIMAL = 0.9
#: How near PG's reward must come to Centralized's.
APPROACH = 0.98
#: "Far fewer" samples are at most this share.
FEWER = 0.01
#: A gap has gone to zero at this share of uniform play's.
VANISHED = 0.05
#: "Close to 9".
CLOSE = (8.5, 9.5)
#: "A rather low frequency" of runs is above zero and at most this.
LOW_FREQUENCY = 0.25
#: What the other runs must earn for the low frequency to explain the shortfall.
OTHERS = 9.5

INTERVALS = (
    "Rewards are means over the last tenth of the episodes; intervals are 95 % bootstrap intervals of the mean over "
    "seeds. What there is to gain is the exact optimum minus the exact value of random play."
)

#: What the paper says, and when that holds.
RULES = {
    "gap": (
        "the equilibrium gap of the {which} goes to zero",
        f"the mean L² gap in the end is at most {VANISHED:.0%} of uniform play's",
    ),
    "lags": (
        "the average lags behind the last iterate",
        "in the middle of the run the average's L² gap is larger, the interval of the difference lies above 0",
    ),
    "close": ("the reward of the {which} comes close to 9", f"the mean value lies between {CLOSE[0]} and {CLOSE[1]}"),
    "optimal": (
        "a team-optimal equilibrium is reached most of the time",
        f"more than half of the runs end at {OPTIMAL:.0%} or more of an optimal equilibrium's value",
    ),
    "explained": (
        "10 is missed because a few runs end in a non-optimal equilibrium",
        f"some runs, and at most {LOW_FREQUENCY:.0%}, end in one (exact nash gap at most {AT_EQUILIBRIUM:.0%} of the "
        f"optimum, value below {OPTIMAL:.0%} of it), and the others earn at least {OTHERS} on average",
    ),
    "converges": (
        "the trajectory of {which} converges and achieves high rewards",
        f"from the last fifth of the run but one to the last the mean reward moves by less than {STEADY:.0%} of what "
        f"there is to gain, and it has at least {HIGH:.0%} of that, so slow learners do not pass",
    ),
    "outperforms": ("{which} outperforms Independent", "its interval lies above Independent's"),
    "faster": (
        "Independent converges faster, to a clearly suboptimal value",
        f"its mean is steady as above, has {OWN_GAIN:.0%} of its own gain sooner than V-Learning and PG in their first "
        f"settings have of theirs, and its interval lies below {SUBOPTIMAL:.0%} of what there is to gain",
    ),
    "approaches": (
        "{which} approaches Centralized",
        f"its mean is at least {APPROACH:.0%} of Centralized's first setting",
    ),
    "bounded": (
        "Centralized bounds what the others achieve",
        "no interval lies above that of its first setting; settings with less than 5 % of the gain are left out",
    ),
    "fewer": (
        "{which} needs far fewer samples than the theory asks for",
        "the gap reached is below that of random play, the reward has at least "
        f"{LEARNED:.0%} of what there is to gain, and the theorem asks for at least "
        f"{1 / FEWER:.0f} times as many episodes for an accuracy of that gap (constants hidden in O(·) taken as 1); "
        "not judged where the theorem promises nothing",
    ),
}

Groups = Mapping[str, Sequence[Measured]]
TeamGroups = Mapping[str, Sequence[TeamMeasured]]

HOLDS, DEPENDS, FAILS = "holds", "depends on the setting", "does not hold"


@dataclass(frozen=True)
class Check:
    """Whether a claim holds with one setting, and against which setting of another algorithm, if against any."""

    setting: str
    holds: bool
    against: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim on one task, for one group of settings.

    Attributes
    ----------
    rule : str
        Key of `RULES`.
    says : str
    task : str
    reading : str
        Of "Independent", where the claim is about it.
    checks : tuple of Check, one for each setting or pair of settings
    """

    rule: str
    says: str
    task: str
    reading: str
    checks: tuple[Check, ...]

    @property
    def verdict(self) -> str:
        """Holds in all settings, in some, or in none."""
        found = [check.holds for check in self.checks]
        return HOLDS if all(found) else DEPENDS if any(found) else FAILS

    @property
    def where(self) -> str:
        """With which settings it holds, and against which."""
        parts = []
        for setting, group in itertools.groupby(self.checks, key=lambda check: check.setting):
            pairs = list(group)
            beaten = [check.against for check in pairs if check.holds]
            if not beaten:
                continue
            above = "all of them" if len(beaten) == len(pairs) > 1 else " and ".join(beaten)
            parts.append(f"{setting} (above {above})" if above else setting)
        return "; ".join(parts)


def team_claims(task: Task, groups: TeamGroups) -> list[Claim]:
    """Judge what the paper says of the matrix team. [Mao2022, fig:1]"""
    found = []
    for group, settings in groups.items():
        place = task.name if group == "PG" else f"{task.name}, {group}"
        for which, prefix in (("last iterate", ""), ("average", "average_")):
            gaps = [(one.setting, getattr(one, f"{prefix}l2_gap").mean) for one in settings]
            values = [(one.setting, getattr(one, f"{prefix}value").mean) for one in settings]
            goal = VANISHED * task.random_l2_gap
            found += [
                _claim("gap", place, [(name, gap <= goal) for name, gap in gaps], which=which),
                _claim("close", place, [(name, _close(value)) for name, value in values], which=which),
            ]
        found += [
            _claim("lags", place, [(one.setting, one.lag.ci95[0] > 0) for one in settings]),
            _claim("optimal", place, [(one.setting, one.optimal > 0.5) for one in settings]),
            _claim("explained", place, [(one.setting, _explains(one)) for one in settings]),
        ]
    return found


def task_claims(task: Task, groups: Groups) -> list[Claim]:
    """Judge what the paper says of the four algorithms on a Markov game. [Mao2022, fig:2]"""
    readings = {name.partition(", ")[2]: held for name, held in groups.items() if name.startswith("Independent")}
    ours = {name: held for name, held in groups.items() if name.startswith(("V-Learning", "PG"))}
    found = []
    for name, settings in ours.items():
        found.append(_claim("converges", task.name, [(one.setting, _converges(one)) for one in settings], which=name))
        for reading, theirs in readings.items():
            pairs = itertools.product(settings, theirs)
            above = [(own.setting, own.reward.ci95[0] > one.reward.ci95[1], one.setting) for own, one in pairs]
            found.append(_claim("outperforms", task.name, above, which=name, reading=reading))
    soonest = min(groups["V-Learning"][0].when, groups["PG"][0].when)
    for reading, theirs in readings.items():
        sooner = [(one.setting, _faster(one, soonest)) for one in theirs]
        found.append(_claim("faster", task.name, sooner, reading=reading))
    found.append(_bounds_others(task.name, groups))
    for name, settings in ours.items():
        known = [(one.setting, fewer(one, task)) for one in settings if is_promised(one, task)]
        found += [_claim("fewer", task.name, known, which=name)] if known else []
    return found


def approaches(task: Task, groups: Groups) -> Claim:
    """Judge whether PG approaches Centralized, which the paper says of GoodState."""
    goal = APPROACH * groups["Centralized"][0].reward.mean
    return _claim("approaches", task.name, [(one.setting, one.reward.mean >= goal) for one in groups["PG"]], which="PG")


def episodes_asked(one: Measured, task: Task) -> float:
    """Return how many episodes the theorem asks for to reach the gap that a setting has reached."""
    if one.gap is None or one.gap.mean <= 0:
        return float("inf")
    found = theory(task.game, epsilon=one.gap.mean, confidence=0.1)
    return float(found.storm["iterations"] if one.kind == "nash" else found.episodes_cce)


def is_promised(one: Measured, task: Task) -> bool:
    """Say whether there is a gap and a theorem about it; where D is infinite, PG's promises nothing."""
    return one.gap is not None and (one.gap.mean <= 0 or episodes_asked(one, task) < float("inf"))


def fewer(one: Measured, task: Task) -> bool:
    """Judge the number of samples against the gap that was reached."""
    learned = one.gap is not None and one.gap.mean < task.random_gap and one.share >= LEARNED
    return learned and one.episodes <= FEWER * episodes_asked(one, task)


def _claim(rule: str, task: str, found: Iterable[tuple[Any, ...]], *, which: str = "", reading: str = "") -> Claim:
    """Return a claim from settings, whether it holds in each, and against which other setting, if against any."""
    checks = tuple(Check(setting, bool(holds), *against) for setting, holds, *against in found)
    return Claim(rule, RULES[rule][0].format(which=which), task, reading, checks)


def _converges(one: Measured) -> bool:
    return one.steady and one.share >= HIGH


def _faster(one: Measured, soonest: int) -> bool:
    return one.steady and one.when < soonest and one.high < SUBOPTIMAL


def _bounds_others(task: str, groups: Groups) -> Claim:
    most = groups["Centralized"][0].reward.ci95[1]
    others = [
        (f"{name}: {one.setting}", one)
        for name, held in groups.items()
        if name != "Centralized"
        for one in held
        if one.share >= LEARNED
    ]
    return _claim("bounded", task, [(setting, one.reward.ci95[0] <= most) for setting, one in others])


def _close(value: float) -> bool:
    return CLOSE[0] <= value <= CLOSE[1]


def _explains(one: TeamMeasured) -> bool:
    return 0 < one.elsewhere <= LOW_FREQUENCY and one.others >= OTHERS
