"""A person in the place of one agent, against the others' parts of a policy, and what each choice is worth.

What that person sees of the game is a document, for lines of text and for the page, which holds a few players at a
time, each with its own game, all against one policy.

Against a Markov policy of the others a player faces an MDP, so the best response, its value V† and the value Q† of each
action followed by the best response are known exactly. The regret of an action is V† − Q† there: what it costs on
average, whatever comes of it. Regrets of an episode add up to what better choices would have earned on average; the
rest is luck. A player who is told its part of a correlated policy is compared with two: the best response that ignores
what it is told, whose lead over the policy is the cce gap, and the one that sees it, whose lead is the ce gap. Against
a certified policy, which depends on more than step and state, the certificate bounds what any strategy gets.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tacit.core import check, memory, streams
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray
from tacit.environments.play import unroll
from tacit.evaluation import evaluate
from tacit.evaluation.values import steps
from tacit.games.exact import ExactGame
from tacit.games.showing import action_names, state_name
from tacit.policies import MarkovPolicy, RecordedPolicy
from tacit.view.details import payoff_table, picture
from tacit.view.documents import text
from tacit.view.server import Answer, Server

#: Numbers that a table of Q† may have.
_MOST = 20_000_000


@dataclass(frozen=True)
class Signal:
    """What actions are worth to a player who is told its part of a correlated policy.

    Attributes
    ----------
    best : float
        What the best response that sees the signal gets on average.
    ignoring, seeing : arrays [H, S, A, A]
        What each action is worth, told each, if the best response that ignores or sees the signal follows.
    """

    best: float
    ignoring: FloatArray
    seeing: FloatArray

    def regret(self, h: int, s: int, told: int, a: int) -> float:
        """Return what action a costs on average, against the best response that sees the signal."""
        return max(0.0, float(self.seeing[h, s, told].max() - self.seeing[h, s, told, a]))

    def choice(self, h: int, s: int, told: int) -> int:
        """Return the action of the best response that sees the signal."""
        return int(self.seeing[h, s, told].argmax())


@dataclass(frozen=True)
class Judge:
    """What is known of a player's prospects.

    Attributes
    ----------
    value : float or None
        What the policy's own part gets in the player's place, on average.
    best : float or None
        What the best response gets on average: exactly, or at most.
    exact : bool
        Whether `best` is exact.
    q : array [H, S, A] or None
        Q†: what each action is worth if the best response follows; known where `best` is exact.
    signal : Signal or None
        Where the player is told its part of a correlated policy.
    """

    value: float | None
    best: float | None
    exact: bool
    q: FloatArray | None = None
    signal: Signal | None = None

    def regret(self, h: int, s: int, a: int, told: int | None = None) -> float | None:
        """Return what action a costs at (h, s) on average; where the player was told, it may gain: less than 0."""
        if self.q is None:
            return None
        if self.signal is not None and told is not None:
            worth = self.signal.ignoring[h, s, told]
            return float(worth[self.q[h, s].argmax()] - worth[a])
        return max(0.0, float(self.q[h, s].max() - self.q[h, s, a]))

    def choice(self, h: int, s: int) -> int | None:
        """Return the best response's action at (h, s)."""
        return None if self.q is None else int(self.q[h, s].argmax())


def judge(game: ExactGame, policy: Any, agent: int, *, blind: bool = False) -> Judge:
    """Ask the oracle about the place of one agent in a policy, which is told its part of a correlated one unless blind.

    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> found = judge(game, MarkovPolicy.uniform(game), 0)
    >>> found.best - found.value, found.regret(0, 0, 0) > 0, found.choice(0, 0)
    (0.75, True, 1)
    """
    match policy:
        case MarkovPolicy():
            q, told, value, best = _worth(game, policy, agent, "cce")
            signal = None
            if not blind and not policy.product:
                _, seeing, _, with_signal = _worth(game, policy, agent, "ce")
                signal = Signal(with_signal, told, seeing)
            return Judge(value, best, True, q, signal)
        case RecordedPolicy():
            bound = evaluate(game, policy, gap="cce")
            value = float(bound.values[agent])
            return Judge(value, value + float(bound.gaps[agent]), False)
    if not hasattr(policy, "part"):
        raise TacitError(f"policy is {brief(policy)}; it has no parts that could be played")
    return Judge(None, None, False)


