"""What a page shows of a policy: bounds, heat maps, deviations, episodes.

{"sentence": why there is nothing to show} or
{"kind", "policy": in words, "agents", "horizon", "averaged",
 "gaps": {"kind", "exact", "values", "upper", "lower"},
 "steps": [h, …], "states": [name, …], "left_out": states that are not shown,
 "maps": [{"agent", "actions": [name, …], "cells": [[[probability of each action] or null, …], …]}],
 "reach": [[probability], …], "deviations": [{"agent", "step", …}] or null, "episodes": [{"steps": […], "returns"}],
 "market": {"facts": [[what, number], …], "levels", "thing", "paths": [{"title", "prices", "profits"}]} or null,
 "proof": docs/proof-json.md or null}
"""

from __future__ import annotations

import base64
import io
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tacit.core import streams
from tacit.core.errors import TacitError, sentence
from tacit.core.types import FloatArray, IntArray
from tacit.environments.play import play, unroll
from tacit.evaluation import Evaluation, behaviour, evaluate, follow, path_gains, prove, respond
from tacit.evaluation.behaviour import Behaviour, joint_actions
from tacit.evaluation.gaps import APART, check_cost, deviation_table, lower_bounds, seconds_to_evaluate
from tacit.experiments import Outcome, store
from tacit.experiments.spec import game_of
from tacit.games.exact import ExactGame
from tacit.games.pricing import PricingGame
from tacit.games.showing import action_names, state_name, steps_played
from tacit.games.tabular import as_tables
from tacit.policies import MarkovPolicy
from tacit.report.page import text

#: What is shown at most: agents, actions, states, steps of a map, deviations, episodes, and steps of an episode.
AGENTS, ACTIONS, STATES, STEPS, DEVIATIONS, EPISODES, LENGTH = 8, 12, 40, 40, 40, 3, 200

#: Pairs of step and state up to which joint distributions are shown.
PAIRS = 6
#: Steps × states × joint actions up to which a page holds the proof of a policy's gap, some 200 kB.
PROVEN = 2000
#: Joint actions of more than two agents that are listed.
LISTED = 24

#: Periods of a market after a deviation.
PERIODS = 20

#: Seconds that computing what a policy does may take, by an estimate.
SECONDS = 60.0


def details(
    directory: Path, outcome: Outcome | None, named: Collection[str] = (), seconds: float = SECONDS
) -> dict[str, Any]:
    """Return what there is to show of a run's policy. Where there is nothing, a sentence that says why."""
    try:
        return _details(directory, outcome, named, seconds)
    except (TacitError, MemoryError, RecursionError) as error:
        return {"sentence": text(sentence(error))}


def _details(directory: Path, outcome: Outcome | None, named: Collection[str], seconds: float) -> dict[str, Any]:
    if outcome is None:
        raise TacitError("the run is not finished; its policy is stored when it is")
    if not outcome.spec.has_tables:
        raise TacitError(f"{outcome.spec.game.name} has no tables, so its policy cannot be shown by step and state")
    policy = store.load_policy(directory)
    game = game_of(outcome.spec, named=named)
    cost = (1 + APART) * seconds_to_evaluate(game, policy)
    check_cost(cost, seconds, "what the policy plays, and who gains by deviating,")
    kind = None if outcome.gap is None else outcome.gap.kind
    return policy_document(game, policy, kind=kind, place=outcome.place, visits=outcome.visits)


def policy_document(
    game: ExactGame, policy: Any, *, kind: str | None = None, place: int | None = None, visits: Any = None
) -> dict[str, Any]:
    """Return what there is to show of a policy of a game."""
    evaluation = evaluate(game, policy, gap=kind)
    lower = evaluation.gaps if evaluation.exact else lower_bounds(game, policy)
    play = behaviour(game, policy)
    steps = rows_to_show(game.horizon, STEPS).tolist()
    states, left_out = play.likeliest_states(STATES)
    return {
        "kind": evaluation.kind,
        "policy": _words(policy),
        "game": payoff_table(game, 0, 0) if game.states == 1 else None,
        "agents": game.agents,
        "horizon": game.horizon,
        "averaged": play.averaged,
        "gaps": {
            "kind": evaluation.kind,
            "exact": evaluation.exact,
            "values": evaluation.values[:AGENTS].tolist(),
            "upper": evaluation.gaps[:AGENTS].tolist(),
            "lower": np.minimum(lower, evaluation.gaps)[:AGENTS].tolist(),  # but for rounding
        },
        "steps": steps,
        "states": [text(state_name(game, s)) for s in states],
        "left_out": left_out,
        "reach": [[round(float(play.reach[h, s]), 6) for h in steps] for s in states],
        "maps": [_map(game, play, i, steps, states) for i in range(min(game.agents, AGENTS))],
        "joint": _joint(game, play, steps, states),
        "deviations": _deviations(game, policy, evaluation),
        "proof": _proof(game, policy, evaluation.kind),
        "episodes": _episodes(game, policy),
        "market": _market(game, policy, place, visits),
    }


