"""Every figure that others stated of a game, beside ours; those that take long are checked in the slow tests."""

import json
import runpy
from pathlib import Path

import pytest

import tacit
from tacit.cli.listing import _stated_policy, check_entry
from tacit.cli.main import main
from tacit.evaluation import verify
from tacit.games.atlas import ENTRIES, read_reached, recommend

QUICK = [name for name, entry in ENTRIES.items() if entry.seconds < 0.5]
LONG = [name for name, entry in ENTRIES.items() if entry.seconds >= 0.5]


def differences(names):
    return [
        f"{name}: {found['question']} is stated as {found['stated']}, and ours is {found['ours']}"
        for name in names
        for found in check_entry(ENTRIES[name])
        if not found["agrees"]
    ]


def test_all_quick_figures_agree():
    assert differences(QUICK) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_figures_that_take_longer_agree(name):
    assert differences([name]) == []


def prove_entry(entry):
    """Yield a proof of the gap of each policy that a figure is of; some are of none, as the number of equilibria."""
    game = entry.make()
    for figure in entry.figures:
        concept, _, rule = figure.question.partition(" ")
        if figure.policy or concept in ("nash", "ce", "cce"):
            solved = None if figure.policy else tacit.solve(game, concept, objective=rule or "welfare").policy
            policy = _stated_policy(game, figure) if solved is None else solved
            yield tacit.prove(game, policy, gap="nash" if policy.product else concept)


def check_proofs(name):
    """Each policy that a figure is of is proven, and near its exact gap; both checkers accept the proof."""
    entry = ENTRIES[name]
    for proof in prove_entry(entry):
        assert verify.check(proof.document)[0] == 0
        assert proof.bound < 1e-3 * max(1.0, *map(abs, entry.make().reward_range)) or any(
            f.policy for f in entry.figures
        )


def test_a_figure_is_proven():
    check_proofs("kuhn-poker")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.seconds < 60])
def test_all_exact_figures_are_proven(name):
    check_proofs(name)


def test_a_wrong_figure_is_noticed():
    entry = ENTRIES["kuhn-poker"]
    (right,) = check_entry(entry)
    assert right["agrees"]
    assert right["off"] < 1e-12
    wrong = type(entry.figures[0])("nash", (-1 / 17, 1 / 17))
    (found,) = check_entry(type(entry)(entry.name, entry.source, entry.about, entry.make, [wrong]))
    assert not found["agrees"]
    assert found["off"] == pytest.approx(1 / 17 - 1 / 18)


def test_the_atlas_has_many_games_sources_and_steps():
    assert len(ENTRIES) >= 50
    assert len({entry.source for entry in ENTRIES.values()}) >= 20
    made = [tacit.make(f"atlas/{name}") for name in QUICK]
    assert sum((game.horizon or 2) > 1 and game.states > 1 for game in made) >= 50
    assert all(entry.about.strip() and entry.source for entry in ENTRIES.values())


def test_atlas_games_are_named_and_not_listed():
    game = tacit.make("atlas/inspection-4-2", periods=5)
    assert game.horizon == 5
    assert not any(name.startswith("atlas/") for name in tacit.games.REGISTRY)
    assert "atlas/inspection-4-2" in tacit.games.REGISTRY


def test_the_page_says_what_the_data_say():
    root = Path(__file__).parents[2]
    script = runpy.run_path(str(root / "benchmarks" / "atlas.py"))
    data = json.loads((root / "docs" / "atlas.json").read_text(encoding="utf-8"))
    assert list(data) == list(ENTRIES)
    for name, one in data.items():
        asked = [
            (figure.question, list(figure.stated) if isinstance(figure.stated, tuple) else figure.stated)
            for figure in ENTRIES[name].figures
        ]
        assert [(figure["question"], figure["stated"]) for figure in one["figures"]] == asked
        assert one["read"] == ENTRIES[name].read
        assert {count for runs in one["learned"].values() for count in runs} == set(script["COUNTS"])
    summary = script["summarize"](data)
    page = script["page"](data, script["pictured"](data), summary)
    assert page == (root / "docs" / "atlas.md").read_text(encoding="utf-8")
    assert summary == read_reached()  # what runs give advice by


def test_advice_names_a_better_learner_on_such_games():
    pennies = tacit.make("matching-pennies")
    assert recommend(pennies, "q-independent").startswith(
        "of the zero-sum games of the atlas, adaptive-v-cce came to a"
    )
    assert recommend(pennies, "adaptive-v-cce") == ""
    assert recommend(pennies, "my-own") == ""  # the atlas says nothing of it
    assert recommend(tacit.make("congestion"), "q-independent") == ""


def test_soccer_has_pictures_that_differ_from_state_to_state():
    game = tacit.make("atlas/soccer")
    pictures = {game.picture(s).tobytes() for s in range(30)}
    assert game.picture(0).shape == (48 * 4, 48 * 7, 3)
    assert len(pictures) > 30 / 4


@pytest.mark.parametrize(
    ("name", "action"), [("oshi-zumo", (0, "bid 0")), ("big-match", (1, "zero")), ("piglet", (1, "flip"))]
)
def test_actions_with_a_meaning_have_a_name(name, action):
    agent, first = action
    assert tacit.make(f"atlas/{name}").action_names[agent][0] == first


def test_the_command_prints_rules_source_and_fractions(capsys):
    assert main(["atlas", "kuhn-poker"]) == 0
    printed = capsys.readouterr().out
    assert "The higher card wins." in printed
    assert "source: H. Kuhn" in printed
    assert "-1/18 1/18" in printed
    assert main(["atlas", "kuhn-pokr"]) == 2
    told = capsys.readouterr().err
    assert "did you mean 'kuhn-poker'?" in told
    assert "stengel" not in told


def test_rounding_is_no_welfare(capsys, interpreted):
    assert (
        main(["run", "atlas/goofspiel-3", "adaptive-v-cce", "--episodes", "20", "--seeds", "2", "--on", "threads"]) == 0
    )
    printed = capsys.readouterr().out
    assert "welfare 0\n" in printed
    assert "optimum" not in printed  # every policy has the same welfare
