"""A page plays the game of its tables, and judges choices as the terminal does."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit
from tacit.core.errors import TacitError
from tacit.policies import RecordedPolicy
from tacit.report import write_play
from tacit.report.play import judge, play_document

#: Plays some episodes with choices that go round; returns turns, the numbers behind them, and how each episode went.
EPISODES = """([agent, episodes]) => {
    const player = new tacit.Player(new tacit.Game(JSON.parse(document.getElementById("document").textContent)), agent);
    const all = [];
    for (let e = 0; e < episodes; e += 1) {
        let k = e;
        while (!player.over) player.act(k++ % player.game.counts[agent]);
        all.push({turns: player.turns, luck: player.luck, end: player.state, result: player.result()});
        player.begin();
    }
    return all;
}"""


def decode(content: str, kind: str, *shape: int) -> Any:
    return np.frombuffer(base64.b64decode(content), dtype=kind).reshape(shape)


def test_tables_are_those_of_game_and_oracle() -> None:
    game = tacit.make("random-general-sum", states=3, actions=[2, 3], horizon=4, seed=5)
    policy = tacit.MarkovPolicy.random(game, seed=1)
    document = play_document(game, policy, agent=1)
    first = decode(document["transitions"]["first"], "<i4", -1)
    assert np.array_equal(first, game.successors.first)
    assert np.array_equal(decode(document["transitions"]["state"], "<i4", -1), game.successors.state)
    for i in (0, 1):
        rewards = decode(document["rewards"]["tables"][i], "<f8", *game.rewards[i].shape)
        assert np.array_equal(rewards, game.rewards[i])
        prospects = judge(game, policy, i)
        shown = document["judges"][i]
        assert np.array_equal(decode(shown["q"], "<f8", 4, 3, game.actions[i]), prospects.q)
        assert (shown["value"], shown["best"], shown["hears"]) == (prospects.value, prospects.best, False)


def test_what_does_not_fit_a_page_is_refused(tmp_path: Path) -> None:
    game = tacit.make("stag-hunt")
    probs = np.full((50, 1, 2), 0.5, dtype=np.float32)
    mixture = RecordedPolicy(np.zeros((50, 1), dtype=int), probs, actions=[2, 2], states=1)
    with pytest.raises(TacitError, match="must be a Markov policy"):
        write_play(game, mixture, tmp_path / "page.html")
    large = tacit.make("random-team", states=60, actions=[30, 30], horizon=2)
    with pytest.raises(TacitError, match="at most 20 MB"):
        write_play(large, tacit.MarkovPolicy.uniform(large), tmp_path / "page.html")
    crowd = tacit.make("minority", agents=50)
    with pytest.raises(TacitError, match="at most 20 MB"):
        write_play(crowd, tacit.MarkovPolicy.uniform(crowd), tmp_path / "page.html")
    with pytest.raises(TacitError, match="agent"):
        write_play(game, tacit.MarkovPolicy.uniform(game), tmp_path / "page.html", agent=2)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("correlated", "agent"), [(False, 1), (True, 0)])
def test_the_page_plays_as_python_does(watched: Any, tmp_path: Path, correlated: bool, agent: int) -> None:
    """Each draw, reward, next state and regret of 60 episodes, from the page's own random numbers."""
    game = tacit.make("random-general-sum", states=3, actions=[2, 3], horizon=4, seed=5)
    policy = tacit.MarkovPolicy.random(game, seed=1, correlated=correlated)
    watcher = watched(offline=True)
    watcher.page.goto(write_play(game, policy, tmp_path / "play.html").as_uri())
    prospects, N = judge(game, policy, agent), game.agents
    episodes = watcher.page.evaluate(EPISODES, [agent, 60])
    for episode in episodes:
        turns = episode["turns"]
        for h, (turn, numbers) in enumerate(zip(turns, episode["luck"], strict=True)):
            mine, place = turn["actions"][agent], turn["state"]
            assert turn["actions"] == drawn(policy, h, place, numbers, {agent: mine})
            s_next, rewards = game.step(h, place, turn["actions"], numbers[N + 1])
            assert s_next == (turns[h + 1]["state"] if h + 1 < len(turns) else episode["end"])
            assert turn["reward"] == rewards[agent]
            heard = drawn(policy, h, place, numbers, {})[agent] if correlated else None
            assert turn["recommended"] == heard
            assert turn["regret"] == pytest.approx(prospects.regret(h, place, mine, heard), abs=1e-12)
            assert turn["best"] == prospects.choice(h, place, heard)
        result = episode["result"]
        assert result["best"] == pytest.approx(prospects.first[turns[0]["state"]])
        assert result["earned"] == pytest.approx(result["best"] - result["regret"] + result["luck"])
    assert watcher.complaints == []