def _worth(game: ExactGame, policy: MarkovPolicy, agent: int, kind: str) -> tuple[FloatArray, FloatArray, float, float]:
    """Return Q† [H, S, A] of one agent, the same told each action [H, S, A, A], its value and that of deviating.

    Told b and playing a it is E[r + V†(s') | b, a]; 0 where b is never told. A product policy tells nothing.
    """
    H, S, A = game.horizon, game.states, game.actions[agent]
    shape = (H, S, A) if policy.product else (H, S, A, A)
    if np.prod(shape, dtype=float) > _MOST:
        raise TacitError(f"the game has {H:,} steps × {S:,} states, too many to be played here")
    q = memory.zeros((H, S, A), "what the player's actions are worth")
    told = memory.zeros((0,) if policy.product else shape, "what the player's actions are worth")
    chance = policy.marginal(agent)
    for step in steps(game, policy, kind):
        if policy.product:
            q[step.h] = step.gains[agent, :, :A]
            continue
        together = step.gains[agent, :, :A, :A]
        q[step.h] = together.sum(axis=1)
        own = chance[step.h if policy.steps > 1 else 0][:, :, None]
        np.divide(together, own, out=told[step.h], where=own > 0)
    return q, told, float(dot(step.V[agent], game.initial)), float(dot(step.best[agent], game.initial))


#: Agents, and steps of an episode, at most.
AGENTS, STEPS = 64, 10_000


@dataclass(frozen=True)
class Turn:
    """One step: where it was, what all played, what the person was paid, and what the choice cost on average.

    Where the person was told what to play, `regret` and `best` are of the best response that ignores it, and
    `told_regret` and `told_best` of the one that sees it.
    """

    h: int
    state: int
    actions: list[int]
    reward: float
    regret: float | None
    best: int | None
    told: int | None
    told_regret: float | None
    told_best: int | None


@dataclass
class Tally:
    """All episodes that were played to their end."""

    episodes: int = 0
    total: float = 0.0
    regret: float = 0.0
    told_regret: float = 0.0

    @property
    def mean(self) -> float:
        """The mean return."""
        return self.total / self.episodes if self.episodes else 0.0