def _market(game: ExactGame, policy: Any, place: int | None, visits: Any) -> dict[str, Any] | None:
    """Return the cycle of pure strategies in a market, what deviations gain, and their paths."""
    if not isinstance(game, PricingGame) or not isinstance(policy, MarkovPolicy) or not policy.product:
        return None
    if not all((p.max(axis=-1) == 1).all() for p in policy.probs) or not (place is None or place < game.states):
        return None
    market = game.market
    unit = float((market.monopoly_profits - market.nash_profits).mean()) / (1 - (game.discount or 0.0))
    cycle = follow(game, policy, start=int(game.initial.argmax()) if place is None else place).cycle
    gains = path_gains(game, policy, cycle)
    firm, t = (int(k) for k in np.unravel_index(gains.best.argmax(), gains.best.shape))
    s, joint = int(cycle.states[t]), [*map(int, cycle.actions[t])]
    own: Any = (firm, s, *joint[:firm], slice(None), *joint[firm + 1 :])
    reply = int(game.step_rewards(0)[own].argmax())
    response = respond(game, policy, firm, gains)
    paths = {
        f"Firm {firm} plays its best reply of a period once": follow(
            game, policy, start=s, forced={firm: reply}, periods=PERIODS
        ),
        f"Firm {firm} responds best for ever": follow(game, response, start=s, periods=PERIODS),
    }
    prices = game.charged(cycle.states, cycle.actions)
    facts: list[tuple[str, float]] = [
        ("periods of the cycle", len(cycle.states)),
        ("profit gain (0 competition, 1 cartel)", market.profit_gain(cycle.rewards)),
        ("consumer surplus", float(market.surplus(prices).mean())),
        ("in competition", float(market.surplus(market.nash))),
        ("in a cartel", float(market.surplus(market.monopoly))),
        ("share of one-shot deviations on the path that do not pay", gains.one_shot_unprofitable),
        ("gain of a best response on the path, over (π_M − π_N)/(1 − δ)", gains.gap / unit),
        ("in the worst state", gains.subgame_gap / unit),
    ]
    if visits is not None and len(visits) == game.states:
        met, away = np.asarray(visits), np.setdiff1d(follow(game, response, start=s).states, cycle.states)
        groups = {
            "visits of a state of the cycle, median": cycle.states,
            "of one that the best response leads through": away,
            "of one of the others": np.setdiff1d(np.arange(game.states), np.union1d(cycle.states, away)),
        }
        facts += [(what, float(np.median(met[states]))) for what, states in groups.items() if len(states)]

    def around(before: FloatArray, after: FloatArray) -> list[list[float]]:
        return [row[:AGENTS] for row in np.vstack([before[[t - 1]], after]).tolist()]

    return {
        "facts": facts,
        "thing": "quantity" if market.demand == "cournot" else "price",
        "levels": {"competition": float(market.nash.mean()), "cartel": float(market.monopoly.mean())},
        "cycle": prices[:LENGTH, :AGENTS].tolist(),
        "paths": [
            {
                "title": title,
                "prices": around(prices, game.charged(path.states, path.actions)),
                "profits": around(cycle.rewards, path.rewards),
            }
            for title, path in paths.items()
        ],
    }


def _proof(game: ExactGame, policy: Any, kind: str) -> dict[str, Any] | None:
    """Return a proof of a Markov policy's gap as a document, where it is small."""
    rows = game.horizon * game.states * game.joint_actions
    return prove(game, policy, gap=kind).document if isinstance(policy, MarkovPolicy) and rows <= PROVEN else None


def _words(policy: Any) -> str:
    """Say what kind of policy it is."""
    match policy:
        case MarkovPolicy(product=True):
            return "A product policy: each agent draws its action by step and state, independently."
        case MarkovPolicy():
            return "A correlated policy: one joint action is drawn by step and state, and recommended to the agents."
    return "A mixture with a certificate: all agents replay recorded policies, with common random numbers."


def _map(game: ExactGame, play: Behaviour, i: int, steps: list[int], states: list[int]) -> dict[str, Any]:
    count = min(game.actions[i], ACTIONS)
    probs = play.marginals[i]
    cells = [
        [[round(float(p), 6) for p in probs[h, s, :count]] if play.reach[h, s] > 0 else None for h in steps]
        for s in states
    ]
    names = [text(name) for name in action_names(game, i)[:count]]
    return {"agent": i, "actions": names, "left_out": game.actions[i] - count, "cells": cells}


