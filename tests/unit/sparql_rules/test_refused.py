"""What SPARQL rules refuse, and where; and what is not SPARQL, and where."""

from __future__ import annotations

import pytest

from ebbtide.languages.sparql_rules import parse_sparql_rules
from ebbtide.languages.sparql_rules.refuse import OPERATIONS, REASONS
from ebbtide.program import ProgramError

PREFIXES = "PREFIX ex: <http://e/>\n"
WHERE = "WHERE { ?x ex:p ?y }"
CONSTRUCT = f"CONSTRUCT {{ ?x ex:q ?y }} {WHERE}"

#: A text with ^ before the word that is refused, and the reason or its beginning.
REFUSED = [
    (f"^SELECT * {WHERE}", "SELECT yields no facts"),
    ("^describe ex:a", "DESCRIBE yields no facts"),
    (f"^REGISTER QUERY q AS SELECT * {WHERE}", "REGISTER makes a continuous query"),
    (f"^DELETE {{ ?x ex:p ?y }} {WHERE}", "DELETE takes facts away"),
    (f"^DELETE {{ ?x ex:p ?y }} INSERT {{ ?x ex:q ?y }} {WHERE}", "DELETE takes facts away"),
    ("^DELETE DATA { ex:a ex:p ex:b }", "DELETE takes facts away"),
    ("^DELETE WHERE { ?x ex:p ?y }", "DELETE takes facts away"),
    (f"WITH ex:g ^DELETE {{ ?x ex:p ?y }} {WHERE}", "DELETE takes facts away"),
    ("^CLEAR ALL", "CLEAR takes facts away"),
    ("^DROP GRAPH ex:g", "DROP takes facts away"),
    ("^LOAD ex:file", "LOAD acts once on a store"),
    ("^CREATE GRAPH ex:g", "CREATE acts once on a store"),
    ("^ADD ex:g TO ex:h", "ADD acts once on a store"),
    ("^MOVE ex:g TO ex:h", "MOVE acts once on a store"),
    ("^COPY ex:g TO ex:h", "COPY acts once on a store"),
    (f"{CONSTRUCT} ^ORDER BY ?x", "ORDER cuts an order"),
    (f"{CONSTRUCT} ^LIMIT 3", "LIMIT cuts an order"),
    (f"{CONSTRUCT} ^OFFSET 3", "OFFSET cuts an order"),
    (f"CONSTRUCT {{ ?x ex:q 1 }} {WHERE} ^GROUP BY ?x", "GROUP aggregates rows"),
    (f"CONSTRUCT {{ ?x ex:q 1 }} {WHERE} ^GROUP BY ?x HAVING (?x != ex:a)", "GROUP aggregates"),
    *(
        (f"CONSTRUCT {{ ex:a ex:q ?n }} WHERE {{ {{ SELECT (^{word}(?y) AS ?n) {WHERE} }} }}", word)
        for word in ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")
    ),
    *(
        (f"CONSTRUCT {{ ?x ex:q ?n }} WHERE {{ ?x ex:p ?y BIND(^{word}() AS ?n) }}", word)
        for word in ("NOW", "RAND", "UUID", "STRUUID", "BNODE")
    ),
    ("CONSTRUCT { ?x ex:q 1 } WHERE { ^SERVICE ex:s { ?x ex:p ?y } }", "SERVICE asks another"),
    (f"CONSTRUCT {{ ?x ex:q 1 }} FROM ^NAMED ex:g {WHERE}", "NAMED chooses among graphs"),
    (f"CONSTRUCT {{ ?x ex:q 1 }} ^FROM ex:g FROM ex:h {WHERE}", "a rule matches one graph"),
    (f"INSERT {{ ?x ex:q 1 }} ^USING ex:g USING ex:h {WHERE}", "a rule matches one graph"),
    (
        "CONSTRUCT { ?x ex:q 1 } FROM ex:g WHERE { ^GRAPH ex:h { ?x ex:p ?y } }",
        "FROM and USING leave no named graph for GRAPH to read",
    ),
    (
        "CONSTRUCT { ?x ex:q 1 } WHERE { ?x ex:p ?y FILTER(IF(^EXISTS { ?x ex:q ?y }, 1, 2)) }",
        "EXISTS can stand under &&, || and ! only",
    ),
    (
        "CONSTRUCT { ?x ex:q ?b } WHERE { ?x ex:p ?y BIND(^EXISTS { ?x ex:q ?y } AS ?b) }",
        "EXISTS can stand in FILTER only",
    ),
    (
        "CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y FILTER EXISTS { ^BIND(1 AS ?y) } }",
        "?y is bound outside of EXISTS, so it cannot be bound again",
    ),
    (
        "CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y FILTER NOT ^EXISTS { ?x ex:r ?z FILTER NOT "
        "EXISTS { ?z ex:s ?w FILTER(?w > ?y) } } }",
        "what is negated here asks for ?y of a pattern further out",
    ),
    (f"CONSTRUCT {{ ?x ex:q ?y }} {WHERE[:-1]} FILTER(^ex:f(?y)) }}", "the function <http://e/f>"),
    (
        f"BASE <http://e/> CONSTRUCT {{ ?x ex:q ?z }} {WHERE[:-1]} BIND(^IRI(?y) AS ?z) }}",
        "IRI() cannot be used under a BASE",
    ),
    (
        "^CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ?y FILTER NOT EXISTS { ?y ex:q ?z } }",
        "the rules have no strata, because this cycle goes through `not`",
    ),
    # What SPARQL allows, and is never what somebody means.
    (f"CONSTRUCT {{ ?x ex:q ^?yy }} {WHERE}", "the pattern never binds ?yy; did you mean ?y?"),
    (f"INSERT {{ GRAPH ^?g {{ ?x ex:q ?y }} }} {WHERE}", "the pattern never binds ?g"),
    (
        "INSERT { ?x ex:q ^?z } WHERE { ?x ex:p ?y MINUS { ?y ex:r ?z } }",
        "the pattern never binds ?z",
    ),
    (
        "INSERT { ?x ex:q ^?z } WHERE { { SELECT ?x WHERE { ?x ex:p ?z } } }",
        "the pattern never binds ?z",
    ),
    (
        f"INSERT {{ ?x ex:q ?y }} {WHERE[:-1]} FILTER(^?z > 3) }}",
        "nothing ever matches this pattern; ?z is nowhere else in it",
    ),
    (
        f"INSERT {{ ?x ex:q ?y }} ^{WHERE[:-1]} VALUES ?x {{ }} }}",
        "nothing ever matches this pattern",
    ),
    ("^INSERT { } WHERE { ?x ex:p ?y }", "nothing of this template is ever a triple"),
    (
        "^CONSTRUCT { ?x ex:q ?y } WHERE { ?z ex:p ?y BIND(3 AS ?x) }",
        "nothing of this template is ever a triple",
    ),
]

