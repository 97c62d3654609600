"""Each learner's year, what is proved of it, and the games it is made for."""

from __future__ import annotations

from typing import Any, NamedTuple

from tacit.core.errors import TacitError
from tacit.learners import REGISTRY
from tacit.learners.several import Portfolio


class Facts(NamedTuple):
    """One row of the table of learners."""

    year: str  # of the source; "tacit" for this package's own
    guarantee: str
    games: str


_ANY, _TEAMS, _ZERO_SUM, _POTENTIAL = "any", "teams", "two agents, zero-sum", "potential games"
_CERTIFIED = "none for the learner; the certificate is exact"

FACTS: dict[str, Facts] = {
    "portfolio": Facts("tacit", "that of the better member; the gap is exact", "with tables"),
    "adaptive-v-cce": Facts("tacit", _CERTIFIED, _ANY),
    "adaptive-v-ce": Facts("tacit", _CERTIFIED, _ANY),
    "stage-v-cce": Facts("2022", "ε-cce, polynomial", _ANY),
    "stage-v-ce": Facts("2022", "ε-ce, polynomial", _ANY),
    "v-learning": Facts("2021", "ε-cce or ε-ce, polynomial", _ANY),
    "model-independent": Facts("tacit", "none", _ANY),
    "model-central": Facts("tacit", "an equilibrium, as counts grow", _ANY),
    "pg-adaptive": Facts("tacit", "none", "teams, potential games"),
    "pg-exact": Facts("2022", "ε-Nash, polynomial", _POTENTIAL),
    "pg-storm": Facts("2022", "ε-Nash, polynomial, with theory's steps", _POTENTIAL),
    "pg-sgd": Facts("2022", "none with constant steps", _POTENTIAL),
    "npg": Facts("2022", "Nash, in the limit", _POTENTIAL),
    "ucb-central": Facts("2020", "optimum of the total reward", _TEAMS),
    "ucb-independent": Facts("2020", "none", _ANY),
    "q-independent": Facts("1989", "none with several agents", _ANY),
    "q-backward": Facts("tacit", "none with several agents", "environments"),
    "q-distributed": Facts("2000", "optimum, where all is deterministic", _TEAMS),
    "q-hysteretic": Facts("2007", "none", _TEAMS),
    "q-phases": Facts("2017", "Nash in weakly acyclic games; with aspiration, optimum of teams", _ANY),
    "q-smoothed": Facts("2021", "Nash, in the limit", "two agents, zero-sum; or potential games, by its rule"),
    "wolf-phc": Facts("2002", "none; the theorem is of WoLF-IGA", _ANY),
    "ogda": Facts("2021", "Nash, last iterate, of exact gradients", _ZERO_SUM),
    "pg-two-timescale": Facts("2020", "min-max, on average", _ZERO_SUM),
    "pg-q": Facts("2022", "ε-Nash, polynomial", _POTENTIAL),
    "ppo": Facts("2017", "none", _ANY),
    "nash-vi": Facts("2021", "ε-Nash in zero-sum games, else ε-ce or ε-cce; polynomial", _ANY),
    "nash-q": Facts("1994", "Nash, in the limit, under strong conditions", _ANY),
    "spocmar": Facts("2022", "ε-cce that is Markov, polynomial", _ANY),
}

#: What agents must know, from least to most.
INFORMATION = ("decentralized", "common clock or seed", "centralized", "from the tables", "selected with the exact gap")


def information(name: str) -> str:
    """Return what the agents of a registered learner must know, of `INFORMATION`.

    >>> information("q-phases"), information("portfolio")
    ('common clock or seed', 'selected with the exact gap')
    """
    try:
        learner = REGISTRY.make(name)
    except (TacitError, TypeError):  # of another package, with parameters that have no defaults
        return INFORMATION[0]
    needs = learner.info.needs
    if isinstance(learner, Portfolio):
        return INFORMATION[4]
    if "tables" in needs:
        return INFORMATION[3]
    if "all agents" in needs:
        return INFORMATION[2]
    return INFORMATION[1 if needs & {"clock", "seed"} else 0]


def describe_learner(name: str) -> dict[str, Any]:
    """Return what is known of a registered learner; nothing is known of other packages'.

    >>> describe_learner("wolf-phc")["year"]
    '2002'
    """
    facts = FACTS.get(name, Facts("", "", ""))
    return {"information": information(name), **facts._asdict()}
