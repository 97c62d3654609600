"""Policies of networks: what they play, by hand; and files that are not what they say."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core.streams import agent_role, stream
from tacit.policies import Input, Network, NetworkPolicy, Part

INPUTS = (Input(("place",), 2), Input(("card",), 3, 1))


def network(heads: tuple[int, ...] = (2, 3), seed: int = 0) -> Network:
    rng = np.random.default_rng(seed)
    sizes = (5, 4, sum(heads))
    layers = tuple((rng.normal(size=(m, n)), rng.normal(size=n)) for m, n in itertools.pairwise(sizes))
    return Network(INPUTS, rng.normal(size=5), rng.uniform(0.5, 2, size=5), layers, heads)


class Device:
    """What docs/policy-json.md says, on the document alone."""

    def __init__(self, text: str, agent: int) -> None:
        content = json.loads(text)
        self.network = content["networks"][content["network"][agent]]

    def probabilities(self, observation: dict[str, Any]) -> list[float]:
        x: list[float] = []
        for one in self.network["inputs"]:
            value = observation
            for key in one["at"]:
                value = value[key]
            x += [float(value - one["start"] == k) for k in range(one["size"])] if "start" in one else list(value)  # type: ignore[operator, call-overload]
        pairs = zip(x, self.network["mean"], self.network["deviation"], strict=True)
        y = [min(max((value - mean) / deviation, -10), 10) for value, mean, deviation in pairs]
        for k, layer in enumerate(self.network["layers"]):
            columns = zip(*layer["weights"], strict=True)
            y = [
                b + sum(v * w for v, w in zip(y, column, strict=True))
                for column, b in zip(columns, layer["bias"], strict=True)
            ]
            if k + 1 < len(self.network["layers"]):
                y = np.tanh(y).tolist()
        logits, start = [0.0], 0
        for size in self.network["heads"]:
            logits = [one + other for one in logits for other in y[start : start + size]]
            start += size
        allowed = observation.get("action_mask", [1] * len(logits))
        weights = [np.exp(logit) * bool(free) for logit, free in zip(logits, allowed, strict=True)]
        return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("mask", [None, [0, 1, 0, 1, 1, 0], [0] * 6])
def test_a_part_plays_what_its_document_says(tmp_path: Path, mask: list[int] | None):
    policy = NetworkPolicy([network(), network(seed=1)], [1, 0])
    for agent, saved in ((None, "all.json"), (1, "one.json")):
        policy.save(tmp_path / saved, agent=agent)
    policy.save(tmp_path / "all.npz")
    assert "states" not in json.loads((tmp_path / "one.json").read_text())
    assert len(json.loads((tmp_path / "one.json").read_text())["networks"]) == 1
    device = Device((tmp_path / "one.json").read_text(), 0)
    parts = [
        Part.load(tmp_path / "one.json"),
        *(Part.load(tmp_path / name, agent=1) for name in ("all.json", "all.npz")),
    ]
    rng = np.random.default_rng(3)
    for seed in range(30):
        own = stream(seed, agent_role(1))
        seen = {"place": rng.normal(size=2).tolist(), "card": int(rng.integers(1, 4))}
        shown = seen if mask is None else {**seen, "action_mask": mask}
        probs = device.probabilities(shown if mask and any(mask) else seen)
        np.testing.assert_allclose(policy.part(1).distribution(0, seen, mask), probs, atol=1e-6)
        a = int((own.random() >= np.cumsum(probs)[:-1]).sum())
        for part in [policy.part(1), *parts]:
            part.begin(seed)
            assert part.act(0, observation=shown) == a
            assert part.best(1, shown) == np.argmax(probs)
        assert not mask or not any(mask) or mask[a]


def test_a_shared_network_is_stored_once(tmp_path: Path):
    policy = NetworkPolicy([network()], [0, 0, 0])
    policy.save(tmp_path / "policy.json")
    again = NetworkPolicy.load(tmp_path / "policy.json")
    assert (len(again.networks), again.agents, again.actions) == (1, 3, (6, 6, 6))
    np.testing.assert_array_equal(again.networks[0].layers[0][0], policy.networks[0].layers[0][0])
    assert repr(again) == "NetworkPolicy(3 agents in 1 networks, 49 weights)"


def alter(change: Any, tmp_path: Path) -> Path:
    path = tmp_path / "policy.json"
    NetworkPolicy([network()], [0]).save(path)
    content = json.loads(path.read_text())
    change(content, content["networks"][0])
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, n: n["layers"][0]["weights"].pop(), "must have shape"),
        (lambda c, n: n["layers"][1]["bias"].append(0.0), "must have shape"),
        (lambda c, n: n["layers"].pop(), "as many outputs"),
        (lambda c, n: n.update(layers=[]), "1 to 64 layers"),
        (lambda c, n: n.update(layers=[3]), "list of layers"),
        (lambda c, n: n["mean"].pop(), "must have shape"),
        (lambda c, n: n["deviation"].__setitem__(0, 0.0), "above 0"),
        (lambda c, n: n["mean"].__setitem__(0, 1e300), "finite"),
        (lambda c, n: n["mean"].__setitem__(0, "x"), "real numbers"),
        (lambda c, n: n["inputs"][1].update(size=10**12), "size must be"),
        (lambda c, n: n["inputs"][1].update(size=10**6), "1 to 1,000,000 inputs"),
        (lambda c, n: n["inputs"][0].update(at=[{}]), "at must be"),
        (lambda c, n: n.update(inputs=[1]), "list of inputs"),
        (lambda c, n: n.update(heads=[10**6, 10**6]), "1 to 1,000,000 actions"),
        (lambda c, n: n.update(heads=[3, 2, 0]), "heads must be"),
        (lambda c, n: c.update(actions=[7]), "its actions are"),
        (lambda c, n: c.update(network=[1]), "network"),
        (lambda c, n: c.update(networks={}), "its networks must be"),
        (lambda c, n: c.pop("network"), "its network must be"),
    ],
)
def test_an_altered_document_is_refused(tmp_path: Path, change: Any, message: str):
    with pytest.raises(tacit.TacitError, match=message):
        tacit.policies.load(alter(change, tmp_path))


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        ({"place": [1.0, 2.0, 3.0], "card": 1}, "2 finite numbers"),
        ({"place": [1.0, np.nan], "card": 1}, "2 finite numbers"),
        ({"place": [1.0, 2.0], "card": 4}, "from 1 to 3"),
        ({"place": [1.0, 2.0]}, "no numbers at"),
        ([1.0], "no numbers at"),
    ],
)
def test_an_observation_of_another_kind_is_refused(seen: Any, message: str):
    with pytest.raises(tacit.TacitError, match=message):
        NetworkPolicy([network()], [0]).part(0).distribution(0, seen)
