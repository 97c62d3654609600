"""`tacit play`: a person in one agent's place, in the terminal or on a page."""

from __future__ import annotations

import argparse
import io
import sys
from typing import TYPE_CHECKING, Any

from tacit.cli import options
from tacit.core import check
from tacit.core.display import Table, count, printable
from tacit.core.errors import TacitError
from tacit.games.showing import action_names, state_name

if TYPE_CHECKING:
    from tacit.report.play import Player, Turn

#: Episodes that the others learn for where no policy is named: seconds in a small game.
EPISODES = 20_000


def add_play(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Play a game in the place of one agent. The others play a policy from a file, the solution of the game, or a "
        "policy learned first. After every step you see your regret (what your choice cost on average) and what the "
        "best response would have played, and after every episode what it would have earned: exactly, from the game's "
        "own tables. A correlated policy recommends an action, and you follow it or not. Against a mixture with a "
        "certificate, the certificate bounds what any strategy earns. With -o you get a page that needs no server: "
        "open it in a browser, or mail it.",
        "in the terminal, type an action's number or name; q, Ctrl-D or Ctrl-C ends it\n\nexamples:\n"
        "  tacit play chicken                       against a policy that is learned now\n"
        "  tacit play chicken --concept ce          with the correlated equilibrium that `tacit solve` finds\n"
        "  tacit play box-pushing -o play.html      as a page\n"
        "  tacit play good-state --policy results/first/…/policy.npz --agent 1\n"
        "  printf '0\\n1\\n' | tacit play matching-pennies --rounds 2",
    )
    options.add_game(parser)
    options.add_policy(parser, "a policy of all agents, .npz or .json (learned now)", "")
    options.add(parser, "--agent I", "whose place you take (0)", 0)
    options.add(parser, "--learner LEARNER", "who learns the policy (portfolio; adaptive-v-cce without joint tables)")
    options.add(parser, "--episodes K", f"episodes to learn for ({EPISODES:,})", EPISODES)
    options.add(parser, "--seed S", "of learning, and of play in the terminal (0)", 0)
    options.add(parser, "--blind", "do not hear what a correlated policy recommends")
    options.add(parser, "--rounds N", "episodes to play in the terminal (until you end it)", kind=int)
    options.add(parser, "-o --out FILE", "write a page, an .html, instead")


def run_play(args: argparse.Namespace) -> int:
    """Learn or read the policy, then play or write the page."""
    options.check_counts(args, episodes=1, seed=0, agent=0, rounds=1)
    game = options.game_of(args)
    check.integer("--agent", args.agent, least=0, most=game.agents - 1)

    from tacit.games.exact import check_exact
    from tacit.report.page import check_name
    from tacit.report.play import Player, check_size, write_play  # imports the compiler

    check_exact(game)
    if args.out is not None:
        check_name(args.out)  # before learning
        check_size(game)
    policy, about = _policy(game, args)
    if args.out is not None:
        write_play(game, policy, args.out, agent=args.agent, blind=args.blind, about=about)
        options.say(f"page: {args.out}")
        return 0
    player = Player(game, policy, agent=args.agent, seed=args.seed, blind=args.blind)
    return _in_terminal(player, about, args.rounds)


def _policy(game: Any, args: argparse.Namespace) -> tuple[Any, str]:
    """Return the policy that the others play, and where it comes from in words."""
    named = [f"--{name}" for name in ("policy", "concept", "learner") if getattr(args, name) is not None]
    if len(named) > 1:
        raise TacitError(f"one of --policy, --concept and --learner must be named; got {named[0]} and {named[1]}")
    stated = options.policy_of(args, game)
    if stated is not None:
        return stated
    from tacit.engine.events import Advanced, Event
    from tacit.learners import default_for
    from tacit.learning import run_learner
    from tacit.options import Options

    learner = args.learner or default_for(game, game.agents)
    with options.progress_on_stderr(f"{learner} learns {args.game}", "") as progress:

        def watch(event: Event) -> None:
            match event:
                case Advanced(done, total):
                    progress.show("episodes", done, total)

        run = run_learner(game, learner, {}, Options(args.episodes, args.seed), watch)
    for note in run.warnings:
        options.tell(note)
    if run.interrupted:
        raise KeyboardInterrupt
    # a Markov policy, against which the best response is known exactly
    policy = run.policy if run.candidates[run.chosen].table else run.last
    return policy, f"Against a policy that {learner} learned in {run.episodes:,} episodes."


