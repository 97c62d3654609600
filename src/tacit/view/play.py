"""The page on which a person plays: a few players at a time, each with its own game, all against one policy."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError
from tacit.games.exact import ExactGame
from tacit.view.documents import text
from tacit.view.player import Player, document
from tacit.view.server import Answer, Server

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
            return self._shown(number, player)

    def act(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Play an action; `step` must be the player's, so that a request that is sent twice counts once."""
        with self._lock:
            number, player = self._player(sent)
            if sent.get("step") == player.h and sent.get("episode") == player.episode:
                player.act(check.integer("action", sent.get("action"), least=0))
            return self._shown(number, player)

    def begin(self, query: Mapping[str, str], sent: Any) -> Answer:
        """Begin the next episode."""
        with self._lock:
            number, player = self._player(sent)
            player.begin()
            return self._shown(number, player)

    def _player(self, sent: Any) -> tuple[str, Player]:
        number = sent.get("player") if isinstance(sent, dict) else None
        if not isinstance(number, str) or number not in self._players:
            raise TacitError("this player was given up; load the page again for a new one")
        self._players.move_to_end(number)
        return number, self._players[number]

    def _shown(self, number: str, player: Player) -> Answer:
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
