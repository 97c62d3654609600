"""Models and properties of PRISM-games: figures that its tests state, on models written anew, and what is refused."""

import contextlib

import numpy as np
import pytest

import tacit

#: Two choose alike or not; then the first needs a coin of 1/2, the second one of 3/4, to go on.
RACE = """csg
player one m1 endplayer
player two m2 endplayer
const double p = 0.5; const int last = 4;
const double luck;
formula begun = s1>0;
label "both" = s1=last & s2=last;
module m1 // the first
  r1 : [0..1];
  s1 : [0..last] init 0;
  [a1,a2] s1=0 -> p : (s1'=1) & (r1'=1) + 1-p : (s1'=1);
  [a1,b2] s1=0 -> (s1'=1);
  [b1,a2] s1=0 -> (s1'=1);
  [b1,b2] s1=0 -> (s1'=1);
  [a1] begun -> p : (s1'=min(last,s1+1)) + 1-p : true;
endmodule
module m2
  r2 : [0..1];
  s2 : [0..last] init 0;
  [a2,a1] s2=0 -> (s2'=1);
  [b2,a1] s2=0 -> (s2'=1);
  [a2,b1] s2=0 -> (s2'=1);
  [b2,b1] s2=0 -> luck : (s2'=1) & (r2'=1) + 1-luck : (s2'=1);
  [a2] s2>0 -> luck : (s2'=min(last,s2+1)) + 1-luck : true;
endmodule
"""

#: Three channels' worth of the language: renaming, unlabelled commands, primed variables, both kinds of rewards.
PENNIES = """csg
player even m endplayer
player odd n endplayer
module m
  h1 : bool init false;
  [show1] true -> (h1'=true);
  [hide1] true -> (h1'=false);
endmodule
module n = m[h1=h2, show1=show2, hide1=hide2] endmodule
module referee
  won : [-1..1];
  [] true -> (won'=(h1'=h2')?1:0);
endmodule
rewards "right" won=1 : 1; endrewards
rewards "match" [show1,show2] true : 1; [hide1,hide2] true : 1; endrewards
"""


@pytest.fixture
def read(tmp_path):
    def load(text, wanted, **more):
        path = tmp_path / "model.prism"
        path.write_text(text)
        return tacit.load(path, property=wanted, **more)

    return load


@pytest.mark.parametrize(
    ("wanted", "values"),
    [
        ("P[F<=1 (r1=1 & s1=1)] + P[F<=1 (r2=1 & s2=1)]", [0, 0.75]),
        ("P[F<=3 (r1=1 & s1=3)] + P[F<=2 (r2=1 & s2=3)]", [0.125, 0]),
        ("P[F<=2 (r1=1 & s1=3)] + P[F<=3 (r2=1 & s2=3)]", [0, 0.421875]),
        ("P[F<=1 (r1=1 & s1=1)] + P[F<=2 (r2=1 & s2=3)]", [0.5, 0]),
    ],
)
def test_properties_of_two_sides(read, wanted, values):
    game = read(RACE, f"<<one:two>>max=? ({wanted})", constants={"luck": 0.75})
    np.testing.assert_allclose(tacit.solve(game, "nash").values, values, atol=1e-12)


def test_properties_of_one_side_are_zero_sum(read):
    for wanted in (
        'R{"right"}max=? [ I=1 ]',
        'R{"match"}max=? [ C<=1 ]',
        "Pmax=? [ X won=1 ]",
        "Pmax=? [ F<=1 won=1 ]",
    ):
        values = tacit.solve(read(PENNIES, f"<<even>>{wanted}"), "nash").values
        np.testing.assert_allclose(values, [0.5, -0.5], atol=1e-9, err_msg=wanted)
    least = tacit.solve(read(PENNIES, '<<even>>R{"match"}min=? [ C<=4 ]'), "nash").values
    np.testing.assert_allclose(least, [-2, 2], atol=1e-9)
    alone = tacit.solve(read(PENNIES, '<<even,odd>>R{"match"}max=? [ C<=4 ]'), "optimum").values
    np.testing.assert_allclose(alone, [4], atol=1e-9)


