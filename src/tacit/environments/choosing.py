"""How a run in an environment ends: candidates are compared by play, and measured.

Everything is measured on fresh episodes, which neither learning nor a later `evaluate` or `exploit` plays, with about a
fifth as many steps as training at most. Candidates are compared by returns and by trained responses, each of which is
played against every candidate; intervals are those of `measuring.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import bdtrc

from tacit.core import streams
from tacit.core.errors import TacitError, sentence
from tacit.core.types import FloatArray
from tacit.engine.events import Noted, Watcher
from tacit.engine.run import Advice, Run
from tacit.environments.deviators import suggest_deviators, train_best
from tacit.environments.measuring import Ends, interval, lower, with_interval
from tacit.environments.observations import suggest_encode
from tacit.environments.play import arena_of, finite_returns, play
from tacit.learners import REGISTRY
from tacit.policies import MarkovPolicy

#: One step is played for so many of training; fewer episodes of a policy than the least compare nothing, more than the
#: most are not needed; a response is trained in so many episodes at least; so many measure a policy in any case.
SHARE, LEAST, MOST, TRAIN, FEWEST = 5, 10, 2_000, 30, 5

#: Episodes that show how long others will be.
PILOT = 3

#: Probability of taking a candidate for better that is not.
ERROR = 0.05

#: Tries of an action in a state below which tables learn little.
RARELY = 10


class Training(NamedTuple):
    """What the engine knows of the training that has ended."""

    steps: int  # that the environment made
    early: FloatArray  # [episodes, N]  returns of the first tenth
    states: int  # of the agent that has met most
    cells: int  # likewise, of states at steps, where each has a table of its own; otherwise 0
    numbers: int  # of an observation that could be put into bins
    wrapper: str  # the function that takes an encode


def conclude(run: Run, training: Training, watch: Watcher) -> Run:
    """Choose the returned policy by play where no bound does, and measure it."""
    candidates = {name: one.policy for name, one in run.candidates.items() if one._policy is not None}
    first = "average" if "average" in candidates else run.chosen
    if run.gaps.source == "none" and candidates:  # nothing else chose among them
        run = replace(run, chosen=first)
    if run.chosen not in candidates:  # without its record, the chosen policy cannot be played
        return run
    if run.interrupted:
        return replace(run, causes=(_unmeasured("the run was interrupted"),))
    proven = run.gaps.source == "model-free" and run.gaps.informative
    contest = {run.chosen: candidates[run.chosen]} if proven else candidates
    try:
        return _compare(run, training, contest, watch)
    except (TacitError, KeyboardInterrupt) as error:
        cause = _unmeasured("Ctrl-C" if isinstance(error, KeyboardInterrupt) else sentence(error))
        return replace(run, notes=(*run.notes, cause.text), causes=(cause,))


def _unmeasured(why: str) -> Advice:
    return Advice("unmeasured", f"what was learned is not measured by play ({why}): tacit.evaluate(env, run) does that")


def _compare(run: Run, training: Training, contest: Mapping[str, Any], watch: Watcher) -> Run:
    """Return the run with the better candidate by play, measured beside random play."""
    uniform = MarkovPolicy.uniform(run.game)
    uniform.observations = run.last.observations
    budget = training.steps // SHARE // _length(run, training, [contest[run.chosen], uniform])
    respond = share_out(budget // 2, len(contest), run.game.agents)
    plays = min((budget - (budget // 2 if respond else 0)) // (len(contest) + 2), MOST)
    if plays < LEAST and len(contest) > 1:
        if run.gaps.source == "none":
            note = f"too few episodes to compare {', '.join(contest)} by play; {run.chosen!r} is returned"
            run = replace(run, notes=(*run.notes, note))
        contest = {run.chosen: contest[run.chosen]}
    if len(contest) == 1:
        plays = min(max(budget // 2, FEWEST), MOST)
    watch(Noted(f"playing up to {max(budget, 2 * plays):,} further episodes to measure what was learned"))
    seeds = streams.seeds(run.seed, streams.CHOICE, range(2)).tolist()
    table = PlayedReturns(run, contest, seeds[0], plays)
    if len(contest) > 1:
        if respond is not None:
            table.respond(*respond, watch)
        run = table.choose(run)
    return _measure(run, table, training, [contest[run.chosen], uniform], seeds[1], plays)


def _length(run: Run, training: Training, policies: Sequence[Any]) -> int:
    """Return about how many steps an episode has. Where some end early, a few episodes show it."""
    if training.steps >= run.episodes * run.game.horizon:
        return run.game.horizon
    seed = int(streams.seeds(run.seed, streams.CHOICE, range(3))[2])
    pilots = [play(run.game, policy, episodes=PILOT, seed=seed).steps // PILOT for policy in policies]
    return max(training.steps // run.episodes, *pilots, 1)


def share_out(budget: int, candidates: int, agents: int) -> tuple[int, int] | None:
    """Return how many episodes train and play each response; None where they are too few."""
    each = budget // (candidates * (agents + 1))  # one more looks for who should train them
    train = 3 * each // 5
    plays = min((each - train) // (candidates + 2), MOST)
    return (train, plays) if candidates > 1 and train // 2 >= TRAIN and plays >= LEAST else None


class PlayedReturns:
    """Candidates, their returns by the same draws, and what trained responses gain from each."""

    def __init__(self, run: Run, candidates: Mapping[str, Any], seed: int, plays: int) -> None:
        self.game, self.candidates, self.seed = run.game, candidates, seed
        self.arenas = {name: arena_of(run.game, policy, counts=True) for name, policy in candidates.items()}
        self.ends = Ends(next(iter(self.arenas.values())), None)
        self.ends.include(*run.game.reward_range)  # met in learning
        self.episodes = 0
        self.returns = {name: self.play(name, plays) for name in candidates} if len(candidates) > 1 else {}
        self.gains: dict[str, FloatArray] = {}  # [plays, responses]
        self.settled = False  # whether no response gained more for longer training

    def play(self, name: str, episodes: int, *, seed: int | None = None, deviation: Any = None) -> FloatArray:
        """Return the agents' returns [episodes, N] of a candidate, or of a response to it."""
        seed = self.seed if seed is None else seed
        played = play(self.arenas[name], self.candidates[name], episodes=episodes, seed=seed, deviation=deviation)
        self.ends.meet(played)
        self.episodes += episodes
        return finite_returns(played)

    def respond(self, train: int, plays: int, watch: Watcher) -> None:
        """Train a response of each agent to each candidate. The better of half and all of its training is played."""
        names, agents = list(self.candidates), self.game.agents
        base = {name: self.play(name, plays) for name in names}
        columns: dict[str, list[FloatArray]] = {name: [] for name in names}
        self.settled = True
        for name in names:
            arena, policy = self.arenas[name], self.candidates[name]
            deviators = suggest_deviators(arena, policy, train, self.seed)
            for i in range(agents):
                watch(Noted(f"training responses to {name!r}: agent {i + 1} of {agents}"))
                trained, _ = train_best(arena, policy, i, deviators, train, self.seed)
                self.episodes += train
                assert trained.halfway is not None  # tables and features have it
                responses = [replace(trained, response=trained.halfway()), trained]
                gains = [self.play(name, plays, deviation=one)[:, i] - base[name][:, i] for one in responses]
                short, long = (float(gain.mean()) for gain in gains)
                self.settled &= long <= max(short, 0.0)
                best = int(long > short)
                for other in names:
                    gain = gains[best]
                    if other != name:
                        gain = self.play(other, plays, deviation=responses[best])[:, i] - base[other][:, i]
                    columns[other].append(gain)
        self.gains = {name: np.stack(columns[name], axis=1) for name in names}

    def choose(self, run: Run) -> Run:
        """Return the run with a candidate shown to be better, or the usual one."""
        names, notes = list(self.candidates), []
        first = run.chosen
        if "recent" in names and "average" not in names and self.mixes(first):
            first = "recent"
            notes.append("no deterministic policy is stable here, so the average is preferred")
        elif "average" not in names and run.gaps.source == "none":
            first = max(names, key=lambda name: float(self.returns[name].mean()))
        gains = self.gains or {name: np.zeros((1, 1)) for name in names}
        shown = {name: (self.returns[name], gains[name]) for name in names}
        error = ERROR / max(len(names) - 1, 1)  # each of the others might have been shown to be better
        options: dict[str, Any] = {"span": self.ends.span, "settled": self.settled, "error": error}
        better = [name for name in names if name != first and is_better(shown[name], shown[first], **options)]
        chosen = max(better, key=lambda name: float(self.returns[name].mean()), default=first)
        means = ", ".join(f"{self.returns[name].mean():.4g} of {name!r}" for name in names)
        low, high = self.ends.range
        sure = "" if self.ends.known else f", if no return lies outside [{low:.4g}, {high:.4g}]"
        why = f"shown to be better (95 % confidence{sure})" if better else "no other is shown to be better"
        notes.append(f"{chosen!r} is returned, {why}: mean returns {means}")
        if self.gains:
            gained = ", ".join(f"{self.gains[name].mean(axis=0).max():.3g} from {name!r}" for name in names)
            flat = "" if self.settled else ", still rising with their training"
            notes[-1] += f"; trained responses gain {gained}{flat}"
        return replace(run, chosen=chosen, notes=(*run.notes, *notes))

    def mixes(self, last: str) -> bool:
        """Return whether no deterministic policy is stable.

        Rewards cancel out, or a response is shown to gain more from the last iterate than from the others.
        """
        if self.constant_sum:
            return True
        if last not in self.gains:
            return False
        top = self.gains[last][:, self.gains[last].mean(axis=0).argmax()]
        rest = max(float(self.gains[name].mean(axis=0).max()) for name in self.gains if name != last)
        return lower(top - rest, ERROR / self.gains[last].shape[1], -2 * self.ends.span, 2 * self.ends.span) > 0

    @property
    def constant_sum(self) -> bool:
        """Whether what one agent gains the others lose, in all that was played."""
        total = np.concatenate([one.sum(axis=1) for one in self.returns.values()])
        apart = np.concatenate(list(self.returns.values()))
        return bool(apart.shape[1] > 1 and np.ptp(total) <= 1e-9 * max(np.ptp(apart), 1e-300) < np.ptp(apart))


