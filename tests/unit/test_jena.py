"""Jena-style rules: what is read, and where errors point."""

import gzip
import pickle

import pytest

from ebbtide.languages.jena import load_rules, parse_rules
from ebbtide.languages.jena.syntax import MAX_TEXT, MAX_TOKEN
from ebbtide.program import ProgramError
from ebbtide.terms import IRI, BlankNode, Literal
from ebbtide.terms.term import RDF, XSD

EX = "http://example/"
OWL = "http://www.w3.org/2002/07/owl#"


def read(text: str):
    return parse_rules(f"@prefix ex: <{EX}> .\n{text}")


def only_rule(text: str) -> str:
    # Those that read lists are followed by those that make them.
    (rule,) = (rule for rule in read(text).rules if not rule.name.startswith("list:"))
    shown = str(rule).replace(f"<{EX}", "<").replace(RDF, "rdf#")
    return shown.replace(XSD, "xsd#").replace(OWL, "owl#")


def refused(text: str, source: str = "site.rules") -> str:
    with pytest.raises(ProgramError) as caught:
        parse_rules(text, source)
    message = str(caught.value)
    assert "Traceback" not in message
    assert "lark" not in message
    return message


# ---- what is read -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[t: (?x ex:isIn ?y), (?y ex:isIn ?z) -> (?x ex:isIn ?z)]",
            "triple(?x, <isIn>, ?z) :- triple(?x, <isIn>, ?y), triple(?y, <isIn>, ?z).",
        ),
        (
            "[t: (?x ex:isIn ?y) (?y ex:isIn ?z) -> (?x ex:isIn ?z) (?z ex:has ?x)]",
            "triple(?x, <isIn>, ?z), triple(?z, <has>, ?x) :- "
            "triple(?x, <isIn>, ?y), triple(?y, <isIn>, ?z).",
        ),
        (
            "(?x a ex:T) -> (?x a ex:U) .",
            "triple(?x, <rdf#type>, <U>) :- triple(?x, <rdf#type>, <T>).",
        ),
        ("[(?x ?p ?y) -> (?y ?p ?x)]", "triple(?y, ?p, ?x) :- triple(?x, ?p, ?y)."),
        ("[(?x, ex:p, ?y) -> q(?x ?y)]", "q(?x, ?y) :- triple(?x, <p>, ?y)."),
        (
            "[(?x ex:p ?n), lessThan(?n, 5), sum(?n, 2.5, ?m) -> (?x ex:q ?m)]",
            'triple(?x, <q>, ?m) :- triple(?x, <p>, ?n), lessThan(?n, "5"^^<xsd#integer>), '
            'sum(?n, "2.5"^^<xsd#decimal>, ?m).',
        ),
        (
            "[(?x a ex:T), not (?x ex:p ?y), noValue(?x ex:q ?y) -> (?x a ex:U)]",
            "triple(?x, <rdf#type>, <U>) :- triple(?x, <rdf#type>, <T>), "
            "not triple(?x, <p>, ?y), not triple(?x, <q>, ?y).",
        ),
        (
            "[(?x a ex:T), noValue(?x, ex:p), noValue(?x, a, ex:V) -> (?x a ex:U)]",
            "triple(?x, <rdf#type>, <U>) :- triple(?x, <rdf#type>, <T>), "
            "not triple(?x, <p>, ?*), not triple(?x, <rdf#type>, <V>).",
        ),
        (
            "@relation isIn/2 . [isIn(?x, ?y), not isIn(?y, ?x) -> oneWay(?x, ?y)]",
            "oneWay(?x, ?y) :- isIn(?x, ?y), not isIn(?y, ?x).",
        ),
        (
            "[isIn(?x, ?y), isIn(?y, ?z) -> isIn(?x, ?z)]",
            "isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z).",
        ),
        (
            "[dis-joint: (?c owl:disjointWith ?d) (?x a ?c), (?x a ?d), isURI(?x) -> false]",
            "inconsistency:dis-joint(?c, ?d, ?x) :- triple(?c, <owl#disjointWith>, ?d), "
            "triple(?x, <rdf#type>, ?c), triple(?x, <rdf#type>, ?d), isURI(?x).",
        ),
        (
            "[(?x ex:at ?l), list(?l ?i ?x), listLength(?l ?n), now(?t) -> at(?x ?i ?n ?t)]",
            "at(?x, ?i, ?n, ?t) :- triple(?x, <at>, ?l), list(?l, ?i, ?x), "
            "listLength(?l, ?n), now(?t).",
        ),
        (
            "[(?x ex:p ?y), makeSkolem(?b ?x 'why') -> (?x ex:q ?b)]",
            'triple(?x, <q>, ?b) :- triple(?x, <p>, ?y), skolem(?x, "why", ?b).',
        ),
        (
            "[r: (?x ex:p ?y), makeTemp(?b), assignAnon(?c) -> (?b ex:q ?c)]",
            'triple(?b, <q>, ?c) :- triple(?x, <p>, ?y), skolem("r#eabdd5fb", ?x, ?y, "b", ?b), '
            'skolem("r#eabdd5fb", ?x, ?y, "c", ?c).',
        ),
        (
            "[lg: (?v ?p ?l), isDLiteral(?l, ?t), assignAnon(?l, ?b) -> (?v ?p ?b), (?b a ?t)]",
            "triple(?v, ?p, ?b), triple(?b, <rdf#type>, ?t) :- triple(?v, ?p, ?l), "
            "isDLiteral(?l), datatype(?l, ?t), skolem(?l, ?b).",
        ),
        (
            "[(?x ex:p ?y), strConcat(?y 'a' ?y 'b' ?z) -> (?x ex:q ?z)]",
            'triple(?x, <q>, ?z) :- triple(?x, <p>, ?y), strConcat(?y, "a", ?y, "b", ?z).',
        ),
        # Backward rules are read as forward ones.
        ("[b: (?x ex:q ?y) <- (?x ex:p ?y)]", "triple(?x, <q>, ?y) :- triple(?x, <p>, ?y)."),
        ("(?x ex:q ?y) <- (?x ex:p ?y) .", "triple(?x, <q>, ?y) :- triple(?x, <p>, ?y)."),
        ("[(ex:a ex:p ex:b) <-]", "triple(<a>, <p>, <b>) :- ."),
        ("[f: false <- (?x ex:p ?x)]", "inconsistency:f(?x) :- triple(?x, <p>, ?x)."),
        # Functors are taken apart in bodies, and made in heads.
        (
            "[(?c ex:sub all(?p, ?d)), (?c ex:is f()) -> (?d ex:eq some(?p 'x'))]",
            "triple(?d, <eq>, ?*3) :- triple(?c, <sub>, ?*1), "
            'functorArgument(?*1, "all/2", "0"^^<xsd#integer>, ?p), '
            'functorArgument(?*1, "all/2", "1"^^<xsd#integer>, ?d), '
            'triple(?c, <is>, ?*2), functor("f", ?*2), functor("some", ?p, "x", ?*3).',
        ),
        # Jena's builtins.
        (
            "[(?x ex:p ?t), regex(?t, '(a)(b)?', ?m, ?n) -> (?x ?m ?n)]",
            'triple(?x, ?m, ?n) :- triple(?x, <p>, ?t), matches(?t, "(a)(b)?"), '
            'matchGroup(?t, "(a)(b)?", "1"^^<xsd#integer>, ?m), '
            'matchGroup(?t, "(a)(b)?", "2"^^<xsd#integer>, ?n).',
        ),
        (
            "[(?x ex:p ?n), addOne(?n ?m), bound(?n ?m), unbound(?z) -> (?x ex:q ?m)]",
            'triple(?x, <q>, ?m) :- triple(?x, <p>, ?n), sum(?n, "1"^^<xsd#integer>, ?m), '
            "bound(?n, ?m).",
        ),
        (
            "[(?x ex:p ?n), uriConcat('http://e/' ?n ?u), isFunctor(?n) -> (?x ex:q ?u)]",
            'triple(?x, <q>, ?u) :- triple(?x, <p>, ?n), uriConcat("http://e/", ?n, ?u), '
            "isFunctor(?n).",
        ),
        (
            "[(?x ex:p ?y), makeInstance(?x a ex:T ?v) -> (?v ex:of ?y)]",
            "triple(?x, <rdf#type>, ?v), triple(?v, <rdf#type>, <T>), triple(?v, <of>, ?y) :- "
            "triple(?x, <p>, ?y), skolem(?x, <rdf#type>, <T>, ?v).",
        ),
        (
            "[(?x ex:p ?l), listEntry(?l 0 ?y), listContains(?l ?z) -> (?y ex:q ?z)]",
            'triple(?y, <q>, ?z) :- triple(?x, <p>, ?l), list(?l, "0"^^<xsd#integer>, ?y), '
            "list(?l, ?*1, ?z).",
        ),
        (
            "[(?x ex:p ?l), listNotContains(?l ?x) -> (?x ex:q ?l)]",
            "triple(?x, <q>, ?l) :- triple(?x, <p>, ?l), not list(?l, ?*, ?x).",
        ),
        (
            "[w: (?x ex:p ?y), print('seen' ?x) -> (?x ex:q ?y) print(?y)]",
            'print:w/2("seen", ?x), triple(?x, <q>, ?y), print:w/1(?y) :- triple(?x, <p>, ?y).',
        ),
        ("[axiom: -> (ex:a ex:p ex:b)]", "triple(<a>, <p>, <b>) :- ."),
        ("[triple(?x, a, ?y) -> p()]", "p() :- triple(?x, <rdf#type>, ?y)."),
        (
            "@prefix : <http://example/v#>\n[(?x :p ?y) -> (?y :p ?x)]",
            "triple(?y, <v#p>, ?x) :- triple(?x, <v#p>, ?y).",
        ),
        ("[(?x <http://example/a#b> ?y) -> q(?x)] # the end", "q(?x) :- triple(?x, <a#b>, ?y)."),
        ("// why\n[(?x ex:a.b-c ?y) # because\n -> q(?x)]", "q(?x) :- triple(?x, <a.b-c>, ?y)."),
    ],
)
def test_reads(text, expected):
    assert only_rule(text) == expected


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ('"x"', Literal("x")),
        ("'it\\'s \"x\"'", Literal('it\'s "x"')),
        ('"x"@en-GB', Literal("x", language="en-GB")),
        ('"5"^^xsd:int', Literal("5", XSD + "int")),
        ('"5"^^<http://example/t>', Literal("5", EX + "t")),
        ("5", Literal("5", XSD + "integer")),
        ("-5", Literal("-5", XSD + "integer")),
        ("2.5", Literal("2.5", XSD + "decimal")),
        ("1e3", Literal("1e3", XSD + "double")),
        ("true", Literal("true", XSD + "boolean")),
        ('"a\\u00e9\\n"', Literal("aé\n")),
        ("<http://example/\\u00e9>", IRI(EX + "é")),
        ("ex:", IRI(EX)),
        ("rdfs:label", IRI("http://www.w3.org/2000/01/rdf-schema#label")),
        ("owl:Thing", IRI("http://www.w3.org/2002/07/owl#Thing")),
        ("http://example/a.b#c?d=1//e", IRI(EX + "a.b#c?d=1//e")),
        ("urn:isbn:1", IRI("urn:isbn:1")),
        ("_:b1", BlankNode("b1")),
        ('"5"^^http://example/t', Literal("5", EX + "t")),
    ],
)
def test_terms(text, term):
    (rule,) = read(f"[(?x ex:p {text}) -> q(?x)]").rules
    assert rule.positives[0].arguments[2] == term


