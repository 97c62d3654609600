"""The check of a bandit: distributions, forgetting, cells that keep to themselves, compiled and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.bandits.spec import Bandit, Cells, is_bandit
from tacit.core import generics, limits
from tacit.core.axes import axes_of, by_state, parts
from tacit.core.errors import brief
from tacit.core.types import FloatArray
from tacit.testing.states import check_axes, copied, require_alike_states, require_same_states, scramble
from tacit.testing.violation import (
    Violation,
    both_ways,
    require,
    require_alike,
    require_distribution,
    require_frequencies,
    require_kernels,
    require_same,
)

#: What the bandit is tried on: agents of different sizes, some cells each, and rounds of random losses.
ACTIONS, CELLS, ROUNDS, DRAWS, LONG = (3, 2, 4), 3, 300, 5000, 6000
KERNELS = (generics.draw, generics.chance, generics.spread, generics.feed, generics.restart)


def check_bandit(bandit: Bandit, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Check a bandit.

    It says which regret it keeps small. Its state declares its axes. After every round `spread` writes a distribution,
    `chance` returns its entries and `draw` draws from it (with a probability of 1e-9 of raising though nothing is
    wrong; the seed is fixed), and none of the three changes anything. `feed` and `restart` touch their own agent's row
    and their own cell. After `restart` a cell is as good as new. Compiled and interpreted kernels agree bit for bit, or
    to a stated tolerance, and allocate nothing.

    Parameters
    ----------
    bandit : Bandit
    seed : int
    tolerance : float
        How much compiled and interpreted kernels may differ, absolutely and relatively. 0 asks for the same bits, which
        +, −, ·, /, square roots and `exp`, `log` and `pow` of `tacit.kernels` give on every machine. State 1e-9 for
        kernels that call other functions, such as np.tanh: their last digits differ from processor to processor.

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> import tacit
    >>> from tacit.testing import check_bandit
    >>> check_bandit(tacit.TsallisINF())
    """
    name, seed = type(bandit).__name__, limits.integer("seed", seed)
    require(
        is_bandit(bandit), f"{brief(bandit)} is not a bandit; it must have regret and init, as tacit.kernels.Bandit"
    )
    words = ("external", "swap")
    require(bandit.regret in words, f"regret of {name} is {brief(bandit.regret)}; it must be 'external' or 'swap'")
    for cells in _settings(bandit):
        state = bandit.init(cells)
        require_kernels(state, KERNELS, f"what init of {name} returns")
        check_axes(state, {"N": cells.agents, "H": 1, "S": cells.number, "A": cells.most})
        _check_init(bandit, cells)
        _check_rounds(bandit, cells, np.random.default_rng(seed))
        _check_both_ways(bandit, cells, np.random.default_rng(seed), tolerance)


def _settings(bandit: Bandit) -> list[Cells]:
    """Return what a bandit may be asked to serve: with the theory's step or one's own, and within a swap bandit."""
    theory = Cells(np.array(ACTIONS), CELLS, 10, 4, 6.0, None)
    own = theory._replace(step=0.3)
    return [theory, own, theory._replace(swap=True)] if bandit.regret == "external" else [theory, own]


def _check_init(bandit: Bandit, cells: Cells) -> None:
    one, other = bandit.init(cells), bandit.init(cells)
    require_same_states(one, other, f"init of {type(bandit).__name__} does not make the same state twice")
    shared = [a.path for a, b in zip(parts(one), parts(other), strict=True) if np.shares_memory(a.array, b.array)]
    own = [path for path in shared if path.rpartition(".")[2] != "actions"]
    require(not own, f"two states of {type(bandit).__name__} share the array {own[0] if own else ''}")


def distribution(state: Any, i: int, c: int) -> FloatArray:
    """Return the distribution of a cell, and see that nothing else was written."""
    out = np.full(max(ACTIONS) + 1, np.nan)
    generics.spread(state, i, c, out)
    name = type(state).__name__
    require(bool(np.isnan(out[ACTIONS[i] :]).all()), f"spread of {name} writes more than the actions of agent {i}")
    require_distribution(out[: ACTIONS[i]], f"the distribution of {name} for agent {i}")
    return out[: ACTIONS[i]]


