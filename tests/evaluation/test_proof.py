"""Proofs of gaps as a proof system: complete, sound, and checked the same by two checkers."""

from __future__ import annotations

import copy
import gzip
import io
import itertools
import json
import math
import random
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from proofs import NoProof, exact_gaps, second_verdict

import tacit
from tacit.evaluation import verify
from tacit.evaluation.proof import Proof

TOLERANCE = 1e-9
CHECKER = Path(verify.__file__)


def first_verdict(document: Any) -> int:
    """Return the exit code of verify.py for a document."""
    try:
        return verify.check(json.loads(json.dumps(document)))[0]
    except Exception:
        return 2


def random_game(rng: np.random.Generator, *, discounted: bool, scale: float = 1.0, horizon: int = 4) -> Any:
    """Return a game of 1 to 3 agents, and at most 3 states; its tables change with the step or not."""
    states, actions = int(rng.integers(1, 4)), [int(rng.integers(1, 4)) for _ in range(rng.integers(1, 4))]
    steps = 1 if discounted or rng.random() < 0.5 else horizon
    moves = rng.dirichlet(np.full(states, 0.5), (steps, states, *actions))
    moves = np.where(rng.random(moves.shape[:-1])[..., None] < 0.3, np.eye(states)[rng.integers(states)], moves)
    rewards = scale * rng.normal(size=(len(actions), steps, states, *actions)).round(int(rng.integers(1, 12)))
    initial = rng.dirichlet(np.ones(states))
    length: dict[str, Any] = (
        {"discount": float(rng.choice([0, 0.5, 0.9, 0.99, 0.999]))} if discounted else {"horizon": horizon}
    )
    return tacit.TabularGame(moves, rewards, initial, **length)


def random_policy(rng: np.random.Generator, game: Any, *, correlated: bool) -> Any:
    steps = 1 if game.discount is not None or rng.random() < 0.3 else game.horizon
    if correlated:
        joint = rng.dirichlet(np.full(math.prod(game.actions), 0.3), (steps, game.states))
        return tacit.MarkovPolicy(joint.reshape(steps, game.states, *game.actions))
    return tacit.MarkovPolicy([rng.dirichlet(np.full(a, 0.3), (steps, game.states)) for a in game.actions])


KINDS = [("nash", False), ("cce", False), ("ce", False), ("cce", True), ("ce", True)]


def check_tight(game: Any, proof: Proof, gaps: Any) -> None:
    """The bounds are not below the gaps, and above them by at most 1e-9 on the scale of returns."""
    scale = max(map(abs, game.reward_range)) * game.effective_horizon
    for bound, gap in zip(proof.bounds, gaps, strict=True):
        assert max(gap, 0) <= bound <= max(gap, 0) + TOLERANCE * scale


def check_random(seed: int, kind: str, *, correlated: bool, discounted: bool) -> None:
    rng = np.random.default_rng([seed, KINDS.index((kind, correlated)), discounted])
    game = random_game(rng, discounted=discounted, scale=10.0 ** rng.integers(-9, 10))
    proof = tacit.prove(game, random_policy(rng, game, correlated=correlated), gap=kind)
    assert proof.kind == kind
    assert second_verdict(json.loads(json.dumps(proof.document))) == 0
    check_tight(game, proof, exact_gaps(proof.document))


@pytest.mark.parametrize("discounted", [False, True])
@pytest.mark.parametrize(("kind", "correlated"), KINDS)
def test_random_games_are_proven_tightly(kind: str, correlated: bool, discounted: bool):
    for seed in range(4):
        check_random(seed, kind, correlated=correlated, discounted=discounted)


@pytest.mark.slow
@pytest.mark.parametrize("discounted", [False, True])
@pytest.mark.parametrize(("kind", "correlated"), KINDS)
def test_two_hundred_random_games_of_each_kind_are_proven_tightly(kind: str, correlated: bool, discounted: bool):
    for seed in range(200):
        check_random(seed, kind, correlated=correlated, discounted=discounted)


def test_long_horizons_and_sums_that_are_off_are_proven_tightly():
    rng = np.random.default_rng(0)
    game = random_game(rng, discounted=False, horizon=200)
    proof = tacit.prove(game, random_policy(rng, game, correlated=False))
    check_tight(
        game, proof, tacit.evaluate(game, tacit.MarkovPolicy([np.array(t) for t in _probs(proof)])).gaps - 1e-11
    )
    third = 0.3333333333  # three of them sum to 1 - 1e-10
    moves, rewards = np.full((3, 2, 3), third), rng.normal(size=(1, 3, 2))
    for length in ({"discount": 0.999}, {"horizon": 200}):
        game = tacit.TabularGame(moves, rewards, [third, third, third], **length)
        proof = tacit.prove(game, tacit.MarkovPolicy([np.full((1, 3, 2), 0.50000000005)]))
        check_tight(game, proof, exact_gaps(proof.document))


