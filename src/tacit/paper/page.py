"""The reproduction in words and numbers: a Markdown page with verdicts, measurements and rules, and a CSV file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence

from tacit.experiments.statistics import Summary
from tacit.paper import rules
from tacit.paper.claims import DEPENDS, FAILS, HOLDS, Claim, Groups, TeamGroups, episodes_asked, promised
from tacit.paper.measured import Task


def page(claims: Sequence[Claim], tables: Sequence[str], settings: Mapping[str, str], seeds: Mapping[str, int]) -> str:
    """Write everything as Markdown."""
    told = ", ".join(f"{name} {count}" for name, count in seeds.items())
    lines = [
        "# The paper's empirical claims",
        "",
        f"Written by `tacit reproduce`. Seeds: {told}. {rules.INTERVALS}",
        "",
        _count(claims),
        "",
        *_verdicts(claims),
        "",
        *tables,
        "## Rules",
        "",
        "They were written down before the runs. A claim holds if it does in every setting of a group, depends on the "
        "setting if it does in some, and does not hold if it does in none.",
        "",
    ]
    used = dict.fromkeys(claim.rule for claim in claims)
    lines += [f"- *{rules.RULES[key][0].format(which='…')}*: {rules.RULES[key][1]}." for key in used]
    lines += ["", "## Settings", ""]
    lines += [f"- {name}: {text}" for name, text in settings.items()]
    return "\n".join(lines) + "\n"


def _count(claims: Sequence[Claim]) -> str:
    """Say how many claims hold, and by which rule that is judged."""
    number = {verdict: sum(claim.verdict == verdict for claim in claims) for verdict in (HOLDS, DEPENDS, FAILS)}
    return (
        f"In short: of {len(claims)} rows (a claim on one task, with one reading of it), {number[HOLDS]} hold in every "
        f"setting that was run, {number[DEPENDS]} depend on the setting, and {number[FAILS]} hold in none. "
        "The settings are those that the paper leaves open; each claim has its rule in numbers, at the end of this "
        'page. "Independent" is read as in the caption of the figure (greedy Q-learning) or as in the appendix '
        "(UCB-ADVANTAGE), which differ."
    )


def _verdicts(claims: Sequence[Claim]) -> list[str]:
    lines = ['| the paper says | task | reading of "Independent" | verdict | holds with |', "|---|---|---|---|---|"]
    for claim in claims:
        verdict = claim.verdict if claim.verdict == HOLDS else f"**{claim.verdict}**"
        where = "every setting" if claim.verdict == HOLDS else claim.where
        lines.append(f"| {claim.says} | {claim.task} | {claim.reading} | {verdict} | {where} |")
    return lines


def task_table(task: Task, groups: Groups) -> str:
    """Write what was measured on a Markov game."""
    lines = [
        f"## {task.name}",
        "",
        f"Exact optimum {task.optimum:.2f}; random play {task.random:.2f}, with a gap of {task.random_gap:.2f}. "
        '"Share" is of what there is to gain, "moves" how far the mean reward moves from the last fifth but one to the '
        'last as a share of the same, "95 % at" the episode with 95 % of its own gain. Gaps are certified cce gaps '
        "(V-Learning, upper bounds) and exact nash gaps of the last iterate; beside them the episodes that the theorem "
        "asks for to reach them, or none where it promises nothing because D is infinite.",
        "",
        "| algorithm | setting | reward | share | moves | 95 % at | gap | theorem |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, held in groups.items():
        for one in held:
            gap = "" if one.gap is None else f"{one.gap.mean:.3g}"
            theorem = f"{episodes_asked(one, task):.1e}" if promised(one, task) else "none"
            theorem = theorem if gap and name.startswith(("V-Learning", "PG")) else ""
            lines.append(
                f"| {name} | {one.setting} | {told(one.reward)} | {one.share:.0%} | {one.moves:+.1%} | {one.when:,} "
                f"| {gap} | {theorem} |"
            )
    return "\n".join([*lines, "", ""])


def team_table(task: Task, groups: TeamGroups) -> str:
    """Write what was measured on the matrix team."""
    first = next(iter(groups.values()))[0]
    lines = [
        f"## {task.name}",
        "",
        f'After {first.episodes} rounds, {first.runs} runs. "Average" is the mean over {first.averaged}. Uniform play '
        f'has an L² gap of {task.random_l2_gap:.2f}. "Optimal" and "elsewhere" are the shares of runs that end in an '
        'optimal and in a non-optimal equilibrium, "others" what the runs that are not elsewhere earn.',
        "",
        "| algorithm | setting | L² gap, last | average | value, last | average | optimal | elsewhere | others |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, held in groups.items():
        for one in held:
            gaps = f"{told(one.l2_gap, 3)} | {told(one.average_l2_gap, 3)}"
            values = f"{told(one.value)} | {told(one.average_value)}"
            ends = f"{one.optimal:.0%} | {one.elsewhere:.0%} | {one.others:.2f}"
            lines.append(f"| {name} | {one.setting} | {gaps} | {values} | {ends} |")
    return "\n".join([*lines, "", ""])


def told(summary: Summary, digits: int = 2) -> str:
    """Write a summary with its interval."""
    low, high = summary.ci95
    return f"{summary.mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


COLUMNS = ("task", "algorithm", "setting", "seeds", "episodes", "measure", "mean", "sd", "low", "high")


def rows(task: str, groups: Groups | TeamGroups) -> list[tuple[object, ...]]:
    """Return one row of `COLUMNS` for each quantity that was measured over seeds."""
    found: list[tuple[object, ...]] = []
    for name, held in groups.items():
        for one in held:
            for measure, summary in vars(one).items():
                if isinstance(summary, Summary):
                    numbers = [f"{x:.6g}" for x in (summary.mean, summary.std, *summary.ci95)]
                    found.append((task, name, one.setting, summary.count, one.episodes, measure, *numbers))
    return found


def written(found: Sequence[tuple[object, ...]]) -> str:
    """Write rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *found])
    return text.getvalue()
