"""Games and learners by name, what tables call games from files, and the order in which stored results come back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import tacit
from tacit.experiments import Experiment, GameSpec, LearnerSpec, Results


def test_names_stand_for_specs():
    given = Experiment("x", 10, ["stag-hunt", GameSpec("chicken")], "npg")
    assert given.games == (GameSpec("stag-hunt"), GameSpec("chicken"))
    assert given.learners == (LearnerSpec("npg"),)
    assert [one.spec.game.name for one in given.run().outcomes] == ["stag-hunt", "chicken"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"games": (tacit.make("chicken"),)}, r"games\[0\] must be a name, or a GameSpec.*; got TabularGame"),
        ({"games": "chicken", "learners": ("npg", 3)}, r"learners\[1\] must be a name, or a LearnerSpec.*; got 3"),
        ({"games": ("chicken", {"nam": "chicken"})}, "nam"),
        ({"games": ()}, "games must have at least one entry"),
    ],
)
def test_anything_else_is_refused_at_once(wrong, words: str):
    with pytest.raises(tacit.TacitError, match=words):
        Experiment("x", 10, **wrong)


def test_a_game_file_is_called_by_the_name_it_holds(tmp_path: Path):
    for file, name in (("a.npz", "crossing"), ("b.npz", "bridge"), ("c.npz", "bridge"), ("d.npz", "chicken")):
        tacit.matrix_game(tacit.make("chicken").rewards[:, 0, 0], name=name).save(tmp_path / file)
    files = [str(tmp_path / file) for file in ("a.npz", "b.npz", "c.npz", "d.npz")]
    results = Experiment("x", 1, (*files, "chicken", GameSpec("stag-hunt", label="hunt")), ("npg",)).run()
    assert [group.game for group in results.groups] == ["crossing", *files[1:], "chicken", "hunt"]
    assert "crossing" in str(results.table())
    assert results.plot()[0, 0].get_title() == "crossing"


def test_stored_results_have_the_order_of_the_experiment(tmp_path: Path):
    given = Experiment("x", 1, ("stag-hunt", "chicken"), ("npg", "adaptive-v-cce"), seeds=2)
    order = [(one.spec.game.name, one.spec.learner.name, one.spec.seed) for one in given.run(out=tmp_path).outcomes]
    assert order[0] == ("stag-hunt", "npg", 0)
    loaded = Results.load(tmp_path, tmp_path)
    assert [(one.spec.game.name, one.spec.learner.name, one.spec.seed) for one in loaded.outcomes] == order
    games = [group.game for group in Results.load(str(tmp_path)).groups]
    assert games == ["stag-hunt", "stag-hunt", "chicken", "chicken"]
    Experiment("y", 1, ("chicken",), ("npg",)).run(out=tmp_path)  # alone, it keeps its place among the others
    assert Results.load(tmp_path).groups[0].game == "stag-hunt"
    turned = replace(given, games=given.games[::-1]).run(out=tmp_path)
    assert not any(one.learned for one in turned.outcomes)  # the same runs, in another order
    assert [group.game for group in Results.load(tmp_path).groups] == ["chicken", "chicken", "stag-hunt", "stag-hunt"]
