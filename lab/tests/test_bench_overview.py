# SPDX-License-Identifier: GPL-2.0
"""lab/bench/overview.py and marks.py: the picture of where each contender stands."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from lab import machines, paths
from lab.bench import description, documents, marks, overview, published
from lab.bench.matrix import cell
from lab.tests import bench_fakes
from lab.tests.results_shown import table

SVG = "{http://www.w3.org/2000/svg}"


def drawn(rows, **options):
    """The picture, which is there."""
    text = overview.draw(rows, **options)
    assert text is not None
    return text


def places(text):
    """Where each mark of the rows is, by what a pointer over it is told."""
    found = {}
    for group in ElementTree.fromstring(text).iter(f"{SVG}g"):
        title = group.find(f"{SVG}g/{SVG}title")
        if title is not None and ":" in (title.text or ""):
            found[title.text] = float(re.findall(r"[-\d.]+", group.get("transform", ""))[0])
    return found


def bounds(text):
    return [
        float(path.get("d", "").split()[0].lstrip("M"))
        for path in ElementTree.fromstring(text).iter(f"{SVG}path")
        if path.get("class") == "bound"
    ]


def test_marks_stand_between_the_bounds_in_order():
    text = drawn(bench_fakes.rows("redis", pghot=0.9, stock=0.5, damon=-0.3))
    slow, fast = bounds(text)
    at = places(text)
    half = at["redis, stock-2: 0.50"]
    assert half == pytest.approx((slow + fast) / 2, abs=0.1)
    assert at["redis, damon: -0.30"] < slow < half < at["redis, pghot-default: 0.90"] < fast
    assert ">harm<" in text


def test_what_is_off_the_scale_is_at_its_edge_with_an_arrow():
    text = drawn(bench_fakes.rows("redis", pghot=0.9, stock=-7.0, damon=-9.0))
    at = places(text)
    assert at["redis, stock-2: -7.00"] == at["redis, damon: -9.00"]
    assert text.count("◂") == 2 and "▸" not in text
    assert ">-7.00</text>" in text
    assert "▸" in drawn(bench_fakes.rows("redis", pghot=1.4))


def test_zero_has_no_sign():
    text = drawn(bench_fakes.rows("redis", pghot=-0.0012, stock=0.0))
    assert ">0.00<" in text and "-0.00" not in text


def test_the_figures_beside_are_of_pghot_and_the_stock_kernel():
    text = drawn(bench_fakes.rows("redis", pghot=0.93, stock=0.8, damon=0.1))
    assert re.findall(r'class="num[^"]*">([^<]*)', text) == ["0.93", "0.80"]


def test_without_a_share_there_is_no_picture():
    assert overview.draw([bench_fakes.row("movepages-4k", "stock-2")]) is None
    assert overview.standalone([], "") is None


def test_the_file_is_of_the_main_experiments_and_stands_alone():
    rows = bench_fakes.rows("random-file", pghot=0.5) + bench_fakes.rows("redis", pghot=0.9)
    text = overview.standalone(rows, "make bench <A&B>")
    assert text is not None
    assert "random-file" not in text
    assert "1 of 2 experiments. make bench &lt;A&amp;B&gt;" in text
    # Two colour schemes and two widths, and nothing from elsewhere.
    assert "prefers-color-scheme: dark" in text and "max-width" in text
    assert "href" not in text and "var(" not in text and "url(" not in text
    ElementTree.fromstring(text)
    only = overview.standalone(bench_fakes.rows("random-file", pghot=0.5), "")
    assert only is not None and "random-file" in only and "workloads." not in only


def test_the_main_experiments_are_there_and_have_bounds():
    known = {read.name: read for read in description.experiments()}
    assert all(known[name].fast for name in overview.MAIN)


def test_what_the_layouts_differ_by_is_measured_with_both():
    """Pages that belong to sockets: by both layouts. More seeds than one have that in which
    nothing of 2 MiB belongs to one socket, and one in which it does."""
    layouts = [read for read in description.contenders() if read.cmdline and read.balancing == 2]
    layouts = [read for read in layouts if read.name.startswith("pghot")]
    layouts = [read for read in layouts if read.part not in ("named", "alone")]
    assert len(layouts) == 2
    owned = {read.name: read for read in description.experiments() if read.fast == "local"}
    assert {"graph500", "sockets", "sockets-mixed"} <= set(owned)
    for read in owned.values():
        for layout in layouts:
            part = description.take_part(read, layout, quick=False)
            assert read.variant or part, (read.name, layout.name)
    for name in ("graph500", "sockets-mixed"):
        assert owned[name].seeds > 1 and name in overview.MAIN


def test_what_stands_for_all_is_of_each_class():
    """Not of the easiest one alone, and no more than what one cares to wait for."""
    known = {read.name: read for read in description.experiments()}
    main = [known[name] for name in overview.MAIN]
    counted = {
        decides: sum(read.decides == decides and not read.variant for read in main)
        for decides in description.DECIDES
    }
    assert counted["full"] >= counted["first"] and counted["none"]
    assert {"gups-full", "readers-7", "hostile-alternate", "tenants"} <= set(overview.MAIN)
    taking = [one for one in description.contenders() if one.name in (*marks.MAIN, *marks.BOUNDS)]
    assert runs(main, taking) <= 170


def made(experiments, contenders, quick=False):
    """Runs that these have, each as the experiment that it is made for and how many it is: of the
    best placement two. What variants have in common with what they are variants of, as bounds, is
    made once."""
    found: dict[str, tuple[description.Experiment, int]] = {}
    for read in experiments:
        for one in contenders:
            if (read.quick or not quick) and description.take_part(read, one, quick=quick):
                times = 1 + (one.placement == "best")
                for run in cell(read, one, quick=quick).runs:
                    found.setdefault(run.key, (read, times))
    return list(found.values())


def runs(experiments, contenders, quick=False):
    """How many runs these have."""
    return sum(times for _, times in made(experiments, contenders, quick))


_OF_SLOW = 0.75
"""What a run takes of the time of its slow bound, in the mean of the whole matrix: 0.749 in the
tables."""
_HOST_S = 6.0
"""What a second of guest time takes on two cores: 11.9 s of one core."""


def reckoned_s(experiments, contenders):
    """Guest time of all runs, by the published T_slow. What no table has yet, as an experiment
    that was just added, does not count."""
    slow = {
        name: float(re.findall(r"\(([\d.]+)", line["delay (T_slow, scans)"])[0])
        for name, line in table("delay (T_slow, scans)").items()
    }
    seconds = 0.0
    for read, times in made(experiments, contenders):
        known = slow.get(read.variant.of, 0) * read.long_times if read.is_long else 0
        seconds += times * (known or slow.get(read.name, 0)) * _OF_SLOW
    return seconds


def test_a_run_that_a_variant_shares_is_reckoned_once():
    """As the matrix makes it once."""
    both = description.experiments("pmbench-normal,pmbench-normal-limited")
    bounds = [one for one in description.contenders() if one.name in ("fast", "slow")]
    assert runs(both, bounds) == runs(both[:1], bounds) == runs(both[1:], bounds) > 0


def test_the_matrix_is_as_large_as_one_cares_to_wait_for():
    """Some two hours on two cores, and a quarter of one with QUICK=1. What is added counts once its
    time is published."""
    known, all_of_them = description.experiments(), description.contenders()
    assert reckoned_s(known, all_of_them) * _HOST_S <= 130 * 60
    assert runs(known, all_of_them) <= 490
    assert runs(known, all_of_them, quick=True) <= 95


def test_the_pages_say_how_large_the_matrix_is():
    every, all_of_them = description.experiments(), description.contenders()
    text = " ".join((paths.ROOT / "docs/bench.md").read_text(encoding="utf-8").split())
    said = re.search(r"`make bench` makes some (\d+) runs, (\d+) minutes on 2 cores", text)
    assert said
    # It need not be changed with each experiment that is added.
    assert int(said[1]) == pytest.approx(runs(every, all_of_them), rel=0.1)
    assert int(said[2]) == pytest.approx(reckoned_s(every, all_of_them) * _HOST_S / 60, rel=0.1)
    readme = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    took = re.search(r"One that was measured took (\d+) minutes", text)
    assert took and 0.8 < int(took[1]) / int(said[2]) < 1.25
    hours, half = divmod(round(int(took[1]) / 30), 2)
    assert f"| `make bench` | {hours}{' and a half' if half else ''} hours |" in readme


def test_what_is_published_has_the_seeds_that_its_command_makes():
    """And `make bench` by itself no others: it leaves some out."""
    entries = published.read(published.BENCH)
    known = {one.name: one for one in description.contenders()}
    plain = {read.name: read.seeds for read in description.experiments()}
    for read in description.experiments(published=True):
        assert plain[read.name] in (1, read.seeds)
        for row in entries[read.name]["rows"]:
            seeds = len(cell(read, known[row["contender"]]).runs)
            assert len(row["seconds_by_seed"] or []) == seeds, (read.name, row["contender"])


def test_the_page_says_how_many_runs_are_published():
    every, all_of_them = description.experiments(published=True), description.contenders()
    text = " ".join((paths.ROOT / "docs/bench.md").read_text(encoding="utf-8").split())
    said = re.search(r"with `DOCS=1`: some (\d+) runs, (\d+) minutes", text)
    assert said and int(said[1]) == pytest.approx(runs(every, all_of_them), rel=0.05)
    assert int(said[2]) == pytest.approx(reckoned_s(every, all_of_them) * _HOST_S / 60, rel=0.05)
    fewer = sum(a.seeds < b.seeds for a, b in zip(description.experiments(), every, strict=True))
    assert fewer == 7 and "Seven variants have one seed there" in text


def test_the_page_says_what_long_ones_are():
    long_ones, all_of_them = description.long_ones(), description.contenders()
    text = " ".join((paths.ROOT / "docs/bench.md").read_text(encoding="utf-8").split())
    said = re.search(r"They are some (\d+) runs, ([\d,]+) s of guest time", text)
    assert said
    assert int(said[1]) == pytest.approx(runs(long_ones, all_of_them), rel=0.2)
    seconds = int(said[2].replace(",", ""))
    assert seconds == pytest.approx(reckoned_s(long_ones, all_of_them), rel=0.1)
    hours = re.search(r"that is (\w+) to (\w+) hours on two cores, which is reckoned", text)
    words = {"two": 2, "three": 3, "four": 4, "five": 5}
    assert hours and words[hours[1]] <= seconds * _HOST_S / 3600 <= words[hours[2]]
    whole = {read.name: read for read in description.experiments()}
    assert {whole[read.variant.of].long_times for read in long_ones if read.variant} == {10, 20}


# Programs that shuffle places or turns by the seed.
BY_CHANCE = {"pmbench", "sqlite", "tenants", "gups", "redis_load", "regions", "patterns"}


_UNRESOLVED = "no kernels that are alike take part: with more seeds nobody is called better either"

# Of these programs' experiments those that have one seed all the same, and why. It only shrinks.
ONE_SEED = {
    "hostile-stride": _UNRESOLVED,
    "pmbench-pareto": _UNRESOLVED,
}


def test_where_chance_decides_there_are_several_seeds():
    """Three where it is told who is ahead, two in regions, which takes long. Other variants have as
    many as their file says."""
    known = [read for read in description.experiments() if read.workload[0] in BY_CHANCE]
    assert {read.workload[0] for read in known} == BY_CHANCE
    whole = {read.name: read.seeds for read in known if not read.variant}
    assert {name for name, seeds in whole.items() if seeds == 1} == set(ONE_SEED)
    for read in known:
        if read.name in (*overview.MAIN, "sqlite"):
            assert read.seeds >= (2 if read.workload[0] == "regions" else 3), read.name


def test_who_has_one_seed_has_the_reason_that_is_said_of_it():
    (control,) = (one for one in description.contenders() if one.part == "control")
    for name in ONE_SEED:
        (read,) = description.experiments(name)
        assert not description.take_part(read, control, quick=False), name


def test_what_stands_for_all_where_dram_is_full_has_a_control():
    """Without one nobody knows what chance makes there."""
    known = {read.name: read for read in description.experiments()}
    (control,) = (one for one in description.contenders() if one.part == "control")
    full = [known[name] for name in overview.MAIN if known[name].decides == "full"]
    assert all(description.take_part(read, control, quick=False) for read in full)
    # One of them is the field of all, and one leaves no CPU idle.
    assert any(read.wide for read in full)
    assert any(one.variant and one.variant.name in description.NO_SPARE for one in full)


def test_what_the_short_table_leaves_out_is_named_where_pghot_is_worse():
    known = description.experiments()
    rows = [
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.5),
        *bench_fakes.rows("sqlite", seeds=3, pghot=0.4, stock=0.5, twin=0.5),
        *bench_fakes.rows("hostile-triad", pghot=-0.1, stock=-0.2),
        *bench_fakes.rows("gups", pghot=0.9, stock=0.5),
    ]
    short = documents.short(rows, known, bench_fakes.ORIGIN, ["redis"])
    said = "slower than where nothing moves, among the others: `sqlite`, `hostile-triad`."
    assert said in " ".join(short.split())
    better = documents.short(rows, known, bench_fakes.ORIGIN, ["redis", "sqlite", "hostile-triad"])
    assert "among the others" not in " ".join(better.split())


def test_scores_without_bounds_have_a_control_in_the_matrix():
    (control,) = (one for one in description.contenders() if one.part == "control")
    unbounded = [read for read in description.experiments() if read.unbounded]
    beside = {
        read.name: read.seeds
        for read in unbounded
        if description.take_part(read, control, quick=False)
    }
    assert beside == {"compaction-idle": 3, "movepages-4k": 3}


def test_what_others_lose_has_a_control():
    """Where its figures are published."""
    (control,) = (one for one in description.contenders() if one.part == "control")
    busy = [read for read in description.experiments() if read.variant and read.variant.hogs]
    beside = {read.name for read in busy if description.take_part(read, control, quick=False)}
    full = {"regions-busy", "gups-full-busy", "hostile-alternate-busy"}
    assert {"random-anon-busy"} | full <= beside
    assert beside & set(overview.MAIN)


def test_what_is_said_to_find_overhead_can():
    """Slow memory is accessed, so hint faults come. Above 1 GiB of free DRAM any of them
    promotes. Until the README has a row for it, there is none to look at."""
    read = {one.name: one for one in description.experiments()}["idle"]
    assert read.control and read.start == read.fast
    for words in (read.workload, read.quick):
        said = dict(pairwise(words))
        assert 0 < int(said["--rare-mib"]) <= int(said["--cold-mib"])
        assert said["--cold-place"] != read.start
        # Each page once in some ten hot thresholds, by 140 ns an access.
        pages = int(said["--rare-mib"]) * 256 / int(said["--threads"])
        again_ms = pages * int(said["--every"]) * 140e-6
        assert 8 < again_ms / read.scale.hot_ms() < 16
    assert machines.load(read.machine).nodes[0].size < 1 << 30
    text = (paths.ROOT / "README.md").read_text(encoding="utf-8")
    for row in re.findall(r"^\| `idle` \|(.*)", text, re.MULTILINE):
        cells = row.split("|")[:2]
        assert all(re.search(r"-?\d\.\d\d", cell) for cell in cells), row


def test_every_contender_has_a_mark_of_its_own():
    names = [read.name for read in description.contenders()]
    known = marks.of(names)
    assert set(known) == set(names) - set(marks.BOUNDS)
    looks = [(mark.colour, mark.shape) for mark in known.values()]
    assert len(set(looks)) == len(looks)
    assert len({mark.label for mark in known.values()}) == len(known)
    assert known["pghot-default"].rank == 0 and known["stock-2"].rank == 1
    assert marks.headline(names) == "pghot-default"


def test_links_are_to_the_parts_of_the_page():
    text = drawn(bench_fakes.rows("redis", pghot=0.9), links=True)
    assert '<a href="#redis">' in text
