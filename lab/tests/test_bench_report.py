# SPDX-License-Identifier: GPL-2.0
"""The digest of all rows: whether two runs came out the same."""

import copy
import hashlib
import json

import pytest

from lab.bench import report
from lab.tests import bench_fakes

ROWS = bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.55)


def test_rows_that_are_the_same_have_the_same_digest(tmp_path):
    known = report.digest(ROWS)
    assert len(known) == 16 and int(known, 16) >= 0
    # What comes from the cache has other key orders, and lists for tuples.
    other = [dict(sorted(row.items())) for row in copy.deepcopy(ROWS)]
    other[0]["seconds_by_seed"] = tuple(other[0]["seconds_by_seed"])
    assert report.digest(other) == known
    texts = []
    for cores in (2, 64):
        report.write(ROWS, {"seconds": cores * 1.5, "cores": cores}, tmp_path / "results.json")
        texts.append(json.loads((tmp_path / "results.json").read_text(encoding="utf-8")))
    assert [text["digest"] for text in texts] == [known, known]
    assert texts[0]["host"] != texts[1]["host"]
    assert report.digest(texts[0]["rows"]) == known


def test_it_is_what_the_document_says():
    """So that other programs can make it."""
    told = [{name: value for name, value in row.items() if name != "timeline"} for row in ROWS]
    assert told != ROWS
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    assert report.digest(ROWS) == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert report.digest_told(ROWS) == (
        f"Digest of all rows: {report.digest(ROWS)}; two runs of the same programs have the same."
    )


@pytest.mark.parametrize(
    "change",
    [
        # A nanosecond.
        lambda rows: rows[2].update(seconds=rows[2]["seconds"] + 1e-9),
        lambda rows: rows[2]["detail"].update(words=1),
        lambda rows: rows[4].update(error="it broke", failed=True),
        lambda rows: rows.pop(),
        lambda rows: rows.reverse(),
    ],
)
def test_another_digit_anywhere_is_another_digest(change):
    rows = copy.deepcopy(ROWS)
    change(rows)
    assert report.digest(rows) != report.digest(ROWS)
