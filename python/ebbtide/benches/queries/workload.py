"""Readings of sensors, and the commuters of the paper's figure 2: streams in tables, and queries.

Readings: `sensor reads value`, every sensor once, so that a window's facts are all different. A
sensor's kind is background, one of a hundred, and kinds belong to areas.

Commuters: `user isIn vehicle`, `vehicle isIn district` and `user remainingTravelTime t` come with
the stream; districts are in the city for ever, and isIn is transitive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

import pyarrow as pa

from ebbtide.terms import Literal, to_term
from ebbtide.terms.term import XSD
from ebbtide.time import Instant

EX: Final = "http://example/"
STREAM: Final = f"{EX}stream"
TYPE: Final = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
STEP: Final = 1_000
KINDS: Final = 100
AREAS: Final = 10
TRANSITIVE: Final = f"[t: (?x <{EX}isIn> ?y), (?y <{EX}isIn> ?z) -> (?x <{EX}isIn> ?z)]"

Row = tuple[Instant, str, str, str]


def ex(name: object) -> str:
    """The text of an IRI of ours."""
    return f"<{EX}{name}>"


@dataclass(frozen=True, slots=True)
class Workload:
    """A query over a stream: its body, the rules, and the background."""

    name: str
    #: What stands between REGISTER and FROM STREAM, and after it.
    head: str
    body: str
    emits: str = "RSTREAM"
    rules: str = ""
    commutes: bool = False

    def query(self, seconds: int, name: str = "q") -> str:
        """The text of the query, over a window of some seconds."""
        return (
            f"PREFIX ex: <{EX}> REGISTER {self.emits} ex:{name} AS {self.head} "
            f"FROM STREAM ex:stream [RANGE {seconds}s STEP 1s] {self.body}"
        )

    @property
    def sparql(self) -> str:
        """The query as it is asked of a window's content."""
        return f"PREFIX ex: <{EX}> {self.head} {self.body}"

    def background(self) -> list[tuple[str, str, str]]:
        """What holds for ever."""
        if self.commutes:
            users = [(ex(f"user{n}"), TYPE, ex("Commuter")) for n in range(0, 1_000, 2)]
            vehicles = [(ex(f"vehicle{n}"), TYPE, ex("Train")) for n in range(100)]
            districts = [(ex(f"district{n}"), ex("isIn"), ex("city")) for n in range(10)]
            return [*users, *vehicles, *districts, (ex("city"), TYPE, ex("City"))]
        kinds = [(ex(f"kind{n}"), ex("area"), ex(f"area{n % AREAS}")) for n in range(KINDS)]
        return kinds

    def tables(self, churn: int, seed: int) -> Iterator[pa.Table]:
        """A table a second, without end."""
        random = Random(seed)
        rows = self._commuters(churn, random) if self.commutes else self._readings(churn, random)
        while True:
            yield _table([next(rows) for _ in range(churn)])

    def _readings(self, churn: int, random: Random) -> Iterator[Row]:
        number = 0
        while True:
            at = number // churn * STEP + 1 + number % churn * (STEP - 1) // churn
            sensor = ex(f"sensor{number // 2}")
            if number % 2:
                yield at, sensor, ex("reads"), to_term(random.randrange(100)).text
            else:
                yield at, sensor, ex("kind"), ex(f"kind{random.randrange(KINDS)}")
            number += 1

    def _commuters(self, churn: int, random: Random) -> Iterator[Row]:
        number = 0
        while True:
            at = number // churn * STEP + 1 + number % churn * (STEP - 1) // churn
            user, vehicle = f"user{random.randrange(1_000)}", f"vehicle{random.randrange(100)}"
            match number % 3:
                case 0:
                    yield at, ex(user), ex("isIn"), ex(vehicle)
                case 1:
                    yield at, ex(vehicle), ex("isIn"), ex(f"district{random.randrange(10)}")
                case _:
                    time = Literal(f"PT{random.randrange(60)}M", XSD + "duration").text
                    yield at, ex(user), ex("remainingTravelTime"), time
            number += 1


def _table(rows: Iterable[Row]) -> Any:
    columns = list(zip(*rows, strict=True))
    return pa.table(dict(zip("tspo", columns, strict=True)))


FILTER: Final = Workload(
    "filter", "SELECT ?s ?v", "WHERE { ?s ex:reads ?v FILTER(?v > 98) }", "ISTREAM"
)
JOIN: Final = Workload(
    "join with static data",
    "SELECT ?s ?v",
    "WHERE { ?s ex:kind ?k . ?s ex:reads ?v . ?k ex:area ex:area3 }",
    "ISTREAM",
)
GROUPS: Final = Workload(
    "group-by count", "SELECT ?k (COUNT(*) AS ?n)", "WHERE { ?s ex:kind ?k } GROUP BY ?k"
)
FIGURE_2: Final = Workload(
    "figure 2, transitive",
    "SELECT DISTINCT ?user ?type ?x",
    "WHERE { ?user ex:isIn ?x . ?user a ex:Commuter . ?x a ?type . "
    "?user ex:remainingTravelTime ?t "
    'FILTER(?t >= "PT30M"^^<http://www.w3.org/2001/XMLSchema#duration>) }',
    "ISTREAM",
    TRANSITIVE,
    commutes=True,
)
WORKLOADS: Final = (FILTER, JOIN, GROUPS, FIGURE_2)