class Player:
    """Plays episodes: `act` with each action; when `over`, `begin` the next.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : a policy of any kind that fits the game
    agent : int
        Whose place the person takes.
    seed : int
        All chance of the game and of the others comes from it.
    blind : bool
        The person is not told what a correlated policy recommends.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> player = Player(game, tacit.MarkovPolicy.uniform(game), agent=0)
    >>> player.act(1).regret, player.over
    (0.0, True)
    """

    def __init__(self, game: ExactGame, policy: Any, *, agent: int = 0, seed: int = 0, blind: bool = False) -> None:
        self._end = None if game.discount is None else game.states  # the state in which a stretch is over
        game, policy = unroll(game, policy)
        if game.agents > AGENTS or game.horizon > STEPS:
            raise TacitError(
                f"a game of {game.agents:,} agents and {game.horizon:,} steps is too large to be played; "
                f"at most {AGENTS} agents and {STEPS:,} steps are taken"
            )
        self.game, self.policy = game, policy
        self.agent = check.integer("agent", agent, least=0, most=game.agents - 1)
        policy.check_fits(game)
        self.judge = judge(game, policy, self.agent, blind=blind)
        self._own = None if self.judge.signal is None else policy.part(self.agent)
        self._parts = {i: policy.part(i) for i in range(game.agents) if i != self.agent}
        self._seed = check.integer("seed", seed)
        self.episode = 0  # counts from 1
        self.tally = Tally()
        self.begin()

    def begin(self) -> None:
        """Begin the next episode; one that was not played to its end does not count."""
        self._world = streams.stream(self._seed, streams.PLAY + 1 + self.episode)
        self._common = int(streams.seeds(self._seed, streams.EPISODES, range(self.episode, self.episode + 1))[0])
        self.episode += 1
        for part in self._parts.values():
            part.begin(self._common)
        self.h = 0
        self._luck = [self._world.random() for _ in range(self.game.horizon + 1)]
        self.state = self.first = self.game.start(self._luck[0])
        self.turns: list[Turn] = []
        if self._own is not None:
            self._own.begin(self._common)
        self._listen()

    def _listen(self) -> None:
        """Draw what the person is told at the current step, with the number that the others draw with."""
        self.told = None if self._own is None or self.over else int(self._own.act(self.h, self.state))

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.h >= self.game.horizon or self.state == self._end

    def act(self, action: int) -> Turn:
        """Play an action at the current step, while the others play theirs."""
        if self.over:
            raise TacitError("the episode is over; begin the next")
        a = check.integer("action", action, least=0, most=self.game.actions[self.agent] - 1)
        h, s = self.h, self.state
        actions = [a if i == self.agent else self._parts[i].act(h, s) for i in range(self.game.agents)]
        s_next, rewards = self.game.step(h, s, actions, self._luck[h + 1])
        reward = float(rewards[self.agent])
        told, signal = self.told, self.judge.signal
        costs = self.judge.regret(h, s, a, told), self.judge.choice(h, s)
        seeing: tuple[float | None, int | None] = (None, None)
        if told is not None and signal is not None:
            seeing = signal.regret(h, s, told, a), signal.choice(h, s, told)
        turn = Turn(h, s, actions, reward, *costs, told, *seeing)
        self.turns.append(turn)
        self.h, self.state = h + 1, s_next
        self._listen()
        if self.over:
            self.tally.episodes += 1
            self.tally.total += self.earned
            self.tally.regret += self.regret or 0.0
            self.tally.told_regret += self.told_regret or 0.0
        return turn

    @property
    def earned(self) -> float:
        """The return so far."""
        return sum(turn.reward for turn in self.turns)

    @property
    def regret(self) -> float | None:
        """What the choices so far cost on average; None where it is not known exactly."""
        costs = [turn.regret for turn in self.turns if turn.regret is not None]
        return sum(costs) if len(costs) == len(self.turns) and self.judge.q is not None else None

    @property
    def told_regret(self) -> float | None:
        """What the choices so far cost on average against the best response that sees the signal."""
        costs = [turn.told_regret for turn in self.turns if turn.told_regret is not None]
        return sum(costs) if self.judge.signal is not None else None

    def same_luck(self) -> float | None:
        """Return what the best response gets in this very episode: the same first state, the same draws of all."""
        if self.judge.q is None:
            return None
        for part in self._parts.values():
            part.begin(self._common)
        s, total = self.first, 0.0
        for h in range(self.game.horizon):
            best = self.judge.choice(h, s)
            assert best is not None
            actions = [best if i == self.agent else self._parts[i].act(h, s) for i in range(self.game.agents)]
            s, rewards = self.game.step(h, s, actions, self._luck[h + 1])
            total += float(rewards[self.agent])
        return total


#: Steps that are shown of the past.
_PAST = 200


def document(player: Player) -> dict[str, Any]:
    """Return all that the page shows of a player."""
    game, i = player.game, player.agent
    pictured: dict[int, str | None] = {}
    tally, known = player.tally, player.judge
    return {
        "game": text(game.name or "game"),
        "agent": i,
        "agents": game.agents,
        "horizon": game.horizon,
        "episode": player.episode,
        "step": player.h,
        "over": player.over,
        "state": text(state_name(game, player.state)),
        "states": game.states,
        "picture": picture(game, player.state, pictured),
        "actions": [_action(player, a) for a in range(game.actions[i])],
        "payoffs": payoffs(player),
        "told": _action(player, player.told),
        "turns": [_turn(player, turn) for turn in player.turns[-_PAST:]],
        "earned": player.earned,
        "result": result(player) if player.over else None,
        "tally": {
            "episodes": tally.episodes,
            "mean": tally.mean if tally.episodes else None,
            "regret": tally.regret / tally.episodes if tally.episodes and known.q is not None else None,
            "told_regret": tally.told_regret / tally.episodes if tally.episodes and known.signal is not None else None,
        },
        "judge": {
            "value": known.value,
            "best": known.best,
            "exact": known.exact,
            "told_best": None if known.signal is None else known.signal.best,
        },
    }


