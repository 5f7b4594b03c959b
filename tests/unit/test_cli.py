"""The command line: what each command prints, and the exit code of each way to end."""

from __future__ import annotations

import gzip
import io
import re
import subprocess
import sys
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path

import pytest
from tests.unit.conftest import A_IN_B, B_IN_C, RULES, Ebbtide

from ebbtide.cli.errors import Explained, explain
from ebbtide.engines.budget import Budget
from ebbtide.engines.native import BudgetExceeded, NativeEngine
from ebbtide.languages.jena import parse_rules
from ebbtide.program import Fact
from ebbtide.regimes import find, regimes
from ebbtide.terms.formats import TimedFact, read_timed, read_triples
from ebbtide.testing import workloads
from ebbtide.testing.workloads.lubm import departments, ontology

C_IN_A = "<http://example/c> <http://example/isIn> <http://example/a> .\n"
A_IN_C = "<http://example/a> <http://example/isIn> <http://example/c> .\n"


def ex(name: str) -> str:
    return f"<http://example/{name}>"


def test_the_version(ebbtide: Ebbtide) -> None:
    assert ebbtide("--version") == (0, f"ebbtide {version('ebbtide')}\n", "")


def test_materialize(ebbtide: Ebbtide) -> None:
    assert ebbtide("materialize", "site.nt", "--rules", "site.rules") == (
        0,
        A_IN_B + A_IN_C + B_IN_C,
        "",
    )


def test_materialize_inferred_only(ebbtide: Ebbtide) -> None:
    ended = ebbtide("materialize", "site.nt", "--rules", "site.rules", "--inferred-only")
    assert ended == (0, A_IN_C, "")


def test_materialize_joins_files(ebbtide: Ebbtide) -> None:
    Path("first.nt").write_text(A_IN_B)
    Path("second.nt.gz").write_bytes(gzip.compress(B_IN_C.encode()))
    ended = ebbtide("materialize", "first.nt", "second.nt.gz", "--rules", "site.rules")
    assert ended == (0, A_IN_B + A_IN_C + B_IN_C, "")


def test_materialize_tells_of_inconsistencies(ebbtide: Ebbtide) -> None:
    Path("site.rules").write_text(
        RULES + "[round: (?x ex:isIn ?y), (?y ex:isIn ?z), (?z ex:isIn ?x) -> false]\n"
    )
    Path("site.nt").write_text(A_IN_B + B_IN_C + C_IN_A)
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules")
    assert code == 1
    assert len(out.splitlines()) == 9
    told = [line for line in err.splitlines() if not line.startswith(" ")]
    assert len(told) == 27
    assert told[0] == (
        f"ebbtide: inconsistent by round (site.rules:3:1): triple({ex('a')}, {ex('isIn')}, "
        f"{ex('a')}), triple({ex('a')}, {ex('isIn')}, {ex('a')}), triple({ex('a')}, {ex('isIn')}, "
        f"{ex('a')})"
    )


def test_materialize_proves_an_inconsistency(ebbtide: Ebbtide) -> None:
    Path("site.rules").write_text(
        RULES + "[far: (?x ex:isIn ex:c), (?x ex:isNot ex:far) -> false]\n"
    )
    Path("site.ttl").write_text(
        "@prefix ex: <http://example/> . ex:a ex:isIn ex:b ; ex:isNot ex:far . ex:b ex:isIn ex:c ."
    )
    code, _, err = ebbtide("materialize", "site.ttl", "--rules", "site.rules")
    a_in_c = f"triple({ex('a')}, {ex('isIn')}, {ex('c')})"
    not_far = f"triple({ex('a')}, {ex('isNot')}, {ex('far')})"
    assert code == 1
    assert err.splitlines() == [
        f"ebbtide: inconsistent by far (site.rules:3:1): {a_in_c}, {not_far}",
        f"  {a_in_c} until forever: by transitive (site.rules:2:1)",
        f"    triple({ex('a')}, {ex('isIn')}, {ex('b')}) until forever: stated",
        f"    triple({ex('b')}, {ex('isIn')}, {ex('c')}) until forever: stated",
        f"  {not_far} until forever: stated",
    ]


