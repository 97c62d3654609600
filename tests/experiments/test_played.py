"""Which learner, in an environment: by return in fresh episodes, with a budget that is said beforehand."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

import tacit
from tacit.cli.main import main
from tacit.experiments import comparison as comparison_module


class Words:
    """Both agents see a word, and should choose what it says."""

    actions, horizon, reward_range = (2, 2), 2, (0.0, 1.0)

    def reset(self, seed: int | None = None) -> str:
        self.word = ("left", "right")[(seed or 0) % 2]
        return self.word

    def step(self, actions: list[int]) -> tuple[str, list[float], bool]:
        return self.word, [float(("left", "right")[a] == self.word) for a in actions], False


class Wrong:
    """Plays 0, whatever it sees."""

    def __init__(self, **known: Any) -> None: ...

    def act(self, h: int, s: int) -> int:
        return 0

    def learn(self, *experience: Any) -> None: ...


def test_the_better_learner_comes_first(caplog: pytest.LogCaptureFixture):
    with caplog.at_level(logging.WARNING, "tacit"):
        comparison: Any = tacit.compare(Words(), ["q-backward", Wrong, "npg"], episodes=200, seeds=2)
    assert "6 runs" in caplog.text
    assert "200 episodes a run" in caplog.text
    first, second = comparison.rows
    assert first["learner"] == "q-backward"
    assert first["return"][0] == pytest.approx(2.0, abs=0.05)
    assert first["gain"] == pytest.approx(0.0, abs=0.05)
    assert second["gain"] > 0.5  # a response that reads the word
    assert "needs the game's tables" in comparison.left_out["npg"]
    shown = repr(comparison)
    assert shown.index("q-backward") < shown.index("Wrong") < shown.index("left out: npg")
    mean, low, high = comparison.facts["random"]
    assert low < mean < high < 2.0
    assert f"random play {mean:.4g}" in shown
    with pytest.raises(tacit.TacitError, match="by episodes"):
        tacit.compare(Words(), ["q-independent"], seconds=1.0)


def test_ctrl_c_keeps_what_was_measured(monkeypatch: pytest.MonkeyPatch):
    learn, asked = comparison_module.run_learner, []

    def learn_once(*args: Any, **options: Any) -> Any:
        asked.append(args)
        if len(asked) == 1:
            return learn(*args, **options)

        def press(event: Any) -> None:
            raise KeyboardInterrupt

        return learn(*args, press, **options)

    monkeypatch.setattr(comparison_module, "run_learner", learn_once)
    comparison: Any = tacit.compare(Words(), [Wrong, "q-backward", "q-independent"], episodes=50, seeds=1)
    assert comparison.interrupted
    assert [row["learner"] for row in comparison.rows] == ["Wrong"]
    assert len(asked) == 2
    with pytest.raises(KeyboardInterrupt):  # npg does not fit, and nothing else had begun
        tacit.compare(Words(), ["npg", "q-backward"], episodes=50, seeds=1)


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
    line = ["compare", "pettingzoo:pettingzoo.classic.rps_v2", "--learners", "q-independent", "--episodes", "40"]
    assert main([*line, "--seeds", "1", "--game-set", "max_cycles=1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"][0]["learner"] == "q-independent"
    assert "40 episodes a run" in document["budget"]
