"""Several starts within one budget: who goes on, how long, and that a run resumes with the same bits."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.core import streams
from tacit.engine import Advanced, Event
from tacit.engine.checkpoint import Checkpoint
from tacit.engine.run import Candidate, Gaps, choose
from tacit.engine.starts import StartsOutput, longest, rounds
from tacit.options import Options


@pytest.mark.parametrize(("episodes", "starts"), [(10, 4), (1000, 2), (1001, 3), (20_000, 8), (3, 5)])
def test_rounds_share_the_episodes_and_leave_one_half_of_them(episodes: int, starts: int):
    found = rounds(episodes, starts)
    ends, turns = zip(*found, strict=True)
    assert ends[-1] == episodes
    assert turns[0] == starts
    assert turns[-1] == 1
    assert list(ends) == sorted(ends)
    assert all(more == -(-fewer // 2) for fewer, more in itertools.pairwise(turns))
    if episodes >= 1000:
        assert longest(episodes, starts) >= episodes / 2


def test_the_one_that_goes_on_is_a_run_of_its_own():
    """Bit for bit what a run from its seed is, which the note names; it is worth the most of all."""
    game, K = tacit.make("matrix-team"), 1600
    run = tacit.learn(game, "adaptive-v-cce", episodes=K, seed=2, starts=4)
    seeds = [2, *streams.seeds(2, streams.STARTS, range(3)).tolist()]
    kept = run.notes[-1].partition("kept start ")[2][0]
    alone = [tacit.learn(game, "adaptive-v-cce", episodes=longest(K, 4), seed=seed) for seed in seeds]
    same = alone[int(kept)]
    assert run.episodes == K
    assert [own.tobytes() for own in run.last.probs] == [own.tobytes() for own in same.last.probs]
    np.testing.assert_array_equal(run.values, same.values)
    np.testing.assert_array_equal(run.gaps.upper, same.gaps.upper)
    assert run.values.sum() >= max(one.values.sum() for one in alone) - 0.1
    assert min(one.values.sum() for one in alone) < 10  # some end in a worse equilibrium


def stopped(path: Path, at: int, **given: Any) -> tacit.Run:
    def progress(event: Event) -> None:
        if isinstance(event, Advanced) and event.done >= at:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        return tacit.learn(checkpoint=Checkpoint(path, key="a"), progress=progress, **given)


@pytest.mark.parametrize("learner", ["adaptive-v-cce", "portfolio"])
@pytest.mark.usefixtures("interpreted")
def test_a_run_with_starts_resumes_with_the_same_bits(learner: str, tmp_path: Path):
    given: dict[str, Any] = {
        "game": tacit.make("good-state", horizon=3),
        "learner": learner,
        **({"first": 25} if learner == "portfolio" else {}),
        "episodes": 400,
        "starts": 3,
        "points": 7,
        "seed": 3,
    }
    for stop in (30, 130, 300):
        stopped(tmp_path / "c.npz", stop, **given)
    last = Checkpoint(tmp_path / "c.npz", key="a")
    run, whole = tacit.learn(checkpoint=last, **given), tacit.learn(**given)
    assert last.resumed >= 300
    assert run.curve.tobytes() == whole.curve.tobytes()
    assert [own.tobytes() for own in run.last.probs] == [own.tobytes() for own in whole.last.probs]
    np.testing.assert_array_equal(run.gaps.upper, whole.gaps.upper)
    assert run.notes == whole.notes


def begin(u):
    return 0


def follow(h, s, actions, u):
    return 0


def pay(i, h, s, actions):
    return 10.0 if actions[0] == 0 and actions[1] == 0 else 2.0 if actions[0] == 2 and actions[1] == 2 else 0.0


def test_without_tables_returns_decide():
    sizes: dict[str, Any] = {"agents": 2, "actions": 3, "states": 1, "horizon": 1, "reward_range": (0, 10)}
    game = tacit.FunctionGame(begin, follow, pay, **sizes)
    run = tacit.learn(game, "adaptive-v-cce", episodes=2000, starts=4, seed=1)
    assert "by its returns" in run.notes[-1]
    assert run.reward[0] > 9


def test_a_preference_decides_among_close_candidates():
    def known(gap: float, *values: float) -> Candidate:
        return Candidate.with_gaps(Gaps("cce", np.full(2, gap), "exact"), np.array(values))

    candidates = {
        "a": known(0.0, 5.0, 5.0),
        "b": known(0.05, 9.0, 2.0),
        "c": known(0.01, 3.0, 6.5),
        "far": known(1.0, 20.0, 20.0),
        "regret": known(0.1, 5.05, 5.05),  # values less gaps are smaller
    }
    asked = (None, "welfare", "egalitarian", 0, 1)
    answers = {prefer: choose(candidates, lambda: 1.0, prefer=prefer) for prefer in asked}
    assert answers == {None: "a", "welfare": "b", "egalitarian": "a", 0: "b", 1: "c"}
    assert choose(candidates, lambda: 1.0, prefer="welfare", target=0.005) == "a"
    assert choose(candidates, lambda: 20.0, prefer="welfare") == "far"


def test_what_is_no_equilibrium_is_not_carried_through_by_its_values():
    class Known:
        notes, certifies = (), True

        def __init__(self, gap: float, value: float) -> None:
            self.row = {"gap": np.full(2, gap), "value": np.full(2, value)}

        def measure(self, *_: Any) -> dict[str, Any]:
            return self.row

    outputs: Any = [Known(0.0, 5.0), Known(9.0, 20.0), Known(0.001, 6.0), Known(0.0, 1.0)]
    engine: Any = SimpleNamespace(begun=range(4), of=lambda m: m, played=np.ones(4), game=tacit.make("chicken"))
    output = StartsOutput(engine, outputs, Options(episodes=100, prefer="welfare"))
    assert [m for m, _ in output._ranked()] == [2, 0, 3, 1]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"prefer": "wealth"}, "prefer is 'wealth'"),
        ({"prefer": 2}, "there are 2 agents"),
        ({"prefer": -1}, "prefer is -1; it must be 'welfare'"),
        ({"prefer": [1]}, "or the number of an agent, from 0"),
        ({"starts": 0}, "starts is 0"),
        ({"starts": 2, "learner": "pg-exact"}, "leave starts out"),
        ({"starts": 2, "episodes": None, "gap": 0.1}, "say how many"),
        ({"starts": 3}, "starts is 3 with 10 episodes"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], sentence: str):
    with pytest.raises(tacit.TacitError, match=sentence):
        tacit.learn(tacit.make("chicken"), **{"episodes": 10, "learner": "q-independent", **given})


def test_a_run_says_what_its_answer_is_worth_beside_the_optimum():
    dilemma = tacit.learn(tacit.make("prisoners-dilemma"), "npg", episodes=50)
    assert dilemma.of_optimum == pytest.approx(1 / 3)
    assert "worth 33.3 % of the optimum" in repr(dilemma)
    pennies = tacit.learn(tacit.make("matching-pennies"), "npg", episodes=5)  # nobody can win for all
    assert pennies.of_optimum is None
    assert "optimum" not in repr(pennies)
    rewards = np.multiply.outer([0.1, 0.2, -0.3], np.ones((1, 2, 2, 2)))  # they sum to 0 up to rounding
    alike = tacit.TabularGame(np.ones((1, 2, 2, 2, 1)), rewards, 0, horizon=1)
    assert tacit.solve(alike, "optimum").values.sum() != 0
    assert tacit.learn(alike, "npg", episodes=2).of_optimum is None


def test_starts_that_have_not_played_yet_are_not_measured(interpreted: None):
    """A row of the curve is one episode here: three of four starts, and a member of each, have none."""
    run = tacit.learn(tacit.make("chicken"), "portfolio", episodes=16, points=16, prefer="welfare", first=0)
    assert np.isfinite(run.curve["gap"]).all()
    assert len(run.candidates) == 7
    few = tacit.learn(tacit.make("chicken"), "portfolio", episodes=3, points=3, prefer="welfare")  # for one start
    assert not any("kept start" in note for note in few.notes)


def test_an_environment_says_that_a_preference_changes_nothing(interpreted: None):
    env = tacit.to_pettingzoo(tacit.make("chicken"))
    run = tacit.learn(env, "q-independent", episodes=3, prefer="welfare")
    assert any("prefer changes nothing" in note for note in run.notes)


def test_a_preference_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "stag-hunt", "q-independent", "--episodes", "80", "--prefer", "welfare", "--starts", "2"]) == 0
    assert "by welfare: kept start" in capsys.readouterr().err
