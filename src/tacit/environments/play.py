"""Play episodes of a policy, in a game or an environment.

Games with kernels are played in a `GameArena`, a whole batch at every step, by compiled code where that pays.
Environments, and policies from elsewhere, are played in an `EnvironmentArena`, one episode after the other. One agent
may deviate from the policy.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from tacit.core import check, generics, streams
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.environments.adapters import Environment, GameAdapter, Range, WrappedEnv, environment, floats, name_of, wrap
from tacit.environments.encoding import fit, see_nothing
from tacit.environments.episodes import EnvironmentGame, episode_bounds, stated_horizon, stated_range
from tacit.environments.observations import OVER, Numbering, Observations, can_number, numberings
from tacit.games.exact import check_playable
from tacit.games.protocol import Game, is_game
from tacit.policies import MarkovPart, MarkovPolicy, RecordedPolicy, base

#: Episodes that are played at once: bounds memory, and how long Ctrl-C waits.
BATCH = 2_000


class Played(NamedTuple):
    """What happened: each agent's own states, actions and rewards."""

    states: IntArray  # [episodes, H, N]
    actions: IntArray  # [episodes, H, N]
    rewards: FloatArray  # [episodes, H, N]
    steps: int = 0  # that an environment made

    @classmethod
    def empty(cls, episodes: int, horizon: int, agents: int) -> Played:
        """Return arrays to write to."""
        shape = (episodes, horizon, agents)
        return cls(np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape))

    @property
    def returns(self) -> FloatArray:
        """The sum of each agent's rewards, [episodes, N]."""
        total: FloatArray = self.rewards.sum(axis=1)
        return total


@dataclass
class Deviation:
    """One agent's deviation, to another part or to a table of actions [H, S].

    Where a table has −1, or s lies beyond it, the agent does what `lost` says.
    """

    agent: int
    response: Any
    lost: str = "policy"  # or "random": evenly
    halfway: Callable[[], Any] | None = None  # returns what the response was after half of its training

    def choose(self, h: int, states: IntArray, followed: IntArray, u: FloatArray, actions: int) -> IntArray:
        """Return the agent's actions in a batch, where the policy would have it play `followed`."""
        table = self.response
        inside = states < table.shape[1]
        wanted = np.where(inside, table[h, np.minimum(states, table.shape[1] - 1)], -1)
        other = followed if self.lost == "policy" else (u * actions).astype(np.int64)
        return np.where(wanted >= 0, wanted, other)

    def begin(self, seed: int) -> None:
        """Begin an episode that is played alone."""
        self._stray = streams.stream(seed, streams.PLAY)
        if not isinstance(self.response, np.ndarray):
            self.response.begin(seed)

    def choose_one(self, h: int, s: int, shown: Any, allowed: Any, followed: int, actions: int) -> int:
        """Return the agent's action where the policy would have it play `followed`."""
        if not isinstance(self.response, np.ndarray):
            return int(self.response.choose(h, shown, allowed))
        wanted = int(self.response[h, s]) if s < self.response.shape[1] else -1
        if wanted >= 0 or self.lost == "policy":
            return wanted if wanted >= 0 else followed
        return int(self._stray.random() * actions)


class Draws(NamedTuple):
    """Uniform numbers of a batch of episodes; those of an episode depend on its number."""

    world: FloatArray  # [B, H]
    common: FloatArray  # [B, H + 1]
    own: FloatArray  # [N, B, H]
    stray: FloatArray  # [B, H]  of who deviates

    @classmethod
    def of(cls, seed: int, episodes: range, horizon: int, agents: int) -> Draws:
        """Draw for episodes of consecutive numbers."""
        B, first = len(episodes), episodes.start

        def numbers(role: int, width: int) -> FloatArray:
            stream = streams.stream(seed, streams.PLAY + 16 + role)
            stream.bit_generator.advance(first * width)  # type: ignore[attr-defined]
            return stream.random((B, width))

        of_agents = np.stack([numbers(3 + i, horizon) for i in range(agents)])
        return cls(numbers(0, horizon), numbers(1, horizon + 1), of_agents, numbers(2, horizon))


#: What all agents play in a batch: actions [B, N] at step h in each agent's own states [B, N].
Act: TypeAlias = Callable[[int, IntArray], IntArray]


