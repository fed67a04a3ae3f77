"""What the user says about columns: a schema file, no header, a decimal comma; and what --dry-run prints."""

import json

import pytest
from runs.small import called, refused
from safetensors.numpy import load_file

from holdfast.io.schema import as_lines, read_schema, types_of
from holdfast.io.sources import Reading, SourceError, open_source

ROWS = [(i % 7 / 2, "red" if i % 3 else "blue", i % 4, i % 7 - i % 4 / 2) for i in range(80)]
ARGS = ("--target", "y", "--learner", "adagrad", "--quiet")


def write(path, rows=ROWS, header="x,color,level,y\n", mark=",", decimal="."):
    lines = (mark.join(str(cell).replace(".", decimal) for cell in row) + "\n" for row in rows)
    path.write_text(header + "".join(lines))
    return path


def layout(run):
    return json.loads((run / "config.json").read_text())["layout"]


def learned(run, source, *args):
    status, _, said = called("learn", source, *ARGS, "--to", run, *args)
    assert status == 0, said
    return run


def weights(run):
    return load_file(run / "model.safetensors")["weights"].tolist()


def test_a_schema_decides_the_types_and_the_rest_is_guessed(tmp_path):
    source, schema = write(tmp_path / "rows.csv"), tmp_path / "schema.toml"
    schema.write_text('level = "category"\ncolor = "hashed"\nx = "drop"\n')
    found = layout(learned(tmp_path / "run", source, "--schema", schema))
    assert [column["kind"] for column in found] == ["hashed", "category"]
    assert found[1]["values"] == ["0", "1", "2", "3"]


def test_the_type_of_the_target_decides_the_task(tmp_path):
    rows = [(i, i % 3) for i in range(60)]
    source, schema = write(tmp_path / "rows.csv", rows, "x,y\n"), tmp_path / "schema.toml"
    for kind, labels in (("number", []), ("label", ["0", "1", "2"])):
        schema.write_text(f'y = "{kind}"\n')
        run = learned(tmp_path / kind, source, "--schema", schema)
        assert json.loads((run / "config.json").read_text())["target"]["labels"] == labels


def test_what_print_schema_prints_is_a_schema_that_changes_nothing(tmp_path):
    source = write(tmp_path / "rows.csv")
    before = sorted(tmp_path.iterdir())
    status, said, _ = called("learn", source, *ARGS, "--print-schema")
    assert status == 0
    assert sorted(tmp_path.iterdir()) == before
    assert '"color" = "category"  # guessed: 2 values: a feature each' in said.splitlines()
    assert '"y" = "number"  # guessed: the target' in said.splitlines()
    (tmp_path / "schema.toml").write_text(said)
    again = called("learn", source, *ARGS, "--print-schema", "--schema", tmp_path / "schema.toml")[1]
    assert "guessed" not in again
    runs = [learned(tmp_path / "a", source)]
    runs.append(learned(tmp_path / "b", source, "--schema", tmp_path / "schema.toml"))
    assert weights(runs[0]) == weights(runs[1])


def test_names_of_any_characters_are_written_so_that_they_are_read_again(tmp_path):
    types = dict.fromkeys(['a"b', "c\\d", "e\x7f\x1b", "f g", "ü#😀", ""], "number")
    (tmp_path / "schema.toml").write_text("\n".join(as_lines(types, {})))
    assert types_of(read_schema(tmp_path / "schema.toml")) == types


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no columns"),
        ("x = 3", "one of number, truth, time, category, hashed, label, drop"),
        ('x = "text"', "one of number"),
        ("x = 0x" + 5000 * "f", "one of number"),
        ("x = " + 5000 * "1", "is not TOML"),
        ("x", "is not TOML"),
        ("\xff", "is not TOML"),
    ],
)
def test_a_wrong_schema_is_a_sentence(tmp_path, text, words):
    (tmp_path / "schema.toml").write_bytes(text.encode("latin-1"))
    with pytest.raises(SourceError, match=words):
        read_schema(tmp_path / "schema.toml")


