"""Nash equilibria of stage games and discounted games by the logit path.

In a logit equilibrium p of precision λ every player plays p_i(a) ∝ exp(λ·u_i(a, p)): uniform at λ = 0, and a Nash
equilibrium as λ → ∞ [McKelvey, Palfrey, "Quantal response equilibria for normal form games", 1995]. The path from the
one to the other is followed in x = log p and λ,

    x_i(a) − x_i(0) = λ·(u_i(a) − u_i(0)) for every a > 0,    Σ_a exp x_i(a) = 1,

by steps along its tangent and corrections across it, so that λ may turn back on the way [Turocy, "A dynamic homotopy
interpretation of the logistic quantal response equilibrium correspondence", 2005]. At times the support is guessed
(along the path, log p stays bounded on it and falls in proportion to λ off it), and Newton's method solves for mixtures
that make each player indifferent on it. If nobody gains by deviating, they are an equilibrium to rounding.

Payoffs are arrays [N, A_1, …, A_N], of at least two players; each player's are shifted and scaled to [0, 1]. Of a
discounted game each player in each state is a player of its own, and u_i(s, a) is the value of playing a in s once and
p afterwards: where nobody gains by deviating once, nobody gains by deviating [Herings, Peeters, "Stationary equilibria
in stochastic games: structure, selection, and computation", 2004; Eibelshäuser, Klockmann, Poensgen, von Schenk, "The
logarithmic stochastic tracing procedure", 2023].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from tacit.core.types import BoolArray, FloatArray
from tacit.evaluation.values import average
from tacit.games.exact import own_payoffs, pair_payoffs
from tacit.games.tabular import TabularGame

#: From mixtures p [size] to ∂u/∂p [size, size] and u [size]: what every action brings.
Payoffs = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

#: What counts as an equilibrium to rounding, as a gain in units of the range of payoffs.
_ROUNDING = 1e-12
#: Priors that are tried: the even one, and random ones where its path ends in nothing.
_PRIORS = 5
#: Points of a path, and the λ at its end.
_POINTS, _END = 2000, 1e7
#: How much longer the next step is, by the corrections that this one took after the first.
_FASTER = (2.5, 1.5, 1.0, 1.0, 1.0)


#: Multiplications for one point of a path, at most: a stage then takes about a second.
_PRODUCTS = 4_000_000


#: Actions of all players in all states of a discounted game, and numbers of its transitions, at most.
_SIZE, _TRANSITIONS = 1200, 20_000_000


class Found(NamedTuple):
    """What a path led to."""

    rows: list[FloatArray]  # [A_i]
    gap: float  # the largest gain by deviating, in units of the range of that player's payoffs


def fits(actions: tuple[int, ...]) -> bool:
    """Return whether a game of so many actions is small enough.

    >>> fits((5,) * 6), fits((2,) * 17)
    (True, False)
    """
    return len(actions) ** 2 * math.prod(actions) <= _PRODUCTS


def equilibrium(payoffs: FloatArray) -> Found:
    """Return a Nash equilibrium. The best that was found, where no path leads to one to rounding.

    >>> pennies = np.array([[[1.0, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> equilibrium(pennies).rows
    [array([0.5, 0.5]), array([0.5, 0.5])]
    """
    return _end(_Path(payoffs.shape[1:], _NormalForm(payoffs)))


def fits_stationary(game: TabularGame) -> bool:
    """Return whether a discounted game is small enough."""
    transitions = game.states * game.states * game.joint_actions
    return game.states * sum(game.actions) <= _SIZE and transitions <= _TRANSITIONS


def stationary_equilibrium(game: TabularGame) -> list[FloatArray]:
    """Return a stationary equilibrium of a discounted game, or the best policy met. Arrays are [S, A_i].

    >>> import tacit
    >>> pennies = tacit.make("matching-pennies")
    >>> forever = tacit.TabularGame(pennies.transitions, pennies.rewards, 0, discount=0.9)
    >>> stationary_equilibrium(forever)
    [array([[0.5, 0.5]]), array([[0.5, 0.5]])]
    """
    sizes = [a for a in game.actions for _ in range(game.states)]
    rows = _end(_Path(sizes, _Stationary(game))).rows
    return [np.stack(rows[i * game.states : (i + 1) * game.states]) for i in range(game.agents)]


def _end(path: _Path) -> Found:
    """Return what the paths from several priors lead to."""
    rng = np.random.default_rng(0)
    best: tuple[float, FloatArray] = (np.inf, np.exp(path.even))
    for k in range(_PRIORS):
        prior = path.even + rng.normal(size=path.size) if k else path.even
        best = min(best, path.follow(prior), key=itemgetter(0))
        if best[0] <= _ROUNDING:
            break
    return Found(np.split(best[1], path.cuts[1:-1]), best[0])


class _Path:
    """The equations of a game, over the mixtures p of all players in one vector."""

    def __init__(self, actions: Sequence[int], payoffs: Payoffs) -> None:
        self._players, self._pairs = len(actions), payoffs
        self.cuts = np.cumsum([0, *actions])
        self.size = int(self.cuts[-1])
        self._own = np.repeat(np.eye(self._players), actions, axis=1)  # [N, size] whose action it is
        self.even = -np.log(np.array(actions)) @ self._own
        self._first = self.cuts[:-1]
        self._base = np.repeat(self._first, actions)  # x[base] is x_i(0) beside every x_i(a)
        self._last = np.append(np.zeros(self.size), 1.0)

    def follow(self, prior: FloatArray) -> tuple[float, FloatArray]:
        """Return the best mixtures on the path from a prior (in logarithms), after their gap."""
        z = np.append(prior - np.log(self._own @ np.exp(prior)) @ self._own, 0.0)
        best, tangent, step, attempt = (np.inf, np.exp(z[:-1])), self._last, 0.5, 4.0
        for _ in range(_POINTS):
            corrected = self._correct(z + step * tangent, tangent, prior)
            if corrected is None:
                step /= 2.5
                if step < 1e-10:
                    break
                continue
            z, tangent, corrections = corrected
            step *= _FASTER[corrections]
            if z[-1] >= attempt and tangent[-1] > 0:
                attempt, p = 2 * z[-1], np.exp(z[:-1])
                p /= (self._own @ p) @ self._own
                drift = z[-1] * tangent[:-1] / tangent[-1]  # of log p with log λ
                best = min(best, (self._gap(p), p), self._polish(p, drift > -0.5), key=itemgetter(0))
                if best[0] <= _ROUNDING or z[-1] > _END:
                    break
        return best

    def _correct(
        self, z: FloatArray, tangent: FloatArray, prior: FloatArray
    ) -> tuple[FloatArray, FloatArray, int] | None:
        """Return the path's point across from z, its tangent, and the number of corrections.

        None where they do not shrink: then z is too far from the path.
        """
        last = np.inf
        for corrections in range(len(_FASTER)):
            x, precision = z[:-1], z[-1]
            p = np.exp(x)
            pairs, u = self._pairs(p)
            system = np.empty((self.size + 1, self.size + 1))
            bend = np.eye(self.size) - precision * pairs * p
            system[:-1, :-1] = bend - bend[self._base]
            system[:-1, -1] = u[self._base] - u
            system[self._first, :-1], system[self._first, -1] = self._own * p, 0.0
            system[-1] = tangent
            off = x - prior - precision * u
            off = np.append(off - off[self._base], 0.0)
            off[self._first] = self._own @ p - 1.0
            try:
                move, ahead = np.linalg.solve(system, np.stack([-off, self._last], axis=1)).T
            except np.linalg.LinAlgError:
                return None
            size = float(np.abs(move[:-1]).max())
            if not size <= (0.6 * last if corrections else 1.0):
                return None
            z, last = z + move, size
            if size < 0.03:
                return None if z[-1] < 0 else (z, ahead / np.linalg.norm(ahead), corrections)
        return None

    def _polish(self, p: FloatArray, support: BoolArray) -> tuple[float, FloatArray]:
        """Solve for mixtures near p that make all of a support equally good. Return them after their gap."""
        (on,) = np.nonzero(support)
        on_support = self._own[:, on]  # u_i(a) − v_i = 0 and Σ p_i = 1, in p and v
        if not on_support.any(axis=1).all():
            return np.inf, p
        p = np.where(support, p, 0.0)
        p /= (self._own @ p) @ self._own
        k, last = len(on), 2.0
        system = np.zeros((k + self._players, k + self._players))
        system[:k, k:], system[k:, :k] = -on_support.T, on_support
        for _ in range(20):
            pairs, u = self._pairs(p)
            system[:k, :k] = pairs[np.ix_(on, on)]
            off = np.append(u[on] - (self._own @ (p * u)) @ on_support, self._own @ p - 1.0)
            try:
                move = np.linalg.solve(system, -off)[:k]
            except np.linalg.LinAlgError:  # of a degenerate game
                move = np.linalg.lstsq(system, -off, rcond=None)[0][:k]
            p[on] += move
            size = float(np.abs(move).max())
            if size < 1e-13 or size > 0.5 * last or p.min() < -0.3:  # done; or not on the way to a solution
                break
            last = size
        if p.min() < -_ROUNDING:
            return np.inf, p
        p = np.maximum(p, 0.0)
        p /= (self._own @ p) @ self._own
        return self._gap(p), p

    def _gap(self, p: FloatArray) -> float:
        """Return the largest gain by deviating from p."""
        u = self._pairs(p)[1]
        best = np.maximum.reduceat(u, self._first)
        return float((best - self._own @ (p * u)).max())


class _NormalForm:
    """Payoffs of a game that is played once."""

    def __init__(self, payoffs: FloatArray) -> None:
        flat = payoffs.reshape(len(payoffs), -1)
        flat = flat - flat.min(axis=1, keepdims=True)
        self._payoffs = flat / np.maximum(flat.max(axis=1, keepdims=True), 1e-300)
        self._cuts = np.cumsum([0, *payoffs.shape[1:]])

    def __call__(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ∂u_i(a)/∂p_j(b) as [size, size], and u [size] itself.

        Of a pair i < j, the players after j are summed out first, then those between, then those before i.
        """
        N, rows = len(self._payoffs), np.split(p, self._cuts[1:-1])
        pairs = np.zeros((len(p), len(p)))
        before = [np.ones(1)]
        for block in rows[:-1]:
            before.append(np.multiply.outer(before[-1], block).ravel())
        ahead = self._payoffs
        for j in reversed(range(1, N)):
            between, at_j = ahead, slice(self._cuts[j], self._cuts[j + 1])
            for i in reversed(range(j)):
                both = between.reshape(N, len(before[i]), -1)
                both = (before[i] @ both).reshape(N, len(rows[i]), len(rows[j]))
                at_i = slice(self._cuts[i], self._cuts[i + 1])
                pairs[at_i, at_j], pairs[at_j, at_i] = both[i], both[j].T
                if i:
                    between = rows[i] @ between.reshape(N, -1, len(rows[i]), len(rows[j]))
            ahead = ahead.reshape(-1, len(rows[j])) @ rows[j]
        return pairs, pairs @ p / (N - 1)


class _Stationary:
    """Payoffs of playing an action once in a discounted game. Players come first, then their states.

    With G = (I − γP_π)⁻¹ and W_ij(t, b) agent i's value where j plays b in t once,

        ∂u_i(s, a)/∂p_j(t, b) = (γP_i·G)(s, a; t)·W_ij(t, b), and where s = t, j ≠ i, the payoff of a beside b.
    """

    def __init__(self, game: TabularGame) -> None:
        self._game = game
        spans = np.ptp(game.rewards.reshape(game.agents, -1), axis=1) * game.effective_horizon
        self._unit = np.repeat(np.maximum(spans, 1e-300), [a * game.states for a in game.actions])  # of each action
        self._onward = game.expect(0, np.eye(game.states))  # [t, S, A_1, …, A_N]

    def __call__(self, p: FloatArray) -> tuple[FloatArray, FloatArray]:
        game, S = self._game, self._game.states
        cuts = np.cumsum([0, *(a * S for a in game.actions)])
        blocks = [slice(*cuts[i : i + 2]) for i in range(game.agents)]
        rows = [p[block].reshape(S, -1) for block in blocks]
        ahead = [np.moveaxis(own_payoffs(self._onward, rows, i), 0, -1) for i in range(game.agents)]  # [S, A_i, t]
        inverse = np.linalg.inv(np.eye(S) - np.einsum("sat,sa->st", ahead[0], rows[0]))
        V = average(game.payoffs(0, rows, None), rows) @ inverse.T
        joint = game.joint_payoffs(0, V)
        pairs, u = np.zeros((len(p), len(p))), np.zeros(len(p))
        every = np.arange(S)
        for i, block in enumerate(blocks):
            visits = ahead[i] @ inverse  # [S, A_i, t]  afterwards
            for j, other in enumerate(blocks):
                paid = own_payoffs(joint[i], rows, j)  # [t, A_j]
                both = visits[..., None] * paid
                if j == i:
                    u[block] = paid.ravel()
                else:
                    beside = pair_payoffs(joint[i], rows, min(i, j), max(i, j))
                    both[every, :, every] += beside if i < j else np.swapaxes(beside, 1, 2)
                pairs[block, other] = both.reshape(S * game.actions[i], -1)
        return pairs / self._unit[:, None], u / self._unit
