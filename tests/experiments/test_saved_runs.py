"""`run.save` and `tacit.Run.load`: the files of an experiment's run, from which nothing is executed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tacit


class Words:
    """Both agents see a word, and should choose what it says."""

    actions, horizon, reward_range = (2, 2), 2, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> str:
        self.word = ("left", "right")[(seed or 0) % 2]
        return self.word

    def step(self, actions: list[int]) -> tuple[str, list[float], bool]:
        return self.word, [float(("left", "right")[a] == self.word) for a in actions], False


@pytest.mark.parametrize("learner", ["npg", "adaptive-v-cce", None])
def test_a_run_comes_back(learner: str | None, tmp_path: Path):
    run = tacit.learn("good-state", learner, episodes=60, points=4)
    run.save(tmp_path / "run")
    back = tacit.Run.load(tmp_path / "run")
    assert repr(back) == repr(run)
    assert str(back) == str(run)
    assert str(back.curve.tolist()) == str(run.curve.tolist())  # with what was not measured, nan
    np.testing.assert_array_equal(back.reward, run.reward)
    np.testing.assert_array_equal(back.last.probs[0], run.last.probs[0])
    assert back.game.digest == run.game.digest  # type: ignore[attr-defined]
    assert sorted(back.candidates) == sorted(run.candidates)
    played = [tacit.evaluate(one.game, one.policy, episodes=20).returns for one in (back, run)]
    np.testing.assert_array_equal(*played)
    with pytest.raises(tacit.TacitError, match="new or empty directory"):
        run.save(tmp_path / "run")


def test_a_run_in_an_environment_comes_back(tmp_path: Path):
    run = tacit.learn(Words(), "adaptive-v-cce", episodes=40)
    run.save(tmp_path / "run")
    back = tacit.Run.load(tmp_path / "run")
    assert (back.game.name, back.game.actions, back.chosen) == ("Words", (2, 2), run.chosen)
    assert back.game.state("right") == run.game.state("right")  # type: ignore[attr-defined]
    assert back.returns == run.returns is not None
    assert (str(back), back.advice) == (str(run), run.advice)
    played = [tacit.evaluate(Words(), one, episodes=20).returns for one in (back, run)]
    np.testing.assert_array_equal(*played)
    with pytest.raises(tacit.TacitError, match="give the environment itself"):
        back.exploit(episodes=10)
    again = tacit.Run.load(tmp_path / "run", game=Words())
    assert (str(again), again.exploit(episodes=10).plays) == (str(run), 5)


def test_runs_of_experiments_are_read_and_altered_ones_refused(tmp_path: Path):
    tacit.Experiment("small", 20, ("chicken",), ("npg",)).run(out=tmp_path)
    [place] = [part for part in tmp_path.iterdir() if part.is_dir()]
    run = tacit.Run.load(place)
    assert (run.learner, run.episodes, run.game.name) == ("npg", 20, "chicken")
    (place / "policy.npz").write_bytes(b"0")
    with pytest.raises(tacit.TacitError, match="altered"):
        tacit.Run.load(place)


def test_what_names_code_is_not_made(tmp_path: Path):
    tacit.learn("chicken", "npg", episodes=20).save(tmp_path / "run")
    spec = tmp_path / "run" / "spec.toml"
    spec.write_text(spec.read_text().replace('"chicken"', '"pettingzoo:evil"'))
    with pytest.raises(tacit.TacitError, match="altered"):
        tacit.Run.load(tmp_path / "run")