def test_items_of_lists_are_concluded_by_a_rule_of_their_own():
    program = read(
        """[m: (?x ex:all ?l) -> (?x a ex:T), listMapAsObject(?x ex:item ?l),
               listMapAsSubject(?l ex:of ?x)]
           [n: (?x ex:all ?l) -> listMapAsSubject(?l a ex:Item)]"""
    )
    rules = [rule for rule in program.rules if not rule.name.startswith("list:")]
    assert [rule.name for rule in rules] == ["m", "m.items1", "m.items2", "n.items1"]
    assert str(rules[1]).replace(EX, "") == (
        "triple(?x, <item>, ?*1) :- triple(?x, <all>, ?l), list(?l, ?*2, ?*1)."
    )
    assert str(rules[3]).replace(EX, "").replace(RDF, "rdf#") == (
        "triple(?*1, <rdf#type>, <Item>) :- triple(?x, <all>, ?l), list(?l, ?*2, ?*1)."
    )


def test_reasons_are_what_was_matched():
    (rule,) = read("[r: (?x ex:p f(?y ?x)), not (?z ex:p ?x), makeTemp(?b) -> (?b a ?y)]").rules
    name, *rest = rule.guards[-1].arguments
    assert str(name).startswith('"r#')
    assert [str(argument) for argument in rest] == ["?x", "?y", '"b"', "?b"]
    (other,) = read("[r: (?x ex:q f(?y ?x)), makeTemp(?b) -> (?b a ?y)]").rules
    assert other.guards[-1].arguments[0] != name