def payoffs(player: Player) -> dict[str, Any] | None:
    """Return the rewards of the current step as a table: own actions by the other's, own reward and the other's.

    After the last step it is that one's, and `played` says which cell it came to.
    """
    last = player.turns[-1] if player.over else None
    h, s = (player.h, player.state) if last is None else (last.h, last.state)
    table = payoff_table(player.game, h, s, player.agent)
    if table is None:
        return None
    played = None if last is None else [last.actions[player.agent], last.actions[1 - player.agent]]
    return {**table, "played": played, "shared": all(mine == theirs for row in table["cells"] for mine, theirs in row)}


def result(player: Player) -> dict[str, Any]:
    """Return how an episode that is over went."""
    best = None if player.judge.q is None else float(player.judge.q[0, player.first].max())
    regret = player.regret
    return {
        "earned": player.earned,
        "regret": regret,
        "told_regret": player.told_regret,
        "best": best,
        "luck": None if best is None or regret is None else player.earned - (best - regret),
        "same_luck": player.same_luck(),
    }


def _turn(player: Player, turn: Turn) -> dict[str, Any]:
    game = player.game
    return {
        "step": turn.h,
        "state": text(state_name(game, turn.state)),
        "actions": [text(action_names(game, i)[a]) for i, a in enumerate(turn.actions)],
        "reward": turn.reward,
        "regret": turn.regret,
        "told_regret": turn.told_regret,
        **{key: _action(player, getattr(turn, key)) for key in ("told", "told_best", "best")},
    }


def _action(player: Player, a: int | None) -> str | None:
    """Name an action of the person's."""
    return None if a is None else text(action_names(player.game, player.agent)[a])


#: Players at a time; the one that was used longest ago is given up for a new one.
PLAYERS = 16


class Plays:
    """Holds players by number, and answers for them.

    Parameters
    ----------
    game, policy, agent, seed, blind
        As of `Player`; players count the seed upwards.
    about : str
        Where the policy comes from, for people.
    """

    def __init__(
        self, game: ExactGame, policy: Any, *, agent: int = 0, seed: int = 0, about: str = "", blind: bool = False
    ) -> None:
        self._player = partial(Player, game, policy, blind=blind)
        self._first = self._player(agent=agent, seed=seed)  # checks everything
        self._about, self._seed = about, seed
        self._players: OrderedDict[str, Player] = OrderedDict()
        self._lock = threading.Lock()

    def sit(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Take a new player, in the place of any agent."""
        given = _sent(sent).get("agent")
        agent = self._first.agent if given is None else check.integer("agent", given, least=0)
        with self._lock:
            player = self._player(agent=agent, seed=self._seed)
            self._seed += 1
            number = secrets.token_urlsafe(12)
            self._players[number] = player
            while len(self._players) > PLAYERS:
                self._players.popitem(last=False)
            return self._show(number, player)

    def act(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Play an action; `step` must be the player's, so that a request that is sent twice counts once."""
        with self._lock:
            number, player = self._find(sent)
            if sent.get("step") == player.h and sent.get("episode") == player.episode:
                player.act(check.integer("action", sent.get("action"), least=0))
            return self._show(number, player)

    def begin(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Begin the next episode."""
        with self._lock:
            number, player = self._find(sent)
            player.begin()
            return self._show(number, player)

    def _find(self, sent: Any) -> tuple[str, Player]:
        number = str(_sent(sent).get("player"))
        if number not in self._players:
            raise TacitError("this player was given up; load the page again for a new one")
        self._players.move_to_end(number)
        return number, self._players[number]

    def _show(self, number: str, player: Player) -> Answer:
        return Answer.json({"player": number, "about": text(self._about), **document(player)})


def _sent(document: Any) -> dict[str, Any]:
    """Return what a page has sent, if it is a table."""
    return document if type(document) is dict else {}


def serve(game: ExactGame, policy: Any, *, port: int = 0, **chosen: Any) -> tuple[Server, Plays]:
    """Return a server of the page; the others are options of `Plays`."""
    plays = Plays(game, policy, **chosen)
    title = f"{text(game.name or 'a game')} · tacit"
    writes = {"sit": plays.sit, "act": plays.act, "begin": plays.begin}
    return Server("play", title, reads={}, writes=writes, port=port), plays
