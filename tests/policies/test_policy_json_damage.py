"""Damaged and hostile documents end in a policy or in one sentence that names the file: never anything else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.policies import MarkovPolicy


def of_kind(kind: str) -> MarkovPolicy:
    game = tacit.make("random-general-sum", states=2, actions=[2, 3], horizon=2, seed=1)
    return MarkovPolicy.random(game, correlated=kind == "correlated")


@pytest.fixture(params=["product", "correlated"])
def policy(request: pytest.FixtureRequest) -> MarkovPolicy:
    return of_kind(request.param)


def outcome(policy: MarkovPolicy, place: Path, content: bytes) -> str | None:
    """Read a document; return the sentence, or None where it was taken and can be played."""
    place.write_bytes(content)
    try:
        found = MarkovPolicy.load(place)
    except tacit.TacitError as error:
        told = str(error)
        assert str(place) in told
        assert "\n" not in told
        assert len(told) < 600
        return told
    part = found.part(0)
    for seed in range(3):
        part.begin(seed)
        assert all(0 <= part.act(h, 0) < found.actions[0] for h in range(min(found.steps, 3)))
    return None


def spots(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Return every (container, key) of a document."""
    for key in value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        found.append((value, key))
        spots(value[key], found)
    return found


STRANGE = [None, True, False, -1, 0, 1, 2, 7, 10**9, 10**30, 0.5, -0.5, 1.5, 1e308, "", "0", "00", "x", [], {}, [[]]]
STRANGE += [[0.5], {"0": [0, [0.5], [0.1, 0.1]]}, [0, 0], "²", 2**31, 2**63]


@pytest.mark.parametrize("seed", range(4))
def test_mutated_documents(policy: MarkovPolicy, seed: int, tmp_path: Path):
    """Five hundred documents each: values replaced, entries removed, repeated or renamed."""
    place, rng = tmp_path / "policy.json", random.Random(seed)
    policy.save(place)
    whole, refused = json.loads(place.read_text()), 0
    for _ in range(500):
        document = copy.deepcopy(whole)
        for _ in range(rng.choice([1, 1, 2, 4])):
            held, key = rng.choice(spots(document, []))
            how = rng.choice(["replace", "replace", "remove", "repeat"])
            if how == "replace":
                held[key] = rng.choice(STRANGE)
            elif how == "remove":
                del held[key]
            elif isinstance(held, list):
                held.insert(key, held[key])
            else:
                held[str(rng.choice(STRANGE))] = held[key]
        refused += outcome(policy, place, json.dumps(document).encode()) is not None
    assert 300 < refused < 500


@pytest.mark.parametrize("seed", range(2))
def test_flipped_bytes(policy: MarkovPolicy, seed: int, tmp_path: Path):
    place, rng = tmp_path / "policy.json", random.Random(100 + seed)
    policy.save(place)
    whole = place.read_bytes()
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(rng.choice([1, 3])):
            damaged[rng.randrange(len(whole))] = rng.randrange(256)
        outcome(policy, place, bytes(damaged))


def test_a_document_cut_short_is_refused(policy: MarkovPolicy, tmp_path: Path):
    place = tmp_path / "policy.json"
    policy.save(place)
    whole = place.read_bytes()
    for length in range(1, len(whole) - 2, 7):
        told = outcome(policy, place, whole[:length])
        assert told is not None
        assert "cut short" in told