def test_a_schema_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "schema.toml").write_text('x = "number"\n', encoding="utf-8-sig")
    assert types_of(read_schema(tmp_path / "schema.toml")) == {"x": "number"}


@pytest.mark.parametrize(("kind", "name"), [("time", "x"), ("truth", "level"), ("time", "color")])
def test_a_type_that_the_first_rows_do_not_have_is_a_sentence(tmp_path, kind, name):
    source, schema = write(tmp_path / "rows.csv"), tmp_path / "schema.toml"
    schema.write_text(f'{name} = "{kind}"\n')
    answer = called("learn", source, *ARGS, "--schema", schema, "--to", tmp_path / "run")
    assert refused(answer)
    assert f"column '{name}' cannot be read as {kind}" in answer[2]
    for line in ('nothing = "number"', 'y = "category"', 'color = "label"'):
        schema.write_text(f"{line}\n")
        assert refused(called("learn", source, *ARGS, "--schema", schema, "--to", tmp_path / "run")), line


def test_without_a_header_columns_have_numbers_or_the_names_of_the_schema(tmp_path):
    plain = learned(tmp_path / "plain", write(tmp_path / "rows.csv"))
    source, schema = write(tmp_path / "bare.csv", header=""), tmp_path / "schema.toml"
    status = called("learn", source, "--target", "4", *ARGS[2:], "--no-header", "--to", tmp_path / "bare")[0]
    assert status == 0
    assert [column["name"] for column in layout(tmp_path / "bare")] == ["1", "2", "3"]
    schema.write_text('x = "number"\ncolor = "category"\nlevel = "number"\ny = "number"\n')
    named = learned(tmp_path / "named", source, "--no-header", "--schema", schema)
    assert weights(tmp_path / "bare") == weights(named) == weights(plain)
    options = ("--no-header", "--schema", schema)
    assert called("predict", named, source, *options)[1] == called("predict", plain, tmp_path / "rows.csv")[1]
    schema.write_text('x = "number"\n')
    answer = called("learn", source, *ARGS, "--no-header", "--schema", schema, "--to", tmp_path / "other")
    assert "has 4 columns, and the schema 1" in answer[2]


@pytest.mark.parametrize("args", [(), ("--decimal", "comma")])
def test_a_decimal_comma_gives_the_same_model(tmp_path, args):
    plain = learned(tmp_path / "plain", write(tmp_path / "rows.csv"))
    source = write(tmp_path / "comma.csv", header="x;color;level;y\n", mark=";", decimal=",")
    found = learned(tmp_path / "comma", source, *args)
    assert weights(found) == weights(plain)
    assert called("predict", found, source)[1] == called("predict", plain, tmp_path / "rows.csv")[1]


def test_a_line_that_pyarrow_cannot_read_has_a_decimal_comma_too(tmp_path):
    (tmp_path / "rows.csv").write_text("a;b\n1,5;2,25\n3;1.000,5\n4\n")
    source = open_source(tmp_path / "rows.csv", reading=Reading(decimal="comma"))
    (block,) = source.blocks()
    batch = source.decode(block, {"a": "number", "b": "number"})
    source.close()
    assert batch.columns["a"].to_pylist() == [1.5, 3.0, None]
    assert batch.columns["b"].to_pylist() == [2.25, None, None]
    assert batch.faults[1] == "column 'b': '1.000,5' is not a number"


def test_commas_between_cells_are_no_decimal_commas(tmp_path):
    source = open_source(write(tmp_path / "rows.csv", [(1, 5), (2, 7)], "a,b\n"))
    assert source.decimal == "."
    source.close()
    source = open_source(write(tmp_path / "rows.csv", [("1,5", "2.5"), ("1", "2.7")], "a;b\n", ";"))
    assert source.decimal == "."  # as many of one as of the other, or more
    source.close()
