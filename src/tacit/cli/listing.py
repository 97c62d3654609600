"""`tacit games`, `tacit learners` and `tacit atlas`: what can be named."""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import docstring_parser
import numpy as np
from rich.table import Table
from rich.text import Text

from tacit.cli import options
from tacit.core.display import cell_text, drop_noise, exact, printable, times
from tacit.core.errors import TacitError, sentence
from tacit.core.registry import Registry
from tacit.evaluation import equilibria, evaluate, solve
from tacit.games import REGISTRY
from tacit.games.atlas import ENTRIES, Entry, Figure, find
from tacit.games.exact import check_exact
from tacit.policies.markov import MarkovPolicy


def add_games(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.add(parser, "--json", "print one JSON document instead of a table")


def run_games(args: argparse.Namespace) -> int:
    """Print the table."""
    rows = [row for name in list(REGISTRY) if (row := _game_row(name)) is not None]
    if args.json:
        options.print_json({"games": rows})
        return 0
    shown = []
    for row in rows:
        parameters = " ".join(f"{key}={value}" for key, value in row["parameters"].items())
        sizes = (row["agents"], row["states"], times(tuple(row["actions"])), row["horizon"])
        shown.append((row["name"], *map(str, sizes), parameters, row["summary"]))
    options.print_table(("game", "agents", "states", "actions", "horizon", "parameters", "what it is"), shown)
    return 0


def _game_row(name: str) -> dict[str, Any] | None:
    """Return what there is to say of a game. None for a plugin that does not make one."""
    try:
        game = REGISTRY.make(name)
        check_exact(game)
    except Exception as error:
        REGISTRY.leave_out(name, sentence(error))
        return None
    return {
        "name": name,
        "agents": game.agents,
        "states": game.states,
        "actions": list(game.actions),
        "horizon": game.horizon,
        "reward_range": list(game.reward_range),
        "parameters": {key: _plain(default) for key, default in REGISTRY.parameters(name).items()},
        "summary": REGISTRY.summary(name),
    }


def add_learners(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.add(parser, "--json", "print one JSON document instead of tables")


def run_learners(args: argparse.Namespace) -> int:
    """Print them, one after the other."""
    from tacit import bandits, learners  # import the compiler
    from tacit.learners.facts import INFORMATION, describe_learner

    rows = [row | describe_learner(row["name"]) for row in _rows(learners.REGISTRY)]
    registries = {"learners": rows, "bandits": _rows(bandits.REGISTRY)}
    if args.json:
        options.print_json(registries)
        return 0
    groups = {f"learners: {kind}": [row for row in rows if row["information"] == kind] for kind in INFORMATION}
    out = options.console()
    for title, listed in (groups | {"bandits": registries["bandits"]}).items():
        out.print(Text(title, style="bold"), end="\n\n")
        for row in listed:
            out.print(Text.assemble((printable(row["name"]), "bold"), ": ", printable(row["summary"])))
            if row.get("year"):
                out.print(Text(f"  {row['year']}; made for: {row['games']}; proved: {row['guarantee']}", style="dim"))
            out.print(_table(row))
    return 0


def _table(row: Mapping[str, Any]) -> Table:
    """Return a learner's parameters with their defaults and words."""
    table = Table(box=None, show_header=False)
    table.add_column(no_wrap=True)
    for key, default in row["parameters"].items():
        table.add_row(f" {key}={default}", row["words"][key])
    table.add_row()
    return table


def _rows(registry: Registry[Any]) -> list[dict[str, Any]]:
    rows = []
    for name in registry:
        parameters, words = registry.parameters(name), describe(registry.factory(name))
        rows.append(
            {
                "name": name,
                "parameters": {key: _plain(value) for key, value in parameters.items()},
                "words": {key: words.get(key, "") for key in parameters},
                "summary": registry.summary(name),
            }
        )
    return rows


def describe(factory: Callable[..., Any]) -> dict[str, str]:
    """Return parameters' words from docstrings: of what a factory makes, its bases, and its own."""
    words_by_name: dict[str, str] = {}
    sources: list[Any] = [factory]
    with contextlib.suppress(Exception):  # a plugin that cannot be made
        sources = [*reversed(type(factory()).__mro__), factory]
    for source in sources:
        words_by_name |= {key: words for key, words in _section(source.__doc__ or "").items() if words}
    return words_by_name


def _section(doc: str) -> dict[str, str]:
    """Read the parameters of a numpydoc docstring.

    >>> _section('''Move.
    ...
    ... Parameters
    ... ----------
    ... x, y : float
    ...     How far,
    ...     in metres.
    ... ''')
    {'x': 'How far, in metres.', 'y': 'How far, in metres.'}
    """
    params = docstring_parser.parse(doc, docstring_parser.DocstringStyle.NUMPYDOC).params
    words = {param.arg_name: " ".join((param.description or "").split()) for param in params}
    return {name.strip(): text for names, text in words.items() for name in names.split(",")}


def _plain(default: Any) -> Any:
    """Return a default as JSON has it, or "default" for an object."""
    try:
        return json.loads(json.dumps(default, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        return "default"


ATLAS_EPILOG = """\
examples:
  tacit atlas                              the games, who stated what of them
  tacit atlas kuhn-poker prism-until-4     rules and source; what was stated, and what `tacit solve` gives
  tacit atlas --check                      the same of all games (a minute or two)
  tacit run atlas/soccer                   a game of the atlas is a game like any other

exit code 1: some figure does not agree"""


def add_atlas(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Games whose values, equilibria or numbers of equilibria were stated by others: list them, and compare each "
        "figure with what the oracle gives.",
        ATLAS_EPILOG,
    )
    parser.add_argument("games", metavar="NAME", nargs="*", help="games of the atlas (all)")
    options.add(parser, "--check", "compare all figures; games that are named always are")
    options.add(parser, "--json", "print one JSON document")


def run_atlas(args: argparse.Namespace) -> int:
    """List or check."""
    entries = [find(name) for name in args.games or ENTRIES]
    if not (args.games or args.check):
        return _list_atlas(args.json)
    checked: dict[str, Any] = {}
    for entry in entries:
        options.tell(entry.name)
        checked[entry.name] = {"source": entry.source, "figures": check_entry(entry)}
    figures = [(name, figure) for name, one in checked.items() for figure in one["figures"]]
    if args.json:
        options.print_json({"games": checked})
    else:
        for name in args.games:
            _introduce(name)
        rows = []
        for name, figure in figures:
            agrees = "yes" if figure["agrees"] else f"no, by {figure['off']:.3g}"
            numbers = (_numbers(figure["stated"]), _numbers(figure["ours"]))
            rows.append((name, figure["question"], *numbers, agrees, figure["note"]))
        options.print_table(("game", "question", "stated", "ours", "agrees", "note"), rows)
    return 0 if all(figure["agrees"] for _, figure in figures) else 1


def check_entry(entry: Entry, game: Any = None) -> list[dict[str, Any]]:
    """Compare all figures of an entry with what the oracle gives."""
    game = entry.make() if game is None else game
    checks = []
    for figure in entry.figures:
        began = time.perf_counter()
        ours = np.atleast_1d(np.asarray(answer(game, figure), dtype=float))
        stated = np.asarray(figure.stated, dtype=float)
        if stated.size == 1 < ours.size:
            ours = ours.sum(keepdims=True)
        off = float(np.abs(ours - stated).max())
        checks.append(
            {
                "question": figure.question,
                "stated": stated.tolist(),
                "ours": ours.tolist(),
                "off": off,
                "agrees": off <= figure.tolerance,
                "note": figure.note,
                "seconds": round(time.perf_counter() - began, 3),
            }
        )
    return checks


def _stated_policy(game: Any, figure: Figure) -> MarkovPolicy:
    return MarkovPolicy([np.tile(np.array(probs, dtype=float), (game.horizon, 1, 1)) for probs in figure.policy])


def answer(game: Any, figure: Figure) -> Any:
    """Return the oracle's answer to the question of a figure."""
    concept, _, rule = figure.question.partition(" ")
    kind, _, agent = concept.partition(":")
    match kind:
        case "gap" | "values":
            return getattr(evaluate(game, _stated_policy(game, figure)), kind)
        case "equilibria":
            return len(equilibria(game))
        case "sets":
            return len(set(equilibria(game).component.tolist()))
        case "play":
            return solve(game, "nash").policy.probs[int(agent)][0, int(np.argmax(game.initial))]
        case "nash" | "ce" | "cce":
            return solve(game, kind, objective=rule or "welfare").values
        case "optimum":
            return solve(game, kind).values
    raise TacitError(f"the atlas has no question {figure.question!r}")


def _list_atlas(as_json: bool) -> int:
    rows = [
        {
            "name": f"atlas/{name}",
            "about": entry.about.split("\n", 1)[0],
            "source": entry.source,
            "figures": [{"question": figure.question, "stated": figure.stated} for figure in entry.figures],
        }
        for name, entry in ENTRIES.items()
    ]
    if as_json:
        options.print_json({"games": rows})
        return 0
    lines = [
        (name, ", ".join(dict.fromkeys(one.question for one in e.figures)), e.source) for name, e in ENTRIES.items()
    ]
    options.print_table(("game", "stated", "source"), lines)
    options.say("", f"{len(ENTRIES)} games; `tacit atlas NAME` compares what was stated, `tacit run atlas/NAME` learns")
    return 0


def _introduce(name: str) -> None:
    """Print the rules of a game, its parameters, and who stated its figures."""
    entry, parameters = ENTRIES[name], REGISTRY.parameters(f"atlas/{name}")
    rules = " ".join(entry.about.split())
    read = {"figure": "read there", "game": "derived from its rules", "": "derived, as the rules are"}[entry.read]
    options.say(
        f"atlas/{name}: {rules} `tacit show atlas/{name}` has the tables.",
        f"parameters: {', '.join(f'{key}={value!r}' for key, value in parameters.items() if key != 'name')}",
        f"source: {entry.source}; its figures are {read}",
        "",
    )


def _numbers(numbers: Any) -> str:
    several = np.atleast_1d(numbers).tolist()
    return " ".join(cell_text(exact(drop_noise(one, 1.0)), 6) for one in several[:8]) + (
        " …" if len(several) > 8 else ""
    )
