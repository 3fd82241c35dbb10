# SPDX-License-Identifier: GPL-2.0
"""lab/toml.py: fields come checked, and errors name where they stand."""

import re

import pytest

from lab import toml
from lab.errors import LabError

TEXT = """
word = "a"
count = 3
factor = 0.5
on = true
words = ["a", "b"]
rows = [[1, 2], [3, 4]]
inner = { deep = 1 }
item = [{ deep = 1 }, { deep = 2 }]
"""
KNOWN = ("word", "count", "factor", "on", "words", "rows", "inner", "item", "absent")


def table():
    return toml.parse(TEXT, "file", KNOWN)


def test_fields_that_are_there():
    read = table()
    assert read.take("word", str) == read.value("word") == read.choice("word", "ab") == "a"
    assert read.take("on", bool) is True
    assert read.integer("count", 1, 3) == 3
    assert read.number("factor", 0.5, 1) == 0.5
    assert read.words("words") == ("a", "b")
    assert read.matrix("rows", 2, 2, 1, 4) == ((1, 2), (3, 4))
    assert read.table("inner", ["deep"]).value("deep") == 1
    assert [item.value("deep") for item in read.tables("item", ["deep"])] == [1, 2]
    assert "word" in read and "absent" not in read
    assert list(read) == list(KNOWN[:-1])


def test_defaults_are_for_what_is_not_there():
    read = table()
    assert read.take("absent", str, None) is None
    assert read.value("absent", 1) == 1
    assert read.integer("absent", 1, 2, 2) == 2
    assert read.number("absent", 0.1, 2, 1.0) == 1.0
    assert read.words("absent", ["x"]) == ("x",)
    assert read.tables("absent", ["deep"]) == []
    assert read.take("word", str, None) == "a"


@pytest.mark.parametrize(
    "ask, error",
    [
        (lambda read: read.value("absent"), "file: absent: is missing"),
        (lambda read: read.take("absent", str), "file: absent: is missing"),
        (lambda read: read.words("absent"), "file: absent: is missing"),
        (lambda read: read.table("absent"), "file: absent: is missing"),
        (lambda read: read.take("count", str), "file: count: 3 is not of type str"),
        (lambda read: read.take("count", str, None), "file: count: 3 is not of type str"),
        (lambda read: read.take("on", int), "file: on: True is not of type int"),
        (lambda read: read.integer("count", 4, 5), "file: count: 3 is not an integer from 4 to 5"),
        (lambda read: read.integer("on", 0, 5), "file: on: True is not an integer from 0 to 5"),
        (lambda read: read.integer("factor", 0, 5), "file: factor: 0.5 is not an integer"),
        (lambda read: read.number("factor", 1, 2), "file: factor: 0.5 is not from 1 to 2"),
        (lambda read: read.number("count", 1, 5), "file: count: 3 is not of type float"),
        (lambda read: read.choice("word", ("x", "y")), "file: word: 'a' is none of x, y"),
        (lambda read: read.choice("rows", ("x",)), "file: rows: [[1, 2], [3, 4]] is none of x"),
        (lambda read: read.words("word"), "file: word: 'a' is not of type list"),
        (lambda read: read.words("rows"), "file: rows: is not a list of words"),
        (lambda read: read.matrix("rows", 2, 3, 1, 4), "file: rows: is not 2 rows of 3 numbers"),
        (lambda read: read.matrix("words", 2, 1, 1, 4), "file: words: is not 2 rows"),
        (lambda read: read.matrix("rows", 2, 2, 1, 3), "file: rows[1][1]: 4 is not an integer"),
        (lambda read: read.table("word"), "file: word: is not a table"),
        (lambda read: read.table("word", "ba"), "file: word: is not a table of a, b"),
        (lambda read: read.table("inner", "ba"), "file: inner: deep: unknown field"),
        (lambda read: read.tables("word", "a"), "file: word: 'a' is not a list of tables"),
        (lambda read: read.tables("words", "a", 1), "file: words 1: is not a table of a"),
        (lambda read: read.tables("item", "a"), "file: item 0: deep: unknown field"),
    ],
)
def test_errors_name_the_field(ask, error):
    with pytest.raises(LabError, match="^" + re.escape(error)):
        ask(table())


def test_a_misspelled_field_is_not_a_missing_one():
    with pytest.raises(LabError, match="^file: wrod: unknown field, known are word$"):
        toml.parse('wrod = "a"', "file", ["word"])


def test_a_file_that_is_no_toml(tmp_path):
    path = tmp_path / "x.toml"
    path.write_bytes(b"a = 1\nb\n")
    with pytest.raises(LabError, match=r"^x.toml: Expected .*line 2, column 2.*: mend it$"):
        toml.read(path)
    with pytest.raises(LabError, match=r"^dir/x.toml: Expected"):
        toml.read(path, where="dir/x.toml")
    path.write_bytes(b'a = "\xff"')
    with pytest.raises(LabError, match=r"^x.toml: is not UTF-8 \(byte 5\): mend it$"):
        toml.read(path)
    path.unlink()
    with pytest.raises(LabError, match=f"^cannot read {re.escape(str(path))}: No such file"):
        toml.read(path)
