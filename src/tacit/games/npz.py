"""A game as `.npz`.

Arrays: `rewards`, `initial`, `horizon` or `discount`, and either `transitions` (dense) or `successor_first`,
`successor_state`, `successor_prob` (see `Successors`), whichever is smaller; optional `name`, `state_names`,
`action_names_<agent>`, `notes`, and of tables that end where a search did, `edge`.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, files
from tacit.core.errors import TacitError, one_line
from tacit.core.memory import Owned
from tacit.games.successors import Successors
from tacit.games.tabular import TabularGame


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Write a game."""
    arrays: dict[str, npt.ArrayLike] = {
        "rewards": game.rewards,
        "initial": game.initial,
        **({"horizon": np.int64(game.horizon)} if game.discount is None else {"discount": np.float64(game.discount)}),
    }
    if len(game.successors.state) * 2 < game.successors.rows * game.states:
        arrays |= {f"successor_{key}": value for key, value in game.successors._asdict().items()}
    else:
        arrays["transitions"] = game.transitions
    if game.name is not None:
        arrays["name"] = np.array(game.name)
    if game.state_names is not None:
        arrays["state_names"] = np.array(game.state_names)
    for i, names in enumerate(game.action_names or ()):
        arrays[f"action_names_{i}"] = np.array(names)
    if game.notes:
        arrays["notes"] = np.array(game.notes)
    if game.edge:
        arrays["edge"] = np.int64(game.edge)
    files.write_arrays(path, arrays)


def load(path: str | os.PathLike[str], *, horizon: int | None = None, discount: float | None = None) -> TabularGame:
    """Read a game; a horizon or discount replaces the stored one, where the game is the same at every step."""
    arrays = files.read_arrays(path)
    missing = [key for key in ("rewards", "initial") if key not in arrays]
    stored = horizon is None and discount is None
    if stored and "horizon" not in arrays and "discount" not in arrays:
        missing.append("horizon or discount")
    if "transitions" not in arrays and "successor_first" not in arrays:
        missing.append("transitions")
    if missing:
        found = one_line(", ".join(sorted(arrays)), 200) or "nothing"
        raise TacitError(f"{path} is not a game: it has no {' and no '.join(missing)} (it has {found})")
    try:
        if stored:
            horizon = files.single("horizon", arrays["horizon"]) if "horizon" in arrays else None
            discount = files.single("discount", arrays["discount"]) if "discount" in arrays else None
        game = TabularGame(
            _transitions(arrays),
            Owned(arrays["rewards"]),
            arrays["initial"],
            horizon,
            discount=discount,
            name=files.single("name", arrays["name"]) if "name" in arrays else None,
            state_names=files.words("state_names", arrays["state_names"]) if "state_names" in arrays else None,
            action_names=_action_names(arrays),
            notes=files.words("notes", arrays["notes"]) if "notes" in arrays else (),
        )
        if "edge" in arrays:
            game.edge = check.integer("edge", files.single("edge", arrays["edge"]), least=0, most=game.states)
        if game.edge and discount is not None:
            return game.with_discount(discount)  # says why it cannot be
        return game
    except TacitError as error:
        raise TacitError(f"{path}: {error}") from None
    except (TypeError, KeyError, ValueError, IndexError, OverflowError) as error:
        raise TacitError(f"{path} is not a game: {one_line(error, 300)}") from None


def _transitions(arrays: dict[str, Any]) -> Owned[Any]:
    if "transitions" in arrays:
        return Owned(arrays["transitions"])
    first, state, prob = (arrays[f"successor_{key}"] for key in Successors._fields)
    return Owned(Successors(first.astype(np.int64), state.astype(np.int32), prob.astype(np.float64)))


def _action_names(arrays: dict[str, Any]) -> list[list[str]] | None:
    keys = sorted((key for key in arrays if key.startswith("action_names_")), key=lambda key: int(key.split("_")[-1]))
    if keys != [f"action_names_{i}" for i in range(len(keys))]:
        raise TacitError(
            f"action names are of {one_line(', '.join(keys), 200)}; there must be one array for each agent, from 0"
        )
    return [files.words(key, arrays[key]) for key in keys] or None
