"""`tacit report`, `tacit view` and `tacit play`: results as a page, offline or live; and an agent's place in a game."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import check, files
from tacit.core.display import Table, count, printable
from tacit.core.errors import TacitError
from tacit.games.showing import action_names, state_name

if TYPE_CHECKING:
    from tacit.view.player import Player, Turn
    from tacit.view.server import Server


def add_report(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Write a directory of runs as one HTML file that needs no server and no network: settings, curves "
        "with bands (drag to zoom, hover to read, click names to switch lines), gaps with lower and upper bounds, what "
        "the best policy of each learner plays by step and state, who gains by deviating, and an episode step by step.",
        "example:\n  tacit run good-state --seeds 5 --out results/first\n  tacit report results/first -o 1.html",
    )
    parser.add_argument("runs", metavar="DIR", help="a directory of runs (the --out of a run), of such, or a run's own")
    options.add(parser, "-o --out FILE", "an .html (report.html in DIR)")
    options.add_named(parser)
    options.add_seconds(parser)


def run_report(args: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from tacit.view import write_report  # imports the compiler

    place, seconds = files.path(args.runs), check.positive("--seconds", args.seconds)
    out = place / "report.html" if args.out is None else files.path(args.out)
    with options.steps_on_stderr("report") as progress:
        write_report(place, out, named=args.game, seconds=seconds, progress=progress)
    options.say(f"report: {out}")
    return 0


DEFAULT = "results"


def add_view(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Serve a page of a directory of runs to a browser on this machine: curves that grow as runs go on, "
        "and all that `tacit report` shows. The page is on 127.0.0.1 alone, its address holds a random token, and it "
        "never writes to the directory. Ctrl-C ends it.",
        "example:\n  tacit run experiment.toml --out results/first &\n  tacit view results/first",
    )
    parser.add_argument(
        "runs", metavar="DIR", nargs="?", help=f"a directory of runs, or of such ({DEFAULT}, or the working directory)"
    )
    add_server(parser)
    options.add_named(parser)


def add_server(parser: argparse.ArgumentParser) -> None:
    """Add the options of a page's server."""
    options.add(parser, "--port P", "port of 127.0.0.1 (any that is free)", 0)
    options.add(parser, "--no-open", "print the address, and open no browser")


def run_view(args: argparse.Namespace) -> int:
    """Serve until Ctrl-C."""
    check.integer("--port", args.port, least=0, most=65535)
    place = files.path(args.runs or (DEFAULT if Path(DEFAULT).is_dir() else "."))

    from tacit.view.results import serve  # imports the compiler

    server, _ = serve(place, named=args.game, port=args.port)
    return keep_serving(server, open_page=not args.no_open)


def keep_serving(server: Server, *, open_page: bool) -> int:
    """Print the address, open it, and serve until Ctrl-C, which is how it is meant to end."""
    try:
        print(server.url, flush=True)
        options.tell("Ctrl-C ends this")
        if open_page:
            webbrowser.open(server.url)
        server.run()
    except KeyboardInterrupt:
        options.tell("ended")
    return 0


#: Episodes that the others learn for where no policy is given: seconds in a small game.
EPISODES = 20_000


def add_play(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Play a game in the place of one agent. The others play a policy from a file, the solution of the game, or a "
        "policy learned first. After every step you see what your choice cost on average (your regret) and what the "
        "best response would have played, and after every episode what it would have got: exactly, from the game's own "
        "tables. A correlated policy tells you what to play, and you obey or not. Against a certified policy, which "
        "depends on more than step and state, the certificate says what no strategy exceeds.",
        "in the terminal, type an action's number or name; q, Ctrl-D or Ctrl-C ends it\n\nexamples:\n"
        "  tacit play chicken                       against a policy that is learned now\n"
        "  tacit play chicken --concept ce          with the correlated equilibrium that `tacit solve` finds\n"
        "  tacit play box-pushing --browser         on a page\n"
        "  tacit play good-state --policy results/first/…/policy.npz --agent 1\n"
        "  printf '0\\n1\\n' | tacit play matching-pennies --rounds 2",
    )
    options.add_game(parser)
    options.add_policy(parser, "a policy of all agents, .npz or .json (learned now)", "")
    options.add(parser, "--agent I", "whose place you take (0)", 0)
    options.add(parser, "--learner LEARNER", "who learns the policy (portfolio; adaptive-v-cce without joint tables)")
    options.add(parser, "--episodes K", f"episodes to learn for ({EPISODES:,})", EPISODES)
    options.add(parser, "--seed S", "of learning and of play (0)", 0)
    options.add(parser, "--blind", "do not be told what a correlated policy recommends")
    options.add(parser, "--rounds N", "episodes to play in the terminal (until you end it)", kind=int)
    options.add(parser, "--browser", "play on a page in the browser instead")
    add_server(parser)