def test_materialize_tells_of_malformed_lists(ebbtide: Ebbtide) -> None:
    Path("site.rules").write_text(
        "[r: (?x <http://example/isIn> ?l) list(?l 0 ?y) -> (?x <http://example/isIn> ?y)]"
    )
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules")
    assert (code, out) == (0, A_IN_B + B_IN_C)
    assert err.splitlines()[0] == (
        f"ebbtide: the list {ex('b')} is malformed at {ex('b')}: it has no rdf:first"
    )


@pytest.mark.parametrize("format", ["nt", "nq", "ttl", "trig", "rdf", "jsonld"])
def test_materialize_in_every_format(ebbtide: Ebbtide, format: str) -> None:
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules", "--format", format)
    assert (code, err) == (0, "")
    assert set(read_triples(out.encode(), format)) == set(
        read_triples((A_IN_B + A_IN_C + B_IN_C).encode(), "nt")
    )


def test_materialize_reads_every_format(ebbtide: Ebbtide) -> None:
    Path("a.ttl").write_text("@prefix ex: <http://example/> . ex:a ex:isIn ex:b .")
    Path("b.jsonld").write_text(
        '{"@id": "http://example/b", "http://example/isIn": {"@id": "http://example/c"}}'
    )
    ended = ebbtide("materialize", "a.ttl", "b.jsonld", "--rules", "site.rules")
    assert ended == (0, A_IN_B + A_IN_C + B_IN_C, "")


def test_materialize_puts_inferred_facts_into_a_graph(ebbtide: Ebbtide) -> None:
    arguments = ("materialize", "site.nt", "--rules", "site.rules", "--inferred-graph", "urn:new")
    inferred = A_IN_C.replace(" .", " <urn:new> .")
    assert ebbtide(*arguments) == (0, A_IN_B + B_IN_C + inferred, "")
    assert ebbtide(*arguments, "--inferred-only") == (0, inferred, "")
    code, out, err = ebbtide(*arguments, "--format", "ttl")
    assert (code, out) == (1, "")
    assert err.startswith("ebbtide: --format ttl has no graphs for --inferred-graph")


def test_materialize_leaves_out_what_was_invented(ebbtide: Ebbtide) -> None:
    Path("odd.rules").write_text(
        "[new: (?x <http://example/isIn> ?y) makeSkolem(?z, ?x, ?y) -> (?y <http://example/n> ?z)]"
        '[odd: (?x <http://example/isIn> ?y) -> ("literal" <http://example/n> ?y)]'
    )
    arguments = ("materialize", "site.nt", "--rules", "odd.rules", "--inferred-only")
    code, out, err = ebbtide(*arguments)
    assert (code, out) == (0, "")
    assert err.startswith("ebbtide: left out 2 facts that RDF cannot say")
    code, out, err = ebbtide(*arguments, "--invented")
    assert code == 0
    assert out.count("_:invented-1-") == 2


def test_a_bad_document_has_its_place(ebbtide: Ebbtide) -> None:
    Path("bad.ttl").write_text("<a:s> <a:p>\n  ex:o .")
    code, out, err = ebbtide("materialize", "bad.ttl", "--rules", "site.rules")
    assert (code, out) == (1, "")
    assert err == "ebbtide: bad.ttl:2:3: the prefix ex: has not been declared\n"


def test_a_bad_line_has_its_place(ebbtide: Ebbtide) -> None:
    Path("site.nt").write_text(A_IN_B + "<http://example/b> isIn <http://example/c> .\n")
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules")
    assert (code, out) == (1, "")
    assert err == "ebbtide: site.nt:2:20: expected a predicate: an absolute IRI <...>\n"


def test_a_bad_rule_has_its_place(ebbtide: Ebbtide) -> None:
    Path("site.rules").write_text(RULES + "[lost: (?x ex:isIn ?y) -> (?x ex:isIn ?z)]\n")
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules")
    assert (code, out) == (1, "")
    assert err.startswith("ebbtide: site.rules:3:")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("missing", ["data", "rules"])
def test_a_missing_file_is_named(ebbtide: Ebbtide, missing: str) -> None:
    Path("site.nt" if missing == "data" else "site.rules").unlink()
    code, out, err = ebbtide("materialize", "site.nt", "--rules", "site.rules")
    assert (code, out) == (1, "")
    assert "No such file" in err
    assert ("site.nt" if missing == "data" else "site.rules") in err


