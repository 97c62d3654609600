"""Check a proof that no agent gains more than a bound by deviating. Run `python verify.py FILE`; Python 3.10 suffices.

The file (docs/proof-json.md) has a game, a Markov policy π and for each agent i two tables of doubles, low and high.
Each distribution is divided by its exact sum; the theorem is about that game and policy. With a horizon H let γ = 1 and
V_H = 0, without one V_{h+1} = V_h. At each (h, s), with Q[V](a) = r_i(s, a) + γ Σ_s' P_h(s' | s, a) V_{h+1}(s'),
    low_h(s)  ≤ Σ_a π_h(a | s) Q[low](a),
    high_h(s) ≥ max_b Σ_a π_h(a | s) Q[high](b, a_-i)                          for kinds nash and cce,
    high_h(s) ≥ Σ_c max_b Σ_{a: a_i = c} π_h(a | s) Q[high](b, a_-i)           for kind ce.
Theorem. Whatever agent i does in place of its part of π, even by all that happened before, while the others keep to
theirs: it gains at most Σ_s initial(s) (high_0(s) − low_0(s)), which is at most the agent's bound. In a joint draw a
deviator of kind cce does not see its own part, one of kind ce sees it before it acts.
Proof. π's value satisfies the first line with equality, so low is below it: by induction from the last step, or without
one since low ≤ T low ≤ T² low ≤ …, where T is monotone and contracts to the value. What happened before says nothing
about the others' draw at (h, s) or the next state's. So if at most high_{h+1} follows, a deviator gets at most the
right side, and at most high_h(s): by induction from the last step, or from the n-th with an error of order γ^n.  ∎
"""

import gzip
import json
import math
import sys
from fractions import Fraction
from functools import cache
from typing import Any

