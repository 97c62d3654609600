"""Nash equilibria of a small game that is played once. Those of two players are all there are.

Of three or more they are found support by support. Where at most two players mix, the others' actions leave a bimatrix
game, all of whose extreme equilibria are tried. Where more do, indifference on the support is a system of polynomials,
which Newton's method solves from many starts. It may miss solutions, so nobody can say that there are no others.
"""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.display import Cell, Document, Table, exact
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix, logit
from tacit.games.exact import with_tables
from tacit.games.showing import action_names
from tacit.games.tabular import TabularGame, as_tables
from tacit.policies.markov import MarkovPolicy

#: Supports of all players together, at most, as of three players with three actions.
_SUPPORTS = 400
#: Starts of Newton's method for one support, and steps from each.
_STARTS, _STEPS = 24, 30
#: What counts as indifferent (in units of the range of payoffs), as the same equilibrium, and a slope as singular.
_ROUNDING, _SAME, _SINGULAR = 1e-10, 1e-7, 1e-6

Mixtures = list[FloatArray]


@dataclass(frozen=True, eq=False)
class Equilibria:
    """Equilibria of a game that is played once. Those of two players are all extreme ones, in exact arithmetic.

    Payoffs with at most 12 decimals are taken as these decimals, others as the binary fractions that their floats are;
    each probability is the float nearest to the exact one. Of more players those that a search support by support
    finds.

    Attributes
    ----------
    game : TabularGame
    policies : tuple of MarkovPolicy
    values : array [E, N]
    gap : float
        The largest nash gap of them: what rounding their probabilities to floats costs.
    component : int array [E]
        Which connected set each belongs to. A set with several holds infinitely many equilibria: those that share a
        strategy can be mixed. Of more than two players each is listed as a set of its own.
    degenerate : bool or None
        Whether some mixture of k actions has more than k best responses; None for more than two players.
    sure : bool
        Whether there is surely no other: of two players.

    Examples
    --------
    >>> import tacit
    >>> len(tacit.equilibria(tacit.make("battle-of-the-sexes")).policies)
    3
    """

    game: TabularGame
    policies: tuple[MarkovPolicy, ...]
    values: FloatArray
    gap: float
    component: IntArray
    degenerate: bool | None
    sure: bool = True

    def __len__(self) -> int:
        return len(self.policies)

    @property
    def infinite(self) -> bool:
        """Whether there are infinitely many equilibria between these."""
        return len(set(self.component.tolist())) < len(self)

    @property
    def summary(self) -> str:
        """How many there are, in words."""
        if not self.infinite:
            number = "1 equilibrium" if len(self) == 1 else f"{len(self)} equilibria"
            return f"{number}, and no other" if self.sure else f"{number} found; there may be others"
        sets = len(set(self.component.tolist()))
        return (
            f"infinitely many equilibria, in {sets} connected {'set' if sets == 1 else 'sets'}; listed are the "
            f"{len(self)} extreme ones: those of a set that share one player's strategy can be mixed"
        )

    def show(self, *, limit: int | None = 20) -> Document:
        """Show what each player plays in each equilibrium, and what it gets."""
        most = len(self) if limit is None else limit
        agents = range(self.game.agents)
        rows: list[list[Cell]] = []
        for k, policy in enumerate(self.policies[:most]):
            chances: list[Cell] = [exact(float(p), 4) for i in agents for p in policy.probs[i][0, 0]]
            values: list[Cell] = [exact(float(v)) for v in self.values[k]]
            rows.append([k + 1, *([int(self.component[k]) + 1] if self.infinite else []), *chances, *values])
        columns = ["", *(["set"] if self.infinite else [])]
        columns += [f"{i}: {name}" for i in agents for name in action_names(self.game, i)]
        parts: list[str | Table] = [Table("", [*columns, *(f"{i} gets" for i in agents)], rows)]
        if len(self) > most:
            parts.append(f"{len(self) - most} more are not shown; limit=None, or --all on the command line, shows all")
        return Document(f"nash equilibria: {self.summary}", parts, self.data())

    def data(self) -> dict[str, Any]:
        """Return the equilibria as JSON has them."""
        names = [action_names(self.game, i) for i in range(self.game.agents)]
        return {
            "infinite": self.infinite,
            "degenerate": self.degenerate,
            "sure": self.sure,
            "gap": self.gap,
            "equilibria": [
                {
                    "agents": [
                        dict(zip(actions, probs[0, 0].tolist(), strict=True))
                        for actions, probs in zip(names, policy.probs, strict=True)
                    ],
                    "value": self.values[k].tolist(),
                    "set": int(self.component[k]),
                }
                for k, policy in enumerate(self.policies)
            ],
        }

    def __repr__(self) -> str:
        return str(self.show())


