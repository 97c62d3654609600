"""A policy of small networks: from an observation to probabilities, with NumPy alone.

An observation becomes a vector x: arrays are flattened, an integer of a finite set becomes a unit vector. Then, with
the weights W_1, b_1, …, W_L, b_L of fully connected layers,

    y_0 = min(max((x − mean) / deviation, −10), 10)
    y_l = tanh(y_{l−1} W_l + b_l)    for l < L
    logits = y_{L−1} W_L + b_L

and the probabilities are the softmax of the logits over the actions that are allowed. An action of several parts has
logits for each of them (`heads`); the logit of an action is the sum of those of its parts.
`docs/policy-json.md` describes the file.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from tacit.core import check, files
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.policies.base import Part, Policy, list_of, parse_json
from tacit.policies.recorded import check_actions

#: Normalised inputs are cut off here.
CLIP = 10.0

#: Numbers that a network may read, and layers that it may have.
MOST_INPUTS, MOST_LAYERS = 1_000_000, 64

PLAY = (
    "Agent i uses networks[network[i]]. x has, for each entry of inputs, the numbers at the place `at` of the "
    "observation (size of them), or, where there is a start, a 1 at index value - start among size zeros. "
    "y = (x - mean) / deviation, cut off at -10 and 10; for each layer y = y * weights + bias, and y = tanh(y) but "
    "after the last. The logit of an action is the sum of its parts' (heads; the last part counts fastest); "
    "probabilities are the softmax over the actions that action_mask allows, to be drawn from with a number of the "
    "agent's own."
)


class Input(NamedTuple):
    """A part of an observation that a network reads.

    Attributes
    ----------
    at : tuple of str and int
        Where in the observation: keys of objects and indices of lists.
    size : int
        Numbers of an array; or how many values an integer can have, which becomes a unit vector.
    start : int or None
        The least value of such an integer; None for an array.

    Examples
    --------
    >>> from tacit.policies import Input
    >>> Input(("card",), 3, start=1).read({"card": 2}).tolist()
    [0.0, 1.0, 0.0]
    """

    at: tuple[str | int, ...]
    size: int
    start: int | None = None

    def read(self, observation: Any) -> FloatArray:
        """Return the numbers of this part."""
        try:
            value = observation
            for key in self.at:
                value = value[key]
            numbers = np.asarray(value, dtype=np.float64).ravel()
        except (KeyError, IndexError, TypeError, ValueError):
            raise TacitError(f"{brief(observation)} has no numbers at {brief(list(self.at))}") from None
        if self.start is None:
            if len(numbers) != self.size or not np.isfinite(numbers).all():
                raise TacitError(f"an observation must have {self.size} finite numbers; got {brief(value)}")
            return numbers
        if len(numbers) != 1 or numbers[0] - self.start not in range(self.size):
            raise TacitError(f"an observation must be from {self.start} to {self.start + self.size - 1}; got {value}")
        unit = np.zeros(self.size)
        unit[int(numbers[0]) - self.start] = 1.0
        return unit


class Network(NamedTuple):
    """A network from observations to logits.

    Attributes
    ----------
    inputs : tuple of Input
    mean, deviation : array [D]
        What normalises the D numbers that it reads.
    layers : tuple of (weights [inputs, outputs], bias [outputs])
    heads : tuple of int
        Values that each part of an action has; their product is the number of actions.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import Input, Network
    >>> even = Network((Input((), 1),), np.zeros(1), np.ones(1), ((np.zeros((1, 5)), np.zeros(5)),), (2, 3))
    >>> even.actions, even.probs(np.ones(1)).round(3).tolist()[:2]
    (6, [0.167, 0.167])
    """

    inputs: tuple[Input, ...]
    mean: FloatArray
    deviation: FloatArray
    layers: tuple[tuple[FloatArray, FloatArray], ...]
    heads: tuple[int, ...]

    @property
    def actions(self) -> int:
        """The number of actions."""
        return math.prod(self.heads)

    def probs(self, x: FloatArray, allowed: Any = None) -> FloatArray:
        """Return the probabilities of actions, [A], from the numbers of an observation."""
        outputs = forward(self.layers, normalise(x, self.mean, self.deviation))
        return softmax(joint_logits(outputs, self.heads), True if allowed is None else allowed)


def read(inputs: Sequence[Input], observation: Any) -> FloatArray:
    """Return the numbers of an observation, [D]."""
    each = [one.read(observation) for one in inputs]
    return each[0] if len(each) == 1 else np.concatenate(each)


def normalise(x: FloatArray, mean: FloatArray, deviation: FloatArray) -> FloatArray:
    """Return what the first layer gets, [..., D]."""
    return np.minimum(np.maximum((x - mean) / deviation, -CLIP), CLIP)


def forward(layers: Sequence[Any], y: Any, tanh: Any = np.tanh) -> Any:
    """Return the outputs of fully connected layers for inputs [..., D]."""
    for weights, bias in layers[:-1]:
        y = tanh(y @ weights + bias)
    return y @ layers[-1][0] + layers[-1][1]


def joint_logits(outputs: Any, heads: Sequence[int], xp: Any = np) -> Any:
    """Return the logits of all actions, [..., A]. An action's is the sum of its parts'; `xp` has the arrays."""
    first, *others = xp.split(outputs, np.cumsum(heads)[:-1].tolist(), axis=-1)
    for part in others:
        first = (first[..., :, None] + part[..., None, :]).reshape(*outputs.shape[:-1], -1)
    return first


def softmax(logits: FloatArray, allowed: Any) -> FloatArray:
    """Return the probabilities of actions, [..., A]; a mask without any action is none."""
    allowed = np.asarray(allowed, dtype=bool)
    logits = np.where(allowed | ~allowed.any(axis=-1, keepdims=True), logits, -np.inf).astype(float)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def round_to_float32(array: npt.ArrayLike) -> FloatArray:
    """Return numbers as files hold them: 32-bit floats, in 64 bits."""
    return np.asarray(array, dtype=np.float32).astype(np.float64)


class NetworkPolicy(Policy):
    """Agents that each act on what they observe, by a network.

    Parameters
    ----------
    networks : sequence of Network
    network : sequence of N ints
        Which network each agent uses; several may share one.

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import Input, Network, NetworkPolicy
    >>> sign = Network((Input((), 1),), np.zeros(1), np.ones(1), ((np.array([[-5.0, 5.0]]), np.zeros(2)),), (2,))
    >>> part = NetworkPolicy([sign], [0, 0]).part(1)
    >>> part.begin(seed=7)
    >>> part.act(0, [3.0]), part.act(1, [-3.0])
    (1, 0)
    """

    said, kinds = "a policy of networks", ("networks",)
    product = sees = True
    horizon = None

    def __init__(self, networks: Sequence[Network], network: Sequence[int]) -> None:
        self.networks = tuple(_check(f"networks[{k}]", one) for k, one in enumerate(networks))
        last = len(self.networks) - 1
        self.network = tuple(check.integer(f"network[{i}]", k, least=0, most=last) for i, k in enumerate(network))
        self.agents = len(self.network)
        self.actions = tuple(self.networks[k].actions for k in self.network)

    @classmethod
    def of_parts(cls, parts: Sequence[NetworkPart]) -> Self:
        """Return the policy of these parts; a network that several have is stored once."""
        distinct = {id(part.network): part.network for part in parts}
        return cls(list(distinct.values()), [list(distinct).index(id(part.network)) for part in parts])

    def _part(self, agent: int) -> NetworkPart:
        return NetworkPart(self.networks[self.network[agent]], agent)

    def _arrays(self) -> dict[str, Any]:
        content = {"actions": self.actions, **self._content("", range(self.agents))[2]}
        return {"kind": np.array("networks"), "networks": np.array(json.dumps(content, allow_nan=False))}

    def _content(self, path: object, shown: Sequence[int]) -> tuple[str, str, dict[str, Any]]:
        used = sorted({self.network[i] for i in shown})
        networks = [_to_json(self.networks[k]) for k in used]
        return "networks", PLAY, {"network": [used.index(self.network[i]) for i in shown], "networks": networks}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        text = str(files.single("networks", arrays["networks"]))
        return cls._from_content(parse_json(text, "the text of its networks", "JSON"))

    @classmethod
    def _from_content(cls, content: Mapping[str, Any]) -> Self:
        networks = [_from_json(f"networks[{k}]", one) for k, one in enumerate(list_of(content, "networks"))]
        policy = cls(networks, list_of(content, "network"))
        if check_actions(list_of(content, "actions")) != policy.actions:
            raise TacitError(f"its actions are {brief(content['actions'])}; its networks have {brief(policy.actions)}")
        return policy

    def __repr__(self) -> str:
        sizes = sum(weights.size + bias.size for one in self.networks for weights, bias in one.layers)
        shared = "" if len(self.networks) == self.agents else f" in {len(self.networks)} networks"
        return f"NetworkPolicy({self.agents} agents{shared}, {sizes:,} weights)"


class NetworkPart(Part):
    """One agent's network.

    Parameters
    ----------
    network : Network
    agent : int

    Examples
    --------
    >>> import numpy as np
    >>> from tacit.policies import Input, Network, NetworkPart
    >>> even = Network((Input((), 1),), np.zeros(1), np.ones(1), ((np.zeros((1, 2)), np.zeros(2)),), (2,))
    >>> NetworkPart(even, 0).distribution(0, [3.0]).tolist()
    [0.5, 0.5]
    """

    sees = product = True

    def __init__(self, network: Network, agent: int) -> None:
        super().__init__(agent, network.actions, None)
        self.network = network

    def _act(self, h: int, s: Any) -> int:
        return self.choose(h, s, _mask(s))

    def best(self, h: int, observation: Any) -> int:
        """Return the most likely action at step h on an observation."""
        return int(self.distribution(h, observation, _mask(observation)).argmax())

    def choose(self, h: int, s: Any, allowed: Any) -> int:
        """Return an action among those that are allowed, all where that is None."""
        u, probs = self._step(h), self.distribution(h, s, allowed)
        return int((u >= np.cumsum(probs)[:-1]).sum())

    def distribution(self, h: int, s: Any, allowed: Any = None) -> FloatArray:
        """Return the probabilities of actions on an observation."""
        return self.network.probs(read(self.network.inputs, s), allowed)


def _mask(observation: Any) -> Any:
    """Return the action mask that an observation holds; None without one."""
    return observation.get("action_mask") if isinstance(observation, Mapping) else None


def _check(name: str, network: Network) -> Network:
    """Return a network, with its weights as files hold them, if its sizes fit each other."""
    width, heads = sum(one.size for one in network.inputs), list(network.heads)
    if not 0 < width <= MOST_INPUTS or not 0 < len(network.layers) <= MOST_LAYERS:
        limits = f"1 to {MOST_INPUTS:,} inputs and 1 to {MOST_LAYERS} layers"
        raise TacitError(f"{name} must have {limits}; got {width} and {len(network.layers)}")
    if not 0 < network.actions <= MOST_INPUTS:
        raise TacitError(f"{name} must have 1 to {MOST_INPUTS:,} actions; got heads {brief(heads)}")
    mean, deviation = (_array(f"{name}.{key}", getattr(network, key), (width,)) for key in ("mean", "deviation"))
    if not (deviation > 0).all():
        raise TacitError(f"{name}.deviation must be above 0; got {deviation.min():g}")
    layers = []
    for k, (weights, bias) in enumerate(network.layers):
        matrix = _array(f"{name}.layers[{k}].weights", weights, (width, np.size(bias)))
        width = matrix.shape[1]
        layers.append((matrix, _array(f"{name}.layers[{k}].bias", bias, (width,))))
    if sum(heads) != width:
        raise TacitError(f"{name} must have as many outputs as its heads {brief(heads)}; got {width}")
    return Network(network.inputs, mean, deviation, tuple(layers), network.heads)


def _array(name: str, values: Any, shape: tuple[int, ...]) -> FloatArray:
    array = check.array(name, values)
    if array.shape != shape:
        raise TacitError(f"{name} must have shape {shape}; got {array.shape}")
    with np.errstate(over="ignore"):
        rounded = round_to_float32(array)
    if not np.isfinite(rounded).all():
        raise TacitError(f"{name} must have finite numbers")
    return rounded


def _to_json(network: Network) -> dict[str, Any]:
    """Return a network as JSON has it, in the shortest decimals that give the same 32-bit floats."""

    def shortest(array: FloatArray) -> Any:
        return array.astype(np.float32).astype(str).astype(np.float64).tolist()

    return {
        "inputs": [{key: value for key, value in one._asdict().items() if value is not None} for one in network.inputs],
        "mean": shortest(network.mean),
        "deviation": shortest(network.deviation),
        "layers": [{"weights": shortest(weights), "bias": shortest(bias)} for weights, bias in network.layers],
        "heads": list(network.heads),
    }


def _from_json(name: str, content: Any) -> Network:
    """Return the network of a document; `_check` compares its arrays with its sizes."""
    inputs, layers = _objects(name, content, "inputs"), _objects(name, content, "layers")
    heads = [check.integer("heads", size, least=1, most=MOST_INPUTS) for size in list_of(content, "heads")]
    mean: Any = content.get("mean")
    deviation: Any = content.get("deviation")
    weights = tuple((layer.get("weights"), layer.get("bias")) for layer in layers)
    return Network(tuple(map(_input, inputs)), mean, deviation, weights, tuple(heads))


def _objects(name: str, content: Any, key: str) -> list[Any]:
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in list_of(content, key)):
        raise TacitError(f"{name} must be an object with a list of {key}; got {brief(content)}")
    return list_of(content, key)


def _input(content: dict[str, Any]) -> Input:
    at = tuple(key if isinstance(key, str) else check.integer("at", key, least=0) for key in list_of(content, "at"))
    size, start = check.integer("size", content.get("size"), least=0, most=MOST_INPUTS), content.get("start")
    return Input(at, size, None if start is None else check.integer("start", start, least=-(2**53)))
