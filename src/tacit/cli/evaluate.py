"""`tacit show`, `solve`, `evaluate`, `prove`, `verify` and `theory`: games, solutions, policies, proofs, promises."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection
from dataclasses import asdict, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.cli import options
from tacit.core import check, files
from tacit.core.display import Document, exact
from tacit.core.errors import TacitError
from tacit.evaluation import deviation_table, equilibria, evaluate, potential, prove, verify
from tacit.evaluation.equilibria import Equilibria, enumerable
from tacit.evaluation.gaps import APART, check_cost, seconds_to_evaluate
from tacit.evaluation.solve import CONCEPTS, METHODS, Solution, solve
from tacit.evaluation.stage_game import RULES, select_best
from tacit.evaluation.theory import theory
from tacit.evaluation.values import KINDS, largest_return
from tacit.games.protocol import count_steps
from tacit.games.showing import length_data

if TYPE_CHECKING:
    from tacit.core.types import FloatArray
    from tacit.experiments import Outcome


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Show a game: payoffs by state with the names of actions, and what leads where. Of large games "
        "the first states are shown; --state picks one, --all shows everything.",
        "examples:\n  tacit show chicken\n  tacit show good-state --game-set horizon=3\n"
        "  tacit show box-pushing --state s1N4N\n  tacit show rock.nfg --json",
    )
    options.add_game(parser)
    options.add(parser, "--state STATE", "this state alone, by its name or number")
    options.add(parser, "--step H", "which step, where steps differ (0)", kind=int)
    options.add(parser, "--all", "all states and all joint actions")
    options.add(parser, "--json", "print one JSON document")


def run_show(args: argparse.Namespace) -> int:
    """Make the game and print it."""
    game = options.game_of(args, tell_notes=args.json)  # the table has the notes
    state = args.state
    if state is not None and state.isdigit() and state not in (getattr(game, "state_names", None) or ()):
        state = int(state)
    shown = game.show(state=state, step=args.step, limit=None if args.all else 6)
    if args.json:
        options.print_json({**shown.data, "game": args.game, "name": game.name})
        return 0
    options.print_document(shown)
    return 0


SOLVE_EPILOG = """examples:
  tacit solve good-state                           the largest total reward
  tacit solve chicken ce                           the correlated equilibrium of largest total reward
  tacit solve chicken ce --objective egalitarian   the one whose least value is largest
  tacit solve chicken nash                         all extreme equilibria of a small two-player game
  tacit solve random-general-sum nash --objective egalitarian
  tacit solve congestion cce --tolerance 0.001     by sweeps, where a linear program is too large
  tacit solve openspiel:markov_soccer nash --game-set horizon=30 --seconds 20"""


def add_solve(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Solve a game by backward induction, show the policy, and check its equilibrium gap. What cannot "
        "be solved exactly, or not in time, is approximated by sweeps with full information, and its exact gap is "
        "told; Ctrl-C ends them and keeps the best.",
        SOLVE_EPILOG,
    )
    options.add_game(parser)
    options.add(parser, "CONCEPT", f"one of: {', '.join(CONCEPTS)} (optimum)", "optimum", nargs="?")
    options.add(parser, "--objective O", f"which equilibrium of each stage: {', '.join(RULES)} (welfare)", "welfare")
    options.add(parser, "--method M", "auto, exact, or learn: sweeps with full information (auto)", "auto")
    options.add(parser, "--tolerance G", "gap at which sweeps end (a ten-thousandth of uniform play's)", kind=float)
    options.add(parser, "--seconds T", "after how long they end", kind=float)
    options.add(parser, "--rounds K", "sweeps at most (1000, without --seconds)", kind=int)
    options.add(parser, "-o --out FILE", "write the policy to this .npz file")
    options.add(parser, "--all", "show every row of the policy, of steps and states that are not reached too")
    options.add(parser, "--json", "print one JSON document, with the policy")


def run_solve(args: argparse.Namespace) -> int:
    """Solve, check and print."""
    concept = check.choice("concept", args.concept, CONCEPTS)
    check.choice("method", args.method, METHODS)
    game = options.game_of(args)
    limits = {name: getattr(args, name) for name in ("tolerance", "seconds", "rounds")}
    solution = solve(game, concept, method=args.method, objective=args.objective, progress=options.tell, **limits)
    every = equilibria(game) if concept == "nash" and enumerable(game) else None
    gap = solution.evaluation or evaluate(game, solution.policy, gap="nash" if concept == "optimum" else concept)
    if gap.gap <= 1e-12 * largest_return(game):  # rounding
        gap = replace(gap, gaps=np.zeros(game.agents), gap=0.0)
    if args.out:
        solution.policy.save(args.out)
    shown = solution.policy.show(everything=args.all, limit=None if args.all else 40)
    apart = deviation_table(game, solution.policy, gap=gap.kind)
    code = 130 if solution.ended == "interrupted" else 0
    if args.json:
        options.print_json(
            {
                "game": args.game,
                "concept": concept,
                **length_data(game),
                "agents": game.agents,
                "value": solution.values.tolist(),
                "gap": {"kind": gap.kind, "max": gap.gap, "per_agent": gap.gaps.tolist(), "exact": gap.exact},
                "method": solution.method,
                "approximate": not solution.exact,
                "ended": solution.ended or None,
                "policy": shown.data,
                "deviations": apart.data(limit=None if args.all else 40),
                **({} if every is None else every.data()),
            }
        )
        return code
    options.say(repr(game))
    if every is not None:
        options.print_document(every.show(limit=None if args.all else 20))
    else:
        options.print_document(shown)
    options.say()
    if len(apart.terms) and apart.gaps.max() > 1e-8 * largest_return(game):
        options.print_document(apart.show(limit=None if args.all else 12))
        options.say()
    if every is not None and len(every) > 1:
        _print_row(every, solution, args.objective)
    for i, value in enumerate(solution.values[:20]):
        options.say(f"agent {i}: value {_write(value)}, {gap.kind} gap {gap.gaps[i]:.3g}")
    if game.agents > 20:
        options.say(f"{game.agents - 20} more agents are not shown; --json has all")
    sure = "exact" if gap.exact else "upper bound"
    options.say(f"method: {solution.method}")
    total = _write(solution.values.sum())
    options.say(f"{concept}: total value {total}, {gap.kind} gap {gap.gap:.3g} ({sure}, the largest of all agents)")
    return code


def _write(value: float) -> str:
    """Write a value with six decimals, and as a fraction where it is one."""
    fraction = exact(float(value))
    shown = f"{value:.6f}"
    shown = shown.removeprefix("-") if float(shown) == 0 else shown  # no −0
    return shown + (f" = {fraction}" if isinstance(fraction, Fraction) and fraction else "")


def _print_row(every: Equilibria, solution: Solution, rule: str) -> None:
    """Say which of the listed equilibria the values below are of, if any."""
    probs = solution.policy.probs
    for k, policy in enumerate(every.policies):
        if all(np.allclose(mine, theirs, atol=1e-9) for mine, theirs in zip(probs, policy.probs, strict=True)):
            others = [int(j) + 1 for j in select_best(every.values, rule) if j != k]
            ties = f" (equally good: {', '.join(map(str, others[:10]))})" if others else ""
            options.say(f"equilibrium {k + 1}, selected by {rule}{ties}:" if every.sure else f"equilibrium {k + 1}:")
            return


def add_evaluate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Read the policies of stored runs, compute their exact values and gaps from the game's own tables "
        "and nothing else, and show them beside what was stored. Gaps are exact for Markov policies and upper "
        "bounds for certified ones. A policy of an environment, which has no tables, is played, if --game names it: "
        "values and what trained best responses gain, with 95 % intervals; the lower ends of the latter are lower "
        "bounds on the gaps.",
        "example:\n  tacit run good-state stage-v-cce --episodes 5000 --seeds 2 --out results/first\n"
        "  tacit evaluate results/first",
    )
    parser.add_argument("runs", metavar="RUN_DIR", help="a run's directory, or one of many runs (the --out of a run)")
    options.add_named(parser)
    options.add(parser, "--episodes K", "of environments: episodes to train and to play (2000)", 2000)
    options.add(
        parser,
        "--show",
        "what each policy plays where, and who gains by playing what instead of what (of a single run, always)",
    )
    options.add_seconds(parser)
    options.add(parser, "--json", "print one JSON document on stdout")


def run_evaluate(args: argparse.Namespace) -> int:
    """Evaluate every run, and print what is found."""
    from tacit.experiments import store  # imports the compiler

    seconds = check.positive("--seconds", args.seconds)
    with_tables: list[Path] = []
    left_out, played = set(), []
    for directory in store.directories(files.path(args.runs)):
        stored = store.load(directory)
        name = stored.spec.game.name
        if stored.spec.has_tables:
            with_tables.append(directory)
        elif name in args.game:
            played.append(_play(directory, stored, args.episodes))
        else:
            reason = f"{name} has no tables, so its policies cannot be evaluated exactly"
            left_out.add(f"{reason}; --game {name} runs its code, and plays them")
    if not with_tables and not played:
        raise TacitError("; ".join(sorted(left_out)))
    for reason in sorted(left_out):
        options.tell(reason)
    for one in () if args.json else played:
        options.say(f"{one['run']}: values {one['values']}; {one['told']}")
    rows: list[dict[str, Any]] = []
    documents: list[Document] = []
    failures: list[str] = []
    interrupted, show = False, args.show or len(with_tables) == 1
    with options.progress_on_stderr("evaluating", "") as progress:
        for k, directory in enumerate(with_tables):
            progress.show(f"{k}/{len(with_tables)} runs", k, len(with_tables))
            try:
                row, shown = evaluate_run(directory, named=args.game, show=show, seconds=seconds)
            except TacitError as error:
                failures.append(str(error))
                continue
            except KeyboardInterrupt:
                interrupted = True
                break
            rows.append(row)
            documents += shown
    if failures and len(failures) == len(with_tables):
        raise TacitError(failures[0])
    for reason in failures:
        options.tell(reason)
    if args.json:
        options.print_json({"runs": rows, "played": played})
    elif rows:
        options.print_table(HEADS, [line for row in rows for line in _table_rows(row)])
        for document in documents:
            options.say()
            options.print_document(document)
    if interrupted:
        options.tell(f"interrupted; {len(rows)} of {len(with_tables)} runs were evaluated")
        return 130
    return 1 if failures else 0


def evaluate_run(
    directory: Path,
    *,
    named: Collection[str] = (),
    show: bool = False,
    seconds: float = math.inf,
) -> tuple[dict[str, Any], list[Document]]:
    """Evaluate one stored run: return what `--json` prints of it, and tables.

    It raises where that takes longer than `seconds` by an estimate. `named` is the Python code that may be run.
    """
    from tacit.experiments import store
    from tacit.experiments.spec import game_of

    stored = store.load(directory)
    gap = stored.gap
    bounds = None if gap is None else gap.upper
    game = game_of(stored.spec, named=named)
    if (stored.agents, stored.horizon) != (game.agents, count_steps(game)):
        raise TacitError(f"{directory / store.SUMMARY} is altered: other agents or another horizon than the game")
    policy = store.load_policy(directory)
    cost = seconds_to_evaluate(game, policy)
    check_cost(cost, seconds, f"{directory}: its exact evaluation")
    evaluation = evaluate(game, policy, gap=None if gap is None else gap.kind)
    row = {
        "run": str(directory),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "episodes": stored.episodes,
        "candidate": stored.chosen,
        "value": evaluation.values.tolist(),
        "gap": {
            "kind": evaluation.kind,
            "exact": evaluation.exact,
            "max": evaluation.gap,
            "per_agent": evaluation.gaps.tolist(),
        },
        "stored": {"value": stored.value, "gap": bounds, "source": None if gap is None else gap.source},
        "largest_difference": max(_distance(evaluation.values, stored.value), _distance(evaluation.gaps, bounds)),
    }
    shown: list[Document] = []
    try:
        if show:
            check_cost(APART * cost, seconds, "what the policy plays, and who gains by deviating,")
            shown.append(policy.show(game))
            apart = deviation_table(game, policy, gap=evaluation.kind)
            shown.append(apart.show())
            row |= {"policy": shown[0].data, "deviations": apart.data(limit=1000)}
    except TacitError as error:  # it takes longer, or more memory than there is
        shown.append(Document(str(error), []))
    return row, shown


def _distance(anew: FloatArray, stored: list[float] | None) -> float:
    return 0.0 if stored is None else float(np.max(np.abs(anew - np.asarray(stored))))


HEADS = ("run", "gap", "agent", "value stored", "anew", "gap stored", "anew")


def _table_rows(row: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a line for each agent of a run."""
    lines: list[tuple[str, ...]] = []
    for i, (value, gap) in enumerate(zip(row["value"], row["gap"]["per_agent"], strict=True)):
        was = ["—" if row["stored"][key] is None else f"{row['stored'][key][i]:.9g}" for key in ("value", "gap")]
        run, kind = (row["run"], row["gap"]["kind"]) if i == 0 else ("", "")
        lines.append((run, kind, str(i), was[0], f"{value:.9g}", was[1], f"{gap:.9g}"))
    return lines


