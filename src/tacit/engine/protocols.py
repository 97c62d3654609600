"""The two parts of a run that vary: the engine, which plays, and the output, which measures and answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from tacit.core.types import FloatArray
from tacit.engine.checkpoint import Arrays, Part, check_names
from tacit.engine.curve import Measures
from tacit.engine.observers import Nothing
from tacit.engine.run import Candidate, Gaps
from tacit.games.protocol import Game
from tacit.learners import Learner, World
from tacit.policies import MarkovPolicy


class Engine(Part, Protocol):
    """Plays episodes, or takes exact steps, and lets agents learn.

    Attributes
    ----------
    game : Game
    learner : Learner
    world : World
        What the agents know.
    seconds : float
        Time spent learning, compilation left out.
    chunk : int
        Episodes that are best played at once.
    finished : bool
        Whether the learner has nothing left to do.
    gap : float
        The exact gap of the current policies where the engine computes it anyway.
    common_state : bool
        Whether all agents saw the same state at every step, which certified policies ask for.
    structs : tuple
        The states that kernels work on; the code that defines them takes part in the run.
    record : NamedTuple
        The output's record of the loop; the output may put a larger one here between chunks.
    state : NamedTuple
        The learner's state, where it plays with kernels.
    notes, warnings : tuple of str
        What was found during the run, and which of it needs attention.
    told : tuple of str
        Those of the notes that were told before the run began.
    failure : Exception or None
        What an environment did that ends the run; the episodes before it are whole.
    full : str
        Why memory ends the run; "" as long as it does not.

    Examples
    --------
    >>> from tacit.kernels import Engine
    >>> hasattr(Engine, "advance")
    True
    """

    game: Game
    learner: Learner
    world: World
    seconds: float
    chunk: int
    finished: bool = False
    gap: float = math.inf
    common_state: bool = True
    structs: tuple[object, ...] = ()
    record: Any = Nothing()
    state: Any = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    failure: Exception | None = None
    full: str = ""

    def advance(self, episodes: int) -> FloatArray:
        """Play at most so many episodes, and as many as fit into a fraction of a second; return [episodes, N]."""

    def distributions(self, *, recent: bool = False) -> list[FloatArray]:
        """Return what each agent answers with, [H, S, A_i]: the last iterate, or the average of recent ones."""

    def policy(self, distributions: list[FloatArray]) -> MarkovPolicy:
        """Return what `distributions` returned, now or earlier, as a policy of the game."""
        return MarkovPolicy(distributions)

    def own_bounds(self, kind: str, done: int) -> Gaps:
        """Return what the agents themselves know of their gaps after `done` episodes."""
        return Gaps.unknown(kind, self.game.agents)

    def model_bounds(self, policy: MarkovPolicy) -> Gaps:
        """Return what a model that the agents share says of a policy's gaps, where they have one."""
        kind, found = self.learner.equilibrium, None
        low, high = self.game.reward_range
        if self.structs:
            found = self.learner.bound_gaps(
                self.structs[0], policy, reward_range=(low, high), states=self.game.states, noisy=False
            )
        if found is None:
            return Gaps.unknown(kind, self.game.agents)
        return Gaps(kind, found, "model", most=self.game.horizon * (high - low))

    def separate(self, rule: str) -> dict[str, Any]:
        """Return the mixtures "average" and "recent" where agents saw different things, each on what it saw itself."""
        return {}

    def view(self, learner: Learner, pick: Callable[[Any], Any]) -> Engine:
        """Return this engine as one of its learner's members sees it; `pick` takes its part of a state and a record."""
        return self


@dataclass(frozen=True)
class Result:
    """What a run answers with: the last iterate, the candidates, the one chosen, and an iterate drawn evenly.

    Attributes
    ----------
    last : MarkovPolicy
    candidates : dict of Candidate
    chosen : str
    sampled : MarkovPolicy or None

    Examples
    --------
    >>> import tacit
    >>> from tacit.kernels import Result
    >>> policy = tacit.MarkovPolicy.deterministic([[[0]]], [2])
    >>> Result(policy, {}, "last").sampled is None
    True
    """

    last: MarkovPolicy
    candidates: dict[str, Candidate]
    chosen: str
    sampled: MarkovPolicy | None = None


class Output(Part, Protocol):
    """What a run yields besides rewards, and how good that is; it is made with `game`, `learner` and `options`.

    Attributes
    ----------
    record, certificate : NamedTuple
        What watches the loop through `observe` of `tacit.kernels`; `Nothing` by default.
    notes : tuple of str
        What is worth knowing before the run begins: what measuring costs.
    certifies : bool
        Whether the gaps that it measures are exact, or bounds that the game's tables prove: only those end a run that
        is to stop at a gap.
    interrupted : bool
        Set when Ctrl-C has ended the run: what would take long to measure is left out from then on.

    Examples
    --------
    >>> from tacit.kernels import Output
    >>> [name for name in ("result", "look", "measure") if hasattr(Output, name)]
    ['result', 'look', 'measure']
    """

    record: Any = Nothing()
    certificate: Any = Nothing()
    notes: tuple[str, ...] = ()
    certifies: bool = False
    interrupted: bool = False

    def look(self, engine: Engine, done: int) -> int | None:
        """See the engine between chunks; return the episode before which it must be seen again, if there is one.

        Returning `done` itself ends the run for lack of memory.
        """

    def measure(self, engine: Engine, done: int) -> Measures:
        """Return `value` [N], `gap` [N] and whatever else the curve is to have."""

    def result(self, engine: Engine, done: int) -> Result:
        """Return the candidates."""

    def snapshot(self) -> Arrays:
        """Return everything that has changed since the output was made; what watches the loop is the engine's."""
        return {}

    def check(self, arrays: Arrays, done: int) -> None:
        """Raise unless a snapshot can be of this output after that many episodes; change nothing."""
        check_names(arrays, set())

    def restore(self, arrays: Arrays) -> None:
        """Resume from a snapshot that was checked."""
        return
