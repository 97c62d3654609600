"""Run the experiments of Calvano, Calzolari, Denicolò and Pastorello (2020), draw their figures, judge their claims.

    python papers/calvano2020/reproduce.py --quick     30 sessions of the representative experiment: a minute or two
    python papers/calvano2020/reproduce.py             1,000 sessions, the grid of α and β, robustness: an hour

Sessions are kept in the output directory: interrupt it and run the same command to resume.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # systems of 225 equations: threads only get in each other's way

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parent.parent))  # for what reproductions share

import drawing
import judging
import tacit
from sessions import BASELINE, Setting, run_setting, summarize

DIRECTORY = Path(__file__).parent
QUICK = 30

#: The grid of the heat maps: fewer points than the paper's 91 × 100, over the same range above β = 10⁻⁶.
RATES = (0.025, 0.05, 0.075, 0.1, 0.125, 0.15, 0.25)
DECAYS = (1e-6, *(k * 2e-6 for k in range(1, 11)))
DISCOUNTS = (0.0, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.99)
COSTS = (0.875, 0.75, 0.625, 0.5, 0.25)

#: The market and the learner of Klein (2021): one good, firms that move in turn, Q from 0, half a million periods.
KLEIN = {"demand": "bertrand", "timing": "sequential", "costs": 0.0, "qualities": 1.0, "limits": [0.0, 1.0]}
SEQUENTIAL = {"step": 0.3, "exploration": 1.0, "decay": 6 * math.log(10) / 500_000}


def constant_q(q: float) -> dict[str, Any]:
    """Return the learner whose first Q is the same everywhere."""
    game = tacit.make("pricing")
    return {**BASELINE, "initial": None, "optimism": q * (1 - game.discount) / game.reward_range[1]}


def with_params(**params: Any) -> dict[str, Any]:
    """Return the learner of the representative experiment with other parameters."""
    return {**BASELINE, **params}


def list_settings() -> list[Setting]:
    """Return all experiments."""
    settings = [Setting("baseline", 1000)]
    settings += [
        Setting(f"grid-{rate:g}-{decay:g}", 20, {}, with_params(step=rate, decay=decay))
        for rate in RATES
        for decay in DECAYS
    ]
    settings += [Setting("patient", 100, {}, with_params(step=0.075, decay=1e-6))]
    settings += [Setting(f"cost-{cost:g}", 60, {"costs": [1.0, cost]}) for cost in COSTS]
    settings += [Setting(f"discount-{delta:g}", 40, {"discount": delta}) for delta in DISCOUNTS]
    memoryless = with_params(step=0.25, decay=1e-3)
    settings += [Setting("memoryless", 200, {"memory": 0, "discount": 0.0}, memoryless)]
    settings += [Setting(f"mu-{mu:g}", 40, {"mu": mu}) for mu in (0.5, 0.1, 0.05)]
    settings += [
        Setting("quality-2.5", 40, {"qualities": [2.0, 2.5]}),
        Setting("wide-grid", 40, {"margin": 0.5}),
        Setting("prices-7", 40, {"prices": 7}),
        Setting("prices-30", 10, {"prices": 30}),
        Setting("first-q-5", 40, {}, constant_q(5.0)),
        Setting("first-q-10", 40, {}, {**constant_q(10.0), "exploration": 0.0}),
        Setting("boltzmann", 40, {}, with_params(step=0.05, temperature=1000.0, decay=-math.log(0.999961))),
        Setting("slow-rival", 40, {}, [BASELINE, with_params(step=0.05)]),
        Setting("curious-rival", 40, {}, [BASELINE, with_params(decay=2e-6)]),
        Setting("restless", 40, {}, with_params(decay=0.0, exploration=0.01), 4_000_000, None),
        Setting("blind", 40, {"memory": 0}),
        *(Setting(f"klein-{k}", 100, {**KLEIN, "prices": k + 1}, SEQUENTIAL, 500_000, None) for k in (6, 12, 24)),
        Setting("three-firms", 5, {"firms": 3}, most=100_000_000, exact=False),
    ]
    return settings


def main() -> int:
    """Run, draw and judge; print the conclusions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 sessions of the representative experiment alone")
    parser.add_argument("--sessions", type=int, help="sessions of the representative experiment (1,000; --quick 30)")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="the experiments whose names begin with these")
    parser.add_argument("--out", type=Path, default=Path("build/calvano2020"), help="where sessions are kept")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers of the representative experiment")
    args = parser.parse_args()
    settings = list_settings()
    number = args.sessions or (QUICK if args.quick else settings[0].sessions)
    settings[0] = Setting("baseline", number)
    if args.quick:
        settings = settings[:1]
    if args.only:
        settings = [one for one in settings if one.name.startswith(tuple(args.only))]

    def note(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    rows = {setting.name: run_setting(setting, args.out, note) for setting in settings}
    numbers = {name: summarize(sessions) for name, sessions in rows.items()}
    if args.json is not None and "baseline" in numbers:
        args.json.write_text(json.dumps(numbers["baseline"], indent=2) + "\n")
    for name, summary in numbers.items():
        print(judging.in_a_line(name, summary))
    if "baseline" in rows:
        drawing.draw_all(rows, numbers, args.out)
        page = judging.page(rows, numbers)
        (args.out / "claims.md").write_text(page)
        if not (args.quick or args.only or args.sessions):
            (DIRECTORY / "claims.md").write_text(page)
            (DIRECTORY / "results.json").write_text(json.dumps(numbers, indent=1) + "\n")
        print(f"figures and claims.md in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
