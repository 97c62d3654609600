"""Random files against a reader that knows nothing but loops over dense arrays."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from format_samples import write

from tacit.games import dpomdp
from tacit.games.dpomdp import tables

STATES = 3


class Dense:
    """T, O and R as arrays, and the text that says the same."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.actions = tuple(rng.integers(1, 4, size=rng.integers(1, 4)))
        self.observations = tuple(rng.integers(1, 3, size=len(self.actions)))
        self.joints, self.made = int(np.prod(self.actions)), int(np.prod(self.observations))
        self.T = np.zeros((STATES, self.joints, STATES))
        self.O = np.zeros((STATES, self.joints, self.made))
        self.R = np.zeros((STATES, self.joints))
        self.later: list[tuple] = []
        self.lines = [f"agents: {len(self.actions)}", "discount: 1", "values: reward", f"states: {STATES}"]
        self.lines += ["start: 0", "actions:", *map(str, self.actions), "observations:", *map(str, self.observations)]

    def pick(self, sizes: tuple[int, ...]) -> tuple[str, list[int]]:
        """Words for one, some or all of the tuples, and their joint indices."""
        way = self.rng.integers(4)
        everything = list(itertools.product(*(range(size) for size in sizes)))
        if way == 0:
            return "*", list(range(len(everything)))
        if way == 1:
            joint = int(self.rng.integers(len(everything)))
            return str(joint), [joint]
        parts = ["*" if self.rng.random() < 0.3 else str(self.rng.integers(size)) for size in sizes]
        fits = [all(p in ("*", str(k)) for p, k in zip(parts, each, strict=True)) for each in everything]
        return " ".join(parts), [j for j, fit in enumerate(fits) if fit]

    def state(self) -> tuple[str, list[int]]:
        return self.pick((STATES,))

    def probabilities(self, name: str, table: np.ndarray) -> None:
        (action, joints), (state, states) = self.pick(self.actions), self.state()
        columns = table.shape[-1]
        form = self.rng.integers(5)
        if form == 0:
            word, chosen = self.state() if name == "T" else self.pick(self.observations)
            p = self.rng.integers(5) / 4
            self.lines.append(f"{name}: {action} : {state} : {word} : {p}")
            table[np.ix_(states, joints, chosen)] = p
        elif form == 1:
            row = self.rng.dirichlet(np.ones(columns)) * (self.rng.random(columns) < 0.7)
            self.lines += [f"{name}: {action} : {state} :", " ".join(map(repr, row.tolist()))]
            table[np.ix_(states, joints)] = row
        elif form == 2:
            matrix = self.rng.dirichlet(np.ones(columns), size=STATES)
            self.lines += [f"{name}: {action} :", *(" ".join(map(repr, row)) for row in matrix.tolist())]
            table[:, joints] = matrix[:, None]
        else:
            identity = name == "T" and form == 3
            self.lines += [f"{name}: {action} :", "identity" if identity else "uniform"]
            table[:, joints] = np.eye(STATES)[:, None] if identity else 1 / columns

    def rewards(self) -> None:
        (action, joints), (state, states) = self.pick(self.actions), self.state()
        form = self.rng.integers(5)
        if form == 0:
            self.lines.append(f"R: {action} : {state} : * : * : 2.5")
            self.later.append(("set", states, joints, 2.5))
        elif form <= 2:
            (word, nexts), (seen, made) = self.state(), self.pick(self.observations)
            r = np.zeros((STATES, self.made))
            r[np.ix_(nexts, made)] = value = float(self.rng.normal())
            self.lines.append(f"R: {action} : {state} : {word} : {seen} : {value!r}")
            everything = word == "*" and set(seen.split()) == {"*"}
            self.later.append(("set", states, joints, value) if everything else ("add", states, joints, r))
        elif form == 3:
            word, nexts = self.state()
            row = self.rng.normal(size=self.made)
            r = np.zeros((STATES, self.made))
            r[nexts] = row
            self.lines += [f"R: {action} : {state} : {word} :", " ".join(map(repr, row.tolist()))]
            self.later.append(("add", states, joints, r))
        else:
            r = self.rng.normal(size=(STATES, self.made))
            self.lines += [f"R: {action} : {state} :", *(" ".join(map(repr, row)) for row in r.tolist())]
            self.later.append(("add", states, joints, r))

    def mend(self, name: str, table: np.ndarray) -> None:
        """Raise one entry of each row that sums to less than 1, and replace each row that sums to more."""
        for s, joint in itertools.product(range(STATES), range(self.joints)):
            row, missing = table[s, joint], 1 - table[s, joint].sum()
            if missing > 1e-12:
                column = int(self.rng.integers(len(row)))
                row[column] += missing
                self.lines.append(f"{name}: {joint} : {s} : {column} : {min(float(row[column]), 1.0)!r}")
            elif missing < -1e-12:
                row[:] = np.eye(len(row))[0]
                self.lines += [f"{name}: {joint} : {s} :", " ".join(map(repr, row.tolist()))]

    def expected(self) -> np.ndarray:
        for kind, states, joints, value in self.later:
            for s, joint in itertools.product(states, joints):
                if kind == "set":
                    self.R[s, joint] = value
                else:
                    weights = self.T[s, joint][:, None] * self.O[:, joint]
                    self.R[s, joint] += (weights * value).sum()
        return self.R


@pytest.mark.parametrize("batch", [65_536, 3], ids=["one-batch", "many-batches"])
@pytest.mark.parametrize("seed", range(150))
def test_random_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, batch: int):
    monkeypatch.setattr(tables, "_BATCH", batch)
    rng = np.random.default_rng(seed)
    dense = Dense(rng)
    for _ in range(rng.integers(1, 25)):
        rng.choice(
            [
                lambda: dense.probabilities("T", dense.T),
                lambda: dense.probabilities("O", dense.O),
                dense.rewards,
            ]
        )()
    dense.mend("T", dense.T)
    dense.mend("O", dense.O)
    dense.lines.append(f"R: 0 : 0 : {rng.integers(3)} : * : 1")
    only = np.zeros((STATES, dense.made))
    only[int(dense.lines[-1].split()[5])] = 1
    dense.later.append(("add", [0], [0], only))
    game = dpomdp.load(write(tmp_path, "\n".join(dense.lines) + "\n", "random.dpomdp"), horizon=2)
    assert game.transitions.reshape(dense.T.shape) == pytest.approx(dense.T, abs=1e-12)
    expected = dense.expected()
    for own in game.rewards:
        assert own.reshape(expected.shape) == pytest.approx(expected, abs=1e-12)
