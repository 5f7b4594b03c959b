"""`ebbtide lars` as a user calls it."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

RULE = "q(X,Y,Z) :- a(X,Y) in [3], b(Y,Z) in [#3].\n"
STREAM = "36\ta(x1,y).\n38\ta(x2,y). b(y,z).\n40\ta(x3,y).\n42\t\n"
EDGES = [(1, "a", "b"), (3, "b", "c")]
COMMAND = [sys.executable, "-c", "from ebbtide.cli import main; main()", "lars"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "p.lars").write_text(RULE)
    (tmp_path / "s.atoms").write_text(STREAM)
    return tmp_path


def run(*arguments: str | Path, given: str = "") -> tuple[int, str, str]:
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)], capture_output=True, text=True, input=given
    )
    return done.returncode, done.stdout, done.stderr


def answers(text: str) -> dict[int, list[str]]:
    return {line["t"]: line["atoms"] for line in map(json.loads, text.splitlines())}


def test_an_answer_at_every_time_point(files: Path) -> None:
    code, out, _ = run(files / "p.lars", "--stream", files / "s.atoms", "--start", "35")
    assert code == 0
    found = answers(out)
    assert list(found) == list(range(35, 43))
    assert found[41] == ["q(x2,y,z)", "q(x3,y,z)"]
    for more in ("--engine=reference", "--solve=one"):
        assert run(files / "p.lars", "--stream", files / "s.atoms", "--start", "35", more)[1] == out


def test_changes(files: Path) -> None:
    _, out, _ = run(files / "p.lars", "--stream", files / "s.atoms", "--changes")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"t": 38, "op": "+", "atoms": ["q(x1,y,z)", "q(x2,y,z)"]},
        {"t": 40, "op": "+", "atoms": ["q(x3,y,z)"]},
        {"t": 40, "op": "-", "atoms": ["q(x1,y,z)"]},
        {"t": 42, "op": "-", "atoms": ["q(x2,y,z)"]},
    ]


def test_no_answer_stream_is_told(files: Path) -> None:
    (files / "o.lars").write_text("@V q(V) :- p(V) in [1]. r(X) :- p(X) in [3].\n")
    (files / "o.atoms").write_text("0\tp(0).\n1\tp(9).\n3\tp(3).\n")
    command = (files / "o.lars", "--stream", files / "o.atoms")
    assert answers(run(*command)[1])[2] is None
    assert [json.loads(line) for line in run(*command, "--changes")[1].splitlines()] == [
        {"t": 0, "op": "+", "atoms": ["q(0)", "r(0)"]},
        {"t": 1, "op": "-", "atoms": ["q(0)", "r(0)"]},
        {"t": 1, "atoms": None},
        {"t": 2, "atoms": None},
        {"t": 3, "op": "+", "atoms": ["q(3)", "r(0)", "r(3)", "r(9)"]},
    ]
    code, out, err = run(*command, "--end", "2", "--why", "r(9)")
    assert (code, out, err) == (1, "", "ebbtide: there is no answer stream at 2\n")


def test_why(files: Path) -> None:
    _, out, _ = run(files / "p.lars", "--stream", files / "s.atoms", "--why", "q(x3,y,z)")
    first, second, third = out.splitlines()
    assert first.startswith("q(x3,y,z) until 44: by r1 (")
    assert second == "  a(x3,y) in [3] until 44: input at 40"
    assert third == "  b(y,z) in [#3]: input at 38"


def test_tags_of_languages_are_read_everywhere(files: Path) -> None:
    (files / "t.lars").write_text('q(X) :- p(X, "colour"@en-GB) in [1], b("grey"@EN-gb).\n')
    (files / "s.atoms").write_text('0\tp("Farbe"@de-CH,"colour"@en-gb).\n')
    (files / "b.atoms").write_text('b("grey"@en-GB).')
    command = (files / "t.lars", "--stream", files / "s.atoms", "--background", files / "b.atoms")
    assert answers(run(*command)[1]) == {0: ['q("Farbe"@de-ch)']}
    assert run(*command, "--why", 'q("Farbe"@de-CH)')[1].startswith('q("Farbe"@de-ch) until 2: by')


def test_standard_input_gzip_and_units(files: Path) -> None:
    (files / "w.lars").write_text("seen(X) :- a(X,_) in [2 s].\n")
    timed = "36\ta(x1,y).\n"
    _, out, _ = run(files / "w.lars", "--stream", "-", "--tick", "1s", "--end", "4000", given=timed)
    expected = {1000: ["seen(x1)"], 2000: ["seen(x1)"], 3000: ["seen(x1)"], 4000: []}
    assert answers(out) == expected
    with gzip.open(files / "s.atoms.gz", "wt") as file:
        file.write(timed)
    _, out, _ = run(
        files / "w.lars", "--stream", files / "s.atoms.gz", "--tick", "1000", "--end", "4000"
    )
    assert answers(out) == expected


def test_triples_and_background(files: Path) -> None:
    (files / "t.lars").write_text(
        "@prefix ex: <http://example/>.\n"
        "near(X) :- ex:isIn(X,Y) in [1], ex:near(Y,ex:sea), not closed(Y).\n"
    )
    ann, oslo, sea = (f"<http://example/{name}>" for name in ("ann", "oslo", "sea"))
    (files / "s.tnt").write_text(f"3\t{ann} <http://example/isIn> {oslo} .\n")
    (files / "b.nt").write_text(f"{oslo} <http://example/near> {sea} .\n")
    (files / "c.atoms").write_text("closed(bergen).")
    code, out, err = run(
        *(files / "t.lars", "--stream", files / "s.tnt"),
        *("--background", files / "b.nt", "--background", files / "c.atoms"),
    )
    assert (code, err) == (0, "")
    assert answers(out) == {3: ["near(ex:ann)"]}


def test_background_has_prefixes_of_its_own(files: Path) -> None:
    (files / "t.lars").write_text("q(X) :- a(X), b(X).\n")
    (files / "s.atoms").write_text("0\ta(<http://e/c>).\n")
    (files / "b.atoms").write_text("@prefix e: <http://e/>.\nb(e:c).\n")
    command = (files / "t.lars", "--stream", files / "s.atoms", "--background", files / "b.atoms")
    assert answers(run(*command)[1]) == {0: ["q(<http://e/c>)"]}
    (files / "s.atoms").write_text("0\t@prefix e: <http://e/>. a(e:c).\n")
    code, _, err = run(*command)
    assert (code, "s.atoms:1:3: expected an atom, found `@prefix`" in err) == (1, True)


def test_the_end_is_the_last_time_point(files: Path) -> None:
    command = (files / "p.lars", "--stream", files / "s.atoms", "--end")
    assert list(answers(run(*command, "40")[1])) == [36, 37, 38, 39, 40]
    assert list(answers(run(*command, "44", "--lateness", "1")[1])) == list(range(36, 45))
    code, _, err = run(*command, "40", "--why", "q(x1,y,z)")
    assert (code, err) == (1, "ebbtide: q(x1,y,z) does not hold at 40\n")
    code, _, err = run(*command, "40", "--why", "a(x3,y)")
    assert (code, err) == (1, "ebbtide: no rule concludes a: `why` is for those\n")
    code, _, err = run(*command, "40", "--why", "q(x3)")
    assert (code, err) == (1, "ebbtide: the predicate q has 3 arguments, not 1\n")


def test_before_the_first_time_point_there_are_none(files: Path) -> None:
    command = (files / "p.lars", "--stream", files / "s.atoms", "--end", "9")
    assert run(*command) == (0, "", "")
    assert list(answers(run(*command, "--start", "8")[1])) == [8, 9]


@pytest.mark.parametrize("more", [(), ("--engine=reference",), ("--lateness=20ms",)])
def test_no_time_point_after_the_end_is_answered(files: Path, more: tuple[str, ...]) -> None:
    (files / "w.lars").write_text("q(X) :- p(X) in [0].\n")
    (files / "s.atoms").write_text("0\tp(a).\n33\tp(b).\n35\tp(c).\n")
    command = (files / "w.lars", "--stream", files / "s.atoms", "--tick", "10ms", *more, "--end")
    assert answers(run(*command, "34")[1]) == {0: ["q(a)"], 10: [], 20: [], 30: []}
    assert answers(run(*command, "34", "--start", "4")[1]) == {
        **{4: ["q(a)"], 14: [], 24: []},
        34: ["q(b)"],
    }
    assert answers(run(*command, "40")[1])[40] == ["q(b)", "q(c)"]


def test_lateness(files: Path) -> None:
    (files / "w.lars").write_text("seen(X) :- a(X) in [1].\n")
    (files / "d.atoms").write_text("5\ta(x).\n4\ta(y).\n8\ta(z).\n3\ta(w).\n")
    command = (files / "w.lars", "--stream", files / "d.atoms")
    code, _, err = run(*command)
    assert code == 1
    assert "d.atoms:2:1: time goes back from 5 to 4; a stream is in order, unless" in err
    code, out, err = run(*command, "--lateness", "2", "--late", files / "late.atoms")
    assert (code, err) == (0, "ebbtide: 1 atom came too late\n")
    assert answers(out) == {
        4: ["seen(y)"],
        5: ["seen(x)", "seen(y)"],
        6: ["seen(x)"],
        7: [],
        8: ["seen(z)"],
    }
    assert (files / "late.atoms").read_text() == "3\ta(w).\n"
    code, _, err = run(*command, "--lateness", "2s")
    assert (code, "give --tick" in err) == (1, True)


ERRORS = {
    "q(X) :- not p(X).": ("", "p.lars:1:13: X occurs under `not` only"),
    "a :- p, not b.\nb :- p, not a.": ("0\tp.\n", "--solve one, all or cautious"),
    "a :- p in [2 s].": ("0\tp.\n", "p.lars:1:6: 2 s needs the length of a time point"),
    "a :- p.": ("0\ta.\n", "s.atoms:1:3: a is concluded by rules"),
    "a :- p(X).": ("0\tp(a,b).\n", "s.atoms:1:3: the predicate p has 1 argument, not 2"),
}


def test_background_that_does_not_fit_has_its_place(files: Path) -> None:
    (files / "b.atoms").write_text("c(d).\n a(x).\n")
    command = (files / "p.lars", "--stream", files / "s.atoms", "--background", files / "b.atoms")
    code, _, err = run(*command)
    assert code == 1
    assert err.endswith("b.atoms:2:2: the predicate a has 2 arguments, not 1\n")


PACKED = gzip.compress(random.Random(7).randbytes(2_000).hex().encode())
UNREADABLE = {
    "b.atoms": (b"% \xc3\xa9\n7\tp(\xff).\n", "b.atoms:2:5: the text is not UTF-8"),
    "no.atoms.gz": (b"7\tp(a).\n", "no.atoms.gz cannot be read: Not a gzipped file"),
    "short.atoms.gz": (PACKED[:-900], "short.atoms.gz cannot be read: Compressed file ended"),
    "bent.atoms.gz": (
        PACKED[:10] + b"\xff" * 20 + PACKED[30:],
        "bent.atoms.gz cannot be read: Error -3 while decompressing data",
    ),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named(files: Path, name: str) -> None:
    content, message = UNREADABLE[name]
    (files / name).write_bytes(content)
    for given in (("--stream",), ("--stream", files / "s.atoms", "--background")):
        code, _, err = run(files / "p.lars", *given, files / name)
        assert code == 1
        assert err.startswith(f"ebbtide: {files / message}")
        assert len(err.splitlines()) == 1


@pytest.mark.parametrize("program", ERRORS)
def test_errors_are_one_line_with_a_place(files: Path, program: str) -> None:
    stream, message = ERRORS[program]
    (files / "p.lars").write_text(program)
    (files / "s.atoms").write_text(stream)
    code, _, err = run(files / "p.lars", "--stream", files / "s.atoms")
    assert code == 1
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("stream", ["", "0\tother.\n"])
@pytest.mark.parametrize(
    "program", ["a :- p, not b. b :- not a.", "a(N) :- N = count { X : a(X) }.", "a :- p in [2 s]."]
)
def test_a_program_that_cannot_run_is_refused_before_the_stream_is_read(
    files: Path, program: str, stream: str
) -> None:
    (files / "p.lars").write_text(program)
    (files / "s.atoms").write_text(stream)
    code, out, err = run(files / "p.lars", "--stream", files / "s.atoms")
    assert (code, out, len(err.splitlines())) == (1, "", 1)
    assert f"{files / 'p.lars'}:1:" in err


def test_the_example_runs(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "examples" / "cooling" / "cooling.lars"
    generate = [*COMMAND[:-1], "generate", "cooling", "--out", tmp_path, "--rate", "1"]
    subprocess.run([*map(str, generate), "--ticks", "30"], check=True, capture_output=True)
    code, out, err = run(example, "--stream", tmp_path / "cooling.atoms", "--changes")
    assert (code, err) == (0, "")
    assert any("freeze" in json.loads(line)["atoms"] for line in out.splitlines())


def test_what_cannot_be_explained_is_said_in_a_line(files: Path) -> None:
    (files / "empty.atoms").write_text("")
    command = (files / "p.lars", "--stream", files / "s.atoms", "--why")
    code, _, err = run(*command, "q(x3,y,z). q(x1,y,z).")
    assert (code, err) == (1, "ebbtide: one atom is explained at a time, not 2\n")
    code, _, err = run(files / "p.lars", "--stream", files / "empty.atoms", "--why", "q(x1,y,z)")
    assert (code, err) == (1, "ebbtide: q(x1,y,z) does not hold: no time point has come yet\n")


def test_a_leap_over_very_many_time_points_is_said(files: Path) -> None:
    (files / "s.atoms").write_text("0\ta(x1,y).\n1731000000000\ta(x1,y).\n")
    command = [*COMMAND, str(files / "p.lars"), "--stream", str(files / "s.atoms")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith(
            "ebbtide: from 0 to 1731000000000 there are 1,731,000,000,000 time points"
        )
        process.kill()
    for more in (["--changes"], ["--why", "q(x1,y,z)"]):
        (files / "s.atoms").write_text("0\tb(y,z).\n1731000000000\ta(x1,y).\n")
        code, out, err = run(files / "p.lars", "--stream", files / "s.atoms", *more)
        assert (code, err, "q(x1,y,z)" in out) == (0, "", True)


def test_triples_are_explained_and_must_be_in_order(files: Path) -> None:
    rule = "@prefix ex: <http://e/>.\nex:in(X,Z) :- ex:in(X,Y) in [3], ex:in(Y,Z) in [3].\n"
    # Some editors begin a file with a mark of its encoding.
    (files / "t.lars").write_text(rule, encoding="utf-8-sig")
    lines = [f"{at}\t<http://e/{s}> <http://e/in> <http://e/{o}> .\n" for at, s, o in EDGES]
    (files / "s.tnt").write_text("".join(lines))
    (files / "back.tnt").write_text("".join(reversed(lines)))
    _, out, _ = run(files / "t.lars", "--stream", files / "s.tnt", "--why", "ex:in(ex:a,ex:c)")
    assert [line.partition(" (")[0] for line in out.splitlines()] == [
        "ex:in(ex:a,ex:c) until 5: by r1",
        "  ex:in(ex:a,ex:b) in [3] until 5: input at 1",
        "  ex:in(ex:b,ex:c) in [3] until 7: input at 3",
    ]
    code, _, err = run(files / "t.lars", "--stream", files / "back.tnt")
    assert (code, "back.tnt:2:1: time goes back from 3 to 1" in err) == (1, True)


def test_graphs_with_their_time_are_streams(files: Path) -> None:
    rule = "@prefix ex: <http://e/>.\nex:in(X,Z) :- ex:in(X,Y) in [3], ex:in(Y,Z) in [3].\n"
    (files / "t.lars").write_text(rule)
    time = "<http://www.w3.org/ns/prov#generatedAtTime>"
    kind = "<http://www.w3.org/2001/XMLSchema#dateTime>"
    graphs = [
        f"<http://e/g{at}> {{ <http://e/{s}> <http://e/in> <http://e/{o}> }}\n"
        f'<http://e/g{at}> {time} "1970-01-01T00:00:0{at}Z"^^{kind} .\n'
        for at, s, o in EDGES
    ]
    (files / "s.trig").write_text("".join(graphs))
    (files / "back.trig").write_text("".join(reversed(graphs)))
    more = ("--tick", "1s", "--changes")
    code, out, err = run(files / "t.lars", "--stream", files / "s.trig", *more)
    assert (code, err) == (0, "")
    assert '{"t": 3000, "op": "+", "atoms": ["ex:in(ex:a,ex:c)", "ex:in(ex:b,ex:c)"]}' in out
    command = (files / "t.lars", "--stream", files / "back.trig", *more)
    code, _, err = run(*command)
    assert (code, err.startswith(f"ebbtide: {files}/back.trig: time goes back from 3000")) == (
        1,
        True,
    )
    assert run(*command, "--lateness", "2s")[1] == out


def test_rules_that_never_come_to_an_end_are_stopped(files: Path) -> None:
    (files / "n.lars").write_text("n(X) :- e(X).\nn(X + 1) :- n(X), go.\n")
    (files / "s.atoms").write_text("0\te(7).\n1\te(7). go.\n")
    command = (files / "n.lars", "--stream", files / "s.atoms")
    for more in ("--max-derivations", "--max-facts"):
        code, out, err = run(*command, more, "1000")
        assert (code, answers(out)) == (3, {0: ["n(7)"]})
        assert "n.lars:2:1" in err
        assert len(err.splitlines()) == 1
    code, _, err = run(*command, "--max-facts", "1000", "--engine", "reference")
    assert (code, "need the native engine" in err) == (1, True)


def test_settings_that_cannot_be(files: Path) -> None:
    command = (files / "p.lars", "--stream", files / "s.atoms")
    for more, message in (
        (("--start", "5", "--end", "3"), "the last time point, 3, comes before the first, 5"),
        (("--lateness", "soon"), "not a length of time, such as 1s or 500ms: soon"),
    ):
        assert run(*command, *more)[::2] == (1, f"ebbtide: {message}\n")


def test_a_predicate_that_no_rule_asks_for_is_said_once(files: Path) -> None:
    (files / "p.lars").write_text("hot(X) :- temp(X,V) in [3], V > 30.\n")
    atoms = "0\ttemp(a,31).\n\n2\ttmep(b,40). wind(7).\n3\ttmep(b,40). wind(7).\n"
    (files / "s.atoms").write_text(atoms)
    code, out, err = run(files / "p.lars", "--stream", files / "s.atoms")
    assert (code, answers(out)[3]) == (0, ["hot(a)"])
    place = f"ebbtide: {files / 's.atoms'}:3: no rule asks for"
    assert err.splitlines() == [
        f"{place} tmep, so its atoms have no effect; did you mean temp?",
        f"{place} wind, so its atoms have no effect",
    ]
    assert run(files / "p.lars", "--stream", "-", given=atoms)[2].startswith("ebbtide: <stdin>:3: ")
    (files / "s.tnt").write_text("3\t<http://e/a> <http://e/in> <http://e/b> .\n" * 2)
    code, _, err = run(files / "p.lars", "--stream", files / "s.tnt")
    said = "no rule asks for triples, so they have no effect"
    assert (code, err) == (0, f"ebbtide: {files / 's.tnt'}: {said}\n")
    # Here all of them count.
    (files / "p.lars").write_text("hot(X) :- temp(X,V) in [#3], V > 30.\n")
    code, out, err = run(files / "p.lars", "--stream", files / "s.atoms")
    assert (code, answers(out)[3], err) == (0, [], "")


def test_what_may_be_arithmetic_is_a_predicate_if_the_input_has_it(files: Path) -> None:
    (files / "p.lars").write_text("q(Z) :- sum(X,Y,Z), p(Z).\n")
    command = (files / "p.lars", "--stream", files / "s.atoms")
    (files / "s.atoms").write_text("0\tp(3).\n1\tp(3). sum(1,2,3).\n")
    assert answers(run(*command)[1]) == {0: [], 1: ["q(3)"]}
    (files / "s.atoms").write_text("0\tp(3). checksum(1,2,3).\n")
    code, out, err = run(*command)
    assert (code, out) == (1, "")
    assert f"{files / 'p.lars'}:1:9: X is computed with, but no positive atom binds it" in err
    assert "'sum'(...) is a predicate" in err
    with gzip.open(files / "b.atoms.gz", "wt") as file:
        file.write("r(1).sum(1,2,3).")
    assert answers(run(*command, "--background", files / "b.atoms.gz")[1]) == {0: ["q(3)"]}
    code, _, err = run(files / "p.lars", "--stream", "-", given="0\tsum(1,2,3).\n")
    assert (code, "p.lars:1:9: X is computed with" in err) == (1, True)


def test_standard_input_is_answered_as_it_comes(files: Path) -> None:
    command = [*COMMAND, str(files / "p.lars"), "--stream", "-"]
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"36\ta(x1,y). b(y,z).\n37\ta(x2,y).\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline()) == {"t": 36, "atoms": ["q(x1,y,z)"]}
    packed = gzip.compress(b"36\ta(x1,y). b(y,z).\n")
    done = subprocess.run(command, input=packed, capture_output=True)
    assert json.loads(done.stdout) == {"t": 36, "atoms": ["q(x1,y,z)"]}
    done = subprocess.run(command, input=packed[:-9], capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"ebbtide: <stdin> cannot be read: Compressed file ended")
    bad = subprocess.run(command, input=b"1\ta(\xff,y).\n", capture_output=True)
    assert bad.returncode == 1
    assert bad.stderr == b"ebbtide: <stdin>:1:5: the text is not UTF-8\n"
