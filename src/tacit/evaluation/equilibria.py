"""All Nash equilibria of a small two-player game that is played once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.display import Cell, Document, Table, exact
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix
from tacit.games.exact import with_tables
from tacit.games.showing import action_names
from tacit.games.tabular import TabularGame, as_tables
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
    values : array [E, N]
    gap : float
        The largest nash gap of them: what rounding their probabilities to floats costs.
    component : int array [E]
        Which connected set each belongs to. A set with several holds infinitely many equilibria: those that share a
        strategy can be mixed.
    degenerate : bool
        Whether some mixture of k actions has more than k best responses.

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
            return f"{number}, and no other"
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

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()


def enumerable(game: Any) -> bool:
    """Return whether equilibria of a game can be listed."""
    tables = as_tables(game)
    return tables is not None and (tables.states, tables.effective_horizon) == (1, 1) and bimatrix.fits(tables.actions)


def equilibria(game: TabularGame) -> Equilibria:
    """Return all extreme Nash equilibria of a two-player game of one state and one step.

    Parameters
    ----------
    game : TabularGame
        Of two players, one state and one step, with at most about 9×9 actions.

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
            f"game must have two players, one state, one step and at most about 9×9 actions; got {game!r} "
            f"(tacit.solve(game, 'nash') finds one equilibrium)"
        )
    payoffs = game.rewards[:, 0, 0]
    mixtures, component, degenerate = bimatrix.extreme_equilibria(payoffs)
    policies = tuple(
        MarkovPolicy([Owned(row[None, None].copy()) for row in rows]) for rows in zip(*mixtures, strict=True)
    )
    for policy in policies:
        policy.game = game
    x, y = mixtures
    by_action = [np.einsum("ab,zb->za", payoffs[0], y), np.einsum("ab,za->zb", payoffs[1], x)]
    values = np.stack([(paid * rows).sum(axis=1) for paid, rows in zip(by_action, mixtures, strict=True)], axis=1)
    best = np.stack([paid.max(axis=1) for paid in by_action], axis=1)
    gap = float(np.maximum(best - values, 0.0).max())
    return Equilibria(game, policies, values, gap, component, degenerate)
