"""The page for people, driven in Chromium: an outlier appears and is released, a bad day is taken back."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from holdfast.cli.main import main
from holdfast.serve.client import Client

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

TOKEN, STOPPED = "a-token-of-the-tests", 143  # the status after SIGTERM
PATIENCE = 60_000  # milliseconds, of which a test uses a few thousand


def rows(count, seed, factor=1.0):
    """Rows of a meter, and what it reads."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3)).round(4)
    loads = factor * (X @ [1.0, 2.0, -1.0] + 0.1 * rng.normal(size=count))
    return [
        dict(zip("abc", x.tolist(), strict=True)) | {"load": float(y)} for x, y in zip(X, loads, strict=True)
    ]


@contextlib.contextmanager
def serving(folder):
    """A run of 400 rows that is served with a token; a client of it."""
    source, run, token = (folder / name for name in ("meter.csv", "meter.run", "token"))
    lines = [",".join(map(str, row.values())) for row in rows(400, 0)]
    source.write_text("\n".join(["a,b,c,load", *lines]) + "\n")
    assert main(["learn", str(source), "--target", "load", "--to", str(run), "--quiet"]) == 0
    token.write_text(TOKEN)
    holdfast = Path(sys.executable).parent / "holdfast"
    command = [holdfast, "serve", run, "--port", "0", "--json", "--token-file", token]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            with Client(json.loads(server.stdout.readline())["address"], TOKEN) as client:
                yield client
        finally:
            server.terminate()
            assert server.wait(60) == STOPPED


@pytest.fixture(scope="module")
def with_labels(tmp_path_factory):
    """A server that has got 40 labels."""
    with serving(tmp_path_factory.mktemp("served")) as client:
        answers = client.predict_many([{name: row[name] for name in "abc"} for row in rows(40, 2)])
        client.label_many((answer.id, 0.5) for answer in answers)
        yield client


@pytest.fixture
def opened(browser):
    """Open the page of a server. It must call nobody else."""
    pages = []

    def open_page(client, width=1280, scheme="light"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.set_default_timeout(PATIENCE)
        page.problems, page.called = [], set()
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.called.add(re.match(r"\w+://[^/]+", request.url)[0]))
        pages.append(page)
        page.goto(client.url)
        page.locator("#state.yes").wait_for()
        assert page.called == {client.url}
        return page

    yield open_page
    for page in pages:
        page.close()


def say(page, words):
    page.get_by_role("status").get_by_text(words).wait_for()


def test_an_outlier_appears_and_is_released_and_a_bad_day_is_taken_back(tmp_path, opened):
    with serving(tmp_path) as client:
        drive(client, opened(client))


def drive(client, page):
    assert page.get_by_text("predictions wait for a label. A prediction waits for 168 hours").is_visible()

    far = {"a": 5_000.0, "b": 0.1, "c": 0.2}
    answer = client.predict(far)
    assert answer.outlier is True
    page.locator("#cards").get_by_text("1", exact=True).wait_for()  # waits for its label
    assert client.label(answer.id, 1.0) == "accepted"
    page.locator("#release-401").wait_for()
    assert "a = 5,000" in page.locator("#skipped").inner_text()

    page.locator("#release-401").click()  # without the token
    say(page, "the token is missing or wrong")
    assert "401" in page.problems.pop()
    page.get_by_label("Token").fill(TOKEN)
    page.locator("#release-401").click()
    say(page, "Released: 1.")
    page.locator("#skipped td", has_text="released").wait_for()
    page.locator("#ledger").get_by_text("1 row released: 401").wait_for()

    before = client.predict({"a": 1.0, "b": 0.5, "c": -0.5}).prediction
    bad = rows(60, 1, factor=1.2)
    assert client.learn(bad) == {"accepted": 60, "repeated": 0}
    page.locator("#cards").get_by_text("461", exact=True).wait_for()
    assert client.predict({"a": 1.0, "b": 0.5, "c": -0.5}).prediction != before
    page.get_by_label("Rows").fill("402-461")
    page.get_by_label("Why").fill("in <b>kW</b>")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Take back").click()
    say(page, "Taken back: 60 rows, entry 2 of the ledger.")
    page.locator("#ledger").get_by_text("in <b>kW</b>").wait_for()
    page.locator("#alarms").get_by_text("taken back").wait_for()
    page.locator("#cards").get_by_text("401", exact=True).wait_for()
    assert client.predict({"a": 1.0, "b": 0.5, "c": -0.5}).prediction == before  # to the last bit
    assert page.problems == [] and page.called == {client.url}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_fits_the_window_and_can_be_read(with_labels, opened, width, scheme):
    page = opened(with_labels, width, scheme)
    page.locator("#error svg").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    colors = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    )
    ground, ink = (sum(map(int, re.findall(r"\d+", color)[:3])) for color in colors)
    assert (ground < ink) == (scheme == "dark") and abs(ground - ink) > 500
    for control in page.locator("form button, form input:not([hidden])").all():
        assert control.bounding_box()["height"] >= 36
    assert page.locator("figure svg").count() == 3
    assert page.problems == []
