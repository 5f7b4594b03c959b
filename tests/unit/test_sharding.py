"""Which programs can be cut into shards, and why others cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.plan.sharding import Sharding, sharding
from ebbtide.reasoner import Reasoner
from ebbtide.testing import program

RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def how(rules: str) -> list[str]:
    return [cut.how for cut in sharding(program(rules)).cuts]


@pytest.mark.parametrize(
    ("rules", "cuts"),
    [
        ("A: alarm(?x) :- hot(?x).", ["local"]),
        ("A: alarm(?x) :- hot(?x), dry(?x).", ["joins on ?x"]),
        ("A: alarm(?x) :- hot(?x), not off(?x).", ["joins on ?x"]),
        ("A: alarm(?x) :- hot(?x), not off(?y).", ["global: off(?y) does not have ?x"]),
        ("A: in(?y, ?x) :- of(?x, ?y).", ["local"]),
        ("A: in(?x, ?z) :- in(?x, ?y), in(?y, ?z).", ["global: in(?y, ?z) does not have ?x"]),
        (
            "A: any(<http://e/x>) :- hot(?x).",
            ["global: any(<http://e/x>) lives by <http://e/x>, wherever its body does"],
        ),
        # What a conclusion needs is demanded of what it rests on.
        ("A: q(?x, ?y) :- p(?x, ?y). B: r(?y) :- q(?x, ?y).", ["local", "local"]),
        (
            "A: q(?x, ?y) :- p(?x), s(?x, ?y). B: r(?y) :- q(?x, ?y).",
            ["global: p(?x) does not have ?y", "local"],
        ),
    ],
)
def test_cuts(rules: str, cuts: list[str]) -> None:
    assert how(rules) == cuts


def campus(rules: str, tmp_path: Path) -> Sharding:
    schema = tmp_path / "schema.ttl"
    schema.write_text(f"""@prefix e: <http://e/> . @prefix rdfs: <{RDFS}> .
        e:Student rdfs:subClassOf e:Person . e:teaches rdfs:range e:Course ; rdfs:domain e:Teacher .
        e:heads rdfs:subPropertyOf e:worksFor .""")
    reasoner = Reasoner(rules)
    reasoner.parse(schema)
    assert reasoner.engine.native is not None
    return sharding(reasoner.program, reasoner.engine.plan)


def test_rdfs_is_cut_by_any_term_once_the_schema_is_known(tmp_path: Path) -> None:
    found = campus("rdfs-sparkwave", tmp_path)
    assert found.is_proved, str(found)
    # Its range is concluded where the object lives.
    assert {str(predicate) for predicate in found.by_object} >= {"<http://e/teaches>"}
    assert "<http://e/heads>" not in {str(predicate) for predicate in found.by_object}


def test_equality_is_global(tmp_path: Path) -> None:
    assert not campus("owl2rl", tmp_path).is_proved
