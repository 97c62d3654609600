"""What is computed from the policy of a finished run, as a document: bounds, heat maps, deviations, episodes.

{"run", "sentence": why there is nothing to show} or
{"run", "kind", "policy": in words, "agents", "horizon", "averaged",
 "gaps": {"kind", "exact", "values", "upper", "lower"},
 "steps": [h, …], "states": [name, …], "left_out": states that are not shown,
 "maps": [{"agent", "actions": [name, …], "cells": [[[probability of each action] or null, …], …]}],
 "reach": [[probability], …], "deviations": [{"agent", "step", …}], "episodes": [{"steps": […], "returns"}]}
"""

from __future__ import annotations

import base64
import io
from collections.abc import Collection
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import streams
from tacit.core.display import cell_text, exact
from tacit.core.errors import TacitError, sentence
from tacit.environments.play import play, unroll
from tacit.evaluation import Evaluation, behaviour, evaluate
from tacit.evaluation.behaviour import Behaviour, joint_actions
from tacit.evaluation.equilibria import enumerable, equilibria
from tacit.evaluation.gains import APART, deviation_table
from tacit.evaluation.gaps import check_cost, lower_bounds, seconds_to_evaluate
from tacit.experiments import store
from tacit.experiments.spec import game_of
from tacit.games.exact import ExactGame
from tacit.games.showing import action_names, state_name, steps_played
from tacit.games.tabular import TabularGame, as_tables
from tacit.policies import MarkovPolicy
from tacit.view.documents import text
from tacit.view.folder import StoredRun

#: What is shown at most: agents, actions, states, steps of a map, deviations, episodes, and steps of an episode.
AGENTS, ACTIONS, STATES, STEPS, DEVIATIONS, EPISODES, LENGTH = 8, 12, 40, 40, 40, 3, 200

#: Places, pairs of step and state, up to which joint distributions are shown.
PLACES = 6
#: Joint actions of more than two agents that are listed.
LISTED = 24

#: The largest file of a policy from which anything is computed, in bytes.
LARGEST = 100_000_000

#: Seconds that computing what a policy does may take, by an estimate.
SECONDS = 60.0


def details(run: StoredRun, *, named: Collection[str] = (), seconds: float = SECONDS) -> dict[str, Any]:
    """Return what there is to show of a run's policy; where there is nothing, a sentence that says why."""
    try:
        return {"run": run.name, **_details(run, named, seconds)}
    except (TacitError, MemoryError, RecursionError) as error:
        return {"run": run.name, "sentence": text(sentence(error))}


def _details(run: StoredRun, named: Collection[str], seconds: float) -> dict[str, Any]:
    stored = run.outcome
    if stored is None:
        raise TacitError("the run is not finished; its policy is stored when it is")
    if not stored.spec.has_tables:
        raise TacitError(f"{stored.spec.game.name} has no tables, so its policy cannot be shown by step and state")
    if not (run.place / store.POLICY).is_file():
        raise TacitError("the policy was not stored; run with keep = true to store it")
    if (run.place / store.POLICY).stat().st_size > LARGEST:
        raise TacitError(f"the policy has more than {LARGEST // 10**6} MB, which would take too long here")
    game = game_of(stored.spec, named=named)
    policy = store.load_policy(run.place)
    cost = (1 + APART) * seconds_to_evaluate(game, policy)
    check_cost(cost, seconds, "what the policy plays, and who gains by deviating,")
    kind = None if stored.gap is None else stored.gap.kind
    return policy_document(game, policy, kind=kind)