def run_play(args: argparse.Namespace) -> int:
    """Make or read the policy, then play."""
    options.check_counts(args, episodes=1, seed=0, agent=0, rounds=1)
    check.integer("--port", args.port, least=0, most=65535)
    game = options.game_of(args)
    check.integer("--agent", args.agent, least=0, most=game.agents - 1)

    from tacit.games.exact import check_exact
    from tacit.view.player import Player, serve  # imports the compiler

    check_exact(game)
    policy, about = _policy(game, args)
    if args.browser:
        chosen = {"agent": args.agent, "seed": args.seed, "blind": args.blind}
        server, _ = serve(game, policy, about=about, port=args.port, **chosen)
        return keep_serving(server, open_page=not args.no_open)
    player = Player(game, policy, agent=args.agent, seed=args.seed, blind=args.blind)
    return _in_terminal(player, about, args.rounds)


def _policy(game: Any, args: argparse.Namespace) -> tuple[Any, str]:
    """Return the policy that the others play, and where it comes from in words."""
    given = [f"--{name}" for name in ("policy", "concept", "learner") if getattr(args, name) is not None]
    if len(given) > 1:
        raise TacitError(f"{given[1]} is given beside {given[0]}; each names a policy, so give one of them")
    stated = options.policy_of(args, game)
    if stated is not None:
        return stated
    from tacit.engine.events import Advanced, Event
    from tacit.learning import default_for, run_learner
    from tacit.options import Options

    learner = args.learner or default_for(game)
    with options.steps_on_stderr(f"{learner} learns {args.game}") as show:

        def watch(event: Event) -> None:
            match event:
                case Advanced(done, total):
                    show("episodes", done, total)

        found = run_learner(game, learner, {}, Options(args.episodes, args.seed), watch=watch)
    for note in found.warnings:
        options.tell(note)
    if found.interrupted:
        raise KeyboardInterrupt
    # a Markov policy, against which the best response is known exactly
    policy = found.policy if found.candidates[found.chosen].table else found.last
    return policy, f"Against a policy that {learner} learned in {found.episodes:,} episodes."


def _in_terminal(player: Player, about: str, rounds: int | None) -> int:
    """Play until the person ends it; 130 after Ctrl-C."""
    game = player.game
    _say(f"{game.name or 'a game'}: you are agent {player.agent} of {game.agents}. {about}")
    if player.judge.signal is not None:
        _say("The policy is correlated: a signal tells you what to play, and the others obey theirs. Obey, or do not.")
    code = 0
    try:
        while rounds is None or player.tally.episodes < rounds:
            if player.over:
                player.begin()
            if not _episode(player):
                break
    except KeyboardInterrupt:
        print()
        code = 130
    _tell_tally(player)
    return code


def _episode(player: Player) -> bool:
    """Play one episode; return whether to go on."""
    from tacit.view.player import result

    while not player.over:
        _show_place(player)
        action = _ask(player)
        if action is None:
            return False
        _tell_turn(player, player.act(action))
    found = result(player)
    text = f"episode {player.episode}: you got {found['earned']:.6g}"
    if found["regret"] is not None:
        regret = f"your regret is {found['regret']:.6g} on average"
        if found["told_regret"] is not None:
            regret = (
                f"your regret on average is {found['regret']:.6g} against the best response that ignores the signal, "
                f"and {found['told_regret']:.6g} against the one that sees it"
            )
        text += (
            f"; {regret}, luck was worth {found['luck']:.6g}\n"
            f"  the best response gets {found['best']:.6g} on average, and {found['same_luck']:.6g} with the same luck"
        )
    _say(text)
    return True


