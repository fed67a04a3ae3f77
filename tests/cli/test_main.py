"""The installed command: results of the paper, help, and what is imported."""

import os
import subprocess
import sys

import pandas as pd
import pytest

from holdfast.cli.main import main
from holdfast.cli.parser import COMMANDS, LAB_COMMANDS
from holdfast_lab.reproduce.runner import NAMES


def holdfast(*args, cwd=None):
    environment = {**os.environ, "COLUMNS": "100"}
    command = [sys.executable, "-m", "holdfast", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment)


SOME = ("outlier_count", "certificates")


@pytest.fixture(
    scope="session", params=[SOME, pytest.param(NAMES, marks=pytest.mark.slow)], ids=["some", "all"]
)
def reproduced(request, tmp_path_factory):
    """Quick results of the paper: their folder, what was printed, and their names. All take a minute."""
    folder = tmp_path_factory.mktemp("paper")
    done = holdfast("reproduce", "--quick", "--to", folder, *(request.param if request.param == SOME else ()))
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "quick", done.stdout, request.param


def test_every_result_of_the_paper_holds(reproduced):
    _, text, names = reproduced
    assert [line.split()[:2] for line in text.splitlines()[:-1]] == [["holds", name] for name in names]


def test_each_result_has_a_figure_and_a_table(reproduced):
    folder, text, names = reproduced
    assert text.splitlines()[-1] == f"The report: {folder / 'index.html'}"
    for name in names:
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (folder / f"{name}.svg").read_text()
        assert len(pd.read_parquet(folder / f"{name}.parquet")) > 3


def test_the_page_links_to_no_other_file(reproduced):
    page = (reproduced[0] / "index.html").read_text()
    body = (
        page.replace("http://www.w3.org", "")
        .replace("http://purl.org", "")
        .replace("http://creativecommons.org", "")
    )
    assert "http" not in body.replace("https://matplotlib.org/", "")
    assert "<script" not in page
    assert all(f'id="{name}"' in page for name in reproduced[2])


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_in_a_browser_without_errors_or_requests(reproduced, browser, width):
    page = browser.new_page(viewport={"width": width, "height": 900})
    errors, requests = [], []
    page.on("console", lambda message: errors.append(message.text))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    page.goto((reproduced[0] / "index.html").as_uri())
    assert errors == []
    assert len(requests) == 1
    assert page.locator("figure svg").count() == len(reproduced[2])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("summary").first.click()
    assert page.locator("table").first.is_visible()


def test_list_names_the_results():
    text = holdfast("reproduce", "--list").stdout
    assert [line.split()[0] for line in text.splitlines()] == list(NAMES)


def test_help_has_examples():
    assert "holdfast reproduce --quick" in holdfast("reproduce", "--help").stdout
    assert "reproduce" in holdfast("--help").stdout


LOADED = """
import sys
from holdfast.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(*sys.modules, sep="\\n")
"""


@pytest.mark.parametrize(
    "command", [None, "demo", "learn", "predict", "audit", "release", "report", "inspect"]
)
def test_help_imports_nothing_of_the_lab_of_pages_nor_of_other_commands(command):
    call = [sys.executable, "-c", LOADED, *([command] if command else []), "--help"]
    loaded = subprocess.run(call, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "holdfast.cli.main" in loaded
    late = ("holdfast_lab", "holdfast.pages", "jinja2", "tqdm")
    assert not [name for name in loaded if name.startswith(late)]
    others = {f"holdfast.cli.{name}" for name in COMMANDS} - {f"holdfast.cli.{command}"}
    assert not others & set(loaded)


@pytest.mark.parametrize("name", [*COMMANDS, *LAB_COMMANDS])
def test_every_command_is_listed_and_has_help_with_examples(name, capsys):
    for words in (["--help"], [name, "--help"]):
        with pytest.raises(SystemExit) as end:
            main(words)
        assert end.value.code == 0
    listed, _, whole = capsys.readouterr().out.partition(f"usage: holdfast {name}")
    assert [name] in [line.split()[:1] for line in listed.splitlines()]
    assert "examples:" in whole and f"holdfast {name}" in whole


WITHOUT_LAB = (
    "import sys; sys.modules['holdfast_lab'] = None; from holdfast.cli.main import main; sys.exit(main())"
)


@pytest.mark.parametrize("name", LAB_COMMANDS)
def test_without_the_laboratory_its_commands_say_where_they_are(name):
    call = [sys.executable, "-c", WITHOUT_LAB, name, "--quick"]
    done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 2
    (sentence,) = done.stderr.splitlines()
    assert f"holdfast {name} is not in the wheel" in sentence and "pip install ./lab" in sentence


def test_without_the_laboratory_its_commands_are_not_listed():
    call = [sys.executable, "-c", WITHOUT_LAB, "--help"]
    listed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    assert "inspect" in listed and "bench" not in listed


def test_a_wrong_name_is_one_sentence_and_exit_2():
    done = holdfast("reproduce", "theorem_42")
    assert done.returncode == 2
    assert "there is no result 'theorem_42'" in done.stderr
    assert "Traceback" not in done.stderr
