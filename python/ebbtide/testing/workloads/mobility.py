"""Commuters in trains, trains between stations, stations in cities in regions.

The paper's mobility scenario as a small simulation in steps of a second. The background says which
station is in which city and which city in which region, and what everything is. Once a second
every commuter reports the train or station it is in, and every train that stands at a platform
reports the station; a train under way reports nothing, so what was concluded about its passengers
expires. Within a second the reports come in random order.

    commuter ──isIn──► train ──isIn──► station ──isIn──► city ──isIn──► region
             streamed         streamed          background      background
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Final

from ebbtide.program import TRIPLE, Fact
from ebbtide.terms import IRI
from ebbtide.terms.term import RDF
from ebbtide.testing.workloads.workload import TimedFacts, Workload, at_least, name
from ebbtide.time import Instant

IS_IN: Final = name("isIn")
TYPE: Final = IRI(RDF + "type")

# Seconds at a platform, and between two.
STANDING: Final = 4
UNDER_WAY: Final = 5
# The chance of a passenger to do so, each second that the train stands.
LEAVES_THE_TRAIN: Final = 0.1
BOARDS_A_TRAIN: Final = 0.2

REGIONS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "Piemonte": {"Torino": ("PortaNuova", "PortaSusa"), "Novara": ("Novara",)},
    "Lombardia": {"Milano": ("Centrale", "Lambrate"), "Brescia": ("Brescia",)},
    "Veneto": {"Verona": ("PortaNuova",), "Padova": ("Padova",), "Venezia": ("SantaLucia",)},
    "EmiliaRomagna": {"Parma": ("Parma",), "Bologna": ("Centrale", "Corticella")},
    "Liguria": {"Genova": ("Brignole", "PiazzaPrincipe")},
}

LINES: Final = (
    ("Torino", "Novara", "Milano", "Brescia", "Verona", "Padova", "Venezia"),
    ("Genova", "Milano", "Parma", "Bologna"),
    ("Torino", "Genova", "Parma", "Bologna", "Verona"),
)

FIRST_NAMES: Final = (
    "Ada", "Bruno", "Carla", "Dario", "Elena", "Fabio", "Gaia", "Hugo", "Irene", "Luca", "Marta",
    "Nico", "Olga", "Paolo", "Quinto", "Rita", "Sara", "Tito", "Ugo", "Vera", "Wanda", "Zeno",
)  # fmt: skip


@dataclass(slots=True)
class _Train:
    name: IRI
    stops: list[IRI]
    clock: int

    def platform(self) -> IRI | None:
        """Where it stands, if it does. It goes along its stops and back again."""
        leg, second = divmod(self.clock, STANDING + UNDER_WAY)
        return self.stops[leg % len(self.stops)] if second < STANDING else None


def stations() -> Iterator[tuple[IRI, IRI, IRI]]:
    """Every station with its city and its region."""
    for region, cities in REGIONS.items():
        for city, names in cities.items():
            for station in names:
                yield name(f"{city}_{station}"), name(city), name(region)


def mobility(
    *,
    commuters: int = 20,
    trains: int = 6,
    seconds: int = 60,
    start: Instant = 0,
    seed: int = 0,
) -> Workload:
    """`seconds` of event time from `start` on, one report a second from everybody.

    >>> workload = mobility(commuters=2, trains=0, seconds=3)
    >>> sum(1 for fact, at in workload.stream())
    6
    """
    at_least("commuters", commuters, 0)
    at_least("trains", trains, 0)
    at_least("seconds", seconds, 0)
    people = [_commuter(number) for number in range(commuters)]

    def background() -> Iterator[Fact]:
        for kind, things in _inventory(people, trains):
            for thing in things:
                yield Fact(TRIPLE, (thing, TYPE, name(kind)))
        contained = {(inner, outer) for s, c, r in stations() for inner, outer in ((s, c), (c, r))}
        for inner, outer in sorted(contained, key=str):
            yield Fact(TRIPLE, (inner, IS_IN, outer))

    def stream() -> TimedFacts:
        random = Random(seed)
        fleet = [_train(number, random) for number in range(trains)]
        first_places = [train.name for train in fleet] or [station for station, _, _ in stations()]
        place = {person: random.choice(first_places) for person in people}
        for second in range(seconds):
            at_platform = {train.name: train.platform() for train in fleet}
            for person in people:
                place[person] = _move(place[person], at_platform, random)
            reports = list(place.items())
            reports += [(train, station) for train, station in at_platform.items() if station]
            random.shuffle(reports)
            for inner, outer in reports:
                at = start + second * 1000 + random.randrange(1000)
                yield Fact(TRIPLE, (inner, IS_IN, outer)), at
            for train in fleet:
                train.clock += 1

    return Workload(background, stream)


def _inventory(people: list[IRI], trains: int) -> Iterator[tuple[str, list[IRI]]]:
    yield "Commuter", people
    yield "Train", [name(f"train{number}") for number in range(1, trains + 1)]
    yield "Station", [station for station, _, _ in stations()]
    yield "City", list(dict.fromkeys(city for _, city, _ in stations()))
    yield "Region", list(dict.fromkeys(region for _, _, region in stations()))


def _commuter(number: int) -> IRI:
    again, index = divmod(number, len(FIRST_NAMES))
    return name(FIRST_NAMES[index] + (str(again + 1) if again else ""))


def _train(number: int, random: Random) -> _Train:
    platforms: dict[IRI, list[IRI]] = {}
    for station, city, _ in stations():
        platforms.setdefault(city, []).append(station)
    there = [random.choice(platforms[name(city)]) for city in LINES[number % len(LINES)]]
    back = there[-2:0:-1]
    clock = random.randrange(len(there + back) * (STANDING + UNDER_WAY))
    return _Train(name(f"train{number + 1}"), there + back, clock)


def _move(place: IRI, at_platform: dict[IRI, IRI | None], random: Random) -> IRI:
    """Passengers may leave a train that stands; who waits may board one that stands there."""
    if place in at_platform:
        station = at_platform[place]
        return station if station and random.random() < LEAVES_THE_TRAIN else place
    here = [train for train, station in at_platform.items() if station == place]
    return random.choice(here) if here and random.random() < BOARDS_A_TRAIN else place
