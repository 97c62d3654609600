"""Nash equilibria of a small game that is played once: of two players all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.display import Cell, Document, Table, exact
from tacit.core.errors import TacitError
from tacit.core.memory import Owned
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation import bimatrix, supports
from tacit.games.exact import with_tables
from tacit.games.showing import action_names
from tacit.games.tabular import TabularGame, as_tables
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True, eq=False)
class Equilibria:
    """Equilibria of a game that is played once: of two players all extreme ones, enumerated in exact arithmetic.

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
        strategy can be mixed; of more players, those that differ in one player's strategy.
    degenerate : bool
        Whether some mixture of k actions has more than k best responses; of more than two players, whether one of those
        that were found has another best response or lies where the equations of its support are singular.
    sure : bool
        Whether there is surely no other: of two players.
    curve : bool
        Of more than two players: whether one lies on a curve or segment of equilibria with the same supports.

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
    sure: bool = True
    curve: bool = False

    def __len__(self) -> int:
        return len(self.policies)

    @property
    def infinite(self) -> bool:
        """Whether there are infinitely many equilibria beside these."""
        return self.curve or len(set(self.component.tolist())) < len(self)

    @property
    def told(self) -> str:
        """How many there are, in words."""
        if not self.infinite:
            number = "1 equilibrium" if len(self) == 1 else f"{len(self)} equilibria"
            return f"{number}, and no other" if self.sure else f"{number} found; there may be others"
        sets = len(set(self.component.tolist()))
        if not self.sure:
            return (
                f"infinitely many equilibria; listed are {len(self)}, and those of a set that differ in one player's "
                f"strategy can be mixed; there may be others"
            )
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
        return Document(f"nash equilibria: {self.told}", parts, self.data())

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
                        dict(zip(own, probs[0, 0].tolist(), strict=True))
                        for own, probs in zip(names, policy.probs, strict=True)
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
    if tables is None or (tables.states, tables.effective_horizon) != (1, 1):
        return False
    return bimatrix.fits(tables.actions) or supports.fits(tables.actions)


def equilibria(game: TabularGame) -> Equilibria:
    """Return the extreme Nash equilibria of a game that is played once, in one state, degenerate or not.

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
        raise TacitError(
            f"{game!r} is not a game of one state and step with at most about 9×9 or 3×3×3 actions, whose equilibria "
            f"can be listed; tacit.solve(game, 'nash') finds one"
        )
    payoffs = game.rewards[:, 0, 0]
    two = game.agents == 2
    played, component, degenerate, curve = (bimatrix.extreme_equilibria if two else supports.find_equilibria)(payoffs)
    policies = tuple(
        MarkovPolicy([Owned(own[None, None].copy()) for own in rows]) for rows in zip(*played, strict=True)
    )
    for policy in policies:
        policy.game = game
    worth = [supports.contract(own, played, (i,)) for i, own in enumerate(payoffs)]  # of each action
    values = np.stack([(own * mine).sum(axis=1) for own, mine in zip(worth, played, strict=True)], axis=1)
    best = np.stack([own.max(axis=1) for own in worth], axis=1)
    gap = float(np.maximum(best - values, 0.0).max())
    return Equilibria(game, policies, values, gap, component, degenerate, two, curve)
