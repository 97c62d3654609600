"""Settings that publications used on their games, as `preset="paper"` takes them. [Mao2022, app:simulations]"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError

#: For each game, by name, and each learner, what the paper prints.
PAPER: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "matrix-team": {"pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "good-state": {"stage-v-cce": {"step": 0.2}, "pg-storm": {"eta": 1e-4, "momentum": 0.5}},
    "box-pushing": {"stage-v-cce": {"step": 0.05}, "pg-storm": {"eta": 5e-4, "momentum": 0.1}},
}


def with_preset(game: str | None, learner: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those of the `preset` among them filled in; what is given beside it overrides them.

    >>> with_preset("good-state", "pg-storm", {"preset": "paper", "eta": 0.1})
    {'eta': 0.1, 'momentum': 0.5}
    """
    settings = dict(params)
    preset = settings.pop("preset", None)
    if preset is None:
        return settings
    check.choice("preset", preset, ["paper"])
    known = PAPER.get(game or "", {})
    if learner not in known:
        where = game or "a game without a name"
        has = f"for that game it has: {', '.join(known)}" if known else f"it has some for: {', '.join(PAPER)}"
        raise TacitError(f"the paper gives no settings for {learner} on {where}; {has}")
    return {**known[learner], **settings}
