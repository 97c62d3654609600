"""All Nash equilibria of a small two-player game that is played once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tacit.core.display import Cell, Document, Table, exact
from tacit.core.errors import TacitError
from tacit.core.ownership import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix
from tacit.games.exact import with_tables
from tacit.games.showing import action_names
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True, eq=False)
class Equilibria:
    """All extreme equilibria of a two-player game that is played once, enumerated in exact arithmetic.

    Payoffs with at most 12 decimals are taken as these decimals, others as the binary fractions that their floats are;
    each probability is the float nearest to the exact one.

    Attributes
    ----------
    game : TabularGame
    policies : tuple of MarkovPolicy
    values : array [E, 2]
    gap : float
        The largest nash gap of them: what rounding their probabilities to floats costs.
    component : int array [E]
        Which connected set each belongs to. A set with several holds infinitely many equilibria: those that share a
        strategy can be mixed.
    degenerate : bool
        Whether some mixture of k actions has more than k best responses.
    sure : bool
        Whether there is surely no other: always true.

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
    degenerate: bool
    sure: ClassVar[bool] = True

    def __len__(self) -> int:
        return len(self.policies)

    @property
    def infinite(self) -> bool:
        """Whether there are infinitely many equilibria beside these."""
        return len(set(self.component.tolist())) < len(self)

    @property
    def told(self) -> str:
        """How many there are, in words."""
        if not self.infinite:
            number = "1 equilibrium" if len(self) == 1 else f"{len(self)} equilibria"
            return f"{number}, and no other"
        sets = len(set(self.component.tolist()))
        return (
            f"infinitely many equilibria, in {sets} connected {'set' if sets == 1 else 'sets'}; listed are the "
            f"{len(self)} extreme ones: those of a set that share one player's strategy can be mixed"
        )

    def show(self, *, limit: int | None = 20) -> Document:
        """Show what both play in each equilibrium, and what they get."""
        most = len(self) if limit is None else limit
        names = [action_names(self.game, i) for i in (0, 1)]
        rows: list[list[Cell]] = []
        for k, policy in enumerate(self.policies[:most]):
            chances: list[Cell] = [exact(float(p), 4) for i in (0, 1) for p in policy.probs[i][0, 0]]
            values: list[Cell] = [exact(float(v)) for v in self.values[k]]
            rows.append([k + 1, *([int(self.component[k]) + 1] if self.infinite else []), *chances, *values])
        columns = ["", *(["set"] if self.infinite else [])]
        columns += [f"0: {name}" for name in names[0]] + [f"1: {name}" for name in names[1]]
        parts: list[str | Table] = [Table("", [*columns, "0 gets", "1 gets"], rows)]
        if len(self) > most:
            parts.append(f"{len(self) - most} more are not shown; limit=None, or --all on the command line, shows all")
        return Document(f"nash equilibria: {self.told}", parts, self.data())

    def data(self) -> dict[str, Any]:
        """Return the equilibria as JSON has them."""
        names = [action_names(self.game, i) for i in (0, 1)]
        return {
            "infinite": self.infinite,
            "degenerate": self.degenerate,
            "sure": self.sure,
            "gap": self.gap,
            "equilibria": [
                {
                    "agents": [dict(zip(names[i], policy.probs[i][0, 0].tolist(), strict=True)) for i in (0, 1)],
                    "value": self.values[k].tolist(),
                    "set": int(self.component[k]),
                }
                for k, policy in enumerate(self.policies)
            ],
        }

    def __repr__(self) -> str:
        return str(self.show())

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def enumerable(game: Any) -> bool:
    """Return whether all equilibria of a game can be listed."""
    return isinstance(game, TabularGame) and (game.states, game.horizon) == (1, 1) and bimatrix.fits(game.actions)


def equilibria(game: TabularGame) -> Equilibria:
    """Return all extreme Nash equilibria of a two-player game that is played once, in one state, degenerate or not.

    Parameters
    ----------
    game : TabularGame
        Of two players, one state and one step.

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
        raise TacitError(
            f"{game!r} is not a two-player game of one state and step with at most about 9×9 actions, whose equilibria "
            f"can all be listed; tacit.solve(game, 'nash') finds one"
        )
    payoffs = game.rewards[:, 0, 0]
    found = bimatrix.extreme_equilibria(payoffs)
    policies = []
    for x, y in zip(found.rows, found.columns, strict=True):
        policy = MarkovPolicy([Owned(x[None, None].copy()), Owned(y[None, None].copy())])
        policy.game = game
        policies.append(policy)
    worth = [found.columns @ payoffs[0].T, found.rows @ payoffs[1]]  # of each action against the other's mixture
    values = np.stack([(own * mine).sum(axis=1) for own, mine in zip(worth, found[:2], strict=True)], axis=1)
    best = np.stack([own.max(axis=1) for own in worth], axis=1)
    gap = float(np.maximum(best - values, 0.0).max())
    return Equilibria(game, tuple(policies), values, gap, found.component, found.degenerate)