def _probs(proof: Proof) -> list[Any]:
    """Return the product policy of a proof as arrays."""
    rows = proof.document["policy"]
    steps = 1 + max(h or 0 for h, _, _ in rows)
    tables = [np.zeros((steps, proof.document["states"], a)) for a in proof.document["actions"]]
    for h, s, draw in rows:
        for table, probs in zip(tables, draw, strict=True):
            table[h or 0, s] = probs
    return tables


LEARNERS = [
    "adaptive-v-cce",
    "adaptive-v-ce",
    "model-independent",
    "portfolio",
    "npg",
    "q-independent",
    "model-central",
]
GAMES = [
    ("chicken", {}),
    ("good-state", {"horizon": 4}),
    ("random-general-sum", {"horizon": 3}),
    ("chicken", {"discount": 0.9}),
]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(("name", "params"), [GAMES[0], pytest.param(*GAMES[1], marks=pytest.mark.slow)])
def test_every_markov_candidate_is_proven(learner: str, name: str, params: dict[str, Any]):
    check_candidates(learner, name, params)


@pytest.mark.slow
@pytest.mark.parametrize("learner", list(tacit.learners.REGISTRY))
@pytest.mark.parametrize(("name", "params"), GAMES)
def test_every_markov_candidate_of_every_learner_is_proven(learner: str, name: str, params: dict[str, Any]):
    try:
        check_candidates(learner, name, params)
    except tacit.TacitError as error:
        pytest.skip(str(error))  # a learner for other games


def check_candidates(learner: str, name: str, params: dict[str, Any]) -> None:
    game = tacit.make(name, **params)
    run = tacit.learn(game, learner, episodes=300, certify=True if learner != "q-independent" else None)
    policies = [(one.policy, one.gaps.kind) for one in run.candidates.values() if one.table]
    for policy, kind in [*policies, (run.last, "nash")]:
        proof = tacit.prove(run.game, policy, gap=kind)
        check_tight(run.game, proof, exact_gaps(proof.document))


# soundness ------------------------------------------------------------------------------------------------------------


