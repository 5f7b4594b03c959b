"""The reasoner: what goes in, when ticks come, what is read."""

import gzip
import warnings
from itertools import islice

import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st

from ebbtide import FOREVER, IRI, Count, Fact, Landmark, Literal, Program, Reasoner, Sliding
from ebbtide.engines.abilities import Unsupported
from ebbtide.engines.budget import Budget
from ebbtide.program import ProgramError
from ebbtide.reasoner import SnapshotError
from ebbtide.reasoner.late import KEPT
from ebbtide.terms import TermError
from ebbtide.terms.formats import FormatError, read_timed
from ebbtide.testing import fact, program, rows, table
from ebbtide.time import InstantError

RULES = """
    @prefix ex: <http://example/>
    @relation isIn/2 .
    [transitive: isIn(?x, ?y), isIn(?y, ?z) -> isIn(?x, ?z)]
    [lift: (?x ex:isIn ?y) -> isIn(?x, ?y)]
    [alone: isIn(?x, ?y), not near(?x, ?any) -> alone(?x)]
    @relation near/2
"""
NATIVE = [
    pytest.param(("native", strategy), id=f"native-{strategy}")
    for strategy in ("expiry", "dred", "naive")
]


@pytest.fixture(
    params=[
        pytest.param(("reference", "expiry"), id="reference"),
        *NATIVE,
    ]
)
def reasoner(request):
    """Makes reasoners on one kind of engine."""
    engine, strategy = request.param

    def make(rules=RULES, **settings):
        settings = {"window": Sliding(10), "step": 1, **settings}
        return Reasoner(rules, engine=engine, strategy=strategy, **settings)

    return make


def triple(subject: str, object_: str) -> tuple[str, str, str]:
    return f"<http://example/{subject}>", "<http://example/isIn>", f"<http://example/{object_}>"


def ticks(deltas):
    return [delta.tick for delta in deltas]


# ---- the life of a fact -------------------------------------------------------------------------


def test_facts_enter_are_renewed_and_leave(reasoner):
    r = reasoner("[isIn(?x, ?y), isIn(?y, ?z) -> isIn(?x, ?z)]")
    r.push(fact("isIn(A, B)"), at=1)
    r.push(fact("isIn(B, C)"), at=2)
    r.push(fact("isIn(A, B)"), at=4)
    assert rows(r.advance(to=14)) == table(
        """
        tick  diff  until  fact
        1     +1    11     isIn(A, B)
        2     +1    11     isIn(A, C)
        2     +1    12     isIn(B, C)
        4     ~     14     isIn(A, B)
        4     ~     12     isIn(A, C)
        12    -1    12     isIn(A, C)
        12    -1    12     isIn(B, C)
        14    -1    14     isIn(A, B)
        """
    )


def test_background_is_seen_from_the_next_tick_on(reasoner):
    r = reasoner()
    r.add(fact("isIn(OSLO, NORWAY)"))
    assert len(r) == 0
    assert ticks(r.advance(to=7)) == [7]
    assert r.until(fact("isIn(OSLO, NORWAY)")) == FOREVER
    r.push(fact("isIn(ANN, OSLO)"), at=8)
    r.finish()
    assert r.until(fact("isIn(ANN, NORWAY)")) == 18


def test_retraction(reasoner):
    r = reasoner()
    r.add(fact("near(A, B)"))
    r.push(fact("isIn(A, B)"), at=1)
    r.retract(fact("near(A, B)"), at=3)
    deltas = r.advance(to=3)
    assert [fact("alone(A)") in delta.entered for delta in deltas] == [False, False, True]


@pytest.mark.parametrize(
    ("window", "expected"),
    [(Sliding(2), {3}), (Landmark(2), {2, 3}), (Count(1), {3}), (Count(2), {2, 3})],
)
def test_windows(reasoner, window, expected):
    r = reasoner(program("q(?n) :- p(?n)."), window=window)
    for n in (1, 2, 3):
        r.push(Fact.of("p", n), at=n)
    r.advance(to=4)
    assert {int(f.terms[0].lexical) for f in r if f.relation == "q"} == expected


# ---- ticks --------------------------------------------------------------------------------------


def test_an_instant_is_not_evaluated_while_more_of_it_may_come(reasoner):
    r = reasoner(step=10)
    r.push(fact("isIn(A, B)"), at=10)
    assert r.advance() == []
    r.push(fact("isIn(B, C)"), at=10)
    r.push(fact("isIn(C, D)"), at=11)
    assert ticks(r.advance()) == [10]
    assert fact("isIn(A, C)") in r
    assert fact("isIn(C, D)") not in r


