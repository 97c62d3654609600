"""Policies as JSON: read back equal, and played by twenty lines that know only `json` and two uniform numbers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit.core.streams import ENVIRONMENT, agent_role, stream
from tacit.policies import MarkovPolicy, NetworkPolicy


@pytest.fixture
def product() -> MarkovPolicy:
    game = tacit.make("random-general-sum", agents=3, states=4, actions=[3, 1, 2], horizon=4)
    return MarkovPolicy.random(game)


# a player that shares no code with tacit ----------------------------------------------------------------------------


class Player:
    """Agent i of a document of all agents, or with i = 0 the agent of a part's document."""

    def __init__(self, text: str, i: int) -> None:
        self.policy, self.i = json.loads(text), i

    def act(self, h: int, s: int, common: float, own: float) -> int:
        actions, probs = self.policy["actions"], self.policy["probs"]
        if self.policy["kind"] == "product":
            return self.draw(probs[self.i][h % len(probs[self.i])][s], own)
        joint = self.draw(probs[h % len(probs)][s], common)
        for size in actions[: self.i : -1]:
            joint //= size
        return joint % actions[self.i]

    @staticmethod
    def draw(probs: list[float], u: float) -> int:
        total = 0.0
        for a, p in enumerate(probs[:-1]):
            total += p
            if u < total:
                return a
        return len(probs) - 1


@pytest.mark.parametrize("kind", ["product", "correlated", "of each agent alone", "the same at every step"])
def test_a_plain_player_does_what_the_parts_do(kind: str, tmp_path: Path):
    """Running sums are taken in the same order, so that all draws agree."""
    game = tacit.make("random-general-sum", agents=3, states=4, actions=[3, 2, 4], horizon=4, seed=2)
    policy = MarkovPolicy.random(game, seed=1, correlated=kind == "correlated")
    if kind == "the same at every step":
        policy = MarkovPolicy([np.repeat(table[:1], 4, axis=0) for table in policy.probs])
    alone, players = kind == "of each agent alone", []
    for i in range(3):
        policy.save(tmp_path / "policy.json", agent=i if alone else None)
        players.append(Player((tmp_path / "policy.json").read_text(), 0 if alone else i))
    parts, states = [policy.part(i) for i in range(3)], np.random.default_rng(3)
    for seed in range(500):
        common = stream(seed, ENVIRONMENT).random(4)
        own = [stream(seed, agent_role(i)).random(4) for i in range(3)]
        for part in parts:
            part.begin(seed)
        for h in range(4):
            s = int(states.integers(4))
            for part, player, u in zip(parts, players, own, strict=True):
                assert player.act(h, s, common[h], u[h]) == part.act(h, s)


# round trips --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("game", ["good-state", "chicken", "random-general-sum"])
def test_a_markov_policy_is_read_back_equal(game: str, correlated: bool, tmp_path: Path):
    policy = MarkovPolicy.random(tacit.make(game), correlated=correlated)
    policy.save(tmp_path / "policy.json")
    back = MarkovPolicy.load(tmp_path / "policy.json")
    assert back.product == policy.product
    assert all((one == two).all() for one, two in zip(back.probs, policy.probs, strict=True))
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "policy.json").read_bytes()
    assert sorted(place.name for place in tmp_path.iterdir()) == ["again.json", "policy.json"]


# parts ----------------------------------------------------------------------------------------------------------------


def test_a_part_says_nothing_of_the_others(product: MarkovPolicy, tmp_path: Path):
    """Another policy of agent 2 leaves the document of agent 0 as it is."""
    documents = []
    for others in (product.probs[2], np.full(product.probs[2].shape, 0.5)):
        MarkovPolicy([*product.probs[:2], others]).save(tmp_path / "0.json", agent=0)
        documents.append((tmp_path / "0.json").read_bytes())
    assert documents[0] == documents[1]


def test_a_markov_part_is_the_agents_table(tmp_path: Path):
    policy = MarkovPolicy.random(tacit.make("random-general-sum", actions=[2, 3]))
    policy.save(tmp_path / "1.json", agent=1)
    found = json.loads((tmp_path / "1.json").read_text())
    assert (found["agent"], found["actions"], found["probs"]) == (1, [3], [policy.probs[1].tolist()])


# what is refused -----------------------------------------------------------------------------------------------------


def test_what_cannot_be_written_is_told(product: MarkovPolicy, tmp_path: Path):
    with pytest.raises(tacit.TacitError, match="agent must be a whole number"):
        product.save(tmp_path / "policy.json", agent=3)
    with pytest.raises(tacit.TacitError, match=r"part of agent 0 to .*policy\.npz; a part alone is a \.json file"):
        product.save(tmp_path / "policy.npz", agent=0)
    with pytest.raises(tacit.TacitError, match=r"cannot write .*none/policy\.json: No such file"):
        product.save(tmp_path / "none" / "policy.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(tacit.TacitError, match=r"cannot write .*folder\.json"):
        product.save(tmp_path / "folder.json")
    assert [place.name for place in tmp_path.iterdir()] == ["folder.json"]


def test_a_correlated_policy_has_no_parts(tmp_path: Path):
    policy = MarkovPolicy.random(tacit.make("chicken"), correlated=True)
    with pytest.raises(tacit.TacitError, match="a correlated policy has no parts"):
        policy.save(tmp_path / "0.json", agent=0)
    policy.save(tmp_path / "all.json")
    document = json.loads((tmp_path / "all.json").read_text(encoding="utf-8")) | {"agent": 0}
    (tmp_path / "part.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(tacit.TacitError, match="is not a part of a policy"):
        tacit.policies.Part.load(tmp_path / "part.json")


def test_a_certified_policy_says_what_to_write_instead(tmp_path: Path):
    policy = tacit.policies.RecordedPolicy(
        np.zeros((2, 1), np.uint8), np.zeros((2, 1, 1), np.float32), actions=(2,), states=1
    )
    with pytest.raises(tacit.TacitError, match=r"policy\.json: a recorded policy is a \.npz"):
        policy.save(tmp_path / "policy.json")


def test_one_kind_is_not_read_as_another(product: MarkovPolicy, tmp_path: Path):
    product.save(tmp_path / "markov.json")
    product.save(tmp_path / "part.json", agent=0)
    for reader, name, message in (
        (NetworkPolicy, "markov", "holds another kind of policy; tacit.policies.load reads every kind"),
        (MarkovPolicy, "part", "holds the part of agent 0 alone"),
        (MarkovPolicy, "none", "no file"),
    ):
        with pytest.raises(tacit.TacitError, match=message):
            reader.load(tmp_path / f"{name}.json")
