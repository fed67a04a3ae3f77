"""Hypothesis draws the same examples everywhere. No test reads a clock. Signals arrive."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from holdfast._compiled import compiling

settings.register_profile(
    "holdfast",
    deadline=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # which reads a clock
)
settings.load_profile("holdfast")
# Hypothesis also draws constants of all modules that are loaded, and these depend on the order of the tests.
providers._get_local_constants = lambda: providers._local_constants
# nohup, and a shell that starts tests in the background, let processes ignore signals, which some tests send.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items):
    """The estimators' games are compiled before the other tests of estimators, which are then much faster."""
    last = Path(__file__).parent / "sklearn_estimators"
    items.sort(key=lambda item: (item.get_closest_marker("first") is None, last in item.path.parents))


@pytest.fixture(autouse=True, scope="module")
def look_again_on_disk():
    """What was not there during earlier tests may have been compiled since, perhaps in another process."""
    compiling._on_disk.clear()


@pytest.fixture(autouse=True)
def no_rounds_before():
    """Games look for machine code after some rounds of their process: those of other tests do not count."""
    compiling._interpreted[0] = 0.0


@pytest.fixture(scope="session")
def browser():
    """Chromium, to open pages; one for all tests of a process, as Playwright starts only once."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = next((p for p in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(p).exists()), None)
    if chromium is None:
        pytest.skip("no Chromium on this machine: pages were not opened")
    flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
    with playwright.sync_playwright() as driver:
        chrome = driver.chromium.launch(executable_path=chromium, args=flags)
        yield chrome
        chrome.close()