def _play(directory: Path, stored: Outcome, episodes: int) -> dict[str, Any]:
    """Play the policy of a run in an environment, and train best responses against it."""
    from tacit.environments.measuring import exploit, with_interval
    from tacit.experiments import store
    from tacit.experiments.spec import same_game

    named: Any = same_game(stored.spec)
    policy = store.load_policy(directory)
    with named.enter() as env:
        encode = env.encode if callable(env.encode) else None  # the policy holds its bins
        env = replace(env, horizon=stored.horizon, encode=encode)
        played = exploit(env, policy, episodes=episodes)
    low, high = played.values_low, played.values_high
    return {
        "run": str(directory),
        "game": stored.spec.game.name,
        "learner": stored.spec.learner.name,
        "seed": stored.spec.seed,
        "candidate": stored.chosen,
        "value": played.values.tolist(),
        "value_low": low.tolist(),
        "value_high": high.tolist(),
        "values": ", ".join(map(with_interval, played.values, low, high)),
        "gap": {
            "kind": played.kind,
            "source": played.source,
            "lower": played.lower,
            "gain": played.gap,
            "half": played.gap - played.lower,
            "confidence": played.confidence,
            "per_agent": played.gains.tolist(),
            "deviations": played.deviations,
        },
        "told": str(played),
    }


