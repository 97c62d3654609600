"""A person plays one agent, in the terminal or on a page, with exact regrets.

Against a Markov policy of the others a player faces an MDP, so the best response, its value V† and the value Q† of each
action followed by the best response are known exactly. The regret of an action is V† − Q†: what it costs on average.
Regrets of an episode add up to what better choices would have earned on average; the rest is luck. A player who hears
the recommendation of a correlated policy is compared with the best response that sees it, whose lead over the policy is
the ce gap; a blind one with the best response that does not, whose lead is the cce gap. Against a mixture with a
certificate, which depends on more than step and state, the certificate bounds the value of any strategy.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import check, files, memory, streams
from tacit.core.elementary import dot
from tacit.core.errors import TacitError, brief
from tacit.core.memory import human
from tacit.core.types import FloatArray
from tacit.environments.play import unroll
from tacit.evaluation import evaluate
from tacit.evaluation.values import steps
from tacit.games.exact import ExactGame, check_exact
from tacit.games.showing import action_names, state_name
from tacit.games.tabular import TabularGame
from tacit.policies import MarkovPolicy, RecordedPolicy
from tacit.report.page import check_name, render, text
from tacit.report.policy import payoff_table, picture

#: Numbers that a table of Q† may have.
_MOST = 20_000_000


@dataclass(frozen=True)
class Judge:
    """A player's prospects.

    Attributes
    ----------
    value : float or None
        Value of the policy in the player's place.
    best : float or None
        Value of the best response: exact where there is `q`, otherwise an upper bound.
    q : array [H, S, A], or [H, S, A, A] by recommendation; or None
        Q†: the value of each action if the best response follows.
    first : array [S] or None
        V† of the first step.
    """

    value: float | None
    best: float | None
    q: FloatArray | None = None
    first: FloatArray | None = None

    @property
    def hears(self) -> bool:
        """Whether the player hears the recommendations of a correlated policy."""
        return self.q is not None and self.q.ndim == 4

    def row(self, h: int, s: int, recommended: int | None = None) -> FloatArray | None:
        """Return the values of all actions at (h, s)."""
        if self.q is None:
            return None
        values: FloatArray = self.q[h, s] if recommended is None else self.q[h, s, recommended]
        return values

    def regret(self, h: int, s: int, a: int, recommended: int | None = None) -> float | None:
        """Return what action a costs at (h, s) on average."""
        row = self.row(h, s, recommended)
        return None if row is None else float(row.max() - row[a])

    def choice(self, h: int, s: int, recommended: int | None = None) -> int | None:
        """Return the best response's action at (h, s)."""
        row = self.row(h, s, recommended)
        return None if row is None else int(row.argmax())


def judge(game: ExactGame, policy: Any, agent: int, *, blind: bool = False) -> Judge:
    """Compute the prospects of one agent, who hears recommendations of a correlated policy unless blind.

    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> prospects = judge(game, MarkovPolicy.uniform(game), 0)
    >>> prospects.best - prospects.value, prospects.regret(0, 0, 0) > 0, prospects.choice(0, 0)
    (0.75, True, 1)
    """
    match policy:
        case MarkovPolicy():
            return _judge_markov(game, policy, agent, hears=not (blind or policy.product))
        case RecordedPolicy():
            bound = evaluate(game, policy, gap="cce")
            value = float(bound.values[agent])
            return Judge(value, value + float(bound.gaps[agent]))
    if not hasattr(policy, "part"):
        raise TacitError(f"policy must have parts that can be played; got {brief(policy)}")
    return Judge(None, None)


def _judge_markov(game: ExactGame, policy: MarkovPolicy, agent: int, *, hears: bool) -> Judge:
    """Compute Q† of one agent backwards. Given recommendation b and action a it is E[r + V†(s') | b, a].

    It is 0 where b has probability 0.
    """
    H, S, A = game.horizon, game.states, game.actions[agent]
    shape = (H, S, A, A) if hears else (H, S, A)
    if np.prod(shape, dtype=float) > _MOST:
        raise TacitError(f"steps × states must be at most {_MOST // A:,} to be played; got {H:,} × {S:,}")
    q, probs = memory.zeros(shape, "values of the player's actions"), policy.marginal(agent)
    for step in steps(game, policy, "ce" if hears else "cce"):
        if policy.product:
            q[step.h] = step.gains[agent, :, :A]
        elif hears:
            prob = probs[step.h if policy.steps > 1 else 0][:, :, None]
            np.divide(step.gains[agent, :, :A, :A], prob, out=q[step.h], where=prob > 0)
        else:
            q[step.h] = step.gains[agent, :, :A, :A].sum(axis=1)
    value, best = (float(dot(V[agent], game.initial)) for V in (step.V, step.best))
    return Judge(value, best, q, step.best[agent])


#: Agents, and steps of an episode, at most.
AGENTS, STEPS = 64, 10_000


@dataclass(frozen=True)
class Turn:
    """One step: the state, all actions, the person's reward and regret, and the best action."""

    h: int
    state: int
    actions: list[int]
    reward: float
    regret: float | None
    best: int | None
    recommended: int | None


