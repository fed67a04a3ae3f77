"""docs/serve.md, block by block: commands are run, and Python prints what the page says."""

import contextlib
import doctest
import re
import shlex
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from holdfast.cli.main import main

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"
HOLDFAST = Path(sys.executable).parent / "holdfast"


class Reader:
    """Somebody who follows the page. To start the server again, it is killed."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.names, self.server, self.started = {}, None, 0

    def python(self, text):
        test = doctest.DocTestParser().get_doctest(self._here(text), self.names, PAGE.name, str(PAGE), 0)
        said = []
        run = partial(doctest.DocTestRunner().run, test, out=said.append, clear_globs=False)
        with ThreadPoolExecutor(1) as thread:  # in this one the browser of other tests may have a loop
            thread.submit(run).result()
        assert said == [], "".join(said)
        self.names = test.globs

    def shell(self, command):
        words = shlex.split(self._here(command))
        if words[:2] == ["holdfast", "serve"]:
            self.kill()
            call = [HOLDFAST, *words[1:], "--port", str(self.port), "--json"]
            self.server = subprocess.Popen(call, stdout=subprocess.PIPE, text=True)
            assert '"ready"' in self.server.stdout.readline()
            self.started += 1
        elif words[0] == "holdfast":
            assert main(words[1:]) == 0
        elif words[0] in ("curl", "openssl"):
            subprocess.run(self._here(command), shell=True, check=True)
        else:
            assert words[:2] == ["pip", "install"]

    def kill(self):
        if self.server is not None:
            self.server.send_signal(signal.SIGKILL)
            self.server.communicate()

    def _here(self, text):
        return text.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")


@pytest.mark.skipif(sys.platform == "win32", reason="the page is for a shell")
def test_a_reader_of_the_page_gets_what_it_says(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    reader = Reader()
    with contextlib.ExitStack() as end:
        end.callback(reader.kill)
        for kind, text in re.findall(
            r"```(\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL
        ):
            if kind == "sh":
                for line in text.splitlines():
                    reader.shell(line)
            elif kind == "python" and ">>>" in text:
                reader.python(text)
        reader.names["client"].close()
    assert reader.started == 2
    assert '"id":"today"' in capfd.readouterr().out.replace(" ", "")
