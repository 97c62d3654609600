"""Games in tables and words."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tacit


def test_every_registered_game_is_shown():
    for name in tacit.games.REGISTRY:
        game = tacit.make(name)
        shown = game.show()
        assert str(shown).startswith(f"{game.name}: ")
        assert len(str(shown).splitlines()) < 150
        json.dumps(shown.data)


@pytest.mark.parametrize("name", ["congestion", "minority", "spectrum"])
def test_a_crowd_is_paid_what_its_tables_say(name: str):
    """Agent 0 chooses an action with n − 1 others, and the rest choose the next one, in the joint tables."""
    game = tacit.make(name, agents=3, horizon=1)
    joint = game.tabular()
    for s, shown in enumerate(game.show(limit=None).data["payoffs"]):
        for n, *paid in shown["rows"]:
            for a, reward in enumerate(paid):
                others = [a] * (n - 1) + [(a + 1) % game.actions[0]] * (game.agents - n)
                assert reward == pytest.approx(joint.step(0, s, [a, *others], 0.5)[1][0], abs=1e-12)


@pytest.mark.parametrize("name", ["congestion", "minority"])
def test_a_crowd_goes_where_its_tables_say(name: str):
    """So many choose the action that heads the column, and the others the first one that is not it."""
    game = tacit.make(name, agents=3, horizon=2)
    joint = game.tabular()
    for s, shown in enumerate(game.show(limit=None).data["transitions"]):
        chosen = list(game.action_names[0]).index(shown["columns"][0])
        for number, told in shown["rows"]:
            first, _, last = number.partition(" to ")
            for n in range(int(first), int(last or first) + 1):
                row = joint.transitions[0, s][tuple([chosen] * n + [1 - chosen] * (3 - n))]
                for t, p in enumerate(row):
                    assert (f"{game.state_names[t]} ({p:.4g})" in told) == (p > 0), (s, n, told, row)


def test_counting_games_show_as_many_states_as_asked_for():
    game = tacit.make("congestion", agents=5)
    assert "2 more states are not shown" in str(game.show(limit=1))
    assert "not shown" not in str(game.show(limit=3))


def test_transitions_in_words():
    text = str(tacit.make("good-state").show())
    assert "from s0, (a0, b1): to s0 (0.9) or s1 (0.1)" in text
    assert "from s0, every other joint action: to s1 (0.9) or s0 (0.1)" in text
    assert "a team: all agents get the same reward" in text


def test_a_large_game_says_how_to_see_more():
    game = tacit.make("box-pushing")
    assert "94 more states are not shown" in str(game.show())
    assert "not shown" not in str(game.show(state="s1N4N", limit=None))
    assert "19.8" in str(game.show(state="s1N4N"))
    with pytest.raises(tacit.TacitError, match="no state"):
        game.show(state="nowhere")


def test_steps_that_differ():
    rewards = np.arange(8.0).reshape(1, 2, 1, 4)
    game = tacit.TabularGame(np.ones((1, 1, 4, 1)), rewards, [1.0], 2)
    assert "this is step 1 of 0 to 1" in str(game.show(step=1))
    assert game.show(step=1).data["payoffs"][0]["rewards"] == [[4, 5, 6, 7]]
