"""`tacit.learn`: agents that learn together, each alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.evaluation import evaluate, policy_values
from tacit.games.tabular import TabularGame, check_game
from tacit.learners import REGISTRY, Learner, World
from tacit.play.checkpoint import Checkpoint
from tacit.play.interrupts import Interrupts
from tacit.play.outputs import CertifiedOutput, Iterates, MarkovOutput, exact_gaps, last_iterate
from tacit.play.run import Run
from tacit.play.session import Session, world_of
from tacit.play.windows import Windows
from tacit.policies import MarkovPolicy

Progress = Callable[[int, int], None]


def learn(
    game: TabularGame,
    learner: str | Learner,
    *,
    episodes: int,
    seed: int = 0,
    certify: bool | None = None,
    keep: bool = True,
    points: int = 100,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame
    learner : str or learner object
        A name from `tacit learners` with its keyword parameters in `params`, or e.g.
        `tacit.StageV(bandit="tsallis-inf")`.
        `preset="paper"` takes the settings that the paper used on this game; others given beside it go first.
    episodes : int
        Episodes to play; for learners with exact gradients, iterations.
    seed : int
        Everything random comes from it.
    certify : bool, optional
        Keep the exact certificate, or measure exact gaps while learning. If not given, that is done for games of at
        most 1024 joint actions. It never changes a draw.
    keep : bool
        Keep the record that the certified policy is made of.
    points : int
        Rows of the curve.
    progress : callable, optional
        Called with (episodes done, episodes in all) now and then.
    checkpoint : Checkpoint, optional
        Where to keep the state of the run, and to go on from if it is there. It never changes a result.

    Returns
    -------
    Run
        Interrupted by Ctrl-C, the run holds what was done until then, and says so.

    Examples
    --------
    >>> import tacit
    >>> run = tacit.learn(tacit.make("matching-pennies"), "stage-v-cce", episodes=2000, bonus=0.1)
    >>> run.gaps.kind, bool(run.gap < 0.2)
    ('cce', True)
    """
    check_game(game)
    episodes = check.integer("episodes", episodes, least=1)
    seed = check.integer("seed", seed, least=0)
    points = check.integer("points", points, least=1)
    if progress is not None and not callable(progress):
        raise TacitError(f"progress is {brief(progress)}; it must be a function of (episodes done, episodes in all)")
    name, spec = resolved(game, learner, params)
    certify = None if certify is None else check.flag("certify", certify)
    check.flag("keep", keep)
    world = world_of(game, spec, episodes=episodes, seed=seed)
    windows = Windows(episodes, points, game.agents)
    if spec.output == "exact":
        return ascend(
            game, name, spec, world, windows, seed=seed, certify=certify, progress=progress, checkpoint=checkpoint
        )

    output: CertifiedOutput | MarkovOutput
    if spec.output == "markov":
        output = MarkovOutput(game, episodes=episodes, certify=certify, seed=seed)
    else:
        output = CertifiedOutput(game, spec, episodes=episodes, certify=certify, keep=keep)
    session = Session(game, spec, world, seed=seed, certificate=output.certificate, record=output.record)
    if checkpoint is not None:
        checkpoint.resume({"session": session, "windows": windows, "output": output}, session.state)
    with Interrupts() as interrupts:
        while windows.done < episodes and not interrupts.pending:
            chunk = windows.next_chunk(session.chunk)
            pause = output.pause(windows.done)
            if pause == windows.done:
                output.paused(session)
            elif pause is not None:
                chunk = min(chunk, pause - windows.done)
            windows.add(session.advance(chunk))
            if windows.full:
                windows.close(output.measures(session, windows.done))
            tell(progress, windows.done, episodes, interrupts)
            if checkpoint is not None:
                checkpoint.offer()
    done = ended(windows, episodes)
    if checkpoint is not None and done < episodes:
        checkpoint.save()
    if windows.open:
        windows.close(output.measures(session, done))

    result = output.result(session, done, world, seed)
    return Run(
        game=game,
        learner=name,
        episodes=done,
        seed=seed,
        last=last_iterate(game, session.state),
        gaps=result.gaps,
        values=result.values,
        reward=windows.last_tenth(),
        curve=windows.table(),
        params=dict(spec.params(world)),
        seconds=session.seconds,
        interrupted=done < episodes,
        sampled=result.sampled,
        _policy=result.policy,
    )


