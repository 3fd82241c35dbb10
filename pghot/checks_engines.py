# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of copy engines: which are used, and whether they do what they should."""

from pghot.columns import percent
from pghot.engines import ALWAYS, OFF, TEST
from pghot.findings import FAIL, OK, WARN, Finding, unread, when
from pghot.settings import MIGRATE_OFFLOAD
from pghot.status import Engine, Status

#: An engine fails often with more than this share of what it was given, and with this many folios
#: at least: a few fail where a device is reset.
FAILED_SHARE = 0.01
FAILED_FOLIOS = 100


def _engines(status: Status) -> list[Engine]:
    return status.migrate_offload.engines if status.migrate_offload else []


def _for_use(status: Status) -> list[Engine]:
    """The test engine has a check of its own."""
    return [engine for engine in _engines(status) if engine.name != TEST]


def _switch(engines: list[Engine], value: str) -> str:
    """The command that writes to the switch of each."""
    return " && ".join(f"echo {value} > /{MIGRATE_OFFLOAD}/{e.name}/enabled" for e in engines)


def test_engine(status: Status) -> Finding | None:
    """Whether there is the engine that corrupts memory on demand."""
    if all(engine.name != TEST for engine in _engines(status)):
        return None
    return Finding(
        FAIL,
        "The test engine is there, which corrupts what it copies when told to.",
        "It is for tests of the kernel: never have it where data matters. The command takes it"
        " away. Better run a kernel without CONFIG_MIGRATE_OFFLOAD_TEST.",
        "echo 0 > /sys/kernel/debug/migrate_offload_test/present",
    )


def copy_engines(status: Status) -> Finding | None:
    """Whether engines are used only where they cost less than the CPU."""
    engines = _for_use(status)
    if not engines:
        return None
    if always := [engine for engine in engines if engine.use == ALWAYS]:
        return Finding(
            WARN,
            f"Used even where the CPU copies at less cost: {', '.join(e.name for e in always)}.",
            "That is what `always` in enabled does, for measurements. With 1 an engine is used"
            " where it was measured to cost less than the CPU.",
            _switch(always, "1"),
        )
    if unclear := [engine.name for engine in engines if engine.use is None]:
        path = f"{MIGRATE_OFFLOAD}/{unclear[0]}/enabled"
        return unread(status, f"Whether the copy engine {unclear[0]} is used", path)
    uses = ", ".join(f"{engine.name} {engine.use}" for engine in engines)
    all_off = all(engine.use == OFF for engine in engines)
    rest = "; the CPU copies all that migrates" if all_off else ""
    return Finding(OK, f"Copy engines: {uses}{rest}.")


def _failed_share(engine: Engine) -> float:
    """Of what it was given, 0 to 1; 0 where that is little or not known."""
    copied, failed = engine.copied_folios, engine.failed_folios
    if copied is None or failed is None or failed < FAILED_FOLIOS:
        return 0
    return failed / (copied + failed) if copied >= 0 else 0


def _uncounted(engine: Engine) -> list[str]:
    """The counters without which it is not known how much an engine fails."""
    base = f"{MIGRATE_OFFLOAD}/{engine.name}"
    return [
        f"{base}/folios-{size.folio_bytes >> 10}kB/{name}"
        for size in engine.folio_sizes
        for name, value in (("copied", size.copied_folios), ("failed", size.failed_folios))
        if value is None
    ] or [f"{base}/folios-*"]


#: What dcbm does that others do not.
_LATE = (
    " dcbm fails with all once one of its channels was late by 10 s, until"
    " /sys/module/dcbm/parameters/channels is written to again: EBUSY then says that a job still"
    " waits for it. But what such a channel was to copy the CPU does not: these pages stay where"
    " they were and cannot move, and the memory that they were to go to stays in use, until the"
    " channel is done. Neither can go offline."
)


def engine_failures(status: Status) -> Finding | None:
    """Whether an engine that is in use fails often. Counts of others are of an earlier time."""
    used = [engine for engine in _for_use(status) if engine.use not in (OFF, None)]
    if not used:
        return None
    failing = [engine for engine in used if _failed_share(engine) > FAILED_SHARE]
    if failing:
        shares = ", ".join(f"{e.name} {percent(_failed_share(e))}" for e in failing)
        late = _LATE if any(engine.name == "dcbm" for engine in failing) else ""
        return Finding(
            WARN,
            f"A copy engine failed with more than 1% of what it was given {when(status)}:"
            f" {shares}.",
            "The CPU copies that, so that nothing is lost but the time which the engine was to"
            f" save. The kernel's log may say why.{late} The command switches it off.",
            _switch(failing, "0"),
        )
    for engine in used:
        if None in (engine.copied_folios, engine.failed_folios):
            what = f"How much the copy engine {engine.name} fails"
            return unread(status, what, *_uncounted(engine))
    return Finding(OK, f"No copy engine that is in use failed often {when(status)}.")
