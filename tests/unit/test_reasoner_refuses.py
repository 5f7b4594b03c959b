"""The reasoner: what it does not take, and what it says then."""

from decimal import Decimal

import pytest

from ebbtide import Count, Fact, Landmark, Reasoner, Sliding
from ebbtide.terms import TermError, to_term
from ebbtide.time import InstantError, Tumbling, WindowError


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (("http://e/a", "<http://e/p>", 1), TermError, "a subject is an IRI or a blank node"),
        (("<http://e/a>", "p", 1), TermError, "a predicate is an IRI"),
        (("<http://e/a>", "<http://e/p>"), TermError, "not a fact"),
        ("<http://e/a> <http://e/p> 1", TermError, "not a fact"),
        ([("<http://e/a>", "<http://e/p>", 1)], TermError, "add_all and push_all take many"),
        (("<http://e/a>", "<http://e/p>", object()), TermError, "cannot make a term of object"),
        (Fact.of("isln", 1, 2), ValueError, "no relation isln; did you mean isIn?"),
        (Fact.of("isIn", 1), ValueError, "the relation isIn has 2 arguments"),
    ],
)
def test_facts_that_are_refused(value, error, message):
    r = Reasoner("@relation isIn/2 . [(?x <http://e/in> ?y) -> isIn(?x, ?y)]", engine="reference")
    for tell in (r.add, lambda v: r.push(v, at=1), lambda v: r.retract(v, at=1)):
        with pytest.raises(error) as caught:
            tell(value)
        assert message in str(caught.value)


@pytest.mark.parametrize("at", [1.5, "noon", None, 2**63])
def test_instants_that_are_refused(at):
    with pytest.raises(InstantError, match="not an instant"):
        Reasoner(engine="reference").push(("<http://e/a>", "<http://e/p>", "<http://e/b>"), at=at)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step": 0}, "the step must be positive"),
        ({"lateness": -1}, "the lateness must not be negative"),
        ({"streams": {}}, "at least one stream"),
        ({"window": 10}, r"not a window, such as Sliding\(10000\) or Count\(5\): 10"),
        ({"streams": {"cars": 10}}, "not a window"),
        ({"step": 1.5}, "the step must be a whole number"),
        ({"lateness": 1.5}, "the lateness must be a whole number"),
    ],
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(WindowError, match=message):
        Reasoner(engine="reference", **settings)


def test_what_is_no_pair_and_no_pattern():
    reasoner = Reasoner(engine="reference")
    for items in ("abc", [("<a:s>", "<a:p>", "<a:o>")], {"t": 1}):
        with pytest.raises(ValueError, match="not a pair of a fact and its instant"):
            reasoner.push_all(items)
    for pattern in ("abc", ("<a:s>",)):
        with pytest.raises(TermError, match="not a pattern"):
            list(reasoner.triples(pattern))


def test_tables_hold_the_texts_of_terms_and_instants():
    pa = pytest.importorskip("pyarrow")
    good = {"t": [1, 2], "s": ["<a:s>"] * 2, "p": ["<a:p>"] * 2, "o": ["<a:o>"] * 2}
    for bad, message in (
        ({"o": ["<a:o>", "plain"]}, "row 1: an object is written as in N-Triples"),
        ({"s": ["<a:s>", "<s>"]}, "row 1, column s: the IRI <s> is relative"),
        ({"o": ["<a:o>", '"5"^^<int>']}, "row 1, column o: the IRI <int> is relative"),
        ({"t": [1, 2**63 - 1]}, "beyond 2\\^62"),
    ):
        with pytest.raises(ValueError, match=message):
            Reasoner().push_table(pa.table({**good, **bad}))


def test_a_fact_has_absolute_iris():
    for relative in (
        ("<s>", "<a:p>", "<a:o>"),
        ("<a:s>", "<p>", 1),
        ("<a:s>", "<a:p>", '"5"^^<i>'),
    ):
        with pytest.raises(TermError, match=r"the IRI <\w> is relative; .* <http://example/\w>"):
            Reasoner().push(relative, at=1)


def test_windows_that_cannot_be():
    for window, size in ((Sliding, 1.5), (Landmark, "noon"), (Count, None), (Tumbling, 0.5)):
        with pytest.raises(WindowError, match="must be a whole number"):
            window(size)


def test_numbers_of_python_and_numpy_become_terms():
    numpy = pytest.importorskip("numpy")
    values = {
        float("inf"): '"INF"^^xsd:double',
        float("-inf"): '"-INF"^^xsd:double',
        numpy.float64(1.5): '"1.5"^^xsd:double',
        numpy.float32(0.5): '"0.5"^^xsd:double',
        numpy.int64(7): '"7"^^xsd:integer',
        numpy.bool_(True): '"true"^^xsd:boolean',
    }
    for value, text in values.items():
        term = to_term(value)
        assert f'"{term.lexical}"^^xsd:{term.datatype.rpartition("#")[2]}' == text
    assert to_term(float("nan")).lexical == "NaN"
    with pytest.raises(TermError, match="cannot make a term of Decimal"):
        to_term(Decimal("NaN"))


def test_unknown_engines_and_streams():
    with pytest.raises(ValueError, match="there is no engine 'magic'"):
        Reasoner(engine="magic")
    with pytest.raises(ValueError, match="there is no stream 'cars'; there are default"):
        Reasoner(engine="reference").push(
            ("<http://e/a>", "<http://e/p>", "<http://e/b>"), at=1, stream="cars"
        )