HEADER = '{"format":"tacit policy","version":1,'
HOSTILE = {
    "empty": b"",
    "no JSON": b"hello",
    "a list": b"[]",
    "another document": b'{"format":"other"}',
    "another version": b'{"format":"tacit policy","version":2}',
    "no kind": (HEADER + '"kind":null}').encode(),
    "a list of kinds": (HEADER + '"kind":["product"]}').encode(),
    "only a header": (HEADER + '"kind":"KIND"}').encode(),
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "a deep entry": (HEADER + '"kind":"KIND","actions":[1],"probs":' + "[" * 500 + "]" * 500 + "}").encode(),
    "a deep state": (HEADER + '"kind":"KIND","states":' + "[" * 900 + "]" * 900 + "}").encode(),
    "a deep version": b'{"format":"tacit policy","version":' + b"[" * 900 + b"]" * 900 + b"}",
    "a deep kind": (HEADER + '"kind":' + "[" * 900 + "]" * 900 + "}").encode(),
    "a deep agent": (HEADER + '"kind":"KIND","agent":' + "[" * 900 + "]" * 900 + "}").encode(),
    "a huge number": (HEADER + f'"kind":"KIND","states":{"9" * 100_000}}}').encode(),
    "beyond floats": (HEADER + '"kind":"KIND","states":1e999,"actions":[1],"probs":[[[1e999]]]}').encode(),
    "NaN": (HEADER + '"kind":"KIND","states":NaN}').encode(),
    "Infinity": (HEADER + '"kind":"KIND","states":-Infinity}').encode(),
    "no text": bytes(range(256)),
    "zeros": bytes(1000),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_documents_are_refused(what: str, policy: MarkovPolicy, tmp_path: Path):
    kind = "product" if policy.product else "correlated"
    assert outcome(policy, tmp_path / "policy.json", HOSTILE[what].replace(b"KIND", kind.encode())) is not None


Change = Callable[[dict[str, Any]], None]
WRONG: dict[str, tuple[Change, str]] = {
    "steps": (lambda d: d.update(steps=2.5), "steps must be a whole number from 1"),
    "no steps": (lambda d: d.update(steps=0), "steps must be a whole number from 1"),
    "actions": (lambda d: d.update(actions="22"), "its actions must be a list"),
    "no tables": (lambda d: d.update(probs=[]), "one array"),
    "no list of tables": (lambda d: d.update(probs={}), "its probs must be a list"),
    "a table": (lambda d: d["probs"].__setitem__(1, []), r"probs\[1\]"),
    "a row": (lambda d: d["probs"][1][0].__setitem__(0, [0.5]), r"probs\[1\].* rectangular"),
    "negative": (lambda d: d["probs"][0][0].__setitem__(1, [-0.5, 1.5]), r"probs\[0\]\[h=0, s=1, a=0\]"),
    "sums": (lambda d: d["probs"][1][1].__setitem__(0, [0.9, 0.9, 0.0]), r"probs\[1\]\[h=1, s=0\] must sum to 1"),
    "words": (lambda d: d["probs"][0][0][0].__setitem__(0, "half"), r"probs\[0\]"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_named(what: str, tmp_path: Path):
    policy, place, (change, told) = of_kind("product"), tmp_path / "policy.json", WRONG[what]
    policy.save(place)
    document = json.loads(place.read_text())
    change(document)
    place.write_text(json.dumps(document))
    with pytest.raises(tacit.TacitError, match=rf"policy\.json is not a Markov policy: .*{told}"):
        MarkovPolicy.load(place)


@pytest.mark.parametrize("change", [{"states": 3}, {"steps": 1}, {"actions": [3, 2]}, {"actions": [6]}])
def test_the_sizes_of_a_markov_policy_are_those_of_its_tables(change: dict[str, Any], tmp_path: Path):
    place = tmp_path / "policy.json"
    of_kind("product").save(place)
    place.write_text(json.dumps({**json.loads(place.read_text()), **change}))
    with pytest.raises(
        tacit.TacitError, match=r"policy\.json is not a Markov policy: its states, steps and actions are"
    ):
        MarkovPolicy.load(place)


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_words_that_are_not_json_are_refused_anywhere(word: str, tmp_path: Path):
    place = tmp_path / "policy.json"
    of_kind("product").save(place)
    place.write_text(place.read_text().replace("{", f'{{"note":{word},', 1))
    with pytest.raises(tacit.TacitError, match=f"{word} is not JSON"):
        MarkovPolicy.load(place)


def test_a_directory_is_no_document(tmp_path: Path):
    with pytest.raises(tacit.TacitError, match="is a directory"):
        MarkovPolicy.load((tmp_path / "folder.json").mkdir() or tmp_path / "folder.json")


def test_what_does_not_fit_into_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    of_kind("product").save(tmp_path / "policy.json")
    monkeypatch.setattr("tacit.core.memory.available", lambda: 1000)
    with pytest.raises(tacit.TacitError, match=r"policy\.json would take .* of memory"):
        MarkovPolicy.load(tmp_path / "policy.json")
