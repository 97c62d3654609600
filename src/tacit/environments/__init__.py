"""Other people's environments: adapters, observations, episode bounds, and PettingZoo in and out."""
