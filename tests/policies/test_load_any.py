"""`policies.load` reads every kind of policy: a file states its kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit import policies


@pytest.fixture(scope="module")
def kinds() -> dict[str, object]:
    game = tacit.make("good-state", horizon=3)
    certified = learn_average(game, "stage-v-cce", episodes=60, bonus=0.1).policy
    return {
        "product": tacit.solve(game, "optimum").policy,
        "correlated": tacit.solve(game, "ce").policy,
        "certified": certified,
    }


CLASSES = {
    "product": tacit.MarkovPolicy,
    "correlated": tacit.MarkovPolicy,
    "certified": tacit.policies.RecordedPolicy,
}
FORMS = [(kind, ending) for kind in CLASSES for ending in ("npz", "json") if (kind, ending) != ("certified", "json")]


@pytest.mark.parametrize(("kind", "ending"), FORMS)
def test_each_kind_comes_back_as_what_it_was(kind: str, ending: str, kinds: dict[str, object], tmp_path: Path):
    path, policy = tmp_path / f"p.{ending}", kinds[kind]
    policy.save(path)  # type: ignore[attr-defined]
    found = policies.load(path)
    assert type(found) is CLASSES[kind] is type(policy)
    own = CLASSES[kind].load(path)  # type: ignore[attr-defined]
    game = tacit.make("good-state", horizon=3)
    concept = "nash" if kind == "product" else "cce"
    one, other = (tacit.evaluate(game, given, gap=concept) for given in (found, own))
    np.testing.assert_array_equal(one.values, other.values)
    np.testing.assert_array_equal(one.gaps, other.gaps)
    np.testing.assert_allclose(one.values, tacit.evaluate(game, policy, gap=concept).values, atol=1e-9)


@pytest.mark.parametrize(("kind", "ending"), FORMS)
def test_the_class_of_another_kind_names_the_right_one(
    kind: str, ending: str, kinds: dict[str, object], tmp_path: Path
):
    path = tmp_path / f"p.{ending}"
    kinds[kind].save(path)  # type: ignore[attr-defined]
    for other in set(CLASSES.values()) - {CLASSES[kind]}:
        if (other, ending) == (tacit.policies.RecordedPolicy, "json"):
            continue  # there is no such file
        with pytest.raises(tacit.TacitError, match=r"p\.") as caught:
            other.load(path)  # type: ignore[attr-defined]
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.npz", b"PK nothing"),
        ("p.npz", b""),
        ("p.json", b"{"),
        ("p.json", b"[]"),
        ("p.json", b"3"),
        ("p.json", b'{"format": "tacit policy", "version": 1, "kind": "magic"}'),
        ("p.json", b'{"format": "tacit policy", "version": 1, "kind": ["product"]}'),
        ("p.txt", b"nothing"),
    ],
)
def test_what_is_no_policy_is_told_by_name(name: str, content: bytes, tmp_path: Path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(tacit.TacitError, match=name.replace(".", r"\.")) as caught:
        policies.load(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_other_archives_are_no_policies(tmp_path: Path):
    tacit.make("chicken").save(tmp_path / "game.npz")
    with pytest.raises(tacit.TacitError, match=r"game\.npz"):
        policies.load(tmp_path / "game.npz")
    for load in (policies.load, tacit.policies.Part.load):
        with pytest.raises(tacit.TacitError, match="no file"):
            load(tmp_path / "missing.npz")
    np.savez(tmp_path / "odd.npz", kind=np.array("magic"), probs=np.ones((1, 1, 1)))
    with pytest.raises(tacit.TacitError, match=r"odd\.npz"):
        policies.load(tmp_path / "odd.npz")


def test_what_a_run_stores_is_read_by_its_kind(tmp_path: Path):
    from tacit.experiments import Experiment, GameSpec, LearnerSpec, run_experiment, store

    both = (LearnerSpec("stage-v-ce"), LearnerSpec("pg-storm"))
    run_experiment(Experiment("both", 400, (GameSpec("matching-pennies"),), both), out=tmp_path)
    places = {store.load(place).label: place for place in store.directories(tmp_path)}
    kinds = {label: type(store.load_policy(place)) for label, place in places.items()}
    assert kinds == {"stage-v-ce": tacit.MarkovPolicy, "pg-storm": tacit.MarkovPolicy}


def test_files_of_other_things_are_told_by_what_they_are(kinds: dict[str, object], tmp_path: Path):
    tacit.make("chicken").save(tmp_path / "game.npz")
    tacit.agent("adaptive-v-cce", states=1, actions=2, horizon=1, reward_range=(0, 1)).save(tmp_path / "agent.npz")
    (tmp_path / "text.npz").write_text("no archive at all, but long enough to have a tail " * 9)
    told = {"game": "holds a game", "agent": "holds an agent", "text": "is not a whole .npz file"}
    for name, words in told.items():
        with pytest.raises(tacit.TacitError, match=words):
            tacit.policies.Part.load(tmp_path / f"{name}.npz", agent=0)
    with pytest.raises(tacit.TacitError, match=r"a recorded policy is a \.npz"):
        kinds["certified"].save(tmp_path / "part.json", agent=0)  # type: ignore[attr-defined]


def test_a_kind_of_ones_own_is_known(tmp_path: Path):
    class Marked(tacit.MarkovPolicy):
        said, kinds = "a marked policy", ("marked",)

        def _arrays(self) -> dict[str, object]:
            return {**super()._arrays(), "kind": np.array("marked")}

    policy = Marked([np.full((1, 1, 2), 0.5)])
    policy.save(tmp_path / "p.npz")
    assert type(policies.load(tmp_path / "p.npz")) is Marked
