"""What a page says of a policy agrees with the oracle."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from stored_runs import look

import tacit
from tacit.evaluation import evaluate, verify
from tacit.experiments import store
from tacit.experiments.spec import game_of
from tacit.report.policy import _joint, details, policy_document


def test_details_agree_with_the_oracle(results: Path) -> None:
    for run in look(results).runs.values():
        document = details(run.place, run.outcome)
        game, policy = game_of(run.spec), store.load_policy(run.place)
        exact = evaluate(game, policy, gap=document["kind"])
        np.testing.assert_allclose(document["gaps"]["upper"], exact.gaps)
        np.testing.assert_allclose(document["gaps"]["lower"], exact.gaps)  # a Markov policy: known exactly
        code, sentence = verify.check(document["proof"])
        assert (code, sentence.startswith(f"proven: {document['kind']} gap at most")) == (0, True)
        for i, table in enumerate(document["maps"]):
            for s, row in enumerate(table["cells"]):
                for h, cell in enumerate(row):
                    if cell is not None:
                        state = game.state_names.index(document["states"][s]) if game.state_names else s
                        probs = policy.marginal(i)[h if policy.steps > 1 else 0, state]
                        np.testing.assert_allclose(cell, probs, atol=1e-6)
        for episode in document["episodes"]:
            total = np.sum([step["rewards"] for step in episode["steps"]], axis=0)
            np.testing.assert_allclose(total, episode["returns"])


def test_episodes_end_where_play_does() -> None:
    """Inspected and violated at once, one of four periods is played, and the last picture is of the end."""
    game = tacit.make("atlas/inspection-4-2")
    ends = tacit.MarkovPolicy([np.eye(2)[[[1] * game.states] * 4]] * 2)
    for episode in policy_document(game, ends)["episodes"]:
        assert [step["state"] for step in episode["steps"]] == ["(2, 4)"]
        assert (episode["end"]["state"], episode["cut"], episode["returns"]) == ("over", False, [1.0, -1.0])


def test_a_run_without_a_policy_says_so(results: Path) -> None:
    run = next(iter(look(results).runs.values()))
    run.outcome = None
    assert "not finished" in details(run.place, run.outcome)["sentence"]


def test_joint_actions_of_three_agents_are_listed() -> None:
    joint = np.zeros((1, 1, 2, 2, 2))
    joint[..., 0, 0, 0], joint[..., 1, 1, 1] = 0.75, 0.25
    game = tacit.TabularGame(np.ones((1, 1, 2, 2, 2, 1)), np.zeros((3, 1, 1, 2, 2, 2)), 0, 1)
    (table,) = _joint(game, tacit.evaluation.behaviour(game, tacit.MarkovPolicy(joint)), [0], [0])
    assert [(row["actions"], row["prob"]) for row in table["listed"]] == [(["0"] * 3, 0.75), (["1"] * 3, 0.25)]


def test_a_mixture_is_not_said_to_have_no_deviations() -> None:
    game = tacit.make("stag-hunt")
    run = tacit.learn(game, "stage-v-cce", episodes=40)
    document = policy_document(game, run.candidates["average"].policy)
    assert max(document["gaps"]["upper"]) > 0
    assert document["deviations"] is None
    assert policy_document(game, tacit.MarkovPolicy.uniform(game))["deviations"]
