"""Adversarial bandits, each in a file of its own.

A new bandit is one file here and one line in the table below, or an entry point of the group `tacit.bandits`.
"""

from __future__ import annotations

from tacit.bandits.ada_tsallis import AdaTsallis
from tacit.bandits.exp3_ix import Exp3IX
from tacit.bandits.spec import Bandit, Setting
from tacit.bandits.swap import Swap
from tacit.bandits.tsallis_inf import TsallisINF
from tacit.bandits.weighted_ftrl import WeightedFTRL
from tacit.core.registry import Registry

REGISTRY: Registry[Bandit] = Registry("bandit")
REGISTRY.add("exp3-ix", Exp3IX)
REGISTRY.add("tsallis-inf", TsallisINF)
REGISTRY.add("weighted-ftrl", WeightedFTRL)
REGISTRY.add("ada-tsallis", AdaTsallis)
REGISTRY.add("swap", Swap)

__all__ = ["REGISTRY", "AdaTsallis", "Bandit", "Exp3IX", "Setting", "Swap", "TsallisINF", "WeightedFTRL"]