def test_until_and_a_goal_without_a_bound(read):
    # odd must not be caught before the third round: each round even matches with chance 1/2
    with pytest.raises(tacit.TacitError, match="has no bound; give horizon="):
        read(PENNIES, "<<even>>Pmax=? [ F won=1 ]")
    values = tacit.solve(read(PENNIES, "<<even>>Pmax=? [ F won=1 ]", horizon=3), "nash").values
    assert values[0] == pytest.approx(1 - 1 / 8, abs=1e-9)
    values = tacit.solve(read(PENNIES, "<<even>>Pmax=? [ won!=0 U<=3 won=1 ]"), "nash").values
    assert values[0] == pytest.approx(1 / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("change", "wanted", "message"),
    [
        (("csg", "smg"), "<<even>>Pmax=? [ X won=1 ]", "model.prism:1: the model is of the kind smg; only"),
        (("won : [-1..1]", "won : [-1..0]"), "<<even>>Pmax=? [ X won=1 ]", "won would become 1, outside its range"),
        (("(h1'=true)", "(h1=true)"), "<<even>>Pmax=? [ X won=1 ]", "model.prism:6: "),
        (("(h1'=true)", "0.5 : (h1'=true)"), "<<even>>Pmax=? [ X won=1 ]", "6: the probabilities sum to 0.5"),
        (("(h1'=true)", "2 : (h1'=true) + -1 : true"), "<<even>>Pmax=? [ X won=1 ]", "6: a probability is -1; it must"),
        (("", ""), "<<even>>Pmax=? [ G won=1 ]", "G is not read"),
        (("", ""), "<<evan>>Pmax=? [ X won=1 ]", "there is no player evan"),
        (("", ""), '<<even>>R{"wrong"}max=? [ C<=1 ]', "the model has no rewards 'wrong'"),
        (("", ""), "<<even>>Pmax=? [ F<=k won=1 ]", "k has no value"),
        (("", ""), "<<even>>Pmax=? [ F<=1 won=1 ] + 1", "where the end must be"),
        (("[] true", "[] true -> true; [] true"), "<<even>>Pmax=? [ X won=1 ]", "several commands"),
        (("true -> (won'=(h1'=h2')?1:0)", "true -> (won'=won'+1)"), "<<even>>Pmax=? [ X won=1 ]", "depends on itself"),
        (
            ("[-1..1]", "[-1..1] init 7"),
            "<<even>>Pmax=? [ X won=1 ]",
            r"model.prism:11: won begins with 7, outside its range \[-1..1",
        ),
        (("[-1..1]", "[3..1]"), "<<even>>Pmax=? [ X won=1 ]", r"model.prism:11: the range of won, \[3..1\], is empty"),
        (
            ("won :", "h2 :"),
            "<<even>>Pmax=? [ X won=1 ]",
            "model.prism:11: there is a variable or a constant h2 already",
        ),
        (
            ("(won'", "(h2'"),
            "<<even>>Pmax=? [ X won=1 ]",
            "model.prism:12: module referee sets h2; a module sets its own",
        ),
        (("?1:0", "?1/0:1/0"), "<<even>>Pmax=? [ X won=1 ]", "model.prism: a division of 1 by 0"),
        (("", ""), "<<even>>Pmax=? [ F<=1000000000 won=1 ]", "1,000,000,000 steps ahead, .* larger limit="),
        (("csg", "csg const int k = 1;\nconst int k = 2;"), "<<even>>Pmax=? [ X won=1 ]", "2: k is declared twice"),
        (("csg", "csg const int k;\nconst int k = 2;"), "<<even>>Pmax=? [ X won=1 ]", "2: k is declared twice"),
        (("csg", "csg formula f = 1;\nformula f = 2;"), "<<even>>Pmax=? [ X won=1 ]", "2: f is declared twice"),
        (("csg", "csg formula k = 1;\nconst int k = 2;"), "<<even>>Pmax=? [ X won=1 ]", "2: k is declared twice"),
        (("module referee", "module n"), "<<even>>Pmax=? [ X won=1 ]", "is declared twice"),
        (("(h1'=true)", "(h1'=true)&(h1'=false)"), "<<even>>Pmax=? [ X won=1 ]", "6: h1' is set twice in one update"),
        (("", ""), "<<even>>Pmax=? [ F<=3 won=1", "it ends where ] must be"),
    ],
)
def test_what_is_not_read_is_refused_in_a_sentence(read, change, wanted, message):
    with pytest.raises(tacit.TacitError, match=message):
        read(PENNIES.replace(*change, 1), wanted)


def test_modules_must_not_set_a_global_variable_at_once(read):
    model = PENNIES.replace("csg\n", "csg\nglobal g : bool;\n", 1).replace("(h1'=true)", "(h1'=true)&(g'=true)")
    with pytest.raises(tacit.TacitError, match=r"model.prism:7: several modules set g at once"):
        read(model, "<<even>>Pmax=? [ X won=1 ]")
    alone = model.replace("module n = m[h1=h2, show1=show2, hide1=hide2]", "module n h2 : bool; [show2] true -> true;")
    assert read(alone, "<<even>>Pmax=? [ X g ]").horizon == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [({"luck": 0.75, "zz": 2}, "no constant 'zz' to give; the model leaves open: luck"),
     ({"luck": 0.75, "p": 0.1}, "model.prism:4: the model defines the constant p")],
)  # fmt: skip
def test_constants_are_given_where_they_are_open(read, given, message):
    with pytest.raises(tacit.TacitError, match=message):
        read(RACE, "<<one>>Pmax=? [ F<=1 s1=1 ]", constants=given)
    read(RACE, "<<one>>Pmax=? [ F<=k s1=1 ]", constants={"luck": 0.75, "k": 1})


