"""The pages of docs/ and the README lead somewhere: their links, and what their Python imports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


each_page = pytest.mark.parametrize("page", PAGES, ids=name)
# The changelog tells of files that are gone since.
each_page_of_today = pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name
)


@each_page
def test_its_links_lead_to_files_and_headings(page: Path) -> None:
    links = re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)", page.read_text())
    for path, heading in links:
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            assert heading in anchors(target), f"{path}#{heading}"


@each_page_of_today
def test_the_files_it_names_are_there(page: Path) -> None:
    for path in re.findall(r"`((?:docs|tests|examples|crates|python)/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists(), path


@each_page
def test_what_its_python_imports_is_there(page: Path) -> None:
    for block in re.findall(r"^```python\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE):
        for line in re.findall(r"^(?:from ebbtide\S* import .*|import ebbtide.*)$", block, re.M):
            exec(line, {})


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }
