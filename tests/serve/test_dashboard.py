"""The dashboard of Grafana and the alerts of Prometheus ask for figures that the server has."""

import json
import re
from pathlib import Path

import pytest
from serve.conftest import settle

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text(encoding="utf-8"))
ALERTS = re.findall(r"expr: (.*)", (DEPLOY / "alerts.yml").read_text(encoding="utf-8"))
EXPRESSIONS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@pytest.fixture
def figures(served, run):
    """The names of the figures of a server that has predicted, learned and skipped, with their labels."""
    client = served(run)
    found = client.post("/predict", json={"rows": [{"a": 1.0, "b": 0.5}, {"a": 1e9, "b": 0.5}]}).json()
    labels = [{"id": one["id"], "target": 1.5} for one in found["predictions"]]
    client.post("/label", json={"labels": labels})
    settle(client)
    return client.get("/metrics").text


@pytest.mark.parametrize("expression", [*EXPRESSIONS, *ALERTS])
def test_every_figure_and_label_that_is_asked_for_exists(expression, figures):
    asked = re.findall(r"\b(holdfast_\w+)(?:\{([^}]*)\})?", expression)
    assert asked or "up{" in expression
    for name, labels in asked:
        lines = [line for line in figures.splitlines() if re.match(rf"{name}[ {{]", line)]
        assert lines, f"the server has no {name}"
        for label, test, value in re.findall(r'(\w+)(=~|!=|=)"([^"]*)"', labels):
            if label != "instance":  # which Prometheus adds
                assert any(f'{label}="' in line for line in lines)
                assert test != "=" or any(f'{label}="{value}"' in line for line in lines)


def test_the_dashboard_uses_the_data_source_that_is_set_up_and_panels_do_not_overlap():
    uid = re.search(r"uid: (\w+)", (DEPLOY / "grafana" / "datasource.yml").read_text(encoding="utf-8"))[1]
    asked = {target["datasource"]["uid"] for panel in DASHBOARD["panels"] for target in panel["targets"]}
    assert asked == {uid} == {panel["datasource"]["uid"] for panel in DASHBOARD["panels"]}
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in DASHBOARD["panels"])
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