def prepare(game: ExactGame, policy: Any) -> tuple[ExactGame, Any, int | None]:
    """Return game and policy as played, and the state that ends a discounted game's episode."""
    end = None if game.discount is None else game.states
    game, policy = unroll(game, policy)
    if game.agents > AGENTS or game.horizon > STEPS:
        raise TacitError(
            f"a game must have at most {AGENTS} agents and {STEPS:,} steps to be played; "
            f"got {game.agents:,} and {game.horizon:,}"
        )
    policy.check_fits(game)
    return game, policy, end


class Player:
    """Plays episodes: `act` with each action; when `over`, `begin` the next.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : a policy of any kind that fits the game
    agent : int
        Whose place the person takes.
    seed : int
        Of all randomness of the game and of the others.
    blind : bool
        The person does not hear what a correlated policy recommends.

    Examples
    --------
    >>> import tacit
    >>> game = tacit.make("prisoners-dilemma")
    >>> player = Player(game, tacit.MarkovPolicy.uniform(game), agent=0)
    >>> player.act(1).regret, player.over
    (0.0, True)
    """

    def __init__(self, game: ExactGame, policy: Any, *, agent: int = 0, seed: int = 0, blind: bool = False) -> None:
        self.game, self.policy, self._end = prepare(game, policy)
        self.agent = check.integer("agent", agent, least=0, most=game.agents - 1)
        self.judge = judge(self.game, self.policy, self.agent, blind=blind)
        self._recommender: Any = self.policy.part(self.agent) if self.judge.hears else None
        self._parts = {i: self.policy.part(i) for i in range(game.agents) if i != self.agent}
        self._seed = check.integer("seed", seed)
        self.episode = 0  # counts from 1
        self.played, self.total, self.total_regret = 0, 0.0, 0.0  # of episodes that were played to their end
        self.begin()

    def begin(self) -> None:
        """Begin the next episode; one that was not played to its end does not count."""
        world = streams.stream(self._seed, streams.PLAY + 1 + self.episode)
        common = int(streams.seeds(self._seed, streams.EPISODES, range(self.episode, self.episode + 1))[0])
        self.episode += 1
        for part in self._parts.values():
            part.begin(common)
        self.h = 0
        self._luck = [world.random() for _ in range(self.game.horizon + 1)]
        self.state = self.first = self.game.start(self._luck[0])
        self.turns: list[Turn] = []
        if self._recommender is not None:
            self._recommender.begin(common)
        self._listen()

    def _listen(self) -> None:
        """Draw the recommendation for the current step, with the number that the others draw with."""
        silent = self._recommender is None or self.over
        self.recommended = None if silent else int(self._recommender.act(self.h, self.state))

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.h >= self.game.horizon or self.state == self._end

    def act(self, action: int) -> Turn:
        """Play an action at the current step, while the others play theirs."""
        if self.over:
            raise TacitError("the episode is over; begin the next")
        a = check.integer("action", action, least=0, most=self.game.actions[self.agent] - 1)
        h, s, b = self.h, self.state, self.recommended
        actions = [a if i == self.agent else self._parts[i].act(h, s) for i in range(self.game.agents)]
        self.state, rewards = self.game.step(h, s, actions, self._luck[h + 1])
        self.h = h + 1
        regret, best = self.judge.regret(h, s, a, b), self.judge.choice(h, s, b)
        turn = Turn(h, s, actions, float(rewards[self.agent]), regret, best, b)
        self.turns.append(turn)
        self._listen()
        if self.over:
            self.played += 1
            self.total += self.earned
            self.total_regret += self.regret or 0.0
        return turn

    @property
    def earned(self) -> float:
        """The return so far."""
        return sum(turn.reward for turn in self.turns)

    @property
    def regret(self) -> float | None:
        """The regret so far; None where it is not known exactly."""
        return None if self.judge.q is None else sum(turn.regret or 0.0 for turn in self.turns)


def payoffs(player: Player) -> dict[str, Any] | None:
    """Return the rewards of the current step as a table, own actions by the other's."""
    table = payoff_table(player.game, player.h, player.state, player.agent)
    if table is None:
        return None
    return {**table, "shared": all(mine == theirs for row in table["cells"] for mine, theirs in row)}


def result(player: Player) -> dict[str, Any]:
    """Return how an episode that is over went."""
    best = None if player.judge.first is None else float(player.judge.first[player.first])
    regret = player.regret
    luck = None if best is None or regret is None else player.earned - (best - regret)
    return {"earned": player.earned, "regret": regret, "best": best, "luck": luck}


# The page: a game's tables, the policy of all agents and the judges' tables, in one file.
#
# {"title", "about", "agent": who is played first, "agents", "horizon", "states": [name, …], "actions": [[name, …], …],
#  "pictures": [address or null, …] or null, "end": state or null,
#  "start": {"state", "cumulative"}, "transitions": {"steps", "first", "state", "cumulative"},
#  "rewards": {"steps", "tables": {agent: …}}, "policy": {"product", "steps", "probs": [table, …]},
#  "judges": {agent: {"value", "best", "hears", "q", "first"}}}
#
# Tables are arrays of numbers in base64, in the order of NumPy.

