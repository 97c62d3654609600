"""Markets against numerical optimization by SciPy, closed forms of textbooks, and their tables entry by entry."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
from scipy import optimize

import tacit
from tacit.games.pricing import PricingGame


def logit_profit(prices, costs, qualities, outside, mu):
    weight = [np.exp((a - p) / mu) for a, p in zip(qualities, prices, strict=True)]
    total = sum(weight) + np.exp(outside / mu)
    return [(p - c) * w / total for p, c, w in zip(prices, costs, weight, strict=True)]


MARKETS = [
    ((1.0, 1.0), (2.0, 2.0), 0.0, 0.25),  # Calvano et al. 2020
    ((1.0, 0.5), (2.0, 2.25), 0.0, 0.25),
    ((1.0, 1.2, 0.8), (2.0, 2.0, 3.0), 0.5, 0.4),
]


@pytest.mark.parametrize(("costs", "qualities", "outside", "mu"), MARKETS)
def test_nash_and_cartel_prices_are_those_of_an_optimizer(costs, qualities, outside, mu):
    options = {"costs": costs, "qualities": qualities, "outside": outside, "mu": mu}
    market = tacit.make("pricing", firms=len(costs), prices=3, **options).market

    def profit(prices):
        return np.array(logit_profit(prices, costs, qualities, outside, mu))

    for i, price in enumerate(market.nash):
        others = market.nash.copy()

        def loss(x, i=i, others=others):
            others[i] = x
            return -profit(others)[i]

        best = optimize.minimize_scalar(loss, bounds=(price / 2, 2 * price), method="bounded", options={"xatol": 1e-10})
        assert best.x == pytest.approx(price, abs=1e-6)
    cartel = optimize.minimize(lambda x: -profit(x).sum(), market.monopoly * 1.05, tol=1e-14)
    np.testing.assert_allclose(market.monopoly, cartel.x, atol=1e-4)
    np.testing.assert_allclose(market.nash_profits, profit(market.nash), rtol=1e-12)
    assert market.profit_gain(market.nash_profits) == 0
    assert market.profit_gain(market.monopoly_profits) == 1


def test_the_prices_of_the_paper():
    market = tacit.make("pricing").market
    np.testing.assert_allclose(market.nash, 1.47293, atol=1e-5)
    np.testing.assert_allclose(market.monopoly, 1.92498, atol=1e-5)
    step = 0.1 * (market.monopoly[0] - market.nash[0])
    np.testing.assert_allclose(market.grid[0][[0, -1]], [market.nash[0] - step, market.monopoly[0] + step])


def test_consumer_surplus_falls_by_what_consumers_buy():
    market = tacit.make("pricing", costs=[1.0, 0.7]).market
    prices, h = np.array([1.5, 1.6]), 1e-6
    for i in range(2):
        up, down = prices.copy(), prices.copy()
        up[i] += h
        down[i] -= h
        sold = market.profits(prices)[i] / (prices[i] - market.costs[i])
        assert (market.surplus(down) - market.surplus(up)) / (2 * h) == pytest.approx(sold, rel=1e-6)


def test_closed_forms_of_one_good():
    cournot = tacit.make("pricing", demand="cournot", firms=3, prices=4, qualities=5.0, costs=1.0).market
    np.testing.assert_allclose(cournot.nash, 1.0)
    np.testing.assert_allclose(cournot.nash_profits, 1.0)
    np.testing.assert_allclose(cournot.monopoly_profits.sum(), 4.0)
    assert cournot.surplus(cournot.nash) == pytest.approx(4.5)
    bertrand = tacit.make("pricing", demand="bertrand", qualities=5.0, costs=1.0, limits=(1, 4), prices=4).market
    np.testing.assert_allclose(
        bertrand.profits([[2, 3], [3, 2], [2, 2], [4, 4]]), [[3, 0], [0, 3], [1.5, 1.5], [1.5, 1.5]]
    )
    np.testing.assert_allclose(bertrand.monopoly_profits.sum(), 4.0)
    assert bertrand.surplus(np.array([2.0, 3.0])) == pytest.approx(4.5)


def test_the_state_is_what_was_chosen_last():
    game = tacit.make("pricing", firms=3, prices=3, costs=[1.0, 1.1, 1.2])
    assert game.states == 27
    for s, joint in itertools.product((0, 13, 26), itertools.product(range(3), repeat=3)):
        follows, profits = game.step(0, s, joint, 0.5)
        assert follows == 9 * joint[0] + 3 * joint[1] + joint[2]
        chosen = game.market.grid[range(3), joint]
        np.testing.assert_allclose(profits, logit_profit(chosen, [1.0, 1.1, 1.2], [2.0] * 3, 0.0, 0.25), rtol=1e-12)
        assert game.state_names[follows] == " ".join(game.action_names[i][a] for i, a in enumerate(joint))


def test_firms_that_move_in_turn():
    game = tacit.make("pricing", demand="bertrand", timing="sequential", prices=4, costs=0, qualities=1, limits=(0, 1))
    prices = game.market.grid[0]
    assert game.states == 8
    for mover, standing, joint in itertools.product(range(2), range(4), itertools.product(range(4), repeat=2)):
        follows, profits = game.step(0, 4 * mover + standing, joint, 0.5)
        assert follows == 4 * (1 - mover) + joint[mover]
        mine, other = prices[joint[mover]], prices[standing]
        low = min(mine, other)
        earned = low * (1 - low) * (0.5 if mine == other else 1)
        assert profits[mover] == pytest.approx(earned if mine == low else 0)
        assert profits[1 - mover] == pytest.approx(earned if other == low else 0)


def test_start_memory_and_discount():
    game = tacit.make("pricing", prices=4, start=[2, 3], discount=0.9)
    assert (game.discount, int(game.initial.argmax()), game.initial.max()) == (0.9, 11, 1.0)
    assert game.market.nash.shape == (2,)
    assert tacit.make("pricing", memory=0).states == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"firms": 1}, "firms must be"),
        ({"discount": 1}, "below 1"),
        ({"limits": (0.5, 2)}, "prices must not be below cost"),
        ({"margin": 2}, "prices must not be below cost"),
        ({"demand": "cournot", "limits": (-1, 2)}, "quantities must not be negative"),
        ({"limits": (2, 2)}, "limits must differ"),
        ({"firms": 9}, "would take .* of memory"),
        ({"firms": 61}, "too many"),
        ({"prices": 1}, "prices must be"),
        ({"mu": 0}, "mu must be"),
        ({"costs": [1, 2, 3]}, "list of 2"),
        ({"demand": "cournot", "costs": [1, 2]}, "the same for all firms"),
        ({"demand": "bertrand", "qualities": 1}, "above costs"),
        ({"timing": "sequential", "firms": 3}, "two firms"),
        ({"start": [1, 15]}, "start must be"),
    ],
)
def test_bad_input_is_one_sentence(options, message):
    with pytest.raises(tacit.TacitError, match=message) as error:
        tacit.make("pricing", **options)
    assert "\n" not in str(error.value)


def test_show_has_the_market():
    text = str(tacit.make("pricing").show())
    assert "1.473" in text
    assert "0.3375" in text
    assert len(text.splitlines()) < 30
    assert tacit.make("pricing", prices=3).show().data["market"][0]["firm"] == 0


def test_a_game_made_by_hand_is_checked_too():
    market = tacit.make("pricing", prices=3).market
    for args, why in (
        ((None, "simultaneous", 1, None, 0.9), "market must be a Market"),
        ((market, "turns", 1, None, 0.9), "no timing 'turns'"),
        ((market, "simultaneous", 5, None, 0.9), "memory must be"),
        ((market, "simultaneous", 1, [9, 9], 0.9), "start must be"),
        ((market, "simultaneous", 1, None, 1.0), "below 1"),
        ((tacit.make("pricing", prices=3, firms=3).market, "sequential", 1, None, 0.9), "two firms"),
    ):
        with pytest.raises(tacit.TacitError, match=why):
            PricingGame(*args)
    game = PricingGame(market, "simultaneous", 1, [1, 2], 0.9)
    assert game.initial.argmax() == 5
    for call in (lambda: market.profits([1.0]), lambda: market.surplus("x"), lambda: market.profit_gain([1.0])):
        with pytest.raises(tacit.TacitError):
            call()
    for states, actions in (([0], [[9, 9]]), ([9], [[0, 0]]), ([0], [0, 0])):
        with pytest.raises(tacit.TacitError):
            game.charged(states, actions)
    with pytest.raises(tacit.TacitError, match="competition and cartel have the same price"):
        tacit.make("pricing", costs=[1.0, 100.0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"demand": "linear"}, "demand"),
        ({"costs": "cheap"}, "costs"),
        ({"costs": []}, "costs must be an array"),
        ({"qualities": [2.0]}, r"qualities must be an array \[N\]"),
        ({"qualities": [2.0, np.nan]}, r"qualities\[firm=1\]"),
        ({"outside": None}, "outside"),
        ({"mu": 0.0}, "mu"),
        ({"grid": [1.0, 2.0]}, r"grid must be an array \[N, m\]"),
        ({"nash": 1.0}, "nash must be an array"),
        ({"monopoly": [[1.9, 1.9]]}, "monopoly must be an array"),
    ],
)
def test_markets_are_checked(change: dict[str, object], message: str):
    market = tacit.make("pricing", prices=3).market
    with pytest.raises(tacit.TacitError, match=message):
        dataclasses.replace(market, **change)
