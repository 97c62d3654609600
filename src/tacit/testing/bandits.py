"""The check of a bandit: distributions, forgetting, memory in the cell alone, compiled and interpreted."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.bandits.spec import Bandit, Setting, is_bandit
from tacit.core import check, generics
from tacit.core.errors import brief
from tacit.core.types import FloatArray
from tacit.testing.violation import (
    both_ways,
    copy,
    require,
    require_distribution,
    require_frequencies,
    require_kernels,
    require_same,
    require_same_states,
    scramble,
)

#: What the bandit is tried on: agents of different sizes, some cells each, and rounds of random losses.
ACTIONS, CELLS, ROUNDS, DRAWS, LONG = (3, 2, 4), 3, 300, 5000, 6000
KERNELS = (generics.draw, generics.prob, generics.probs, generics.update, generics.restart)


def check_bandit(bandit: Bandit, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Check a bandit.

    It says which regret it keeps small. After every round `probs` writes a distribution, `prob` returns its entries
    and `draw` draws from it (with a probability of 1e-9 of raising though nothing is wrong; the seed is fixed), and
    none of the three changes the cell. `update` remembers nothing outside the cell. After `restart` a cell is as good
    as new. Compiled and interpreted kernels agree bit for bit, or to a stated tolerance, and allocate nothing.

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
    >>> check_bandit(tacit.bandits.TsallisINF())
    """
    name, seed = type(bandit).__name__, check.integer("seed", seed)
    require(is_bandit(bandit), f"{brief(bandit)} is not a bandit; it must have regret and init")
    said = f"regret of {name} must be 'external' or 'swap'; got"
    require(bandit.regret in ("external", "swap"), f"{said} {brief(getattr(bandit, 'regret', None))}")
    for setting in _settings(bandit):
        params, cells = bandit.make(setting, CELLS)
        require_kernels(params, KERNELS, f"what init of {name} returns")
        again, others = bandit.make(setting, CELLS)
        require_same_states((params, cells), (again, others), f"init of {name} does not make the same cells twice")
        _check_rounds(bandit, setting, np.random.default_rng(seed))
        _check_both_ways(bandit, setting, np.random.default_rng(seed), tolerance)


def _settings(bandit: Bandit) -> list[Setting]:
    """Return settings: the theory's step, another step, and within a swap bandit."""
    theory = Setting(np.array(ACTIONS), 10, 4, 6.0)
    settings = [theory, theory._replace(step=0.3)]
    return [*settings, theory._replace(swap=True)] if bandit.regret == "external" else settings


def _distribution(params: Any, cell: Any, i: int, name: str) -> FloatArray:
    """Return the distribution of a cell of agent i, and see that nothing else was written."""
    out = np.full(max(ACTIONS) + 1, np.nan)
    generics.probs(params, cell, out)
    require(bool(np.isnan(out[ACTIONS[i] :]).all()), f"probs of {name} writes more than the actions of agent {i}")
    require_distribution(out[: ACTIONS[i]], f"the distribution of {name} for agent {i}")
    return out[: ACTIONS[i]]


def _check_rounds(bandit: Bandit, setting: Setting, rng: np.random.Generator) -> None:
    """Play random rounds, and look at everything at each of them."""
    (params, cells), name = bandit.make(setting, CELLS), type(bandit).__name__
    for t in range(ROUNDS):
        c, i = int(rng.integers(CELLS)), int(rng.integers(len(ACTIONS)))
        cell, before = cells[c, i], cells.copy()
        probs = _distribution(params, cell, i, name)
        draws = [int(generics.draw(params, cell, u)) for u in rng.random(DRAWS if t % 60 == 59 else 1)]
        wrong = [a for a in draws if not 0 <= a < ACTIONS[i]]
        require(not wrong, f"draw of {name} returned {brief(wrong[:1])}; agent {i} has {ACTIONS[i]} actions")
        if len(draws) > 1:
            counts = np.bincount(draws, minlength=ACTIONS[i])
            require_frequencies(counts, probs, f"draw of {name} does not draw from probs", comparisons=ROUNDS)
        require_same_states(before, cells, f"draw or probs of {name} changes the cell")
        single = np.array([generics.prob(params, cell, b) for b in range(ACTIONS[i])])
        near = np.allclose(single, probs, rtol=1e-9, atol=1e-12)
        require(near, f"prob of {name} returns {single}, and probs writes {probs}")
        require_same_states(before, cells, f"prob of {name} changes the cell")
        a = draws[0]
        loss, prob = (rng.random() + 3.0 * (a != 1)) / 4.0, max(float(probs[a]), 1e-12)  # action 1 is the best
        noisy, twin = copy(params), cells.copy()
        scramble(noisy, 0, rng)
        generics.update(params, cell, a, loss, prob)
        generics.update(noisy, twin[c, i], a, loss, prob)
        require_same_states(cells, twin, f"update of {name} remembers something outside its cell")
        if t % 20 == 19:
            _check_restart(bandit, setting, (params, cells.copy()[c, i]), i, rng)


def _check_restart(bandit: Bandit, setting: Setting, used: tuple[Any, Any], i: int, rng: np.random.Generator) -> None:
    """Restart a cell: it does from then on what a new one does."""
    name, (params, cells) = type(bandit).__name__, bandit.make(setting)
    new, rounds = (params, cells[0, i]), int(rng.integers(1, 50))
    for one in (used, new):
        generics.restart(*one, rounds)
    for _ in range(5):
        probs = _distribution(*new, i, name)
        require_same(_distribution(*used, i, name), probs, f"{name} remembers something after restart")
        a, loss = int(generics.draw(*new, rng.random())), rng.random()
        for one in (used, new):
            generics.update(*one, a, loss, max(float(probs[a]), 1e-12))


def play(bandit, cells, agents, u, losses, drawn, out):
    """Play rounds in one cell of each agent; write actions and distributions."""
    for t in range(len(agents)):
        cell = cells[1, agents[t]]
        a = generics.draw(bandit, cell, u[t])
        drawn[t] = a
        generics.update(bandit, cell, a, losses[t, a], generics.prob(bandit, cell, a))
        generics.probs(bandit, cell, out[t])
        if t % 2000 == 1999:
            generics.restart(bandit, cell, 1 + t // 2)


def _check_both_ways(bandit: Bandit, setting: Setting, rng: np.random.Generator, tolerance: float) -> None:
    """Play long, against losses that have one action best for hundreds of rounds and then another."""
    name, agents = type(bandit).__name__, rng.integers(len(ACTIONS), size=LONG)
    u, losses = rng.random(LONG), rng.random((LONG, max(ACTIONS)))
    for begin in range(0, LONG, 750):
        best = rng.integers(max(ACTIONS))
        losses[begin : begin + 500] = np.arange(max(ACTIONS)) != best
    results = []
    for run in both_ways(play, name, bandit.make(setting)[0]):
        (params, cells), drawn = bandit.make(setting, CELLS), np.zeros(LONG, dtype=np.int64)
        out = np.zeros((LONG, max(ACTIONS)))
        run(params, cells, agents, u, losses, drawn, out)
        results.append((cells, out, drawn))
    for t, i in enumerate(agents):
        require_distribution(out[t, : ACTIONS[i]], f"the distribution of {name} for agent {i} after {t + 1} rounds")
    sentence = f"{name} does not do the same compiled and interpreted"
    (compiled_cells, *compiled), (plain_cells, *plain) = results
    for one, other in zip(compiled, plain, strict=True):
        require_same(one, other, sentence, tolerance)
    require_same_states(compiled_cells, plain_cells, sentence, tolerance)
