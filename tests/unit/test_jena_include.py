"""Rules that include others: by the name of a regime, or a file beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ebbtide.languages.jena import load_rules, parse_rules
from ebbtide.program import ProgramError
from ebbtide.regimes import find

RULE = "[{0}: (?x <http://e/{0}> ?y) -> (?y <http://e/{0}> ?x)]\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def names(path: Path) -> list[str]:
    return [rule.name for rule in load_rules(path).rules]


def test_a_file_beside_the_including_one(tmp_path: Path) -> None:
    write(tmp_path, "deep/c.rules", RULE.format("c"))
    write(tmp_path, "deep/b.rules", "@include <c.rules>.\n" + RULE.format("b"))
    a = write(tmp_path, "a.rules", "@include <file:deep/b.rules>\n" + RULE.format("a"))
    assert names(a) == ["a", "b", "c"]
    assert load_rules(a).rules[2].origin.source.endswith("c.rules")


def test_a_file_that_is_included_twice_counts_once(tmp_path: Path) -> None:
    write(tmp_path, "d.rules", RULE.format("d"))
    for name in "bc":
        write(tmp_path, f"{name}.rules", "@include <d.rules>\n" + RULE.format(name))
    a = write(tmp_path, "a.rules", "@include <b.rules> @include <c.rules> . ")
    assert names(a) == ["b", "d", "c"]


def test_prefixes_stay_in_their_file_and_relations_do_not(tmp_path: Path) -> None:
    write(tmp_path, "b.rules", "@prefix e: <http://e/> . @relation r/1 . [r(?x) -> (?x a e:T)]")
    good = write(tmp_path, "good.rules", "@include <b.rules> . [r(?x) -> s(?x)]")
    assert load_rules(good).relations["r"] == 1
    bad = write(tmp_path, "bad.rules", "@include <b.rules> . [(?x a e:T) -> s(?x)]")
    with pytest.raises(ProgramError, match=r"bad\.rules:1:29: the prefix e: is not declared"):
        load_rules(bad)


@pytest.mark.parametrize(
    ("name", "regime"), [("rhodf", "rhodf"), ("RHODF", "rhodf"), ("OWL", "owl2rl")]
)
def test_a_regime_by_its_name(name: str, regime: str) -> None:
    program = parse_rules(f"@include <{name}>.")
    assert set(program.rules) == set(find(regime).program.rules)


def test_circles_are_refused_with_the_chain(tmp_path: Path) -> None:
    a = write(tmp_path, "a.rules", "\n @include <b.rules>")
    b = write(tmp_path, "b.rules", "@include <c.rules>")
    c = write(tmp_path, "c.rules", "@include <b.rules>")
    with pytest.raises(ProgramError) as caught:
        load_rules(a)
    assert str(caught.value) == (
        f"{c}:1:10: files cannot include each other in a circle: {b} includes {c} includes {b}"
    )
    with pytest.raises(ProgramError, match="in a circle: "):
        load_rules(write(tmp_path, "self.rules", "@include <self.rules>"))


def test_what_is_wrong_in_an_included_file_points_there(tmp_path: Path) -> None:
    b = write(tmp_path, "b.rules", "\n[(?x ?p ?y) -> ]")
    a = write(tmp_path, "a.rules", "@include <b.rules>")
    with pytest.raises(ProgramError) as caught:
        load_rules(a)
    assert str(caught.value).startswith(f"{b}:2:16: expected a pattern")
    a = write(tmp_path, "a.rules", "@include <none.rules>")
    with pytest.raises(ProgramError, match=r"a\.rules:1:10: there is no file .*none\.rules"):
        load_rules(a)
