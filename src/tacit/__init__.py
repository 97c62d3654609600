"""tacit: decentralized multi-agent learning with proof.

>>> import tacit
>>> game = tacit.make("good-state", horizon=10)
>>> tacit.solve(game, "optimum").values
array([45.5, 45.5])
>>> run = tacit.learn(game, "stage-v-cce", episodes=2000, bonus=0.1)
>>> run.gaps.kind
'cce'
"""

from __future__ import annotations

import ast
import importlib
from functools import partial
from pathlib import Path
from typing import Any

from tacit.core import register_hook

#: Where each public name lives, as the stub lists them; it is imported on first use, so `import tacit` costs nothing.
_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {one.name: node.module for node in _STUB.body if isinstance(node, ast.ImportFrom) for one in node.names}

__all__ = sorted(_HOMES)


def _load(home: str, name: str) -> Any:
    return importlib.import_module(f"tacit.{name}") if home == "tacit" else getattr(importlib.import_module(home), name)


#: What methods of objects call in layers above their own.
for _name, _place in {
    "plot_run": "tacit.figures.curves",
    "plot_policy": "tacit.figures.pictures",
    "plot_groups": "tacit.figures.curves",
    "show_policy": "tacit.evaluation.behaviour",
    "exploit": "tacit.environments.measuring",
    "progress_on_stderr": "tacit.cli.options",
    "save_run": "tacit.experiments.store",
    "load_run": "tacit.experiments.store",
}.items():
    register_hook(_name, partial(_load, _place, _name))


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = public = _load(_HOMES[name], name)
    return public


def __dir__() -> list[str]:
    return __all__