#: A candidate's returns [plays, N], and the gains of responses from it [plays, responses].
Evidence: TypeAlias = tuple[FloatArray, FloatArray]


def is_better(one: Evidence, other: Evidence, *, span: float, settled: bool = True, error: float = ERROR) -> bool:
    """Return whether one candidate is shown to be better than another.

    It is if it is worth more to every agent and the largest gain is not shown to be larger, or if that gain is smaller,
    by responses that no longer gain with training. Differences are taken episode by episode, which share their draws;
    returns lie within a `span`.
    """
    (returns, gained), (returns_before, gained_before) = one, other
    worth_more = all(_is_positive(gain, error / 2, span) for gain in (returns - returns_before).T)
    if settled and _is_smaller(gained, gained_before, error / 2, span):
        return True
    return worth_more and not _is_smaller(gained_before, gained, error / 2, span)


def _is_smaller(gained: FloatArray, other: FloatArray, error: float, span: float) -> bool:
    """Return whether the largest gain is shown to be smaller. Gains are means of columns."""
    largest = other[:, other.mean(axis=0).argmax()]  # any column might have been it
    return all(_is_positive(largest - gain, error / other.shape[1], 2 * span) for gain in gained.T)


def _is_positive(samples: FloatArray, error: float, span: float) -> bool:
    """Return whether the mean of samples in [−span, span] is shown to be above 0."""
    return bool(np.any(samples)) and lower(samples, error, -span, span) > 0


