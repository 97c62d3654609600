"""What a user might take instead, side by side in one run: exact gaps against CPU time and steps of play.

    python3 -m venv /tmp/peers
    /tmp/peers/bin/pip install nashpy quantecon open_spiel pygambit==17.0.0b2 setuptools cython
    /tmp/peers/bin/pip install --no-build-isolation sgamesolver                      (compiles for some minutes)
    python benchmarks/peers.py --python /tmp/peers/bin/python                        prints the tables
    python benchmarks/peers.py --python /tmp/peers/bin/python --out docs/peers.md    and replaces those of the page

Peers run in that environment, in processes of benchmarks/peer.py; a peer that is missing there is left out, and the
table says so. Every policy, ours and theirs, is judged by `tacit.evaluate`. Times are CPU seconds of one thread,
compilation and loading left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402

import tacit  # noqa: E402
from peer import clock  # noqa: E402

PEER = Path(__file__).parent / "peer.py"
HEADING = "## Tables"
SEEDS = 3

#: Seconds by the clock after which a peer is given up.
LIMIT = 40


class Row(NamedTuple):
    game: str
    method: str
    gap: str
    seconds: float | None = None
    amount: str = ""


class Peers:
    """The processes of the peers, one for each library, and the versions that answered."""

    def __init__(self, python: str) -> None:
        self.python, self.versions = python, {}
        self.processes: dict[str, subprocess.Popen[str]] = {}

    def ask(self, peer: str, **job: Any) -> tuple[list[dict[str, Any]], str]:
        """Return what a peer found, and why it found no more."""
        if peer not in self.processes:
            self.processes[peer] = subprocess.Popen(
                [self.python, "-W", "ignore", str(PEER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        stdin, stdout = self.processes[peer].stdin, self.processes[peer].stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"peer": peer, **job}) + "\n")
        stdin.flush()
        timer = threading.Timer(LIMIT, self.processes[peer].kill)
        timer.start()
        line = next((line for line in stdout if line.startswith("{")), "")
        timer.cancel()
        if not line:
            del self.processes[peer]
            return [], f"no answer within {LIMIT} s"
        answer = json.loads(line)
        self.versions |= answer.get("versions", {})
        return answer["found"], answer.get("error", "")


def show(gap: float) -> str:
    return "0" if gap < 1e-12 else f"{gap:.1e}" if gap < 1e-3 else f"{gap:.3g}"


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + "s" * (number != 1)


def judge(game: tacit.TabularGame, tables: list[Any]) -> float:
    return float(tacit.evaluate(game, tacit.MarkovPolicy([np.array(part) for part in tables]), gap="nash").gap)


def worst(game: tacit.TabularGame, profiles: list[Any]) -> str:
    """Return the largest gap; probabilities that rounding has left below 0 are 0."""
    clipped = [[np.maximum(part, 0) for part in profile] for profile in profiles]
    if [part for profile in clipped for part in profile if not 0.99 < part.sum() < 1.01]:
        return "not probabilities"
    return show(max(judge(game, [(part / part.sum())[None, None] for part in profile]) for profile in clipped))


def histories(game: tacit.TabularGame, found: dict[str, list[dict[str, float]]]) -> list[Any]:
    """Write what OpenSpiel's policies play after each history as tables; elsewhere nothing is chosen."""
    index = {name: s for s, name in enumerate(game.state_names)} if game.states > 1 else {"": 0}
    tables = [np.zeros((game.horizon, game.states, A)) for A in game.actions]
    for table in tables:
        table[..., 0] = 1
    for history, parts in found.items():
        for table, part in zip(tables, parts, strict=True):
            table[:, index[history]] = 0
            for a, p in part.items():
                table[:, index[history], int(a)] = p
    return tables


