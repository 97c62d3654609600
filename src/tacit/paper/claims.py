"""The paper's empirical claims, judged from what was measured by `tacit.paper.rules`. [Mao2022, app:simulations]

Settings come in groups, as the experiments in `papers/mao2022` label them: "V-Learning", "PG", "Centralized",
"Independent, caption", "Independent, appendix", and such as "PG with a larger step" for what departs from print. Each
group is judged on its own, against each reading of Independent on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from tacit.evaluation import theory
from tacit.paper import rules
from tacit.paper.measured import Measured, Task, TeamMeasured

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
        Key of `rules.RULES`.
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
        for setting, group in groupby(self.checks, key=lambda check: check.setting):
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
            goal = rules.VANISHED * task.random_l2_gap
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
        found += [_outperforms(task.name, name, settings, reading, theirs) for reading, theirs in readings.items()]
    soonest = min(groups["V-Learning"][0].when, groups["PG"][0].when)
    for reading, theirs in readings.items():
        sooner = [(one.setting, _faster(one, soonest)) for one in theirs]
        found.append(_claim("faster", task.name, sooner, reading=reading))
    found.append(_bounds_others(task.name, groups))
    for name, settings in ours.items():
        known = [(one.setting, fewer(one, task)) for one in settings if promised(one, task)]
        found += [_claim("fewer", task.name, known, which=name)] if known else []
    return found


def approaches(task: Task, groups: Groups) -> Claim:
    """Judge whether PG approaches Centralized, which the paper says of GoodState."""
    goal = rules.APPROACH * groups["Centralized"][0].reward.mean
    return _claim("approaches", task.name, [(one.setting, one.reward.mean >= goal) for one in groups["PG"]], which="PG")


def episodes_asked(one: Measured, task: Task) -> float:
    """Return how many episodes the theorem asks for to reach the gap that a setting has reached."""
    if one.gap is None or one.gap.mean <= 0:
        return float("inf")
    found = theory(task.game, epsilon=one.gap.mean, confidence=0.1)
    return float(found.storm["iterations"] if one.kind == "nash" else found.episodes_cce)


def promised(one: Measured, task: Task) -> bool:
    """Say whether there is a gap and a theorem about it; where D is infinite, PG's promises nothing."""
    return one.gap is not None and (one.gap.mean <= 0 or episodes_asked(one, task) < float("inf"))


def fewer(one: Measured, task: Task) -> bool:
    """Judge the number of samples against the gap that was reached."""
    learned = one.gap is not None and one.gap.mean < task.random_gap
    return learned and one.episodes <= rules.FEWER * episodes_asked(one, task)


def _claim(rule: str, task: str, found: Iterable[tuple[str, bool]], *, which: str = "", reading: str = "") -> Claim:
    says = rules.RULES[rule][0].format(which=which)
    return Claim(rule, says, task, reading, tuple(Check(setting, bool(holds)) for setting, holds in found))


def _converges(one: Measured) -> bool:
    return one.steady and one.share >= rules.HIGH


def _outperforms(task: str, name: str, ours: Sequence[Measured], reading: str, theirs: Sequence[Measured]) -> Claim:
    says = rules.RULES["outperforms"][0].format(which=name)
    pairs = [Check(own.setting, own.reward.ci95[0] > one.reward.ci95[1], one.setting) for own in ours for one in theirs]
    return Claim("outperforms", says, task, reading, tuple(pairs))


def _faster(one: Measured, soonest: int) -> bool:
    return one.steady and one.when < soonest and one.high < rules.SUBOPTIMAL


def _bounds_others(task: str, groups: Groups) -> Claim:
    most = groups["Centralized"][0].reward.ci95[1]
    others = [(f"{name}: {one.setting}", one) for name, held in groups.items() if name != "Centralized" for one in held]
    return _claim("bounded", task, [(setting, one.reward.ci95[0] <= most) for setting, one in others])


def _close(value: float) -> bool:
    return rules.CLOSE[0] <= value <= rules.CLOSE[1]


def _explains(one: TeamMeasured) -> bool:
    return 0 < one.elsewhere <= rules.LOW_FREQUENCY and one.others >= rules.OTHERS