def _is_mostly_positive(samples: FloatArray) -> bool:
    """Return whether the mean of samples and, by a sign test, most of them are above 0."""
    above, apart = (samples > 0).sum(), (samples != 0).sum()
    return bool(samples.mean() > 0 and bdtrc(above - 1, apart, 0.5) < ERROR)


def _measure(run: Run, table: PlayedReturns, training: Training, policies: Sequence[Any], seed: int, plays: int) -> Run:
    """Return the run with advice, and returns of its policy, random play and early training."""
    table.candidates = dict(zip(("policy", "random"), policies, strict=True))
    table.arenas = {name: arena_of(run.game, one) for name, one in table.candidates.items()}
    learned, random = (table.play(name, plays, seed=seed) for name in ("policy", "random"))
    samples = {"policy": learned, "random": random, "first tenth": training.early}
    means = {name: one.mean(axis=1, keepdims=True) for name, one in samples.items()}
    low, high = table.ends.range
    least, most = (float(end(np.concatenate([*means.values()]))) for end in (np.min, np.max))
    if not table.ends.known:  # as `Ends` takes it of each agent's returns, here of their means
        low, high = min(max(low, 2 * least - most), least), max(min(high, 2 * most - least), most)
    returns = {}
    for name, mean in means.items():
        ends = interval(np.clip(mean, low, high), 1 - ERROR, low, high)
        returns[name] = (float(mean.mean()), float(ends[0][0]), float(ends[1][0]))
    difference = (learned - random).mean(axis=1)
    words = [with_interval(*returns[name]) for name in returns]
    note = (
        f"mean return over agents {words[0]}, random play {words[1]}, first tenth of training {words[2]} "
        f"(95 %, {plays:,} fresh episodes each; {table.episodes:,} in all beyond training)"
    )
    advice: tuple[Advice, ...] = ()
    table.returns = {"policy": learned, "random": random}
    better = _is_positive(difference, ERROR, high - low) or _is_mostly_positive(difference)
    if not better and not table.constant_sum:
        verdict = "not better than random play"
        causes = find_causes(run, training, returns)
        if least == most:
            causes = [
                f"every episode paid {least:g}, so there was nothing to learn from; if other returns exist, they are "
                "too rare to be met: play more episodes, or reward what leads to them"
            ]
        elif difference.mean() > 0:
            verdict = "not shown to be better than random play"
            few = f"{plays} fresh episodes are few; tacit.evaluate(env, run.policy, episodes=1_000) plays more"
            causes = [few, *causes]
        elif not difference.any() and _is_greedy(policies[0]):
            causes = ["each episode paid what random play was paid, so actions seem to change nothing", *causes]
        note += f": {verdict}"
        advice = tuple(Advice("random", f"{verdict}: {cause}") for cause in causes or [_suggest(run)])
    elif table.constant_sum:
        note += ": what one agent gains the others lose, so look at gaps instead: tacit.exploit(env, run)"
    return replace(run, returns=returns, causes=advice, notes=(*run.notes, note))