def test_the_slowest_stream_decides_and_a_heartbeat_moves_it(reasoner):
    #            0    10   20   30
    #   cars          e              e at 25
    #   rain      silent             h at 21
    r = reasoner(step=10, streams={"cars": Sliding(50), "rain": Sliding(5)})
    r.push(fact("isIn(A, B)"), at=9, stream="cars")
    r.push(fact("isIn(B, C)"), at=25, stream="cars")
    assert r.advance() == []
    r.heartbeat(21, "rain")
    assert ticks(r.advance()) == [10, 20]
    r.heartbeat(31)
    assert ticks(r.advance()) == [30]


def test_each_stream_has_its_window(reasoner):
    r = reasoner(step=1, streams={"cars": Sliding(50), "rain": Sliding(5)})
    r.push(fact("isIn(A, B)"), at=1, stream="cars")
    r.push(fact("isIn(B, C)"), at=1, stream="rain")
    r.advance(to=1)
    assert r.until(fact("isIn(A, B)")) == 51
    assert r.until(fact("isIn(A, C)")) == 6


def test_start_fixes_the_grid(reasoner):
    r = reasoner(step=10, start=5)
    r.push(fact("isIn(A, B)"), at=12)
    assert ticks(r.finish()) == [5, 15]


def test_finish_sees_everything_once(reasoner):
    r = reasoner(step=10)
    assert ticks(reasoner(step=10).finish()) == [0]
    r.push(fact("isIn(A, B)"), at=12)
    r.retract(fact("isIn(A, B)"), at=27)
    assert ticks(r.finish()) == [20, 30]
    assert r.finish() == []


def test_run_yields_deltas_as_ticks_come_due(reasoner):
    r = reasoner(step=10)
    seen = []

    def events():
        for at in (5, 12, 31):
            seen.append(at)
            yield triple("a", f"n{at}"), at

    deltas = r.run(events())
    assert next(deltas).tick == 10
    assert seen == [5, 12]
    assert ticks(deltas) == [20, 30]
    assert ticks(r.finish()) == [40]


def test_a_clock_far_in_the_future_can_be_left(reasoner):
    r = reasoner()
    r.push(fact("isIn(A, B)"), at=1)
    assert ticks(islice(r.deltas(to=10**15), 3)) == [1, 2, 3]
    assert next(r.deltas()).tick == 4


def test_many_ticks_are_not_evaluated_silently(reasoner):
    r = reasoner(Program())
    r.push(triple("a", "b"), at=1)
    with pytest.warns(RuntimeWarning, match="100001 ticks are due"):
        assert len(r.advance(to=100_001)) == 100_001


# ---- late facts ---------------------------------------------------------------------------------


def test_late_facts_are_counted_and_handed_out(reasoner):
    r = reasoner(step=10, lateness=5)
    r.push(fact("isIn(A, B)"), at=26)
    r.push(fact("isIn(B, C)"), at=21)
    r.push(fact("isIn(C, D)"), at=46)
    r.push(fact("isIn(D, E)"), at=40)
    r.push(fact("isIn(E, F)"), at=41)
    r.retract(fact("isIn(A, B)"), at=40)
    (late, retraction) = r.take_late()
    assert late == (fact("isIn(D, E)"), 40, "default", "the tick 40 was due when it arrived")
    assert (retraction.fact, retraction.stream) == (fact("isIn(A, B)"), None)
    assert r.late == 2
    assert r.take_late() == []
    r.finish()
    assert fact("isIn(D, E)") not in r


def test_late_facts_that_nobody_takes_are_bounded():
    r = Reasoner(engine="reference", step=10)
    r.advance(to=1_000)
    for n in range(KEPT):
        r.push(triple("a", f"n{n}"), at=n % 1_000)
    with pytest.warns(RuntimeWarning, match="the oldest are dropped"):
        r.push(triple("a", "last"), at=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        r.push(triple("a", "very last"[:4]), at=5)
    assert r.late == KEPT + 2
    assert len(r.take_late()) == KEPT


EVENTS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.sampled_from("ABC"), st.integers(0, 40)), max_size=12
)


