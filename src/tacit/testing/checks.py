"""The checks of bandits, games and policies, and what all checks share. Those of learners are in `learners.py`."""

from __future__ import annotations

import math
import pickle
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import errors

from tacit import policies
from tacit.bandits.spec import Bandit, Setting, is_bandit
from tacit.core import check, generics
from tacit.core.compilation import compile_loop
from tacit.core.errors import TacitError, brief, one_line
from tacit.core.records import Array, arrays, columns, parts
from tacit.core.types import FloatArray, IntArray
from tacit.games.kernels import in_words
from tacit.games.protocol import Game, check_sizes
from tacit.games.tabular import as_tables

#: Probability that a comparison of frequencies raises though nothing is wrong, for each call of a check; seeds are
#: fixed, so it is met once or never.
FALSE_ALARM = 1e-9

#: What differs by no more is called rounding, and what a kernel should do about it.
ROUNDING = 1e-9
LAST_DIGITS = (
    "the last digits differ, as those of np.exp, np.log and np.power do from processor to processor; use exp, log and "
    "pow of tacit.kernels (square roots are the same everywhere), or state a tolerance, such as 1e-9"
)


class Violation(TacitError, AssertionError):
    """Something does not do what its protocol asks; told in one sentence.

    Parameters
    ----------
    sentence : object

    Examples
    --------
    >>> from tacit.testing import Violation, check_bandit
    >>> try:
    ...     check_bandit("exp3")
    ... except Violation as error:
    ...     print(type(error).__name__)
    Violation
    """


def require(condition: bool | np.bool_, sentence: str) -> None:
    """Raise unless what was checked holds."""
    if not condition:
        raise Violation(sentence)


def require_kernels(state: Any, functions: Iterable[Any], what: str) -> None:
    """Raise unless a struct is a NamedTuple for which all of these kernels are implemented."""
    kind = type(state)
    require(hasattr(state, "_fields"), f"{what} is a {kind.__name__}; it must be a NamedTuple")
    missing = [function.__name__ for function in functions if not function.known(kind)]
    require(not missing, f"{' and '.join(missing)} of tacit.kernels is not implemented for {kind.__name__}")


def both_ways(function: Callable[..., Any], what: str, *structs: object) -> tuple[Callable[..., Any], ...]:
    """Return a function compiled and as it stands. Compiled, it tells in one sentence why it does not compile."""
    fast = compile_loop(function, *structs)

    def run_guarded(*args: Any) -> Any:
        try:
            return fast(*args)
        except errors.NumbaError as error:
            raise Violation(f"{what}: {_reason(str(error))}") from error

    return run_guarded, function


def _reason(text: str) -> str:
    """Return where a kernel does not compile, and why, from a compiler's long message."""
    matches = re.findall(r'File "([^"]+)", line (\d+)|at (\S+\.py) \((\d+)\)', text)
    places = [(one or other, line or number) for one, line, other, number in matches]
    where = next((f"{Path(file).name}:{line} " for file, line in places if "site-packages" not in file), "a kernel ")
    innermost = text.rsplit("Failed in nopython mode pipeline", 1)[-1].split("\n", 1)[-1]
    return f"{where}does not compile: {in_words(innermost)}"


def require_same(one: Any, other: Any, sentence: str, tolerance: float | None = None) -> None:
    """Raise unless two arrays have the same bits, or agree to a stated tolerance.

    With a tolerance, of 0 too, they are of compiled and interpreted kernels: the sentence says if last digits differ.
    """
    one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
    same = one.shape == other.shape
    require(same and (tolerance is not None or one.tobytes() == other.tobytes()), sentence)
    if tolerance is None:
        return
    one, other = one.ravel(), other.ravel()
    differ = (one.view(np.uint8) != other.view(np.uint8)).reshape(len(one), one.dtype.itemsize).any(axis=1)
    if not differ.any() or (tolerance > 0 and np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True)):
        return
    k = int(np.argmax(differ))  # later ones may follow from the first
    nearly = np.isclose(one[k], other[k], rtol=ROUNDING, atol=ROUNDING)
    raise Violation(f"{sentence}: {LAST_DIGITS}" if nearly else sentence)


