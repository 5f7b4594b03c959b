"""SPARQL rules: how a text is cut, what rules become of it, and how they are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide import Reasoner
from ebbtide.languages.jena import parse_rules
from ebbtide.languages.sparql_rules import load_sparql_rules, parse_sparql_rules
from ebbtide.program import Fact, Program, ProgramError
from ebbtide.program.join import join
from ebbtide.time import Sliding

PREFIX = "PREFIX ex: <http://e/> "


def ex(name: str) -> str:
    return f"<http://e/{name}>"


def rules(text: str) -> Program:
    return parse_sparql_rules(PREFIX + text, "site.ru").program


def test_a_text_is_cut_into_operations() -> None:
    text = """
    # A comment with INSERT { and ;
    BASE <http://e/>
    PREFIX : <http://e/ns#>
    # name: first; one
    INSERT { ?x :r "a; }'{" } WHERE { ?x :p ?y } ;
    CONSTRUCT { ?x :s ?y } WHERE { ?x :r ?y . # ; not here }
    }
    CONSTRUCT WHERE { ?x <relative;x> ?y }
    PREFIX : <http://other/>
    # name: last
    WITH <g> INSERT { ?x :t 1 } WHERE { ?x :s ?y } ;
    ;
    INSERT DATA { :a :p :b } ; INSERT DATA { :a :p '''INSERT { } ;''' }
    """
    found = parse_sparql_rules(text, "site.ru")
    assert [str(rule) for rule in found.program.rules] == [
        'triple(?x, <http://e/ns#r>, "a; }\'{") :- triple(?x, <http://e/ns#p>, ?y).',
        "triple(?x, <http://e/ns#s>, ?y) :- triple(?x, <http://e/ns#r>, ?y).",
        "triple(?x, <http://e/relative;x>, ?y) :- triple(?x, <http://e/relative;x>, ?y).",
        'quad(?x, <http://other/t>, "1"^^<http://www.w3.org/2001/XMLSchema#integer>, <http://e/g>) '
        ":- quad(?x, <http://other/s>, ?y, <http://e/g>).",
    ]
    names = [rule.name for rule in found.program.rules]
    assert names == ["first; one", "rule2", "rule3", "last"]
    assert [rule.name for rule in found.axioms] == ["data1", "data2"]
    assert [str(rule.origin) for rule in found.program.rules] == [
        "site.ru:6:5",
        "site.ru:7:5",
        "site.ru:9:5",
        "site.ru:12:5",
    ]
    assert found.program.rules[2].origin.text == "CONSTRUCT WHERE { ?x <relative;x> ?y }"


def test_seeds() -> None:
    found = parse_sparql_rules(
        f"{PREFIX} INSERT DATA {{ ex:a ex:p [ ex:q 1 ] . GRAPH ex:g {{ ex:a ex:p ex:b }} }}"
    )
    number, triple, quad = found.seeds
    assert number.terms[0] == triple.terms[2]
    assert triple.terms[0].text == ex("a")
    assert quad == Fact.quad(ex("a"), ex("p"), ex("b"), ex("g"))
    assert found.joined().rules == found.axioms


def test_a_text_means_the_same_each_time() -> None:
    """The parser labels blank nodes by chance; names of rules' variables and relations do not."""
    text = f"""{PREFIX}
        CONSTRUCT {{ ?x ex:r [] }} WHERE {{
            ?x ex:p/ex:q+ [] FILTER NOT EXISTS {{ [] ex:s/ex:t ?x }} }}
        INSERT DATA {{ [] ex:p [] }}
    """
    one, other = parse_sparql_rules(text), parse_sparql_rules(text)
    assert str(one.joined()) == str(other.joined())
    assert one.joined().fingerprint == other.joined().fingerprint


def test_what_two_operations_need_is_there_once() -> None:
    one = "CONSTRUCT { ?x ex:r ?y } WHERE { ?x ex:p+ ?y }"
    other = "CONSTRUCT { ?u ex:s ?v } WHERE { ?u ex:p+ ?v }"
    assert len(rules(f"{one} {other}").rules) == 4
    assert len(join([rules(one), rules(other)]).rules) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x ex:p ?y FILTER(?x = ex:a)", f"triple({ex('a')}, {ex('p')}, ?y)"),
        ("?x ex:p ?y FILTER(isIRI(?y))", f"triple(?x, {ex('p')}, ?y), isURI(?y)"),
        ("?x ex:p ?y FILTER(!isLiteral(?y))", f"triple(?x, {ex('p')}, ?y), notLiteral(?y)"),
        (
            "?x ex:p ?y FILTER(?y != ex:a && STRSTARTS(STR(?y), 'h'))",
            f'triple(?x, {ex("p")}, ?y), notEqual(?y, {ex("a")}), strStarts(?y, "h")',
        ),
        (
            "?x ex:p ?y FILTER(?y < 3 || ?x IN (ex:a, ex:b))",
            f"triple(?x, {ex('p')}, ?y), "
            'sparqlFilter("((?1 < \\"3\\"^^<http://www.w3.org/2001/XMLSchema#integer>) || '
            '(?2 IN (<http://e/a>, <http://e/b>)))", ?y, ?x)',
        ),
        ("?x ex:p ?y . ?y a/ex:sub? ex:c", None),
        ("VALUES ?x { ex:a } ?x ex:p ?y", f"triple({ex('a')}, {ex('p')}, ?y)"),
        (
            "?x ex:p ?y FILTER NOT EXISTS { ?y ex:p ?z }",
            f"triple(?x, {ex('p')}, ?y), not triple(?y, {ex('p')}, ?any:1)",
        ),
        (
            "?x ex:p ?y MINUS { ?y ex:p ?z }",
            f"triple(?x, {ex('p')}, ?y), not triple(?y, {ex('p')}, ?any:1)",
        ),
    ],
)
def test_bodies(text: str, expected: str | None) -> None:
    """What is simple stays simple: no helper relation, and the house's own builtins."""
    found = rules(f"INSERT {{ ex:s ex:r ?y }} WHERE {{ {text} }}").rules
    assert not any("node:" in str(rule) or "not:" in str(rule) for rule in found)
    if expected is not None:
        assert [", ".join(map(str, rule.body)) for rule in found] == [expected]


