"""A person in the place of one agent, against the others' parts of a policy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.core import check, limits, streams
from tacit.core.errors import TacitError
from tacit.games.exact import ExactGame
from tacit.view.judge import judge

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


class Seat:
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
    >>> seat = Seat(game, tacit.MarkovPolicy.uniform(game), agent=0)
    >>> seat.act(1).regret, seat.over
    (0.0, True)
    """

    #: Returns that are remembered one by one.
    REMEMBERED = 100

    def __init__(self, game: ExactGame, policy: Any, *, agent: int = 0, seed: int = 0, blind: bool = False) -> None:
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
        self._seed = limits.integer("seed", seed)
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
        return self.h >= self.game.horizon

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