@pytest.mark.parametrize(
    ("text", "more"),
    [
        (A_IN_B + B_IN_C, ()),
        (A_IN_B + B_IN_C, ("--read-as", "nt")),
        ("{}", ("--read-as", "jsonld")),
    ],
)
def test_materialize_reads_standard_input(
    ebbtide: Ebbtide, monkeypatch: pytest.MonkeyPatch, text: str, more: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code, out, err = ebbtide("materialize", "-", "--rules", "site.rules", "--inferred-only", *more)
    assert (code, out, err) == (0, A_IN_C if text != "{}" else "", "")


def test_materialize_reads_a_file_of_any_name(ebbtide: Ebbtide) -> None:
    Path("site.csv").write_text(A_IN_B)
    ended = ebbtide("materialize", "site.csv", "--rules", "site.rules", "--read-as", "nt")
    assert ended == (0, A_IN_B, "")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('<a:a> <a:p> "\\b" .', "XML cannot hold the character U+0008"),
        ('<a:a> <a:1> "" .', "RDF/XML has no name for the predicate <a:1>"),
    ],
)
def test_materialize_tells_what_a_format_cannot_say(
    ebbtide: Ebbtide, line: str, message: str
) -> None:
    Path("site.nt").write_text(line)
    code, _, err = ebbtide("materialize", "site.nt", "--rules", "site.rules", "--format", "rdf")
    assert code == 1
    assert err.startswith(f"ebbtide: {message}")


def test_a_folder_is_no_data(ebbtide: Ebbtide) -> None:
    Path("site").mkdir()
    ended = ebbtide("materialize", "site", "--rules", "site.rules")
    assert ended == (1, "", "ebbtide: site is a folder; name the files in it\n")


def test_an_unknown_format_is_refused(ebbtide: Ebbtide) -> None:
    code, _, err = ebbtide("materialize", "site.csv", "--rules", "site.rules")
    assert code == 1
    assert err.startswith(
        "ebbtide: site.csv:1:1: the name does not tell the format; the formats are nt"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["materialize"],
        ["materialize", "site.nt"],
        ["materialise", "site.nt"],
        ["explain", "maintenance", "site.rules", "--strategy", "magic"],
        ["demo", "--seconds", "1"],
        [],
    ],
)
def test_usage(ebbtide: Ebbtide, arguments: list[str]) -> None:
    assert ebbtide(*arguments).code == 2


def test_help(ebbtide: Ebbtide) -> None:
    code, out, _ = ebbtide("--help")
    assert code == 0
    for command in ("demo", "materialize", "explain", "generate"):
        assert command in out


def test_a_budget_that_was_hit_is_exit_code_3() -> None:
    engine = NativeEngine(parse_rules(RULES), {}, budget=Budget(derivations=1))
    for inner, outer in pairwise("abcd"):
        engine.add(Fact.triple(ex(inner), ex("isIn"), ex(outer)))
    with pytest.raises(BudgetExceeded) as hit:
        engine.advance(0)
    assert explain(hit.value) == Explained(3, str(hit.value))


def test_a_bug_keeps_its_traceback() -> None:
    assert explain(ZeroDivisionError()) is None


@pytest.mark.parametrize("strategy", ["dred", "expiry"])
def test_explain_maintenance(ebbtide: Ebbtide, strategy: str) -> None:
    code, out, err = ebbtide("explain", "maintenance", "site.rules", "--strategy", strategy)
    assert (code, err) == (0, "")
    assert len([line for line in out.splitlines() if ":-" in line]) == 10


def test_explain_plan(ebbtide: Ebbtide) -> None:
    code, out, err = ebbtide("explain", "plan", "site.rules")
    assert (code, err) == (0, "")
    assert "transitive" in out


def test_explain_plan_says_what_became_of_each_rule(ebbtide: Ebbtide) -> None:
    Path("schema.ttl").write_text(
        "<e:Dean> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <e:Person> ."
    )
    arguments = ("explain", "plan", "rdfs", "--background", "schema.ttl", "--wanted")
    code, out, err = ebbtide(*arguments, "(?x rdf:type <e:Person>)")
    assert (code, err) == (0, "")
    fates = {line.split()[0]: line.split()[1] for line in out.splitlines() if line[:1].isalpha()}
    assert (fates["rdfs9"], fates["rdfs7"]) == ("kept", "asleep")
    assert "<e:Person>) :- triple(?x, " in out

    Path("people.rq").write_text("# all\nSELECT ?x { ?x a <e:Person> }")
    assert ebbtide(*arguments, "people.rq") == (code, out, err)

    code, out, err = ebbtide(*arguments, "(?x rdf:type")
    assert (code, out) == (1, "")
    assert err.startswith("ebbtide: --wanted:1:")


