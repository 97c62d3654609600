"""Run the routing games of Maheshwari, Wu, Pai and Sastry (2022), draw figures 1 to 5, judge the claims.

python papers/maheshwari2022/reproduce.py --quick     10,000 periods, 2 seeds: half a minute
python papers/maheshwari2022/reproduce.py             100,000 periods, 5 seeds, as in the authors' program: a minute
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))  # for what reproductions share

import routing

if __name__ == "__main__":
    sys.exit(routing.REPRODUCTION.run(about=__doc__))
