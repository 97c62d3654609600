"""A game in tables, words and pictures. Payoffs by state with the names of actions, what leads where, and boards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tacit.core import check
from tacit.core.display import Cell, Document, Table, count, number, times
from tacit.core.errors import TacitError, brief
from tacit.core.types import FloatArray, IntArray
from tacit.games.tabular import TabularGame, as_tables

if TYPE_CHECKING:
    from tacit.games.count import CountGame


#: How much of a game is shown unless more is asked for.
JOINT_ACTIONS, WIDTH, GROUPS, NEXT = 36, 12, 6, 6
#: Of games of many agents, whose joint actions are long: how many are listed, and from how many agents on.
FEW, MANY_AGENTS = 8, 5
#: Joint actions up to which those that lead to the same are put together, unless everything is asked for.
GROUPED = 100_000

MORE = "game.show(limit=None), or --all on the command line, shows everything"


def show_tables(game: TabularGame, *, state: int | str | None, step: int | None, limit: int | None) -> Document:
    """Show a game with tables; see `TabularGame.show`."""
    h, states, left = _choose(game, state, step, limit)
    parts: list[str | Table] = [*opening(game), *_kind(game)]
    payoffs, transitions = [], []
    varying = [
        what
        for what, steps in (("rewards", game.rewards.shape[1]), ("transitions", game.transition_steps))
        if steps > 1
    ]
    if varying:
        parts.append(f"{' and '.join(varying)} differ from step to step; this is step {h} of 0 to {game.horizon - 1}")
    moves: list[str] = []
    for s in states:
        parts += _payoffs(game, h, s, limit)
        rewards = game.step_rewards(h)[:, s]
        payoffs.append({"step": h, "state": state_name(game, s), "rewards": rewards.tolist()})
        if game.effective_horizon > 1 and game.states > 1 and (limit is None or game.joint_actions <= GROUPED):
            groups = _groups(game, h, s)
            transitions.append({"step": h, "state": state_name(game, s), "groups": [_plain(game, g) for g in groups]})
            moves += _words(game, s, groups, limit)
    parts += moves
    if game.horizon > 1 and game.states == 1:
        parts.append(f"there is one state; the game is played {game.horizon} times")
    if game.discount is not None and game.states == 1:
        parts.append("there is one state; the game is played for ever")
    return _finish(game, parts, payoffs, transitions, left)


def _finish(game: Any, parts: list[str | Table], payoffs: list[Any], transitions: list[Any], left: int) -> Document:
    if left:
        parts.append(f"{count(left, 'more state')} {'is' if left == 1 else 'are'} not shown; {MORE}")
    data = {**summary(game), "payoffs": payoffs, "transitions": transitions, "states_not_shown": left}
    return Document(heading(game), parts, data)


def show_sizes(game: Any, sentence: str) -> Document:
    """Show what can be said of a game whose rewards cannot be listed."""
    return Document(heading(game), [*opening(game), sentence], summary(game))


def heading(game: Any) -> str:
    """Return a game in one line."""
    low, high = game.reward_range
    length = getattr(game, "length", f"horizon {game.horizon}")
    return (
        f"{game.name or 'a game'}: {count(game.agents, 'agent')}, {count(game.states, 'state')}, "
        f"{times(game.actions)} actions, {length}, rewards in [{number(low)}, {number(high)}]"
    )


def opening(game: Any) -> list[str]:
    """Return where a game starts, and its notes."""
    initial = getattr(game, "initial", None)
    if initial is None or game.states == 1:
        return list(game.notes)
    support = np.flatnonzero(initial)
    if len(support) == 1:
        return [f"starts in {state_name(game, int(support[0]))}", *game.notes]
    named = [f"{state_name(game, int(s))} ({number(float(initial[s]))})" for s in support[:NEXT]]
    more = f" and {len(support) - NEXT} more" if len(support) > NEXT else ""
    return [f"starts in {', '.join(named)}{more}", *game.notes]


def length_data(game: Any) -> dict[str, Any]:
    """Return how long play is, as JSON has it. A horizon, or none and a discount."""
    discount = getattr(game, "discount", None)
    return {"horizon": game.horizon} if discount is None else {"horizon": None, "discount": discount}


def summary(game: Any) -> dict[str, Any]:
    """Return the sizes and names of a game as data."""
    initial = getattr(game, "initial", None)
    same = len({action_names(game, i) for i in range(min(game.agents, 1000))}) == 1 and game.agents > 16
    return {
        "game": game.name,
        "agents": game.agents,
        "states": [state_name(game, s) for s in range(game.states)],
        "actions": [list(action_names(game, i)) for i in range(1 if same else game.agents)],
        "actions_are_of": "every agent" if same else "each agent",
        **length_data(game),
        "reward_range": list(game.reward_range),
        "initial": None if initial is None else np.asarray(initial).tolist(),
        "notes": list(game.notes),
    }


def state_number(game: Any, state: int | str) -> int:
    """Return the number of a state that is given by its number or name."""
    if isinstance(state, str):
        names = getattr(game, "state_names", None) or [str(s) for s in range(game.states)]
        if state not in names:
            raise TacitError(f"no state {brief(state)}; states are {', '.join(names[:20])}")
        return list(names).index(state)
    return check.integer("state", state, least=0, most=game.states - 1)


def _choose(game: Any, state: int | str | None, step: int | None, limit: int | None) -> tuple[int, list[int], int]:
    """Return the step, which states to show, and how many are left out."""
    h = 0 if step is None else check.integer("step", step, least=0, most=game.horizon - 1)
    most = game.states if limit is None else min(game.states, check.integer("limit", limit, least=1))
    if state is not None:
        return h, [state_number(game, state)], 0
    tables = as_tables(game)
    states = range(game.states) if tables is None or most == game.states else _meet(tables, most)
    return h, list(states)[:most], game.states - most


def _meet(game: TabularGame, most: int) -> dict[int, None]:
    """Return states, those that are met first before others."""
    met = dict.fromkeys(np.flatnonzero(game.initial).tolist())
    queue = list(met)
    first, following, _ = game.successors
    rows = game.joint_actions
    while queue and len(met) < most:
        s = queue.pop(0)
        for s_next in np.unique(following[first[s * rows] : first[(s + 1) * rows]]).tolist():
            if s_next not in met:
                met[s_next] = None
                queue.append(s_next)
    return met | dict.fromkeys(range(game.states))


def _kind(game: TabularGame) -> list[str]:
    if game.agents == 1:
        return []
    if (game.rewards == game.rewards[:1]).all():
        return ["a team: all agents get the same reward"]
    if np.ptp(game.rewards.sum(axis=0)) <= 1e-12 * max(1.0, np.abs(game.rewards).max()):
        return ["zero-sum: what one gains the other loses" if game.agents == 2 else "the rewards add up to a constant"]
    return []


def _payoffs(game: TabularGame, h: int, s: int, limit: int | None) -> list[str | Table]:
    """Return the payoffs of a state as a table. A sentence where all are the same."""
    rewards = game.step_rewards(h)[:, s]
    where = f" in {state_name(game, s)}" if game.states > 1 else ""
    team = bool((rewards == rewards[:1]).all())
    if np.ptp(rewards.reshape(game.agents, -1), axis=1).max() == 0 and rewards[0].size > 1:
        return [f"payoffs{where}: every joint action pays {_cell(rewards.reshape(game.agents, -1)[:, 0], team)}"]
    if game.agents == 2 and (limit is None or max(game.actions) <= WIDTH):
        return [_bimatrix(game, rewards, where, team)]
    return _list(game, rewards, where, team, limit)


def _bimatrix(game: TabularGame, rewards: FloatArray, where: str, team: bool) -> Table:
    rows = [
        [name, *(_cell(rewards[:, a, b], team) for b in range(game.actions[1]))]
        for a, name in enumerate(action_names(game, 0))
    ]
    cells = "what both get" if team else "agent 0, agent 1"
    title = f"payoffs{where}: agent 0 picks the row, agent 1 the column; {cells}"
    return Table(title, ["", *action_names(game, 1)], rows)


def _list(game: TabularGame, rewards: FloatArray, where: str, team: bool, limit: int | None) -> list[str | Table]:
    """List joint actions, a row each."""
    listed = FEW if game.agents >= MANY_AGENTS else JOINT_ACTIONS
    most = game.joint_actions if limit is None else min(game.joint_actions, listed)
    flat = rewards.reshape(game.agents, -1)
    names = [action_names(game, i) for i in range(game.agents)]
    rows: list[list[Cell]] = []
    for joint in range(most):
        chosen = np.unravel_index(joint, game.actions)
        paid = [float(flat[0, joint])] if team else [float(x) for x in flat[:, joint]]
        rows.append([*(names[i][int(a)] for i, a in enumerate(chosen)), *paid])
    agents = [f"agent {i}" for i in range(game.agents)]
    gets = ["reward"] if team else [f"{agent} gets" for agent in agents]
    left = game.joint_actions - most
    table = Table(f"payoffs{where}", [*agents, *gets], rows, head=game.agents)
    return [table, f"{left:,} more joint actions are not shown; {MORE}"] if left else [table]


def _cell(paid: Sequence[float] | FloatArray, team: bool) -> str:
    return number(float(paid[0])) if team else ", ".join(number(float(x)) for x in paid)


#: A distribution over next states and the joint actions that lead to it.
Moves = tuple[list[tuple[int, float]], list[int]]


def _groups(game: TabularGame, h: int, s: int) -> list[Moves]:
    """Return the joint actions of a state by where they lead. What most of them do comes last."""
    first, following, prob = game.successors
    row = ((h if game.transition_steps > 1 else 0) * game.states + s) * game.joint_actions
    groups: dict[tuple[tuple[int, float], ...], list[int]] = {}
    for joint in range(game.joint_actions):
        cut = slice(first[row + joint], first[row + joint + 1])
        pairs = sorted(zip(following[cut].tolist(), np.round(prob[cut], 12).tolist(), strict=True), key=_likely)
        groups.setdefault(tuple(pairs), []).append(joint)
    return sorted(((list(pairs), joints) for pairs, joints in groups.items()), key=lambda group: len(group[1]))


def _likely(pair: tuple[int, float]) -> tuple[float, int]:
    return -pair[1], pair[0]


def _words(game: TabularGame, s: int, groups: list[Moves], limit: int | None) -> list[str]:
    """Say what leads where from a state."""
    name = state_name(game, s)
    if len(groups) == 1:
        return [f"from {name}, whatever is played: to {_next(game, groups[0][0], limit)}"]
    most = len(groups) if limit is None else GROUPS
    said = []
    for where, joints in groups[:-1][-most:]:
        said.append(f"from {name}, {_some(game, joints, limit)}: to {_next(game, where, limit)}")
    if len(groups) - 1 > most:
        said.append(f"from {name}: {len(groups) - 1 - most} more kinds of joint actions; {MORE}")
    where, joints = groups[-1]
    joint = f"({joint_name(game, _joint(game, joints[0]))})" if len(joints) == 1 else "every other joint action"
    return [*said, f"from {name}, {joint}: to {_next(game, where, limit)}"]


def _some(game: TabularGame, joints: list[int], limit: int | None) -> str:
    """Name joint actions, or some of them."""
    names = [f"({joint_name(game, _joint(game, k))})" for k in (joints if limit is None else joints[:4])]
    if len(joints) == len(names):
        return " or ".join(names)
    return f"{len(joints):,} joint actions, such as {names[0]}"


def _next(game: TabularGame, pairs: list[tuple[int, float]], limit: int | None) -> str:
    shown = pairs if limit is None else pairs[:NEXT]
    if len(pairs) == 1:
        return state_name(game, pairs[0][0])
    more = f" or {len(pairs) - len(shown)} more" if len(pairs) > len(shown) else ""
    return " or ".join(f"{state_name(game, s)} ({number(p)})" for s, p in shown) + more


def _joint(game: TabularGame, k: int) -> tuple[int, ...]:
    return tuple(int(a) for a in np.unravel_index(k, game.actions))


def _plain(game: TabularGame, group: Moves) -> dict[str, Any]:
    pairs, joints = group
    return {
        "joint_actions": [[action_names(game, i)[a] for i, a in enumerate(_joint(game, k))] for k in joints],
        "next": {state_name(game, s): p for s, p in pairs},
    }


#: Rows of a table unless more are asked for.
ROWS = 12


def show_counts(game: CountGame, *, state: int | str | None, step: int | None, limit: int | None) -> Document:
    """Show a counting game; see `CountGame.show`."""
    h, states, left = _choose(game, state, step, limit)
    parts: list[str | Table] = [*opening(game)]
    if not (game.weights == 1).all():
        parts.append("each agent's rewards are these times its own weights")
    parts.append(f"agents are anonymous: only how many chose what matters; this is step {h}")
    payoffs = []
    for s in states:
        where = f" in {state_name(game, s)}" if game.states > 1 else ""
        table = _rewards(game, h, s, where, limit)
        parts.append(table)
        payoffs.append({"step": h, "state": state_name(game, s), "columns": list(table.columns), "rows": table.rows})
    return _finish(game, parts, payoffs, [], left)


def _rewards(game: CountGame, h: int, s: int, where: str, limit: int | None) -> Table:
    names = action_names(game, 0)
    if game.load:
        rows: list[list[Cell]] = []
        for n in _sample(game.agents, limit):
            paid: list[Cell] = []
            for a in range(len(names)):
                counts = np.zeros(len(names), dtype=np.int64)
                counts[a - 1] = game.agents - n  # all others elsewhere, where there is an elsewhere
                counts[a] = n
                paid.append(game.reward(h, s, a, counts))
            rows.append([n, *paid])
        title = f"reward{where} of an action by how many chose it, oneself included"
        return Table(_cut(title, game.agents, len(rows)), ["how many", *names], rows)
    vectors = game._counts
    rows = []
    for k in _sample(len(vectors), limit):
        counts = vectors[k - 1]
        row = [game.reward(h, s, a, counts) if counts[a] else None for a in range(len(names))]
        rows.append([", ".join(str(c) for c in counts), *row])
    title = f"reward{where} of an action by how many chose {', '.join(names)}"
    return Table(_cut(title, len(vectors), len(rows)), ["counts", *names], rows)


def _sample(total: int, limit: int | None) -> list[int]:
    """Return whole numbers from 1 to `total`. All, or some of them from end to end."""
    if limit is None or total <= ROWS:
        return list(range(1, total + 1))
    return sorted({round(x) for x in np.geomspace(1, total, ROWS)})


def _cut(title: str, total: int, shown: int) -> str:
    return title if shown == total else f"{title} ({shown} of {total:,} rows; {MORE})"


def state_name(game: Any, s: int, agent: int = 0) -> str:
    """Return the name of a state; in an environment, what an agent sees there.

    >>> from tacit.games import make
    >>> state_name(make("good-state"), 1), state_name(make("chicken"), 0)
    ('s1', '0')
    """
    observations = getattr(game, "observations", None)
    if observations is not None:
        return str(observations[agent].name(s)) if s < len(observations[agent].met) else str(s)
    names = getattr(game, "state_names", None)
    return str(s) if names is None else str(names[s])


def steps_played(game: Any, states: IntArray) -> int:
    """Return how many steps of an episode there are to show. They end before the state "over".

    >>> import tacit
    >>> game = tacit.make("atlas/inspection-4-2")
    >>> steps_played(game, np.array([0, game.state_names.index("over"), 0])), steps_played(game, np.array([0, 0]))
    (1, 2)
    """
    names = [state_name(game, s) for s in states.tolist()]
    return max(names.index("over"), 1) if "over" in names else len(names)


def action_names(game: Any, agent: int) -> tuple[str, ...]:
    """Return the names of an agent's actions.

    >>> from tacit.games import make
    >>> action_names(make("chicken"), 1)
    ('yield', 'dare')
    """
    names = getattr(game, "action_names", None)
    return tuple(str(a) for a in range(game.actions[agent])) if names is None else tuple(names[agent])


def joint_name(game: Any, joint: Sequence[int]) -> str:
    """Return a joint action in words, e.g. "a0, b1"."""
    return ", ".join(action_names(game, i)[a] for i, a in enumerate(joint))


# Pictures of boards: fields in rows and columns, filled or with a disc on them. Those of games of the atlas are
# functions of a state, which is "over" where play has ended.

Image = npt.NDArray[np.uint8]  # [height, width, 3]
Colour = tuple[int, int, int]

CELL = 48  # pixels
FLOOR, LINE, GOAL = (250, 248, 242), (214, 210, 200), (228, 240, 224)
LIGHT, DARK = (230, 159, 0), (166, 108, 42)
AGENTS = ((0, 114, 178), (213, 94, 0))  # colours that the colour-blind tell apart


@dataclass(frozen=True, repr=False)
class StatePicture:
    """Draws state s of a game by what the state is.

    >>> StatePicture(["first", "second"], lambda state: make_board(1, len(state)))(1).shape
    (48, 288, 3)
    """

    states: Sequence[Any]
    draw: Callable[[Any], Image]

    def __call__(self, s: int) -> Image:
        """Draw state s."""
        return self.draw(self.states[s])


def make_board(rows: int, columns: int) -> Image:
    """Return empty fields with lines between them.

    >>> make_board(3, 4).shape
    (144, 192, 3)
    """
    board: Image = np.empty((rows * CELL, columns * CELL, 3), dtype=np.uint8)
    board[:] = FLOOR
    board[::CELL] = board[-1] = LINE
    board[:, ::CELL] = board[:, -1] = LINE
    return board


def field_of(board: Image, row: int, column: int, width: int = 1) -> Image:
    """Return the part of a board that one field takes, or several side by side."""
    return board[row * CELL : (row + 1) * CELL, column * CELL : (column + width) * CELL]


def fill(board: Image, row: int, column: int, colour: Colour, *, width: int = 1, margin: int = 1) -> None:
    """Fill a field, or several side by side."""
    field_of(board, row, column, width)[margin:-margin, margin:-margin] = colour


def put_disc(board: Image, row: int, column: int, colour: Colour, *, share: float = 0.7) -> None:
    """Put a disc on a field; its diameter is a share of the field's side."""
    away = np.arange(CELL) - (CELL - 1) / 2
    inside = away[:, None] ** 2 + away[None, :] ** 2 <= (share * CELL / 2) ** 2
    field_of(board, row, column)[inside] = colour


BALL = (30, 30, 30)


def draw_soccer(state: Any, *, rows: int, columns: int) -> Image:
    """Draw the field with its goals, the players, and who has the ball."""
    board = make_board(rows, columns + 2)
    for row in (rows // 2 - 1, rows // 2):
        for column in (0, columns + 1):
            fill(board, row, column, GOAL)
    if state != "over":
        for who, (row, column) in enumerate(state[:2]):
            put_disc(board, row, column + 1, AGENTS[who])
            if state[2] == who:
                put_disc(board, row, column + 1, BALL, share=0.25)
    return board
