"""`tacit.learn`: agents that learn together, each alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.core.generics import weigh
from tacit.core.types import FloatArray
from tacit.evaluation.certificate import Certificate, bound, certificate, fixed_deviation
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY, Learner, theorem_iota
from tacit.play.interrupts import Interrupts
from tacit.play.observers import certified_policy, record
from tacit.play.run import Gaps, Run
from tacit.play.session import Session, world_of
from tacit.play.windows import Windows
from tacit.policies import MarkovPolicy
from tacit.policies.markov import check_game

#: Up to this many joint actions the certificate is kept unless it is declined; above, only on request: its cost grows
#: with their number.
CERTIFY_JOINT_ACTIONS = 1024

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
    seed : int
        Everything random comes from it.
    certify : bool, optional
        Keep the exact certificate. If not given, it is kept for games of at most 1024 joint actions. It never changes
        a draw.
    keep : bool
        Keep the record that the certified policy is made of.
    points : int
        Rows of the curve.
    progress : callable, optional
        Called with (episodes done, episodes in all) now and then.

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
    name, spec = resolved(game, learner, params)
    iota = iota_of(game, spec, episodes)
    wanted = game.joint_actions <= CERTIFY_JOINT_ACTIONS if certify is None else check.flag("certify", certify)
    kept = record(game, episodes) if check.flag("keep", keep) else None
    cert = certificate(game, spec.equilibrium) if wanted else None
    session = Session(game, spec, iota, seed=seed, certificate=cert, record=kept)

    windows = Windows(episodes, points, game.agents)
    with Interrupts() as interrupts:
        while windows.done < episodes and not interrupts.pending:
            windows.add(session.advance(windows.next_chunk(session.chunk)))
            if windows.full:
                windows.close(_measures(session, windows.done, cert))
            if progress is not None:
                try:
                    progress(windows.done, episodes)
                except KeyboardInterrupt:
                    interrupts.pending = True
    done = windows.done
    if done == 0:
        raise KeyboardInterrupt
    interrupted = done < episodes
    if interrupted:
        warnings.warn(f"interrupted: the run holds {done} of {episodes} episodes", stacklevel=2)
        if windows.open:
            windows.close(_measures(session, done, cert))
    return Run(
        game=game,
        learner=name,
        episodes=done,
        seed=seed,
        last=last_iterate(game, session.state),
        gaps=_gaps(session, spec, iota, seed, done, cert),
        values=None if cert is None else bound(game, cert).values,
        reward=windows.last_tenth(),
        curve=windows.table(),
        params=dict(spec.params(world_of(game, iota))),
        seconds=session.seconds,
        interrupted=interrupted,
        _policy=None if kept is None else certified_policy(game, kept, spec.output),
    )


def resolved(game: TabularGame, learner: str | Learner, params: Mapping[str, Any]) -> tuple[str, Learner]:
    """Return a learner's name and its description with parameters."""
    if not isinstance(learner, str):
        if not all(hasattr(learner, key) for key in ("equilibrium", "output", "init")):
            raise TacitError(
                f"learner is {brief(learner)}; it must be a name ({', '.join(REGISTRY)}) or a learner object"
            )
        if params:
            raise TacitError(f"a learner object has its parameters already; leave out {', '.join(params)}")
        return repr(learner), learner
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
    return learner, REGISTRY.make(learner, **settings)


def iota_of(game: TabularGame, spec: Learner, episodes: int) -> float:
    """Return ι as given, or as the theorem has it for the whole run."""
    if spec.iota is not None:
        return float(spec.iota)
    return theorem_iota(
        agents=game.agents,
        states=game.states,
        actions=max(game.actions),
        episodes=episodes,
        horizon=game.horizon,
        confidence=spec.confidence,
    )


def last_iterate(game: TabularGame, state: Any) -> MarkovPolicy:
    """Return the agents' current distributions at every step and state."""
    probs = [np.zeros((game.horizon, game.states, a)) for a in game.actions]
    for i, own in enumerate(probs):
        for h in range(game.horizon):
            for s in range(game.states):
                weigh(state, i, h, s, own[h, s])
        own /= own.sum(axis=2, keepdims=True)
    return MarkovPolicy(probs)


def own_bounds(game: TabularGame, state: Any, episodes: int) -> FloatArray:
    """Return each agent's own bound on its gap, (1/K)·Σ_k (V̄_1 − V̲_1)(s_1^k), in the game's units."""
    low, high = game.reward_range
    found: FloatArray = state.bound_sum / episodes * (high - low)
    return found


def _measures(session: Session, done: int, cert: Certificate | None) -> tuple[FloatArray, FloatArray]:
    """Return the policy's values [N], where they are known, and the bounds on the gaps [N]."""
    if cert is not None:
        values, gaps = bound(session.game, cert)
        return values, np.maximum(gaps, 0.0)
    return np.full(session.game.agents, np.nan), own_bounds(session.game, session.state, done)


def _gaps(session: Session, spec: Learner, iota: float, seed: int, done: int, cert: Certificate | None) -> Gaps:
    game = session.game
    if cert is None:
        return Gaps(spec.equilibrium, own_bounds(game, session.state, done), "model-free")

    def replay() -> FloatArray:
        fixed = certificate(game, spec.equilibrium, choice=fixed_deviation(game, cert))
        Session(game, spec, iota, seed=seed, certificate=fixed).advance(done)
        return bound(game, fixed).gaps

    upper = np.maximum(bound(game, cert).gaps, 0.0)
    return Gaps(spec.equilibrium, upper, "certificate", replay)