@given(EVENTS, st.integers(1, 9), st.integers(0, 6), st.data())
def test_answers_do_not_depend_on_when_anybody_asks(events, step, lateness, data):
    def run(asks):
        r = Reasoner(RULES, window=Sliding(12), step=step, lateness=lateness, engine="reference")
        deltas = []
        for (x, y, at), ask in zip(events, asks, strict=True):
            r.push(fact(f"isIn({x}, {y})"), at)
            if ask:
                deltas += r.advance()
        return rows([*deltas, *r.finish()]), r.facts(), r.take_late()

    asks = data.draw(st.lists(st.booleans(), min_size=len(events), max_size=len(events)))
    assert run(asks) == run([True] * len(events))


@given(EVENTS, st.integers(1, 9), st.randoms())
def test_order_within_lateness_and_duplicates_do_not_matter(events, step, random):
    def run(order):
        r = Reasoner(RULES, window=Sliding(12), step=step, lateness=40, engine="reference")
        deltas = [delta for x, y, at in order for delta in r.run([(fact(f"isIn({x}, {y})"), at)])]
        assert r.late == 0
        return rows([*deltas, *r.finish()])

    again = [*events, *events]
    random.shuffle(again)
    assert run(events) == run(again)


# ---- rules and facts of all kinds ---------------------------------------------------------------


def test_rules_from_a_path_a_text_a_program_and_rules(tmp_path):
    path = tmp_path / "site.rules"
    path.write_text(RULES)
    from_text = Reasoner(RULES, engine="reference").program
    assert Reasoner(path, engine="reference").program == from_text
    assert Reasoner(str(path), engine="reference").program == from_text
    assert Reasoner(from_text, engine="reference").program is from_text
    assert Reasoner(iter(from_text.rules), engine="reference").program.rules == from_text.rules
    with pytest.raises(ProgramError, match=r"none\.rules:1:1: cannot read"):
        Reasoner("none.rules", engine="reference")


def test_terms_of_rdflib(reasoner):
    graph = rdflib.Graph()
    ex = rdflib.Namespace("http://example/")
    graph.add((ex.oslo, ex.isIn, ex.norway))
    graph.add((ex.oslo, rdflib.RDFS.label, rdflib.Literal("Os\nlo", lang="no")))
    r = reasoner()
    r.add_all(graph)
    r.push((ex.ann, ex.isIn, ex.oslo), at=3)
    r.finish()
    assert (ex.ann, ex.isIn, ex.oslo) in r
    assert fact("isIn(ann, norway)") in r
    assert set(r.triples((ex.oslo, rdflib.RDFS.label, None))) == {
        (
            IRI("http://example/oslo"),
            IRI(str(rdflib.RDFS.label)),
            Literal("Os\nlo", language="no"),
        )
    }


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_background_from_files(reasoner, tmp_path, pack):
    path = tmp_path / f"base.nt{'.gz' if pack is gzip.compress else ''}"
    path.write_bytes(pack((" ".join(triple("a", "b")) + " .\n# done\n").encode()))
    r = reasoner()
    assert r.parse(path) == 1
    r.advance(to=0)
    assert fact("isIn(a, b)") in r


def test_a_bad_background_file_says_where(tmp_path):
    path = tmp_path / "base.nt"
    path.write_text("<http://e/a> <http://e/b> .\n")
    with pytest.raises(FormatError, match=r"base\.nt:1:27: expected an object"):
        Reasoner(engine="reference").parse(path)
    with pytest.raises(ValueError, match=r"base\.csv:1:1: the name does not tell the format"):
        Reasoner(engine="reference").parse("base.csv")


def test_timed_files_are_items(reasoner, tmp_path):
    path = tmp_path / "stream.tnt"
    path.write_text("".join(f"{at}\t{' '.join(triple('a', f'n{at}'))} .\n" for at in (3, 4)))
    r = reasoner()
    r.push_all(read_timed(path))
    assert ticks(r.finish()) == [3, 4]
    assert fact("isIn(a, n4)") in r


def test_a_bad_line_among_items_is_raised_with_its_place(reasoner, tmp_path):
    path = tmp_path / "stream.tnt"
    path.write_text(f"3\t{' '.join(triple('a', 'b'))} .\nnoon\t<http://e/a> .\n")
    r = reasoner()
    with pytest.raises(FormatError, match=r"stream\.tnt:2:1: not an instant"):
        r.push_all(read_timed(path))
    assert ticks(r.finish()) == [3]


# ---- columns ------------------------------------------------------------------------------------

ROWS = [(triple("a", "b"), 1), (triple("b", "c"), 2), (triple("a", "b"), 14)]