#: Bytes of tables and pictures that a page may hold.
MOST = 20_000_000

#: Agents up to which a page lets the person choose whom to play.
CHOICES = 8


def write_play(
    game: ExactGame, policy: Any, out: str | Path, *, agent: int = 0, blind: bool = False, about: str = ""
) -> Path:
    """Write a page on which a person plays one agent of a game.

    Parameters
    ----------
    game : TabularGame or CountGame
    policy : MarkovPolicy
        What the other agents play.
    out : path
        The file, an `.html`.
    agent : int
        Whose place the person takes first; on the page any of up to eight can be chosen.
    blind : bool
        The person does not hear what a correlated policy recommends.
    about : str
        Where the policy comes from, for people.

    Returns
    -------
    Path
        Where it is.

    Examples
    --------
    >>> import tempfile
    >>> import tacit
    >>> from tacit.report import write_play
    >>> game = tacit.make("chicken")
    >>> write_play(game, tacit.MarkovPolicy.uniform(game), tempfile.mkdtemp() + "/play.html").name
    'play.html'
    """
    file = check_name(out)
    document = play_document(game, policy, agent=agent, blind=blind, about=about)
    files.write(file, render("play", f"{document['title']} · tacit", document))
    return file


def play_document(
    game: ExactGame, policy: Any, *, agent: int = 0, blind: bool = False, about: str = ""
) -> dict[str, Any]:
    """Return all that a page needs to play a game."""
    check_exact(game)
    if not isinstance(policy, MarkovPolicy):
        raise TacitError("the policy of a page must be a Markov policy; play this one in the terminal, without -o")
    agent = check.integer("agent", agent, least=0, most=game.agents - 1)
    game, policy, end = prepare(game, policy)
    check_size(game, policy)
    players = _players(game, agent)
    tables, support = game.tabular(), np.flatnonzero(game.initial)
    return {
        "title": text(game.name or "game"),
        "about": text(about),
        "agent": agent,
        "agents": game.agents,
        "horizon": game.horizon,
        "states": [text(state_name(game, s)) for s in range(game.states)],
        "actions": [[text(name) for name in action_names(game, i)] for i in range(game.agents)],
        "pictures": _pictures(game),
        "end": end,
        "start": {"state": support.tolist(), "cumulative": np.cumsum(game.initial[support]).tolist()},
        "transitions": _transitions(tables),
        "rewards": {
            "steps": tables.rewards.shape[1],
            "tables": {i: _encode(tables.rewards[i], "<f8") for i in players},
        },
        "policy": {
            "product": policy.product,
            "steps": policy.steps,
            "probs": [_encode(probs, "<f8") for probs in policy.probs],
        },
        "judges": {i: _judge_tables(judge(game, policy, i, blind=blind)) for i in players},
    }


def check_size(game: ExactGame, policy: MarkovPolicy | None = None) -> None:
    """Refuse a game whose tables are surely too large for a page."""
    joint, players = np.prod(game.actions, dtype=float), _players(game)
    size = 8 * game.states * joint * (2 + len(players))  # one successor or more
    if policy is not None:
        judged = sum(game.actions[i] if policy.product else game.actions[i] ** 2 for i in players)
        drawn = policy.steps * (sum(game.actions) if policy.product else joint)
        size += 8 * game.states * (game.horizon * judged + drawn)
    _check_bytes(size)


def _players(game: ExactGame, agent: int = 0) -> list[int]:
    """Return the agents whose place can be taken on a page."""
    return list(range(game.agents)) if game.agents <= CHOICES else [agent]


def _check_bytes(size: float) -> None:
    if size > MOST:
        raise TacitError(f"the tables of a page must have at most {human(MOST)}; got {human(int(size))}")


def _transitions(game: TabularGame) -> dict[str, Any]:
    first, state, _ = game.successors
    _check_bytes(state.nbytes + game.cumulative.nbytes + first.nbytes / 2 + game.rewards.nbytes)
    return {
        "steps": game.transition_steps,
        "first": _encode(first, "<i4"),
        "state": _encode(state, "<i4"),
        "cumulative": _encode(game.cumulative, "<f8"),
    }


def _pictures(game: ExactGame) -> list[str | None] | None:
    """Return the pictures of all states as addresses. None where the game draws none, or they are too large."""
    if getattr(game, "picture", None) is None:
        return None
    pictures, size = [], 0
    for s in range(game.states):
        pictures.append(picture(game, s, {}))
        size += len(pictures[-1] or "")
        if size > MOST:
            return None
    return pictures


def _judge_tables(prospects: Judge) -> dict[str, Any]:
    assert prospects.q is not None  # of a Markov policy
    assert prospects.first is not None
    tables = {"q": _encode(prospects.q, "<f8"), "first": prospects.first.tolist()}
    return {"value": prospects.value, "best": prospects.best, "hears": prospects.hears, **tables}


def _encode(array: npt.NDArray[Any], kind: str) -> str:
    """Return the numbers of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode()
