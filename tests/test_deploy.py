"""The files in deploy/: systemd accepts the units, and their commands have options that exist."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from holdfast.cli.parser import new_parser

DEPLOY = Path(__file__).parents[1] / "deploy"
UNITS = ["holdfast-learn@.service", "holdfast-learn@.timer", "holdfast-serve@.service"]


def commands(name):
    """The calls of holdfast in a file, as words."""
    text = (DEPLOY / name).read_text().replace("\\\n", " ").replace("%%", "%")
    lines = re.findall(r"^(?:ExecStart=\S*/holdfast|RUN holdfast|    command:) (.*)$", text, flags=re.M)
    return [shlex.split(line.split("&&")[0]) for line in lines]


@pytest.mark.parametrize(
    "name", ["holdfast-learn@.service", "holdfast-serve@.service", "Dockerfile", "compose.yaml"]
)
def test_the_commands_have_options_that_exist(name, tmp_path):
    (tmp_path / "sensors.toml").write_text('target = "y"\n')
    found = commands(name)
    assert found
    for words in found:
        words = [word.replace("/etc/holdfast/%i", str(tmp_path / "sensors")) for word in words]
        words = [word.replace("${PORT}", "8000") for word in words]
        new_parser().parse_args(words)  # exits if it cannot


def test_systemd_accepts_the_units(tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine: the units were not verified")
    for name in UNITS:
        text = (DEPLOY / name).read_text()
        (tmp_path / name).write_text(text.replace("/opt/holdfast/bin/holdfast", "/bin/true"))
    command = ["systemd-analyze", "verify", "--man=no", *(tmp_path / name for name in UNITS)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_server_may_do_little_on_its_machine(tmp_path):
    """At most 1.5 of 10 on the scale of systemd, on which more is worse; it was 1.1."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine: the unit was not judged")
    command = ["systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=15"]
    done = subprocess.run([*command, DEPLOY / "holdfast-serve@.service"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_prometheus_accepts_its_configuration_and_the_alerts():
    if shutil.which("promtool") is None:
        pytest.skip("no promtool on this machine: the configuration of Prometheus was not checked")
    done = subprocess.run(
        ["promtool", "check", "config", DEPLOY / "prometheus.yml"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_files_that_compose_mounts_exist():
    text = (DEPLOY / "compose.yaml").read_text()
    mounted = re.findall(r"- (\./[^:]+):", text)
    assert len(mounted) == 5
    assert [path for path in mounted if not (DEPLOY / path).exists()] == []
    # ports are open on this machine only, and the token is no file of the repository
    assert all(line.count("127.0.0.1:") == 1 for line in text.splitlines() if "ports:" in line)
    assert "deploy/token" in (DEPLOY.parent / ".gitignore").read_text().splitlines()


def test_a_linter_accepts_the_dockerfile():
    if shutil.which("hadolint") is None:
        pytest.skip("no hadolint on this machine: the Dockerfile was not checked")
    done = subprocess.run(["hadolint", DEPLOY / "Dockerfile"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_image_gets_all_files_that_a_build_needs():
    """What is copied into the image has every file that pyproject.toml names for a wheel."""
    allowed = {
        line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().split() if line[0] == "!"
    }
    assert allowed >= {"pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src", "constraints.txt"}


def test_any_user_of_the_image_can_write_and_a_mounted_folder_gets_its_owner():
    """A folder that is mounted belongs to the user of the host, who is not the one of the image."""
    text = (DEPLOY / "Dockerfile").read_text()
    assert text.index("chmod a+rwX /data") < text.index("USER 10001")
    # code that others could write is not run: it stays root's, with the modes that pip gave it
    assert "COPY --from=build /opt/holdfast /opt/holdfast" in text.splitlines()
    assert not re.search(r"(chmod|chown) [^&\n]*/opt", text)
    pages = [DEPLOY / "Dockerfile", DEPLOY.parent / "docs" / "operations.md"]
    calls = [
        line
        for page in pages
        for line in page.read_text().splitlines()
        if "docker run" in line and "-v" in line
    ]
    assert calls and all('--user "$(id -u):$(id -g)"' in line for line in calls)
