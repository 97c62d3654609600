"""A person's regret is what the oracle says, and the terminal takes any input."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.cli.main import main
from tacit.policies import RecordedPolicy
from tacit.report.play import Player, judge, result


def brute(game: tacit.TabularGame, policy: tacit.MarkovPolicy, agent: int) -> float:
    """Try every deterministic Markov strategy of one agent against the others' part."""
    found = -np.inf
    places = [(h, s) for h in range(game.horizon) for s in range(game.states)]
    for choice in itertools.product(range(game.actions[agent]), repeat=len(places)):
        table = np.zeros((game.horizon, game.states, game.actions[agent]))
        for (h, s), a in zip(places, choice, strict=True):
            table[h, s, a] = 1.0
        probs = [
            table if i == agent else np.repeat(own, game.horizon // len(own), axis=0)
            for i, own in enumerate(policy.probs)
        ]
        found = max(found, tacit.evaluate(game, tacit.MarkovPolicy(probs)).values[agent])
    return found


@pytest.mark.parametrize("agent", [0, 1])
def test_the_best_response_is_that_of_brute_force(agent: int) -> None:
    game = tacit.make("random-general-sum", states=2, actions=[2, 2], horizon=3, seed=5)
    policy = tacit.MarkovPolicy.random(game, seed=1)
    found = judge(game, policy, agent)
    assert found.q is not None
    assert found.best == pytest.approx(brute(game, policy, agent))
    assert found.value == pytest.approx(tacit.evaluate(game, policy).values[agent])


def test_regret_and_luck_add_up_and_the_best_response_has_none() -> None:
    game = tacit.make("good-state", horizon=6)
    policy = tacit.MarkovPolicy.random(game, seed=2)
    player = Player(game, policy, agent=1, seed=3)
    rng = np.random.default_rng(0)
    for episode in range(40):
        while not player.over:
            best = player.judge.choice(player.h, player.state)
            assert best is not None
            turn = player.act(best if episode % 2 else int(rng.integers(2)))
            assert turn.regret is not None
            assert turn.regret >= 0
        found = result(player)
        assert found["earned"] == pytest.approx(found["best"] - found["regret"] + found["luck"])
        if episode % 2:
            assert found["regret"] == 0
        player.begin()
    assert player.played == 40


def test_returns_of_the_best_response_average_to_its_value() -> None:
    game = tacit.make("good-state", horizon=4)
    player = Player(game, tacit.MarkovPolicy.uniform(game), agent=0, seed=0)
    returns = []
    for _ in range(1500):
        while not player.over:
            best = player.judge.choice(player.h, player.state)
            assert best is not None
            player.act(best)
        returns.append(player.earned)
        player.begin()
    error = np.std(returns) / np.sqrt(len(returns))
    assert abs(np.mean(returns) - player.judge.best) < 4.5 * error  # false alarm: 7 in a million


def typed(monkeypatch: pytest.MonkeyPatch, text: str, *words: str) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    return main(["play", *words])


@pytest.fixture
def policy(tmp_path: Path) -> str:
    file = tmp_path / "policy.npz"
    tacit.MarkovPolicy([[[[1.0, 0.0]]], [[[0.25, 0.75]]]]).save(file)
    return str(file)


def test_the_terminal_plays_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], policy: str
) -> None:
    assert typed(monkeypatch, "0\nwild\x1b[31m\n1\n", "matching-pennies", "--policy", policy, "--rounds", "2") == 0
    told = capsys.readouterr().out
    assert "2 episodes played" in told
    assert "is no action; type 0 to 1" in told
    assert "\x1b" not in told
    assert "the best response: 0.5 on average (exactly)" in told  # tails against 3/4 tails
    assert "better by 1 on average" in told  # heads loses 0.5 where tails wins 0.5


def test_a_person_plays_with_a_solution(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(monkeypatch, "0\n", "chicken", "--concept", "ce", "--rounds", "1") == 0
    told = capsys.readouterr().out
    assert "you are recommended: " in told
    assert "the best response that sees recommendations: 5.25 on average (exactly)" in told


def test_steps_and_actions_are_counted_from_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        typed(
            monkeypatch, "0\n0\n", *["good-state", "--game-set", "horizon=2", "--concept", "optimum", "--rounds", "1"]
        )
        == 0
    )
    told = capsys.readouterr().out
    assert [line.split(",")[0] for line in told.splitlines() if line.startswith("step")] == [
        "step 0 of 0 to 1",
        "step 1 of 0 to 1",
    ]


@pytest.mark.parametrize("text", ["", "q\n", "1\n"])
def test_it_ends_cleanly_wherever_the_input_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], policy: str, text: str
) -> None:
    assert typed(monkeypatch, text, "matching-pennies", "--policy", policy) == 0
    assert f"{text.count('1')} episode" in capsys.readouterr().out