def add_prove(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Prove that no agent gains more than a bound by deviating from a Markov policy, and write a file that anybody "
        "can check: with `tacit verify`, or with its one file verify.py, which needs Python alone.",
        "examples:\n  tacit solve chicken ce --out ce.npz\n  tacit prove chicken ce.npz --gap ce -o chicken.json\n"
        "  tacit verify chicken.json",
    )
    options.add_game(parser)
    options.add(parser, "POLICY", "a file of a policy (.npz, .json), or the directory of a run")
    options.add(parser, "--gap", "which deviations count (nash for a product policy, otherwise cce)", choices=KINDS)
    options.add(parser, "-o --out FILE", "the proof, .json or .json.gz (proof.json)", "proof.json")


def run_prove(args: argparse.Namespace) -> int:
    """Prove, write and tell."""
    from tacit import policies

    game, path = options.game_of(args), files.path(args.policy)
    if path.is_dir():
        from tacit.experiments import store  # imports the compiler

        runs = store.directories(path)
        if len(runs) > 1:
            raise TacitError(f"POLICY must be of one run; {path} holds {len(runs)}")
        policy = store.load_policy(runs[0])
    else:
        policy = policies.load(path)
    save_proof(game, policy, args.gap, args.out, options.say)
    return 0


def save_proof(game: Any, policy: Any, gap: str | None, out: str, tell: Callable[[str], None]) -> None:
    """Prove the gap of a policy, write the proof, and say so."""
    proof = prove(game, policy, gap=gap)
    proof.save(out)
    tell(f"proven: {proof.kind} gap ≤ {proof.bound}; `tacit verify {out}` checks it")


