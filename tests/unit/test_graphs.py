"""Static use: closures of documents and of other libraries' graphs, and back."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow as pa
import pyoxigraph
import pytest
import rdflib
import rdflib.compare

from ebbtide import Reasoner
from ebbtide.engines.abilities import Part, Unsupported
from ebbtide.terms import IRI, TermError
from ebbtide.terms.formats import FormatError, read_quads, read_triples

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
DATA = f"""\
@prefix e: <http://e/> .
@prefix rdfs: <{RDFS}> .
e:Dog rdfs:subClassOf e:Animal .
e:rex a e:Dog ; e:name "Rex"@EN , "01"^^<http://www.w3.org/2001/XMLSchema#integer> .
[] a e:Dog ; e:owner _:o .
"""
SUBCLASS = f"""
[sub: (?c <{RDFS}subClassOf> ?d), (?x a ?c) -> (?x a ?d)]
[trans: (?c <{RDFS}subClassOf> ?d), (?d <{RDFS}subClassOf> ?e) -> (?c <{RDFS}subClassOf> ?e)]
"""
INVENTS = """
[parent: (?x a <http://e/Dog>) makeSkolem(?m, ?x) -> (?x <http://e/mother> ?m)]
[odd: (?x <http://e/name> ?n) -> (?n <http://e/names> ?x)]
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data.ttl"
    path.write_text(DATA)
    return path


@pytest.mark.parametrize("specialise", [True, False])
def test_parts(path: Path, specialise: bool) -> None:
    reasoner = Reasoner.materialize(SUBCLASS, path, specialise=specialise)
    stated = set(read_triples(path))
    rows = pa.table(reasoner.to_arrow()).select(["s", "p", "o"]).to_pylist()
    texts = [tuple(row.values()) for row in rows]
    assert texts == sorted(texts)
    assert len(texts) == len(stated) + 2

    def triples(part: Part) -> set[tuple[str, ...]]:
        return {tuple(row) for row in reasoner.to_arrow(part).rows(["s", "p", "o"])}

    assert triples("stated") == {tuple(term.text for term in triple) for triple in stated}
    assert triples("inferred") == set(texts) - triples("stated")
    assert {o for _, _, o in triples("inferred")} == {"<http://e/Animal>"}


def test_a_planned_engine_reads_documents_as_facts(path: Path) -> None:
    by_document = Reasoner.materialize(SUBCLASS, path)
    by_facts = Reasoner.materialize(SUBCLASS, list(read_triples(path)))
    by_oracle = Reasoner.materialize(SUBCLASS, path, engine="reference")
    assert by_document.facts() == by_facts.facts() == by_oracle.facts()
    later = Reasoner(SUBCLASS)
    later.settle()
    later.parse(path)
    later.advance(to=1_000)
    assert later.facts() == by_facts.facts()


def test_settling_tells_events_and_does_what_a_tick_does() -> None:
    rules = "[both: (?x <a:is> <a:on>) (?x <a:is> <a:off>) -> false]"
    facts = [("<a:lamp>", "<a:is>", "<a:on>"), ("<a:lamp>", "<a:is>", "<a:off>")]
    reasoner = Reasoner.materialize(rules, facts)
    (event,) = reasoner.inconsistencies()
    assert event.since == 0
    assert len(reasoner) == 2
    late = Reasoner(rules, start=None)
    for fact in facts:
        late.push(fact, at=-5_000)
    late.settle()
    assert late.inconsistencies()
    late.push(("<a:lamp>", "<a:is>", "<a:new>"), at=4_500)
    assert next(iter(late.advance(to=6_000))).tick == 1_000
    assert not late.inconsistencies()


def test_data_of_every_kind(path: Path) -> None:
    graph = rdflib.Graph()
    graph.add((rdflib.URIRef("http://e/tom"), rdflib.RDF.type, rdflib.URIRef("http://e/Dog")))
    facts = [("<http://e/ann>", rdflib.RDF.type, "<http://e/Dog>")]
    reasoner = Reasoner.materialize(SUBCLASS, path, graph, facts, str(path))
    for name in ("rex", "tom", "ann"):
        assert (f"<http://e/{name}>", rdflib.RDF.type, "<http://e/Animal>") in reasoner


@pytest.mark.parametrize("name", ["out.nt", "out.ttl.gz", "out.rdf", "out.nq", "out.trig"])
def test_written_files_are_read_back(path: Path, tmp_path: Path, name: str) -> None:
    reasoner = Reasoner.materialize(SUBCLASS, path)
    written = reasoner.write(tmp_path / name)
    assert written == (len(reasoner), 0)
    found = set(read_triples(tmp_path / name, keep_labels=True))
    assert rdflib.compare.isomorphic(
        Reasoner.materialize((), found).to_rdflib(), reasoner.to_rdflib()
    )
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith("gz")


def test_the_prefixes_of_documents_are_used_again(path: Path) -> None:
    file = io.BytesIO()
    Reasoner.materialize(SUBCLASS, path).write(file, "ttl", part="inferred")
    assert b"@prefix e: <http://e/> .\n" in file.getvalue()
    assert b"e:rex a e:Animal .\n" in file.getvalue()
    xml = b"""<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">
      <e:Dog r:about="http://e/rex"/></r:RDF>"""
    reasoner = Reasoner()
    assert reasoner.parse(xml, "rdf") == 1
    assert reasoner.prefixes["e"] == "http://e/"


def test_inferred_triples_in_a_graph_of_their_own(path: Path) -> None:
    reasoner = Reasoner.materialize(SUBCLASS, path)
    file = io.BytesIO()
    reasoner.write(file, "trig", inferred_graph="http://e/inferred")
    graphs = [graph for *_, graph in read_quads(file.getvalue(), "trig")]
    assert graphs.count(IRI("http://e/inferred")) == 2
    assert graphs.count(None) == len(reasoner) - 2
    dataset = reasoner.to_rdflib(inferred_graph=IRI("http://e/inferred"))
    assert isinstance(dataset, rdflib.Dataset)
    assert len(dataset.graph(rdflib.URIRef("http://e/inferred"))) == 2
    with pytest.raises(ValueError, match="the format 'ttl' has no named graphs"):
        reasoner.write(file, "ttl", inferred_graph="http://e/inferred")
    with pytest.raises(TermError, match="the name of a graph is an absolute IRI, not inferred"):
        reasoner.write(file, "nq", inferred_graph="inferred")


def test_invented_terms_and_what_rdf_cannot_say_stay_inside(path: Path) -> None:
    reasoner = Reasoner.materialize(INVENTS, path)
    file = io.BytesIO()
    stated = len(set(read_triples(path)))
    assert reasoner.write(file, "nt") == (stated, 2)
    assert reasoner.write(file, "nt", invented=True) == (stated + 2, 2)
    assert b"_:invented-1-" in file.getvalue()
    assert len(reasoner) == stated + 4


def test_rdflib_in_and_out() -> None:
    graph = rdflib.Graph().parse(data=DATA, format="turtle")
    again = Reasoner.materialize((), graph).to_rdflib()
    assert set(graph) == set(again), "labels and lexical forms are kept"
    dataset = rdflib.Dataset()
    for triple in graph:
        dataset.graph(rdflib.URIRef("http://e/g")).add(triple)
    assert set(Reasoner.materialize((), dataset).to_rdflib()) == set(graph)


def test_a_graph_of_rdflib_takes_what_follows(path: Path) -> None:
    graph = rdflib.Graph().parse(path)
    before = set(graph)
    reasoner = Reasoner.materialize(SUBCLASS, graph)
    assert reasoner.to_rdflib(graph, part="inferred") is graph
    assert set(graph) == set(reasoner.to_rdflib()) > before
    with pytest.raises(TypeError, match="hand in a Dataset"):
        reasoner.to_rdflib(graph, inferred_graph="http://e/inferred")


BY_GRAPH = """
    CONSTRUCT { ?x <http://e/near> ?y } WHERE { ?x <http://e/at> ?y GRAPH <http://e/g> { ?y a ?c } }
    INSERT { GRAPH <http://e/out> { ?y a <http://e/Seen> } } WHERE { ?x <http://e/near> ?y }
"""


def test_named_graphs_stay_apart_for_rules_that_speak_of_them() -> None:
    a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    text = f"""
        <http://e/a> <http://e/at> <http://e/b> .
        <http://e/a> <http://e/at> <http://e/c> .
        <http://e/b> {a} <http://e/B> <http://e/g> .
        <http://e/c> {a} _:c <http://e/h> .
    """.encode()
    from_file = Reasoner(BY_GRAPH)
    from_file.parse(text, "nq")
    from_file.settle()
    store = pyoxigraph.Store()
    store.load(text, format=pyoxigraph.RdfFormat.N_QUADS)
    from_store = Reasoner.materialize(BY_GRAPH, store)
    dataset = rdflib.Dataset()
    dataset.parse(data=text, format="nquads")
    from_dataset = Reasoner.materialize(BY_GRAPH, dataset)
    near = "<http://e/a>", "<http://e/near>", "<http://e/b>"
    for reasoner in (from_file, from_store, from_dataset):
        assert near in reasoner
        assert (*near[:2], "<http://e/c>") not in reasoner
        out = reasoner.to_rdflib()
        assert isinstance(out, rdflib.Dataset)
        seen = list(out.graph(rdflib.URIRef("http://e/out")))
        assert [str(s) for s, _, _ in seen] == ["http://e/b"]
        assert len(out) == len(reasoner.to_pyoxigraph()) == 6


def test_progress_is_told_of_every_file(path: Path) -> None:
    told: list[tuple[int, int]] = []
    Reasoner.materialize(SUBCLASS, path, path, progress=lambda *done: told.append(done))
    assert told == [(path.stat().st_size,) * 2] * 2


def test_pyoxigraph_in_and_out() -> None:
    store = pyoxigraph.Store()
    store.load(DATA.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    before = set(store)
    reasoner = Reasoner.materialize(SUBCLASS, store)
    inferred = pyoxigraph.NamedNode("http://e/inferred")
    assert reasoner.to_pyoxigraph(store, part="inferred", inferred_graph=inferred.value) is store
    after = set(store)
    assert before < after
    added = after - before
    assert {quad.graph_name for quad in added} == {inferred}
    nodes = {quad.subject for quad in before}
    assert {quad.subject for quad in added} < nodes, "blank nodes are those of the store"
    copy = Reasoner.materialize((), pyoxigraph.Dataset(before)).to_pyoxigraph()
    assert set(copy) == before


def test_only_the_native_engine_tells_stated_from_inferred() -> None:
    with pytest.raises(Unsupported):
        Reasoner.materialize((), engine="reference").to_arrow()


def test_graphs_are_picked_and_progress_is_told(tmp_path: Path) -> None:
    text = "".join(f"<a:s> <a:p> {n} .\n<a:g> {{ <a:s> <a:p> {n} }}\n" for n in range(9))
    path = tmp_path / "a.trig.gz"
    path.write_bytes(gzip.compress(text.encode()))
    told: list[tuple[int, int]] = []
    reasoner = Reasoner()
    assert reasoner.parse(path, graph="a:g", progress=lambda *done: told.append(done)) == 9
    assert told[-1] == (path.stat().st_size,) * 2
    with pytest.raises(FormatError):
        reasoner.parse(b"<a:s>", "ttl")
