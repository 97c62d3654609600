"""A csg model: variables, players and their actions, commands, rewards; and the rules that they make."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tacit.core.check import SUM_TOLERANCE
from tacit.core.errors import TacitError, brief
from tacit.games.prism.expressions import Environment, Expression, Reader, Token, is_name, split
from tacit.games.text import LineError

State = tuple[Any, ...]

#: Kinds of models that PRISM and PRISM-games know.
MODEL_KINDS = ("csg", "smg", "tsg", "mdp", "dtmc", "ctmc", "pta", "popta", "pomdp", "imdp", "idtmc", "stpg")

#: Joint actions, outcomes of one of them, states × joint actions and tokens of a model up to which it is read.
LIMIT = 500_000


@dataclass(frozen=True)
class Command:
    """What a module does where its guard holds and all its actions are chosen."""

    actions: tuple[str, ...]
    guard: Expression
    branches: list[tuple[Expression, list[tuple[str, Expression]]]]
    line: int


#: Actions, guard and value: state rewards have no actions, None; those of actions hold where all of them are chosen.
Reward = tuple[tuple[str, ...] | None, Expression, Expression]


@dataclass
class Model:
    """What a file says."""

    constants: dict[str, Any] = field(default_factory=dict)
    variables: dict[str, tuple[Expression | None, Expression | None]] = field(default_factory=dict)
    first: list[Any] = field(default_factory=list)
    modules: dict[str, list[Command]] = field(default_factory=dict)
    players: dict[str, list[str]] = field(default_factory=dict)
    labels: dict[str, Expression] = field(default_factory=dict)
    rewards: dict[str, list[Reward]] = field(default_factory=dict)
    formulas: dict[str, list[Token]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)  # constants to be given

    @property
    def start(self) -> State:
        """The first state."""
        return tuple(self.first)

    def environment(self, s: State) -> dict[str, Any]:
        """Return all values in a state."""
        return {**self.constants, **dict(zip(self.variables, s, strict=True))}

    def expand(self, tokens: list[Token], depth: int = 0) -> list[Token]:
        """Put formulas in the place of their names."""
        if depth > 50:
            raise LineError(tokens[0].line, "formulas refer to each other in a circle")
        found: list[Token] = []
        for token in tokens:
            if token.text in self.formulas:
                inner = self.expand(self.formulas[token.text], depth + 1)
                found += [Token("(", token.line), *inner, Token(")", token.line)]
            else:
                found.append(token)
            if len(found) > LIMIT:
                raise LineError(token.line, "with its formulas written out, the model is too long to be read")
        return found

    def own_actions(self, player: str, env: Environment | None = None) -> list[str]:
        """Return a player's actions, the first of each command of its modules: all, or those that it has in a state."""
        commands = [one for module in self.players[player] for one in self.modules[module] if one.actions]
        return list(dict.fromkeys(one.actions[0] for one in commands if env is None or one.guard(env)))

    def rules(
        self, sides: Sequence[Sequence[str]]
    ) -> tuple[Callable[[State, tuple[int, ...]], list[tuple[float, Any]]], list[list[tuple[str, ...]]]]:
        """Return where joint actions of sides of players lead, and each side's actions, one for each of its players."""
        own = [[self.own_actions(player) or ["idle"] for player in side] for side in sides]
        joint_actions = math.prod(len(actions) for side in own for actions in side)
        if joint_actions > LIMIT:
            raise TacitError(f"the players have {joint_actions:,} joint actions; at most {LIMIT:,} are read")
        plans = [list(itertools.product(*side)) for side in own]
        known: dict[tuple[State, tuple[str, ...]], list[tuple[float, Any]]] = {}

        def rules(s: State, joint: tuple[int, ...]) -> list[tuple[float, Any]]:
            chosen = self.choose(s, sides, [plan[a] for plan, a in zip(plans, joint, strict=True)])
            if (s, chosen) not in known:
                known[s, chosen] = self._outcomes(s, chosen)
            return known[s, chosen]

        self._sides, self._plans = sides, plans
        return rules, plans

    def choose(self, s: State, sides: Sequence[Sequence[str]], plans: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        """Return the actions that are taken: one that is not available becomes the player's first that is."""
        env, chosen = self.environment(s), []
        for side, plan in zip(sides, plans, strict=True):
            for player, action in zip(side, plan, strict=True):
                options = self.own_actions(player, env)
                if options:
                    chosen.append(action if action in options else options[0])
        return tuple(chosen)

    def reward(self, name: str) -> Callable[..., float]:
        """Return a reward structure as a function of a state and the sides' actions; without them, state rewards."""
        if name not in self.rewards:
            raise TacitError(f"the model has no rewards {name!r}; it has {', '.join(self.rewards) or 'none'}")
        items = self.rewards[name]

        def pay(s: State, joint: tuple[int, ...] | None = None) -> float:
            env = self.environment(s)
            chosen: tuple[str, ...] = ()
            if joint is not None:
                plans = [plan[a] for plan, a in zip(self._plans, joint, strict=True)]
                chosen = self.choose(s, self._sides, plans)
            total = 0.0
            for actions, guard, value in items:
                counts = actions is None or (joint is not None and set(actions) <= set(chosen))
                if counts and guard(env):
                    total += float(value(env))
            return total

        return pay

    def _outcomes(self, s: State, chosen: tuple[str, ...]) -> list[tuple[float, Any]]:
        """Return all next states of what was chosen, with their probabilities."""
        env = self.environment(s)
        parts = [self._branches(module, commands, env, chosen) for module, commands in self.modules.items()]
        outcomes = math.prod(map(len, parts))
        if outcomes > LIMIT:
            raise TacitError(f"a joint action leads to {outcomes:,} outcomes; at most {LIMIT:,} are read")
        found: dict[State, float] = {}
        for combination in itertools.product(*parts):
            chance = 1.0
            updates: dict[str, Expression] = {}
            for p, assignments, line in combination:
                chance *= p
                for name in updates.keys() & dict(assignments).keys():
                    raise LineError(line, f"several modules set {name} at once")
                updates |= dict(assignments)
            if chance > 0:
                after = self._after(env, updates)
                found[after] = found.get(after, 0.0) + chance
        return [(chance, after) for after, chance in found.items()]

    def _branches(
        self, module: str, commands: list[Command], env: Environment, chosen: tuple[str, ...]
    ) -> list[tuple[float, list[tuple[str, Expression]], int]]:
        """Return the branches of the command that a module takes, and its line; a module without one stays as it is."""
        enabled = [one for one in commands if set(one.actions) <= set(chosen) and one.guard(env)]
        if len(enabled) > 1:
            raise LineError(
                enabled[1].line,
                f"module {module} has several commands for {', '.join(chosen) or 'no action'} in one state",
            )
        if not enabled:
            return [(1.0, [], 0)]
        branches = [(float(p(env)), assignments, enabled[0].line) for p, assignments in enabled[0].branches]
        least, total = min(p for p, *_ in branches), sum(p for p, *_ in branches)
        if not least >= 0:
            raise LineError(enabled[0].line, f"a probability is {least:.12g}; it must not be negative")
        if not abs(total - 1) <= SUM_TOLERANCE:
            raise LineError(enabled[0].line, f"the probabilities sum to {total:.12g}, and must to 1")
        return branches

    def _after(self, env: Environment, updates: Mapping[str, Expression]) -> State:
        """Return the state after updates, which may read each other's new values."""
        new = _Primed(env, updates)
        found = []
        for name, (low, high) in self.variables.items():
            value = new[f"{name}'"]
            if low is not None and high is not None and not low(env) <= value <= high(env):
                raise TacitError(f"{name} would become {value}, outside its range")
            found.append(value)
        return tuple(found)


class _Primed(dict[str, Any]):
    """Values, and of primed names the new values, computed when they are asked for."""

    def __init__(self, env: Environment, updates: Mapping[str, Expression]) -> None:
        super().__init__(env)
        self._updates, self._open = updates, set[str]()

    def __missing__(self, name: str) -> Any:
        if not name.endswith("'") or name[:-1] not in self:
            raise KeyError(name)
        plain = name[:-1]
        if plain in self._open:
            raise TacitError(f"the new value of {plain} depends on itself")
        self._open.add(plain)
        value = self._updates[plain](self) if plain in self._updates else self[plain]
        self[name] = value
        return value


class ModelFile:
    """The parts of a file, in any order; a file that is cut short is refused as soon as it is split into them."""

    def __init__(self, text: str) -> None:
        self.reader, self.model = Reader(split(text)), Model()
        self.bodies: dict[str, list[Token]] = {}
        self.globals: set[str] = set()
        self.declared: set[str] = set()  # constants
        self.parts: list[tuple[str, list[Token]]] = []
        reader = self.reader
        kind = next((token for token in reader.tokens if token.text in MODEL_KINDS), Token("", 1))
        if kind.text != "csg":
            said = f"is of the kind {kind.text}" if kind.text else "does not say of which kind it is"
            raise LineError(kind.line, f"the model {said}; only csg, concurrent stochastic games, is read")
        while reader.current:
            part = reader.take("csg", "const", "formula", "label", "player", "module", "rewards", "global")
            if part != "csg":
                self.parts.append((part, self._until(f"end{part}" if part in ("player", "module", "rewards") else ";")))

    def read(self, given: Mapping[str, Any]) -> Model:
        """Read all parts, those that use formulas after all formulas; `given` are constants that the model leaves open.

        Constants are read each as soon as those that it refers to are known.
        """
        self.model.constants |= given
        for tokens in self._all("formula"):
            reader = Reader(tokens)
            name = reader.name("the name of a formula")
            reader.take("=")
            self._declare(name, self.model.formulas, reader.line)
            self.model.formulas[name] = tokens[reader.at :]
        waiting = [constant for tokens in self._all("const") if (constant := self._constant(tokens, given))]
        while waiting:
            left = [(constant, error) for constant in waiting if (error := self._compute(*constant)) is not None]
            if len(left) == len(waiting):
                raise left[0][1]
            waiting = [constant for constant, _ in left]
        for part in ("global", "module", "label", "player", "rewards"):
            for tokens in self._all(part):
                getattr(self, f"_{part}")(tokens)
        self._check_players()
        return self.model

    def _all(self, part: str) -> list[list[Token]]:
        return [tokens for own, tokens in self.parts if own == part]

    def _declare(self, name: str, known: Collection[str], line: int) -> None:
        if name in known:
            raise LineError(line, f"{name} is declared twice")

    def _until(self, end: str) -> list[Token]:
        reader, begin = self.reader, self.reader.at
        while reader.current != end:
            if not reader.current:
                reader.refuse(end)
            reader.at += 1
        reader.at += 1
        return reader.tokens[begin : reader.at - 1]

    def _parts(self, tokens: list[Token]) -> Reader:
        return Reader(self.model.expand(tokens), self.model.labels)

    def _constant(self, tokens: list[Token], given: Mapping[str, Any]) -> tuple[str, Expression, int] | None:
        """Read a constant and note down its name; return name, expression and line unless it is to be given."""
        head = Reader(tokens)
        head.meet("int", "double", "bool")
        line, name = head.line, head.name("the name of a constant")
        self._declare(name, self.declared | self.model.formulas.keys(), line)
        reader = self._parts(tokens[head.at :])
        self.declared.add(name)
        if not reader.meet("="):
            self.model.open.add(name)
            return None
        if name in given:
            raise LineError(line, f"the model defines the constant {name}; constants= gives those that it leaves open")
        return name, reader.expression(), line

    def _compute(self, name: str, value: Expression, line: int) -> TacitError | None:
        """Compute a constant, or return why it has no value yet."""
        try:
            self.model.constants[name] = value(self.model.constants)
        except LineError as error:
            return error
        except TacitError as error:
            return LineError(line, str(error))
        return None

    def _global(self, tokens: list[Token]) -> None:
        self._variable(self._parts(tokens))
        self.globals = set(self.model.variables)

    def _variable(self, reader: Reader) -> None:
        """Read `x : [0..2] init 1` or `x : bool init true`."""
        line, name = reader.line, reader.name("the name of a variable")
        if name in self.model.variables or name in self.model.constants:
            raise LineError(line, f"there is a variable or a constant {name} already")
        reader.take(":")
        low = high = None
        least: Any = False
        most: Any = True
        if not reader.meet("bool"):
            reader.take("[")
            low = reader.expression()
            reader.take("..")
            high = reader.expression()
            reader.take("]")
            least, most = low(self.model.constants), high(self.model.constants)
            if not least <= most:
                raise LineError(line, f"the range of {name}, [{least}..{most}], is empty")
        first = reader.expression()(self.model.constants) if reader.meet("init") else least
        if not least <= first <= most:
            raise LineError(line, f"{name} begins with {first}, outside its range [{least}..{most}]")
        self.model.variables[name] = low, high
        self.model.first.append(first)

    def _module(self, tokens: list[Token]) -> None:
        reader = Reader(tokens)
        name = reader.name("the name of a module")
        self._declare(name, self.model.modules, tokens[0].line)
        body = self._rename(reader) if reader.meet("=") else self.model.expand(tokens[reader.at :])
        self.bodies[name] = body
        own = Reader(body, self.model.labels)
        before = len(self.model.variables)
        while is_name(own.current):
            self._variable(own)
            own.take(";")
        commands = self.model.modules[name] = []
        while own.current:
            commands.append(self._command(own))
        mine = self.globals | set(list(self.model.variables)[before:])
        for command in commands:
            for other in {name for _, updates in command.branches for name, _ in updates} - mine:
                raise LineError(
                    command.line, f"module {name} sets {other}; a module sets its own variables and global ones"
                )

    def _rename(self, reader: Reader) -> list[Token]:
        """Return the body of another module with other names."""
        other = reader.name("the name of a module")
        if other not in self.bodies:
            raise LineError(reader.line, f"there is no module {other} before this one")
        reader.take("[")
        names: dict[str, str] = {}
        while not reader.meet("]"):
            old = reader.name("a name")
            reader.take("=")
            names[old] = reader.name("a new name")
            reader.meet(",")
        primed = {f"{old}'": f"{new}'" for old, new in names.items()}
        return [Token({**names, **primed}.get(token.text, token.text), token.line) for token in self.bodies[other]]

    def _command(self, reader: Reader) -> Command:
        line = reader.line
        actions = _labels(reader)
        guard = reader.expression()
        reader.take("->")
        branches = [self._branch(reader)]
        while reader.meet("+"):
            branches.append(self._branch(reader))
        reader.take(";")
        return Command(actions, guard, branches, line)

    def _branch(self, reader: Reader) -> tuple[Expression, list[tuple[str, Expression]]]:
        """Read `p : (x'=1) & (y'=2)`, or `(x'=1)` of probability 1."""
        chance: Expression = lambda env: 1.0  # noqa: E731
        first, second, *_ = [*reader.peek(2), "", ""]
        if first != "true" and not (first == "(" and second.endswith("'")):
            chance = reader.expression()
            reader.take(":")
        if reader.meet("true"):
            return chance, []
        found: list[tuple[str, Expression]] = []
        while True:
            reader.take("(")
            name = reader.name("a primed variable")
            if not name.endswith("'"):
                raise LineError(reader.line, f"{name} is set without a prime, as in {name}'=1")
            reader.take("=")
            if name[:-1] in (own for own, _ in found):
                raise LineError(reader.line, f"{name} is set twice in one update")
            found.append((name[:-1], reader.expression()))
            reader.take(")")
            if not reader.meet("&"):
                return chance, found

    def _label(self, tokens: list[Token]) -> None:
        reader = self._parts(tokens)
        name = reader.string("the name of a label")
        self._declare(name, self.model.labels, reader.line)
        reader.take("=")
        self.model.labels[name] = reader.expression()

    def _player(self, tokens: list[Token]) -> None:
        reader = Reader(tokens)
        name = reader.name("the name of a player")
        self._declare(name, self.model.players, tokens[0].line)
        modules = self.model.players[name] = []
        while reader.current:
            if reader.meet("["):
                reader.name("an action")
                reader.take("]")
            else:
                modules.append(reader.name("the name of a module"))
            reader.meet(",")

    def _rewards(self, tokens: list[Token]) -> None:
        reader = self._parts(tokens)
        name = reader.string("the name of rewards") if reader.current.startswith('"') else ""
        self._declare(name, [own for own in self.model.rewards if own], reader.line)  # any number have no name
        items = self.model.rewards.setdefault(name, [])
        while reader.current:
            actions = _labels(reader) if reader.current == "[" else None
            guard = reader.expression()
            reader.take(":")
            items.append((actions, guard, reader.expression()))
            reader.take(";")

    def _check_players(self) -> None:
        for player, modules in self.model.players.items():
            for module in modules:
                if module not in self.model.modules:
                    raise TacitError(f"player {player} has the module {brief(module)}, which is not there")
        if not self.model.players:
            raise TacitError("the model has no players")


def _labels(reader: Reader) -> tuple[str, ...]:
    """Read `[a, b]`."""
    reader.take("[")
    found = []
    while not reader.meet("]"):
        found.append(reader.name("an action"))
        reader.meet(",")
    return tuple(found)