def _check_rounds(bandit: Bandit, cells: Cells, rng: np.random.Generator) -> None:
    """Play random rounds, and look at everything at each of them."""
    state, name = bandit.init(cells), type(bandit).__name__
    for t in range(ROUNDS):
        i, c = int(rng.integers(len(ACTIONS))), int(rng.integers(CELLS))
        probs, before = distribution(state, i, c), copied(state)
        draws = [int(generics.draw(state, i, c, u)) for u in rng.random(DRAWS if t % 60 == 59 else 1)]
        wrong = [a for a in draws if not 0 <= a < ACTIONS[i]]
        require(not wrong, f"draw of {name} returned {brief(wrong[:1])}; agent {i} has {ACTIONS[i]} actions")
        if len(draws) > 1:
            counts = np.bincount(draws, minlength=ACTIONS[i])
            require_frequencies(counts, probs, f"draw of {name} does not draw from spread", comparisons=ROUNDS)
        _require_cells_same(before, state, None, f"draw or spread of {name} changes the state")
        chances = np.array([generics.chance(state, i, c, b) for b in range(ACTIONS[i])])
        if not np.allclose(chances, probs, rtol=1e-9, atol=1e-12):
            raise Violation(f"chance of {name} returns {chances}, and spread writes {probs}")
        _require_cells_same(before, state, None, f"chance of {name} changes the state")
        a = draws[0]
        loss, prob = (rng.random() + 3.0 * (a != 1)) / 4.0, max(float(probs[a]), 1e-12)  # action 1 is the best
        noisy = copied(state)
        scramble(noisy, i, rng)
        for one in (state, noisy):
            generics.feed(one, i, c, a, loss, prob)
        _require_cells_same(before, state, (i, c), f"feed of {name} touches another agent's row or another cell")
        require_same(distribution(state, i, c), distribution(noisy, i, c), f"feed of {name} reads other agents' rows")
        if t % 20 == 19:
            _check_restart(bandit, cells, state, (i, c), rng)


def _check_restart(bandit: Bandit, cells: Cells, state: Any, at: tuple[int, int], rng: np.random.Generator) -> None:
    """Restart a cell: it does from then on what the same cell of a new state does."""
    name, (i, c) = type(bandit).__name__, at
    used, new = copied(state), bandit.init(cells)
    before, rounds = copied(used), int(rng.integers(1, 50))
    for one in (used, new):
        generics.restart(one, i, c, rounds)
    _require_cells_same(before, used, at, f"restart of {name} touches another agent's row or another cell")
    for _ in range(5):
        probs = distribution(new, i, c)
        require_same(distribution(used, i, c), probs, f"{name} remembers something after restart")
        a, loss = int(generics.draw(new, i, c, rng.random())), rng.random()
        for one in (used, new):
            generics.feed(one, i, c, a, loss, max(float(probs[a]), 1e-12))


def _require_cells_same(before: Any, after: Any, but: tuple[int, int] | None, sentence: str) -> None:
    """Raise unless all rows are as before; of agent i, arrays without cells are room, and of its cells c may change."""
    for old, new in zip(parts(before), parts(after), strict=True):
        axes = axes_of(new)
        left, right = old.array.copy(), new.array.copy()
        if but is not None and axes[0] == "N":
            if "C" in axes:
                views = (by_state(part._replace(array=array), 1, CELLS) for part, array in ((old, left), (new, right)))
                for view in views:  # [N, …, 1, cells, copies, …]
                    view[but[0]].swapaxes(0, axes.index("C"))[but[1]] = 0
            else:
                left[but[0]] = right[but[0]]
        elif but is None and "C" not in axes:
            continue
        require_same(left, right, f"{sentence}; {new.path} differs")


def play(bandit, agents, u, losses, drawn, out):
    """Play rounds in one cell of each agent; write actions and distributions."""
    for t in range(len(agents)):
        i = agents[t]
        a = generics.draw(bandit, i, 1, u[t])
        drawn[t] = a
        generics.feed(bandit, i, 1, a, losses[t, a], generics.chance(bandit, i, 1, a))
        generics.spread(bandit, i, 1, out[t])
        if t % 2000 == 1999:
            generics.restart(bandit, i, 1, 1 + t // 2)


def _check_both_ways(bandit: Bandit, cells: Cells, rng: np.random.Generator, tolerance: float) -> None:
    """Play long, against losses that have one action best for hundreds of rounds and then another."""
    name, agents = type(bandit).__name__, rng.integers(len(ACTIONS), size=LONG)
    u, losses = rng.random(LONG), rng.random((LONG, max(ACTIONS)))
    for begin in range(0, LONG, 750):
        best = rng.integers(max(ACTIONS))
        losses[begin : begin + 500] = np.arange(max(ACTIONS)) != best
    results = []
    for run in both_ways(play, name, bandit.init(cells)):
        state, drawn, out = bandit.init(cells), np.zeros(LONG, dtype=np.int64), np.zeros((LONG, max(ACTIONS)))
        run(state, agents, u, losses, drawn, out)
        results.append((state, out, drawn))
    (fast, *told), (slow, *again) = results
    for t, i in enumerate(agents):
        require_distribution(out[t, : ACTIONS[i]], f"the distribution of {name} for agent {i} after {t + 1} rounds")
    sentence = f"{name} does not do the same compiled and interpreted"
    for one, other in zip(told, again, strict=True):
        require_alike(one, other, sentence, tolerance)
    require_alike_states(fast, slow, sentence, tolerance)