def test_properties_know_formulas_and_discounts(read):
    model = PENNIES.replace("csg", "csg formula right = won=1; formula wins = right;", 1)
    values = tacit.solve(read(model, "<<even>>Pmax=? [ F<=3 wins ]"), "nash").values
    assert values[0] == pytest.approx(1 - 1 / 8, abs=1e-9)
    game = read(model, "<<even>>Pmax=? [ F wins ]", discount=0.9)  # v = 1/2 + 1/2 · 0.9 v
    assert tacit.solve(game, "nash").values[0] == pytest.approx(1 / 1.1, abs=1e-6)


def test_both_may_want_little_and_parts_come_in_any_order(read):
    late = "const int two = one+one;\n" + PENNIES.replace("csg\n", "const int one = 1;\ncsg\n", 1).replace(
        '"match" [show1,show2] true : 1', '"match" [show1,show2] true : two'
    )
    game = read(late, '<<even:odd>>min=? (R{"match"}[ C<=2 ] + R{"right"}[ C<=2 ])')
    assert tacit.solve(game, "nash").values.tolist() == [0, 0]  # they differ, and neither pays
    assert game.reward_range == (-2, 0)


@pytest.mark.parametrize(
    ("hostile", "message"),
    [
        ("formula f0 = h1;" + "".join(f"formula f{k} = f{k - 1} & f{k - 1};" for k in range(1, 45)), "too long to be"),
        (
            "const int c0 = 10;" + "".join(f"const int c{k} = c{k - 1}*c{k - 1};" for k in range(1, 60)),
            "1: a number is",
        ),
        ("formula f44 = g; formula g = f44;", "in a circle"),
        (
            "".join(
                f"player p{k} m{k} endplayer module m{k} {''.join(f'[a{k}x{j}] true -> true; ' for j in range(10))}"
                f"endmodule "
                for k in range(9)
            ),
            "have 4,000,000,000 joint actions",
        ),
        (
            "".join(
                f"module m{k} x{k} : [0..9]; []true->{' + '.join(f'0.1 : (x{k}={j})' for j in range(10))}; endmodule "
                for k in range(9)
            ).replace("=", "'=", -1),
            "leads to",
        ),
    ],
    ids=["formulas", "squares", "circle", "actions", "outcomes"],
)
def test_claims_that_no_memory_holds_are_refused(read, hostile, message):
    model = PENNIES.replace("csg", f"csg {hostile}", 1)
    if "f44" in hostile:
        model = model.replace("[show1] true", "[show1] f44", 1)
    with pytest.raises(tacit.TacitError, match=message):
        read(model, "<<even>>Pmax=? [ X won=1 ]")


@pytest.mark.parametrize(
    "bad", ["(" * 5000 + "1", "mod(1, 0)", "log(0, 2)", "pow(10, 400)", "min(true, )", "won'", "1/0"]
)
def test_expressions_that_cannot_be_computed_are_told(read, bad):
    with pytest.raises(tacit.TacitError, match=r"model\.prism"):
        read(PENNIES.replace("?1:0", f"?{bad}:{bad}"), "<<even>>Pmax=? [ X won=1 ]")


def test_random_damage_is_told_in_a_sentence(read):
    rng = np.random.default_rng(0)
    for _ in range(150):
        text = list(PENNIES)
        for at in rng.integers(len(text), size=3):
            text[at] = str(rng.choice(list("()[]{}'=;:x1 &+-")))
        with contextlib.suppress(tacit.TacitError):  # any other error fails
            read("".join(text), "<<even>>Pmax=? [ F<=2 won=1 ]")


def test_actions_are_called_as_in_the_model(read):
    game = read(PENNIES, "<<even>>Pmax=? [ X won=1 ]")
    assert game.action_names == (("show1", "hide1"), ("show2", "hide2"))
    together = read(PENNIES, "<<even,odd>>Pmax=? [ X won=1 ]")
    assert together.action_names == (("show1 and show2", "show1 and hide2", "hide1 and show2", "hide1 and hide2"),)


def test_a_model_without_a_property_asks_for_one(tmp_path):
    path = tmp_path / "model.prism"
    path.write_text(PENNIES)
    with pytest.raises(tacit.TacitError, match="give property="):
        tacit.load(path)
    path.write_text(PENNIES[: PENNIES.rindex("endrewards")])
    with pytest.raises(tacit.TacitError, match="the file ends where endrewards must be"):
        tacit.load(path)
    with pytest.raises(tacit.TacitError, match="has no parameter 'propertie'"):
        tacit.load(path, propertie="x")