def normal_forms(peers: Peers) -> Iterator[Row]:
    """One equilibrium, and all of them, of games in normal form."""
    every = [("nashpy", "support"), ("nashpy", "vertex"), ("quantecon", "support"), ("quantecon", "vertex")]
    every += [("gambit", "enummixed")]
    one = [("nashpy", "lemke-howson"), ("quantecon", "lemke-howson"), ("gambit", "lcp")]
    several = [("quantecon", "mclennan-tourky"), ("gambit", "logit"), ("gambit", "gnm")]
    cases = {
        "biased-rock-paper-scissors": one,
        "stengel-75": [*one, *every],
        "nashpy-82": [*one, *every],
        "blotto": one,
        "nau-irrational": several,
        "volunteer-4": several,
        "braess": several,
    }
    for name, methods in cases.items():
        game = tacit.make(f"atlas/{name}")
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(name, "tacit.solve", show(tacit.evaluate(game, found.policy, gap="nash").gap), seconds, "one")
        if ("nashpy", "support") in methods:
            both, seconds = clock(lambda game=game: tacit.equilibria(game))
            yield Row(name, "tacit.equilibria", show(both.gap), seconds, f"{len(both)}")
        payoffs = game.rewards[:, 0, 0].tolist()
        for peer, method in methods:
            answers, error = peers.ask(peer, method=method, payoffs=payoffs)
            if error or not answers[0]["profiles"]:
                yield Row(name, f"{peer} {method}", error or "no answer")
            for answer in answers if not error else []:
                if profiles := answer["profiles"]:
                    amount = "one" if (peer, method) in [*one, *several] and len(profiles) == 1 else f"{len(profiles)}"
                    yield Row(name, f"{peer} {method}", worst(game, profiles), answer["seconds"], amount)
        if name == "biased-rock-paper-scissors":
            yield from iterate(peers, name, game, {"payoffs": payoffs})


def iterate(peers: Peers, name: str, game: tacit.TabularGame, job: dict[str, Any]) -> Iterator[Row]:
    """OpenSpiel's solvers, which come closer with every iteration."""
    for method, amounts in (("xfp", [10, 30]), ("cfr", [100, 1000]), ("cfr+", [100, 1000])):
        answers, error = peers.ask("openspiel", method=method, amounts=amounts, **job)
        for answer in answers:
            gap = show(judge(game, histories(game, answer["histories"])))
            yield Row(name, f"openspiel {method}", gap, answer["seconds"], count(answer["iterations"], "iteration"))
        if error:
            yield Row(name, f"openspiel {method}", error)


def rules_known(peers: Peers) -> Iterator[Row]:
    """Markov games whose rules are known, as OpenSpiel has them."""
    for name, text in (
        ("goofspiel-3", "goofspiel(num_cards=3)"),
        ("goofspiel-4, prizes 4 to 1", "goofspiel(num_cards=4,points_order=descending)"),
        ("oshi-zumo", "oshi_zumo(coins=5,size=2,min_bid=1)"),
    ):
        game = tacit.from_openspiel(text)
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(name, "tacit.solve", show(tacit.evaluate(game, found.policy, gap="nash").gap), seconds)
        unfolded = tacit.from_openspiel(text, key=lambda state: state.history_str())
        yield from iterate(peers, name, unfolded, {"openspiel": text})


def discounted(peers: Peers) -> Iterator[Row]:
    """Stationary equilibria of discounted games."""
    cases: dict[str, dict[str, Any]] = {
        "big-match": {"discount": 0.9},
        "inspection-4-2": {"discount": 0.9},
        "soccer": {"discount": 0.9, "rows": 2, "columns": 3},
    }
    for name, params in cases.items():
        game = tacit.make(f"atlas/{name}", **params)
        label = f"{name}, {count(game.states, 'state')}"
        found, seconds = clock(lambda game=game: tacit.solve(game, "nash"))
        yield Row(label, "tacit.solve", show(found.gap), seconds)
        rewards, transitions = np.moveaxis(game.rewards[:, 0], 0, 1).tolist(), game.transitions[0].tolist()
        job = {"rewards": rewards, "transitions": transitions, "discount": game.discount}
        answers, error = peers.ask("sgamesolver", method="QRE", **job)
        for answer in answers:
            yield Row(label, "sgamesolver QRE", show(judge(game, answer["tables"])), answer["seconds"])
        if error:
            yield Row(label, "sgamesolver QRE", error)