def add_verify(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Check a proof in exact rationals, with no tolerance: exit code 0 where it proves its bounds, 1 where an "
        "inequality fails, of which the first is named, and 2 where the file is no proof.",
        f"the same without tacit: python {verify.__file__} FILE",
    )
    options.add(parser, "FILE", "a proof, .json or .json.gz")


def run_verify(args: argparse.Namespace) -> int:
    """Check the file."""
    return verify.main(args.file)


def add_theory(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    options.describe(
        parser,
        "Print what the paper's theorems promise for a game, with constants hidden in O(·) taken as 1.",
    )
    options.add_game(parser)
    options.add(parser, "--epsilon EPSILON", "accuracy in the game's reward units (0.1)", 0.1)
    options.add(parser, "--delta DELTA", "probability of failing (0.1)", 0.1)
    options.add(parser, "--json", "print one JSON document")


def run_theory(args: argparse.Namespace) -> int:
    """Print the promises."""
    game = options.game_of(args)
    bounds = theory(game, epsilon=args.epsilon, confidence=args.delta)
    if args.json:
        options.print_json({"game": args.game, **asdict(bounds)})
        return 0
    options.say(repr(game))
    low, high = game.reward_range
    options.say(
        f"to be within ε = {bounds.epsilon:g} (reward units) with probability {1 - bounds.confidence:g}, "
        f"where rewards have a span of {high - low:g}:"
    )
    options.say(f"  cce: K = S·A·H⁵·ι·span²/ε² = {bounds.episodes_cce:.3g} episodes (ι = {bounds.iota_cce:.2f})")
    options.say(f"  ce:  K = S·A²·H⁵·ι·span²/ε² = {bounds.episodes_ce:.3g} episodes (ι = {bounds.iota_ce:.2f})")
    if game.joint_actions <= 1024:
        verdict = "this is a Markov potential game" if potential(game).holds else "this is NOT a Markov potential game"
        options.say(f"{verdict}; what follows is about such games, with mismatch D = {bounds.mismatch:.4g}:")
    else:
        options.say(f"if this is a Markov potential game, with mismatch D = {bounds.mismatch:.4g}:")
    if math.isinf(bounds.mismatch):
        options.say("  the theorems promise nothing: some state can be reached and can be avoided, so D is infinite")
    else:
        options.say(f"  exact gradients: η = {bounds.exact_step:.3g}, T = {bounds.exact_iterations:.3g} iterations")
        options.say(f"  STORM: T = {bounds.storm['iterations']:.3g} episodes; --json has all constants")
    verdict = f"H³·S·A·span²/ε² = {bounds.lower_bound:.3g} episodes"
    options.say(f"lower bound for any algorithm on some game of this size: {verdict}")
    return 0