def in_batches(policy: MarkovPolicy | RecordedPolicy, draws: Draws) -> Act:
    """Return how a policy plays a batch."""
    return _markov_batch(policy, draws) if isinstance(policy, MarkovPolicy) else _recorded_batch(policy, draws)


def _markov_batch(policy: MarkovPolicy, draws: Draws) -> Act:
    cumulated = [np.cumsum(table.reshape(*table.shape[:2], -1), axis=2) for table in policy.probs]

    def act(h: int, states: IntArray) -> IntArray:
        step = h if policy.steps > 1 else 0
        if not policy.product:
            joint = _pick(cumulated[0][step], states[:, 0], draws.common[:, h])
            return np.stack(np.unravel_index(joint, policy.actions), axis=1)
        tables = enumerate(cumulated)
        return np.stack([_pick(table[step], states[:, i], draws.own[i][:, h]) for i, table in tables], axis=1)

    return act


def _recorded_batch(policy: RecordedPolicy, draws: Draws) -> Act:
    k = [policy.first(draws.common[:, -1])] * len(policy.records)  # the index in each record

    def act(h: int, states: IntArray) -> IntArray:
        chosen = []
        for r, record in enumerate(policy.records):
            inside, s = states[:, r] < record.states, np.minimum(states[:, r], record.states - 1)
            k[r] = np.where(inside, record.earlier(h, k[r], s, draws.common[:, h]), -1)
            numbers = draws.own[r : r + len(record.actions)]
            chosen += [record.draw(i, k[r], h, u[:, h]) for i, u in enumerate(numbers)]
        return np.stack(chosen, axis=1)

    return act


def _pick(cumulated: FloatArray, states: IntArray, u: FloatArray) -> IntArray:
    """Draw from the distributions [S, A] of states, uniformly in unknown states."""
    S, A = cumulated.shape
    inside = states < S
    picked: IntArray = (u[:, None] >= cumulated[np.minimum(states, S - 1), :-1]).sum(axis=1)
    return np.where(inside, picked, (u * A).astype(np.int64))


class TablePlayer:
    """A part of a product Markov policy, played fast. It draws only where the policy mixes."""

    sees = False

    def __init__(self, part: MarkovPart, horizon: int) -> None:
        self._table: FloatArray = part.table  # type: ignore[assignment]
        self._agent, self._horizon = part.agent, horizon
        self.rows: dict[tuple[int, int], int | list[float]] = {}  # an action, or cumulated probabilities
        self.numbers: list[float] = []

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        self._seed, self.numbers = seed, []

    def draw(self) -> list[float]:
        """Return the agent's own numbers of the episode, one for each step."""
        self.numbers = streams.stream(self._seed, streams.agent_role(self._agent)).random(self._horizon).tolist()
        return self.numbers

    def _read(self, h: int, s: int) -> int | list[float]:
        """Return the action of a row, or its cumulated probabilities where it mixes."""
        probs = self._table[h % len(self._table), s].tolist()
        row = probs.index(1.0) if 1.0 in probs else list(accumulate(probs))[:-1]
        self.rows[h, s] = row
        return row

    def act(self, h: int, s: int) -> int:
        """Return the action at step h in state s, which was not met at this step before."""
        row = self._read(h, s)
        return row if isinstance(row, int) else bisect_right(row, (self.numbers or self.draw())[h])

    def stray(self, h: int) -> int:
        """Return an action, drawn uniformly, in a state that the policy does not know."""
        return int((self.numbers or self.draw())[h] * self._table.shape[2])


