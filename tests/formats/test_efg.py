"""Trees in Gambit's .efg format: values by hand, chance, payoffs on the way, and what is refused."""

import numpy as np
import pytest

import tacit
from tacit.games import save

SHARING = """EFG 2 R "Sharing" { "1" "2" }
"a comment"
p "" 1 1 "" { "2-0" "1-1" "0-2" } 0
p "" 2 1 "" { "no" "yes" } 0
t "" 1 "" { 0 0 }
t "" 2 "" { 2, 0 }
p "" 2 2 "" { "no" "yes" } 0
t "" 1
t "" 4 "" { 1 1 }
p "" 2 3 "" { "no" "yes" } 0
t "" 1
t "" 6 "" { 0 2 }
"""


@pytest.fixture
def read(tmp_path):
    def load(text, **more):
        path = tmp_path / "game.efg"
        path.write_text(text)
        return tacit.load(path, **more)

    return load


def test_a_tree_is_solved_backwards(read):
    game = read(SHARING)
    assert (game.agents, game.actions, game.horizon) == (2, (3, 2), 2)
    np.testing.assert_array_equal(tacit.solve(game, "nash", select="agent:0").values, [2, 0])
    assert game.action_names == (("2-0", "1-1", "0-2"), ("no", "yes"))


def test_chance_and_payoffs_on_the_way(read):
    # 1/4: nothing to decide, 8. 3/4: 4 before the choice between 1/2 more, and chance of 10 or -2 after 1 is paid.
    game = read(
        """EFG 2 R "" { "alone" }
        c "" 1 "" { "a" 1/4 "b" 0.75 } 0
        t "" 1 "" { 8 }
        p "" 1 1 "" { "safe" "try" } 2 "" { 4 }
        t "" 3 "" { 1/2 }
        c "" 2 "" { "x" 1/2 "y" 1/2 } 4 "" { 1 }
        t "" 5 "" { 10 }
        t "" 6 "" { -2 }"""
    )
    assert tacit.solve(game, "optimum").values[0] == pytest.approx(8 / 4 + 3 / 4 * (4 + 1 + 4), abs=1e-12)
    safe = tacit.MarkovPolicy.deterministic([[[0] * game.states]], [2])
    assert tacit.evaluate(game, safe).values[0] == pytest.approx(8 / 4 + 3 / 4 * 4.5, abs=1e-12)


def test_an_action_that_a_node_lacks_does_what_its_first_does(read):
    game = read(
        """EFG 2 R "" { "1" "2" }
        p "" 1 1 "" { "l" "r" } 0
        p "" 2 1 "" { "a" } 0
        t "" 1 "" { 3 1 }
        p "" 2 2 "" { "b" "c" } 0
        t "" 2 "" { 0 0 }
        t "" 3 "" { 1 5 }"""
    )
    np.testing.assert_array_equal(tacit.solve(game, "nash").values, [3, 1])
    assert game.reward_range == (0, 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            ('p "" 2 2 "" { "no" "yes" } 0', 'p "" 2 1 0'),
            "game.efg:7: player 2 moves at several nodes of information set 1",
        ),
        (("{ 2, 0 }", "{ 2 }"), "where a payoff, a finite number"),
        (('t "" 6 "" { 0 2 }', ""), "the file ends where c or p or t must be"),
        (('t "" 6 "" { 0 2 }', 't "" 9'), "outcome 9 has no payoffs"),
        (('{ "no" "yes" }', "{ }"), "information set 1 has no actions"),
        (('p "" 1 1', 'p "" 3 1'), "where a player from 1 to 2 must be"),
    ],
)
def test_what_cannot_be_read_is_refused_by_line(read, change, message):
    with pytest.raises(tacit.TacitError, match=message):
        read(SHARING.replace(*change, 1))


def test_chances_must_sum_to_one(read):
    with pytest.raises(tacit.TacitError, match="of chance must be at least 0 and sum to 1"):
        read('EFG 2 R "" { "1" } c "" 1 "" { "a" 0.5 "b" 0.6 } 0 t "" 1 "" { 1 } t "" 2 "" { 2 }')


def test_a_tree_has_a_horizon_and_is_not_written(read, tmp_path):
    assert read(SHARING, horizon=2).horizon == 2
    with pytest.raises(tacit.TacitError, match="a horizon of its own, 2"):
        read(SHARING, horizon=3)
    with pytest.raises(tacit.TacitError, match="not written"):
        save(tacit.make("chicken"), tmp_path / "x.efg")