def _in_terminal(player: Player, about: str, rounds: int | None) -> int:
    """Play until the person ends it; 130 after Ctrl-C."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # what is not text is no action
    game = player.game
    _say(f"{game.name or 'a game'}: you are agent {player.agent} of {game.agents}. {about}")
    if player.judge.hears:
        _say("The policy is correlated: it recommends an action, and the others follow theirs. Follow it, or do not.")
    code = 0
    try:
        while rounds is None or player.played < rounds:
            if player.over:
                player.begin()
            if not _episode(player):
                break
    except KeyboardInterrupt:
        print()
        code = 130
    _say_tally(player)
    return code


def _episode(player: Player) -> bool:
    """Play one episode; return whether to go on."""
    from tacit.report.play import result

    while not player.over:
        _say_place(player)
        action = _ask(player)
        if action is None:
            return False
        _say_turn(player, player.act(action))
    end = result(player)
    text = f"episode {player.episode}: you got {end['earned']:.6g}"
    if end["regret"] is not None:
        text += f"; your regret is {end['regret']:.6g} on average, luck was worth {end['luck']:.6g}\n"
        text += f"  the best response gets {end['best']:.6g} on average"
    _say(text)
    return True


def _say_place(player: Player) -> None:
    from tacit.report.play import payoffs  # imports the compiler

    game, i = player.game, player.agent
    where = f"step {player.h} of 0 to {game.horizon - 1}" if game.horizon > 1 else f"round {player.episode}"
    state = f", {state_name(game, player.state)}" if game.states > 1 else ""
    _say(f"\n{where}{state}")
    table = payoffs(player)
    if table is not None:
        head = "both get" if table["shared"] else f"your reward, agent {1 - i}'s"
        cells = [
            [f"{mine:g}" if table["shared"] else f"{mine:g}, {theirs:g}" for mine, theirs in row]
            for row in table["cells"]
        ]
        rows = [[f"{a}  {name}", *row] for a, (name, row) in enumerate(zip(table["rows"], cells, strict=True))]
        for line in str(Table("", [f"({head})", *table["columns"]], rows)).splitlines():
            _say(f"  {line}")
    else:
        _say("  " + "   ".join(f"{a} {name}" for a, name in enumerate(action_names(game, i))))
    if player.recommended is not None:
        _say(f"  you are recommended: {action_names(game, i)[player.recommended]}")


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


def _say_turn(player: Player, turn: Turn) -> None:
    game, i, hears = player.game, player.agent, player.judge.hears
    names, action = action_names(game, i), turn.actions[i]
    followed = "" if not hears else "follow it and " if turn.recommended == action else "deviate and "
    others = [f"agent {k} {action_names(game, k)[a]}" for k, a in enumerate(turn.actions) if k != i][:6]
    text = f"  you {followed}play {names[action]}, {', '.join(others)}: you get {turn.reward:.6g}"
    if turn.best is not None and turn.regret is not None:
        condition = "given this recommendation, " if hears else ""
        good = f"{condition}no action has a higher expected payoff" if hears else "as good as the best response"
        better = f"{condition}{names[turn.best]} would have been better by {turn.regret:.6g} on average"
        text += f"; {good if turn.regret < 5e-10 else better}"
    _say(text)


def _say_tally(player: Player) -> None:
    played, judge = player.played, player.judge
    _say(f"\n{count(played, 'episode')} played")
    if played:
        regret = f", mean regret {player.total_regret / played:.6g}" if judge.q is not None else ""
        _say(f"  you: {player.total / played:.6g} on average{regret}")
    if judge.value is not None:
        _say(f"  the policy in your place: {judge.value:.6g} on average")
    if judge.best is not None:
        how = "exactly" if judge.q is not None else "at most, by the certificate"
        which = "the best response" + (" that sees recommendations" if judge.hears else "")
        _say(f"  {which}: {judge.best:.6g} on average ({how})")


def _say(text: str) -> None:
    print("\n".join(printable(line) for line in text.split("\n")), flush=True)
