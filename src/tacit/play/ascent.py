"""Exact ascent: learners that follow exact gradients instead of playing."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tacit.evaluation import evaluate
from tacit.evaluation.gradient import policy_gradient
from tacit.games.tabular import TabularGame
from tacit.learners import World
from tacit.play.checkpoint import Checkpoint
from tacit.play.interrupts import Interrupts
from tacit.play.outputs import Iterates, MarkovOutput, exact_gaps
from tacit.play.progress import Progress, ended, tell
from tacit.play.run import Run
from tacit.play.windows import Windows
from tacit.policies import MarkovPolicy


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
            output.iterated(kept.policy)
            found = policy_gradient(game, kept.policy)
            windows.add((found.V[:, 0] @ game.initial)[None])
            kept.policy, mapping = spec.ascend(kept.policy, found, params["eta"])
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