def enumerable(game: Any) -> bool:
    """Return whether equilibria of a game can be listed."""
    tables = as_tables(game)
    if tables is None or (tables.states, tables.effective_horizon) != (1, 1):
        return False
    return bimatrix.fits(tables.actions) or _fits(tables.actions)


def equilibria(game: TabularGame) -> Equilibria:
    """Return the extreme Nash equilibria of a game of one state and one step.

    Of two players these are all; of more, those that a search support by support finds, and `sure` is False.

    Parameters
    ----------
    game : TabularGame
        Of one state and one step, with at most about 9×9 or 3×3×3 actions.

    Returns
    -------
    Equilibria

    Examples
    --------
    >>> import tacit
    >>> tacit.equilibria(tacit.make("chicken"))
    nash equilibria: 3 equilibria, and no other
    <BLANKLINE>
       0: yield  0: dare  1: yield  1: dare  0 gets  1 gets
    1         1        0         0        1       2       7
    2       2/3      1/3       2/3      1/3    14/3    14/3
    3         0        1         1        0       7       2
    """
    game = with_tables(game)
    if not enumerable(game):
        raise TacitError(f"game must have one state, one step and at most about 9×9 or 3×3×3 actions; got {game!r}")
    payoffs = game.rewards[:, 0, 0]
    if game.agents == 2:
        mixtures, component, degenerate = bimatrix.extreme_equilibria(payoffs)
    else:
        mixtures, degenerate = _search_supports(payoffs), None
        component = np.arange(len(mixtures[0]))
    policies = tuple(
        MarkovPolicy([Owned(row[None, None].copy()) for row in rows]) for rows in zip(*mixtures, strict=True)
    )
    for policy in policies:
        policy.game = game
    by_action = [_contract(payoff, mixtures, (i,)) for i, payoff in enumerate(payoffs)]
    values = np.stack([(paid * rows).sum(axis=1) for paid, rows in zip(by_action, mixtures, strict=True)], axis=1)
    best = np.stack([paid.max(axis=1) for paid in by_action], axis=1)
    gap = float(np.maximum(best - values, 0.0).max())
    return Equilibria(game, policies, values, gap, component, degenerate, game.agents == 2)


