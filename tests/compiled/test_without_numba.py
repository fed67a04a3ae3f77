"""Without numba everything works: in Python, or with games that came with the package."""

from compiled.subprocesses import printed

BLOCKED = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # as if they were not installed
"""

EVERYTHING = (
    BLOCKED
    + """
import numpy as np
import holdfast as hf
import holdfast.sklearn, holdfast.river
from holdfast.cli.main import main
from holdfast.sklearn import RobustClassifier, RobustRegressor

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 3))
y = X[:, 0]
print(RobustRegressor().fit(X, y).predict(X[:2]).shape)
print(RobustClassifier().fit(X, y > 0.0).score(X, y > 0.0) > 0.9)
player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1))
replay = hf.Replay(X, y, hf.Squared())
print(hf.play(player, replay).rounds, len(hf.play_many(player, replay, [0, 1, 2] * 100).keys))
print(hf.Gate(hf.TopK(1)).keep_many(np.ones(200_000)).sum())
with open("rows.csv", "w") as file:
    file.write("a,y\\n" + "".join(f"{i % 7},{i % 7}\\n" for i in range(100)))
print(main(["learn", "rows.csv", "--target", "y", "--to", "run", "--quiet"]))
"""
)

ASKED = (
    BLOCKED
    + """
import holdfast as hf
player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopShare(0.1, window=50)), 1, compiled=True)
try:
    player.observe([1.0])
except ImportError as problem:
    print(problem)
"""
)

LONG = (
    BLOCKED
    + """
import logging
import holdfast as hf
import numpy as np
logging.basicConfig(format="%(message)s", stream=sys.stdout)
player = hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.Everything())
for _ in range(2):
    print(hf.play(player, hf.Gradients(np.zeros((50_000, 1))), keep=()).rounds)
"""
)


def test_the_package_the_estimators_and_the_commands_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = printed(EVERYTHING, HOLDFAST_PREBUILT="0")
    assert lines == ["(2,)", "True", "300 3", "199999", "0"]


def test_compiling_on_request_names_what_is_missing():
    (message,) = printed(ASKED, HOLDFAST_PREBUILT="0")
    assert "pip install 'holdfast[compile]'" in message


def test_a_long_game_runs_in_python_and_the_log_says_so_once():
    message, *rounds = printed(LONG, HOLDFAST_PREBUILT="0")
    assert "pip install 'holdfast[compile]'" in message
    assert rounds == ["50000", "50000"]