def test_names_of_rules():
    program = read(
        """[first: (?x ex:p ?y) -> q(?x)]
           [(?x ex:p ?y) -> q(?x)]
           [third-1.a : (?x ex:p ?y) -> q(?x)]
           [not: not (ex:a ex:p ex:b) -> r()]
           (?x ex:p ?y) -> q(?x) ."""
    )
    assert [rule.name for rule in program.rules] == ["first", "rule2", "third-1.a", "not", "rule5"]


def test_origins_point_to_what_was_written():
    program = parse_rules(
        "@prefix ex: <http://example/>\n  [t: (?x ex:p ?y)\n      lessThan(?y, 3) -> q(?x)]\n",
        "site.rules",
    )
    (rule,) = program.rules
    assert str(rule.origin) == "site.rules:2:3"
    assert rule.origin.text == "[t: (?x ex:p ?y)\n      lessThan(?y, 3) -> q(?x)]"
    assert str(rule.guards[0].origin) == "site.rules:3:7"
    assert rule.heads[0].origin.text == "q(?x)"


def test_relations_may_be_declared_and_concluded_anywhere():
    program = read("[p(?x), r(?x) -> q(?x)] [q(?x) -> p(?x)] @relation r/1")
    assert program.relations == {"triple": 3, "p": 1, "q": 1, "r": 1}


