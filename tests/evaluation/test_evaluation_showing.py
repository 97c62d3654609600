"""Policies, runs and solutions in tables, in text and in notebooks; text of users is shown as it is."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from rich.console import Console

import tacit
from tacit.cli.main import main
from tacit.core.display import Document, Table

HOSTILE = "<b>\x1b[31m[bold]"


def test_hostile_names_are_shown_as_they_are():
    game = tacit.matrix_game(np.eye(2)[None].repeat(2, 0), name=HOSTILE, action_names=[[HOSTILE, "b"], ["c", "d"]])
    shown = game.show()
    assert "\x1b" not in str(shown)
    assert "<b>" in str(shown)
    console = Console(record=True, width=200, file=io.StringIO())
    console.print(shown)
    drawn = console.export_text()
    assert "[bold]" in drawn
    assert "\x1b" not in drawn


def test_policies_know_their_names_but_do_not_carry_their_game():
    import pickle

    game = tacit.make("chicken")
    policy = tacit.solve(game, "cce").policy
    assert "dare" in str(policy.show())
    again = pickle.loads(pickle.dumps(policy))
    assert again.game is None
    assert "policy.show(game)" in str(again.show())
    assert "dare" in str(again.show(game))


def test_only_what_is_reached_unless_asked():
    game = tacit.make("good-state", horizon=3)
    policy = tacit.solve(game).policy
    places = policy.show().data["places"]
    assert {(place["step"], place["state"]) for place in places} == {
        (0, "s0"), (1, "s0"), (1, "s1"), (2, "s0"), (2, "s1")
    }  # fmt: skip
    assert len(policy.show(everything=True).data["places"]) == 6
    assert "1 pair of step and state is never reached" in str(policy.show())


def test_a_run_shows_its_policy_and_its_deviations():
    run = tacit.learn(tacit.make("prisoners-dilemma"), "stage-v-cce", episodes=200, seed=0)
    text = str(run.show())
    assert "defect" in text
    assert "who gains by deviating" in text


def test_many_agents_that_play_the_same_are_one_table():
    game = tacit.make("congestion", agents=50)
    text = str(tacit.MarkovPolicy.uniform(game).show(game))
    assert "agents 0 to 49" in text
    assert len(text.splitlines()) < 20


def test_plain_text_is_aligned():
    table = Table("t", ["name", "number"], [["a", 1.5], ["bb", 10]])
    assert str(table) == "t\nname  number\na        1.5\nbb        10"
    assert str(Document("d", ["one", table])) == f"d\none\n\n{table}"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (["show", "chicken"], "yield  6, 6   2, 7"),
        (["show", "congestion", "--state", "damage 1"], "reward in damage 1"),
        (["solve", "chicken", "ce"], "yield    yield            0.5"),
        (["solve", "prisoners-dilemma"], "cooperate   defect"),
    ],
)
def test_show_and_evaluate_print_tables(line: list[str], told: str, capsys: pytest.CaptureFixture[str]):
    assert main(line) == 0
    assert told in capsys.readouterr().out
    assert main([*line, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["game"] == line[1]


def test_a_solution_and_a_comparison_are_tables():
    shown = str(tacit.solve(tacit.make("chicken"), "ce").show())
    assert "0.25" in shown
    assert "agent 0 5.25" in shown or "agent 0 21/4" in shown
    compared = repr(tacit.compare(tacit.make("stag-hunt"), ["npg", "pg-exact"], episodes=5, seeds=1))
    assert "gap of the uniform policy 0.5" in compared


def test_parts_say_what_they_are():
    policy = tacit.MarkovPolicy.uniform(tacit.make("good-state", horizon=3))
    assert repr(policy.part(1)) == "MarkovPart(agent 1, 2 actions, the same at every step)"
    assert policy.part(1).actions == 2


def test_everything_is_true_or_false():
    with pytest.raises(tacit.TacitError, match="everything"):
        tacit.MarkovPolicy.uniform(tacit.make("chicken")).show(everything=np.ones(2))  # type: ignore[arg-type]