def require_distribution(probs: FloatArray, what: str) -> None:
    """Raise unless these are probabilities that sum to 1."""
    if not (probs >= 0).all() or not abs(float(probs.sum()) - 1.0) < 1e-9:
        shown = one_line(np.array2string(probs, precision=6, threshold=8))
        raise Violation(f"{what} is {shown}, with the sum {float(probs.sum()):.12g}; it must be a distribution")


def require_frequencies(counts: IntArray, probs: FloatArray, what: str, *, comparisons: int) -> None:
    """Raise where counts differ from probabilities by more than chance.

    By Bernstein's inequality the share of n draws is further from p than √(2·p·(1−p)·L/n) + L/(3·n) with probability
    2·exp(−L) at most; L makes that FALSE_ALARM for all comparisons and all outcomes together.
    """
    n = int(counts.sum())
    log = math.log(2 * comparisons * len(probs) / FALSE_ALARM)
    allowed = np.sqrt(2 * probs * (1 - probs) * log / n) + log / (3 * n)
    wrong = (np.abs(counts / n - probs) > allowed) | ((probs == 0) & (counts > 0))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise Violation(f"{what}: {k} was drawn {counts[k]} times of {n}, and its probability is {probs[k]:.6g}")


def copy(state: Any) -> Any:
    """Return a state with arrays of its own. Those that cannot be written to are shared."""
    if isinstance(state, np.ndarray):
        return state.copy() if state.flags.writeable else state
    if not isinstance(state, tuple):
        return state
    copies = [copy(part) for part in state]
    return type(state)(*copies) if hasattr(state, "_fields") else tuple(copies)


def numbers(state: Any) -> Iterator[tuple[str, Array]]:
    """Yield what a state remembers, field by field, with their paths."""
    for path, array in parts(state):
        yield from columns(array, path)


def require_same_states(one: Any, other: Any, sentence: str, tolerance: float | None = None) -> None:
    """Raise unless two states remember the same. The sentence goes on with the first field that differs."""
    for (path, left), (_, right) in zip(numbers(one), numbers(other), strict=True):
        require_same(left, right, f"{sentence}; {path} differs", tolerance)


def scramble(state: Any, i: int, rng: np.random.Generator) -> None:
    """Overwrite with noise all that does not belong to agent i."""
    for _, array in arrays(state):
        if array.dtype.names is None:
            if array.flags.writeable:
                _fill(array, rng)
            continue
        others = np.arange(array.shape[-1]) != i
        noise = array[..., others]
        for _, column in columns(noise):
            _fill(column, rng)
        array[..., others] = noise


def _fill(array: Array, rng: np.random.Generator) -> None:
    array[...] = (rng.random(array.shape) * 3 + 1).astype(array.dtype)


def own_records(state: Any, i: int, actions: int) -> dict[str, Array]:
    """Return what a state remembers of agent i alone, field by field.

    What a record holds for each action is cut to those that the agent has: there is room for more.
    """
    numbers_by_path = {}
    for path, array in parts(state):
        records = array[..., i : i + 1]
        for name, column in columns(records, path):
            cut: Any = (..., *(slice(actions),) * (column.ndim - records.ndim))
            numbers_by_path[name] = column[cut]
    return numbers_by_path


def require_same_records(
    one: tuple[Any, int], other: tuple[Any, int], actions: int, sentence: str, of: str = ""
) -> None:
    """Raise unless two pairs of state and agent hold the same bits of that agent."""
    left, right = own_records(*one, actions), own_records(*other, actions)
    for path, array in left.items():
        require_same(array, right[path], f"{sentence}; {path}{of} differs")


def check_shapes(name: str, state: Any, agents: int, steps: int, states: int) -> None:
    """Raise unless the records of a state are [agents], [steps, agents] or [steps, states, agents]."""
    for path, array in parts(state):
        fitting = [(agents,), *(shape for h in (1, steps, steps + 1) for shape in ((h, agents), (h, states, agents)))]
        require(
            array.shape in fitting,
            f"{path} of {name} has the shape {array.shape} for {agents} agents, {steps} steps and {states} states; "
            f"records are [agents], [steps, agents] or [steps, states, agents], with steps, one more, or one for all",
        )


