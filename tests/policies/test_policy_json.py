"""Policies as JSON: read back equal, and played by twenty lines that know only `json` and two uniform numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import learn_average

import tacit
from tacit.core.streams import ENVIRONMENT, agent_role, stream
from tacit.policies import DeployedPolicy, MarkovPolicy

GAMES: dict[str, tuple[str, dict[str, Any], str]] = {
    "good-state": ("good-state", {"horizon": 5}, "stage-v-cce"),
    "ce": ("good-state", {"horizon": 3}, "stage-v-ce"),
    "three agents": (
        "random-general-sum",
        {"agents": 3, "states": 4, "actions": [3, 1, 2], "horizon": 4},
        "v-learning",
    ),
    "many states": ("random-general-sum", {"states": 12, "actions": [2, 5], "horizon": 3}, "stage-v-cce"),
    "one step": ("chicken", {}, "stage-v-cce"),
}


@pytest.fixture(scope="module", params=GAMES)
def deployed(request: pytest.FixtureRequest) -> DeployedPolicy:
    name, params, learner = GAMES[request.param]
    run = learn_average(tacit.make(name, **params), learner, episodes=3000, seed=1, bonus=0.05, certify=False)
    policy = run.policy.deploy(40, seed=2)
    assert isinstance(policy, DeployedPolicy)
    return policy


KEYS = ["row", "following", "stored", "first", "actions", "states", "horizon"]


def same(one: DeployedPolicy, two: DeployedPolicy) -> bool:
    return all(np.array_equal(getattr(one, key), getattr(two, key)) for key in KEYS)


# a player of deployed policies that shares no code with tacit --------------------------------------------------------


class Player:
    """Agent i of a document of all agents, or with i = 0 the agent of a part's document."""

    def __init__(self, text: str, i: int) -> None:
        self.policy = json.loads(text)
        self.i = i
        self.node = 0

    def begin(self, u: float) -> None:
        self.node = self.policy["runs"][int(u * len(self.policy["runs"]))]

    def act(self, s: int, u: float) -> int:
        row = self.policy["nodes"][self.node].get(str(s))
        self.node = row[0] if row else 0
        size = self.policy["actions"][self.i]
        probs = row[1 + self.i] if row else [1 / size] * (size - 1)
        total = 0.0
        for a, p in enumerate(probs):
            total += p
            if u < total:
                return a
        return size - 1


@pytest.mark.parametrize("alone", [False, True], ids=["of all agents", "of each agent alone"])
def test_a_plain_player_does_what_the_parts_do(deployed: DeployedPolicy, alone: bool, tmp_path: Path):
    """Decimals are not 32-bit floats: an action may differ once in some 10^8 draws; here are fewer, of fixed seeds."""
    players, parts = [], [deployed.part(i) for i in range(deployed.agents)]
    for i in range(deployed.agents):
        place = tmp_path / f"{i}.json"
        deployed.save(place, agent=i if alone else None)
        players.append(Player(place.read_text(), 0 if alone else i))
    states, followed = np.random.default_rng(3), 0
    for seed in range(1500):
        own = [stream(seed, agent_role(i)).random(deployed.horizon) for i in range(deployed.agents)]
        for part, player in zip(parts, players, strict=True):
            part.begin(seed)
            player.begin(stream(seed, ENVIRONMENT).random())
        for h in range(deployed.horizon):
            s = int(states.integers(deployed.states))
            for part, player, u in zip(parts, players, own, strict=True):
                assert player.act(s, u[h]) == part.act(h, s)
                assert player.node == part.node
            followed += parts[0].node > 0 or h == deployed.horizon - 1
    assert followed > 500  # most play is by the record


# round trips --------------------------------------------------------------------------------------------------------


def test_a_thinned_policy_is_read_back_equal(deployed: DeployedPolicy, tmp_path: Path):
    deployed.save(tmp_path / "policy.json")
    back = DeployedPolicy.load(tmp_path / "policy.json")
    assert same(back, deployed)
    back.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "policy.json").read_bytes()
    assert sorted(place.name for place in tmp_path.iterdir()) == ["again.json", "policy.json"]


