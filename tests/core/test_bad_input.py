"""Every public entry point tells a wrong input in one sentence; nothing else escapes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tacit

GAME = tacit.make("random-general-sum", agents=2, actions=(2, 3), states=2, horizon=2)
POLICY = tacit.MarkovPolicy.uniform(GAME)
STEPS = tacit.MarkovPolicy.random(GAME)
OTHER = tacit.MarkovPolicy.uniform(tacit.make("chicken"))
JUNK = [None, "junk", 3, -1, 2.5, float("nan"), [], {}, object(), np.zeros((2, 2)), b"x", [None], [[1], [2, 3]]]


def label(value: object) -> str:
    return type(value).__name__ if isinstance(value, np.ndarray) or type(value) is object else repr(value)


def complaint(call: Callable[[], object]) -> str | None:
    """Return what is wrong with how a call is refused, or None if it is refused in one sentence."""
    try:
        call()
    except tacit.TacitError as error:
        message = str(error)
        return None if message and "\n" not in message and len(message) < 600 else f"no sentence: {message!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "is accepted"


def assert_all_refused(entry: str, call: Callable[[object], object], junk: list[object]) -> None:
    found = {label(value): complaint(lambda v=value: call(v)) for value in junk}
    wrong = [f"{entry}({shown}): {said}" for shown, said in found.items() if said]
    assert not wrong, "\n".join(wrong)


NOT_A_GAME = {
    "evaluate": lambda x: tacit.evaluate(x, POLICY),
    "solve": lambda x: tacit.solve(x),
    "best_response": lambda x: tacit.evaluation.best_response(x, POLICY, 0),
    "l2_gap": lambda x: tacit.evaluation.l2_gap(x, POLICY),
    "deviations": lambda x: tacit.evaluation.deviations(x, POLICY, "nash"),
    "occupancy": lambda x: tacit.evaluation.occupancy(x, POLICY),
    "policy_values": lambda x: tacit.evaluation.policy_values(x, POLICY),
    "MarkovPolicy.uniform": tacit.MarkovPolicy.uniform,
    "MarkovPolicy.random": tacit.MarkovPolicy.random,
    "MarkovPolicy.check_fits": POLICY.check_fits,
}


@pytest.mark.parametrize("entry", NOT_A_GAME)
def test_what_is_no_game(entry: str):
    assert_all_refused(entry, NOT_A_GAME[entry], [*JUNK, POLICY])


NOT_A_POLICY = {
    "evaluate": lambda x: tacit.evaluate(GAME, x),
    "best_response": lambda x: tacit.evaluation.best_response(GAME, x, 0),
    "l2_gap": lambda x: tacit.evaluation.l2_gap(GAME, x),
    "deviations": lambda x: tacit.evaluation.deviations(GAME, x, "nash"),
    "occupancy": lambda x: tacit.evaluation.occupancy(GAME, x),
    "policy_values": lambda x: tacit.evaluation.policy_values(GAME, x),
}


@pytest.mark.parametrize("entry", NOT_A_POLICY)
def test_what_is_no_policy_of_this_game(entry: str):
    assert_all_refused(entry, NOT_A_POLICY[entry], [*JUNK, GAME, OTHER])


WORDS = {
    "make": tacit.make,
    "load": tacit.load,
    "evaluate gap": lambda x: tacit.evaluate(GAME, POLICY, gap=x),
    "solve concept": lambda x: tacit.solve(GAME, x),
    "deviations kind": lambda x: tacit.evaluation.deviations(GAME, POLICY, x),
    "from_name_or_file": tacit.games.from_name_or_file,
    "MarkovPolicy.load": tacit.MarkovPolicy.load,
    "save game": GAME.save,
    "save policy": POLICY.save,
    "MarkovPolicy": tacit.MarkovPolicy,
    "matrix_game": tacit.games.matrix_game,
    "solve weights": lambda x: tacit.solve(GAME, weights=x),
    "l2_gap tie": lambda x: tacit.evaluation.l2_gap(GAME, POLICY, tie=x),
    "name": lambda x: tacit.TabularGame(np.ones((1, 1, 1, 1)), [[[[0]]]], [1], 1, name=x),
    "agent": lambda x: tacit.evaluation.best_response(GAME, POLICY, x),
    "marginal": POLICY.marginal,
    "at": STEPS.at,
    "joint": STEPS.joint,
    "Q agent": lambda x: tacit.evaluation.policy_values(GAME, POLICY).Q(x, 0),
    "Q h": lambda x: tacit.evaluation.policy_values(GAME, POLICY).Q(0, x),
    "choices": lambda x: tacit.MarkovPolicy.deterministic(x, [2]),
    "actions of choices": lambda x: tacit.MarkovPolicy.deterministic([[[0]]], x),
    "seed": lambda x: tacit.MarkovPolicy.random(GAME, seed=x),
    "correlated": lambda x: tacit.MarkovPolicy.random(GAME, correlated=x),
}
#: What is right for an entry although it is junk elsewhere.
RIGHT = {
    ("evaluate gap", "None"),
    ("solve weights", "None"),
    ("name", "None"),
    ("name", "'junk'"),
    ("seed", "3"),
    ("l2_gap tie", "3"),
    ("l2_gap tie", "2.5"),
}


@pytest.mark.parametrize("entry", WORDS)
def test_a_wrong_argument(entry: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    assert_all_refused(entry, WORDS[entry], [value for value in JUNK if (entry, label(value)) not in RIGHT])
    for value in JUNK:
        if (entry, label(value)) in RIGHT:
            WORDS[entry](value)


def is_right(name: str, parameter: str, value: object) -> bool:
    if parameter == "successors":
        return value is None
    if parameter == "weights":
        return isinstance(value, bytes)  # a sequence of whole numbers
    if parameter in ("damage", "mu"):
        return label(value) in ("3", "2.5")
    if parameter in ("costs", "qualities", "outside"):
        return label(value) in ("3", "-1", "2.5")
    if name == "pricing" and parameter in ("limits", "start", "discount"):
        return value is None
    if parameter in ("horizon", "agents", "states", "actions", "seed", "links", "channels", "firms", "prices"):
        return label(value) == "3"
    return parameter == "penalty" and label(value) in ({"-1"} if name == "penalty" else {"3", "-1", "2.5"})


@pytest.mark.parametrize("name", list(tacit.games.REGISTRY))
def test_a_wrong_value_of_every_parameter_of_every_game(name: str):
    for parameter in tacit.games.REGISTRY.parameters(name):
        wrong = [value for value in JUNK if not is_right(name, parameter, value)]
        assert_all_refused(f"{name} {parameter}", lambda value, p=parameter: tacit.make(name, **{p: value}), wrong)


@pytest.mark.parametrize("key", ["nonsense", "name", "Horizon", "path", "self", "kind", "horizon "])
@pytest.mark.parametrize("name", ["good-state", "chicken"])
def test_an_unknown_parameter_is_named(name: str, key: str):
    with pytest.raises(tacit.TacitError, match=f"no parameter '{key}'"):
        tacit.make(name, **{key: 1})


def test_a_name_of_thousands_of_characters_is_cut():
    long, words = "x" * 3000, "x y " * 1000
    for name in (long, words):
        for call in (
            partial(tacit.make, "chicken", **{name: 1}),
            partial(tacit.learn, tacit.make("chicken"), "v-learning", episodes=1, **{name: 1}),
            partial(tacit.load, f"{name}.npz"),
        ):
            with pytest.raises(tacit.TacitError) as found:
                call()
            assert len(str(found.value)) <= 2000
            assert long[:301] not in str(found.value)


def test_a_misspelt_name_is_corrected():
    with pytest.raises(tacit.TacitError, match="did you mean 'good-state'"):
        tacit.make("goodstate")
    with pytest.raises(tacit.TacitError, match="did you mean 'horizon'"):
        tacit.make("good-state", horizn=3)
    with pytest.raises(tacit.TacitError, match="did you mean 'nash'"):
        tacit.evaluate(GAME, POLICY, gap="nahs")


POLICIES = {
    "row sums to 0.9": ([[[[0.5, 0.4]]]], "probs[0][h=0, s=0] must sum to 1"),
    "negative": ([[[[1.5, -0.5]]]], "probs[0][h=0, s=0, a=1] must be"),
    "nan": ([[[[np.nan, 1.0]]]], "probs[0][h=0, s=0, a=0] must be"),
    "too few axes": ([[[0.5, 0.5]]], "probs[0] must be [H, S, A_i]"),
    "states differ": ([[[[1.0]]], [[[1.0], [1.0]]]], "(1, 1, 1) and (1, 2, 1)"),
    "steps differ": ([[[[1.0]]], [[[1.0]], [[1.0]]]], "(1, 1, 1) and (2, 1, 1)"),
    "empty": (np.zeros((1, 1, 0)), "got shape (1, 1, 0)"),
    "joint sums to 2": (np.full((1, 1, 2, 2), 0.5), "probs[h=0, s=0] must sum to 1"),
    "joint negative": (np.array([[[[1.5, -0.5]]]]), "probs[h=0, s=0, joint=(0, 1)] must be"),
}


@pytest.mark.parametrize("which", POLICIES)
def test_a_wrong_policy_is_named(which: str):
    probs, said = POLICIES[which]
    with pytest.raises(tacit.TacitError) as caught:
        tacit.MarkovPolicy(probs)
    assert said in str(caught.value)


def test_every_public_name_exists_and_is_described():
    for name in tacit.__all__:
        assert hasattr(tacit, name)
        assert name == "__version__" or getattr(tacit, name).__doc__


CHICKEN = tacit.make("chicken")
LARGE = np.broadcast_to(np.float64(0.5), (10**6, 10**6, 2))
WRONG_KINDS = {
    "count_vectors": lambda: tacit.games.count_vectors("x", 2),  # type: ignore[arg-type]
    "count_vectors of too many": lambda: tacit.games.count_vectors(10**5, 10**5),
    "compare": lambda: tacit.compare(CHICKEN, ["npg"], episodes=5, progress="x"),
    "learn progress": lambda: tacit.learn(CHICKEN, "npg", episodes=5, progress="x"),
    "solve objective of nash": lambda: tacit.solve(CHICKEN, "nash", objective=np.ones(2)),
    "solve progress": lambda: tacit.solve(CHICKEN, "nash", progress=3),
    "Experiment": lambda: tacit.Experiment("x", 5, ("chicken",), ("npg",), scripts=3),
    "TabularGame": lambda: tacit.TabularGame(np.ones((1, 1, 2, 1)), [[[[1, 0]]]], 0, 1, action_names=range(3)),
    "a broadcast policy": lambda: tacit.MarkovPolicy(LARGE),
    "broadcast payoffs": lambda: tacit.matrix_game(LARGE.T),
    "deterministic choices": lambda: tacit.MarkovPolicy.deterministic(np.array(1.0), [2, 2]),
    "deterministic actions": lambda: tacit.MarkovPolicy.deterministic([[[0]]], np.array(1.0)),
    "check_game": lambda: tacit.testing.check_game(CHICKEN, seed="x"),
    "check_bandit": lambda: tacit.testing.check_bandit(tacit.bandits.TsallisINF(), seed="x"),
    "check_policy": lambda: tacit.testing.check_policy(POLICY, seed="x"),
    "check_learner": lambda: tacit.testing.check_learner("npg", episodes="x"),
    "uniform_gap": lambda: tacit.evaluation.uniform_gap(np.ones(2)),  # type: ignore[arg-type]
    "evaluate_iterates": lambda: tacit.evaluation.evaluate_iterates("x", "x"),  # type: ignore[arg-type]
    "a table of iterates": lambda: tacit.evaluation.evaluate_iterates(CHICKEN, np.ones(2)),
    "respond": lambda: tacit.evaluation.respond("x", "x", 0, "x"),
    "gains of respond": lambda: tacit.evaluation.respond(CHICKEN, POLICY, 0, "x"),
    "Mixed members": lambda: tacit.learners.Mixed("x", ("y",)),
    "Mixed names": lambda: tacit.learners.Mixed((tacit.learners.StageV(),), "xy"),
    "potential": lambda: tacit.potential(CHICKEN, trials=10**9),
    "jitable": lambda: tacit.kernels.jitable(np.zeros(2)),
    "theory epsilon": lambda: tacit.theory(CHICKEN, epsilon=1e-200),
    "theory large epsilon": lambda: tacit.theory(CHICKEN, epsilon=1e308),
}


@pytest.mark.parametrize("entry", WRONG_KINDS)
def test_arguments_of_the_wrong_kind(entry: str):
    assert complaint(WRONG_KINDS[entry]) is None


def test_arguments_of_a_run():
    run = tacit.learn(CHICKEN, "npg", episodes=5)
    assert complaint(lambda: run.plot(columns=3)) is None
    assert complaint(lambda: run.plot(agents=1.5)) is None
    assert complaint(lambda: run.exploit(candidate={})) is None


def test_theory_of_a_state_that_is_hardly_reached():
    moves = np.zeros((1, 2, 2, 2))
    moves[0, :] = 0.5
    moves[0, 0, 0] = 1 - 1e-150, 1e-150
    game = tacit.TabularGame(moves, np.arange(4.0).reshape(1, 1, 2, 2), 0, 3)
    assert tacit.theory(game).storm["iterations"] == np.inf