def test_nothing_is_a_program_too():
    assert parse_rules("# nothing\n").rules == ()


def test_programs_can_be_pickled():
    program = read("[(?x ex:p 'y') -> q(?x)]")
    assert pickle.loads(pickle.dumps(program)) == program


# ---- where errors point -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # Lexical.
        ('[(?x rdf:p "abc) -> q(?x)]', "1:12: this string is not closed on its line"),
        ("[(?x <http://a b> ?y) -> q(?x)]", "1:6: this IRI is not closed, or it contains"),
        ("[(?x ? ?y) -> q(?x)]", "1:6: a variable is a question mark and a name"),
        ("[(?x rdf:p ?y)\n -> q(?x) %]", "2:11: expected a pattern"),
        ("[(?x rdf:p ?y) \0 -> q(?x)]", "1:16: the text contains the control character '\\x00'"),
        # Syntax.
        (
            "\n  [",
            "2:4: expected a pattern (?s ?p ?o), an atom, a builtin, a rule name or ->, "
            "but found the end of the text",
        ),
        ("[(?x rdf:p) -> q(?x)]", "1:11: expected a term, but found ')'"),
        ("[(?x rdf:p ?y ?z) -> q(?x)]", "1:15: expected ), but found '?z'"),
        ("[(?x rdf:p ?y) -> ]", "1:19: expected a pattern (?s ?p ?o) or an atom, but found ']'"),
        ("[(?x rdf:p ?y)]", "1:15: expected "),
        (
            "(?x rdf:p ?y) -> q(?x)",
            "1:23: expected a pattern (?s ?p ?o), an atom or a full stop, but",
        ),
        (
            "@inclde <RDFS>",
            "1:1: expected a rule, @prefix, @include or @relation, but found '@inclde'",
        ),
        ("@prefix ex <http://example/>", "1:9: expected a prefix and its colon, but found 'ex'"),
        ("@prefix ex: http", "1:13: expected an IRI in angle brackets, but found 'http'"),
        ("@relation p", "1:12: expected /, but found the end of the text"),
        ("[a: [b: (?x ?p ?y) -> q(?x)]]", "1:5: expected a pattern"),
        # Names.
        ("[(?x ex:p ?y) -> q(?x)]", "1:6: the prefix ex: is not declared"),
        ("[(?x <p> ?y) -> q(?x)]", "1:6: the IRI <p> is relative; a term is written with"),
        ("[(?x ?p '5'^^<int>) -> q(?x)]", "1:14: the IRI <int> is relative; "),
        ("@prefix ex: <#> . [(?x ex:p ?y) -> q(?x)]", "1:13: the IRI <#> is relative; "),
        ("[-> (<> a <a:b>)]", "1:6: the IRI <> is relative; "),
        ("[(?x own:p ?y) -> q(?x)]", "1:6: the prefix own: is not declared; did you mean owl?"),
        (
            '[(?x ?p "5"^^xs:int) -> q(?x)]',
            "1:14: the prefix xs: is not declared; did you mean xsd?",
        ),
        (
            "[(?x ?p ?y), lesThan(?y, 3) -> q(?x)]",
            "1:14: unknown builtin or relation lesThan; did you mean lessThan?",
        ),
        (
            "[p(?x) -> q(?x)]",
            "1:2: unknown builtin or relation p; "
            "a relation that no rule concludes is declared by @relation p/1 .",
        ),
        ("[(?x ?p ?y), not p(?x) -> q(?x)]", "1:18: unknown builtin or relation p"),
        ("@relation sum/3", "1:11: sum is a builtin, so it cannot be a relation"),
        (
            "@relation p/1 @relation p/2",
            "1:25: the relation p is declared with 1 arguments and again with 2",
        ),
        ("@relation p/1000", "1:13: a relation has at most 999 arguments"),
        ("@relation now/1", "1:11: the relation now is reserved and needs no declaration"),
        ("@relation makeTemp/1", "1:11: makeTemp is a builtin, so it cannot be a relation"),
        ("@relation triple/2", "1:11: the relation triple has 3 arguments"),
        # Meaning.
        ("[(?x ?p ?y) -> sum(?x, ?y, ?p)]", "1:16: sum is a builtin, so a head cannot conclude it"),
        ("[(?x ?p ?y), not sum(?x, ?y, ?p) -> q(?x)]", "1:18: sum is a builtin, and `not` takes"),
        ("[(?x ?p ?y), noValue(?x) -> q(?x)]", "1:14: noValue takes a subject, a predicate"),
        ("[(?x ?p ?y) -> false]", "1:16: a rule that concludes false needs a name"),
        ("[r: (?x ?p ?y) -> true]", "1:19: a head is a pattern, an atom or false"),
        (
            "[r: (?x ?p ?y) -> q(?x), false]",
            "1:26: a rule that concludes false concludes nothing else",
        ),
        ("[(?x ?p ?y) -> now(?x)]", "1:16: now follows from the data, so no rule concludes it"),
        ("[(?x ?p ?y), list(?x ?y) -> q(?x)]", "1:14: list takes 3 arguments, not 2"),
        (
            "[(?x ?p ?y), makeSkolem() -> q(?x)]",
            "1:14: makeSkolem takes at least 1 argument, not 0",
        ),
        ("[(?x ?p ?y) -> [(?y ?p ?x) <- (?x a ?p)]]", "1:16: a head cannot be a rule"),
        ("[(?x ?p ?y) -> (?y ?p ?x) [(?y ?p ?x) -> (?x a ?p)]]", "1:27: a head cannot be a rule"),
        ("[not (?x ?p ?y) <- (?x ?p ?y)]", "1:2: a head cannot be negated"),
        ("[ <- (?x ?p ?y)]", "1:1: the rule has no head, so it concludes nothing"),
        ("[(?x ?p ?y) <- true]", "1:16: true cannot stand in a body"),
        ("[(?x ?p ?y) -> remove(0)]", "1:16: remove is refused: a rule only adds conclusions"),
        ("[(?x ?p ?y) -> drop(0)]", "1:16: drop is refused: a rule only adds conclusions"),
        ("[(?x ?p ?y) -> hide(?p)]", "1:16: hide is refused: what is concluded can be asked for"),
        ("-> table(rdf:type) .", "1:4: table is refused: every rule is evaluated forward"),
        ("-> tableAll() .", "1:4: tableAll is refused: every rule is evaluated forward"),
        (
            "[(?x ?p ?y), countLiteralValues(?x ?p ?n) -> q(?n)]",
            "1:14: countLiteralValues is refused: rules of this language do not count",
        ),
        ("[(?x ?p ?y), listEqual(?x ?y) -> q(?x)]", "1:14: listEqual is refused: compare"),
        ("[(?x ?p ?y), listMapAsObject(?x ?p ?y) -> q(?x)]", "1:14: listMapAsObject is refused"),
        ("[(?x ?p ?y) -> makeTemp(?y)]", "1:16: makeTemp is a builtin, so a head cannot"),
        ("[(?x ?p ?y), bound(?z) -> q(?x)]", "1:14: ?z is an input of bound, but no positive"),
        ("[(?x ?p ?y), unbound(?y) -> q(?x)]", "1:14: the body binds ?y, so unbound never holds"),
        ("[(?x ?p ?y), unbound(5) -> q(?x)]", "1:14: unbound takes a variable there, not"),
        ("[(?x ?p ?y), sum(?y 1 ?z) unbound(?z) -> q(?x)]", "1:27: the body binds ?z, so unbound"),
        ("[(f(?x) ?p ?y) -> q(?x)]", "1:3: only the object of a pattern can be a functor like f"),
        ("[(?x ?p ?y), sum(?x f(?x) ?z) -> q(?x)]", "1:21: only the object of a pattern"),
        ("[(?x ?p ?y), not (?x ?p f(?x)) -> q(?x)]", "1:25: only the object of a pattern"),
        ("[(?x ?p f(g(?x))) -> q(?x)]", "1:11: expected a term or ), but found 'g'"),
        ("[(?x ?p ?y), addOne(?y) -> q(?x)]", "1:14: addOne takes 2 arguments, not 1"),
        ("[(?x ?p ?y), regex(?y) -> q(?x)]", "1:14: regex takes at least 2 arguments, not 1"),
        ("[(?x ?p ?y), regex(?y '(') -> q(?x)]", '1:14: "(" is no pattern, or too large a one'),
        ("[(?x ?p ?y), regex(?y '(?=a)') -> q(?x)]", '1:14: "(?=a)" is no pattern'),
        ("[(?x ?p ?y), sparqlFilter('?2 > 1' ?y) -> q(?x)]", "1:14: ?2 stands for no argument of"),
        ("[(?x ?p ?y), sparqlFilter('?y > 1' ?y) -> q(?x)]", "1:14: ?y stands for no argument of"),
        ("[(?x ?p ?y), sparqlBind('RAND()' ?z) -> q(?z)]", "1:14: RAND gives another value at"),
        ("[(?x ?p ?y), sparqlFilter('EXISTS {}') -> q(?x)]", "1:14: EXISTS asks for facts"),
        ("@include <http://e/site.rules>", "1:10: rules are included from files, not from http"),
        ("@include <rhod>", "1:10: there is no file rhod to include, and no regime rhod; did you"),
        ("@include site.rules", "1:10: expected an IRI in angle brackets, but found 'site"),
        ("[(?x ?p ?y), makeTemp(?x ?y) -> q(?x)]", "1:14: makeTemp takes 1 argument, not 2"),
        ("[(?x ?p ?y), makeTemp(5) -> q(?x)]", "1:14: makeTemp takes a variable there, not"),
        ("[(?x ?p ?y), strConcat() -> q(?x)]", "1:14: strConcat takes at least 1 argument, not 0"),
        ("[(?x ?p ?y), isDLiteral() -> q(?x)]", "1:14: isDLiteral takes 1 or 2 arguments, not 0"),
        ("[(a ?p ?y) -> q(?p)]", "1:3: `a` stands for rdf:type only as the predicate"),
        ('[(?x ?p "\\x") -> q(?p)]', "1:9: unknown escape: \\x"),
        ('[(?x ?p "\\ud800") -> q(?p)]', "1:9: not a Unicode character: \\ud800"),
        ("[(?x ?p <http://a\\u0020b>) -> q(?p)]", "1:9: not an IRI"),
        ("[(?x ?p ?y) -> q(?z)]", "1:16: ?z is in the head"),
        ("[(?x ?p ?y), lessThan(?x) -> q(?x)]", "1:14: lessThan takes 2 arguments, not 1"),
        (
            "[q(?x), p(?x) -> p(?x)]\n[(?x ?p ?y) -> q(?x, ?y)]",
            "2:16: the relation q has 2 arguments here and 1 at site.rules:1:2",
        ),
        ("[n: (?x ?p ?y), not q(?x) -> q(?x)]", "1:1: the rules have no strata"),
    ],
)
def test_errors_have_a_place_and_one_sentence(text, message):
    assert refused(text).startswith(f"site.rules:{message}")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 200_000,
        "[" * 200_000,
        "[a: " * 50_000,
        "[(?x ?p ?y) -> " * 50_000,
        "not " * 100_000,
        "?" * 100_000,
        '"' * 100_001,
        "\\" * 100_000,
        "[(?x ?p " + "9" * 100_000 + ") -> q(?x)]",
        "@relation p/" + "9" * 100_000,
        "a" * 100_000,
        "ex" + ".a" * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_absurd_input_is_refused_quickly(text):
    refused(text)


def test_terms_and_texts_have_a_limit():
    assert "longer than" in refused(f'[(?x ?p "{"x" * MAX_TOKEN}") -> q(?x)]')
    assert "longer than" in refused("#" * (MAX_TEXT + 1))


# ---- files ------------------------------------------------------------------------------------


def test_files(tmp_path):
    path = tmp_path / "site.rules"
    path.write_bytes("\ufeff[é: (?x ?p 'å') -> q(?x)]".encode())
    program = load_rules(path)
    assert program.rules[0].name == "é"
    assert program.rules[0].origin.source == str(path)
    assert load_rules(str(path)) == program


def test_a_missing_file(tmp_path):
    with pytest.raises(ProgramError, match=r"none.rules:1:1: cannot read the rules: No such file"):
        load_rules(tmp_path / "none.rules")


def test_a_file_that_is_not_text(tmp_path):
    path = tmp_path / "site.rules"
    path.write_bytes(b"[\xff]")
    with pytest.raises(ProgramError, match=r"site.rules:1:2: the text is not UTF-8"):
        load_rules(path)
    path.write_bytes(gzip.compress(b"[]"))
    with pytest.raises(ProgramError, match=r"site.rules:1:1: the file is gzip'd; unpack the rules"):
        load_rules(path)