def _show_place(player: Player) -> None:
    from tacit.view.player import payoffs  # imports the compiler

    game, i = player.game, player.agent
    where = f"step {player.h} of 0 to {game.horizon - 1}" if game.horizon > 1 else f"round {player.episode}"
    state = f", {state_name(game, player.state)}" if game.states > 1 else ""
    _say(f"\n{where}{state}")
    table = payoffs(player)
    if table is not None:
        told = "both get" if table["shared"] else f"your reward, agent {1 - i}'s"
        cells = [
            [f"{mine:g}" if table["shared"] else f"{mine:g}, {theirs:g}" for mine, theirs in row]
            for row in table["cells"]
        ]
        rows = [[f"{a}  {name}", *row] for a, (name, row) in enumerate(zip(table["rows"], cells, strict=True))]
        for line in str(Table("", [f"({told})", *table["columns"]], rows)).splitlines():
            _say(f"  {line}")
    else:
        _say("  " + "   ".join(f"{a} {name}" for a, name in enumerate(action_names(game, i))))
    if player.told is not None:
        _say(f"  the signal tells you: {action_names(game, i)[player.told]}")


def _ask(player: Player) -> int | None:
    """Ask for an action until there is one; None where the person ends it."""
    names = action_names(player.game, player.agent)
    while True:
        print("your action: ", end="", flush=True)
        line = sys.stdin.readline(1000)
        if not sys.stdin.isatty():
            print(printable(line.strip()))
        if not line:
            return None
        word = line.strip()
        if word in names:
            return names.index(word)
        if word.isascii() and word.isdigit() and len(word) < 9 and int(word) < len(names):
            return int(word)
        if word in ("q", "quit", "exit"):
            return None
        _say(f"  {printable(word, 60) or 'nothing'} is no action; type 0 to {len(names) - 1}, a name, or q")


def _tell_turn(player: Player, turn: Turn) -> None:
    game, i = player.game, player.agent
    names, played, told = action_names(game, i), turn.actions[i], turn.told_best is not None
    obeyed = "" if not told else "obey and " if turn.told == played else "disobey and "
    others = [f"agent {k} {action_names(game, k)[a]}" for k, a in enumerate(turn.actions) if k != i][:6]
    text = f"  you {obeyed}play {names[played]}, {', '.join(others)}: you get {turn.reward:.6g}"
    best, regret = (turn.told_best, turn.told_regret) if told else (turn.best, turn.regret)
    if best is not None and regret is not None:
        good = "told this, nothing is better" if told else "as good as the best response"
        better = f"{'told this, ' if told else ''}{names[best]} would have been better by {regret:.6g} on average"
        text += f"; {good if regret < 5e-10 else better}"
    _say(text)


def _tell_tally(player: Player) -> None:
    tally, known = player.tally, player.judge
    _say(f"\n{count(tally.episodes, 'episode')} played")
    if tally.episodes:
        regret = f", mean regret {tally.regret / tally.episodes:.6g}" if known.q is not None else ""
        if known.signal is not None:
            regret += f" against the best response that ignores the signal, {tally.told_regret / tally.episodes:.6g} "
            regret += "against the one that sees it"
        _say(f"  you: {tally.mean:.6g} on average{regret}")
    if known.value is not None:
        _say(f"  the policy in your place: {known.value:.6g} on average")
    if known.best is not None:
        how = "exactly" if known.exact else "at most, by the certificate"
        which = "the best response" + (" that ignores the signal" if known.signal is not None else "")
        _say(f"  {which}: {known.best:.6g} on average ({how})")
    if known.signal is not None:
        _say(f"  the best response that sees the signal: {known.signal.best:.6g} on average (exactly)")


def _say(text: str) -> None:
    print("\n".join(printable(line) for line in text.split("\n")), flush=True)
