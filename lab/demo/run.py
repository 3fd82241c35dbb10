# SPDX-License-Identifier: GPL-2.0
"""The demonstration on the host: prepare, boot, follow the guest's program."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from lab.demo import measured, summary
from lab.demo.looks import Looks, unpacked
from lab.demo.narrator import Narrator
from lab.errors import LabError
from lab.guest import Guest
from lab.host import programs, qemu
from lab.kernel import build
from lab.machines import load
from pghot.subsystem import LAYOUTS

# The guest's own Python, not the lab's: nothing but the standard library.
_PROGRAM = ["/usr/bin/python3", "-E", "-s", "-m", "lab.demo.inside"]

# By this name QEMU offers the root file system. Kernels with block devices come to it by
# themselves, after they looked for a disk.
_ROOT = "root=/dev/root"

_SLACK = 300.0
"""Seconds that all but waiting for promotion may take in the guest."""

# Stage -> text, time it takes under emulation on four cores and on two.
_STAGES = {
    "host": ("What this machine needs: Redis, QEMU", "seconds, or a download the first time"),
    "kernel": (
        "Linux 7.3 with pghot",
        "2 to 3 minutes the first time on 4 cores, 4 to 6 on 2, then seconds",
    ),
    "boot": ("Booting the machine", "about 10 s"),
    "fill": ("Starting Redis and filling it", "about 10 s"),
    "place": ("Moving it, stopped, to the slow node", "about 1 s"),
    "measure": ("A load on a tenth of the keys, tiering off: what is hot?", "about 8 s"),
    "promote": ("kernel.numa_balancing=2, demotion on, all else as it is", "5 to 30 s"),
    "after": ("How fast is it now, and are its data unchanged?", "about 8 s"),
    "stock": ("Another Redis, pghot switched off: NUMA balancing alone", "about 40 s"),
    "measured": (
        "Once more in guest time, where slow memory is slow",
        "2 minutes the first time on 4 cores, 4 on 2, then seconds",
    ),
}
_FOR_THE_PAGE = ("stock", "measured")


@dataclass(frozen=True)
class Settings:
    """How large the demonstration is, and on what.

    ``keys`` values of 4,000 bytes, of which the load reads ``hot_keys``;
    throughput is measured over ``seconds``; ``limit`` is how many seconds
    promotion may take.
    """

    machine: str = "three-node"
    layout: str = "default"
    flavour: str = "demo"
    keys: int = 24000
    hot_keys: int = 2400
    seconds: float = 5.0
    limit: float = 120.0

    def arguments(self, compare: bool) -> list[str]:
        """Options of the guest's program; ``compare``: with NUMA balancing, too."""
        return [
            "--keys",
            str(self.keys),
            "--hot-keys",
            str(self.hot_keys),
            "--seconds",
            str(self.seconds),
            "--limit",
            str(self.limit),
            *(["--compare"] if compare else []),
        ]


class _Follower:
    """Takes the guest program's lines as they come."""

    def __init__(self, narrator: Narrator, nodes: list[int]) -> None:
        self._narrator = narrator
        self._nodes = nodes
        self._hot = 0
        self.samples: list[dict] = []
        self.looks: dict[str, Looks] = {}
        self.result: dict | None = None
        self.error: str | None = None

    def line(self, line: str) -> None:
        """One line of JSON."""
        event = json.loads(line)
        kind = event.pop("event")
        if kind == "stage":
            self._stage(event)
        elif kind == "memory":
            self._hot = event["hot_pages"]
            self.looks[event["side"]] = Looks(unpacked(event["hot"]))
        elif kind == "sample":
            side, picture = event.pop("side"), event.pop("picture")
            self.looks[side].add(event["seconds"], unpacked(picture))
            if side == "pghot":
                self.samples.append(event)
            self._narrator.sample(event, self._hot, self._nodes)
        elif kind == "result":
            self.result = event
        else:
            self.error = event["text"]

    def _stage(self, event: dict) -> None:
        say = self._narrator
        if "nodes" in event:
            where = ", ".join(
                f"node {node}: {event['nodes'].get(str(node), 0):,}" for node in self._nodes
            )
            say.detail(f"Redis's pages are on {where}")
        if "hot_pages" in event:
            say.detail(
                f"{event['hot_pages']:,} pages of the slow node are hot; Redis serves "
                f"{round(median(event['requests_per_s'])):,} requests/s"
            )
        say.stage(*_STAGES[event["name"]])


def perform(
    settings: Settings, page: Path | None = None, begin: Callable[[], None] = lambda: None
) -> dict:
    """Run the demonstration; return what result.json is to hold.

    With ``page`` it is measured in guest time too, and that page is written. ``begin`` is called
    when all that it needs is there, and the machine is about to boot.

    Raises LabError where pghot did not promote the hot pages, and where the
    guest's kernel warned of anything.
    """
    machine = load(settings.machine)
    if settings.layout not in LAYOUTS:
        raise LabError(f"unknown layout {settings.layout!r}: choose {' or '.join(LAYOUTS)}")
    compare = page is not None
    narrator = Narrator(len(_STAGES) - (0 if compare else len(_FOR_THE_PAGE)))
    narrator.stage(*_STAGES["host"])
    programs.require("redis-benchmark")
    programs.find("redis-server")
    qemu.ensure()
    if page is not None:
        # Now, and not when all but the measuring is done.
        qemu.check_model()
    narrator.stage(*_STAGES["kernel"])
    kernel = build.ensure(settings.flavour)
    accelerator = qemu.accelerator()
    begin()
    narrator.stage(*_STAGES["boot"])
    narrator.detail(f"{machine.name}: {machine.about}; {accelerator.name}, pghot={settings.layout}")
    nodes = list(range(len(machine.nodes)))
    follower = _Follower(narrator, nodes)
    with Guest(machine, kernel, [f"pghot={settings.layout}", _ROOT]) as guest:
        ended = guest.sh(
            [*_PROGRAM, *settings.arguments(compare)],
            settings.limit + _SLACK,
            on_line=follower.line,
        )
    if follower.error:
        raise LabError(f"the demonstration failed: {follower.error}")
    if ended.status or follower.result is None:
        said = ended.stderr.strip().splitlines() or ["it said nothing"]
        raise LabError(
            f"the demonstration's program ended in the guest with status {ended.status}: {said[-1]}"
        )
    if ended.warnings:
        raise LabError(f"the guest's kernel warned: {ended.warnings[0].splitlines()[0]}")
    result = summary.summarise(follower.result, follower.samples, nodes)
    result |= {
        "machine": machine.name,
        "accelerator": accelerator.name,
        "settings": asdict(settings),
        "seconds": round(narrator.seconds, 1),
    }
    found = summary.problems(result)
    if found:
        raise LabError(
            f"pghot did not do its work: {'; '.join(found)}: run 'make test' to see what is broken"
        )
    if page is not None:
        narrator.stage(*_STAGES["measured"])
        result["measured"] = measured.perform(settings.layout, kernel.bzimage, narrator)
        result["seconds"] = round(narrator.seconds, 1)
        # Loads matplotlib, for which no other verb is to wait.
        from lab.demo.page import write as write_page

        write_page(result, follower.looks, page)
    return result
