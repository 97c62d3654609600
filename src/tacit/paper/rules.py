"""The rules by which the paper's empirical claims are judged, written down before the runs that they judge.

Where the paper's word is vague ("high", "clearly", "most of the time"), the rule takes the reading that favours the
paper. What the paper leaves open (bonus constants, exploration, units of the losses, which reading of "Independent") is
run in several settings. A claim *holds* if it does in every setting, *depends on the setting* if it does in some, and
*does not hold* if it does in none. Settings that depart from what is printed are judged apart.
"""

from __future__ import annotations

#: The mean reward is steady if it moves by less than this share of what there is to gain over random play.
STEADY = 0.02
#: A high reward has at least this share of what there is to gain over random play.
HIGH = 0.5
#: A clearly suboptimal one has at most this share.
SUBOPTIMAL = 0.9
#: An algorithm has converged in time when it first has this share of its own final gain.
OWN_GAIN = 0.95
#: How near PG's reward must come to Centralized's.
APPROACH = 0.98
#: "Far fewer" samples are at most this share.
FEWER = 0.01
#: A gap has gone to zero at this share of uniform play's.
VANISHED = 0.05
#: "Close to 9".
CLOSE = (8.5, 9.5)
#: An optimal equilibrium is reached at this share of its value.
OPTIMAL = 0.9
#: In an equilibrium the nash gap is at most this share of the optimum.
AT_EQUILIBRIUM = 0.05
#: "A rather low frequency" of runs is above zero and at most this.
LOW_FREQUENCY = 0.25
#: What the other runs must earn for the low frequency to explain the shortfall.
OTHERS = 9.5

INTERVALS = (
    "Rewards are means over the last tenth of the episodes; intervals are 95 % bootstrap intervals of the mean over "
    "seeds. What there is to gain is the exact optimum minus the exact value of random play."
)

#: What the paper says, and when that holds.
RULES = {
    "gap": (
        "the equilibrium gap of the {which} goes to zero",
        f"the mean L² gap in the end is at most {VANISHED:.0%} of uniform play's",
    ),
    "lags": (
        "the average lags behind the last iterate",
        "in the middle of the run the average's L² gap is larger, the interval of the difference lies above 0",
    ),
    "close": ("the reward of the {which} comes close to 9", f"the mean value lies between {CLOSE[0]} and {CLOSE[1]}"),
    "optimal": (
        "a team-optimal equilibrium is reached most of the time",
        f"more than half of the runs end at {OPTIMAL:.0%} or more of an optimal equilibrium's value",
    ),
    "explained": (
        "10 is missed because a few runs end in a non-optimal equilibrium",
        f"some runs, and at most {LOW_FREQUENCY:.0%}, end in one (exact nash gap at most {AT_EQUILIBRIUM:.0%} of the "
        f"optimum, value below {OPTIMAL:.0%} of it), and the others earn at least {OTHERS} on average",
    ),
    "converges": (
        "the trajectory of {which} converges and achieves high rewards",
        f"from the last fifth of the run but one to the last the mean reward moves by less than {STEADY:.0%} of what "
        f"there is to gain, and it has at least {HIGH:.0%} of that, so slow learners do not pass",
    ),
    "outperforms": ("{which} outperforms Independent", "its interval lies above Independent's"),
    "faster": (
        "Independent converges faster, to a clearly suboptimal value",
        f"its mean is steady as above, has {OWN_GAIN:.0%} of its own gain sooner than V-Learning and PG in their first "
        f"settings have of theirs, and its interval lies below {SUBOPTIMAL:.0%} of what there is to gain",
    ),
    "approaches": (
        "{which} approaches Centralized",
        f"its mean is at least {APPROACH:.0%} of Centralized's first setting",
    ),
    "bounded": ("Centralized bounds what the others achieve", "no interval lies above that of its first setting"),
    "fewer": (
        "{which} needs far fewer samples than the theory asks for",
        "the gap reached is below that of random play, and the theorem asks for at least "
        f"{1 / FEWER:.0f} times as many episodes for an accuracy of that gap (constants hidden in O(·) taken as 1); "
        "not judged where the theorem promises nothing",
    ),
}
