"""Concurrent stochastic games of PRISM-games (`csg` models in .prism files) with a property, read.

The language is read as far as the tool's own tests for such games go: constants, formulas, labels, players, modules
with ranges and booleans, renamed modules, commands of several actions, updates that read primed variables, reward
structures. A property makes a game of it: what each side gets. Properties of one coalition, `<<p1>>Pmax=? [ F<=3 x=1 ]`
or `<<p1>>R{"r"}min=? [ C<=4 ]`, are zero-sum games of the coalition against all others; those of two,
`<<p1:p2>>max=? (P[ F<=2 x=1 ] + R{"r"}[ I=2 ])`, are general-sum; what is to be smallest is paid as a cost. Errors are
reported as `file:line: sentence`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tacit.core import check, files
from tacit.core.errors import TacitError, brief, sentence
from tacit.games.prism.expressions import split
from tacit.games.prism.model import LIMIT, Model, ModelFile
from tacit.games.prism.property import last_step, make_game, read_property
from tacit.games.tabular import TabularGame
from tacit.games.text import locate_errors

#: Characters of a property.
LONGEST = 10_000


def load(
    path: str | os.PathLike[str],
    *,
    horizon: int | None = None,
    property: str | None = None,
    constants: Mapping[str, Any] | None = None,
    discount: float | None = None,
    limit: int = LIMIT,
    name: str | None = None,
) -> TabularGame:
    """Read a model and make the game of a property; its name is the file's unless another is given.

    `constants` are those that the model or the property leaves open. A property without a bound needs a
    horizon or a discount; `limit` is as in `tacit.tabulate`.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "coin.prism")
    >>> _ = path.write_text('''csg
    ... player one m endplayer
    ... player two n endplayer
    ... module m [h1] true -> true; [t1] true -> true; endmodule
    ... module n = m[h1=h2, t1=t2] endmodule
    ... rewards "match" [h1,h2] true : 1; [t1,t2] true : 1; endrewards''')
    >>> load(path, property='<<one>>R{"match"}max=? [ C<=2 ]')
    TabularGame('coin': 2 agents, 2 states, 2×2 actions, horizon 2, rewards in [-1, 1])
    """
    place = files.path(path)
    try:
        with locate_errors(place):
            file = ModelFile(files.read_utf8(place))
        text, given, limit = _check(place, property, constants, limit)
        with locate_errors(place):
            model = file.read(given)
        return _make(place, name or place.stem, model, text, given, horizon, discount, limit)
    except TacitError:
        raise
    except RecursionError:
        raise TacitError(f"{place}: brackets or formulas are nested too deeply to be read") from None
    except (ArithmeticError, TypeError, ValueError, LookupError) as error:
        raise TacitError(f"{place}: an expression cannot be computed ({sentence(error)})") from None


def _check(place: Path, property: object, constants: object, limit: int) -> tuple[str, dict[str, Any], int]:
    """Return a property, constants and the limit, if they are such."""
    if property is None:
        raise TacitError(
            f"{place} is a model; give property=, what its players want, e.g. property='<<p1>>Pmax=? [ F<=3 x=1 ]'"
        )
    text = check.text("property", property)
    if len(text) > LONGEST:
        raise TacitError(f"property has {len(text):,} characters; at most {LONGEST:,} are read")
    if not isinstance(constants, Mapping | None):
        raise TacitError(f"constants is {brief(constants)}; it must be a dict of names and values, e.g. {{'k': 3}}")
    return text, dict(constants or {}), check.integer("limit", limit, least=1)


def _make(
    place: Path,
    name: str,
    model: Model,
    property: str,
    given: dict[str, Any],
    horizon: int | None,
    discount: float | None,
    limit: int,
) -> TabularGame:
    """Make the game of a property."""
    wanted = read_property(property, model)
    for constant in given.keys() - model.open - {token.text for token in split(property)}:
        known = ", ".join(sorted(model.open)) or "none"
        raise TacitError(f"{place}: there is no constant {brief(constant)} to give; the model leaves open: {known}")
    bound = last_step(wanted.objectives)
    if wanted.unbounded and horizon is None and discount is None:
        raise TacitError(
            f"the property {brief(property)} has no bound; give horizon=, after which the game ends, or discount="
        )
    steps = bound if horizon is None else check.integer("horizon", horizon)
    if steps < bound:
        raise TacitError(f"horizon is {steps}; the property looks {bound} steps ahead")
    with locate_errors(place):
        rules, plans = model.rules(wanted.sides)
        actions = [len(own) for own in plans]
        if bound * math.prod(actions) > limit:  # the step is part of the state
            raise TacitError(
                f"the property looks {bound:,} steps ahead, which takes more than {limit:,} states × joint actions; "
                f"give a smaller bound, no bound and horizon=, or a larger limit="
            )
        return make_game(
            name,
            rules,
            wanted.objectives,
            start=model.start,
            actions=actions,
            action_names=[[" and ".join(plan) for plan in own] for own in plans],
            horizon=steps if discount is None else None,
            discount=discount,
            limit=limit,
        )


def save(game: TabularGame, path: str | os.PathLike[str]) -> None:
    """Refuse."""
    raise TacitError(f"{path}: .prism files are read and not written; .npz holds every game")