def numbers_in(document: Any) -> list[tuple[Any, Any]]:
    """Return the place of every number in a document."""
    places, todo = [], [document]
    while todo:
        part = todo.pop()
        pairs = part.items() if isinstance(part, dict) else enumerate(part)
        for key, value in list(pairs):
            if isinstance(value, dict | list):
                todo.append(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                places.append((part, key))
    return places


def alter(rng: random.Random, x: float) -> Any:
    """Return another number: near, far, of another kind, or none at all."""
    near = [math.nextafter(x, math.inf), math.nextafter(x, -math.inf), x * (1 + 1e-12), x * (1 - 1e-12), x + 1e-10]
    far = [-x, 0, 1, -1, 2, 0.5, x + 1, x - 1, 2 * x, x / 2, 1e300, -1e300, 5e-324, 10**9, round(x, 3), int(x)]
    return (
        rng.choice(near if rng.random() < 0.5 else far)
        if rng.random() < 0.97
        else rng.choice([True, None, "1", [], math.inf, math.nan])
    )


def check_altered(seeds: range) -> dict[int, int]:
    """Alter one number in each of many proofs: what still is proven must be true; both checkers agree."""
    verdicts = {0: 0, 1: 0, 2: 0}
    proof: Any = None
    for seed in seeds:
        if seed % 20 == 0:
            rng = np.random.default_rng(seed)
            (kind, correlated), discounted = KINDS[seed // 20 % 5], seed // 100 % 2 == 1
            game = random_game(rng, discounted=discounted, horizon=2)
            proof = tacit.prove(game, random_policy(rng, game, correlated=correlated), gap=kind)
        document, choose = copy.deepcopy(proof.document), random.Random(seed)
        part, key = choose.choice(numbers_in(document))
        part[key] = alter(choose, part[key])
        verdict = first_verdict(document)
        verdicts[verdict] += 1
        assert verdict == second_verdict(document)
        if verdict == 0:
            for agent, gap in zip(document["agents"], exact_gaps(document), strict=True):
                assert gap <= agent["bound"]
    return verdicts


def test_an_altered_proof_is_refused_or_still_true():
    verdicts = check_altered(range(300))
    assert min(verdicts.values()) > 10


@pytest.mark.slow
def test_ten_thousand_altered_proofs_are_refused_or_still_true():
    assert min(check_altered(range(10_000)).values()) > 500


# single cases ---------------------------------------------------------------------------------------------------------


def small(**changes: Any) -> dict[str, Any]:
    """Return matching pennies of one step with uniform play, whose tables hold with equality."""
    game = [[None, 0, [a, b], [1.0, -1.0] if a == b else [-1.0, 1.0], []] for a in (0, 1) for b in (0, 1)]
    agent = {"low": [[0.0]], "high": [[0.0]], "bound": 0.0}
    document = {
        "format": "tacit-proof-1",
        "kind": "nash",
        "horizon": 1,
        "discount": None,
        "states": 1,
        "actions": [2, 2],
        "initial": [[0, 1.0]],
        "game": game,
        "product": True,
        "policy": [[None, 0, [[0.5, 0.5], [0.5, 0.5]]]],
        "agents": [agent, copy.deepcopy(agent)],
    }
    return copy.deepcopy(document | changes)


def discounted(**changes: Any) -> dict[str, Any]:
    """Return the same game for ever, discounted by a half."""
    document = small(horizon=None, discount=0.5)
    for row in document["game"]:
        row[4] = [[0, 1.0]]
    return document | changes


def at(document: Any, *path: Any, value: Any) -> Any:
    """Return a document with one place changed."""
    document = copy.deepcopy(document)
    part = document
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return document


TRUE = {
    "equalities": small(),
    "for ever": discounted(),
    "discount 0": discounted(discount=0),
    "minus zero": at(small(), "agents", 0, "low", value=[[-0.0]]),
    "a product with minus zero": small(
        policy=[[0, 0, [[-0.0, 1.0], [0.5, 0.5]]]],
        agents=[{"low": [[0]], "high": [[0]], "bound": 0}, {"low": [[0]], "high": [[1]], "bound": 1}],
    ),
    "integers": at(small(), "agents", 0, "bound", value=0),
    "h instead of null": small(policy=[[0, 0, [[0.5, 0.5], [0.5, 0.5]]]]),
    "successors at the last step": at(small(), "game", 0, 4, value=[[0, 1]]),
    "sum within 1e-9": small(initial=[[0, 1.0000000005]]),
    "further keys": small(name="pennies") | {"agents": [{**agent, "of": "ours"} for agent in small()["agents"]]},
    "slack": at(small(), "agents", 1, "bound", value=7.5),
    "ce of a product policy": small(kind="ce"),
    "correlated": small(
        kind="cce", product=False, policy=[[None, 0, [[list(a), 0.25] for a in itertools.product((0, 1), (0, 1))]]]
    ),
}
FALSE = {
    "low too high by one ulp": at(small(), "agents", 0, "low", value=[[5e-324]]),
    "high too low by one ulp": at(small(), "agents", 0, "high", value=[[-5e-324]]),
    "bound below the sum by one ulp": at(
        at(small(), "agents", 0, "high", value=[[1.0]]), "agents", 0, "bound", value=math.nextafter(1, 0)
    ),
    "low and high swapped": at(small(), "agents", 1, value={"low": [[1.0]], "high": [[-1.0]], "bound": 0.0}),
    "another policy": small(policy=[[None, 0, [[0.6, 0.4], [0.5, 0.5]]]]),
    "for ever, low too high": at(discounted(), "agents", 0, "low", value=[[1e-300]]),
    "negative bound": at(small(), "agents", 0, "bound", value=-1e-300),
}
NONE = {
    "no object": [],
    "policy row missing": small(policy=[]),
    "game row missing": small(game=small()["game"][1:]),
    "game row twice": small(game=small()["game"] + small()["game"][:1]),
    "policy row twice": small(policy=small()["policy"] * 2),
    "h null beside h": small(game=[*small()["game"], [0, 0, [0, 0], [1.0, -1.0], []]]),
    "h beside h null": small(game=[[0, 0, [0, 0], [1.0, -1.0], []], *small()["game"]]),
    "h beyond the horizon": at(small(), "policy", 0, 0, value=1),
    "h true": at(small(horizon=2), "policy", 0, 0, value=True),
    "h negative": at(small(), "policy", 0, 0, value=-1),
    "h in a discounted game": at(discounted(), "policy", 0, 0, value=0),
    "nothing follows": at(small(horizon=2), "game", 0, 4, value=[]),
    "nothing follows for ever": at(discounted(), "game", 0, 4, value=[]),
    "successors are an object": at(small(), "game", 0, 4, value={}),
    "initial does not sum to 1": small(initial=[[0, 0.999999]]),
    "initial is empty": small(initial=[]),
    "a state twice": at(discounted(), "game", 0, 4, value=[[0, 0.5], [0, 0.5]]),
    "a state too large": small(initial=[[1, 1.0]]),
    "a state below 0": small(initial=[[-1, 1.0]]),
    "a negative probability": small(policy=[[None, 0, [[1.5, -0.5], [0.5, 0.5]]]]),
    "a probability as text": small(policy=[[None, 0, [["0.5", 0.5], [0.5, 0.5]]]]),
    "a joint action twice": small(kind="cce", product=False, policy=[[None, 0, [[[0, 0], 0.5], [[0, 0], 0.5]]]]),
    "nash of a joint draw": small(product=False, policy=[[None, 0, [[[0, 0], 1.0]]]]),
    "product as a number": small(product=1),
    "too few rows of low": at(small(), "agents", 0, "low", value=[]),
    "too many rows of low": at(small(), "agents", 0, "low", value=[[0.0], [0.0]]),
    "too few numbers of low": at(small(), "agents", 0, "low", value=[[]]),
    "bounds missing": small(agents=small()["agents"][:1]),
    "one agent too many": small(agents=small()["agents"] * 2),
    "no bound": at(small(), "agents", 0, value={"low": [[0.0]], "high": [[0.0]]}),
    "bound null": at(small(), "agents", 0, "bound", value=None),
    "bound true": at(small(), "agents", 0, "bound", value=True),
    "discount as text": discounted(discount="0.5"),
    "discount 1": discounted(discount=1),
    "discount below 0": discounted(discount=-0.1),
    "horizon true": small(horizon=True),
    "horizon 0": small(horizon=0),
    "horizon 1.0": small(horizon=1.0),
    "both null": small(horizon=None),
    "neither null": small(discount=0.5),
    "10⁹ states": small(states=10**9),
    "10⁹ actions": small(actions=[10**9, 10**9]),
    "10⁹ steps": small(horizon=10**9),
    "states as text": small(states="1"),
    "no agents": small(actions=[], agents=[]),
    "another kind": small(kind="NASH"),
    "another format": small(format="tacit-proof-2"),
    "too few rewards": at(small(), "game", 0, 3, value=[1.0]),
    "too many actions": at(small(), "game", 0, 2, value=[0, 0, 0]),
    "rows are text": small(game="0123"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("document", "code"),
    [pytest.param(one, code, id=name) for code, every in enumerate((TRUE, FALSE, NONE)) for name, one in every.items()],
)
def test_both_checkers_judge_a_case_alike(document: Any, code: int):
    assert (first_verdict(document), second_verdict(document)) == (code, code)
    if code == 0:
        assert all(gap <= agent["bound"] for agent, gap in zip(document["agents"], exact_gaps(document), strict=True))


@pytest.mark.parametrize("key", list(small()))
def test_a_missing_key_is_no_proof(key: str):
    document = small()
    del document[key]
    assert (first_verdict(document), second_verdict(document)) == (2, 2)


#: What a file may have in the tests of hostile files.
SMALL_BYTES, SMALL_LISTS = 300_000, 60_000

TEXTS = {
    "nothing": b"",
    "no JSON": b"{",
    "no text": b"\xff\xfe",
    "NaN": json.dumps(small()).replace('"bound": 0.0', '"bound": NaN').encode(),
    "infinity": json.dumps(small()).replace('"bound": 0.0', '"bound": Infinity').encode(),
    "1e400": json.dumps(small()).replace('"bound": 0.0', '"bound": 1e400').encode(),
    "10⁵ digits": json.dumps(small()).replace('"bound": 0.0', '"bound": ' + "9" * 100_000).encode(),
    "10⁵ digits of states": json.dumps(small()).replace('"states": 1', '"states": ' + "1" * 100_000).encode(),
    "deep": b"[" * 50_000,
    "deep, in a key that is ignored": json.dumps(small(more=0))
    .replace('"more": 0', '"more": ' + "[" * 100_000)
    .encode(),
    "a key twice": json.dumps(small()).replace('"states": 1', '"states": 2, "states": 1').encode(),
    "a gzip cut short": gzip.compress(json.dumps(small()).encode())[:-9],
    "too long": b" " * (SMALL_BYTES + 1),
    "a gzip that unpacks to too much": gzip.compress(b" " * 100 * SMALL_BYTES),
    "too many lists": b"[" + b"[]," * SMALL_LISTS,
}


def run_main(path: Path) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = verify.main(str(path))
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_file_gets_one_sentence(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(verify, "MOST_BYTES", SMALL_BYTES)
    monkeypatch.setattr(verify, "MOST_LISTS", SMALL_LISTS)
    (tmp_path / "proof.json").write_bytes(TEXTS[name])
    code, out, err = run_main(tmp_path / "proof.json")
    assert (code, out, err.count("\n"), err.isascii()) == (2, "", 1, True)


def test_long_integers_are_the_nearest_doubles(tmp_path: Path):
    """2⁵³ + 1 is no double: read as an integer, it would be above the double that it stands for."""
    text = json.dumps(at(small(), "agents", 0, "high", value=[[2.0**53]])).replace(
        '"bound": 0.0', '"bound": 9007199254740991'
    )
    for high, code in (("9007199254740991", 0), ("9007199254740993", 1), ("9999999999999999", 1)):
        (tmp_path / "proof.json").write_text(text.replace("9007199254740992.0", high))
        assert run_main(tmp_path / "proof.json")[0] == code
    (tmp_path / "proof.json").write_text(text.replace("9007199254740992.0", "9007199254740993").replace("0991", "0992"))
    assert run_main(tmp_path / "proof.json")[0] == 0


def test_a_file_that_is_not_there_gets_one_sentence(tmp_path: Path):
    assert run_main(tmp_path / "none.json")[0] == run_main(tmp_path)[0] == 2


def test_the_checker_runs_alone_and_names_what_fails(tmp_path: Path):
    """A copy elsewhere, in Python's isolated mode without site packages: no tacit, no NumPy."""
    (tmp_path / "verify.py").write_bytes(CHECKER.read_bytes())
    game = tacit.make("good-state", horizon=3)
    proof = tacit.prove(game, tacit.MarkovPolicy.uniform(game))
    proof.save(tmp_path / "proof.json.gz")
    document = json.loads(gzip.decompress((tmp_path / "proof.json.gz").read_bytes()))
    assert document == proof.document
    for agent in document["agents"]:
        agent["high"][2][1] -= 1
        agent["low"][1][1] += 100
    (tmp_path / "false.json").write_text(json.dumps(document))
    codes, lines = [], []
    for name in ("proof.json.gz", "false.json", "none.json"):
        done = subprocess.run(
            [sys.executable, "-I", "-S", tmp_path / "verify.py", tmp_path / name], capture_output=True, text=True
        )
        codes.append(done.returncode)
        lines.append(done.stdout)
    assert codes == [0, 1, 2]
    assert lines[0].startswith(f"proven: nash gap at most {proof.bound}")
    assert lines[1] == "not proven: at step 1, state 1, low of agent 0 fails its inequality\n"
    done = subprocess.run([sys.executable, tmp_path / "verify.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert len(CHECKER.read_text(encoding="utf-8").splitlines()) <= 150


def test_a_run_says_what_was_proven_only_afterwards():
    run = tacit.learn(tacit.make("chicken"), "adaptive-v-cce", episodes=300)
    assert "proven" not in str(run)
    proof = run.prove()
    assert f"proven     gap ≤ {proof.size} (run.prove())" in str(run)
    assert float(proof.size) >= proof.bound >= run.gap - 1e-12
    assert run.prove() is proof


def test_what_cannot_be_proven_is_told(monkeypatch: pytest.MonkeyPatch):
    game = tacit.make("good-state", horizon=2)
    run = tacit.learn(game, "adaptive-v-cce", episodes=50)
    with pytest.raises(tacit.TacitError, match="must be a Markov policy"):
        tacit.prove(game, run.candidates["average"].policy)
    with pytest.raises(tacit.TacitError, match="needs a product policy"):
        tacit.prove(game, run.candidates["markov"].policy, gap="nash")
    monkeypatch.setattr(verify, "MOST_LISTS", 50)
    with pytest.raises(tacit.TacitError, match="at most 50 lists"):
        tacit.prove(game, run.last)


def test_the_second_checker_refuses_what_is_no_proof():
    with pytest.raises(NoProof):
        exact_gaps([])


def test_a_run_is_proven_by_its_policy():
    game = tacit.make("prisoners-dilemma")
    run = tacit.learn(game, "npg", episodes=20)
    assert tacit.prove(game, run).document == tacit.prove(game, run.policy).document
