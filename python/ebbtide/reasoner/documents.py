"""What a reasoner reads and writes: documents, and the graphs of rdflib and pyoxigraph.

In: background, with no Python object a fact where the engine is the kernel. Out: the triples that
hold, stated and inferred ones together or apart. RDF cannot say every fact: relations other than
`triple` stay inside, and so do triples with a literal for a subject, which some rules conclude.
Terms that rules invented stay inside unless they are asked for.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from os import PathLike, fspath
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ebbtide.engines.abilities import (
    GivesTriples,
    Part,
    ReadsDocuments,
    TakesArrow,
    Unsupported,
)
from ebbtide.engines.protocol import Engine
from ebbtide.program import QUAD, TRIPLE, Fact, Program
from ebbtide.reasoner.intake import (
    FactLike,
    as_fact,
    check_relation,
    is_columnar,
    triple_batches,
)
from ebbtide.terms import IRI, Literal, parse_term, to_rdflib, to_term
from ebbtide.terms.formats import (
    CHUNK,
    TERM_COLUMNS,
    Document,
    GraphName,
    graph_text,
    open_document,
)
from ebbtide.terms.writing import FORMATS_WITH_GRAPHS, STANDARD_PREFIXES, document, ntriples_line

if TYPE_CHECKING:
    import pyoxigraph
    import rdflib

    from ebbtide._kernel import Reader, Table

Progress: TypeAlias = Callable[[int, int], None]
Target: TypeAlias = str | PathLike[str] | IO[bytes]


class Written(NamedTuple):
    """How many triples were written, and how many hold that RDF cannot say."""

    triples: int
    left_out: int


class Documents:
    """The part of a reasoner that meets documents and other libraries' graphs."""

    program: Program
    engine: Engine
    #: Prefixes of the documents that were read, for those that are written.
    prefixes: dict[str, str]

    # ---- in ----------------------------------------------------------------------------------

    def parse(
        self,
        document: Document,
        format: str | None = None,
        *,
        name: str | None = None,
        base: str | None = None,
        graph: GraphName | None = None,
        progress: Progress | None = None,
    ) -> int:
        """State the triples of a document as background; how many there are.

        A document is a path, or bytes, in N-Triples, N-Quads, Turtle, TriG, RDF/XML or JSON-LD,
        plain or gzip'd; its suffix or `format` says which. Named graphs are read as one, unless
        `graph` picks one (or "default"), or rules speak of `quad`: then they stay apart. What is
        no triple is a `FormatError` with its place; the triples before it are stated. `progress` is
        told the bytes taken so far, and all.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner()
        >>> reasoner.parse(b"<http://e/oslo> <http://e/isIn> <http://e/norway>, [] .", "ttl")
        2
        """
        graphs = graph is None and QUAD in self.program.relations
        reader = open_document(document, format, name=name, base=base, graph=graph, graphs=graphs)
        return self._read(reader, progress, graphs)

    def add_all(self, facts: Iterable[FactLike]) -> None:
        """State background facts: some facts, a graph of rdflib or pyoxigraph, or a table.

        The named graphs of a dataset or a store are read as one, unless rules speak of `quad`: then
        they stay apart. Blank nodes keep their labels, so that what follows speaks of the same
        nodes. A table (pyarrow, polars, pandas) has the columns s, p and o, of N-Triples texts.

        >>> import rdflib
        >>> from ebbtide import Reasoner
        >>> graph = rdflib.Graph().parse(data="<a:s> <a:p> 1, 2 .", format="turtle")
        >>> reasoner = Reasoner.materialize("[r: (?s ?p ?o) -> (?s <a:q> ?o)]", graph)
        >>> len(reasoner)
        4
        """
        match type(facts).__module__.partition(".")[0]:
            case "rdflib":
                self._add_rdflib(facts)
            case "pyoxigraph":
                import pyoxigraph

                quads: Any = facts
                data = pyoxigraph.serialize(quads, format=pyoxigraph.RdfFormat.N_QUADS)
                assert data is not None
                graphs = QUAD in self.program.relations
                reader = open_document(data, "nq", keep_labels=True, graphs=graphs)
                self._read(reader, graphs=graphs)
            case _ if is_columnar(facts):
                for batch in triple_batches(facts, is_timed=False):
                    self._add_batch(batch)
            case _:
                for fact in facts:
                    self.engine.add(check_relation(as_fact(fact), self.program))

    def _add_batch(self, batch: Any) -> None:
        if isinstance(self.engine, TakesArrow):
            self.engine.add_arrow(batch, TRIPLE, TERM_COLUMNS)
            return
        for row in batch.to_pylist():
            terms = tuple(parse_term(row[name]) for name in TERM_COLUMNS)
            self.engine.add(Fact(TRIPLE, terms))

    def _add_rdflib(self, graph: Iterable[Any]) -> None:
        from rdflib.graph import DATASET_DEFAULT_GRAPH_ID

        # Most terms of a graph occur in many triples.
        terms: dict[Any, Any] = {}

        def term(node: Any) -> Any:
            key = type(node), node
            if key not in terms:
                terms[key] = to_term(node)
            return terms[key]

        graphs = QUAD in self.program.relations
        # A dataset gives the name of a graph, too; versions of rdflib call the default one either.
        for s, p, o, *names in graph:
            fact = as_fact((term(s), term(p), term(o)))
            if graphs and names and names[0] not in (None, DATASET_DEFAULT_GRAPH_ID):
                fact = Fact(QUAD, (*fact.terms, term(names[0])))
            self.engine.add(fact)

    def _read(self, reader: Reader, progress: Progress | None = None, graphs: bool = False) -> int:
        """State the triples of a reader, or those with graphs; how many there are."""
        count = 0
        while taken := self._read_quads(reader) if graphs else self._read_some(reader):
            count += taken
            if progress is not None:
                progress(*reader.progress)
        self.prefixes = {**reader.prefixes, **self.prefixes}
        return count

    def _read_some(self, reader: Reader) -> int:
        if isinstance(self.engine, ReadsDocuments):
            return self.engine.add_read(reader, CHUNK)
        rows = reader.rows(CHUNK)
        for row in rows:
            self.engine.add(Fact(TRIPLE, tuple(map(parse_term, row))))
        return len(rows)

    def _read_quads(self, reader: Reader) -> int:
        rows = reader.rows(CHUNK)
        for *triple, graph in rows:
            terms = tuple(parse_term(text) for text in (*triple, graph) if text)
            self.engine.add(Fact(QUAD if graph else TRIPLE, terms))
        return len(rows)

    # ---- out ---------------------------------------------------------------------------------

    def to_arrow(self, part: Part = "all", *, invented: bool = False) -> Table:
        """The triples that hold, sorted, as Arrow: columns s, p, o and until.

        `part` is "all", "stated" or "inferred". Triples with terms that rules invented are left
        out unless `invented`.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner.materialize("[r: (?s <a:p> ?o) -> (?o <a:q> ?s)]")
        >>> len(reasoner.to_arrow("inferred"))
        0
        """
        return self._triples(part, invented)[0]

    def write(
        self,
        target: Target,
        format: str | None = None,
        *,
        part: Part = "all",
        inferred_graph: GraphName | None = None,
        invented: bool = False,
    ) -> Written:
        """Write the triples that hold to a path or an open binary file, sorted.

        The suffix or `format` says how: nt, nq, ttl, trig, rdf or jsonld; a path that ends in .gz
        is compressed. With `inferred_graph` the inferred triples are in a graph of that name. Facts
        of `quad` are written in the formats with named graphs.

        >>> import io
        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner.materialize(
        ...     "[r: (?s <a:p> ?o) -> (?o <a:q> ?s)]", [("<a:x>", "<a:p>", "<a:y>")]
        ... )
        >>> file = io.BytesIO()
        >>> reasoner.write(file, "nq", inferred_graph="a:inferred")
        Written(triples=2, left_out=0)
        >>> print(file.getvalue().decode(), end="")
        <a:x> <a:p> <a:y> .
        <a:y> <a:q> <a:x> <a:inferred> .
        """
        name = fspath(target) if isinstance(target, str | PathLike) else ""
        format = format or PurePath(name.removesuffix(".gz")).suffix.removeprefix(".")
        if inferred_graph is not None and format not in FORMATS_WITH_GRAPHS:
            known = ", ".join(sorted(FORMATS_WITH_GRAPHS))
            raise ValueError(f"the format {format!r} has no named graphs; {known} have")
        graphs, left_out = self._graphs(part, inferred_graph, invented)
        if format in FORMATS_WITH_GRAPHS:
            graphs += self._named_graphs(part, invented)
        pieces = document(graphs, format, {**STANDARD_PREFIXES, **self.prefixes})
        if not isinstance(target, str | PathLike):
            target.writelines(pieces)
        else:
            opened: Any = gzip.open if name.endswith(".gz") else open
            with opened(name, "wb") as file:
                file.writelines(pieces)
        return Written(sum(len(table) for table, _ in graphs), left_out)

    def to_rdflib(
        self,
        graph: rdflib.Graph | None = None,
        *,
        part: Part = "all",
        inferred_graph: GraphName | None = None,
        invented: bool = False,
    ) -> rdflib.Graph:
        """The triples that hold, added to a graph of rdflib, or in a new one.

        With `inferred_graph` it is a Dataset, with the inferred triples in a graph of that name;
        and if rules speak of `quad`, with the facts of it in their graphs.

        >>> from ebbtide import Reasoner
        >>> reasoner = Reasoner.materialize(
        ...     "[r: (?s <a:p> ?o) -> (?o <a:q> ?s)]", [("<a:x>", "<a:p>", "<a:y>")]
        ... )
        >>> for s, p, o in reasoner.to_rdflib(part="inferred"):
        ...     print(s, p, o)
        a:y a:q a:x
        """
        import rdflib

        graphs, _ = self._graphs(part, inferred_graph, invented)
        graphs += self._named_graphs(part, invented)
        needs_names = inferred_graph is not None or QUAD in self.program.relations
        if graph is None:
            graph = rdflib.Dataset() if needs_names else rdflib.Graph()
        elif needs_names and not isinstance(graph, rdflib.Dataset):
            raise TypeError("a graph of rdflib has no named graphs; hand in a Dataset")
        nodes: dict[str, Any] = {}

        def node(text: str) -> Any:
            if text not in nodes:
                nodes[text] = to_rdflib(parse_term(text))
            return nodes[text]

        for table, name in graphs:
            target: Any = graph if name is None else graph.graph(node(name))  # type: ignore[attr-defined]
            for s, p, o in table.rows(list(TERM_COLUMNS)):
                target.add((node(s), node(p), node(o)))
        return graph

    def to_pyoxigraph(
        self,
        store: pyoxigraph.Store | None = None,
        *,
        part: Part = "all",
        inferred_graph: GraphName | None = None,
        invented: bool = False,
    ) -> pyoxigraph.Store:
        """The triples that hold, added to a store of pyoxigraph, or in a new one.

        With `inferred_graph` the inferred triples are in a graph of that name. Blank nodes keep
        their labels: what follows from a store speaks of its nodes.

        >>> import pyoxigraph
        >>> from ebbtide import Reasoner
        >>> node = pyoxigraph.NamedNode("a:x")
        >>> store = pyoxigraph.Store()
        >>> store.add(pyoxigraph.Quad(node, node, node))
        >>> reasoner = Reasoner.materialize("[r: (?s ?p ?o) -> (?s ?p <a:y>)]", store)
        >>> _ = reasoner.to_pyoxigraph(store, part="inferred", inferred_graph="a:inferred")
        >>> len(store)
        2
        """
        import pyoxigraph

        store = pyoxigraph.Store() if store is None else store
        graphs, _ = self._graphs(part, inferred_graph, invented)
        data = b"".join(document(graphs + self._named_graphs(part, invented), "nq"))
        quads = pyoxigraph.parse(data, format=pyoxigraph.RdfFormat.N_QUADS, lenient=True)
        store.bulk_extend(quads)
        return store

    def _triples(self, part: Part, invented: bool) -> tuple[Table, int]:
        return self._giver.triples_arrow(part, invented)

    @property
    def _giver(self) -> GivesTriples:
        if not isinstance(self.engine, GivesTriples):
            raise Unsupported("only the native engine tells stated triples from inferred ones")
        return self.engine

    def _named_graphs(self, part: Part, invented: bool) -> list[tuple[Table, str | None]]:
        """The facts of `quad` that RDF can say, a table a graph."""
        if QUAD not in self.program.relations:
            return []
        graphs: dict[str, list[str]] = {}
        for fact in self.engine.facts([QUAD]):
            *triple, graph = fact.terms
            is_stated = part == "all" or self._giver.is_stated(fact) == (part == "stated")
            is_rdf = not isinstance(triple[0], Literal) and isinstance(triple[1], IRI)
            if is_stated and is_rdf and (invented or not any(term.invented for term in fact.terms)):
                graphs.setdefault(graph.text, []).append(ntriples_line(triple))
        return [(_table(lines), name) for name, lines in sorted(graphs.items())]

    def _graphs(
        self, part: Part, inferred_graph: GraphName | None, invented: bool
    ) -> tuple[list[tuple[Table, str | None]], int]:
        """Tables, each with the text of its graph; and how many triples RDF cannot say."""
        if inferred_graph is None:
            table, left_out = self._triples(part, invented)
            return [(table, None)], left_out
        names = {"stated": None, "inferred": graph_text(inferred_graph)}
        parts: tuple[Part, ...] = ("stated", "inferred") if part == "all" else (part,)
        found = [(*self._triples(each, invented), names[each]) for each in parts]
        graphs = [(table, name) for table, _, name in found]
        return graphs, sum(left_out for _, left_out, _ in found)


def _table(lines: list[str]) -> Table:
    reader = open_document("".join(sorted(lines)).encode(), "nt", keep_labels=True)
    return reader.table(len(lines))
