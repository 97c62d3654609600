"""Optimistic gradient descent-ascent at each state, with a slow critic. [Wei, Lee, Zhang, Luo 2021]

In iteration t every agent has x̂, x on the simplex of each state, and a critic V. With the others at their x_t,

    q_t(s, a) = E[r + γ·V_{t−1}(s')],   ρ_t(s) = Σ_a x_t(s, a)·q_t(s, a)
    x̂_{t+1} = Proj(x̂_t + η·q_t),   x_{t+1} = Proj(x̂_{t+1} + η·q_t)
    V_t = V_{t−1} + α_t·(ρ_t − V_{t−1}),   α_t = (H + 1)/(H + t),   H = 1/(1 − γ).

With gradient = "exact", q is computed from the tables; an episode is an iteration. With "sampled", q and ρ are means
over a batch of visits of the state (`batches.py`) [eq. 7-9].

Information: an agent's own trajectory, and that all agents use the same length of batches.
Guarantee: in discounted zero-sum games of two agents, x̂ converges to a Nash equilibrium, for η ≤ √((1 − γ)^5/S)/10⁴ and
H = 2/(1 − γ): eta = "theory" [Thm. 1, 2]. In other games each agent does the same, with no guarantee.
Deviations: rewards are brought to [0, 1]. On a finite horizon there is a table for each step, whose critic follows
that of the next, and H is the horizon. From play the source has phases of a common number L of steps and estimates all
states at their ends; here a state's batch ends after so many of its own visits, so nothing depends on a clock. An
action that a batch has not played counts as its mean, where the source has 0. x is returned, a step ahead of x̂.
The default η = 1/(4·√A) is 2.8 times that of the authors' code for two agents with equal numbers of actions, and H is
that of the code (github.com/bahh723/competitive-markov-game).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tacit.core import check, generics
from tacit.core.elementary import project_each
from tacit.core.memory import Owned
from tacit.core.records import NONNEGATIVE, capacity, records
from tacit.core.types import FloatArray, IntArray
from tacit.evaluation.gradient import Gradient
from tacit.games.exact import ExactGame
from tacit.learners import batches
from tacit.learners.pg_exact import check_eta
from tacit.learners.spec import World, make_cells, player, starting_point, unit_rewards
from tacit.policies.markov import MarkovPolicy


@dataclass(frozen=True)
class OGDA(batches.GradientLearner):
    """Optimistic gradient descent-ascent at each state, with a slow critic.

    Parameters
    ----------
    eta : float or "theory", optional
        Step size for rewards in [0, 1]; 1/(4·√A_i) if not given, or the theorem's, together with its H.
    optimistic : bool
        Whether the policy is a step ahead of x̂; without it, this is gradient descent-ascent with a critic.
    batch : int
        Of sampled gradients: visits of a state between two steps there.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.matrix_game([[3, 0], [1, 2]], [[-3, 0], [-1, -2]])
    >>> tacit.learn(game, "ogda", episodes=2000, eta=0.5).candidates["last"].gap < 1e-6
    True
    """

    eta: float | str | None = None
    optimistic: bool = True
    batch: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.eta is not None:
            check_eta(self.eta, ("theory",))
        check.flag("optimistic", self.optimistic)
        check.integer("batch", self.batch, least=1)

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force; η of the agent with most actions."""
        return {
            **super().params(world),
            "eta": float(self._eta(world.actions, world.states, world.scale.horizon).min()),
        }

    def _eta(self, actions: IntArray, states: int, horizon: float) -> FloatArray:
        """Return each agent's step size."""
        if self.eta is None:
            return np.asarray(0.25 / np.sqrt(actions))
        return np.full(len(actions), 1e-4 / np.sqrt(horizon**5 * states) if self.eta == "theory" else float(self.eta))

    def _critic_horizon(self, horizon: float) -> float:
        """Return H of the critic's rates."""
        return 2.0 * horizon if self.eta == "theory" else float(horizon)

    def recall(self, game: ExactGame, policy: MarkovPolicy) -> tuple[FloatArray, ...]:
        """Return t, V [N, H + 1, S] and each agent's x̂, before the first iteration."""
        V = np.zeros((game.agents, game.horizon + 1, game.states))
        hats = (np.broadcast_to(x, (game.horizon, *x.shape[1:])).copy() for x in policy.probs)
        return np.zeros(1), V, *hats

    def follow(
        self, game: ExactGame, policy: MarkovPolicy, gradient: Gradient, memory: tuple[FloatArray, ...], eta: float
    ) -> tuple[MarkovPolicy, tuple[FloatArray, ...], float]:
        """Take one step of every agent and its critic; return how far all moved."""
        clock, V, *hats = memory
        t, horizon = clock + 1.0, self._critic_horizon(game.effective_horizon)
        rate = (horizon + 1.0) / (horizon + t[0])
        low, high = game.reward_range
        unit = high - low if high > low else 1.0
        steps = self._eta(np.array(game.actions), game.states, game.effective_horizon) / unit
        critic, points, moved = np.zeros_like(V), [hat.copy() for hat in hats], [hat.copy() for hat in hats]
        for h in range(game.horizon):
            rows = policy.at(h)
            q = game.payoffs(h, rows, V[:, 0] if game.discount is not None else V[:, h + 1])
            for i, x in enumerate(rows):
                payoffs = q[i, :, : x.shape[1]]
                critic[i, h] = V[i, h] + rate * ((x * payoffs).sum(axis=1) - V[i, h])
                slope = steps[i] * (payoffs - payoffs.mean(axis=1, keepdims=True))
                points[i][h] = project_each(hats[i][h] + slope)
                moved[i][h] = project_each(points[i][h] + slope) if self.optimistic else points[i][h]
        new = MarkovPolicy([Owned(x) for x in moved])
        change = max(float(np.abs(a - b).max()) for a, b in zip((critic, *points), (V, *hats), strict=True))
        return new, (t, critic, *points), change

    def init(self, world: World) -> OGDAState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        fields = [*batches.fields(A), ("point", "f8", A), ("V", "f8"), ("updates", "i8")]
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        batches.begin(players, starting_point(world), "prob", "point")
        agents = records((world.agents,), [("eta", NONNEGATIVE)])
        agents["eta"] = self._eta(world.actions, world.states, world.scale.horizon)
        low, scale = unit_rewards(world)
        return OGDAState(
            cells=cells,
            players=sharing,
            agents=agents,
            optimistic=bool(self.optimistic),
            batch=int(self.batch),
            exploration=float(self.exploration),
            discount=1.0 if world.discount is None else world.discount,
            effective_horizon=self._critic_horizon(world.scale.horizon),
            reward_low=low,
            reward_scale=scale,
            actions=world.actions,
        )


