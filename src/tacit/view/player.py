"""A person in the place of one agent, against the others' parts of a policy.

And what that person sees of the game, as a document for lines of text and for the page, which holds a few players at a
time, each with its own game, all against one policy.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tacit.core import check, streams
from tacit.core.errors import TacitError
from tacit.environments.play import unroll
from tacit.games.exact import ExactGame
from tacit.games.showing import action_names, state_name
from tacit.view.details import payoff_table, picture
from tacit.view.documents import text
from tacit.view.judge import judge
from tacit.view.server import Answer, Server

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
    state_after: int
    regret: float | None
    best: int | None
    told: int | None = None
    told_regret: float | None = None
    told_best: int | None = None


@dataclass
class Tally:
    """All episodes that were played to their end."""

    episodes: int = 0
    total: float = 0.0
    regret: float = 0.0
    told_regret: float = 0.0
    returns: list[float] = field(default_factory=list)  # the last ones

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

    #: Returns that are remembered one by one.
    REMEMBERED = 100

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
        turn = Turn(h, s, actions, reward, s_next, *costs)
        if told is not None and signal is not None:
            seeing = signal.regret(h, s, told, a), signal.choice(h, s, told)
            turn = Turn(h, s, actions, reward, s_next, *costs, told, *seeing)
        self.turns.append(turn)
        self.h, self.state = h + 1, s_next
        self._listen()
        if self.over:
            self.tally.episodes += 1
            self.tally.total += self.earned
            self.tally.regret += self.regret or 0.0
            self.tally.told_regret += self.told_regret or 0.0
            self.tally.returns = [*self.tally.returns, self.earned][-self.REMEMBERED :]
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
        self._first = Player(game, policy, agent=agent, seed=seed, blind=blind)  # checks everything
        self._about, self._blind = about, blind
        self._players: OrderedDict[str, Player] = OrderedDict()
        self._made = 0
        self._lock = threading.Lock()
        self._seed = seed

    def sit(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Take a new player, in the place of any agent."""
        agent = self._first.agent
        if isinstance(sent, dict) and sent.get("agent") is not None:
            agent = check.integer("agent", sent["agent"], least=0, most=self._first.game.agents - 1)
        with self._lock:
            seed = self._seed + self._made
            player = Player(self._first.game, self._first.policy, agent=agent, seed=seed, blind=self._blind)
            self._made += 1
            number = secrets.token_urlsafe(12)
            self._players[number] = player
            while len(self._players) > PLAYERS:
                self._players.popitem(last=False)
            return self._show(number, player)

    def act(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Play an action; `step` must be the player's, so that a request that is sent twice counts once."""
        with self._lock:
            number, player = self._player(sent)
            if sent.get("step") == player.h and sent.get("episode") == player.episode:
                player.act(check.integer("action", sent.get("action"), least=0))
            return self._show(number, player)

    def begin(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Begin the next episode."""
        with self._lock:
            number, player = self._player(sent)
            player.begin()
            return self._show(number, player)

    def _player(self, sent: Any) -> tuple[str, Player]:
        number = sent.get("player") if isinstance(sent, dict) else None
        if not isinstance(number, str) or number not in self._players:
            raise TacitError("this player was given up; load the page again for a new one")
        self._players.move_to_end(number)
        return number, self._players[number]

    def _show(self, number: str, player: Player) -> Answer:
        return Answer.json({"player": number, "about": text(self._about), **document(player)})


def serve(
    game: ExactGame,
    policy: Any,
    *,
    agent: int = 0,
    seed: int = 0,
    about: str = "",
    port: int = 0,
    blind: bool = False,
) -> tuple[Server, Plays]:
    """Return a server of the page."""
    plays = Plays(game, policy, agent=agent, seed=seed, about=about, blind=blind)
    title = f"{text(game.name or 'a game')} · tacit"
    writes = {"sit": plays.sit, "act": plays.act, "begin": plays.begin}
    return Server("play", title, reads={}, writes=writes, port=port), plays
