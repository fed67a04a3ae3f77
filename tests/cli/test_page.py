"""The report of a run, opened in a browser."""

import pytest


@pytest.mark.parametrize("width", [1280, 390])
def test_the_report_opens_without_errors_or_requests(source, learn, browser, width):
    run, _, printed = learn(source, "--target", "y", "--report")
    assert f"The report: {run / 'report.html'}" in printed
    page = browser.new_page(viewport={"width": width, "height": 900})
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((run / "report.html").as_uri())
    assert errors == []
    assert len(requests) == 1
    assert page.locator("figure svg").count() == 4
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.get_by_text("What this run proves").is_visible()
    assert page.locator("table").last.is_hidden()
    page.locator("summary").last.click()
    assert page.locator("table").last.is_visible()
    assert "http" not in (run / "report.html").read_text()
    page.close()