def policy_document(game: ExactGame, policy: Any, *, kind: str | None = None) -> dict[str, Any]:
    """Return what there is to show of a policy of a game."""
    found = evaluate(game, policy, gap=kind)
    lower = found.gaps if found.exact else lower_bounds(game, policy)
    does = behaviour(game, policy)
    steps = _spread(game.horizon, STEPS)
    shown, left_out = does.likeliest_states(STATES)
    return {
        "kind": found.kind,
        "policy": _words(policy),
        "game": game_document(game),
        "agents": game.agents,
        "horizon": game.horizon,
        "averaged": does.averaged,
        "gaps": {
            "kind": found.kind,
            "exact": found.exact,
            "values": found.values[:AGENTS].tolist(),
            "upper": found.gaps[:AGENTS].tolist(),
            "lower": np.minimum(lower, found.gaps)[:AGENTS].tolist(),  # but for rounding
        },
        "steps": steps,
        "states": [text(state_name(game, s)) for s in shown],
        "left_out": left_out,
        "reach": [[round(float(does.reach[h, s]), 6) for h in steps] for s in shown],
        "maps": [_map(game, does, i, steps, shown) for i in range(min(game.agents, AGENTS))],
        "joint": _joint(game, does, steps, shown),
        "deviations": _deviations(game, policy, found),
        "episodes": _episodes(game, policy),
    }


def _words(policy: Any) -> str:
    """Say what kind of policy it is."""
    match policy:
        case MarkovPolicy(product=True):
            return "A product policy: each agent draws its action by step and state, independently."
        case MarkovPolicy():
            return "A correlated policy: one joint action is drawn by step and state, and each agent is told its part."
    return "A policy with a certificate: all agents replay what was learned, with common random numbers."


def _map(game: ExactGame, does: Behaviour, i: int, steps: list[int], shown: list[int]) -> dict[str, Any]:
    count = min(game.actions[i], ACTIONS)
    probs = does.marginals[i]
    cells = [
        [[round(float(p), 6) for p in probs[h, s, :count]] if does.reach[h, s] > 0 else None for h in steps]
        for s in shown
    ]
    names = [text(name) for name in action_names(game, i)[:count]]
    return {"agent": i, "actions": names, "left_out": game.actions[i] - count, "cells": cells}


def _joint(game: ExactGame, does: Behaviour, steps: list[int], shown: list[int]) -> list[dict[str, Any]]:
    """Return what agents play together, where that is more than each one's part, and few places are reached."""
    places = [(h, s) for h in steps for s in shown if does.reach[h, s] > 0]
    if does.joint is None or game.agents > AGENTS or max(game.actions) > ACTIONS or len(places) > PLACES:
        return []
    names = [[text(name) for name in action_names(game, i)] for i in range(game.agents)]
    found = []
    for h, s in places:
        joint = np.round(does.joint[h, s], 6)
        place = {"step": h, "state": text(state_name(game, s))}
        if game.agents == 2:
            found.append({**place, "rows": names[0], "columns": names[1], "cells": joint.tolist()})
            continue
        likely = [
            {"actions": [names[i][a] for i, a in enumerate(actions)], "chance": chance}
            for actions, chance in joint_actions(joint)
        ]
        found.append({**place, "listed": likely[:LISTED], "left_out": max(0, len(likely) - LISTED)})
    return found


def _deviations(game: ExactGame, policy: Any, found: Evaluation) -> list[dict[str, Any]]:
    """Return the largest terms of the gaps, with names."""
    terms = deviation_table(game, policy, gap=found.kind).data(limit=DEVIATIONS)["terms"]
    words = ("state", "instead_of", "play")
    return [{key: text(value) if key in words else value for key, value in term.items()} for term in terms]


def _spread(count: int, most: int) -> list[int]:
    """Return numbers from 0 to count − 1, evenly spread where they are too many."""
    if count <= most:
        return list(range(count))
    return sorted({int(h) for h in np.linspace(0, count - 1, most).round()})


