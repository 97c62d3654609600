"""A watcher of your own: it draws the gap as it falls."""

import tacit
from tacit.engine import Finished, Measured, Noted, Started


def draw(event):
    """Show a run; whoever shows, stores or sends something of a run is a function of its events like this one."""
    if isinstance(event, Started):
        print(f"{event.learner} on {event.game}, {event.episodes} episodes")
    elif isinstance(event, Measured):  # a row of the curve; raise KeyboardInterrupt to end the run as Ctrl-C does
        row = event.row
        print(
            f"{row['episode']:8.0f} {'#' * round(6 * row['gap']):40} gap {row['gap']:.3f}, reward {row['reward']:.2f}"
        )
    elif isinstance(event, Noted):
        print("note:", event.text)
    elif isinstance(event, Finished):
        print(f"done, {event.done} episodes")


if __name__ == "__main__":
    game = tacit.make("good-state", horizon=5)
    tacit.learn(game, "stage-v-cce", episodes=100_000, bonus=0.1, step=0.2, loss="raw", points=10, progress=draw)