def test_explain_why(ebbtide: Ebbtide) -> None:
    arguments = ("explain", "why", "site.nt", "--rules", "site.rules", "--fact")
    code, out, err = ebbtide(*arguments, A_IN_C.removesuffix(" .\n"))
    assert (code, err) == (0, "")
    assert "by transitive (site.rules:2:1)" in out
    assert out.count("stated") == 2

    code, out, err = ebbtide(*arguments, A_IN_C.replace("/c>", "/d>"))
    assert (code, out) == (1, "")
    assert "does not hold" in err

    code, out, err = ebbtide(*arguments, "a isIn c")
    assert (code, out) == (1, "")
    assert err.startswith("ebbtide: --fact:1:1: expected a subject")

    code, out, err = ebbtide(*arguments, "# nothing\n.")
    assert (code, out) == (1, "")


@pytest.mark.parametrize("name", ["isin", "mobility", "taxonomy"])
def test_generate_writes_what_the_workload_is(ebbtide: Ebbtide, name: str) -> None:
    assert (
        ebbtide("generate", name, "--out", "data/new", "--seed", "3", "--start", "60000").code == 0
    )
    defaults = {"isin": {"facts": 10_000}}
    workload = getattr(workloads, name)(seed=3, start=60_000, **defaults.get(name, {}))
    background = [fact.terms for fact in workload.background()]
    stream = [TimedFact(fact.terms, at) for fact, at in workload.stream()]
    assert list(read_triples(f"data/new/{name}.nt")) == background
    assert list(read_timed(f"data/new/{name}.tnt")) == stream


def test_generate_to_standard_output(ebbtide: Ebbtide) -> None:
    """The stream alone, so that any size can go through a pipe."""
    assert ebbtide("generate", "isin", "--facts", "20").code == 0
    code, out, err = ebbtide("generate", "isin", "--facts", "20", "--out", "-")
    assert (code, err) == (0, "")
    assert out == Path("isin.tnt").read_text()


def test_generate_atoms(ebbtide: Ebbtide) -> None:
    """A line a time point: the instant, a tab, atoms with full stops."""
    code, out, _ = ebbtide(
        "generate", "laser", "--kind", "join", "--rate", "2", "--ticks", "2", "-o", "-"
    )
    assert (code, out) == (0, "0\tp(n0,n1). p(n1,n2).\n1\tp(n2,n3). p(n3,n4).\n")
    assert ebbtide("generate", "cooling", "--start", "41", "--ticks", "1", "--rate", "1").code == 0
    assert re.fullmatch(r"41\ttemp\(-?\d+\)\.\n", Path("cooling.atoms").read_text())


def test_generate_lubm(ebbtide: Ebbtide) -> None:
    """Each department at its instant, the ontology apart; or all in one file without instants."""
    rows = [" ".join(row) for department in departments(seed=3) for row in department.rows]
    schema = [" ".join(row) for row in ontology()]
    assert ebbtide("generate", "lubm", "--seed", "3", "--every", "7").code == 0
    lines = [line.partition("\t") for line in Path("lubm.tnt").read_text().splitlines()]
    assert [line for _, _, line in lines] == [f"{row} ." for row in rows]
    instants = list(dict.fromkeys(int(at) for at, _, _ in lines))
    assert instants == [7 * place for place in range(len(list(departments(seed=3))))]
    assert Path("lubm.nt").read_text().splitlines() == [f"{row} ." for row in schema]
    assert ebbtide("generate", "lubm", "--seed", "3", "--plain", "--out", "plain").code == 0
    assert [path.name for path in Path("plain").iterdir()] == ["lubm.nt"]
    assert Path("plain/lubm.nt").read_text().splitlines() == [f"{row} ." for row in schema + rows]


def test_generate_refuses_what_cannot_be(ebbtide: Ebbtide) -> None:
    assert ebbtide("generate", "isin", "--depth", "0").code == 1
    assert ebbtide("generate", "isin", "--start", "noon").code == 1
    assert ebbtide("generate", "lubm", "--every", "0").code == 1
    assert ebbtide("generate", "isin", "--out", "site.nt/below").code in (1, 2)