class EpisodePlayers:
    """All agents in one episode after the other, each with its own part."""

    def __init__(self, policy: Any, actions: Sequence[int], horizon: int, deviation: Deviation | None = None) -> None:
        parts = [policy.part(i) for i in range(len(actions))]
        quick = [TablePlayer(part, horizon) if type(part) is MarkovPart and part.product else part for part in parts]
        self.parts: list[Any] = quick
        self._known = _known(policy, len(actions))
        self._rows: list[dict[tuple[int, int], Any]] = [getattr(part, "rows", {}) for part in quick]
        self.actions, self.deviation, self.lost = list(actions), deviation, 0  # observations that a part did not know

    def begin(self, seed: int) -> None:
        """Begin an episode."""
        for part in self.parts:
            part.begin(seed)
        if self.deviation is not None:
            self.deviation.begin(seed)

    def act(
        self, h: int, states: Sequence[int], shown: Sequence[Any], allowed: Sequence[Any], over: Any = None
    ) -> list[int]:
        """Return the agents' actions, uniform on unknown observations. Those are counted unless the agent is out."""
        chosen = []
        for i, part in enumerate(self.parts):
            row = self._rows[i].get((h, states[i]))  # of a table
            if row is not None:
                chosen.append(row if type(row) is int else bisect_right(row, (part.numbers or part.draw())[h]))
                continue
            known = part.sees or states[i] < self._known[i]
            if part.sees:
                before = part.unknown
                chosen.append(part.choose(h, shown[i], allowed[i]))
                known = part.unknown == before
            else:
                chosen.append(part.act(h, states[i]) if known else part.stray(h))
            if not known and not (over and over[i]):
                self.lost += 1
        if self.deviation is not None:
            i = self.deviation.agent
            chosen[i] = self.deviation.choose_one(h, states[i], shown[i], allowed[i], chosen[i], self.actions[i])
        return chosen


def _known(policy: Any, agents: int) -> list[int]:
    """Return how many states each agent's part knows."""
    count_states = getattr(policy, "known_states", lambda agent: getattr(policy, "states", sys.maxsize))
    return [count_states(i) for i in range(agents)]


def step_batch(game, h, s, actions, u, last, chosen, s_next, rewards):
    """Take one step in all episodes of a batch. States are s [B], actions [B, N], uniform numbers u [B]."""
    for b in range(len(s)):
        for i in range(len(chosen)):
            chosen[i] = actions[b, i]
        token = generics.joint_action(game, h, s[b], chosen)
        if not last:
            s_next[b] = generics.next_state(game, token, u[b])
        for i in range(len(chosen)):
            rewards[b, i] = generics.reward(game, i, token)


def start_batch(game, u, s):
    """Draw the first states of all episodes of a batch."""
    for b in range(len(s)):
        s[b] = generics.initial_state(game, u[b])


def unroll(game: Any, policy: Any) -> tuple[Any, Any]:
    """Return a game and a policy as they are played. A discounted game has a random horizon."""
    if getattr(game, "discount", None) is None:
        return game, policy
    policy.check_fits(game)
    return game.to_random_horizon(), policy.to_random_horizon()


class GameArena:
    """A game with kernels: all agents see its state, and none is out early."""

    common_state = True

    def __init__(self, game: Game) -> None:
        check_playable(game)
        self._unrolled = getattr(game, "discount", None) is not None  # played in stretches, by stationary policies
        game = game.to_random_horizon() if self._unrolled else game  # type: ignore[attr-defined]
        self.game, self.agents, self.horizon, self.actions = game, game.agents, game.horizon, game.actions
        self.reward_range: Range | None = game.reward_range
        self._kernels = generics.seal(game.kernels())

    def states(self, agent: int) -> int:
        """Return the number of states."""
        return self.game.states

    def play(self, policy: Any, episodes: range, *, seed: int, deviation: Deviation | None = None) -> Played:
        """Play episodes, all of them step by step."""
        if self._unrolled and getattr(policy, "states", 0) == self.game.states - 1:
            policy = policy.to_random_horizon()
        B, H, N = len(episodes), self.horizon, self.agents
        start = compile_loop(start_batch, self._kernels, steps=B * H * N)
        step = compile_loop(step_batch, self._kernels, steps=B * H * N)
        draws = Draws.of(seed, episodes, H, N)
        act = in_batches(policy, draws)
        played = Played.empty(B, H, N)
        s, s_next, chosen = np.zeros(B, np.int64), np.zeros(B, np.int64), np.zeros(N, np.int64)
        rewards = np.zeros((B, N))
        start(self._kernels, np.ascontiguousarray(draws.world[:, 0]), s)
        for h in range(H):
            last = h + 1 == H
            played.states[:, h] = s[:, None]
            actions = np.ascontiguousarray(act(h, played.states[:, h]))
            if deviation is not None:  # what the policy would have it play is drawn all the same
                i = deviation.agent
                situation = played.states[:, h, i], actions[:, i], draws.stray[:, h], self.actions[i]
                actions[:, i] = deviation.choose(h, *situation)
            u = np.ascontiguousarray(draws.world[:, 0 if last else h + 1])
            step(self._kernels, h, s, actions, u, last, chosen, s_next, rewards)
            played.actions[:, h], played.rewards[:, h] = actions, rewards
            s, s_next = s_next, s
        return played


