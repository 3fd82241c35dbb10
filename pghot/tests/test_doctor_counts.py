# SPDX-License-Identifier: GPL-2.0
"""`pghot doctor` on counters: what drops, delays or refuses most, since boot or in a time."""

import pytest

from pghot.tests.doctor import problems
from pghot.tests.fakes import PGHOT

DEMOTION = "sys/kernel/mm/numa/demotion_enabled"
RATE_LIMIT = "proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"


def pass_time(monkeypatch, busy) -> None:
    """Only sleeping takes time; `busy` is what the machine does meanwhile."""
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds
        busy(seconds)

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", lambda: now[0])


@pytest.mark.parametrize(
    "dirty, ready, verdict",
    [(5000, 10000, "warn"), (4999, 10000, "ok"), (999, 1000, "ok"), (1000, 1000, "warn")],
)
def test_one_reason_dominates(verdicts, cxl, dirty, ready, verdict):
    cxl.counters(pghot_skip_dirty=dirty, pghot_skip_stale=0, pghot_ready=ready)
    assert verdicts(cxl)["dropped-pages"] == verdict


def test_dominating_reason_is_explained(finding, cxl):
    cxl.counters(pghot_skip_dirty=8000)
    found = finding(cxl, "dropped-pages")
    assert (
        found["summary"]
        == "80.0% of the records that were ready since boot were dropped for one reason:"
        " pghot_skip_dirty."
    )
    assert found["explanation"].startswith(
        "The page belongs to a file and is dirty. It is considered again"
    )
    assert found["command"] == "sysctl -w vm.dirty_background_ratio=5"


@pytest.mark.parametrize("meant", ["asked", "disabled", "offline"])
def test_what_is_to_be_dropped_hides_no_reason(finding, cxl, meant):
    cxl.counters(pghot_ready=10000, pghot_skip_policy=4300, **{f"pghot_skip_{meant}": 5600})
    assert finding(cxl, "dropped-pages")["summary"].startswith("97.7% of the records")


def test_nothing_ready_is_said(finding, cxl):
    cxl.counters(pghot_ready=0, pghot_skip_stale=0)
    assert finding(cxl, "dropped-pages")["summary"] == "No record became ready since boot."


@pytest.mark.parametrize(
    "refused, recorded, verdict", [(5000, 4999, "warn"), (5000, 5000, "ok"), (999, 0, "ok")]
)
def test_a_policy_refuses_most(verdicts, finding, cxl, refused, recorded, verdict):
    cxl.counters(pghot_recorded=recorded, pghot_refused_policy=refused)
    assert problems(verdicts(cxl)) == (
        {"refused-pages": "warn", "exit": 1} if verdict == "warn" else {"exit": 0}
    )
    assert "--balancing" in finding(cxl, "refused-pages")["explanation"] or verdict == "ok"


def test_an_interval_tells_of_now(run, cxl, monkeypatch):
    """A long good time hides nothing, and one that was bad is over."""
    now = {"pghot_ready": 10**9, "pghot_moved": 10**9, "pghot_skip_stale": 0}
    cxl.counters(**now)

    def later(seconds):
        cxl.age(seconds).counters(pghot_ready=10**9 + 9000, pghot_skip_policy=8000)

    monkeypatch.setattr("time.sleep", later)
    assert run("doctor", machine=cxl).status == 0
    found = run("doctor", "--json", "--interval", 3, machine=cxl).json
    said = {check["id"]: check for check in found["checks"]}["dropped-pages"]
    assert (said["verdict"], found["seconds"] is None) == ("warn", False)
    assert said["summary"].startswith("88.9% of the records that were ready in the last ")
    monkeypatch.setattr("time.sleep", cxl.age)
    assert run("doctor", "--interval", 3, machine=cxl).status == 0


def test_what_was_ready_before_and_is_dropped_now_is_told(run, cxl, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda s: cxl.age(s).counters(pghot_skip_policy=8000))
    found = run("doctor", "--json", "--interval", 3, machine=cxl).json
    said = {check["id"]: check for check in found["checks"]}["dropped-pages"]
    assert said["verdict"] == "warn" and said["summary"].startswith("100.0% of the records")


@pytest.mark.parametrize("moved, verdict", [(9000, "warn"), (9500, "ok")])
def test_records_that_nobody_comes_to_are_told(run, cxl, monkeypatch, moved, verdict):
    """A thread that hangs delays nothing: it counts nothing at all."""
    cxl.write(f"{PGHOT}/node2/ready", 50000)
    pass_time(monkeypatch, lambda s: cxl.age(s).counters(pghot_moved=moved))
    found = run("doctor", "--json", "--interval", 3, machine=cxl).json
    said = {check["id"]: check for check in found["checks"]}["delayed-pages"]
    assert (said["verdict"], "50,000 ready records wait" in said["summary"]) == (verdict, True)
    assert (said["command"] == "cat /proc/77/stack") == (verdict == "warn")


@pytest.mark.parametrize("interval, verdict", [(3, "unknown"), (20, "warn")])
def test_who_waits_for_the_timer_does_not_hang(run, cxl, monkeypatch, interval, verdict):
    cxl.write(f"{PGHOT}/node2/ready", 50000).write(f"{PGHOT}/period_ms", 10000)
    pass_time(monkeypatch, cxl.age)
    found = run("doctor", "--json", "--interval", interval, machine=cxl).json
    said = {check["id"]: check for check in found["checks"]}["delayed-pages"]
    assert said["verdict"] == verdict
    assert said["summary"].startswith("50,000 ready records wait, and none was delayed in the last")
    if verdict == "unknown":
        assert said["command"] == "pghot doctor --interval 20"
        assert "period_ms (10000)" in said["explanation"]