def by_play(peers: Peers) -> Iterator[Row]:
    """Learning by play alone: medians over seeds."""
    amounts = [300, 3000, 30000]
    for name, text in {
        "chicken": "",
        "biased-rock-paper-scissors": "",
        "climbing-25": None,
        "inspection-4-2": None,
        "goofspiel-3": "goofspiel(num_cards=3)",
    }.items():
        game = tacit.make(f"atlas/{name}")
        for learner in ("adaptive-v-cce", "model-central", "q-independent"):
            for episodes in amounts[: 2 if learner == "model-central" else 3]:
                tacit.learn(game, learner, episodes=2, seed=0)
                runs = [learn(game, learner, episodes, seed) for seed in range(SEEDS)]
                yield median(name, f"tacit {learner}", runs, episodes * game.horizon)
        jobs: dict[str, dict[str, Any]] = {}
        if text is not None:
            job = {"openspiel": text} if text else {"payoffs": game.rewards[:, 0, 0].tolist()}
            jobs["openspiel-q"] = {"amounts": amounts[:2], **job}
        if game.states < 100:
            tables = {"transitions": game.transitions[0].tolist(), "rewards": game.rewards[:, 0].tolist()}
            where = {"initial": game.initial.tolist(), "horizon": game.horizon, "bonus": 0.1}
            jobs["nash-vi"] = {"amounts": [100, 1000], **tables, **where}
        judged = tacit.from_openspiel(text, key=lambda state: state.history_str()) if text else game
        for peer, job in jobs.items():
            asked = [peers.ask(peer, seed=seed, **job) for seed in range(SEEDS)]
            for error in {error for _, error in asked if error}:
                yield Row(name, peer, error)
            for answers in zip(*(found for found, _ in asked), strict=False):
                runs = [
                    (judge(judged, a["tables"] if "tables" in a else histories(judged, a["histories"])), a["seconds"])
                    for a in answers
                ]
                yield median(name, peer, runs, answers[0]["steps"])


def learn(game: tacit.TabularGame, learner: str, episodes: int, seed: int) -> tuple[float, float]:
    start = time.process_time()
    run = tacit.learn(game, learner, episodes=episodes, seed=seed)
    return float(run.gap), time.process_time() - start


def median(game: str, method: str, runs: list[tuple[float, float]], steps: int) -> Row:
    gap, seconds = np.median(runs, axis=0)
    return Row(game, method, show(gap), float(seconds), count(steps, "step"))


PARTS = {
    "normal-forms": (normal_forms, "Normal forms", "equilibria found"),
    "rules-known": (rules_known, "Markov games whose rules are known", "iterations"),
    "discounted": (discounted, "Discounted games, stationary equilibria", ""),
    "play": (by_play, f"By play alone (medians of {SEEDS} seeds)", "steps of play"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default=sys.executable, help="the Python of the peers' environment")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=list(PARTS), help="some parts")
    parser.add_argument("--out", type=Path, help="a page whose tables are replaced")
    args = parser.parse_args()
    peers, lines = Peers(args.python), []
    for part in args.only:
        rows, title, amount = PARTS[part]
        lines += ["", f"### {title}", "", f"| game | method | gap | CPU s | {amount} |", "|---|---|---|---|---|"]
        before = ""
        for row in rows(peers):
            seconds = "" if row.seconds is None else f"{row.seconds:.2g}"
            lines.append(f"| {row.game * (row.game != before)} | {row.method} | {row.gap} | {seconds} | {row.amount} |")
            print(lines[-1], file=sys.stderr, flush=True)
            before = row.game
    versions = {"tacit": tacit.__version__, "Python": sys.version.split()[0], **peers.versions}
    said = "Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()) + "."
    text = "\n".join([HEADING, "", said, *lines, ""])
    print(text)
    if args.out:
        args.out.write_text(args.out.read_text(encoding="utf-8").partition(HEADING)[0] + text, encoding="utf-8")


if __name__ == "__main__":
    main()