class EnvironmentArena:
    """Somebody else's environment: each agent sees a number of its own for what it observes."""

    def __init__(
        self, environment: Environment, observations: Sequence[Observations], horizon: int, reward_range: Range | None
    ) -> None:
        self.environment, self.observations, self.horizon = environment, list(observations), horizon
        self.agents, self.actions = len(environment.actions), environment.actions
        self.reward_range = reward_range
        self.cut = False  # whether the horizon has ended an episode, and not the environment
        self.lost, self.met = 0, 0  # observations that the policy's tables do not have, of all that were met
        self.planned = False  # whether the environment itself states this horizon
        self.limited = False  # whether the user gave it
        self.blind = False  # whether no states are counted: all that is observed is one
        self.seen = Numbering(self.observations)

    @property
    def common_state(self) -> bool:
        """Whether all agents have seen the same so far."""
        return self.seen.same

    def states(self, agent: int) -> int:
        """Return how many states an agent has met."""
        return len(self.observations[agent].met)

    def play(self, policy: Any, episodes: range, *, seed: int, deviation: Deviation | None = None) -> Played:
        """Play episodes one after the other."""
        B, H, N = len(episodes), self.horizon, self.agents
        played = Played.empty(B, H, N)
        seeds = streams.seeds(seed, streams.PLAY, episodes)
        players, steps = EpisodePlayers(policy, self.actions, H, deviation), 0
        for b, number in enumerate(seeds.tolist()):
            players.begin(number)
            steps += self._episode(number if self.environment.seeded else None, players, played, b)
        if deviation is None:
            self.lost += players.lost
        return played._replace(steps=steps)

    def _episode(self, seed: int | None, players: EpisodePlayers, played: Played, b: int) -> int:
        """Play an episode; return its steps."""
        environment, steps = self.environment, []
        shown, over = environment.reset(seed), None
        for h in range(self.horizon):
            states = self.seen.states(shown, over)
            chosen = players.act(h, states, shown, environment.allowed, over)
            if players.deviation is None:
                self.met += self.agents - (over.count(True) if over else 0)
            shown, paid, over = environment.step(chosen)
            steps.append((states, chosen, floats(environment, paid)))
            if over is not None and all(over):
                break
        else:
            self.cut = not self.planned
        length = len(steps)
        for array, rows in zip(played[:3], zip(*steps, strict=True), strict=True):
            array[b, :length] = rows
        if length < self.horizon:  # the other steps are in a state "over", which pays nothing
            played.states[b, length:] = [observations.number(OVER) for observations in self.observations]
        return length


def play(game: Any, policy: Any, *, episodes: int = 1, seed: int = 0, deviation: Deviation | None = None) -> Played:
    """Play episodes of a policy.

    Parameters
    ----------
    game : a game with kernels, an environment, or an arena
    policy : a policy of it, with a part for each agent
    episodes : int
        Those of the same number and seed meet the same draws, whatever the policy.
    seed : int
    deviation : Deviation, optional
        Of one agent.

    Examples
    --------
    >>> import tacit
    >>> from tacit.environments.play import play
    >>> chicken, swerves = tacit.make("chicken"), tacit.MarkovPolicy.deterministic([[[0]], [[1]]], [2, 2])
    >>> played = play(chicken, swerves, episodes=2)
    >>> played.states.shape, played.returns.tolist()
    ((2, 1, 2), [[2.0, 7.0], [2.0, 7.0]])
    """
    arena = arena_of(game, policy)
    edges = range(0, check.integer("episodes", episodes), BATCH)
    batches = [arena.play(policy, range(k, min(k + BATCH, episodes)), seed=seed, deviation=deviation) for k in edges]
    states, actions, rewards = (np.concatenate(parts) for parts in zip(*(batch[:3] for batch in batches), strict=True))
    return Played(states, actions, rewards, sum(batch.steps for batch in batches))


