"""Write docs/reproductions/index.md: every paper's experiment with the count of its verdicts.

python papers/overview.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

PAPERS = Path(__file__).parent
PAGE = PAPERS.parent / "docs/reproductions/index.md"

#: For each folder: the paper, its experiment, and the page with figure and claims.
FOLDERS = {
    "mao2022": ("Mao, Yang, Zhang, Başar 2022", "matrix team, GoodState, BoxPushing", "../paper/claims.md"),
    "calvano2020": ("Calvano, Calzolari, Denicolò, Pastorello 2020", "pricing algorithms", "../collusion-claims.md"),
    "wei2021": ("Wei, Lee, Zhang, Luo 2021", "random zero-sum game, 100 states, `ogda`", "wei2021.md"),
    "maheshwari2022": ("Maheshwari, Wu, Pai, Sastry 2022", "routing games, `q-smoothed`", "maheshwari2022.md"),
    "sun2023": ("Sun, Liu, Zhou, Kumar, Shahrampour 2023", "seeded team, congestion game, `npg`", "sun2023.md"),
}


def count_verdicts(page: str) -> Counter[str]:
    """Return how often each verdict is in the first table of a page of claims."""
    lines = page[page.index("| the paper says") :].split("\n\n")[0].splitlines()
    head, _, *rows = ([cell.strip(" *") for cell in line.split("|")] for line in lines)
    return Counter(row[head.index("verdict")] for row in rows)


def page() -> str:
    """Return the page."""
    lines = [
        "# Reproductions",
        "",
        "Experiments of papers whose algorithms are in tacit. A row of a paper's page is a claim: the paper's number",
        "where there is one, ours, the rule and the verdict. Gaps are exact. Where the authors' program was run, its",
        "curve is beside ours. `python papers/overview.py` writes this page from theirs.",
        "",
        "| paper | experiment | rows | hold | do not hold | other | command |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, (authors, what, link) in FOLDERS.items():
        verdicts = count_verdicts((PAPERS / name / "claims.md").read_text(encoding="utf-8"))
        total, hold, fail = verdicts.total(), verdicts["holds"], verdicts["does not hold"]
        cells = [f"[{authors}]({link})", what, total, hold, fail, total - hold - fail]
        lines.append("| " + " | ".join([*map(str, cells), f"`python papers/{name}/reproduce.py`"]) + " |")
    lines += [
        "",
        '"Other": the verdict depends on a setting that the paper leaves open, or the runs are too few for one.',
        "",
    ]
    own = [name for name, (*_, link) in FOLDERS.items() if not link.startswith("..")]
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", *own, "```", ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    sys.exit(0)
