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
from tacit.evaluation.gaps import check_game
from tacit.games.tabular import TabularGame
from tacit.learners import REGISTRY, Learner, theorem_iota
from tacit.play.observers import Record, certified_policy, record
from tacit.play.run import Gaps, Run
from tacit.play.session import Session, world_of
from tacit.policies import MarkovPolicy

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

    edges = np.unique(np.linspace(0, episodes, min(points, episodes) + 1).round().astype(int))[1:]
    tail_from = episodes - max(1, episodes // 10)
    tail, rows, done, interrupted = np.zeros(game.agents), [], 0, False
    try:
        for edge in edges:
            returns = session.advance(int(edge) - done)
            tail += returns[max(0, tail_from - done) :].sum(axis=0)
            done = int(edge)
            rows.append(_row(session, done, returns.mean(axis=0), cert))
            if progress is not None:
                progress(done, episodes)
    except KeyboardInterrupt:
        if not rows:
            raise
        interrupted = True
        warnings.warn(f"interrupted: the run holds {done} of {episodes} episodes", stacklevel=2)

    tail_episodes = max(1, done - tail_from) if done > tail_from else 0
    curve = _table(rows, game.agents)
    reward = tail / tail_episodes if tail_episodes else np.array([curve[f"reward_{i}"][-1] for i in range(game.agents)])
    return Run(
        game=game,
        learner=name,
        episodes=done,
        seed=seed,
        last=last_iterate(game, session.state),
        gaps=_gaps(session, spec, iota, seed, done, cert),
        values=None if cert is None else bound(game, cert).values,
        reward=reward,
        curve=curve,
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


def _row(session: Session, done: int, reward: FloatArray, cert: Certificate | None) -> list[float]:
    nan = np.full(session.game.agents, np.nan)
    if cert is not None:
        values, gaps = bound(session.game, cert)
    else:
        values, gaps = nan, own_bounds(session.game, session.state, done)
    return [done, reward[0], values[0], gaps.max(), *reward, *values, *gaps]


def _table(rows: list[list[float]], agents: int) -> Any:
    names = ["episode", "reward", "value", "gap"]
    names += [f"{what}_{i}" for what in ("reward", "value", "gap") for i in range(agents)]
    return np.array([tuple(row) for row in rows], dtype=[(key, "i8" if key == "episode" else "f8") for key in names])


def _gaps(session: Session, spec: Learner, iota: float, seed: int, done: int, cert: Certificate | None) -> Gaps:
    game = session.game
    if cert is None:
        return Gaps(spec.equilibrium, own_bounds(game, session.state, done), "model-free")

    def replay() -> FloatArray:
        fixed = certificate(game, spec.equilibrium, choice=fixed_deviation(game, cert))
        Session(game, spec, iota, seed=seed, certificate=fixed).advance(done)
        return bound(game, fixed).gaps

    return Gaps(spec.equilibrium, np.maximum(bound(game, cert).gaps, 0.0), "certificate", replay)


__all__ = ["CERTIFY_JOINT_ACTIONS", "Record", "learn"]