def _fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of three or more players is small enough.

    >>> _fits((3, 3, 3)), _fits((2, 2)), _fits((2,) * 6)
    (True, False, False)
    """
    return len(actions) > 2 and math.prod(2**a - 1 for a in actions) <= _SUPPORTS


def _search_supports(payoffs: FloatArray) -> Mixtures:
    """Return equilibria of payoffs [N, A_1, …, A_N] as [E, A_i] of each player, first actions first.

    >>> agree = np.zeros((3, 2, 2, 2))
    >>> agree[:, 0, 0, 0] = agree[:, 1, 1, 1] = 1
    >>> _search_supports(agree)[0].tolist()
    [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]
    """
    spans = np.maximum(np.ptp(payoffs.reshape(len(payoffs), -1), axis=1), 1e-300)
    scaled = payoffs / spans.reshape(-1, *[1] * len(payoffs))
    distinct: list[FloatArray] = []
    for rows in itertools.chain(_two_mix(payoffs), _more_mix(scaled), [logit.equilibrium(payoffs).rows]):
        flat = np.concatenate(rows)
        if not any(np.abs(flat - other).max() < _SAME for other in distinct) and _gain(scaled, rows) <= _ROUNDING:
            distinct.append(flat)
    table = np.stack(distinct)
    table = table[np.lexsort(-table.T[::-1].round(9))]
    return np.split(table, np.cumsum(payoffs.shape[1:])[:-1], axis=1)


def _gain(payoffs: FloatArray, rows: Mixtures) -> float:
    """Return the largest gain of a player by one action, where all play `rows`."""
    by_action = [_contract(payoff, [mixed[None] for mixed in rows], (i,))[0] for i, payoff in enumerate(payoffs)]
    return max(float(payoff.max() - np.sum(payoff * mixed)) for payoff, mixed in zip(by_action, rows, strict=True))


def _two_mix(payoffs: FloatArray) -> Iterator[Mixtures]:
    """Yield the equilibria of each pair of players for all pure actions of the others."""
    actions = payoffs.shape[1:]
    for i, j in itertools.combinations(range(len(actions)), 2):
        for chosen in np.ndindex(*(1 if k in (i, j) else a for k, a in enumerate(actions))):
            at: Any = ([i, j], *(slice(None) if k in (i, j) else a for k, a in enumerate(chosen)))
            pair = bimatrix.extreme_equilibria(payoffs[at])
            pure = [np.eye(a)[k] for a, k in zip(actions, chosen, strict=True)]
            for pure[i], pure[j] in zip(*pair.rows, strict=True):
                yield list(pure)


def _more_mix(payoffs: FloatArray) -> Iterator[Mixtures]:
    """Yield candidates in which three or more players mix."""
    actions = payoffs.shape[1:]
    subsets = [[c for k in range(1, a + 1) for c in itertools.combinations(range(a), k)] for a in actions]
    for supports in itertools.product(*subsets):
        free = [len(row) - 1 for row in supports]
        if sum(f > 0 for f in free) > 2 and 2 * max(free) <= sum(free):  # else there are more equations than unknowns
            for mixtures in _indifferent(payoffs[np.ix_(range(len(actions)), *supports)]):
                rows = [np.zeros(a) for a in actions]
                for row, support, mixed in zip(rows, supports, mixtures, strict=True):
                    row[list(support)] = mixed
                yield rows


def _indifferent(payoffs: FloatArray) -> Iterator[Mixtures]:
    """Yield mixtures that make every player indifferent, by Newton's method from many starts."""
    sizes = payoffs.shape[1:]
    cuts = [0, *np.cumsum(sizes)]
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.dirichlet(np.ones(a), _STARTS) for a in sizes], axis=1)
    for _ in range(_STEPS):
        error, slope = _equations(payoffs, np.split(x, cuts[1:-1], axis=1))
        steady = np.abs(np.linalg.det(slope)) > 1e-200
        x, error, slope = x[steady], error[steady], slope[steady]
        x = x - np.linalg.solve(slope, error[..., None])[..., 0]
        bounded = np.abs(x).max(axis=1, initial=0) < 1e6
        x = x[bounded]
    x = x[(x > _SAME).all(axis=1)]
    sizes_of_slope = np.linalg.svd(_equations(payoffs, np.split(x, cuts[1:-1], axis=1))[1], compute_uv=False)
    for one in x[sizes_of_slope.min(axis=1, initial=np.inf) > _SINGULAR]:  # others lie on curves of equilibria
        yield np.split(one, cuts[1:-1])


def _equations(payoffs: FloatArray, rows: Mixtures) -> tuple[FloatArray, FloatArray]:
    """Return the residuals [B, all A] of mixtures [B, A_i], of sums 1 and indifference, and their slopes."""
    cuts = [0, *np.cumsum(payoffs.shape[1:])]
    error, slope = np.zeros((len(rows[0]), cuts[-1])), np.zeros((len(rows[0]), cuts[-1], cuts[-1]))
    for i, mixed in enumerate(rows):
        by = _contract(payoffs[i], rows, (i,))
        rest = slice(cuts[i] + 1, cuts[i + 1])
        error[:, cuts[i]] = mixed.sum(axis=1) - 1
        error[:, rest] = by[:, 1:] - by[:, :1]
        slope[:, cuts[i], cuts[i] : cuts[i + 1]] = 1
        for j in range(len(rows)):
            if j != i:
                by = _contract(payoffs[i], rows, (i, j))
                slope[:, rest, cuts[j] : cuts[j + 1]] = by[:, 1:] - by[:, :1]
    return error, slope


def _contract(payoff: FloatArray, rows: Sequence[FloatArray], left: tuple[int, ...]) -> FloatArray:
    """Return payoffs [B, A_i, …] by actions of the players `left`. The others play mixtures [B, A_j]."""
    letters = string.ascii_lowercase[: len(rows)]
    others = [k for k in range(len(rows)) if k not in left]
    terms = ",".join(f"z{letters[k]}" for k in others)
    out = "z" + "".join(letters[k] for k in left)
    contracted: FloatArray = np.einsum(f"{letters},{terms}->{out}", payoff, *(rows[k] for k in others))
    return contracted
