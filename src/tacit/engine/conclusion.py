"""What is printed of one run or several: the conclusion first, one fact a line."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from tacit.core.display import Table, drop_noise, few_numbers, number, printable
from tacit.policies import MarkovPolicy

#: Characters of a line.
_WIDTH = 108

_SOURCES = {
    "exact": "exact",
    "certificate": "certificate: upper bound",
    "model-free": "confidence bound",
    "estimate": "estimate, no bound",
}

ENDED = {
    "gap": "the gap was reached",
    "seconds": "time was up: results depend on the machine",
    "episodes": "all episodes were played",
    "periods": "all periods were played",
    "tolerance": "the learner's tolerance was reached",
    "still": "greedy policies stood still",
    "memory": "memory was full: results depend on the machine",
    "interrupted": "interrupted",
}


UNINFORMATIVE = "no information yet: the bound is no better than the largest gap there is"


def gap_sign(source: str) -> str:
    """Return what stands between a gap and its number.

    >>> gap_sign("exact"), gap_sign("certificate"), gap_sign("estimate")
    ('=', '≤', '≈')
    """
    return {"exact": "=", "estimate": "≈"}.get(source, "≤")


def size_gap(source: str, gap: float) -> str:
    """Write a gap, with a sign where it is not exact.

    >>> size_gap("exact", 0.1), size_gap("certificate", 0.1)
    ('0.1', '≤ 0.1')
    """
    return f"{gap_sign(source)} {gap:.4g}".removeprefix("= ")


def lay_out(title: Sequence[str], facts: Mapping[str, str], notes: Sequence[str] = ()) -> str:
    """Return a title, facts and notes, one a line, folded where long.

    >>> print(lay_out(["chicken", "seed 0"], {"Nash gap": "0"}, ["try more episodes"]))
    chicken | seed 0
      Nash gap   0
      note       try more episodes
    """
    rows = [*facts.items(), *(("note", note) for note in notes)]
    folded = [
        textwrap.fill(
            printable(text),
            _WIDTH,
            initial_indent=f"  {label:<9}  ",
            subsequent_indent=" " * 13,
            break_long_words=False,
            break_on_hyphens=False,
        )
        for label, text in rows
    ]
    return "\n".join([" | ".join(map(printable, title)), *folded])


def gap_label(kind: str) -> str:
    """Return how a line with a gap begins."""
    return "Nash gap" if kind == "nash" else f"{kind.upper()} gap"


def gap_fact(source: str, size: str, uniform: float | None) -> str:
    """Say how large a gap is, how it is known, and the uniform policy's."""
    beside = "" if uniform is None else f" (uniform policy: {uniform:.4g})"
    return f"{size:<8} {_SOURCES[source]}, max over agents{beside}"


def values_fact(values: Sequence[float], welfare: str, optimum: float | None) -> str:
    """Say each agent's value and their sum, as a share of the optimum where meaningful."""
    total, beside = sum(values), ""
    if optimum is not None:
        share = 0 <= total <= optimum * (1 + 1e-9) and optimum > 0
        beside = f" = {100 * total / optimum:.3g} % of the optimum" if share else f", optimum {number(optimum)}"
    return f"{few_numbers(values)}   welfare {welfare}{beside}"


def reward_fact(rewards: Sequence[float]) -> str:
    """Say what each agent earned in the end."""
    return f"{few_numbers(rewards)}   mean over the last tenth of the episodes"


def return_fact(returns: Mapping[str, Sequence[float]]) -> str:
    """Say what the returned policy earns in fresh episodes, beside random play and early training, with intervals."""
    policy, random, first = (f"{mean:.4g} ({low:.3g} to {high:.3g})" for mean, low, high in returns.values())
    return f"{policy}, random play {random}, first tenth of training {first}"


def policy_kind(policy: Any) -> str:
    """Return what kind of policy a run returns, in words."""
    if policy is None:
        return "not kept"
    if getattr(policy, "sees", False):
        return "acts on observations"
    if not isinstance(policy, MarkovPolicy):
        return "mixture"
    if not policy.product:
        return "correlated Markov"
    return "deterministic Markov" if all(((p == 0) | (p == 1)).all() for p in policy.probs) else "Markov"


def policy_fact(kinds: Iterable[str], chosen: Iterable[str]) -> str:
    """Say what kind of policy is returned, and which candidate. Of several seeds, all of them.

    >>> policy_fact(["Markov"], ["model-independent last"]), policy_fact(["mixture"], ["average"])
    ('Markov, from model-independent (last iterate)', 'mixture, from average')
    """
    names = []
    for candidate in dict.fromkeys(chosen):
        learner, _, name = candidate.rpartition(" ")
        name = {"last": "last iterate", "frequencies": "empirical frequencies of actions"}.get(name, name)
        names.append(f"{learner} ({name})" if learner else name)
    return f"{' or '.join(dict.fromkeys(kinds))}, from {' or '.join(names)}"


def selected_fact(sources: Collection[str]) -> str:
    """Say among how many candidates the returned policy was selected, and by what."""
    proven = {"exact", "certificate"} >= set(sources)
    gap = "exact gap" if set(sources) == {"exact"} else "exact or certified gap" if proven else "bound"
    return f"among {len(sources)} candidates by {gap}"


def time_fact(seconds: float, speed: float) -> str:
    """Say how long it took.

    >>> time_fact(1.234, 840_300), time_fact(75, 50)
    ('1.2 s (840k steps/s)', '75 s (50 steps/s)')
    """
    unit = next((unit for unit, size in (("M", 1e6), ("k", 1e3)) if speed >= size), "")
    amount = speed / {"M": 1e6, "k": 1e3, "": 1}[unit]
    return f"{seconds:.2g} s ({amount:.3g}{unit} steps/s)"


def candidate_table(rows: Sequence[tuple[str, str, float, Sequence[float] | None]], scale: float) -> Table:
    """Return candidates as a table: name, how its gap is known, the gap, values."""
    return Table(
        "",
        ["candidate", "gap", "", "values"],
        [
            [name, drop_noise(gap, scale), _SOURCES.get(source, source), "" if values is None else few_numbers(values)]
            for name, source, gap, values in rows
        ],
    )
