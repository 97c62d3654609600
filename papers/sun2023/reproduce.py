"""Run the two games of Sun, Liu, Zhou, Kumar and Shahrampour (2023), draw them, judge the claims.

python papers/sun2023/reproduce.py --quick     4 agents, fewer iterations: half a minute
python papers/sun2023/reproduce.py             8 agents, 250 iterations, as in the authors' program: two minutes
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))  # for what reproductions share

import potential_games

if __name__ == "__main__":
    sys.exit(potential_games.REPRODUCTION.run(about=__doc__))
