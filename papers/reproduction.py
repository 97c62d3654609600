"""What the reproductions of `papers/` share: claims with verdicts, their page, and the command that writes it.

A paper's folder is a `Reproduction`: what is run, how it is judged, what is drawn. `run` is its command,

    python papers/NAME/reproduce.py [--quick] [--out DIR]

which writes claims.md, results.json and figure.png: quick runs into build/NAME, whole ones into the folder too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tacit.figures import save_figure, styled

POINTS = 60  # of a curve

Note = Callable[[str], None]


@dataclass(frozen=True)
class Claim:
    """What a source says, where, its number and ours, the rule, and whether it holds."""

    says: str
    where: str
    paper: str
    ours: str
    rule: str
    holds: bool
    weak: bool = False

    @property
    def verdict(self) -> str:
        """Whether it holds; where a rule is wide for lack of runs, that it is not contradicted."""
        if not self.holds:
            return "**does not hold**"
        return "not contradicted" if self.weak else "holds"


def table(claims: Iterable[Claim]) -> list[str]:
    """Return the lines of the table of claims."""
    rows = ([one.says, one.where, one.paper, one.ours, one.rule, one.verdict] for one in claims)
    head = ["| the paper says | where | paper | ours | rule | verdict |", "|---|---|---|---|---|---|"]
    return [*head, *(f"| {' | '.join(row)} |" for row in rows)]


def log_times(last: int, points: int = POINTS) -> list[int]:
    """Return the times at which a curve is measured: about evenly on a logarithmic axis."""
    return np.unique(np.geomspace(1, last, points).astype(int)).tolist()


def save_panels(path: Path, size: tuple[float, float], panels: int, paint: Callable[..., None]) -> None:
    """Write a figure whose panels, side by side, `paint` draws on its axes."""
    with styled():
        figure = Figure(figsize=size, layout="constrained")
        paint(*np.atleast_1d(figure.subplots(1, panels)))
        save_figure(figure, path)


def shorten(value: Any, digits: int = 6) -> Any:
    """Return results with numbers of so many digits."""
    if isinstance(value, dict):
        return {key: shorten(one, digits) for key, one in value.items()}
    if isinstance(value, list):
        return [shorten(one, digits) for one in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


@dataclass(frozen=True)
class Reproduction:
    """A paper's experiment: settings, measurements, claims and the picture."""

    folder: Path
    authors: str
    whole: Any
    quick: Any
    measure: Callable[[Any, Note], dict[str, Any]]  # setting -> results, which JSON can hold
    judge: Callable[[dict[str, Any]], list[Claim]]
    draw: Callable[[dict[str, Any], Path], None]
    introduce: Callable[[Any], str]  # setting -> what was run, as a sentence
    close: str  # where facts and numbers come from

    def page(self, setting: Any, claims: Sequence[Claim]) -> str:
        """Return claims.md."""
        held = sum(claim.verdict == "holds" for claim in claims)
        intro = (
            f"Written by `papers/{self.folder.name}/reproduce.py`: {self.introduce(setting)} "
            f"{held} of {len(claims)} rows hold."
        )
        return "\n".join([f"# The claims of {self.authors}", "", intro, "", *table(claims), "", self.close, ""])

    def run(self, arguments: list[str] | None = None, *, about: str | None = None) -> int:
        """Run, draw and judge, as a command."""
        name = self.folder.name
        parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--quick", action="store_true", help="smaller, in a minute; the folder stays as it is")
        parser.add_argument("--out", type=Path, default=Path("build") / name, help="where results go")
        args = parser.parse_args(arguments)
        setting = self.quick if args.quick else self.whole
        began = time.perf_counter()

        def note(text: str) -> None:
            print(f"{text} ({time.perf_counter() - began:.0f} s)", file=sys.stderr, flush=True)

        results = shorten(self.measure(setting, note))
        claims = self.judge(results)
        args.out.mkdir(parents=True, exist_ok=True)
        for folder in [args.out] if args.quick else [args.out, self.folder]:
            (folder / "claims.md").write_text(self.page(setting, claims), encoding="utf-8")
            (folder / "results.json").write_text(json.dumps(results, separators=(",", ":")) + "\n", encoding="utf-8")
            self.draw(results, folder / "figure.png")
        for claim in claims:
            print(f"{claim.verdict.replace('*', '')}: {claim.says}: {claim.ours}")
        return 0
