"""Nash gaps of repeated matrix games against OpenSpiel's nash_conv, which is the sum of the agents' gaps."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tacit

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel has no wheel for this Python")
    from open_spiel.python import policy as spiel_policy
    from open_spiel.python.algorithms import exploitability


class StepPolicy(spiel_policy.Policy):
    """Plays the tables of a tacit policy by the number of rounds gone, whatever happened in them."""

    def __init__(self, game: object, tables: list[np.ndarray]) -> None:
        super().__init__(game, [0, 1])
        self.tables = tables

    def action_probabilities(self, state: object, player_id: int | None = None) -> dict[int, float]:
        player = state.current_player() if player_id is None else player_id
        round_ = len(state.history()) // 2
        return dict(enumerate(self.tables[player][round_, 0]))


def nash_conv(payoffs: np.ndarray, rounds: int, tables: list[np.ndarray]) -> float:
    matrix = pyspiel.create_matrix_game(*payoffs.tolist())
    repeated = pyspiel.create_repeated_game(matrix, {"num_repetitions": rounds})
    turns = pyspiel.convert_to_turn_based(repeated)
    return exploitability.nash_conv(turns, StepPolicy(turns, tables))


@pytest.mark.parametrize("play", ["uniform", "random"])
@pytest.mark.parametrize(("shape", "rounds"), [((2, 2), 1), ((2, 2), 3), ((2, 3), 2), ((3, 3), 2)])
@pytest.mark.parametrize("seed", [0, 1])
def test_nash_conv(shape: tuple[int, int], rounds: int, play: str, seed: int):
    payoffs = np.random.default_rng([seed, *shape]).normal(size=(2, *shape))
    game = tacit.games.matrix_game(payoffs, horizon=rounds)
    policy = tacit.MarkovPolicy.random(game, seed=seed)
    if play == "uniform":
        policy = tacit.MarkovPolicy([np.full((rounds, 1, a), 1 / a) for a in shape])
    ours = tacit.evaluate(game, policy, gap="nash").gaps.sum()
    assert ours == pytest.approx(nash_conv(payoffs, rounds, list(policy.probs)), abs=1e-10)
