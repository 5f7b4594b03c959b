"""A rule of the maintenance program as joins: what its body's extensions conclude.

    isIn^Ins(?x, ?z)[T] :- isIn^Ins(?x, ?y)[T1], isIn^New(?y, ?z)[T2], T = min(T1, T2).

    Ins.as(?x, ?y, T1)  join  New.as(?y, ?z, T2)  on ?y   select ?x, ?z, least(T1, T2)

Guards are asked on the executors, by the reference engine's own code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812  (as everybody does)

from ebbtide.engines.dataframe.extent import Extent
from ebbtide.engines.reference.closure import guarded
from ebbtide.maintenance import Extension, MaintenanceRule
from ebbtide.maintenance.rule import Marked
from ebbtide.program import Argument, Atom, Guard, Variable
from ebbtide.program.user_module import UserModule
from ebbtide.terms import parse_term

#: A side of a join of at most so many facts is sent whole to every executor, through the driver; no
#: other is, whatever Spark may guess of its size.
SMALL: Final = 5_000


def conclusions(
    rule: MaintenanceRule, extents: Mapping[str, Extent], builtins: Sequence[UserModule]
) -> DataFrame | None:
    """What a rule of Ins concludes, with until; None if some part of its body matches nothing."""
    marked = [part for part in rule.body if isinstance(part, Marked)]
    frames = []
    for place, part in enumerate(marked):
        extent = extents.get(part.atom.relation)
        is_delta = part.extension is Extension.INSERTED
        most = 0 if extent is None else extent.most(part.atom, fresh=is_delta)
        if extent is None or most == 0:
            return None
        frame = _as_binding(part.atom, extent.delta if is_delta else extent.facts, f"T{place}")
        frames.append((most, frame.hint("broadcast" if most <= SMALL else "merge")))
    joined = _joined(frames)
    guards = tuple(part for part in rule.body if isinstance(part, Guard))
    if guards:
        joined = _guarded(joined, rule.function, guards, rule.head.atom, builtins)
    times = [F.col(f"T{place}") for place in range(len(marked))]
    until = F.least(*times) if len(times) > 1 else times[0]
    heads = [
        _value(argument).alias(f"a{place}")
        for place, argument in enumerate(rule.head.atom.arguments)
    ]
    return joined.select(*heads, until.alias("until"))


def _as_binding(atom: Atom, frame: DataFrame, time: str) -> DataFrame:
    """The matches of an atom: a column for each variable, and the time."""
    columns: dict[Variable, Column] = {}
    conditions: list[Column] = []
    for place, argument in enumerate(atom.arguments):
        column = F.col(f"a{place}")
        if not isinstance(argument, Variable):
            conditions.append(column == argument.text)
        elif argument in columns:
            conditions.append(column == columns[argument])
        else:
            columns[argument] = column
    for condition in conditions:
        frame = frame.where(condition)
    named = [column.alias(_name(variable)) for variable, column in columns.items()]
    return frame.select(*named, F.col("until").alias(time))


def _joined(frames: Sequence[tuple[int, DataFrame]]) -> DataFrame:
    """All of them, from the smallest on, and next one that shares a variable, if there is any."""
    waiting = sorted(frames, key=lambda each: each[0])
    whole = waiting.pop(0)[1]
    while waiting:
        connected = [each for each in waiting if _shared(whole, each[1])]
        following = (connected or waiting)[0]
        waiting.remove(following)
        shared = _shared(whole, following[1])
        right = following[1]
        whole = whole.join(right, shared) if shared else whole.crossJoin(right)
    return whole


def _shared(left: DataFrame, right: DataFrame) -> list[str]:
    return [name for name in right.columns if name in left.columns]


def _name(variable: Variable) -> str:
    # Spark does not tell capitals apart in the names of columns; ?x and ?X are two variables.
    return f"v_{variable.name.encode().hex()}"


def _variable(name: str) -> Variable:
    return Variable(bytes.fromhex(name.removeprefix("v_")).decode())


def _value(argument: Argument) -> Column:
    return F.col(_name(argument)) if isinstance(argument, Variable) else F.lit(argument.text)


def _guarded(
    joined: DataFrame,
    name: str,
    guards: Sequence[Guard],
    head: Atom,
    builtins: Sequence[UserModule],
) -> DataFrame:
    """The matches that the guards allow, with what their functions bind."""
    known = joined.columns
    bound = [_name(each) for each in head.variables() if _name(each) not in known]
    made = list(dict.fromkeys(bound))
    schema = ", ".join(f"`{each}` {kind}" for each, kind in joined.dtypes)
    schema += "".join(f", `{each}` string" for each in made)
    return joined.mapInArrow(_asking(name, guards, known, made, builtins), schema)


def _asking(
    name: str,
    guards: Sequence[Guard],
    known: Sequence[str],
    made: Sequence[str],
    builtins: Sequence[UserModule],
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def ask(batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for module in builtins:
            module.run()
        for batch in batches:
            rows = []
            for row in batch.to_pylist():
                binding = {
                    _variable(each): parse_term(row[each])
                    for each in known
                    if each.startswith("v_")
                }
                found = guarded(name, tuple(guards), binding)
                if found is not None:
                    new = {each: found[_variable(each)].text for each in made}
                    rows.append({**row, **new})
            fields = [*batch.schema, *(pa.field(each, pa.string()) for each in made)]
            yield pa.RecordBatch.from_pylist(rows, schema=pa.schema(fields))

    return ask
