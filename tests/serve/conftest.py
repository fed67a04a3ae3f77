"""Runs to serve."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from serve.running import write_table
from starlette.testclient import TestClient

from holdfast.cli.main import main
from holdfast.serve.app import App
from holdfast.serve.service import Service
from holdfast.serve.store import Limits

TOKEN = "a-token-for-tests"
HEADERS = {"authorization": f"Bearer {TOKEN}"}


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs and their sources; nobody changes them."""
    folder = tmp_path_factory.mktemp("learned")
    table = write_table(folder / "t.csv")
    assert main(["learn", str(table), "--target", "y", "--to", str(folder / "t.run"), "--quiet"]) == 0
    lines = ["size,colour,site,kind"]
    for i in range(200):
        colour = ("red", "blue", "green")[i % 3]
        site, kind = "north" if i % 2 else "south", "yes" if colour == "red" else "no"
        lines.append(f"{i % 17},{colour},{site},{kind}")
    (folder / "l.csv").write_text("\n".join(lines) + "\n")
    arguments = ["--target", "kind", "--key", "site", "--to", str(folder / "l.run"), "--quiet"]
    assert main(["learn", str(folder / "l.csv"), *arguments]) == 0
    return folder


@pytest.fixture
def run(learned: Path, tmp_path: Path) -> Path:
    """y = 2 a - b."""
    return Path(shutil.copytree(learned / "t.run", tmp_path / "t.run"))


@pytest.fixture
def label_run(learned: Path, tmp_path: Path) -> Path:
    """Two labels, a category, and keys."""
    return Path(shutil.copytree(learned / "l.run", tmp_path / "l.run"))


@pytest.fixture
def served(clock: Clock) -> Iterator[Callable[..., TestClient]]:
    """Serve a run in this process; the client answers like a server, and is closed at the end."""
    clients: list[TestClient] = []

    def serve(
        path: Path, limits: Limits | None = None, token: str | None = None, **options: Any
    ) -> TestClient:
        service = Service(path, limits, clock=clock, **options)
        client = TestClient(App(service, token), raise_server_exceptions=False)
        client.__enter__()
        clients.append(client)
        client.service = service  # type: ignore[attr-defined]
        return client

    yield serve
    for client in clients:
        client.__exit__(None, None, None)


def settle(client: Any) -> None:
    """Wait until the server has learned all that it was sent."""
    client.service.learner.do(lambda run: None).result(60.0)