def test_the_installed_command_survives_a_closed_pipe(tmp_path: Path) -> None:
    (tmp_path / "site.rules").write_text(RULES)
    lines = [f"<http://e/{n}> <http://e/p> <http://e/{n}> .\n" for n in range(20_000)]
    (tmp_path / "site.nt").write_text("".join(lines))
    command = Path(sys.executable).with_name("ebbtide")
    ended = subprocess.run(
        f"{command} materialize site.nt --rules site.rules | head -n 1",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(ended.stdout.splitlines()) == 1
    assert "Traceback" not in ended.stderr


def test_rules_list_names_every_regime(ebbtide: Ebbtide) -> None:
    ended = ebbtide("rules", "list")
    assert ended.code == 0
    assert all(regime.name in ended.out for regime in regimes())


def test_rules_show_prints_the_file(ebbtide: Ebbtide) -> None:
    assert ebbtide("rules", "show", "rhodf").out == find("rhodf").text


def test_rules_export_copies_once(ebbtide: Ebbtide, tmp_path: Path) -> None:
    assert ebbtide("rules", "export", "rhodf").out == "rhodf.rules\n"
    assert (tmp_path / "rhodf.rules").read_text(encoding="utf-8") == find("rhodf").text
    again = ebbtide("rules", "export", "rhodf")
    assert again.code == 1
    assert again.err == "ebbtide: rhodf.rules: the file exists already; name another one\n"


def test_rules_check_says_what_is_there(ebbtide: Ebbtide) -> None:
    (Path("ask.rules")).write_text("@relation seen/1. [r: seen(?x), (?x a 1) -> (?x a 2), ok(?x)]")
    assert ebbtide("rules", "check", "site.rules", "ask.rules").out.splitlines() == [
        "site.rules: 1 rule, 1 relation, 1 stratum",
        "ask.rules: 1 rule, 3 relations, 1 stratum",
        "  never concluded, only stated: seen/1, (_ <http://www.w3.org/1999/02/22-rdf-syntax-ns"
        '#type> "1"^^<http://www.w3.org/2001/XMLSchema#integer>)',
    ]


def test_rules_check_looks_at_what_is_negated(ebbtide: Ebbtide) -> None:
    Path("ask.rules").write_text("[r: noValue(?x <urn:blokced>), (?x <urn:in> ?y) -> ok(?x)]")
    assert ebbtide("rules", "check", "ask.rules").out.splitlines() == [
        "ask.rules: 1 rule, 2 relations, 1 stratum",
        "  never concluded, only stated: (_ <urn:in> _), (_ <urn:blokced> _)",
    ]


def test_rules_check_says_what_is_wrong_in_each_file(ebbtide: Ebbtide) -> None:
    Path("bad.rules").write_text("[r: (?x a ?y) -> (?x a ?z)]")
    ended = ebbtide("rules", "check", "bad.rules", "site.rules", "none.rules")
    assert ended.code == 1
    assert ended.out == "site.rules: 1 rule, 1 relation, 1 stratum\n"
    assert [line.split(": ")[1] for line in ended.err.splitlines()] == [
        "bad.rules:1:18",
        "none.rules:1:1",
    ]
    assert ebbtide("rules", "check", "rhodf,site.rules").out.startswith(
        "rhodf,site.rules: 18 rules"
    )


SPARQL = """\
PREFIX ex: <http://example/>
# name: transitive
INSERT { ?x ex:isIn ?z } WHERE { ?x ex:isIn/ex:isIn ?z } ;
INSERT { ?x ex:knownAs ?n } WHERE { ?x ex:isIn ?y GRAPH ex:names { ?x ex:name ?n } } ;
INSERT DATA { ex:c ex:isIn ex:d }
"""


def test_sparql_rules(ebbtide: Ebbtide) -> None:
    Path("site.rq").write_text(SPARQL)
    ended = ebbtide("materialize", "site.nt", "--rules", "site.rq", "--inferred-only")
    assert ended.code == 0
    assert ended.out == (
        A_IN_C
        + A_IN_C.replace("/c>", "/d>")
        + B_IN_C.replace("/c>", "/d>")
        + B_IN_C.replace("/c>", "/d>").replace("/b>", "/c>")
    )
    Path("names.trig").write_text(f"{ex('names')} {{ {ex('a')} {ex('name')} 'A' }}")
    ended = ebbtide("materialize", "site.nt", "names.trig", "--rules", "site.rq", "--inferred-only")
    assert f'{ex("a")} {ex("knownAs")} "A" .' in ended.out


def test_sparql_rules_conclude_into_graphs(ebbtide: Ebbtide) -> None:
    Path("site.rq").write_text(
        "PREFIX ex: <http://example/> INSERT { GRAPH ex:g { ?x ex:in ?y ; ex:by [] } } "
        "WHERE { GRAPH ?any { ?x ex:isIn ?y } }"
    )
    Path("site.trig").write_text(f"{ex('h')} {{ {A_IN_B} }} {B_IN_C}")
    rules = ("materialize", "site.trig", "--rules", "site.rq")
    stated = A_IN_B.replace(" .", f" {ex('h')} .")
    concluded = f"{ex('a')} {ex('in')} {ex('b')} {ex('g')} .\n"
    assert ebbtide(*rules, "--format", "nq").out == B_IN_C + concluded + stated
    assert ebbtide(*rules, "--format", "nq", "--inferred-only").out == concluded
    assert len(ebbtide(*rules, "--format", "nq", "--invented").out.splitlines()) == 4
    assert ebbtide(*rules).out == B_IN_C


def test_sparql_rules_with_a_regime(ebbtide: Ebbtide) -> None:
    Path("site.RQ").write_text(
        "CONSTRUCT { ?x a <http://example/Place> } WHERE { ?y <http://example/isIn> ?x }"
    )
    Path("schema.ttl").write_text(
        "<http://example/Place> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <e:Thing> ."
    )
    ended = ebbtide("materialize", "site.nt", "schema.ttl", "--rules", "owl2rl,site.RQ")
    assert f"{ex('c')} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <e:Thing> ." in ended.out


def test_sparql_rules_are_checked(ebbtide: Ebbtide) -> None:
    Path("site.rq").write_text(SPARQL)
    Path("bad.rq").write_text("CONSTRUCT { ?x a ?n }\nWHERE { ?x a ?c BIND(NOW() AS ?n) }")
    Path("worse.ru").write_text("INSERT { ?x a }\nWHERE { }")
    ended = ebbtide("rules", "check", "site.rq", "bad.rq", "worse.ru")
    assert ended.code == 1
    assert ended.out.splitlines()[0] == "site.rq: 3 rules, 2 relations, 1 stratum"
    assert ended.err.splitlines() == [
        "ebbtide: bad.rq:2:22: NOW gives another value at every evaluation, so conclusions could "
        "not be kept",
        "ebbtide: worse.ru:1:15: SPARQL cannot go on with '}'",
    ]
    assert ebbtide("materialize", "site.nt", "--rules", "bad.rq").code == 1


def test_rules_export_as_sparql(ebbtide: Ebbtide) -> None:
    ended = ebbtide("rules", "export", "rdfs", "--as", "sparql")
    assert ended.out == "rdfs.rq\n"
    assert ended.err == ("ebbtide: left out GrdfD1: SPARQL has no exact counterpart of datatype\n")
    assert ebbtide("rules", "check", "rdfs.rq").code == 0
    assert ebbtide("rules", "export", "rhodf", "mine.rq", "--as", "sparql").err == ""


def test_the_placement_of_rules_and_of_a_pipeline(ebbtide: Ebbtide) -> None:
    cut = "transitive (site.rules:2:1): global: triple(?y, <http://example/isIn>, ?z) "
    cut += "does not have ?x\n"
    assert ebbtide("explain", "placement", "site.rules") == (0, f"{cut}placement: driver\n", "")
    Path("in").mkdir()
    Path("p.toml").write_text(
        '[streams.s]\nfrom = "files"\npath = "in"\n[rules]\nuse = ["site.rules"]\n'
        '[outputs.o]\nto = "console"\n[spark]\nmaster = "spark://ada:7077"\n'
    )
    code, out, err = ebbtide("explain", "placement", "p.toml")
    assert (code, err) == (0, "")
    whole = cut.replace("site.rules", str(Path("site.rules").resolve()))
    why = f"the program cannot be cut into shards: {whole}"
    assert out == f"{whole}placement: driver: {why}"
    assert ebbtide("explain", "placement", "p.toml", "--background", "site.nt").code == 1
