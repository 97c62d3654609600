"""Q-learning with smoothed best responses on two timescales, for zero-sum and for potential games.

With π(s) = σ_τ(q(s)), the softmax with temperature τ, an agent plays from π and moves, on the n-th visit of s,

    q_h(s, a) ← q_h(s, a) + min{1, n^−fast/π(a|s)}·(r + v_{h+1}(s') − q_h(s, a)),
    v_h(s) ← v_h(s) + n^−slow·(Σ_a π(a|s)·q_h(s, a) − v_h(s))            (rule "slow-values") [Sayin et al. 2021];

or, in inner loops of K visits, π moves slowly and v is fixed: with α_k = (k + 1)^−fast,

    π(s) ← π(s) + ratio·α_k·(σ_τ(q(s)) − π(s)),   q(s, a) ← q(s, a) + α_k·(r + v(s') − q(s, a)),
    v(s) ← Σ_a π(a|s)·q(s, a) after K visits                             (rule "inner-loop") [Chen et al. 2023, Alg. 2];

or, with m visits of (s, a), and the entropy as a part of the reward,

    q(s, a) ← q(s, a) + m^−fast·(r + τ·H(π(s)) + Σ_{a'} π(a'|s')·q(s', a') − q(s, a)),
    π(s) ← π(s) + n^−slow·(σ_τ(q(s)) − π(s))                             (rule "slow-policy") [Maheshwari et al. 2022].

The temperature after n visits of s is τ_n = τ·n^−cooling/(1 + log_cooling·log n), except in inner loops, where it is τ.
Information: an agent's own actions and rewards. Guarantee: in discounted games, Nash equilibria of zero-sum games as τ
falls to 0 in the order of 1/log n (Sayin), or up to a bias of order τ (Chen); of potential games (Maheshwari).
What a fixed τ ends in is the logit equilibrium of τ, whose gap remains however long it learns; 1/log n is near that.
So by default τ falls as a power of n, slower than the noise of q (n^−fast/2), from the rewards' span or twice it: from
less, agents stop trying actions before q has left 0. No theorem covers it; chosen on half of the benchmark's games.
The default is Sayin's rule, since zero-sum games are what the learner is for. In teams, potential games and grids
preset = "theory", which is Maheshwari's rule with its paper's constants (τ = 10⁻⁶), comes nearer to an equilibrium, and
over all games of docs/leaderboard.md too; in its zero-sum games the default does.
Deviations: one table for each step of a finite horizon, where the sources discount. Chen's policies move in all states
at once, and q and π restart with each inner loop; here they move at visits and go on; Chen's α_k is α/(k + h) or fixed.
τ is in units of the rewards' span. Of Sayin et al. only the abstract could be read; the rule is that of their
laboratory's code, which keeps τ and puts the new q into v. The constant of the fall in 1/log n is free.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tacit.bandits.spec import pick
from tacit.core import check, generics
from tacit.core.elementary import exp, log, pow
from tacit.core.records import NONNEGATIVE, capacity, records
from tacit.core.types import IntArray
from tacit.learners import ucb
from tacit.learners.spec import Learner, World, check_steps, make_cells, player

#: For each rule what is not given: τ, its fall, and the exponents of the step sizes.
DEFAULTS: Mapping[str, Mapping[str, float]] = {
    "slow-values": {"temperature": 2.0, "cooling": 0.35, "fast": 0.9, "slow": 1.0},
    "inner-loop": {"temperature": 0.1, "cooling": 0.0, "fast": 0.5, "slow": 1.0},
    "slow-policy": {"temperature": 1.0, "cooling": 0.4, "fast": 0.5, "slow": 1.0},
}
RULES = list(DEFAULTS)
SLOW_VALUES, INNER_LOOP = 0, 1


@dataclass(frozen=True)
class QSmoothed(Learner):
    """Q-learning with smoothed best responses: fast local q, slow values or policies.

    Parameters
    ----------
    rule : {"slow-values", "inner-loop", "slow-policy"}
        The update of Sayin et al., of Chen et al., or of Maheshwari et al.
    temperature : float, optional
        τ of the softmax, in units of the rewards' span.
    cooling, log_cooling : float, optional
        τ after n visits is τ·n^−cooling/(1 + log_cooling·log n), not with "inner-loop".
    fast, slow : float, optional
        Exponents of the step sizes; of "inner-loop" the first only. What is not given depends on the rule.
    ratio : float
        Of "inner-loop", the policy's step size over that of q.
    inner : int
        Of "inner-loop", visits K of a state between two updates of its value.
    steps : {"shared"}, optional
        Parameter sharing across time steps: none (default), or full with "shared".

    Examples
    --------
    >>> import tacit
    >>> pennies = tacit.matrix_game([[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]])
    >>> tacit.learn(pennies, "q-smoothed", episodes=5000).gap < 0.1
    True
    """

    rule: str = "slow-values"
    temperature: float | None = None
    cooling: float | None = None
    log_cooling: float = 0.0
    fast: float | None = None
    slow: float | None = None
    ratio: float = 0.02
    inner: int = 1000
    steps: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check.plain_fields(self)
        check.choice("rule", self.rule, RULES)
        check.positive("temperature", self._settings["temperature"])
        for name in ("cooling", "fast", "slow"):
            check.real(name, self._settings[name], least=0, most=1)
        check.real("log_cooling", self.log_cooling, least=0)
        check.real("ratio", self.ratio, least=0, most=1)
        check.integer("inner", self.inner, least=1)
        check_steps(self.steps)

    @property
    def endless(self) -> bool:
        """Whether it learns in play that never resets: it does."""
        return True

    def params(self, world: World) -> Mapping[str, Any]:
        """Return the parameters in force."""
        return {**super().params(world), **self._settings}

    @property
    def _settings(self) -> dict[str, float]:
        rule = DEFAULTS[self.rule]
        return {name: default if getattr(self, name) is None else getattr(self, name) for name, default in rule.items()}

    def init(self, world: World) -> QSmoothedState:
        """Make the state of all agents."""
        A = capacity(world.actions.max())
        fields = [("Q", "f8", A), ("prob", NONNEGATIVE, A), ("value", "f8"), ("visits", "i8"), ("counts", "i8", A)]
        settings = {name: float(number) for name, number in self._settings.items()}
        cells, players, sharing = make_cells(self.steps, world, fields, [], beyond=True)
        for i, actions in enumerate(world.actions):
            players["prob"][:, :, i, :actions] = 1.0 / actions
        return QSmoothedState(
            cells=cells,
            players=sharing,
            agents=records((world.agents,), [("response", "f8", A)]),
            rule=RULES.index(self.rule),
            **{**settings, "temperature": settings["temperature"] * world.unit},
            log_cooling=float(self.log_cooling),
            ratio=float(self.ratio),
            inner=int(self.inner),
            discount=1.0 if world.discount is None else world.discount,
            over=world.states - 1 if world.continues < 1.0 else -1,
            actions=world.actions,
        )


class QSmoothedState(NamedTuple):
    """All agents' tables."""

    cells: Any  # [H+1, S, N]  Q [A], prob [A]: π, value: v, visits: n, or k of the inner loop, counts [A]: m
    players: Any  # whose Q is where
    agents: Any  # [N]  response [A]: scratch for σ_τ(q)
    rule: int
    temperature: float  # τ, in the units of the rewards
    cooling: float
    log_cooling: float
    fast: float
    slow: float
    ratio: float
    inner: int
    discount: float  # γ of play that never resets, otherwise 1
    over: int  # the state after a stretch of a discounted game, where nothing is learned; -1 for none
    actions: IntArray  # [N]


