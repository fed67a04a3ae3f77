"""tools/compare_bits.py compares the bits of this installation with recorded ones."""

import json
import platform

import compare_bits
import pytest

from holdfast._compiled.prebuild import GROUPS


@pytest.mark.slow
@pytest.mark.skipif(platform.system() != "Linux", reason="recorded with the mathematical functions of Linux")
def test_all_games_have_the_recorded_bits(capsys):
    assert compare_bits.main([]) == 0, "after a change of results: python tools/compare_bits.py --write"
    assert capsys.readouterr().out.count("same bits") == len(compare_bits.GAMES)


@pytest.mark.slow
def test_all_games_are_among_those_that_wheels_have(monkeypatch):
    games = [game for group in GROUPS.values() for game in group()]
    prebuilt, asked = compare_bits.prebuilt, set()
    known = {prebuilt.key_of(function, args) for _, function, args in games}
    monkeypatch.setattr(prebuilt, "find", lambda function, args: asked.add(prebuilt.key_of(function, args)))
    for name, game in compare_bits.GAMES.items():
        asked.clear()
        game()
        assert asked and asked <= known, name


def test_other_bits_are_an_error(capsys, monkeypatch, tmp_path):
    name = "gate, TopK"
    monkeypatch.setattr(compare_bits, "GAMES", {name: compare_bits.GAMES[name]})
    recorded = tmp_path / "bits.json"
    recorded.write_text(json.dumps({name: "0"}))
    monkeypatch.setattr(compare_bits, "RECORDED", recorded)
    assert compare_bits.main([]) == 1
    assert "OTHER BITS" in capsys.readouterr().out
    assert compare_bits.main(["--write"]) == 0
    assert compare_bits.main([]) == 0


def test_machine_code_can_be_demanded(capsys, monkeypatch):
    name = "gate, TopK"
    monkeypatch.setattr(compare_bits, "GAMES", {name: compare_bits.GAMES[name]})
    monkeypatch.setattr(
        compare_bits.prebuilt, "library", lambda: compare_bits.prebuilt.Library(None, {}, "a test")
    )
    assert compare_bits.main(["--machine-code"]) == 1
    assert "a test" in capsys.readouterr().err