def tell(progress: Progress | None, done: int, episodes: int, interrupts: Interrupts) -> None:
    """Report progress; whoever watches may interrupt."""
    if progress is not None:
        try:
            progress(done, episodes)
        except KeyboardInterrupt:
            interrupts.pending = True


def ended(windows: Windows, episodes: int) -> int:
    """Return how many episodes were done; warn where they are not all, and interrupt where there are none."""
    if windows.done == 0:
        raise KeyboardInterrupt
    if windows.done < episodes:
        warnings.warn(f"interrupted: the run holds {windows.done} of {episodes} episodes", stacklevel=3)
    return windows.done


def ascend(
    game: TabularGame,
    name: str,
    spec: Any,
    world: World,
    windows: Windows,
    *,
    seed: int,
    certify: bool | None,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
) -> Run:
    """Run a learner of exact gradients: an episode is an iteration, and its reward the exact value.

    It ends early where the learner's tolerances are met. The policy is the best iterate that was measured, by its gap.
    """
    episodes = windows.last_edge
    output = MarkovOutput(game, episodes=episodes, certify=True if certify is None else certify, seed=seed)
    params = dict(spec.params(world))
    policy = MarkovPolicy(world.start) if world.start else MarkovPolicy.uniform(game)
    kept, met = Iterates(policy, policy, policy), False
    sampled_at = output.pause(0)
    if checkpoint is not None:
        checkpoint.resume({"iterates": kept, "windows": windows, "output": output})
    began = time.perf_counter() - kept.seconds
    with Interrupts() as interrupts:
        while windows.done < episodes and not interrupts.pending and not met:
            if windows.done == sampled_at:
                kept.sampled = kept.policy
            values = policy_values(game, kept.policy).initial
            kept.policy, mapping = spec.ascend(game, kept.policy, params["eta"])
            windows.add(values[None])
            gap = evaluate(game, kept.policy).gap if spec.tolerance > 0 else np.inf
            met = gap <= spec.tolerance or mapping <= spec.mapping_tolerance
            if windows.full or met:
                measures = output.measured(kept.policy)
                gap = float(np.max(measures["gap"]))
                windows.close(measures)
            if gap < kept.best_gap:
                kept.best, kept.best_gap = kept.policy, gap
            tell(progress, windows.done, episodes, interrupts)
            kept.seconds = time.perf_counter() - began
            if checkpoint is not None and not met:
                checkpoint.offer()
    done = windows.done if met else ended(windows, episodes)
    if checkpoint is not None and done < episodes and not met:
        checkpoint.save()
    if windows.open:
        measures = output.measured(kept.policy)
        if float(np.max(measures["gap"])) < kept.best_gap:
            kept.best = kept.policy
        windows.close(measures)
    gaps, exact = exact_gaps(game, kept.best, certify is not False)
    return Run(
        game=game,
        learner=name,
        episodes=done,
        seed=seed,
        last=kept.policy,
        gaps=gaps,
        values=exact,
        reward=windows.last_tenth(),
        curve=windows.table(),
        params=params,
        seconds=kept.seconds,
        interrupted=done < episodes and not met,
        sampled=kept.sampled,
        _policy=kept.best,
    )


def resolved(game: TabularGame, learner: str | Learner, params: Mapping[str, Any]) -> tuple[str, Learner]:
    """Return a learner's name and its description with parameters."""
    if not isinstance(learner, str):
        if isinstance(learner, type) or not all(hasattr(learner, key) for key in ("equilibrium", "output", "params")):
            raise TacitError(
                f"learner is {brief(learner)}; it must be a name ({', '.join(REGISTRY)}) or a learner object"
            )
        if params:
            raise TacitError(f"a learner object has its parameters already; leave out {', '.join(params)}")
        return repr(learner), learner
    return learner, REGISTRY.make(learner, **with_preset(game, learner, params))


def with_preset(game: TabularGame, learner: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those of the `preset` among them put in; what is given beside it goes first."""
    settings = dict(params)
    preset = settings.pop("preset", None)
    if preset is not None:
        check.choice("preset", preset, ["paper"])
        known = game.paper.get(check.choice("learner", learner, REGISTRY))
        if known is None:
            raise TacitError(
                f"{game!r} has no paper settings for {learner}; it has them for: {', '.join(game.paper) or 'none'}"
            )
        settings = {**known, **settings}
    return settings