def test_ask_is_an_inconsistency() -> None:
    text = f"""{PREFIX}
        # name: hot-and-cold
        ASK {{ {{ ?x a ex:Hot, ex:Cold }} UNION {{ ?x ex:broken ?why }} }}
        # name: big
        ASK {{ ?x ex:size ?n FILTER(?n > 10) }}
    """
    heads = [str(rule.heads[0]) for rule in parse_sparql_rules(text).program.rules]
    assert heads == [
        "inconsistency:hot-and-cold.1(?x)",
        "inconsistency:hot-and-cold.2(?x, ?why)",
        "inconsistency:big(?x, ?n)",
    ]
    reasoner = Reasoner(text, window=Sliding(10), step=1)
    reasoner.push((ex("a"), ex("size"), 11), at=1)
    reasoner.advance(to=1)
    assert [each.rule for each in reasoner.inconsistencies()] == ["big"]


@pytest.mark.parametrize("engine", ["native", "reference"])
def test_static_and_event_data(engine: str) -> None:
    """A named graph holds what is static; events arrive in the default graph."""
    reasoner = Reasoner(
        f"""{PREFIX}
        INSERT {{ ?room ex:alarm ?value }} WHERE {{
            ?sensor ex:reads ?value
            GRAPH ex:static {{ ?sensor ex:isIn ?room . ?room ex:limit ?limit }}
            FILTER(?value > ?limit)
        }} ;
        INSERT DATA {{ GRAPH ex:static {{ ex:hall ex:limit 30.5 }} }}
        """,
        window=Sliding(10),
        step=1,
        engine=engine,
    )
    reasoner.add(Fact.quad(ex("s1"), ex("isIn"), ex("hall"), ex("static")))
    reasoner.push((ex("s1"), ex("reads"), 31), at=1)
    reasoner.push((ex("s1"), ex("reads"), 30), at=2)
    reasoner.advance(to=2)
    alarms = list(reasoner.triples((None, ex("alarm"), None)))
    assert [str(room) for room, _, _ in alarms] == [ex("hall")]
    assert reasoner.until((ex("hall"), ex("alarm"), 31)) == 11
    reasoner.advance(to=11)
    assert not list(reasoner.triples((None, ex("alarm"), None)))


def test_a_blocker_comes_and_goes() -> None:
    reasoner = Reasoner(
        f"""{PREFIX} INSERT {{ ?r a ex:Dark }} WHERE {{
            ?r a ex:Room MINUS {{ ?r ex:lamp ?l . ?l a ex:On }}
        }}""",
        window=Sliding(3),
        step=1,
        start=0,
    )
    dark = (ex("r"), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", ex("Dark"))
    reasoner.add((ex("r"), dark[1], ex("Room")))
    reasoner.add((ex("r"), ex("lamp"), ex("l")))
    reasoner.push((ex("l"), dark[1], ex("On")), at=2)
    held = []
    for tick in range(6):
        reasoner.advance(to=tick)
        held.append(dark in reasoner)
    assert held == [True, True, False, False, False, True]


def test_rules_by_path_and_joined_with_others(tmp_path: Path) -> None:
    (tmp_path / "site.ru").write_text(
        f"{PREFIX} INSERT {{ ?x a ex:B }} WHERE {{ ?x a ex:A }} ; INSERT DATA {{ ex:x a ex:A }}"
    )
    assert [rule.name for rule in load_sparql_rules(tmp_path / "site.ru").rules] == [
        "data1",
        "rule1",
    ]
    reasoner = Reasoner(f"rhodf,{tmp_path / 'site.ru'}")
    reasoner.add((ex("B"), "<http://www.w3.org/2000/01/rdf-schema#subClassOf>", ex("C")))
    reasoner.advance(to=0)
    assert (ex("x"), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", ex("C")) in reasoner


def test_expressions_in_jena_rules() -> None:
    text = """@prefix ex: <http://e/> .
        [r: (?x ex:v ?v), sparqlFilter("?1 > 2 && STRLEN(STR(?2)) > 3", ?v, ?x),
            sparqlBind("?1 * 2", ?v, ?w) -> (?x ex:w ?w)]"""
    reasoner = Reasoner(parse_rules(text))
    reasoner.add((ex("a"), ex("v"), 3))
    reasoner.add((ex("a"), ex("v"), 1))
    reasoner.advance(to=0)
    assert [str(o) for _, _, o in reasoner.triples((None, ex("w"), None))] == [
        '"6"^^<http://www.w3.org/2001/XMLSchema#integer>'
    ]


@pytest.mark.parametrize(
    ("guard", "message"),
    [
        ("sparqlFilter(?v)", "the first argument of sparqlFilter is a SPARQL expression in quotes"),
        ('sparqlFilter("?1 >", ?v)', 'not a SPARQL expression over ?1, ?2, ...: "?1 >"'),
    ],
)
def test_bad_expressions_in_jena_rules(guard: str, message: str) -> None:
    with pytest.raises(ProgramError, match=r"<rules>:1:16") as caught:
        parse_rules(f"[(?x <http://e/> ?v), {guard} -> (?x a ?v)]".replace("http://e/", "e:"))
    assert caught.value.message == message