def test_ctrl_c_keeps_the_tally(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], policy: str
) -> None:
    class Interrupted(io.StringIO):
        def readline(self, *size: int) -> str:  # type: ignore[override]
            line = super().readline(*size)
            if not line:
                raise KeyboardInterrupt
            return line

    monkeypatch.setattr("sys.stdin", Interrupted("0\n"))
    assert main(["play", "matching-pennies", "--policy", policy]) == 130
    assert "1 episode played" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["good-state", "--policy", "POLICY"], "does not fit"),
        (["matching-pennies", "--policy", "POLICY", "--agent", "2"], "--agent must be"),
        (["matching-pennies", "--policy", "nowhere.npz"], "no file"),
        (["matching-pennies", "--policy", "POLICY", "--learner", "npg"], "got --policy and --learner"),
        (["matching-pennies", "--policy", "POLICY", "-o", "page.pdf"], "must end in .html"),
        (["minority", "--game-set", "agents=30", "-o", "page.html"], "at most 20 MB"),
    ],
)
def test_wrong_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], policy: str, words: list[str], told: str
) -> None:
    assert main(["play", *(policy if word == "POLICY" else word for word in words)]) == 2
    assert told in capsys.readouterr().err


def test_against_a_certified_policy_the_certificate_bounds_what_can_be_had(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    game = tacit.make("stag-hunt")
    stored = np.random.default_rng(0).random((50, 1, 2)).astype(np.float32)
    policy = RecordedPolicy(np.zeros((50, 1), dtype=int), stored, actions=[2, 2], states=1)
    file = tmp_path / "certified.npz"
    policy.save(file)
    bound = judge(game, policy, 0)
    found = tacit.evaluate(game, policy, gap="cce")
    assert (bound.value, bound.best) == (found.values[0], found.values[0] + found.gaps[0])
    assert typed(monkeypatch, "0\n", "stag-hunt", "--policy", str(file)) == 0
    assert "at most, by the certificate" in capsys.readouterr().out


@pytest.mark.parametrize("agent", [0, 1])
def test_obeying_a_correlated_policy_has_its_cce_and_ce_gaps_as_regret(agent: int) -> None:
    """By the gaps of `tacit.evaluate`; told draws are those that the others obey."""
    game = tacit.make("random-general-sum", states=1, actions=[3, 2], horizon=1, seed=2)
    policy = tacit.MarkovPolicy.random(game, seed=4, correlated=True)
    hearing, blind = judge(game, policy, agent), judge(game, policy, agent, blind=True)
    assert (hearing.hears, blind.hears) == (True, False)
    probs = policy.marginal(agent)[0, 0]
    regrets = [hearing.regret(0, 0, b, b) for b in range(len(probs))]
    assert probs @ regrets == pytest.approx(tacit.evaluate(game, policy, gap="ce").gaps[agent])
    for kind, prospects in (("ce", hearing), ("cce", blind)):
        assert prospects.best - prospects.value == pytest.approx(tacit.evaluate(game, policy, gap=kind).gaps[agent])


def test_who_obeys_for_many_episodes_plays_the_policy() -> None:
    """Joint frequencies within five standard errors of the policy's; mean regret of several steps near the gaps."""
    game = tacit.make("random-general-sum", states=2, actions=[2, 2], horizon=3, seed=2)
    policy = tacit.MarkovPolicy.random(game, seed=4, correlated=True)
    player = Player(game, policy, agent=1, seed=0)
    counts, rounds = np.zeros((2, 2, 2)), 3000
    for _ in range(rounds):
        while not player.over:
            turn = player.act(player.recommended)
            if turn.h == 0:
                counts[(turn.state, *turn.actions)] += 1
        player.begin()
    for s in range(2):
        if counts[s].sum():
            np.testing.assert_allclose(
                counts[s] / counts[s].sum(), policy.joint(0)[s], atol=2.5 / counts[s].sum() ** 0.5
            )
    assert player.total_regret / rounds == pytest.approx(tacit.evaluate(game, policy, gap="ce").gaps[1], abs=0.1)


def test_the_terminal_tells_the_recommendation(tmp_path: Path, monkeypatch, capsys) -> None:
    game = tacit.make("chicken")
    tacit.solve(game, "ce").policy.save(tmp_path / "light.npz")
    command = ["play", "chicken", "--policy", str(tmp_path / "light.npz"), "--rounds", "2"]
    monkeypatch.setattr("sys.stdin", io.StringIO("0\n1\n"))
    assert main(command) == 0
    told = capsys.readouterr().out
    assert told.count("you are recommended: ") == 2
    assert "the best response that sees recommendations" in told
    assert "you follow it" in told or "you deviate" in told
    monkeypatch.setattr("sys.stdin", io.StringIO("0\n1\n"))
    assert main([*command, "--blind"]) == 0
    assert "recommend" not in capsys.readouterr().out
