"""The paper's claims are judged by their rules: made-up runs on either side of every rule."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.report import claims

#: Three seeds: small differences, so that intervals have a width.
NOISE = (-0.01, 0.0, 0.01)


def curve(**columns: Any) -> Any:
    """A curve of 20 rows; a column is a number, or one for each row."""
    table = np.zeros(20, dtype=[("episode", "i8"), *((name, "f8") for name in columns)])
    table["episode"] = 100 * np.arange(1, 21)
    for name, values in columns.items():
        table[name] = values
    return table


def team(**changes: Any) -> list[Any]:
    """Runs of the matrix team that fulfil every claim, but for what is changed."""
    falling = np.linspace(1.0, 0.0, 20)
    good = {
        "l2_gap": falling**2,
        "average_l2_gap": np.append(falling[:-1], 0.02),
        "value": 9.0,
        "average_value": 8.9,
    }
    return [
        SimpleNamespace(episodes=2000, params={"exploration": 0.05}, curve=curve(**{**good, **changes})) for _ in NOISE
    ]


TEAM = [
    "the last iterate's equilibrium gap goes to zero",
    "the last iterate's reward comes close to 9",
    "the average's equilibrium gap goes to zero",
    "the average's reward comes close to 9",
    "the average lags behind",
    "a team-optimal equilibrium is reached most of the time",
]


def test_a_matrix_team_as_the_paper_has_it():
    found = claims.matrix_team_claims(team(), tacit.make("matrix-team"))
    assert [claim.says for claim in found] == TEAM
    assert [claim.verdict for claim in found] == ["holds"] * 6
    assert {claim.task for claim in found} == {"matrix team, 2000 rounds"}


@pytest.mark.parametrize(
    ("change", "fails"),
    [
        ({"l2_gap": np.append(np.linspace(1.0, 0.0, 20)[:-1] ** 2, 0.06)}, [0]),
        ({"average_l2_gap": np.linspace(1.0, 0.06, 20)}, [2]),
        ({"value": np.append(np.full(19, 9.0), 8.4)}, [1]),
        ({"value": np.append(np.full(19, 9.0), 9.6)}, [1]),
        ({"average_value": 8.4}, [3]),
        ({"average_l2_gap": np.linspace(1.0, 0.0, 20) ** 2}, [4]),
        ({"value": 5.0}, [1, 5]),
    ],
)
def test_each_claim_of_the_matrix_team_can_fail(change: dict[str, Any], fails: list[int]):
    found = claims.matrix_team_claims(team(**change), tacit.make("matrix-team"))
    assert [k for k, claim in enumerate(found) if claim.verdict == "does not hold"] == fails
    assert {claim.verdict for claim in found} <= {"holds", "does not hold"}


def test_the_optimum_is_that_of_agents_who_explore():
    """Half of the runs at the optimum are not most of them; and the optimum is below that without exploration."""
    runs = team()
    for run in runs[:2]:
        run.curve["value"][-1] = 8.0
    found = claims.matrix_team_claims(runs, tacit.make("matrix-team"))
    assert found[5].verdict == "does not hold"
    assert found[5].measured.startswith("33 % of the runs within 10 % of ")
    best = float(found[5].measured.split(" of ")[-1].split(",")[0])
    assert 0.9 * best < 9.0 < float(tacit.solve(tacit.make("matrix-team")).values[0])


def rising(final: float, rows: int, start: float = 5.0) -> np.ndarray:
    """A reward that rises for so many rows and stays."""
    return np.interp(np.arange(20), [0, rows], [start, final])


def runs(final: float, rows: int = 8, **more: Any) -> list[Any]:
    """Three seeds that end near a reward."""
    return [
        SimpleNamespace(
            reward=[final + noise, 0.0], episodes=2000, curve=curve(reward=rising(final + noise, rows)), **more
        )
        for noise in NOISE
    ]


def variants(**changes: Any) -> dict[str, dict[str, list[Any]]]:
    """What the paper describes: V-learning and PG beat Independent, which is faster and worse."""
    good = {"V-Learning": runs(40), "PG": runs(44), "Centralized": runs(44.5), "Independent": runs(20, 3)}
    return {label: {"as is": held} if isinstance(held, list) else held for label, held in {**good, **changes}.items()}


GAME = tacit.make("good-state")
TASK = [
    "the trajectory of V-Learning converges",
    "V-Learning outperforms Independent",
    "the trajectory of PG converges",
    "PG outperforms Independent",
    "Independent converges faster, to a clearly worse value",
]


def judged(**changes: Any) -> list[str]:
    found = claims.task_claims("GoodState", variants(**changes), GAME)
    assert [claim.says for claim in found] == TASK
    return [claim.verdict for claim in found]


def test_a_task_as_the_paper_has_it():
    assert judged() == ["holds"] * 5


NO, DEPENDS = "does not hold", "depends on the setting"


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({"V-Learning": runs(40, 19)}, {0: NO}),  # it still moves in the last fifth
        ({"PG": runs(44, 19)}, {2: NO}),
        ({"V-Learning": runs(20.005)}, {1: NO}),  # the intervals overlap
        ({"V-Learning": runs(15)}, {1: NO}),
        ({"Independent": runs(42, 3)}, {1: NO}),
        ({"Independent": runs(20, 12)}, {4: NO}),  # slower
        ({"Independent": runs(44, 3)}, {1: NO, 3: NO, 4: NO}),  # as good as the best
        ({"Independent": {"a": runs(20, 3), "b": runs(42, 3)}}, {1: DEPENDS}),
        ({"Independent": {"a": runs(20, 3), "b": runs(20, 12)}}, {4: DEPENDS}),
        ({"PG": {"a": runs(44), "b": runs(44, 19)}}, {2: DEPENDS}),
        ({"PG": {"a": runs(44), "b": runs(10)}}, {3: DEPENDS}),
    ],
)
def test_each_claim_of_a_task_can_fail(changes: dict[str, Any], verdicts: dict[int, str]):
    assert judged(**changes) == [verdicts.get(k, "holds") for k in range(5)]


def test_good_state_alone():
    found = claims.good_state_claims(variants(), GAME)
    assert [claim.verdict for claim in found] == ["holds", "holds"]
    far = claims.good_state_claims(variants(PG=runs(40)), GAME)
    assert [claim.verdict for claim in far] == [NO, "holds"]
    long = variants()
    for run in long["PG"]["as is"]:
        run.episodes = 10**30
    assert claims.good_state_claims(long, GAME)[1].verdict == NO


def test_what_was_measured_is_told_with_its_interval():
    told = claims.told(claims.final_reward(runs(40)))
    assert told == "40.00 [39.99, 40.01]"
    found = claims.task_claims("GoodState", variants(), GAME)
    assert found[1].measured == "as is: 40.00 [39.99, 40.01] against Independent as is: 20.00 [19.99, 20.01]"


def test_the_table_shows_every_claim_and_marks_those_that_fail():
    found = claims.task_claims("GoodState", variants(PG=runs(10)), GAME)
    text = claims.table(found, {"good-state, PG": "`pg-storm`, 2000 episodes"}, 3)
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(found)
    assert "from 3 seeds" in text
    assert [row.endswith("| **does not hold** |") for row in rows[1:]] == [claim.verdict == NO for claim in found]
    assert "- good-state, PG: `pg-storm`, 2000 episodes" in text
