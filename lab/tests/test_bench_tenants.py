# SPDX-License-Identifier: GPL-2.0
"""lab/bench/tenants.py: programs that share a run."""

import io

import pytest
from rich.console import Console

from lab.bench import description, documents, page, tenants
from lab.tests import bench_fakes


def row(contender, *scores, **fields):
    """One with a server and a scan of these scores."""
    names = zip(("server", "scan"), scores)
    parts = [{"name": name, "score": score, "unit": "MB/s"} for name, score in names]
    return bench_fakes.row("tenants", contender, detail={"tenants": parts}, **fields)


def of(rows):
    return {
        (row["contender"], tenant["name"]): tenant["recovered"]
        for row in rows
        for tenant in row["detail"]["tenants"]
    }


def test_each_tenant_has_its_own_bounds():
    # What a unit takes: the server 1 and 2, the scan 10 and 5.
    rows = [row("fast", 1.0, 0.1), row("slow", 0.5, 0.2), row("stock-2", 1 / 1.25, 0.1)]
    tenants.bound(rows)
    shares = of(rows)
    assert shares["fast", "server"] == 1 and shares["slow", "server"] == 0
    assert shares["stock-2", "server"] == pytest.approx(0.75)
    # Beside a slow server the scan gets more done: that is no bound of it.
    assert shares["stock-2", "scan"] is None


def test_without_bounds_there_is_no_share():
    rows = [row("stock-2", 1.0, 0.0), row("fast", 1.0, 1.0, variation="overlap")]
    tenants.bound(rows)
    assert set(of(rows).values()) == {None}
    failed = bench_fakes.row("tenants", "slow", error="no", failed=True, detail=None)
    tenants.bound([failed])
    assert tenants.table([failed, bench_fakes.row("redis", "fast")]) is None


def test_the_table_has_a_line_for_each():
    rows = [row("pghot-default", 459000.0, 2520.0), row("slow", 0.5, 3.0)]
    server = rows[0]["detail"]["tenants"][0]
    server.update(unit="requests/s", promoted=16384, demoted=13369)
    server.update(p50_us=1.5, p99_us=2.5, p999_us=33.25)
    tenants.bound(rows)
    out = io.StringIO()
    Console(file=out, width=120).print(tenants.table(rows))
    lines = out.getvalue().splitlines()
    # By the short name, as in the other tables.
    (line,) = [line for line in lines if "pghot-default" in line]
    assert "hint_fault" not in line
    assert "server" in line and "33.25" in line and "16,384" in line and "13,369" in line
    assert "459,000 requests/s" in line and sum("scan" in line for line in lines) == 2
    assert "…" not in out.getvalue()


def test_who_pays_is_in_the_row_of_who_gains():
    """R of the row is the server's, which may be at the scan's cost."""
    ours = "pghot-default"
    rows = [row("fast", 2.0, 4.0), row("slow", 1.0, 3.0), row(ours, 1.8, 2.4)]
    rows.append(row("stock-2", 1.5, 2.5))
    for one, share in zip(rows, (1.0, 0.0, 0.89, 0.67)):
        one["recovered"] = share
    tenants.bound(rows)
    experiments = description.experiments()

    def line():
        text = documents.summary(rows, experiments, bench_fakes.ORIGIN)
        return next(line for line in text.splitlines() if line.startswith("| `tenants`"))

    assert line().endswith("fills DRAM; the scan beside it: R -1.00, stock Linux -0.80 |")
    # R of the row is a mean of several seeds, a tenant's is of the first.
    several = [{**one, "seconds_by_seed": [one["seconds"]] * 3} for one in rows]
    text = documents.summary(several, experiments, bench_fakes.ORIGIN)
    assert "; the scan beside it (first seed): R -1.00, stock Linux -0.80 |" in text
    # Without bounds of its own it has its score.
    rows[1]["detail"]["tenants"][1]["score"] = 5.0
    tenants.bound(rows)
    assert line().endswith("; the scan beside it: 2.40 MB/s, stock Linux 2.50 MB/s |")
    del rows[3]
    assert line().endswith("; the scan beside it: 2.40 MB/s, stock Linux - |")
    alone = bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    assert "beside it" not in documents.summary(alone, experiments, bench_fakes.ORIGIN)


def test_each_is_on_the_page_too(tmp_path):
    ours = "pghot-default"
    rows = [row("fast", 2.0, 4.0), row("slow", 1.0, 3.0), row(ours, 1.5, 2.4)]
    rows[2]["detail"]["tenants"][0].update(p50_us=1.5, p99_us=2.5, p999_us=33.25)
    tenants.bound(rows)
    known, path = description.experiments("tenants"), tmp_path / "p.html"
    page.write(rows, known, description.contenders(), path)
    text = path.read_text(encoding="utf-8")
    cells = "".join(f"<td>{cell}</td>" for cell in ("0.67", "1.50 MB/s", "1.50", "2.50", "33.25"))
    assert f'<td>pghot-default</td><td class="text">server</td>{cells}' in text
    assert '<td>pghot-default</td><td class="text">scan</td><td>-1.00</td>' in text
    # Where there are none, there is no table of them.
    alone = bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    page.write(alone, description.experiments("redis"), description.contenders(), path)
    assert "tenant" not in path.read_text(encoding="utf-8").partition("<body")[2]


def test_each_is_in_the_documents_too():
    rows = [row("fast", 2.0, 3.0), row("slow", 1.0, 4.0), row("stock-2", 1.5, 3.5)]
    server = rows[2]["detail"]["tenants"][0]
    server.update(p50_us=1.5, p99_us=2.5, p999_us=33.25, promoted=16384, demoted=13369)
    tenants.bound(rows)
    text = documents.results(rows, bench_fakes.ORIGIN)
    told = "0.67 | 1.50 MB/s | 1.50 | 2.50 | 33.25 | 16,384 | 13,369"
    assert f"| tenants | stock-2 | server | {told} |" in text
    assert "| tenants | stock-2 | scan | - | 3.50 MB/s | - | - | - | - | - |" in text
    assert "| tenants | slow | server | 0.00 |" in text
    head, rule = text[text.index("| experiment |") :].splitlines()[:2]
    assert "p50 | p99 | p99.9 us" in head and rule.count("|") == head.count("|")
    assert rule.startswith("| --- | --- | --- | ---: |")
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("|"))
    other = bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    assert "| experiment |" not in documents.results(other, bench_fakes.ORIGIN)
