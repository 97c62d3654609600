"""Lists of values: a parameter that takes one value and is given a list stands for one learner or game for each.

    [[learners]]
    name = "stage-v-cce"
    params = {bonus = [0, 0.1], eta = [0.1, 0.2]}   # four learners

A parameter that takes lists itself, as `actions = [2, 3]` of random games, is not swept; a list of lists is.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tacit.core.errors import TacitError
from tacit.core.registry import Registry
from tacit.experiments.spec import GameSpec, LearnerSpec

#: What the annotation of a parameter that takes lists has in it.
_LISTS = ("Sequence", "list", "List", "tuple", "Tuple", "Array", "Iterable", "Any")

#: Learners or games that one entry may stand for.
_MOST = 10_000

Spec = TypeVar("Spec", GameSpec, LearnerSpec)


def swept(specs: Sequence[Spec], registry: Registry[Any]) -> list[Spec]:
    """Return each spec, or one for each combination of the values that its lists give.

    >>> from tacit.learners import REGISTRY
    >>> [one.params for one in swept([LearnerSpec("npg", {"eta": [0.1, 0.2]})], REGISTRY)]
    [{'eta': 0.1}, {'eta': 0.2}]
    """
    found: list[Spec] = []
    for spec in specs:
        lists = {key: value for key, value in spec.params.items() if _is_swept(registry, spec.name, key, value)}
        total = 1
        for key, values in lists.items():
            if not values:
                raise TacitError(f"{spec.name} has no value for {key}: its list is empty")
            total *= len(values)
        if total > _MOST:
            raise TacitError(f"the lists of {spec.name} make {total:,} combinations; at most {_MOST:,} are run")
        for values in itertools.product(*map(_distinct, lists.values())):
            chosen = dict(zip(lists, values, strict=True))
            found.append(replace(spec, params={**spec.params, **chosen}))
    return found


def _distinct(values: list[Any]) -> list[Any]:
    """Return values without those that are there before: 1 and 1.0 are one run, 1 and true are not.

    >>> _distinct([1, 1.0, True, "a", "a", 0.5])
    [1, True, 'a', 0.5]
    """
    found: list[Any] = []
    for value in values:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in found):
            found.append(value)
    return found


def _is_swept(registry: Registry[Any], name: str, key: str, value: object) -> bool:
    if not isinstance(value, list) or name not in registry:
        return False
    parameters = inspect.signature(registry.factory(name)).parameters
    if key not in parameters:
        return False  # an error, which is told where the learner or game is made
    hint = parameters[key].annotation
    takes_lists = isinstance(parameters[key].default, list | tuple) or (
        hint is not inspect.Parameter.empty and any(word in str(hint) for word in _LISTS)
    )
    return not takes_lists or all(isinstance(part, list) for part in value)