@pytest.mark.parametrize("correlated", [False, True])
@pytest.mark.parametrize("game", ["good-state", "chicken", "random-general-sum"])
def test_a_markov_policy_is_read_back_equal(game: str, correlated: bool, tmp_path: Path):
    policy = MarkovPolicy.random(tacit.make(game), correlated=correlated)
    policy.save(tmp_path / "policy.json")
    back = MarkovPolicy.load(tmp_path / "policy.json")
    assert back.product == policy.product
    assert all((one == two).all() for one, two in zip(back.probs, policy.probs, strict=True))


def test_a_policy_that_never_leaves_the_start_is_one_empty_node(tmp_path: Path):
    """Two episodes end no stage: all play evenly."""
    policy = tacit.policies.RecordedPolicy(
        np.zeros((2, 3), np.uint8), np.full((2, 3, 2), 0.25, np.float32), actions=(2, 2), states=1
    ).deploy(4)
    policy.save(tmp_path / "policy.json")
    found = json.loads((tmp_path / "policy.json").read_text())
    assert (found["runs"], found["nodes"]) == ([0] * 4, [{}])
    assert same(DeployedPolicy.load(tmp_path / "policy.json"), policy)


# parts ----------------------------------------------------------------------------------------------------------------


def test_a_part_says_nothing_of_the_others(tmp_path: Path):
    """Another policy of agent 1 leaves the document of agent 0 as it is."""
    rows, following, first = np.array([2, 3]), np.zeros(2), np.ones(1)
    documents = []
    for others in (0.25, 0.75):
        stored = np.array([[0.5, others, 0.125], [0.25, others, 0.125]])
        policy = DeployedPolicy(rows, following, stored, first, actions=(2, 3), states=2, horizon=1)
        policy.save(tmp_path / "0.json", agent=0)
        documents.append((tmp_path / "0.json").read_bytes())
    assert documents[0] == documents[1]
    found = json.loads(documents[0])
    assert (found["agent"], found["actions"], found["nodes"][1]) == (0, [2], {"0": [0, [0.5]], "1": [0, [0.25]]})


def test_a_markov_part_is_the_agents_table(tmp_path: Path):
    policy = MarkovPolicy.random(tacit.make("random-general-sum", actions=[2, 3]))
    policy.save(tmp_path / "1.json", agent=1)
    found = json.loads((tmp_path / "1.json").read_text())
    assert (found["agent"], found["actions"], found["probs"]) == (1, [3], [policy.probs[1].tolist()])


# what is refused -----------------------------------------------------------------------------------------------------


def test_what_cannot_be_written_is_told(deployed: DeployedPolicy, tmp_path: Path):
    with pytest.raises(tacit.TacitError, match=f"agent is {deployed.agents}; it must be a whole number"):
        deployed.save(tmp_path / "policy.json", agent=deployed.agents)
    with pytest.raises(tacit.TacitError, match=r"part of agent 0 to .*policy\.npz; a part alone is a \.json file"):
        deployed.save(tmp_path / "policy.npz", agent=0)
    with pytest.raises(tacit.TacitError, match=r"cannot write .*none/policy\.json: No such file"):
        deployed.save(tmp_path / "none" / "policy.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(tacit.TacitError, match=r"cannot write .*folder\.json"):
        deployed.save(tmp_path / "folder.json")
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
    with pytest.raises(tacit.TacitError, match=r"use policy\.deploy\(200\)\.save\('.*policy\.json'\)"):
        policy.save(tmp_path / "policy.json")


def test_one_kind_is_not_read_as_another(deployed: DeployedPolicy, tmp_path: Path):
    deployed.save(tmp_path / "deployed.json")
    deployed.save(tmp_path / "part.json", agent=0)
    MarkovPolicy.uniform(tacit.make("chicken")).save(tmp_path / "markov.json")
    for reader, name, told in (
        (MarkovPolicy, "deployed", "holds another kind of policy; tacit.policies.load reads every kind"),
        (DeployedPolicy, "markov", "holds another kind of policy; tacit.policies.load reads every kind"),
        (DeployedPolicy, "part", "holds the part of agent 0 alone"),
        (DeployedPolicy, "none", "no file"),
    ):
        with pytest.raises(tacit.TacitError, match=told):
            reader.load(tmp_path / f"{name}.json")
