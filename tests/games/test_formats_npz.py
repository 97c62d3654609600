"""Games as .npz: what is written comes back, and damage is noticed."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tacit

# A game written and read again is the same game.


GAMES = {
    "dense": ("random-general-sum", {"actions": (2, 3), "states": 3, "horizon": 4}),
    "dense, stationary": ("random-general-sum", {"states": 3, "stationary": True, "horizon": 7}),
    "sparse": ("random-general-sum", {"states": 8, "successors": 2, "horizon": 2}),
    "sparse, stationary, names": ("box-pushing", {"horizon": 3}),
    "names": ("good-state", {}),
    "one agent": ("random-team", {"agents": 1}),
    "four agents": ("random-general-sum", {"agents": 4, "actions": (1, 2, 3, 2)}),
    "twelve agents": ("distancing", {"agents": 12, "weights": [1, 2]}),
}


def assert_same(one: tacit.TabularGame, other: tacit.TabularGame) -> None:
    for key in ("agents", "states", "actions", "horizon", "name", "state_names", "action_names", "reward_range"):
        assert getattr(one, key) == getattr(other, key), key
    assert one.rewards.shape == other.rewards.shape
    assert one.transition_steps == other.transition_steps
    assert (one.rewards == other.rewards).all()
    assert (one.initial == other.initial).all()
    assert all((a == b).all() for a, b in zip(one.successors, other.successors, strict=True))


@pytest.mark.parametrize("which", GAMES)
def test_round_trip(which: str, tmp_path: Path):
    name, params = GAMES[which]
    game = tacit.make(name, **params)
    game.save(tmp_path / "game.npz")
    assert_same(game, tacit.load(tmp_path / "game.npz"))


@pytest.mark.parametrize(("which", "form"), [("dense", "transitions"), ("sparse", "successor_prob")])
def test_the_smaller_form_is_stored(which: str, form: str, tmp_path: Path):
    name, params = GAMES[which]
    tacit.make(name, **params).save(tmp_path / "game.npz")
    with zipfile.ZipFile(tmp_path / "game.npz") as archive:
        assert f"{form}.npy" in archive.namelist()


def test_names_with_letters_of_all_kinds_are_kept(tmp_path: Path):
    game = tacit.TabularGame(
        np.ones((1, 1, 2, 1)),
        np.zeros((1, 1, 1, 2)),
        [1],
        1,
        name="größe×",
        state_names=["東"],
        action_names=[["", "ß "]],
    )
    game.save(tmp_path / "game.npz")
    assert_same(game, tacit.load(tmp_path / "game.npz"))


def test_horizon_replaces_that_of_a_stationary_game(tmp_path: Path):
    tacit.make("good-state", horizon=10).save(tmp_path / "game.npz")
    assert tacit.load(tmp_path / "game.npz", horizon=3).horizon == 3


def test_a_game_that_changes_with_the_step_keeps_its_horizon(tmp_path: Path):
    tacit.make("random-team", horizon=4).save(tmp_path / "game.npz")
    with pytest.raises(tacit.TacitError, match="with horizon 3; got 4"):
        tacit.load(tmp_path / "game.npz", horizon=3)


def test_saving_replaces_a_file_whole_and_leaves_nothing_else(tmp_path: Path):
    place = tmp_path / "game.npz"
    place.write_text("something else")
    tacit.make("chicken").save(str(place))
    assert tacit.load(str(place)).name == "chicken"
    assert [p.name for p in tmp_path.iterdir()] == ["game.npz"]


@pytest.mark.parametrize(
    ("where", "told"),
    [("no/such/folder/game.npz", "cannot write"), (".", "has no ending"), ("game.zip", "the ending '.zip'")],
)
def test_a_place_that_cannot_be_written_is_named(where: str, told: str, tmp_path: Path):
    with pytest.raises(tacit.TacitError, match=told):
        tacit.make("chicken").save(tmp_path / where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("correlated", [False, True])
def test_policies_round_trip_too(correlated: bool, tmp_path: Path):
    game = tacit.make("random-general-sum", agents=3, actions=(2, 1, 3))
    policy = tacit.MarkovPolicy.random(game, correlated=correlated)
    policy.save(tmp_path / "policy.npz")
    again = tacit.MarkovPolicy.load(tmp_path / "policy.npz")
    assert again.product == policy.product
    assert all((a == b).all() for a, b in zip(again.probs, policy.probs, strict=True))


@pytest.mark.parametrize("game", ["x", None, {}, tacit.make("congestion", agents=3)], ids=str)
@pytest.mark.parametrize("ending", [".npz", ".nfg"])
def test_what_is_no_tabular_game_is_not_saved(game: object, ending: str, tmp_path: Path):
    with pytest.raises(tacit.TacitError, match="TabularGame"):
        tacit.games.save(game, tmp_path / f"x{ending}")
    assert not list(tmp_path.iterdir())


# A damaged file gives the same game or a TacitError that names the file: never anything else.


def loaded_or_message(place: Path) -> tacit.TabularGame | str:
    try:
        return tacit.load(place)
    except tacit.TacitError as error:
        return str(error)


def assert_same_or_refused(place: Path, game: tacit.TabularGame) -> bool:
    """Load; return whether the game came through, and fail if it came through altered."""
    found = loaded_or_message(place)
    if isinstance(found, str):
        assert str(place) in found
        assert "\n" not in found
        return False
    for key in ("horizon", "name", "state_names", "action_names"):
        assert getattr(found, key) == getattr(game, key), f"{key} was altered unnoticed"
    assert (found.rewards == game.rewards).all()
    assert (found.initial == game.initial).all()
    assert (found.transitions == game.transitions).all()
    return True


@pytest.fixture(params=["good-state", "box-pushing"])
def game(request: pytest.FixtureRequest) -> tacit.TabularGame:
    return tacit.make(request.param, horizon=2)


def saved(game: tacit.TabularGame, folder: Path) -> tuple[Path, bytes]:
    place = folder / "game.npz"
    game.save(place)
    return place, place.read_bytes()


def test_a_file_cut_short_anywhere_is_refused(game: tacit.TabularGame, tmp_path: Path):
    place, whole = saved(game, tmp_path)
    for length in np.linspace(0, len(whole) - 1, 80).astype(int):
        place.write_bytes(whole[:length])
        assert not assert_same_or_refused(place, game), f"a file of {length} of {len(whole)} bytes was taken"


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_are_noticed_or_harmless(game: tacit.TabularGame, seed: int, tmp_path: Path):
    place, whole = saved(game, tmp_path)
    rng = np.random.default_rng(seed)
    # half of them in the last tenth, where the zip directory lies, which no checksum covers
    spots = np.concatenate([rng.integers(len(whole), size=60), rng.integers(len(whole) * 9 // 10, len(whole), size=60)])
    for spot in spots:
        broken = bytearray(whole)
        broken[spot] ^= 1 << rng.integers(8)
        place.write_bytes(bytes(broken))
        assert_same_or_refused(place, game)


@pytest.mark.parametrize("bit", [0, 5])
def test_no_byte_of_the_zip_directory_can_change_the_game(bit: int, tmp_path: Path):
    """No checksum covers the directory: a wrong length there can make a reader skip arrays."""
    game = tacit.make("good-state", horizon=2)
    place, whole = saved(game, tmp_path)
    for spot in range(whole.index(b"PK\x01\x02"), len(whole)):
        broken = bytearray(whole)
        broken[spot] ^= 1 << bit
        place.write_bytes(bytes(broken))
        assert_same_or_refused(place, game)


@pytest.mark.parametrize("seed", range(2))
def test_overwritten_stretches_are_noticed_or_harmless(game: tacit.TabularGame, seed: int, tmp_path: Path):
    place, whole = saved(game, tmp_path)
    rng = np.random.default_rng(100 + seed)
    for _ in range(60):
        broken = bytearray(whole)
        spot, length = int(rng.integers(len(whole))), int(rng.integers(1, 30))
        broken[spot : spot + length] = rng.bytes(length)
        place.write_bytes(bytes(broken))
        assert_same_or_refused(place, game)


def test_a_damaged_array_header_is_refused(tmp_path: Path):
    """Headers rewritten inside a valid zip, so that no checksum protects them."""
    game = tacit.make("chicken")
    place, _ = saved(game, tmp_path)
    with zipfile.ZipFile(place) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    rng = np.random.default_rng(0)
    for _ in range(300):
        broken = bytearray(members["rewards.npy"])
        spot = int(rng.integers(0, 100))
        broken[spot] = int(rng.integers(256))
        with zipfile.ZipFile(place, "w") as archive:
            for name, content in {**members, "rewards.npy": bytes(broken)}.items():
                archive.writestr(name, content)
        found = loaded_or_message(place)
        assert not isinstance(found, str) or str(place) in found


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04", b"\x93NUMPY", bytes(1000)])
def test_what_is_no_zip_is_refused(content: bytes, tmp_path: Path):
    place = tmp_path / "game.npz"
    place.write_bytes(content)
    with pytest.raises(tacit.TacitError, match=r"game\.npz is not a whole \.npz file"):
        tacit.load(place)


def with_array(place: Path, name: str, content: object) -> None:
    """Write a good game in which one array is replaced (or, with None, left out)."""
    arrays: dict[str, object] = {
        "transitions": np.ones((1, 1, 2, 1)),
        "rewards": np.zeros((1, 1, 1, 2)),
        "initial": np.ones(1),
        "horizon": np.int64(3),
    }
    arrays[name] = content
    with zipfile.ZipFile(place, "w") as archive:
        for key, value in arrays.items():
            if isinstance(value, bytes):
                archive.writestr(f"{key}.npy", value)
            elif value is not None:
                buffer = io.BytesIO()
                np.save(buffer, value, allow_pickle=True)
                archive.writestr(f"{key}.npy", buffer.getvalue())


class Bomb:
    """What a pickle could do on reading."""

    exploded = False

    def __reduce__(self):
        return (Bomb._explode, ())

    @staticmethod
    def _explode():
        Bomb.exploded = True
        return Bomb()


@pytest.mark.parametrize("name", ["rewards", "name", "extra"])
def test_an_array_of_objects_is_refused_and_not_run(name: str, tmp_path: Path):
    with_array(tmp_path / "game.npz", name, np.array([Bomb()], dtype=object))
    with pytest.raises(tacit.TacitError, match="holds 'object'"):
        tacit.load(tmp_path / "game.npz")
    assert not Bomb.exploded


@pytest.mark.parametrize(
    "shape", [(10**12,), (2**31, 2**31), (2**62, 4), (10**30,), (-1, 4), (0, 10**15)], ids=lambda shape: str(shape)
)
def test_a_header_with_another_shape_is_refused_early(shape: tuple[int, ...], tmp_path: Path):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    with_array(tmp_path / "game.npz", "rewards", content)
    with pytest.raises(tacit.TacitError, match=r"game\.npz: .*rewards"):
        tacit.load(tmp_path / "game.npz")


@pytest.mark.parametrize("name", ["transitions", "rewards", "initial", "horizon"])
def test_a_missing_array_is_named(name: str, tmp_path: Path):
    with_array(tmp_path / "game.npz", name, None)
    with pytest.raises(tacit.TacitError, match=f"is not a game: it has no {name}"):
        tacit.load(tmp_path / "game.npz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("horizon", np.array("three")),
        ("horizon", np.array([3, 3])),
        ("horizon", np.float64(2.5)),
        ("horizon", np.float64(np.nan)),
        ("horizon", np.int64(0)),
        ("rewards", np.array("x")),
        ("rewards", np.zeros(3)),
        ("transitions", np.zeros((1, 1, 2, 1))),
        ("initial", np.array([0.5])),
        ("state_names", np.array(["a", "b"])),
        ("action_names_0", np.array(["a"])),
        ("action_names_1", np.array(["a", "b"])),
        ("action_names_x", np.array(["a", "b"])),
        ("name", np.array([["a", "b"]])),
    ],
)
def test_a_wrong_content_is_refused_by_file(name: str, value: np.ndarray, tmp_path: Path):
    with_array(tmp_path / "game.npz", name, value)
    with pytest.raises(tacit.TacitError, match=r"game\.npz"):
        tacit.load(tmp_path / "game.npz")


def test_a_policy_is_no_game_and_a_game_no_policy(tmp_path: Path):
    game = tacit.make("chicken")
    game.save(tmp_path / "game.npz")
    tacit.MarkovPolicy.uniform(game).save(tmp_path / "policy.npz")
    with pytest.raises(tacit.TacitError, match="is not a game"):
        tacit.load(tmp_path / "policy.npz")
    with pytest.raises(tacit.TacitError, match="is not a Markov policy"):
        tacit.MarkovPolicy.load(tmp_path / "game.npz")


@pytest.mark.parametrize("place", ["no-such.npz", "folder.npz", "game.txt", "game", "nul\0.npz"])
def test_a_wrong_path_is_named(place: str, tmp_path: Path):
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "game.txt").write_text("x")
    with pytest.raises(tacit.TacitError) as caught:
        tacit.load(f"{tmp_path}/{place}")
    assert "\n" not in str(caught.value)
