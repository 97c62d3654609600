"""THE fused loop: every learner, every bandit, every game, every number of agents."""

from __future__ import annotations

from tacit.core.generics import (
    act,
    average_policy,
    initial_state,
    joint_action,
    learn,
    next_state,
    observe,
    policy,
    reward,
)


def episodes(game, learner, certificate, record, seats, game_u, agent_u, chosen, returns):
    """Play as many episodes as `returns` [episodes, N] has rows, and let all agents learn.

    `seats` has one entry for each agent: a tuple, whose length the compiler knows, or an array where agents are many.
    The uniform numbers `game_u` [episodes, H] and `agent_u` [N, episodes, H] are drawn ahead: the first of `game_u` for
    the first state, the others for the transitions, of which the last step has none. In play that never resets an
    episode is one period, which has a transition too: `game_u` [periods, 2]. `chosen` [N] holds the actions.
    """
    for k in range(len(returns)):
        s = max(initial_state(game, game_u[k, 0]), 0)
        for h in range(game.horizon):
            observe(record, learner, game, seats, h, s)
            observe(certificate, learner, game, seats, h, s)
            for i in range(len(seats)):
                chosen[i] = act(learner, i, h, s, agent_u[i, k, h])
            token = joint_action(game, h, s, chosen)
            s_next = s
            if h + 1 < game_u.shape[1]:
                s_next = max(next_state(game, token, game_u[k, h + 1]), 0)
            for i in range(len(seats)):
                r = reward(game, i, token)
                learn(learner, i, h, s, max(chosen[i], 0), r, s_next)
                returns[k, i] += r
            s = s_next


def distributions(learner, horizon, states, recent, out):
    """Write the agents' current or average distributions into `out` [N, H, S, A]."""
    for i in range(len(out)):
        for h in range(horizon):
            for s in range(states):
                if recent:
                    average_policy(learner, i, h, s, out[i, h, s])
                else:
                    policy(learner, i, h, s, out[i, h, s])


def add_rows(sums, returns):
    """Add the rows of `returns` to `sums`, one after the other."""
    for k in range(len(returns)):
        for i in range(len(sums)):
            sums[i] += returns[k, i]