@generics.policy.implement(QSmoothedState)
def policy(learner, i, h, s, out):
    """Write π."""
    prob = player(learner.players, learner.cells, i, h, s).prob
    for a in range(learner.actions[i]):
        out[a] = prob[a]


@generics.act.implement(QSmoothedState)
def act(learner, i, h, s, u):
    """Draw from π."""
    return pick(player(learner.players, learner.cells, i, h, s).prob, 1.0, learner.actions[i], u)


@generics.jitable
def expect(prob, Q, n):
    """Return Σ_a π(a)·q(a)."""
    total = 0.0
    for a in range(n):
        total += prob[a] * Q[a]
    return total


@generics.jitable
def respond(Q, temperature, n, out):
    """Write σ_τ(q)."""
    top, _ = ucb.best(Q, n)
    total = 0.0
    for a in range(n):
        out[a] = exp(max((Q[a] - top) / temperature, -1e3))
        total += out[a]
    for a in range(n):
        out[a] /= total


@generics.jitable
def move(prob, target, rate, n):
    """Move π towards a distribution."""
    for a in range(n):
        prob[a] += rate * (target[a] - prob[a])


@generics.learn.implement(QSmoothedState)
def learn(learner, i, h, s, a, r, s_next):
    """Move q, and the values or the policy."""
    if s == learner.over:
        return
    n, cell = learner.actions[i], player(learner.players, learner.cells, i, h, s)
    following = player(learner.players, learner.cells, i, h + 1, s_next)
    response = learner.agents[i].response
    cell.visits += 1
    cell.counts[a] += 1
    tau = learner.temperature
    if learner.rule != INNER_LOOP:
        tau *= pow(cell.visits, -learner.cooling) / (1.0 + learner.log_cooling * log(cell.visits))
    if learner.rule == SLOW_VALUES:
        rate = min(pow(cell.visits, -learner.fast) / cell.prob[a], 1.0)
        cell.Q[a] += rate * (r + learner.discount * following.value - cell.Q[a])
        cell.value += pow(cell.visits, -learner.slow) * (expect(cell.prob, cell.Q, n) - cell.value)
        respond(cell.Q, tau, n, cell.prob)
    elif learner.rule == INNER_LOOP:
        cell.Q[a] += pow(cell.visits, -learner.fast) * (r + learner.discount * following.value - cell.Q[a])
        if cell.visits == learner.inner:
            cell.value = expect(cell.prob, cell.Q, n)
            cell.visits = 0
        respond(cell.Q, tau, n, response)
        move(cell.prob, response, learner.ratio * pow(cell.visits + 1, -learner.fast), n)
    else:
        entropy = 0.0
        for b in range(n):
            entropy -= cell.prob[b] * log(max(cell.prob[b], 1e-300))
        respond(cell.Q, tau, n, response)
        target = r + tau * entropy + learner.discount * expect(following.prob, following.Q, n)
        cell.Q[a] += pow(cell.counts[a], -learner.fast) * (target - cell.Q[a])
        move(cell.prob, response, pow(cell.visits, -learner.slow), n)
