"""Deploy a certified policy: every device gets its own part and the common seed, and plays without a word.

python examples/deploy_parts.py
"""

import tempfile

import numpy as np

import tacit

game = tacit.make("good-state", horizon=10)
run = tacit.learn(game, "stage-v-cce", episodes=50_000, seed=0, bonus=0.1, step=0.2, loss="raw", visits_per_stage=8)
print(run)

# a small form for the devices: eight visits of each stage, certified exactly as they are kept
full = run.candidates["recent"]  # the mixture with a hidden index; run.policy may be its table
folder = tempfile.mkdtemp()
full.policy.save(f"{folder}/policy.npz")
print("written to", folder)

# on the devices: each loads the file and takes its own part
parts = [tacit.policies.Part.load(f"{folder}/policy.npz", agent=i) for i in range(game.agents)]

# play: the environment tells everybody the state; the seed of an episode is all that the devices share
rng = np.random.default_rng(2)
returns = []
for episode in range(3000):
    for part in parts:
        part.begin(seed=episode)
    s, total = game.start(rng.random()), np.zeros(game.agents)
    for h in range(game.horizon):
        actions = [part.act(h, s) for part in parts]
        s, rewards = game.step(h, s, actions, rng.random())
        total += rewards
    returns.append(total)

mean, error = np.mean(returns, axis=0), np.std(returns, axis=0) / np.sqrt(len(returns))
print("played:", mean.round(2), "±", error.round(2), " exact value of the full policy:", full.values.round(2))
print("nobody gains more than", full.gaps.upper.round(2), "by deviating from it")
assert (np.abs(mean - full.values) < 5 * error).all()