#: A text with ^ before the place of the error, and the sentence.
NOT_SPARQL = [
    ("^ex:a ex:b ex:c", "expected INSERT, CONSTRUCT, ASK, PREFIX or BASE, but found 'ex:a'"),
    ("^PREFIX ex <http://e/>", "after PREFIX come a prefix with its colon and an IRI in angle"),
    ("^BASE ex:a", "after BASE comes an IRI in angle brackets"),
    ("PREFIX a: ^<relative>", "the IRI <relative> is relative, and there is no BASE"),
    ("CONSTRUCT { ?x ex:q ?y } WHERE { ?x ex:p ^}", "SPARQL cannot go on with '}'"),
    ("CONSTRUCT { ?x ^ey:q ?y } WHERE { }", "the prefix ey: is not declared"),
    ("CONSTRUCT { ?x ex:q ^<a> } WHERE { }", "the IRI <a> is relative, and there is no BASE"),
    ("INSERT { ?x ex:q ?y } ^{ ?x ex:p ?y }", "SPARQL cannot go on with '{'"),
    ("INSERT { ?x ex:q ?y } WHERE { ?x ex:p ?y^", "the text ends before its last } is there"),
    ("INSERT { ?x ex:q ?y } WHERE { ?x ex:p ?y } ^}", "SPARQL cannot go on with '}'"),
    ("ASK { ?x ex:p ?y ^OPTIONL { ?y ex:q ?z } }", "SPARQL cannot go on with 'OPTIONL'"),
    ("ASK { ?x ex:p ^'a\n' }", "this string is not closed"),
    ("ASK { ?x ex:p ?y FILTER(?y <^) }", "SPARQL cannot go on with ')'"),
    ("ASK { ?x ex:p '''long\n\n''' . FILTER(?x ^?y) }", "SPARQL cannot go on with '?y'"),
    ("INSERT DATA { ^?x ex:p ?y }", "INSERT DATA states facts, so it has no variables"),
    ("ASK { " + "{ " * 99 + "^{ " + "} " * 101, "brackets are nested deeper than 100"),
    ("ASK { ?x ex:p \x01^ }".replace("\x01^", "^\x01"), "the text contains the control character"),
]


def marked(text: str) -> tuple[str, str]:
    """The text without its mark, and the place of the mark."""
    before, _, after = (PREFIXES + text).partition("^")
    line = before.count("\n") + 1
    return before + after, f"site.ru:{line}:{len(before) - before.rfind(chr(10))}"


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_refused(text: str, reason: str) -> None:
    operation, place = marked(text)
    with pytest.raises(ProgramError) as caught:
        parse_sparql_rules(operation, "site.ru")
    assert caught.value.message.startswith(reason)
    assert str(caught.value.origin) == place


@pytest.mark.parametrize(("text", "sentence"), NOT_SPARQL)
def test_not_sparql(text: str, sentence: str) -> None:
    operation, place = marked(text)
    with pytest.raises(ProgramError) as caught:
        parse_sparql_rules(operation, "site.ru")
    assert caught.value.message.startswith(sentence)
    assert str(caught.value.origin) == place


def test_every_word_is_tested() -> None:
    tested = {text.partition("^")[2].split("(")[0].split()[0].upper() for text, _ in REFUSED}
    assert REASONS.keys() - tested == {"HAVING"}  # only after GROUP
    assert OPERATIONS - {"INSERT", "CONSTRUCT", "ASK", "WITH"} <= REASONS.keys()


def test_words_in_strings_names_and_comments_are_no_words() -> None:
    text = """PREFIX limit: <http://e/LIMIT#>
        # SELECT DELETE LIMIT
        CONSTRUCT { ?limit limit:NOW "DELETE" } WHERE { ?limit limit:count <http://e/GROUP> }
    """
    assert len(parse_sparql_rules(text).program.rules) == 1


def test_the_places_are_those_of_the_text_after_other_operations() -> None:
    text = f"{PREFIXES}{CONSTRUCT} ;\n\n  INSERT {{ ?x ex:r 'é' }} WHERE {{ ?x ex:p ?y . ?y }}"
    with pytest.raises(ProgramError, match=r"^site\.ru:4:50: SPARQL cannot go on with '}'$"):
        parse_sparql_rules(text, "site.ru")