MOST_BYTES, MOST_LISTS = 2**28, 2**24  # of a file's text: some 4 GB of memory at worst
FORMAT, KEYS = "tacit-proof-1", ("kind", "product", "horizon", "discount", "states", "actions")
UNIT = 2**1200  # values are integers in units of 2^-1200, of which every double is a multiple
DIVIDE: Any = {"low": lambda a, b: a // b, "high": lambda a, b: -(-a // b)}  # rounded to the safe side


def _need(condition: object, sentence: str, x: Any) -> Any:
    if not condition:
        raise ValueError(f"{sentence}; got {ascii(x)[:60]}")
    return x


_number: Any = lambda x: _need(type(x) in (int, float) and math.isfinite(x), "a number must be finite", x)
_fixed: Any = lambda x: (ratio := x.as_integer_ratio())[0] * (UNIT // ratio[1])


def _index(indices: Any, sizes: Any) -> int:
    index = 0
    for k, size in zip(indices, sizes, strict=True):
        index = index * size + _need(type(k) is int and 0 <= k < size, f"an index must be from 0 to {size - 1}", k)
    return index


def _weights(pairs: Any) -> Any:
    ratios = [(outcome, *_number(p).as_integer_ratio()) for outcome, p in pairs]
    unit = max([d for _, _, d in ratios], default=1)
    weights = {outcome: n * (unit // d) for outcome, n, d in ratios}  # in proportion to the probabilities
    total, proper = sum(weights.values()), len(weights) == len(ratios) and min([0, *weights.values()]) == 0
    sentence = "a distribution must have every outcome once, no probability below 0, and sum to 1 within 1e-9"
    return _need(proper and abs(total - unit) * 10**9 <= unit, sentence, ratios) and weights, total


class Statement:
    """The game and the policy of a document in exact numbers."""

    def __init__(self, document: Any) -> None:
        _need("format" in document and document["format"] == FORMAT, f"format must be '{FORMAT}'", document)
        kind, product, H, discount, S, actions = [document[key] for key in KEYS]
        _need(kind in ("nash", "cce", "ce"), "kind must be 'nash', 'cce' or 'ce'", kind)
        _need(type(product) is bool and (product or kind != "nash"), "product must be true for nash", product)
        _need(H is None or (type(H) is int and H > 0 and discount is None), "horizon must be null or above 0", H)
        _need(H or 0 <= _number(discount) < 1, "without a horizon, discount must be at least 0 and below 1", discount)
        counts = all(type(n) is int and n > 0 for n in [S, *actions]) and sum(map(math.log2, [S, *actions])) < 25
        _need(counts, "states and actions must be integers above 0, and the game must have all rows", actions)
        self.kind, self.horizon, self.states, self.actions, self.J = kind, H, S, actions, math.prod(actions)
        self.gamma, self.parts = (1.0 if H else float(discount)).as_integer_ratio(), actions if product else [self.J]
        self.initial = _weights([(_index([s], [S]), p) for s, p in document["initial"]])
        self.game, self.policy = dict[int, Any](), dict[int, Any]()
        for h, s, joint, rewards, successors in document["game"]:
            over = successors == [] and H is not None and (H == 1 or h == H - 1)
            onward = ({}, 1) if over else _weights([(_index([t], [S]), p) for t, p in successors])
            payoffs = [_number(r) for r, _ in zip(rewards, actions, strict=True)]
            self.game.setdefault(_index([s, *joint], [S, *actions]), []).append((h, (payoffs, *onward)))
        for h, s, draw in document["policy"]:
            each = [[(_index(joint, actions), p) for joint, p in ([] if product else draw)]]
            if product:
                each = [[*zip(range(A), probs, strict=True)] for A, probs in zip(actions, draw, strict=True)]
            self.policy.setdefault(_index([s], [S]), []).append((h, [*map(_weights, each)]))
        for table, places in ((self.game, S * self.J), (self.policy, S)):
            for place, rows in table.items():
                steps = {None if h is None else _index([h], [H or 0]): row for h, row in rows}
                once = len(rows) == len(steps) == (1 if None in steps else H)
                table[place] = _need(once, "every step must have one row, or one for all", steps)
            _need(len(table) == places, "every state and joint action must have a row", len(table))

    def right(self, h: int, s: int, i: int, side: str, following: Any, divide: Any) -> tuple[Any, int]:
        """Return an inequality's right side in units of 2^-1200, times a number, and that number."""
        joint, total = {0: 1}, 1
        for A, (weights, norm) in zip(self.parts, self.policy[s].get(h) or self.policy[s][None], strict=True):
            joint, total = {j * A + a: w * v for j, w in joint.items() for a, v in weights.items() if v}, total * norm

        @cache
        def q(j: int) -> Any:
            rewards, successors, norm = self.game[s * self.J + j].get(h) or self.game[s * self.J + j][None]
            ahead = sum([w * _fixed(following[t]) for t, w in successors.items()]) if following else 0
            return _fixed(rewards[i]) + divide(self.gamma[0] * ahead, self.gamma[1] * norm)

        A, stride, groups = self.actions[i], math.prod(self.actions[i + 1 :]), dict[Any, dict[int, int]]()
        for j, w in joint.items():
            own = j // stride % A
            others = groups.setdefault(own if side == "low" or self.kind == "ce" else None, {})
            others[j - own * stride] = others.get(j - own * stride, 0) + w
        choices = {c: [c] if side == "low" else range(A) for c in groups}
        payoffs = [[sum([w * q(j + b * stride) for j, w in groups[c].items()]) for b in choices[c]] for c in groups]
        return sum(map(max, payoffs)), total


def check(document: Any) -> tuple[int, str]:
    """Return 0 and what a document proves, or 1 and the first inequality that fails. Raise where it is no proof."""
    game, agents = Statement(document), document["agents"]
    bounds, H = [_number(agent["bound"]) for agent, _ in zip(agents, game.actions, strict=True)], game.horizon or 1
    for table in [agent[side] for agent in agents for side in DIVIDE]:
        shape = len(table) == H and all(len([*map(_number, row)]) == game.states for row in table)
        _need(shape, "low and high must have a row for each step and a number for each state", table)
    for h, s, i in ((h, s, i) for h in range(H) for s in range(game.states) for i in range(len(agents))):
        for side, sign, table in (("low", 1, agents[i]["low"]), ("high", -1, agents[i]["high"])):
            following = table[0] if game.horizon is None else table[h + 1] if h + 1 < H else None
            rights = (game.right(h, s, i, side, following, divide) for divide in (DIVIDE[side], Fraction))
            if all(sign * (total * _fixed(table[h][s]) - right) > 0 for right, total in rights):  # exactly, if need be
                return 1, f"not proven: at step {h}, state {s}, {side} of agent {i} fails its inequality"
    for i, agent in enumerate(agents):
        apart = [w * (_fixed(agent["high"][0][s]) - _fixed(agent["low"][0][s])) for s, w in game.initial[0].items()]
        if _fixed(bounds[i]) * game.initial[1] < sum(apart):
            return 1, f"not proven: at step 0, the bound of agent {i} is below the sum of initial * (high - low)"
    return 0, f"proven: {game.kind} gap at most {max(bounds)}, by agent {bounds[:8]}, in a game of {game.states} states"


def main(*paths: str) -> int:
    """Check a file. Return 0 where it proves its bounds, 1 where an inequality fails, 2 where it is no such file."""
    try:
        with open(_need(len(paths) == 1, "one file must be named", paths)[0], "rb") as stream:
            text = (gzip.GzipFile(fileobj=stream) if stream.peek(2)[:2] == b"\x1f\x8b" else stream).read(MOST_BYTES + 1)
        fits = len(text) <= MOST_BYTES and text.count(b"[") + text.count(b"{") <= MOST_LISTS
        _need(fits, f"text must have at most {MOST_BYTES} bytes and {MOST_LISTS} lists", len(text))
        unique: Any = lambda pairs: dict(_need(len(dict(pairs)) == len(pairs), "keys must differ", pairs))
        integer: Any = lambda digits: int(digits) if len(digits) < 16 else float(digits)
        code, sentence = check(json.loads(text.decode(), object_pairs_hook=unique, parse_int=integer))
    except Exception as error:  # whatever is wrong with it
        code, sentence = 2, f"not a proof: {type(error).__name__}, {ascii(str(error))[1:-1][:200]}"
    print(sentence, file=sys.stderr if code == 2 else sys.stdout)
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
