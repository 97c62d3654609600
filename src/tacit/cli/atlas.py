"""`tacit atlas`: games whose figures others stated, and how ours compare."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.table import Table

from tacit.cli import options
from tacit.core import files
from tacit.core.display import cell_text, drop_noise, exact
from tacit.core.errors import TacitError
from tacit.games import REGISTRY
from tacit.games.atlas import ENTRIES, find

EPILOG = """\
examples:
  tacit atlas                              the games, who stated what of them
  tacit atlas kuhn-poker prism-until-4     rules and source; what was stated, and what `tacit solve` gives
  tacit atlas --check                      the same of all games (a minute or two)
  tacit atlas --learn 10000 --out atlas.json
                                           and what learners reach after 1000 and 10000 episodes; runs that the
                                           file has are kept
  tacit run atlas/soccer                   a game of the atlas is a game like any other

exit code 1: some figure does not agree"""


def add_atlas(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Games whose values, equilibria or numbers of equilibria were stated by others: list them, compare each "
        "figure with what the oracle gives, and let learners learn them.",
        EPILOG,
    )
    parser.add_argument("games", metavar="NAME", nargs="*", help="games of the atlas (all)")
    parser.add_argument("--check", action="store_true", help="compare all figures; games that are named always are")
    parser.add_argument("--learn", metavar="K", type=int, help="let learners learn, for 1000, 10000, … K episodes")
    parser.add_argument("--out", metavar="FILE", help="write what was found to this JSON file, and keep what it has")
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def run_atlas(args: argparse.Namespace) -> int:
    """List, check or learn."""
    for name in args.games:
        find(name)
    options.check_counts(args, learn=1_000)
    names = args.games or list(ENTRIES)
    if not (args.games or args.check or args.learn or args.out):
        return _list(args.json)
    from tacit.experiments import atlas

    place = None if args.out is None else files.path(args.out)
    data = _read(place)
    episodes = [count for count in atlas.EPISODES if args.learn and count <= args.learn]

    def keep(found: dict[str, Any]) -> None:
        if place is not None:
            files.write_pieces(place, [json.dumps(options.finite(found), indent=1, ensure_ascii=False), "\n"])

    atlas.update(data, names, episodes=episodes, keep=keep, tell=options.tell)
    shown = {name: data[name] for name in names}
    if args.json:
        options.print_json({"games": shown})
    else:
        for name in args.games:
            _introduce(name)
        _print(shown)
    return 0 if all(figure["agrees"] for one in shown.values() for figure in one["figures"]) else 1


def _read(place: Path | None) -> dict[str, Any]:
    if place is None or not place.exists():
        return {}
    try:
        found = json.loads(files.read_utf8(place))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise TacitError(f"{place} is no file of `tacit atlas --out`; name another, or one that is not there yet")
    return found


def _list(as_json: bool) -> int:
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
    table = Table("game", "stated", "source", box=None, pad_edge=False)
    for name, entry in ENTRIES.items():
        table.add_row(name, ", ".join(dict.fromkeys(one.question for one in entry.figures)), entry.source)
    options.console().print(table)
    options.say("", f"{len(ENTRIES)} games; `tacit atlas NAME` compares what was stated, `tacit run atlas/NAME` learns")
    return 0


def _introduce(name: str) -> None:
    """Print the rules of a game, its parameters, and who stated its figures."""
    entry, known = ENTRIES[name], REGISTRY.parameters(f"atlas/{name}")
    rules = " ".join(entry.about.split())
    read = {"figure": "read there", "game": "derived from its rules", "": "derived, as the rules are"}[entry.read]
    options.say(
        f"atlas/{name}: {rules} `tacit show atlas/{name}` has the tables.",
        f"parameters: {', '.join(f'{key}={value!r}' for key, value in known.items() if key != 'name')}",
        f"source: {entry.source}; its figures are {read}",
        "",
    )


def _print(shown: dict[str, Any]) -> None:
    table = Table("game", "question", "stated", "ours", "agrees", "note", box=None, pad_edge=False)
    for name, one in shown.items():
        for figure in one["figures"]:
            agrees = "yes" if figure["agrees"] else f"no, by {figure['off']:.3g}"
            numbers = [_numbers(figure["stated"]), _numbers(figure["ours"])]
            table.add_row(name, figure["question"], *numbers, agrees, figure["note"])
    options.console().print(table)
    runs = [
        (name, learner, count, run)
        for name, one in shown.items()
        for learner, counts in one.get("learned", {}).items()
        for count, run in counts.items()
        if "gap" in run
    ]
    if runs:
        table = Table("game", "learner", "episodes", "gap", "kind", "values", box=None, pad_edge=False)
        for name, learner, count, run in runs:
            gap = "none" if run["gap"] is None else f"{drop_noise(run['gap'], 1.0):.3g}"
            table.add_row(name, learner, count, gap, run["kind"], _numbers(run["values"] or []))
        options.say()
        options.console().print(table)


def _numbers(found: Any) -> str:
    several = found if isinstance(found, list) else [found]
    return " ".join(cell_text(exact(drop_noise(one, 1.0)), 6) for one in several[:8]) + (
        " …" if len(several) > 8 else ""
    )
