"""The rate of the certificate: how fast certified cce and ce gaps of random games fall with the episodes.

    python benchmarks/rates.py                 K up to 10^7, minutes; writes docs/figures/rates.png
    python benchmarks/rates.py --episodes 1000000 --out /tmp

The theory says 1/√K once K is large enough [Mao2022, thm:cce, thm:ce]; the slope is fitted for each decade.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import tacit
from tacit.figures import COLORS, save_figure, styled

CASES = [
    ("stage-v-cce", "cce", "blue", "-"),
    ("stage-v-ce", "ce", "red", "-"),
]
GAMES = 4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=10_000_000)
    parser.add_argument("--out", type=Path, default=Path("docs/figures"))
    args = parser.parse_args()
    marks = 10 ** np.arange(4, np.log10(args.episodes) + 1e-9).astype(int)
    with styled():
        figure = Figure(figsize=(6.4, 4.4))
        ax = figure.subplots()
        for learner, kind, color, line in CASES:
            gaps = []
            for seed in range(GAMES):
                game = tacit.make("random-general-sum", states=2, actions=2, horizon=5, seed=seed)
                run = tacit.learn(game, learner, episodes=args.episodes, keep=False, points=5000, bonus=0.1)
                curve = run.curve
                ax.plot(curve["episode"], curve["gap"], color=COLORS[color], linestyle=line, alpha=0.3, linewidth=1)
                gaps.append(curve["gap"])
            mean = np.mean(gaps, axis=0)
            at = np.interp(marks, curve["episode"], mean)
            slopes = np.diff(np.log10(at))
            print(f"{kind}: gap {', '.join(f'{g:.4f} at {k:.0e}' for k, g in zip(marks, at, strict=True))}")
            print(f"{kind}: slope by decade {', '.join(f'{slope:.2f}' for slope in slopes)}")
            ax.plot(
                curve["episode"],
                mean,
                color=COLORS[color],
                label=f"{kind}: mean of {GAMES} games, slope by decade {', '.join(f'{slope:.2f}' for slope in slopes)}",
            )
            if kind == "cce":
                ax.plot(marks, at[-1] * np.sqrt(marks[-1] / marks), color="black", linestyle=":", label="1/√K")
        ax.set(
            xscale="log",
            yscale="log",
            xlim=(marks[0], None),
            xlabel="episodes K",
            ylabel="certified gap (exact upper bound)",
            title="Random games: 2 agents, 2 states, 2 actions, H = 5; theory step, bonus 0.1",
        )
        ax.title.set_size(9)
        ax.legend(fontsize=8, loc="lower left")
        args.out.mkdir(parents=True, exist_ok=True)
        save_figure(figure, args.out / "rates.png")


if __name__ == "__main__":
    main()
