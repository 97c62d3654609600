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
from tacit.policies.base import is_json
from tacit.testing.violation import Violation, require, require_distribution, require_same


def check_policy(policy: Any, *, seed: int = 0) -> None:
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
    sizes = f"{name} has {policy.agents} agents and actions {brief(policy.actions)}"
    require(len(policy.actions) == policy.agents, sizes)
    playable = hasattr(policy, "at") or hasattr(policy, "part")
    require(playable, f"{name} has neither at(h) nor part(i), so nobody can play it")
    for h in range(policy.steps if hasattr(policy, "at") else 0):
        for i, table in enumerate(policy.at(h)):
            require(len(table) == policy.states, f"at({h}) of {name} has {len(table)} states of {policy.states}")
            for s, probs in enumerate(table):
                require_distribution(np.ravel(probs), f"at({h})[{i}][{s}] of {name}")
    if hasattr(policy, "part"):
        _check_parts(name, policy, seed)
    _check_pickle(name, policy, seed)
    _check_files(name, policy)


def _play(policy: Any, seed: int) -> list[list[int]]:
    """Return what each agent's part does in random states, from a common seed."""
    rng = np.random.default_rng(seed)
    steps = getattr(policy, "horizon", None) or policy.steps
    episodes = rng.integers(policy.states, size=(20, steps)).tolist()
    actions: list[list[int]] = []
    for part in [policy.part(i) for i in range(policy.agents)]:
        actions.append([])
        for k, states in enumerate(episodes):
            part.begin(seed=k)
            actions[-1] += [part.act(h, s) for h, s in enumerate(states)]
    return actions


def _check_parts(name: str, policy: Any, seed: int) -> None:
    actions = _play(policy, seed)
    for i, (played, size) in enumerate(zip(actions, policy.actions, strict=True)):
        wrong = [a for a in played if not 0 <= a < size]
        require(not wrong, f"agent {i}'s part of {name} plays {wrong[:1]}; it has {size} actions")
    require(actions == _play(policy, seed), f"the parts of {name} do not play the same twice from the same seed")


def _check_pickle(name: str, policy: Any, seed: int) -> None:
    try:
        again = pickle.loads(pickle.dumps(policy))
    except Exception as error:  # whatever a class of somebody's raises
        raise Violation(f"{name} does not pickle: {type(error).__name__}: {error}") from error
    require(type(again) is type(policy), f"{name} pickles as {brief(again)}")
    sentence = f"{name} is another after pickling"
    sizes = [(one.agents, one.states, tuple(one.actions)) for one in (policy, again)]
    require(sizes[0] == sizes[1], sentence)
    for h in range(policy.steps if hasattr(policy, "at") else 0):
        for before, after in zip(policy.at(h), again.at(h), strict=True):
            require_same(before, after, sentence)
    if hasattr(policy, "part"):
        require(_play(policy, seed) == _play(again, seed), sentence)


def _check_files(name: str, policy: Any) -> None:
    """Check that saving and loading, as `.npz` and `.json`, changes nothing."""
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
