"""The check of a learner: the loop compiled and interpreted, agents on their own, and what each of them may see."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.core import check, generics
from tacit.core.errors import TacitError, brief
from tacit.engine import outputs
from tacit.evaluation.gradient import policy_gradient
from tacit.games import make
from tacit.games.exact import ExactGame, is_exact
from tacit.games.protocol import Game, check_sizes
from tacit.learners.line_search import theory_step
from tacit.learners.mixed import Mixed
from tacit.learners.spec import Learner, World, world_of
from tacit.learners.teams import resolve
from tacit.policies import MarkovPolicy
from tacit.testing.agents import check_alone, check_growth, check_own_records
from tacit.testing.loops import SEED, check_checkpoint, check_weights, play_both_ways
from tacit.testing.states import check_shapes, require_same_states
from tacit.testing.violation import Violation, require, require_kernels


def check_learner(
    learner: Learner | str, game: Game | None = None, *, episodes: int = 60, tolerance: float = 0.0
) -> None:
    """Check a learner, by playing a game: three agents of different sizes unless one is given.

    Its words and parameters are what the engine and files can take. The compiled loop, the interpreted loop and agents
    on their own give the same bits, or the first two what differs by a stated tolerance at most. `weigh` writes
    distributions, and `act` draws from them, or evenly with the probability `explores` (the check raises with a
    probability of 1e-9 though nothing is wrong; the seed is fixed). An agent does the same whatever is in the others'
    records and whatever they are paid, and its kernels touch its own only. Kernels allocate nothing. An agent that
    grows to more states behaves as before, and so does a run resumed from a checkpoint.

    Learners that follow exact gradients are checked for that instead; central ones have no agents on their own; of
    those without kernels, words and parameters are all there is to check.

    Parameters
    ----------
    learner : learner object or name
    game : a game, optional
    episodes : int
    tolerance : float
        How much compiled and interpreted kernels may differ, absolutely and relatively. 0 asks for the same bits, which
        +, −, ·, /, square roots and `exp`, `log` and `pow` of `tacit.kernels` give on every machine. State 1e-9 for
        kernels that call other functions, such as np.tanh: their last digits differ from processor to processor.

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> from tacit.testing import check_learner
    >>> check_learner("pg-exact")
    """
    check.integer("episodes", episodes)
    _, spec = resolve(learner, {})
    name = learner if isinstance(learner, str) else type(spec).__name__
    table = (
        make("random-general-sum", agents=3, actions=[2, 3, 2], states=3, horizon=3, seed=4) if game is None else game
    )
    try:
        check_sizes(table)
    except TacitError as error:
        raise Violation(str(error)) from error
    world = world_of(spec, table, episodes=episodes, seed=SEED)
    _check_words(name, spec, world)
    if spec.exact:
        if not is_exact(table):
            raise Violation(f"{name} follows exact gradients; check it on a game with tables")
        _check_exact(name, spec, world, table)
        return
    if spec.interpreted:
        return
    _check_state(name, spec, world)
    engine, returns = play_both_ways(name, spec, table, episodes, tolerance)
    check_weights(name, engine)
    if not spec.central:
        check_alone(name, spec, table, engine, returns)
        for i in range(table.agents):
            if not isinstance(spec, Mixed):  # whose agents share no array
                check_own_records(name, engine, i)
            if not world.start:
                check_growth(name, spec.seat(i), table, world, i)
    check_checkpoint(name, spec, table, engine, returns)


def _check_words(name: str, spec: Learner, world: World) -> None:
    for word, known in (
        ("equilibrium", ("nash", "cce", "ce")),
        ("output", tuple(outputs.REGISTRY)),
        ("rule", ("stage", "rate")),
    ):
        found = getattr(spec, word)
        require(found in known, f"{word} of {name} is {brief(found)}; it must be one of {', '.join(known)}")
    for word in ("exact", "interpreted", "central", "informed", "guaranteed"):
        found = getattr(spec, word)
        require(isinstance(found, bool), f"{word} of {name} is {brief(found)}; it must be True or False")
    for key, value in spec.params(world).items():
        plain = isinstance(value, bool | int | float | str | None)
        nested = isinstance(spec, Mixed) and isinstance(value, Mapping)
        require(
            isinstance(key, str) and (plain or nested),
            f"params of {name} has {key!r}: {brief(value)}; files take plain values only",
        )


def _check_exact(name: str, spec: Learner, world: World, game: ExactGame) -> None:
    policy, eta = MarkovPolicy.uniform(game), spec.params(world)["eta"]
    eta = theory_step(world) if eta == "auto" else check.real(f"eta of {name}", eta)
    for _ in range(5):
        policy, moved = spec.ascend(policy, policy_gradient(game, policy), eta)
        require(
            isinstance(policy, MarkovPolicy), f"ascend of {name} returned {brief(policy)}; it must be a MarkovPolicy"
        )
        require(moved >= 0, f"ascend of {name} says that it moved by {moved}")
    policy.check_fits(game)


def _check_state(name: str, spec: Learner, world: World) -> None:
    state = spec.init(world)
    certified = [generics.pace] if spec.output == "certified" else []
    require_kernels(state, [generics.act, generics.learn, generics.weigh, *certified], f"what init of {name} returns")
    if not spec.central and not isinstance(spec, Mixed):
        check_shapes(name, state, world.agents, world.horizon, world.states)
    sums = spec.bound_sum(state)
    require(sums is None or sums.shape == (world.agents,), f"bound_sum of {name} must be one number for each agent")
    require_same_states(state, spec.init(world), f"init of {name} does not make the same state twice")
