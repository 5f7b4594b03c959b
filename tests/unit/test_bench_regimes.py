"""`ebbtide bench regimes`: a quick run from end to end, and how contenders are compared."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("psutil")

from tests.quick_bench import Run, quick_bench

from ebbtide.benches.regimes import MEASUREMENTS
from ebbtide.benches.regimes.closure import compare
from ebbtide.benches.regimes.contenders import ContenderFailed, Job, run
from ebbtide.benches.regimes.data import generated
from ebbtide.benches.regimes.materialise import materialise, table_of
from ebbtide.benches.regimes.settings import Settings
from ebbtide.benches.regimes.stream import stream
from ebbtide.cli.bench.regimes import Measured
from ebbtide.languages.jena import parse_rules
from ebbtide.program.join import join
from ebbtide.regimes import load
from ebbtide.testing.workloads import WorkloadError
from ebbtide.testing.workloads.lubm import departments, ontology
from ebbtide.testing.workloads.lubm.queries import QUERIES, query_rules


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return quick_bench("regimes", tmp_path_factory.mktemp("bench") / "report")


def test_a_quick_run(quick: Run) -> None:
    assert quick.names >= set(MEASUREMENTS)
    measured = quick.results["measurements"]
    assert all(each["value"] > 0 for each in measured if each["name"] != "rules")
    assert "A quick run" in (quick.folder / "report.md").read_text()


def test_every_query_is_answered(quick: Run) -> None:
    events = quick.named("events")
    assert [each["parameters"]["query"] for each in events] == ["q1", "q9", "all"]
    assert all(each["parameters"]["answers"] > 0 for each in events)
    stated = {each["parameters"]["triples"] for each in events}
    assert stated == {sum(len(department.rows) for department in departments(1))}


def test_what_the_rules_cost_is_ordered(quick: Run) -> None:
    whole, *rules = quick.named("rules")
    lookups = [each["parameters"]["lookups"] for each in rules]
    assert lookups == sorted(lookups, reverse=True)
    assert whole["parameters"]["lookups"] > lookups[0] > 0


def test_the_command_offers_every_measurement() -> None:
    assert [str(each) for each in Measured] == list(MEASUREMENTS)


def test_a_contender_that_fails_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContenderFailed, match="ebbtide on nowhere"):
        run(Job("ebbtide", "nowhere"))


@pytest.mark.parametrize("name", ["ebbtide", "reasonable"])
def test_contenders_report_what_they_took(tmp_path: Path, name: str) -> None:
    if name != "ebbtide":
        pytest.importorskip(name)
    data = tmp_path / "few.ttl"
    sub, kind = "http://www.w3.org/2000/01/rdf-schema#subClassOf", "rdf-syntax-ns#type"
    data.write_text(
        f"<http://e/A> <{sub}> <http://e/B> .\n"
        f"<http://e/x> <http://www.w3.org/1999/02/22-{kind}> <http://e/A> .\n"
    )
    closure = tmp_path / "closure.nt"
    took = run(Job(name, str(data), str(closure)))
    assert took.facts == len(closure.read_text().splitlines()) > 2
    assert took.peak_bytes > 10_000_000
    assert (
        f"<http://e/x> <http://www.w3.org/1999/02/22-{kind}> <http://e/B> ." in closure.read_text()
    )


def test_closures_are_compared_by_triples_without_blank_nodes(tmp_path: Path) -> None:
    texts = {
        "ebbtide": "<e:a> <e:p#q> <e:b> .\n<e:a> <e:p#q> <e:c> .\n_:b1 <e:p> <e:c> .\n",
        "other": "<e:a> <e:p#q> <e:b> .\n<e:a> <e:r> <e:c> .\n_:x <e:p> <e:c> .\n",
    }
    paths = {name: tmp_path / name for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text)
    ours, other = compare(paths, "ebbtide")
    assert (ours.value, ours.parameters["lacks"], ours.parameters["has_beyond_ours"]) == (2, 0, 0)
    assert (other.parameters["lacks"], other.parameters["lacks_mostly"]) == (1, "1 q")
    assert (other.parameters["has_beyond_ours"], other.parameters["beyond_mostly"]) == (1, "1 e:r")


def test_generated_data_are_what_is_said(tmp_path: Path) -> None:
    data = generated(tmp_path, universities=1, seed=0)
    assert data.triples == len(data.path.read_text().splitlines())
    assert data.name == "generated LUBM(1)"


@pytest.mark.parametrize("impossible", [{"universities": 0}, {"rounds": 0}, {"chains": (0,)}])
def test_impossible_settings_are_refused(impossible: dict[str, int]) -> None:
    with pytest.raises(WorkloadError):
        Settings(**impossible)


def test_departments_as_windows_answer_as_all_at_once() -> None:
    """No query of LUBM joins departments, so the windows lose no answer and add none."""
    *_, last = stream(universities=1, seed=2, queries=list(QUERIES))
    program = join([load("owl2rl"), parse_rules(query_rules())])
    rows = [row for department in departments(1, seed=2) for row in department.rows]
    engine = materialise(program, table_of([*ontology(), *rows]))
    at_once = {name: engine.native.count([name]) for name in QUERIES}
    assert last.answers == sum(at_once.values())
    assert last.triples == len(rows)
