"""The page of a report in headless Chromium: at the widths of a desk and of a phone, light and dark, and printed.

Skipped where playwright, Chromium or axe-core is missing; none of them is needed otherwise. To run it:

    pip install playwright axe-playwright-python      # the latter is needed for its copy of axe.min.js only
    apt-get install chromium
    pytest tests/report/test_page_in_browser.py

``SUBANNEAL_CHROMIUM`` and ``SUBANNEAL_AXE`` name the browser and the file axe.min.js elsewhere. With
``SUBANNEAL_PAGES``, a list of pages separated by colons, these are checked beside the one that is made here, and with
``SUBANNEAL_SCREENSHOTS``, a folder, pictures of all are left there to be looked at, which no test replaces.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal.report.cli import main

SIZES = {"desk": (1440, 900), "phone": (390, 844)}
SEVERE = {"serious", "critical"}
# What sticks out of the page and is in no box that scrolls, and texts that are cut off by their own box.
CUT = """() => [...document.querySelectorAll("body *")].filter((e) => {
  const box = e.getBoundingClientRect();
  if (!box.width || e.closest(".hidden")) return false;
  const isOut = (box.right > innerWidth + 1 || box.left < -1) && !e.closest(".scroll");
  const isCut = getComputedStyle(e).overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1;
  return isOut || isCut;
}).map((e) => e.outerHTML.slice(0, 200))"""
# Boxes that scroll without a word above them.
UNTOLD = """() => [...document.querySelectorAll(".scroll.wide")].filter((box) => {
  const cue = box.parentElement.querySelector(":scope > .cue");
  return box.offsetParent && !box.closest("details") && (!cue || cue.hidden);
}).map((e) => e.outerHTML.slice(0, 200))"""


def found_axe() -> Path | None:
    if os.environ.get("SUBANNEAL_AXE"):
        return Path(os.environ["SUBANNEAL_AXE"])
    for package in ("axe_playwright_python", "axe_core_python"):
        spec = importlib.util.find_spec(package)
        if spec is not None:
            return next(Path(spec.submodule_search_locations[0]).rglob("axe.min.js"), None)
    return None


CHROMIUM = os.environ.get("SUBANNEAL_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
AXE = found_axe()
pytestmark = pytest.mark.skipif(CHROMIUM is None or AXE is None, reason="needs Chromium and axe-core, see above")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A page with numbers, skewed numbers, categories, missing cells, odd names, several views and many columns."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(3, size=(2, 300))
    frame = pd.DataFrame({f"number {j:02d}": (5.0 * one + rng.normal(size=300)).round(2) for j in range(30)})
    frame['amount <in> "thousands" & a name that is long, with_parts_that_cannot_be_broken_anywhere'] = np.exp(
        2.0 * other + rng.normal(size=300)
    ).round(2)
    frame["kind"] = np.array(["red", "blue", "<b>green</b>"])[other]
    frame["grade"] = rng.integers(1, 6, size=300)
    frame["flag"] = other > 0
    frame.loc[::7, "kind"] = None
    folder = tmp_path_factory.mktemp("page")
    frame.to_csv(folder / "table.csv", index=False)
    arguments = ["report", str(folder / "table.csv"), "-o", str(folder / "out"), "--chains", "2", "--jobs", "1", "-q"]
    assert main(arguments) == 0
    given = os.environ.get("SUBANNEAL_PAGES", "")
    return [folder / "out" / "report.html", *(Path(page).absolute() for page in given.split(":") if page)]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as session:
        opened = session.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


def opened(browser, page: Path, size: str = "desk", scheme: str = "light"):
    """The page without a network, and what its console said."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, offline=True)
    tab, said = context.new_page(), []
    tab.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("requestfailed", lambda request: said.append(request.url))
    tab.goto(page.as_uri())
    tab.wait_for_timeout(200)
    return tab, said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_nothing_is_wrong_with_the_page(browser, pages, size, scheme):
    for page in pages:
        tab, said = opened(browser, page, size, scheme)
        folder = os.environ.get("SUBANNEAL_SCREENSHOTS")
        if folder:
            name = f"{page.parent.name}-{size}-{scheme}"
            tab.screenshot(path=Path(folder, f"{name}-first.png"))
            tab.screenshot(path=Path(folder, f"{name}.png"), full_page=True)
        assert said == [], page
        assert tab.evaluate("document.documentElement.scrollWidth") <= SIZES[size][0], page
        assert tab.evaluate(CUT) == [] and tab.evaluate(UNTOLD) == [], page
        # The first finding is on the first screen.
        first = tab.locator(".findings li").first.bounding_box()
        assert first["y"] + first["height"] < SIZES[size][1], page
        for closed in tab.locator("summary").all()[:3]:
            closed.click()
        tab.evaluate(AXE.read_text(encoding="utf-8"))
        found = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
        severe = [(own["id"], own["nodes"][0]["html"]) for own in found if own["impact"] in SEVERE]
        assert severe == [], page
        tab.context.close()


def test_tables_are_sorted_and_searched_by_keys(browser, pages):
    tab, _ = opened(browser, pages[0])
    block = tab.locator("#dependence .table").first
    head = block.locator("th").nth(2)
    head.locator("button").focus()

    def strengths():
        return [float(text) for text in block.locator("tbody tr:visible td:nth-child(3)").all_inner_texts()]

    before = strengths()
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending" and strengths() == sorted(before)
    tab.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending" and strengths() == sorted(before, reverse=True)
    block.locator("input").fill("number 07")
    rows = block.locator("tbody tr:visible").all_inner_texts()
    assert 0 < len(rows) < len(before) and all("number 07" in row for row in rows)
    assert block.locator("output").inner_text() == f"{len(rows)} of {len(before)} rows"


def test_columns_are_chosen(browser, pages):
    tab, _ = opened(browser, pages[0])
    charts = tab.locator(".chart:visible")
    assert charts.count() == 24 and tab.locator(".chart").count() == 34
    tab.locator("#find button").click()
    assert charts.count() == 34
    tab.locator("#find input").fill("AMOUNT")
    assert charts.count() == 1 and "axis compressed" in charts.inner_text()


def test_without_scripts_all_is_there(browser, pages):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(pages[0].as_uri())
    assert tab.locator(".chart:visible").count() == 34 and tab.locator(".tools:visible").count() == 0
    context.close()


def test_no_script_of_a_table_can_run(browser, pages, tmp_path):
    """Were a name not escaped, the policy of the page would still stop it."""
    text = pages[0].read_text(encoding="utf-8")
    path = tmp_path / "evil.html"
    script = "<script>document.title = 'evil'</script><img src=x onerror='document.title = 1'>"
    path.write_text(text.replace("<main>", f"<main>{script}"), encoding="utf-8")
    tab, said = opened(browser, path)
    assert tab.title() == "Report on table.csv" and any("Content Security Policy" in line for line in said)


def test_print_is_light_and_has_no_tools(browser, pages):
    tab, _ = opened(browser, pages[0], scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(253, 253, 252)"
    assert tab.locator("nav:visible, .tools:visible, .cue:visible").count() == 0
