"""What a notebook shows of results: their numbers, as tables."""

from __future__ import annotations

import tacit


def test_a_run_shows_each_agent():
    run = tacit.learn(tacit.make("chicken"), "npg", episodes=20, eta=0.5)
    shown = run._repr_html_()
    assert "<table>" in shown
    assert "nash gap =" in shown
    assert all(f">{value:.4g}<" in shown for value in run.values)


def test_a_run_without_a_gap_shows_none():
    shown = tacit.learn(tacit.make("chicken"), "npg", episodes=5, eta=0.5, certify=False)._repr_html_()
    assert '<th scope="col">gap</th>' in shown
    assert shown.count("<td") == 6  # reward, value and gap of two agents, the last two empty


def test_a_solution_an_evaluation_and_a_comparison_are_tables():
    game = tacit.make("chicken")
    solution = tacit.solve(game, "ce")
    assert "0.25" in solution._repr_html_()
    assert "5.25" in solution._repr_html_()
    assert "nash gap = 0.25" in tacit.evaluate(game, tacit.MarkovPolicy.uniform(game))._repr_html_()
    found = tacit.compare(tacit.make("stag-hunt"), ["npg", "pg-exact"], episodes=5, seeds=1)
    assert found._repr_html_().count("<tr>") == 3
    assert "gap of uniform play 0.5" in found._repr_html_()


def test_parts_say_what_they_are():
    policy = tacit.MarkovPolicy.uniform(tacit.make("good-state", horizon=3))
    assert repr(policy.part(1)) == "MarkovPart(agent 1, 2 actions, the same at every step)"
    assert policy.part(1).actions == 2
