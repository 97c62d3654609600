"""The page and the CSV file say what was judged."""

from __future__ import annotations

import csv

from synthetic import measured, task, team

import claims
import page
from tacit.experiments import summarize

GROUPS = {
    "V-Learning": [measured("raw", 9, gap=summarize([0.1]), kind="cce"), measured("normalized", 1)],
    "PG": [measured("a", 9)],
    "Centralized": [measured("a", 10)],
    "Independent, caption": [measured("zero", 5, when=100)],
}


def test_the_page_names_verdicts_settings_and_rules():
    found = claims.task_claims(task("GoodState"), GROUPS)
    text = page.page(found, [page.task_table(task("GoodState"), GROUPS)], {"x": "y"}, {"GoodState": 5})
    assert (
        "| V-Learning outperforms Independent | GoodState | caption | **depends on the setting** | raw (above zero) |"
        in text
    )
    assert "| the trajectory of PG converges and achieves high rewards | GoodState |  | holds | a |" in text
    assert "| V-Learning | raw | 9.00 [8." in text
    assert "- *… outperforms Independent*: its interval lies above Independent's." in text
    assert "Seeds: GoodState 5." in text
    columns = {line.count("|") for line in text.splitlines() if line.startswith("|")}
    assert columns == {6, 9}  # the verdicts' and the task's: no cell breaks a row


def test_the_team_table_says_what_the_average_is_over():
    text = page.team_table(task(), {"PG": [team("s", averaged="the points of the curve")]})
    assert "mean over the points of the curve" in text
    assert "| PG | s | 0.000 [0.000, 0.000] | 0.010 [0.010, 0.010] | 9.10 [9.10, 9.10] |" in text


def test_numbers_are_a_csv_file():
    text = page.write_csv(page.rows("GoodState", GROUPS) + page.rows("team", {"PG": [team("s")]}))
    rows = list(csv.DictReader(text.splitlines()))
    assert rows[0]["measure"] == "reward"
    assert float(rows[0]["mean"]) == 9.0
    assert int(rows[0]["seeds"]) == 5
    assert [row["measure"] for row in rows if row["setting"] == "raw"] == ["reward", "gap"]
    assert {row["measure"] for row in rows if row["task"] == "team"} >= {"value", "average_value", "lag"}