def arena_of(game: Any, policy: Any, *, counts: bool = False, alone: bool = False) -> Arena:
    """Return where a policy of a game, or of an environment, can be played.

    With `counts`, observations are numbered if they can be, whatever the policy needs: a response may be a table. With
    `alone`, episodes of a game are played one after the other too.
    """
    if isinstance(game, Arena):
        return game
    if is_game(game) and not isinstance(game, EnvironmentGame):
        _check_sizes(game, policy)
        if alone or not isinstance(policy, MarkovPolicy | RecordedPolicy):  # parts play one after the other
            if getattr(game, "discount", None) is not None:
                raise TacitError(f"in {game!r}, which is discounted, policies and responses must be tables")
            adapter = GameAdapter(game)
            return EnvironmentArena(adapter, numberings(adapter, None), game.horizon, game.reward_range)
        return GameArena(game)
    return open_environment(game, policy, counts=counts)


def _check_sizes(game: Game, policy: Any) -> None:
    """Raise unless a policy has the game's actions, and its states and horizon where stated."""
    sizes = [getattr(policy, name, None) for name in ("actions", "states", "horizon")]
    if any(mine not in (None, its) for mine, its in zip(sizes, (game.actions, game.states, game.horizon), strict=True)):
        raise TacitError(f"the policy does not fit the game: {policy!r} for {game!r}")


#: Where policies are played. Both have `agents`, `actions`, `horizon`, `reward_range` where it is known, `common_state`
#: (whether all agents have seen the same so far), and the methods `states` and `play`.
Arena: TypeAlias = GameArena | EnvironmentArena


def finite_returns(played: Played) -> FloatArray:
    """Return the agents' returns, if they are numbers."""
    returns = played.returns
    if not np.isfinite(returns).all():
        raise TacitError("rewards must be finite numbers; got nan or infinity")
    return returns


def open_environment(game: Any, policy: Any, *, counts: bool = False) -> EnvironmentArena:
    """Return an environment, or the game of a run in one, as a policy's arena."""
    wrapped = game.wrap() if isinstance(game, EnvironmentGame) else wrap(game)
    learned: Any = getattr(policy, "observations", None)
    if isinstance(game, EnvironmentGame) and hasattr(game.observations[0], "copy"):  # not of a file
        learned = game.observations
    env, horizon, reward_range, encode = wrapped.env, wrapped.horizon, wrapped.reward_range, wrapped.encode
    adapter = environment(env)
    if getattr(policy, "agents", None) != len(adapter.actions) or tuple(policy.actions) != tuple(adapter.actions):
        raise TacitError(f"a policy of {name_of(env)} must have actions {adapter.actions}; got {brief(policy)}")
    blind = getattr(policy, "sees", False) and encode is None and not (counts and can_number(adapter))
    if learned is not None and not isinstance(learned[0], list):  # as the policy was learned
        numbered = [observations.copy() for observations in learned]
    else:
        stored = getattr(policy, "encodes", None)
        if encode is not None or stored is None or base.FUNCTION in stored:
            stored = fit(see_nothing if blind else encode, adapter, horizon=horizon, seed=0)
        numbered = numberings(adapter, stored)
        if learned is None:
            _check_numbered(env, policy, numbered)
        else:  # as a file lists it
            numbered = [one.list_as(listed) for one, listed in zip(numbered, learned, strict=True)]
    longest = getattr(policy, "horizon", None)
    length = longest if horizon is None else horizon
    if longest is not None and length > longest:
        raise TacitError(f"horizon must be at most {longest}, where the policy ends; got {length}: {brief(policy)}")
    if reward_range is None:
        reward_range = stated_range(env)
    if length is None:
        bounds = episode_bounds(adapter, horizon=length, reward_range=reward_range, seed=0)
        length = bounds.horizon
        reward_range = None if bounds.guessed_range else bounds.reward_range
    arena = EnvironmentArena(adapter, numbered, length, reward_range)
    arena.blind, arena.planned = blind, length == stated_horizon(env)
    arena.limited = horizon is not None and isinstance(game, WrappedEnv)
    return arena


def _check_numbered(env: Any, policy: Any, numbered: list[Observations]) -> None:
    """Raise unless the space numbers the states of a policy without a list of observations.

    In the order in which they are met, their numbers would mean nothing.
    """
    states = getattr(policy, "states", None)
    for one in numbered:
        if states is not None and not one.numbered:
            must = "must list what each agent sees in each state, MarkovPolicy(…, observations=[…])"
            raise TacitError(f"a policy of {name_of(env)} {must}; got {brief(policy)}")
        if states not in (None, one.count, (one.count or 0) + 1):  # one more for "over"
            raise TacitError(f"a policy of {name_of(env)} must have {one.count} states; got {brief(policy)}")