def drawn(policy: tacit.MarkovPolicy, h: int, s: int, numbers: list[float], instead: dict[int, int]) -> list[int]:
    """What all play by inverse-transform sampling, but for those who do something else."""
    agents = len(policy.actions)
    if policy.product:
        actions = [int((numbers[i] >= np.cumsum(policy.probs[i][h, s])).sum()) for i in range(agents)]
    else:
        joint = int((numbers[agents] >= np.cumsum(policy.probs[0][h, s])).sum())
        actions = [int(a) for a in np.unravel_index(joint, policy.actions)]
    return [instead.get(i, a) for i, a in enumerate(actions)]


def test_a_game_is_played_with_the_keyboard_on_a_phone(watched: Any, tmp_path: Path) -> None:
    game = tacit.make("good-state", horizon=3)
    policy = tacit.MarkovPolicy.uniform(game)
    watcher = watched(color_scheme="dark", offline=True)
    page = watcher.page
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(write_play(game, policy, tmp_path / "play.html", about="Against the uniform policy.").as_uri())
    page.wait_for_selector(".action")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    prospects, regret = judge(game, policy, 0), 0.0
    for step in range(3):
        h, s = page.evaluate("[tacit.now().h, tacit.now().state]")
        worst = int(prospects.q[h, s].argmin())
        regret += prospects.regret(h, s, worst)
        page.keyboard.press(str(worst))
        assert page.locator("main > section tbody tr").count() == step + 1
    assert page.evaluate("document.activeElement.textContent") == "play again"
    assert f"{regret:.4g}" in page.inner_text(".result")
    page.keyboard.press("Enter")
    assert page.locator(".result").is_hidden()
    assert page.evaluate("document.activeElement.className") == "action"
    assert page.get_attribute(".news", "aria-live") == "polite"
    page.locator("header .chip", has_text="agent 1").click()  # another place
    assert page.evaluate("tacit.now().agent") == 1
    assert watcher.complaints == []
    assert [address for address in watcher.asked if not address.startswith(("file:", "data:"))] == []


WILD = "<img src=x onerror=alert(1)></script><script>alert(2)</script>"


def test_hostile_names_do_nothing(watched: Any, tmp_path: Path) -> None:
    game = tacit.make("stag-hunt")
    names = {"name": WILD, "state_names": [WILD], "action_names": [[WILD, "b"], ["a", WILD]]}
    hostile = tacit.TabularGame(game.transitions, game.rewards, game.initial, 1, **names)
    watcher = watched()
    watcher.page.on("dialog", lambda dialog: watcher.complaints.append(dialog.message))
    watcher.page.goto(
        write_play(hostile, tacit.MarkovPolicy.uniform(hostile), tmp_path / "x.html", about=WILD).as_uri()
    )
    watcher.page.wait_for_selector(".action")
    assert watcher.page.inner_text("h1") == WILD
    watcher.page.locator(".action").first.click()
    watcher.page.wait_for_selector(".again")
    assert watcher.page.locator("main img[src=x]").count() == 0
    assert watcher.complaints == []