class Capsule:
    """Speaks Arrow and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def columns(rows=tuple(ROWS)):
    terms = list(zip(*(fact for fact, _ in rows), strict=True))
    return {"t": [at for _, at in rows], **dict(zip("spo", map(list, terms), strict=True))}


def as_table(pa):
    return pa.table(columns())


def as_batch(pa):
    return pa.record_batch(columns())


def as_reader(pa):
    table = as_table(pa)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2))


def as_other_types(pa):
    schema = pa.schema(
        [
            ("o", pa.large_string()),
            ("p", pa.dictionary(pa.int32(), pa.string())),
            ("t", pa.timestamp("us", "UTC")),
            ("s", pa.string_view()),
        ]
    )
    found = columns()
    arrays = [
        pa.array([value * 1000 + 7 for value in found["t"]], pa.int64()).cast(field.type)
        if field.name == "t"
        else pa.array(found[field.name]).cast(field.type)
        for field in schema
    ]
    return pa.table(arrays, schema=schema)


def as_pandas(pa):
    pandas = pytest.importorskip("pandas")
    found = columns()
    return pandas.DataFrame({**found, "t": pandas.to_datetime(found["t"], unit="ms"), "extra": 0})


@pytest.mark.parametrize(
    "make",
    [as_table, as_batch, as_reader, as_other_types, as_pandas, lambda pa: Capsule(as_table(pa))],
)
def test_tables_are_as_good_as_pairs(reasoner, make):
    pa = pytest.importorskip("pyarrow")
    by_pair, by_table = reasoner(), reasoner()
    by_pair.push_all(ROWS)
    by_table.push_all(make(pa))
    assert rows(by_table.advance()) == rows(by_pair.advance())
    assert rows(by_table.finish()) == rows(by_pair.finish())
    assert by_table.facts() == by_pair.facts()


def test_tables_run(reasoner):
    pa = pytest.importorskip("pyarrow")
    assert ticks(reasoner().run(as_table(pa))) == list(range(1, 14))


def test_late_rows_of_a_table(reasoner):
    pa = pytest.importorskip("pyarrow")
    r = reasoner()
    r.advance(to=2)
    r.push_all(as_table(pa))
    assert [(late.at, late.fact) for late in r.take_late()] == [
        (1, Fact.triple(*triple("a", "b"))),
        (2, Fact.triple(*triple("b", "c"))),
    ]
    r.finish()
    assert r.until(triple("a", "b")) == 24


def test_a_term_of_a_table_is_the_same_however_it_is_written():
    pa = pytest.importorskip("pyarrow")
    r = Reasoner("[r: (?x <http://e/p> ?z) (?y <http://e/q> ?z) -> (?x <http://e/same> ?y)]")
    string = "^^<http://www.w3.org/2001/XMLSchema#string>"
    odd = ['"x"' + string, '"hei"@FI', r'"caf\u00e9"', r"<http://e/caf\u00e9>"]
    plain = ['"x"', '"hei"@fi', '"café"', "<http://e/café>"]
    things = [f"<http://e/{number}>" for number in range(4)]
    r.add_all(pa.table({"s": things, "p": ["<http://e/p>"] * 4, "o": odd}))
    r.add_all((thing, "<http://e/q>", text) for thing, text in zip(things, plain, strict=True))
    r.settle()
    assert {(s.text, o.text) for s, _, o in r.triples((None, "<http://e/same>", None))} == set(
        zip(things, things, strict=True)
    )
    assert (
        r.push_table(pa.table({"t": [1], "s": things[:1], "p": ["<http://e/r>"], "o": odd[:1]}))
        == []
    )
    r.advance(to=1_000)
    assert [o.text for _, _, o in r.triples((None, "<http://e/r>", None))] == plain[:1]
    assert (things[0], "<http://e/r>", plain[0]) in r


def test_tables_that_are_no_facts():
    pa = pytest.importorskip("pyarrow")
    r = Reasoner(engine="reference")
    with pytest.raises(ValueError, match="this one lacks p, o"):
        r.push_all(pa.table({"t": [1], "s": ["<http://e/a>"]}))
    with pytest.raises(InstantError, match="milliseconds or timestamps, not string"):
        r.push_all(pa.table({**columns(), "t": ["1", "2", "3"]}))
    with pytest.raises(ValueError, match="row 1 has no o"):
        r.push_all(pa.table({**columns(), "o": ["<http://e/a>", None, "<http://e/b>"]}))
    with pytest.raises(TermError, match="row 1: an object is written as in N-Triples"):
        r.push_all(pa.table({**columns(), "o": ["<http://e/a>", "5", "<http://e/b>"]}))
    with pytest.raises(TermError, match="row 0: a subject is written as in N-Triples"):
        r.push_all(pa.table({**columns(), "s": ["a", "b", "c"]}))
    with pytest.raises(TermError, match='row 2, column o: not an RDF term: "x"@'):
        r.push_all(pa.table({**columns(), "o": ["<http://e/a>", "<http://e/b>", '"x"@']}))
    with pytest.raises(TermError, match="row 1, column s: not an IRI"):
        r.add_all(pa.table({**columns(), "s": ["<http://e/a>", "<http://e/a b>", "_:b"]}))
    with pytest.raises(TermError, match="the column o is of numbers"):
        r.push_all(pa.table({**columns(), "o": [1, 2, 3]}))
    r.push_all(pa.table(columns()).slice(0, 0))
    assert len(r) == 0


# ---- reading ------------------------------------------------------------------------------------


def test_what_is_read_is_what_the_engine_holds(reasoner):
    r = reasoner()
    for n in range(20):
        r.push(fact(f"isIn(N{n % 3}, N{n % 4})"), at=n)
        r.advance()
        assert r.facts() == r.engine.facts()
        assert len(r) == len(list(r)) == len(r.facts())


def test_triples_match_a_pattern(reasoner):
    r = reasoner()
    r.push_all([(triple("a", "b"), 1), (triple("a", "c"), 1), (triple("b", "c"), 1)])
    r.finish()
    assert {o.value for _, _, o in r.triples(("<http://example/a>", None, None))} == {
        "http://example/b",
        "http://example/c",
    }
    assert len(list(r.triples((None, None, None)))) == 3
    assert list(r.triples((None, "<http://example/none>", None))) == []


def test_until_of_what_does_not_hold(reasoner):
    assert reasoner().until(fact("isIn(A, B)")) is None


# ---- proofs and snapshots -----------------------------------------------------------------------


def test_the_reference_engine_says_what_it_cannot_do():
    r = Reasoner(engine="reference")
    with pytest.raises(Unsupported, match="explains"):
        r.why(triple("a", "b"))
    with pytest.raises(Unsupported, match="snapshots"):
        r.snapshot()


def test_why():
    r = Reasoner(RULES, window=Sliding(10), step=1)
    r.add(fact("isIn(C, D)"))
    r.push_all([(triple("A", "B"), 1), (triple("B", "C"), 2)])
    r.advance(to=3)
    for each, until in r.facts().items():
        proof = r.why(each)
        assert (proof.fact, proof.until) == (each, until)
        proof.check(r.program, r.facts())
    with pytest.raises(LookupError, match="does not hold"):
        r.why(fact("isIn(D, A)"))


def test_a_budget_stops_a_tick_or_marks_it():
    endless = "@relation n/1 [count: n(?n), sum(?n, 1, ?m) -> n(?m)]"
    r = Reasoner(endless, budget=Budget(derivations=100))
    r.push(Fact.of("n", 1), at=1)
    with pytest.raises(RuntimeError, match="count"):
        r.finish()
    r = Reasoner(endless, budget=Budget(derivations=100, go_on=True))
    r.push(Fact.of("n", 1), at=1)
    assert [delta.complete for delta in r.finish()] == [False]
    with pytest.raises(Unsupported, match="budget"):
        Reasoner(endless, engine="reference", budget=Budget(facts=1))


def test_a_snapshot_in_mid_stream_changes_nothing():
    settings = {"window": Sliding(10), "step": 2, "lateness": 3}
    whole = Reasoner(RULES, **settings)
    events = [(fact(f"isIn(N{n % 3}, N{n % 5})"), n - n % 4) for n in range(40)]
    expected = [*whole.run(events), *whole.finish()]
    part = Reasoner(RULES, **settings)
    deltas = list(part.run(events[:17]))
    again = Reasoner.restore(part.snapshot(), RULES, **settings)
    assert again.facts() == part.facts()
    deltas += [*again.run(events[17:]), *again.finish()]
    assert rows(deltas) == rows(expected)
    assert again.late == whole.late


def test_a_snapshot_is_refused_where_it_does_not_belong():
    data = Reasoner(RULES).snapshot()
    with pytest.raises(SnapshotError, match="another program"):
        Reasoner.restore(data)
    with pytest.raises(SnapshotError, match="another step: 1000, not 5"):
        Reasoner.restore(data, RULES, step=5)
    with pytest.raises(SnapshotError, match="damaged"):
        Reasoner.restore(data[:-1], RULES)
    with pytest.raises(SnapshotError, match="not a snapshot"):
        Reasoner.restore(b"", RULES)