def _episodes(game: ExactGame, policy: Any) -> list[dict[str, Any]]:
    game, policy = unroll(game, policy)
    if game.agents * game.horizon > 20_000:
        return []
    played = play(game, policy, episodes=EPISODES)
    after = streams.stream(0, streams.AFTER)
    found = []
    names = [action_names(game, i) for i in range(min(game.agents, AGENTS))]
    pictured: dict[int, str | None] = {}
    for e in range(EPISODES):
        steps, length = [], steps_played(game, played.states[e, :, 0])
        for h in range(min(length, LENGTH)):
            s = int(played.states[e, h, 0])
            steps.append(
                {
                    "state": text(state_name(game, s)),
                    "actions": [text(names[i][played.actions[e, h, i]]) for i in range(min(game.agents, AGENTS))],
                    "rewards": played.rewards[e, h, :AGENTS].tolist(),
                    "picture": picture(game, s, pictured),
                }
            )
        ended = len(steps) == game.horizon
        end = game.step(h, s, played.actions[e, h], after.random())[0] if ended else int(played.states[e, h + 1, 0])
        final = {"state": text(state_name(game, end)), "picture": picture(game, end, pictured)}
        returns = played.rewards[e, : len(steps)].sum(axis=0)[:AGENTS].tolist()
        found.append({"steps": steps, "end": final, "returns": returns, "cut": length > LENGTH})
    return found


def picture(game: ExactGame, s: int, known: dict[int, str | None]) -> str | None:
    """Return the picture of a state as an address, if the game draws one."""
    draw = getattr(game, "picture", None)
    if draw is None:
        return None
    if s not in known:
        known[s] = data_url(draw(s))
    return known[s]


#: Actions of each agent, and equilibria, at most.
SMALL, EQUILIBRIA = 8, 12


def payoff_table(game: ExactGame, h: int, s: int, i: int = 0) -> dict[str, Any] | None:
    """Return the rewards of agent i and of the other, own actions by the other's; None of a game that is larger."""
    tables = as_tables(game)
    if tables is None or tables.agents != 2 or max(tables.actions) > SMALL:
        return None
    own, other = (tables.step_rewards(h)[k][s] for k in (i, 1 - i))
    if i == 1:
        own, other = own.T, other.T
    names = [[text(name) for name in action_names(game, k)] for k in (i, 1 - i)]
    return {"rows": names[0], "columns": names[1], "cells": np.stack([own, other], axis=-1).tolist()}


def game_document(game: ExactGame) -> dict[str, Any] | None:
    """Return payoffs and equilibria of a game of two agents and one state; None where there is more to a game."""
    table = payoff_table(game, 0, 0) if game.states == 1 else None
    if table is None:
        return None
    return {**table, "equilibria": _equilibria(game.tabular(), [table["rows"], table["columns"]])}


def _equilibria(game: TabularGame, names: list[list[str]]) -> list[str]:
    """Return the Nash equilibria of a game played once, in words."""
    if game.horizon > 1 or not enumerable(game):
        return []
    try:
        found = equilibria(game).policies[:EQUILIBRIA]
    except TacitError:
        return []
    return ["; ".join(_mixture(p.probs[i][0, 0], names[i], i) for i in (0, 1)) for p in found]


def _mixture(probs: Any, names: list[str], i: int) -> str:
    played = [f"{name} {cell_text(exact(float(p), 4))}" for name, p in zip(names, probs, strict=True) if p > 0]
    alone = next(name for name, p in zip(names, probs, strict=True) if p > 0)
    return f"agent {i}: {alone if len(played) == 1 else ', '.join(played)}"


#: The largest side of a picture that is shown, in pixels.
SIDE = 1024


def data_url(image: npt.NDArray[Any]) -> str | None:
    """Return an image, a uint8 array [height, width, 3], as a PNG in a `data:` address; None for anything else.

    >>> data_url(np.zeros((2, 2, 3), dtype=np.uint8))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    if getattr(image, "dtype", None) != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        return None
    if not all(0 < side <= SIDE for side in image.shape[:2]):
        return None
    from matplotlib.image import imsave  # it takes longer to import than all the rest

    content = io.BytesIO()
    imsave(content, image, format="png")
    return "data:image/png;base64," + base64.b64encode(content.getvalue()).decode()