def _joint(game: ExactGame, play: Behaviour, steps: list[int], states: list[int]) -> list[dict[str, Any]]:
    """Return joint distributions, where they say more than marginals, at few steps and states."""
    reached = [(h, s) for h in steps for s in states if play.reach[h, s] > 0]
    if play.joint is None or game.agents > AGENTS or max(game.actions) > ACTIONS or len(reached) > PAIRS:
        return []
    names = [[text(name) for name in action_names(game, i)] for i in range(game.agents)]
    tables = []
    for h, s in reached:
        joint = np.round(play.joint[h, s], 6)
        where = {"step": h, "state": text(state_name(game, s))}
        if game.agents == 2:
            tables.append({**where, "rows": names[0], "columns": names[1], "cells": joint.tolist()})
            continue
        likely = [
            {"actions": [names[i][a] for i, a in enumerate(actions)], "prob": prob}
            for actions, prob in joint_actions(joint)
        ]
        tables.append({**where, "listed": likely[:LISTED], "left_out": max(0, len(likely) - LISTED)})
    return tables


def _deviations(game: ExactGame, policy: Any, evaluation: Evaluation) -> list[dict[str, Any]] | None:
    """Return the largest terms of the gaps, with names. None of a mixture, whose gap has no such terms."""
    if not isinstance(policy, MarkovPolicy):
        return None
    terms = deviation_table(game, policy, gap=evaluation.kind).data(limit=DEVIATIONS)["terms"]
    names = ("state", "instead_of", "play")
    return [{key: text(entry) if key in names else entry for key, entry in term.items()} for term in terms]


def rows_to_show(count: int, most: int) -> IntArray:
    """Return which rows to show: all, or `most` of them evenly, with both ends.

    >>> rows_to_show(8, 4).tolist()
    [0, 2, 5, 7]
    """
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


def _episodes(game: ExactGame, policy: Any) -> list[dict[str, Any]]:
    game, policy = unroll(game, policy)
    if game.agents * game.horizon > 20_000:
        return []
    played = play(game, policy, episodes=EPISODES)
    after = streams.stream(0, streams.AFTER)
    agents = range(min(game.agents, AGENTS))
    names = [[text(name) for name in action_names(game, i)] for i in agents]
    pictures: dict[int, str | None] = {}

    def describe(s: int) -> dict[str, Any]:
        return {"state": text(state_name(game, s)), "picture": picture(game, s, pictures)}

    episodes = []
    for states, actions, rewards in zip(played.states[:, :, 0], played.actions, played.rewards, strict=True):
        length = steps_played(game, states)
        shown = min(length, LENGTH)
        steps = [
            {
                **describe(int(states[h])),
                "actions": [names[i][actions[h, i]] for i in agents],
                "rewards": rewards[h, :AGENTS].tolist(),
            }
            for h in range(shown)
        ]
        last = shown - 1
        ended = shown == game.horizon
        end = game.step(last, int(states[last]), actions[last], after.random())[0] if ended else int(states[shown])
        returns = rewards[:shown].sum(axis=0)[:AGENTS].tolist()
        episodes.append({"steps": steps, "end": describe(end), "returns": returns, "cut": length > LENGTH})
    return episodes


def picture(game: ExactGame, s: int, pictures: dict[int, str | None]) -> str | None:
    """Return the picture of a state as an address, if the game draws one. `pictures` holds earlier ones."""
    draw = getattr(game, "picture", None)
    if draw is not None and s not in pictures:
        pictures[s] = data_url(draw(s))
    return pictures.get(s)


#: Actions of each agent at most.
SMALL = 8


def payoff_table(game: ExactGame, h: int, s: int, i: int = 0) -> dict[str, Any] | None:
    """Return rewards of agent i and of the other, by their actions. None where a game is larger."""
    tables = as_tables(game)
    if tables is None or tables.agents != 2 or max(tables.actions) > SMALL:
        return None
    mine, theirs = (tables.step_rewards(h)[k][s] for k in (i, 1 - i))
    if i == 1:
        mine, theirs = mine.T, theirs.T
    rows, columns = ([text(name) for name in action_names(game, k)] for k in (i, 1 - i))
    return {"rows": rows, "columns": columns, "cells": np.stack([mine, theirs], axis=-1).tolist()}


#: The largest side of a picture that is shown, in pixels.
SIDE = 1024


def data_url(image: npt.NDArray[Any]) -> str | None:
    """Return a uint8 image [height, width, 3] as a PNG in a `data:` address. None for anything else.

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
