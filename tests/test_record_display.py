"""What a notebook shows: records, certificates and audits as tables and plots, and estimators."""

import numpy as np
import pytest

import holdfast as hf
from holdfast.audit import Audit

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def record():
    G = np.ones((200, 2)) * np.where(np.arange(200) % 2, 1.0, -1.0)[:, None]
    G[50], G[60] = 1e9, np.nan
    return hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(2)), hf.Gradients(G))


def points(axes):
    """How many points each line has, by its label without the count."""
    return {line.get_label().partition(":")[0]: len(line.get_xdata()) for line in axes.get_lines()}


def test_a_record_shows_its_counts(record):
    page = record._repr_html_()
    assert f">{record.kept_count}<" in page and "TopK(k=2" in page
    assert "without a finite size" in page and page.count("<tr>") == 5


def test_a_record_draws_what_was_kept_and_skipped(record):
    axes = record.plot()
    skipped = record.skipped_count - 1
    assert points(axes) == {"kept": record.kept_count, "skipped": skipped, "not finite": 1, "threshold": 199}
    assert record.plot(ax=axes) is axes


def test_a_continued_record_begins_at_its_own_round(record):
    first = hf.play(record.player, record.adversary, rounds=120)
    later = hf.play(record.player, record.adversary, after=first)
    assert later.plot().get_lines()[0].get_xdata()[0] == 121


def test_a_record_without_columns_says_what_to_keep():
    record = hf.play(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), hf.Gradients(np.ones((5, 1))), keep=())
    assert "rounds" in record._repr_html_()
    with pytest.raises(ValueError, match="the record has no sizes"):
        record.plot()


def test_a_certificate_shows_its_sentences_and_draws_its_bounds(record):
    proof = record.certificate(k=2)
    assert "1 more rounds had no finite size" in proof._repr_html_()
    (line,) = proof.plot().get_lines()
    assert line.get_ydata()[0] == proof.bound / proof.rounds and len(line.get_xdata()) == 3
    between = line.get_xdata()[1:].mean()
    assert line.get_drawstyle() == "steps-pre" and line.get_ydata()[2] == proof.at(between) / proof.rounds


def test_an_audit_is_a_dict_that_shows_its_first_rows():
    audit = Audit(100, ["features"], ["row"])
    audit.add([np.arange(25)], np.zeros(25, int), np.full((25, 1), 9.0), np.full((25, 1), 2.0))
    table = audit.table()
    assert isinstance(table, dict) and list(table) == [
        *("row", "reason", "check", "size", "threshold", "column", "value", "learned")
    ]
    page = table._repr_html_()
    assert page.count("<tr>") == 21 and "5 more rows" in page


def test_the_reason_is_shown_before_the_figures():
    audit = Audit(1, ["features"], ["row"])
    audit.add([[7]], [0], [[9.0]], [[2.0]], ["pressure"], [90.0])
    cells = (7, "features", "features", 9, 2, "pressure", 90, "nothing")
    assert "".join(f"<td>{cell}</td>" for cell in cells) in audit.table()._repr_html_()


def test_text_from_data_is_escaped():
    audit = Audit(1, ["features"], ["key"])
    audit.add([["<script>"]], [0], [[9.0]], [[2.0]])
    assert "&lt;script&gt;" in audit.table()._repr_html_()


def test_a_player_shows_its_rule_and_its_counts():
    player = hf.Player(hf.Filtered(hf.OGD(hf.Ball(1.0)), hf.TopK(1)), dim=2)
    player.observe([1.0, 0.0])
    assert repr(player).startswith("Player(Filtered(learner=OGD(")
    assert repr(player).endswith("dim=2: 1 rounds, 0 kept)")


def test_estimators_show_themselves_as_their_libraries_do():
    linear_model = pytest.importorskip("river.linear_model")
    from holdfast.river import Robust
    from holdfast.sklearn import RobustRegressor

    assert "sk-estimator" in RobustRegressor()._repr_html_()
    assert "Robust" in Robust(linear_model.LinearRegression())._repr_html_()
