"""One small Spark session for all tests that need a JVM, with all its files in a temporary folder."""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))
PANDAS = "ignore:PySpark does not yet fully support pandas:FutureWarning"
collect_ignore = [] if importlib.util.find_spec("pyspark") else ["fleets.py", "killed.py"]


def pytest_ignore_collect(collection_path, config):
    """A JVM takes a minute, so these tests are run only if they are named, as by `make test-all`."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    here = Path(__file__).parent
    return None if any(here in (path, *path.parents) for path in named) else True


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.filterwarnings(PANDAS))


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    if shutil.which("java") is None:
        pytest.skip("there is no Java: .ci/run installs one")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from fleets import session

    spark = session(tmp_path_factory.mktemp("spark"))
    yield spark
    spark.stop()
