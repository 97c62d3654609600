"""The check of a policy: distributions, files and pickles."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tacit import policies
from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.policies import Policy
from tacit.policies.base import is_json
from tacit.testing.violation import Violation, require, require_distribution, require_same


def check_policy(policy: Policy | Any, *, seed: int = 0) -> None:
    """Check a policy: it knows its agents, states and actions, plays them, and survives files and pickling.

    A policy has `at(h)` with the distributions of a step (Markov), or `part(i)` with agent i's part, which acts alone
    from a common seed; those that have both are checked for both.

    Parameters
    ----------
    policy : a policy
    seed : int

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> import tacit
    >>> from tacit.testing import check_policy
    >>> check_policy(tacit.MarkovPolicy.uniform(tacit.make("chicken")))
    """
    name, seed = type(policy).__name__, check.integer("seed", seed)
    missing = [word for word in ("agents", "states", "actions", "save") if not hasattr(policy, word)]
    require(not missing, f"{name} has no {' and no '.join(missing)}")
    require(
        len(policy.actions) == policy.agents, f"{name} has {policy.agents} agents and actions {brief(policy.actions)}"
    )
    require(
        hasattr(policy, "at") or hasattr(policy, "part"), f"{name} has neither at(h) nor part(i), so nobody can play it"
    )
    _check_distributions(name, policy)
    _check_parts(name, policy, seed)
    _check_pickle(name, policy, seed)
    _check_files(name, policy)


def _check_distributions(name: str, policy: Any) -> None:
    for h in range(policy.steps if hasattr(policy, "at") else 0):
        for i, own in enumerate(policy.at(h)):
            require(len(own) == policy.states, f"at({h}) of {name} has {len(own)} states of {policy.states}")
            for s, probs in enumerate(own):
                require_distribution(np.ravel(probs), f"at({h})[{i}][{s}] of {name}")


def _play(policy: Any, seed: int) -> list[list[int]]:
    """Return what each agent's part does in random states, from a common seed."""
    rng = np.random.default_rng(seed)
    steps = getattr(policy, "horizon", None)
    steps = policy.steps if steps is None else steps
    states = rng.integers(policy.states, size=(20, steps)).tolist()
    found = []
    for i in range(policy.agents):
        part = policy.part(i)
        acts = []
        for k, met in enumerate(states):
            part.begin(seed=k)
            acts += [part.act(h, s) for h, s in enumerate(met)]
        found.append(acts)
    return found


def _check_parts(name: str, policy: Any, seed: int) -> None:
    if not hasattr(policy, "part"):
        return
    acts = _play(policy, seed)
    for i, (own, size) in enumerate(zip(acts, policy.actions, strict=True)):
        wrong = [a for a in own if not 0 <= a < size]
        require(not wrong, f"agent {i}'s part of {name} plays {wrong[:1]}; it has {size} actions")
    require(acts == _play(policy, seed), f"the parts of {name} do not play the same twice from the same seed")


def _check_pickle(name: str, policy: Any, seed: int) -> None:
    try:
        again = pickle.loads(pickle.dumps(policy))
    except Exception as error:  # whatever a class of somebody's raises
        raise Violation(f"{name} does not pickle: {type(error).__name__}: {error}") from error
    require(type(again) is type(policy), f"{name} pickles as {brief(again)}")
    _require_same_policies(policy, again, f"{name} is another after pickling", seed)


def _require_same_policies(one: Any, other: Any, sentence: str, seed: int) -> None:
    sizes = [(policy.agents, policy.states, tuple(policy.actions)) for policy in (one, other)]
    require(sizes[0] == sizes[1], sentence)
    for h in range(one.steps if hasattr(one, "at") else 0):
        for own, same in zip(one.at(h), other.at(h), strict=True):
            require_same(own, same, sentence)
    if hasattr(one, "part"):
        require(_play(one, seed) == _play(other, seed), sentence)


def _check_files(name: str, policy: Any) -> None:
    """Save and load as `.npz`, and as `.json` where there is such a form: the kind is stated, and nothing changes."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".npz", ".json"):
            path, twice = (Path(folder) / f"{stem}{ending}" for stem in ("policy", "twice"))
            try:
                policy.save(path)
            except TacitError as error:
                require(ending == ".json", f"{name} cannot be saved: {error}")
                continue
            try:
                again = policies.load(path)
            except TacitError as error:
                raise Violation(f"{name} saves a {ending} that cannot be loaded: {error}") from error
            require(type(again) is type(policy), f"{name} saved as {ending} is loaded as {type(again).__name__}")
            again.save(twice)
            _require_same_files(path, twice, f"{name} is another after it was saved as {ending} and loaded")


def _require_same_files(one: Path, other: Path, sentence: str) -> None:
    if is_json(one):
        require(one.read_bytes() == other.read_bytes(), sentence)
        return
    left, right = files.read_arrays(one), files.read_arrays(other)
    require(left.keys() == right.keys(), sentence)
    for key, array in left.items():
        require_same(array, right[key], f"{sentence}; {key} differs")