# bandits --------------------------------------------------------------------------------------------------------------

#: What the bandit is tried on: agents of different sizes, some cells each, and rounds of random losses.
ACTIONS, CELLS, ROUNDS, BANDIT_DRAWS, LONG = (3, 2, 4), 3, 300, 5000, 6000
KERNELS = (generics.draw, generics.prob, generics.probs, generics.update, generics.restart)


def check_bandit(bandit: Bandit, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Check a bandit.

    It says which regret it keeps small. After every round `probs` writes a distribution, `prob` returns its entries
    and `draw` draws from it (with a probability of 1e-9 of raising though nothing is wrong; the seed is fixed), and
    none of the three changes the cell. `update` remembers nothing outside the cell. After `restart` a cell is as good
    as new. Compiled and interpreted kernels agree bit for bit, or to a stated tolerance, and allocate nothing.

    Parameters
    ----------
    bandit : Bandit
    seed : int
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
    >>> import tacit
    >>> from tacit.testing import check_bandit
    >>> check_bandit(tacit.bandits.TsallisINF())
    """
    name, seed = type(bandit).__name__, check.integer("seed", seed)
    require(is_bandit(bandit), f"{brief(bandit)} is not a bandit; it must have regret and init")
    said = f"regret of {name} must be 'external' or 'swap'; got"
    require(bandit.regret in ("external", "swap"), f"{said} {brief(getattr(bandit, 'regret', None))}")
    for setting in _settings(bandit):
        params, cells = bandit.make(setting, CELLS)
        require_kernels(params, KERNELS, f"what init of {name} returns")
        again, others = bandit.make(setting, CELLS)
        require_same_states((params, cells), (again, others), f"init of {name} does not make the same cells twice")
        _check_rounds(bandit, setting, np.random.default_rng(seed))
        _check_both_ways(bandit, setting, np.random.default_rng(seed), tolerance)


def _settings(bandit: Bandit) -> list[Setting]:
    """Return settings: the theory's step, another step, and within a swap bandit."""
    theory = Setting(np.array(ACTIONS), 10, 4, 6.0)
    settings = [theory, theory._replace(step=0.3)]
    return [*settings, theory._replace(swap=True)] if bandit.regret == "external" else settings


def _distribution(params: Any, cell: Any, i: int, name: str) -> FloatArray:
    """Return the distribution of a cell of agent i. Nothing else may be written."""
    out = np.full(max(ACTIONS) + 1, np.nan)
    generics.probs(params, cell, out)
    require(bool(np.isnan(out[ACTIONS[i] :]).all()), f"probs of {name} writes more than the actions of agent {i}")
    require_distribution(out[: ACTIONS[i]], f"the distribution of {name} for agent {i}")
    return out[: ACTIONS[i]]


def _check_rounds(bandit: Bandit, setting: Setting, rng: np.random.Generator) -> None:
    """Play random rounds, and look at everything at each of them."""
    (params, cells), name = bandit.make(setting, CELLS), type(bandit).__name__
    for t in range(ROUNDS):
        c, i = int(rng.integers(CELLS)), int(rng.integers(len(ACTIONS)))
        cell, before = cells[c, i], cells.copy()
        probs = _distribution(params, cell, i, name)
        draws = [int(generics.draw(params, cell, u)) for u in rng.random(BANDIT_DRAWS if t % 60 == 59 else 1)]
        wrong = [a for a in draws if not 0 <= a < ACTIONS[i]]
        require(not wrong, f"draw of {name} returned {brief(wrong[:1])}; agent {i} has {ACTIONS[i]} actions")
        if len(draws) > 1:
            counts = np.bincount(draws, minlength=ACTIONS[i])
            require_frequencies(counts, probs, f"draw of {name} does not draw from probs", comparisons=ROUNDS)
        require_same_states(before, cells, f"draw or probs of {name} changes the cell")
        single = np.array([generics.prob(params, cell, b) for b in range(ACTIONS[i])])
        near = np.allclose(single, probs, rtol=1e-9, atol=1e-12)
        require(near, f"prob of {name} returns {single}, and probs writes {probs}")
        require_same_states(before, cells, f"prob of {name} changes the cell")
        a = draws[0]
        loss, prob = (rng.random() + 3.0 * (a != 1)) / 4.0, max(float(probs[a]), 1e-12)  # action 1 is the best
        noisy, twin = copy(params), cells.copy()
        scramble(noisy, 0, rng)
        generics.update(params, cell, a, loss, prob)
        generics.update(noisy, twin[c, i], a, loss, prob)
        require_same_states(cells, twin, f"update of {name} remembers something outside its cell")
        if t % 20 == 19:
            _check_restart(bandit, setting, (params, cells.copy()[c, i]), i, rng)


def _check_restart(bandit: Bandit, setting: Setting, used: tuple[Any, Any], i: int, rng: np.random.Generator) -> None:
    """Restart a cell: it does from then on what a new one does."""
    name, (params, cells) = type(bandit).__name__, bandit.make(setting)
    new, rounds = (params, cells[0, i]), int(rng.integers(1, 50))
    for one in (used, new):
        generics.restart(*one, rounds)
    for _ in range(5):
        probs = _distribution(*new, i, name)
        require_same(_distribution(*used, i, name), probs, f"{name} remembers something after restart")
        a, loss = int(generics.draw(*new, rng.random())), rng.random()
        for one in (used, new):
            generics.update(*one, a, loss, max(float(probs[a]), 1e-12))


def play_rounds(bandit, cells, agents, u, losses, drawn, out):
    """Play rounds in one cell of each agent; write actions and distributions."""
    for t in range(len(agents)):
        cell = cells[1, agents[t]]
        a = generics.draw(bandit, cell, u[t])
        drawn[t] = a
        generics.update(bandit, cell, a, losses[t, a], generics.prob(bandit, cell, a))
        generics.probs(bandit, cell, out[t])
        if t % 2000 == 1999:
            generics.restart(bandit, cell, 1 + t // 2)


def _check_both_ways(bandit: Bandit, setting: Setting, rng: np.random.Generator, tolerance: float) -> None:
    """Play long, against losses whose best action changes after hundreds of rounds."""
    name, agents = type(bandit).__name__, rng.integers(len(ACTIONS), size=LONG)
    u, losses = rng.random(LONG), rng.random((LONG, max(ACTIONS)))
    for begin in range(0, LONG, 750):
        best = rng.integers(max(ACTIONS))
        losses[begin : begin + 500] = np.arange(max(ACTIONS)) != best
    results = []
    for run in both_ways(play_rounds, name, bandit.make(setting)[0]):
        (params, cells), drawn = bandit.make(setting, CELLS), np.zeros(LONG, dtype=np.int64)
        out = np.zeros((LONG, max(ACTIONS)))
        run(params, cells, agents, u, losses, drawn, out)
        results.append((cells, out, drawn))
    for t, i in enumerate(agents):
        require_distribution(out[t, : ACTIONS[i]], f"the distribution of {name} for agent {i} after {t + 1} rounds")
    sentence = f"{name} does not do the same compiled and interpreted"
    (compiled_cells, *compiled), (plain_cells, *plain) = results
    for one, other in zip(compiled, plain, strict=True):
        require_same(one, other, sentence, tolerance)
    require_same_states(compiled_cells, plain_cells, sentence, tolerance)


# games ----------------------------------------------------------------------------------------------------------------

#: Places (h, s, joint action) that are looked at.
PLACES = 200


def check_game(game: Game, *, seed: int = 0, tolerance: float = 0.0) -> None:
    """Check a game: one with tables, or with kernels of its own.

    Its sizes make sense and its kernels have the same. At random steps, states and joint actions, next states are
    states and rewards lie in the range; all depend on nothing but the place and the uniform number; compiled and
    interpreted kernels agree bit for bit, or to a stated tolerance.

    Parameters
    ----------
    game : a game
    seed : int
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
    >>> import tacit
    >>> from tacit.testing import check_game
    >>> check_game(tacit.make("chicken"))
    """
    rng = np.random.default_rng(check.integer("seed", seed))
    try:
        check_sizes(game)
        tables = as_tables(game)
        if tables is not None and tables.discount is not None:
            game = tables.to_random_horizon()  # as which it is played
        kernels = generics.seal(game.kernels())
    except TacitError as error:
        raise Violation(str(error)) from error
    _check_struct(game, kernels)
    _check_walks(game, _places(game, rng), rng, tolerance)


def _check_struct(game: Game, kernels: Any) -> None:
    functions = (generics.initial_state, generics.joint_action, generics.next_state, generics.reward)
    require_kernels(kernels, functions, "what kernels() returns")
    for field, wanted in (("horizon", game.horizon), ("states", game.states), ("actions", game.actions)):
        name = type(kernels).__name__
        require(hasattr(kernels, field), f"{name} has no field {field}; the loop reads it")
        value = getattr(kernels, field)
        same = tuple(value) == wanted if field == "actions" else value == wanted
        require(same, f"{field} of {name} is {brief(value)}, and the game's is {brief(wanted)}")


class _Places(NamedTuple):
    """Where a game is checked: steps, states, joint actions, and uniform numbers of transitions."""

    h: IntArray
    s: IntArray
    actions: IntArray
    u: FloatArray


def _places(game: Game, rng: np.random.Generator) -> _Places:
    u = rng.random(PLACES)
    u[:2] = 0.0, np.nextafter(1.0, 0.0)
    h, s = rng.integers(game.horizon, size=PLACES), rng.integers(game.states, size=PLACES)
    return _Places(h, s, rng.integers(game.actions, size=(PLACES, game.agents)), u)


def walk(game, h, s, actions, u, first, after, rewards):
    """Write the first state, the next state and the rewards [N] of each place."""
    for k in range(len(h)):
        first[k] = generics.initial_state(game, u[k])
        token = generics.joint_action(game, h[k], s[k], actions[k])
        after[k] = s[k]
        if h[k] + 1 < game.horizon:  # after the last step the loop asks for no state
            after[k] = generics.next_state(game, token, u[k])
        for i in range(rewards.shape[1]):
            rewards[k, i] = generics.reward(game, i, token)


def _check_walks(game: Game, at: _Places, rng: np.random.Generator, tolerance: float) -> None:
    name = game.name or type(game).__name__
    order = rng.permutation(PLACES)
    compiled, plain = both_ways(walk, name, generics.seal(game.kernels()))
    walks = []
    for run, turn in ((plain, np.arange(PLACES)), (compiled, np.arange(PLACES)), (plain, order)):
        first, after = np.full(PLACES, -1.0), np.full(PLACES, -1.0)
        rewards, actions = np.full((PLACES, game.agents), np.nan), at.actions[turn]
        run(generics.seal(game.kernels()), at.h[turn], at.s[turn], actions, at.u[turn], first, after, rewards)
        require_same(actions, at.actions[turn], f"joint_action of {name} changes the actions it is given")
        back = np.argsort(turn)
        walks.append((first[back], after[back], rewards[back]))
    for what, states in (("initial_state", walks[0][0]), ("next_state", walks[0][1])):
        inside = (states == np.floor(states)) & (states >= 0) & (states < game.states)
        k = int(np.argmin(inside))
        require(inside.all(), f"{what} of {name} returned {states[k]:g}; states are whole numbers to {game.states - 1}")
    low, high = game.reward_range
    outside = ~((walks[0][2] >= low) & (walks[0][2] <= high))
    if outside.any():
        k, i = (int(x) for x in np.argwhere(outside)[0])
        raise Violation(
            f"agent {i} of {name} is paid {walks[0][2][k, i]:g} at h={at.h[k]}, s={at.s[k]}, "
            f"actions {brief(at.actions[k].tolist())}; reward_range is [{low:g}, {high:g}]"
        )
    for what, one, other, turned in zip(("initial_state", "next_state", "reward"), *walks, strict=True):
        require_same(one, turned, f"{what} of {name} depends on what was played before, not on its arguments alone")
        require_same(one, other, f"{what} of {name} is not the same compiled and interpreted", tolerance)


# policies -------------------------------------------------------------------------------------------------------------


def check_policy(policy: Any, *, seed: int = 0) -> None:
    """Check a policy: its sizes, its play, and that it survives files and pickling.

    A policy has `at(h)` with the distributions of a step (Markov), or `part(i)` with agent i's part, which acts alone
    from a common seed; those that have both are checked for both.

    Parameters
    ----------
    policy : a policy
    seed : int

    Raises
    ------
    Violation
        With a sentence that says what is wrong.

    Examples
    --------
    >>> import tacit
    >>> from tacit.testing import check_policy
    >>> check_policy(tacit.MarkovPolicy.uniform(tacit.make("chicken")))
    """
    name, seed = type(policy).__name__, check.integer("seed", seed)
    missing = [word for word in ("agents", "states", "actions", "save") if not hasattr(policy, word)]
    require(not missing, f"{name} has no {' and no '.join(missing)}")
    sizes = f"{name} has {policy.agents} agents and actions {brief(policy.actions)}"
    require(len(policy.actions) == policy.agents, sizes)
    playable = hasattr(policy, "at") or hasattr(policy, "part")
    require(playable, f"{name} has neither at(h) nor part(i), so nobody can play it")
    for h in range(policy.steps if hasattr(policy, "at") else 0):
        for i, table in enumerate(policy.at(h)):
            require(len(table) == policy.states, f"at({h}) of {name} has {len(table)} states of {policy.states}")
            for s, probs in enumerate(table):
                require_distribution(np.ravel(probs), f"at({h})[{i}][{s}] of {name}")
    if hasattr(policy, "part"):
        _check_parts(name, policy, seed)
    _check_pickle(name, policy, seed)
    _check_files(name, policy)


def _play(policy: Any, seed: int) -> list[list[int]]:
    """Return what each agent's part does in random states, from a common seed."""
    rng = np.random.default_rng(seed)
    steps = getattr(policy, "horizon", None) or policy.steps
    episodes = rng.integers(policy.states, size=(20, steps)).tolist()
    actions: list[list[int]] = []
    for part in [policy.part(i) for i in range(policy.agents)]:
        actions.append([])
        for k, states in enumerate(episodes):
            part.begin(seed=k)
            actions[-1] += [part.act(h, s) for h, s in enumerate(states)]
    return actions


def _check_parts(name: str, policy: Any, seed: int) -> None:
    actions = _play(policy, seed)
    for i, (played, size) in enumerate(zip(actions, policy.actions, strict=True)):
        wrong = [a for a in played if not 0 <= a < size]
        require(not wrong, f"agent {i}'s part of {name} plays {wrong[:1]}; it has {size} actions")
    require(actions == _play(policy, seed), f"the parts of {name} do not play the same twice from the same seed")


def _check_pickle(name: str, policy: Any, seed: int) -> None:
    try:
        again = pickle.loads(pickle.dumps(policy))
    except Exception as error:  # whatever a class of somebody's raises
        raise Violation(f"{name} does not pickle: {type(error).__name__}: {error}") from error
    require(type(again) is type(policy), f"{name} pickles as {brief(again)}")
    sentence = f"{name} is another after pickling"
    sizes = [(one.agents, one.states, tuple(one.actions)) for one in (policy, again)]
    require(sizes[0] == sizes[1], sentence)
    for h in range(policy.steps if hasattr(policy, "at") else 0):
        for before, after in zip(policy.at(h), again.at(h), strict=True):
            require_same(before, after, sentence)
    if hasattr(policy, "part"):
        require(_play(policy, seed) == _play(again, seed), sentence)


def _check_files(name: str, policy: Any) -> None:
    """Check that saving and loading, as `.npz` and `.json`, changes nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for ending in (".npz", ".json"):
            path, twice = (Path(folder) / f"{stem}{ending}" for stem in ("policy", "twice"))
            try:
                policy.save(path)
            except TacitError as error:
                require(ending == ".json", f"{name} cannot be saved: {error}")
                continue
            try:
                again = policies.load(path)
            except TacitError as error:
                raise Violation(f"{name} saves a {ending} that cannot be loaded: {error}") from error
            require(type(again) is type(policy), f"{name} saved as {ending} is loaded as {type(again).__name__}")
            again.save(twice)
            same = path.read_bytes() == twice.read_bytes()
            require(same, f"{name} is another after it was saved as {ending} and loaded")
