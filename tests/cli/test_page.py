"""The report of a run, opened in a browser."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pytest

from holdfast.cli.main import main
from holdfast.cli.page import cards, duration


@pytest.fixture(scope="module")
def report(source, tmp_path_factory):
    """The report of a run for numbers."""
    run = tmp_path_factory.mktemp("reports") / "run"
    assert main(["learn", str(source), "--target", "y", "--to", str(run), "--report", "--quiet"]) == 0
    return run / "report.html"


@pytest.fixture
def opened(browser):
    """Open a page; it must not print to the console, nor load anything else, nor be wider than the window."""

    def open_page(path, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(page)
        errors, requests = [], []
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        assert errors == []
        assert len(requests) == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        return page

    pages = []
    yield open_page
    for page in pages:
        page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_without_errors_or_requests(report, opened, width, scheme):
    page = opened(report, width, scheme)
    assert page.locator("figure svg").count() == 5
    assert page.get_by_text("What this run proves").is_visible()
    assert page.locator("table").last.is_hidden()
    page.locator("summary").last.click()
    assert page.locator("table").last.is_visible()
    ground, ink = (
        page.evaluate(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color")
    )
    dark, light = sorted((ground, ink), key=brightness)
    assert (ground == dark) == (scheme == "dark")
    assert brightness(light) - brightness(dark) > 500


def brightness(color):
    return sum(map(int, re.findall(r"\d+", color)[:3]))


def test_the_report_says_how_it_was_made_and_how_good_the_model_is(report, source):
    text = report.read_text()
    assert "http" not in text
    assert f"holdfast learn {source} --target y --to {report.parent}" in text
    assert re.search(r"Saved \d{4}-\d\d-\d\d \d\d:\d\d UTC\. Learning took", text)
    assert re.search(r"The error is [\d.]+, [\d.]+ % of the baseline", text)
    for words in ("By column", "Groups of rows", "The weights now", "a number", "The threshold was"):
        assert words in text
    assert "There is no certificate: features have a running scale" in text
    assert re.search(r"[abcy] = -?[\d,]+", text)


@pytest.mark.parametrize("labels", [2, 3])
def test_labels_have_a_matrix_of_mistakes(table, tmp_path, opened, labels):
    names = np.array(["no", "yes", "<b>maybe</b>"])[np.digitize(table["b"], [0.0, 0.8][: labels - 1])]
    pacsv.write_csv(pa.table(table | {"side": names}), tmp_path / "rows.csv")
    args = ["--target", "side", "--drop", "y", "--learner", "adagrad", "--report", "--quiet"]
    assert main(["learn", str(tmp_path / "rows.csv"), *args, "--to", str(tmp_path / "run")]) == 0
    page = opened(tmp_path / "run" / "report.html", 390)
    assert page.locator(".matrix tbody tr").count() == labels
    cells = [int(text.replace(",", "")) for text in page.locator(".matrix td").all_inner_texts()]
    assert len(cells) == labels * labels
    kept = int(page.locator(".cards b").first.inner_text())
    assert 0 < sum(cells) <= kept
    right = sum(cells[i * labels + i] for i in range(labels))
    assert right > 0.6 * sum(cells)
    assert page.get_by_text("Left out with --drop: y.").is_visible()


def test_a_run_with_keys_and_one_with_few_rows_have_a_report(table, tmp_path, capsys):
    who = np.array(["p", "q"])[np.arange(len(table["a"])) % 2]
    pacsv.write_csv(pa.table(table | {"who": who}), tmp_path / "rows.csv")
    args = ["--target", "y", "--key", "who", "--quiet", "--report"]
    assert main(["learn", str(tmp_path / "rows.csv"), *args, "--to", str(tmp_path / "run")]) == 0
    text = (tmp_path / "run" / "report.html").read_text()
    assert "The 2 keys" in text and "so far, over all keys" in text
    (tmp_path / "few.csv").write_text("a,y\n" + "1,2\n" * 20 + "x,3\n")
    args = ["--target", "y", "--quiet", "--report", "--to", str(tmp_path / "few")]
    assert main(["learn", str(tmp_path / "few.csv"), *args]) == 0
    text = (tmp_path / "few" / "report.html").read_text()
    assert "not readable" in text and "is not a number" in text.replace("&#39;", "'")


def test_misses_are_of_intervals_or_of_sets_of_labels():
    counts = dict.fromkeys(("rounds", "skipped", "learned_little", "warm_up"), 0)
    numbers = {"coverage": 0.9, "rows": 200, "misses": 20}
    for task, words in (("regression", "outside of the 90% intervals"), ("classification", "from the sets")):
        metrics = counts | {"task": task, "error": None, "baseline": None, "intervals": [numbers]}
        share, said = list(cards(metrics))[-1]
        assert share == "10 %" and words in said


def test_a_duration_is_in_words():
    assert [duration(seconds) for seconds in (0.0, 0.4, 3.2, 65.0, 3_661.0)] == [
        *("", "less than a second", "3 s", "1 min 5 s", "1 h 1 min 1 s")
    ]
