"""`tacit.learn`: agents that learn together, each alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.core import check
from tacit.core.errors import TacitError, brief
from tacit.games.gymnasium import from_gymnasium, has_table
from tacit.games.tabular import TabularGame, check_game
from tacit.learners import REGISTRY, Learner
from tacit.play.ascent import ascend
from tacit.play.checkpoint import Checkpoint
from tacit.play.environments import environment, is_environment, name_of
from tacit.play.interrupts import Interrupts
from tacit.play.meeting import learn_in
from tacit.play.observations import Encode
from tacit.play.outputs import CertifiedOutput, MarkovOutput, last_iterate
from tacit.play.progress import Progress, ended, tell
from tacit.play.run import Run
from tacit.play.session import Session, world_of
from tacit.play.solo import check_alone
from tacit.play.windows import Windows


def learn(
    game: TabularGame | Any,
    learner: str | Learner,
    *,
    episodes: int,
    seed: int = 0,
    certify: bool | None = None,
    keep: bool = True,
    points: int = 100,
    progress: Progress | None = None,
    checkpoint: Checkpoint | None = None,
    horizon: int | None = None,
    reward_range: tuple[float, float] | None = None,
    encode: Encode | None = None,
    **params: Any,
) -> Run:
    """Let all agents of a game learn, and certify the result.

    Parameters
    ----------
    game : TabularGame, or a PettingZoo `ParallelEnv`, or a Gymnasium environment
        With tables, agents learn in the compiled loop and the result is certified exactly. Without, each agent learns
        on its own from its own observations and rewards, and its own bound stands in for the certificate. Gymnasium
        environments that carry their transition table (FrozenLake, Taxi, CliffWalking) are games with tables.
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
    horizon : int, optional
        For environments: steps in an episode. If not given, what the environment states or what a few episodes show.
    reward_range : (low, high), optional
        For environments: where rewards lie. If not given, likewise; the bounds are then estimates.
    encode : callable, optional
        For environments: from an observation to something hashable, which is then the state that the agent sees.

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
    episodes = check.integer("episodes", episodes, least=1)
    seed = check.integer("seed", seed, least=0)
    points = check.integer("points", points, least=1)
    if progress is not None and not callable(progress):
        raise TacitError(f"progress is {brief(progress)}; it must be a function of (episodes done, episodes in all)")
    certify = None if certify is None else check.flag("certify", certify)
    check.flag("keep", keep)
    if encode is None and is_environment(game) and has_table(game):
        game, horizon = from_gymnasium(game, horizon=horizon), None
    name, spec = resolved(game, learner, params)
    if not isinstance(game, TabularGame) and is_environment(game):
        check_alone(spec, name)
        if certify:
            raise TacitError(f"{name_of(game)} has no tables, which the certificate needs; leave the certificate out")
        if checkpoint is not None:
            raise TacitError(f"{name_of(game)} cannot be stored on the way; leave the checkpoint out")
        if encode is not None and not callable(encode):
            raise TacitError(
                f"encode is {brief(encode)}; it must be a function from an observation to something hashable"
            )
        return learn_in(
            environment(game),
            name,
            spec,
            episodes=episodes,
            seed=seed,
            keep=keep,
            points=points,
            progress=progress,
            horizon=horizon,
            reward_range=reward_range,
            encode=encode,
        )
    check_game(game)
    given = {"horizon": horizon, "reward_range": reward_range, "encode": encode}
    for option in (key for key, value in given.items() if value is not None):
        raise TacitError(f"{option} is for environments without tables; {game!r} has its own")
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
            output.advanced()
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


def resolved(game: Any, learner: str | Learner, params: Mapping[str, Any]) -> tuple[str, Learner]:
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


def with_preset(game: Any, learner: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with those of the `preset` among them put in; what is given beside it goes first."""
    settings = dict(params)
    preset = settings.pop("preset", None)
    if preset is not None:
        check.choice("preset", preset, ["paper"])
        paper = getattr(game, "paper", {})
        known = paper.get(check.choice("learner", learner, REGISTRY))
        if known is None:
            raise TacitError(
                f"{brief(game)} has no paper settings for {learner}; it has them for: {', '.join(paper) or 'none'}"
            )
        settings = {**known, **settings}
    return settings