def _is_greedy(policy: Any) -> bool:
    """Return whether a policy is known to prefer some actions."""
    return isinstance(policy, MarkovPolicy) and any(np.ptp(table, axis=-1).mean() > 0.1 for table in policy.probs)


def _suggest(run: Run) -> str:
    """Return what to try where no cause is known."""
    if getattr(run.last, "sees", False):
        return f"play more episodes, tacit.learn(env, {run.learner!r}, episodes={10 * run.episodes})"
    other = "'q-backward'" if run.learner == "pg-adaptive" else "'pg-adaptive', steps='shared'"
    return f"play more episodes, or try tacit.learn(env, {other}, episodes={run.episodes})"


def find_causes(run: Run, training: Training, returns: Mapping[str, tuple[float, float, float]]) -> list[str]:
    """Return why a run may have learned nothing, and what to do about it."""
    causes = []
    actions = max(run.game.actions)
    tried = training.steps / (training.states * actions)
    apart = training.steps / (max(training.cells, training.states) * actions)
    states = max(training.steps // (RARELY * actions), 2)
    if training.cells > training.states:
        shares = run.learner in REGISTRY and "steps" in REGISTRY.parameters(run.learner)
        again = f"{run.learner!r}, steps='shared'" if shares else "'q-backward'"
        causes.append(
            f"each step has a table of its own, in which an action was tried {_round(apart)} times in a state; "
            f"tacit.learn(env, {again}, episodes={run.episodes}) learns from all steps together: {_round(tried)} times"
        )
    if tried < RARELY:
        causes.append(
            f"an action was tried {_round(tried)} times in a state, too rarely for tables; play "
            f"{_round(run.episodes * RARELY / tried)} episodes, or "
            f"{suggest_encode(training.numbers, states, training.wrapper)}"
        )
    if float(np.mean(run.reward)) > returns["policy"][2]:
        others = [name for name in run.candidates if name != run.chosen]
        instead = f"try run.candidates[{others[0]!r}].policy" if others else "play more episodes"
        causes.append(f"the returned policy plays worse than training did; {instead}")
    return causes


def _round(value: float) -> str:
    """Return a number in words, to one digit.

    >>> _round(12_345), _round(0.31)
    ('10,000', '0.3')
    """
    return f"{float(f'{value:.1g}'):,g}"