class OGDAState(NamedTuple):
    """All agents' policies and critics; values in units of one step's span."""

    cells: Any  # [H+1, S, N]  batches.fields; point [A]: x̂; V; updates: t
    players: Any  # whose policy is where
    agents: Any  # [N]  eta
    optimistic: bool
    batch: int
    exploration: float
    discount: float  # γ of play that never resets, otherwise 1
    effective_horizon: float
    reward_low: float
    reward_scale: float
    actions: IntArray  # [N]


generics.act.implement(OGDAState)(batches.act)
generics.policy.implement(OGDAState)(batches.policy)


@generics.learn.implement(OGDAState)
def learn(learner, i, h, s, a, r, s_next):
    """Add to the batch; at its end move x̂, x and V."""
    n, cell = learner.actions[i], player(learner.players, learner.cells, i, h, s)
    ahead = player(learner.players, learner.cells, i, h + 1, s_next).V
    batches.add(cell, a, (r - learner.reward_low) * learner.reward_scale + learner.discount * ahead)
    if cell.visits == learner.batch:
        cell.updates += 1
        rho = batches.close(cell, n)
        cell.V += (learner.effective_horizon + 1.0) / (learner.effective_horizon + cell.updates) * (rho - cell.V)
        batches.ascend(cell.point, cell.total, learner.agents[i].eta, n)
        for b in range(n):
            cell.prob[b] = cell.point[b]
        if learner.optimistic:
            batches.ascend(cell.prob, cell.total, learner.agents[i].eta, n)
        batches.clear(cell, n)
