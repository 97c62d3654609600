"""All Nash equilibria of a small two-player game in one state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.errors import TacitError
from tacit.core.ownership import Owned
from tacit.core.table import Cell, Document, Table
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix
from tacit.evaluation.gaps import evaluate
from tacit.games.exact import with_tables
from tacit.games.naming import action_names
from tacit.games.tabular import TabularGame
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True, eq=False)
class Equilibria:
    """All extreme equilibria of a two-player game that is played once.

    Attributes
    ----------
    game : TabularGame
    policies : tuple of MarkovPolicy
    values : array [E, 2]
    gap : float
        The largest exact nash gap of them: rounding.
    component : int array [E]
        Which connected set each belongs to. A set with several holds infinitely many equilibria: those that share a
        strategy can be mixed.
    degenerate : bool
        Whether some mixture of k actions has more than k best responses.
    sure : bool
        Whether there is surely no other. Payoffs that differ by many orders of magnitude may leave doubt.

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
    sure: bool

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
            more = ", and no other" if self.sure else " found; rounding leaves open whether there are more"
            return number + more
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
            chances = [round(float(p), 4) for i in (0, 1) for p in policy.probs[i][0, 0]]
            values = [float(v) for v in self.values[k]]
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
    """Return all extreme Nash equilibria of a two-player game that is played once, in one state.

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
    2    0.6667   0.3333    0.6667   0.3333   4.667   4.667
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
    if not policies:
        raise TacitError(
            f"no equilibrium of {game!r} is found: its payoffs differ by too many orders of magnitude; "
            f"tacit.solve(game, 'nash', method='learn') approximates one"
        )
    values = np.stack([np.einsum("kmn,m,n->k", payoffs, x, y) for x, y in zip(found.rows, found.columns, strict=True)])
    gap = max(evaluate(game, policy).gap for policy in policies)
    return Equilibria(game, tuple(policies), values, gap, found.component, found.degenerate, found.sure)