def test_records_that_wait_for_no_reason_are_not_called_none(finding, cxl):
    cxl.write(f"{PGHOT}/node2/ready", 50000).counters(pghot_delay_target_full=0)
    said = finding(cxl, "delayed-pages")["summary"]
    assert said.startswith("50,000 ready records wait, and none was delayed since boot")


def test_what_the_operator_did_on_purpose_is_no_problem(verdicts, cxl):
    cxl.counters(pghot_skip_offline=9000)
    assert problems(verdicts(cxl)) == {"exit": 0}


def test_what_waits_for_its_next_access_is_no_problem(verdicts, cxl):
    """Of pages that page tables find each is asked about, and ready twice."""
    cxl.counters(pghot_skip_asked=9000, pghot_ready=10000)
    assert problems(verdicts(cxl)) == {"exit": 0}


@pytest.mark.parametrize(
    "waiting, limited, verdict", [(5000, 400, "warn"), (5000, 0, "ok"), (900, 400, "ok")]
)
def test_ready_pages_pile_up(verdicts, cxl, waiting, limited, verdict):
    cxl.write(f"{PGHOT}/node2/ready", waiting)
    cxl.counters(pghot_delay_target_full=0, pghot_delay_rate_limit=limited)
    assert verdicts(cxl)["delayed-pages"] == verdict


@pytest.mark.parametrize(
    "backoff, other, verdict", [(1, 400, "ok"), (1, 700, "warn"), (0, 400, "warn")]
)
def test_what_gains_nothing_may_wait(verdicts, finding, cxl, backoff, other, verdict):
    """That is what backoff is for. While it is off, what was counted is of an earlier time."""
    cxl.write(f"{PGHOT}/target0/rate_kib_s", 256)
    cxl.write(f"{PGHOT}/node2/ready", 10000).write(f"{PGHOT}/backoff", backoff)
    cxl.counters(pghot_delay_target_full=other, pghot_delay_no_gain=500)
    found = finding(cxl, "delayed-pages")
    assert found["verdict"] == verdict and verdicts(cxl)["exit"] == (verdict == "warn")
    said = "10,000 ready records wait: promotion gains nothing (backoff)."
    if verdict == "warn":
        said = "10,000 ready records wait; the main reason since boot is pghot_delay_target_full."
    assert found["summary"] == said


@pytest.mark.parametrize("rate, verdict", [(10 << 10, "warn"), (256, "ok"), ("?", "ok")])
def test_what_gained_nothing_earlier_hides_no_reason(finding, run, cxl, rate, verdict):
    """The kernel counts it only while a target takes less than the rate limit."""
    cxl.write(f"{PGHOT}/node2/ready", 50000).write(RATE_LIMIT, 10)
    cxl.counters(pghot_delay_no_gain=90000, pghot_delay_rate_limit=80000)
    cxl.write(f"{PGHOT}/target0/rate_kib_s", 10 << 10).write(f"{PGHOT}/target1/rate_kib_s", rate)
    found = finding(cxl, "delayed-pages")
    assert found["verdict"] == verdict
    main = "the main reason since boot is pghot_delay_rate_limit."
    assert found["summary"].endswith(main) == (verdict == "warn")
    reasons = run("status", "--json", machine=cxl).json["reasons"]
    (advice,) = (r["advice"] for r in reasons if r["name"] == "pghot_delay_no_gain")
    assert ("these are of an earlier time" in advice) == (verdict == "warn")


def test_what_gains_nothing_in_an_interval_is_of_now(run, cxl, monkeypatch):
    cxl.write(f"{PGHOT}/node2/ready", 50000)
    monkeypatch.setattr("time.sleep", lambda s: cxl.age(s).counters(pghot_delay_no_gain=9000))
    found = run("doctor", "--json", "--interval", 3, machine=cxl).json
    said = {check["id"]: check for check in found["checks"]}["delayed-pages"]
    assert said["summary"].endswith("promotion gains nothing (backoff).")


@pytest.mark.parametrize(
    "demotion, command, words",
    [
        ("false", f"echo true > /{DEMOTION}", "Demotion is off: with it"),
        ("true", None, "the lower tier is full as well"),
        ("?", f"echo true > /{DEMOTION}", "Where demotion is off, switch it on"),
    ],
)
def test_pages_that_are_evicted_for_others_are_told(finding, run, cxl, demotion, command, words):
    cxl.write(f"{PGHOT}/node2/ready", 5000).write(DEMOTION, demotion)
    cxl.counters(pghot_delay_no_gain=90000, pghot_refused_no_gain=90000)
    for node in (0, 1):
        for name, value in (("gain_percent", 1), ("cache_gain_percent", 1), ("rate_kib_s", 256)):
            cxl.write(f"{PGHOT}/target{node}/{name}", value)
    found = finding(cxl, "delayed-pages")
    assert (found["verdict"], found["command"]) == ("warn", command)
    assert "soon read again" in found["explanation"] and words in found["explanation"]
    advised = [
        r for r in run("status", "--json", machine=cxl).json["reasons"] if "no_gain" in r["name"]
    ]
    assert [(r["command"], words in r["advice"]) for r in advised] == [(command, True)] * 2


def test_unknown_reason_that_dominates_is_named(finding, cxl):
    cxl.counters(pghot_skip_moonlight=9000)
    assert "pghot_skip_moonlight" in finding(cxl, "dropped-pages")["summary"]
