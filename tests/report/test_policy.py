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
        document = details(run.directory, run.outcome)
        game, policy = game_of(run.spec), store.load_policy(run.directory)
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
    assert "not finished" in details(run.directory, run.outcome)["sentence"]


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


def test_a_market_shows_its_cycle_and_two_deviations(tmp_path: Path) -> None:
    """Grim strategies at the second of three prices, checked by hand; and what a stored run says of its visits."""
    game = tacit.make("pricing", prices=3, costs=[1.0, 0.9], start=[1, 1])
    rows = np.zeros((1, 9), dtype=int)
    rows[0, 4] = 1
    grim = tacit.MarkovPolicy.deterministic([rows, rows], [3, 3])
    market = policy_document(game, grim, place=4, visits=[1] * 4 + [50] + [2] * 4)["market"]
    facts, grid = dict(market["facts"]), game.market.grid
    profits = game.rewards[:, 0, 0]
    assert facts["periods of the cycle"] == 1
    assert market["cycle"] == [grid[:, 1].tolist()]
    nash, cartel = game.market.nash_profits.mean(), game.market.monopoly_profits.mean()
    gain = facts["profit gain (0 competition, 1 cartel)"]
    np.testing.assert_allclose(gain, (profits[:, 1, 1].mean() - nash) / (cartel - nash))
    once, best = (np.array(path["prices"]) for path in market["paths"])
    assert len(once) == len(best) == 21
    np.testing.assert_allclose(once[0], grid[:, 1])
    firm = int(market["paths"][0]["title"].split()[1])
    reply = int((profits[0, :, 1] if firm == 0 else profits[1, 1]).argmax())
    np.testing.assert_allclose(once[1, firm], grid[firm, reply])
    if reply != 1:  # for ever after, both punish
        np.testing.assert_allclose(once[2:], np.tile(grid[:, 0], (19, 1)))
    assert facts["visits of a state of the cycle, median"] == 50
    unsure = tacit.MarkovPolicy.uniform(game)
    assert policy_document(game, unsure)["market"] is None


def test_a_stored_run_keeps_where_it_was_and_ended(tmp_path: Path) -> None:
    game = tacit.make("pricing", prices=3)
    run = tacit.learn(game, "q-independent", periods=3000, seed=2, certify=False)
    run.save(tmp_path / "run")
    again = tacit.Run.load(tmp_path / "run")
    assert (again.place, again.visits.tolist()) == (run.place, run.visits.tolist())
    outcome = store.load(tmp_path / "run")
    assert (outcome.place, sum(outcome.visits)) == (run.place, 3000)


def test_who_does_not_move_keeps_its_price() -> None:
    game = tacit.make(
        "pricing", demand="bertrand", timing="sequential", prices=4, costs=0.0, qualities=1.0, limits=[0.0, 0.9]
    )
    s = game.state_names.index("firm 0 moves, the other at 0.600")
    np.testing.assert_allclose(game.charged([s], [[1, 3]]), [[0.3, 0.6]])
