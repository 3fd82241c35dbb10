# SPDX-License-Identifier: GPL-2.0
"""Shows pghot at work on Redis, in the guest.

Speaks JSON, one object per line, on stdout: "stage", "memory", "sample", "result"
or "error", by the key "event". Exit status 0 only after a "result".
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from lab.demo.inside import kernel, pages
from lab.demo.inside.memory import Memory, packed
from lab.demo.inside.redis import Load, RedisError, Server
from pghot import parse
from pghot.snapshot import collect
from pghot.subsystem import is_present
from pghot.tree import Tree

WARM_UP = 1.0
"""Seconds from Redis's first answers to its load until it counts."""
POLL = 0.2
"""Seconds between two looks at where the hot pages are."""
FIRST_POLL = 0.05
"""The same, for the first two seconds: on an idle host most is over after one."""
ENOUGH = 0.9
"""Share of the hot pages in DRAM that the demonstration waits for."""
_NEARLY_ALL = 0.995
_QUIET = 5.0
"""Seconds without a further hot page in DRAM, after which no more are expected."""
_STOCK_LIMIT = 30.0
"""Seconds that NUMA balancing alone is watched for; nobody demands anything of it."""
_ARRIVED = 0.99
"""Share of Redis's pages that must be in the slow node at the start."""


class DemoError(Exception):
    """A step did not do what the rest builds on."""


@dataclass(frozen=True)
class Placement:
    """Who runs and lies where, and on what kernel."""

    fast: list[int]
    slow: int
    redis_node: int
    redis_cpus: list[int]
    load_cpus: list[int]
    kernel: str | None
    layout: str | None
    """The layout of pghot's records."""


@dataclass(frozen=True)
class Side:
    """Who promotes: "pghot", or "stock", which is NUMA balancing with pghot off.

    ``limit`` is how many seconds it is watched for.
    """

    name: str
    limit: float

    @property
    def pghot(self) -> bool:
        """Whether pghot is on."""
        return self.name == "pghot"

    @property
    def counter(self) -> str:
        """What counts the pages it promoted."""
        return "pghot_promoted_pages" if self.pghot else "pgpromote_success"

    def stage(self, name: str, **fields: object) -> None:
        """A stage of its own on pghot's side; the other one is a stage as a whole."""
        if self.pghot:
            say("stage", name=name, **fields)


def say(event: str, **fields: object) -> None:
    """One line to the host."""
    print(json.dumps({"event": event, **fields}), flush=True)


def place(tree: Tree) -> Placement:
    """Redis on the last socket, its load and this program on the first.

    The last socket is not the one that the slow node is attached to: pages
    that end there went to where they are used, and not to the nearest DRAM.
    """
    status = collect(tree)
    if not is_present(status.pghot):
        raise DemoError(f"the kernel {status.kernel} runs without pghot")
    tiers = [tier.nodes for tier in status.tiers if tier.nodes]
    if len(tiers) < 2:
        raise DemoError("the machine has one memory tier only")
    cpus = {n.node: parse.number_list(n.cpus) or [] for n in status.nodes if n.cpus}
    first, last = min(cpus), max(cpus)
    alone = first == last
    return Placement(
        fast=sorted(tiers[0]),
        slow=tiers[-1][0],
        redis_node=last,
        redis_cpus=cpus[last][-1:] if alone else cpus[last],
        load_cpus=cpus[first][:1] if alone else cpus[first][-1:],
        kernel=status.kernel,
        layout=status.pghot.layout,
    )


class Rate:
    """Requests per second, by Redis's own counter."""

    def __init__(self, server: Server) -> None:
        self._client = server.client
        self._then = (time.monotonic(), self._client.requests())

    def lap(self) -> float:
        """The rate since the last lap."""
        now = (time.monotonic(), self._client.requests())
        seconds = now[0] - self._then[0]
        served = now[1] - self._then[1]
        self._then = now
        return served / seconds


def speed_of(server: Server, load: Load, seconds: float) -> list[int]:
    """Requests per second in each of the one-second windows of ``seconds``."""
    rate, speeds = Rate(server), []
    for _ in range(max(1, round(seconds))):
        time.sleep(1)
        speeds.append(round(rate.lap()))
        load.check()
    return speeds


def put_into_slow_node(server: Server, placement: Placement) -> dict[int, int]:
    """Move Redis, standing still, to the slow node; return where it lies then."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        pages.migrate(server.pid, placement.fast, placement.slow)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    where = pages.nodes_of_all(server.pid)
    if where.get(placement.slow, 0) < _ARRIVED * sum(where.values()):
        raise DemoError(
            f"Redis's pages did not get to node {placement.slow}: they are on {where} by node"
        )
    return where


def start_load(server: Server, placement: Placement, hot_keys: int) -> Load:
    """Start the load; return when Redis feels it."""
    load = Load(server, hot_keys, placement.load_cpus)
    before, deadline = server.client.requests(), time.monotonic() + 60
    while server.client.requests() - before < 1000:
        load.check()
        if time.monotonic() > deadline:
            raise RedisError("redis-benchmark sends no requests")
        time.sleep(0.1)
    return load


def find_hot(
    server: Server, placement: Placement, hot_keys: int, seconds: float
) -> tuple[Load, Memory, list[int]]:
    """Run the load with tiering off and see which pages of the slow node it touches.

    Returns the load, still running; all pages, those hot; and what speed_of() says.
    """
    pages.forget_accesses(server.pid)
    idle = pages.IdleTracking(pages.frames(server.pid).values())
    idle.start()
    load = start_load(server, placement, hot_keys)
    time.sleep(WARM_UP)
    speeds = speed_of(server, load, seconds)
    frames = pages.frames(server.pid)
    touched = idle.touched(frames.values())
    # Pages that Redis allocated since are touched too, but lie in DRAM already.
    hot = pages.Watched(
        server.pid, [address for address, pfn in frames.items() if pfn in touched]
    ).on(placement.slow)
    if not hot:
        raise DemoError("the load touches no page of the slow node")
    return load, Memory(server.pid, frames, hot), speeds


def watch(server: Server, load: Load, placement: Placement, memory: Memory, side: Side) -> None:
    """Switch tiering on; follow the hot pages until they are in DRAM."""
    base = kernel.counters()[side.counter]
    rate = Rate(server)
    kernel.write(kernel.DEMOTION, "true")
    kernel.write(kernel.MODE, 2)
    began = time.monotonic()
    best, since = 0, began
    due = second = 0.0
    while True:
        time.sleep(max(0.0, began + due - time.monotonic()))
        load.check()
        now = time.monotonic()
        # One that comes late does not make the next ones follow it at once.
        due = max(due, now - began) + (FIRST_POLL if due < 2 else POLL)
        memory.look()
        nodes = memory.hot_nodes()
        fast = sum(nodes.get(node, 0) for node in placement.fast)
        sample = {
            "side": side.name,
            "seconds": round(now - began, 3),
            "picture": memory.picture(),
            "hot_nodes": nodes,
            "hot_fast": fast,
            "promoted": kernel.counters()[side.counter] - base,
        }
        if now - began >= second + 1:
            second = now - began
            sample["nodes"] = pages.nodes_of_all(server.pid)
            sample["requests_per_s"] = round(rate.lap())
        say("sample", **sample)
        if fast > best:
            best, since = fast, now
        done = fast >= ENOUGH * memory.hot_count
        if done and (fast >= _NEARLY_ALL * memory.hot_count or now - since > _QUIET):
            return
        if now - began > side.limit:
            if done or not side.pghot:
                return
            raise DemoError(
                f"after {side.limit:.0f} s only {fast} of {memory.hot_count} hot "
                "pages are in DRAM: if this host was busy, run it again; "
                "'make test' tells a broken kernel from a slow host"
            )


def perform(
    options: argparse.Namespace, directory: Path, placement: Placement, side: Side
) -> dict[str, object]:
    """One Redis from its start to its end; returns what is to be said of it."""
    kernel.write(kernel.MODE, 0)
    kernel.write(kernel.ENABLED, int(side.pghot))
    server = Server(directory, placement.redis_cpus)
    load = None
    try:
        server.fill(options.keys)
        digest = server.digest()
        side.stage("place")
        before = put_into_slow_node(server, placement)
        side.stage("measure", nodes=before, slow=placement.slow)
        load, memory, speeds = find_hot(server, placement, options.hot_keys, options.seconds)
        memory.look()
        hot_before = memory.hot_nodes()
        before = pages.nodes_of_all(server.pid)
        counted = kernel.counters(exact=True)
        say("memory", side=side.name, hot=packed(memory.hot), hot_pages=memory.hot_count)
        side.stage("promote", hot_pages=memory.hot_count, nodes=before, requests_per_s=speeds)
        watch(server, load, placement, memory, side)
        side.stage("after")
        speeds_after = speed_of(server, load, options.seconds) if side.pghot else []
        grown = kernel.counters(exact=True)
        delta = {name: value - counted[name] for name, value in grown.items()}
        memory.look()
        hot_after, after = memory.hot_nodes(), pages.nodes_of_all(server.pid)
        load.stop()
        if server.digest() != digest:
            raise DemoError("Redis's data changed while its pages were moved")
        return {
            "hot_pages": memory.hot_count,
            "promoted_pages": delta[side.counter],
            "residency": {"before": before, "after": after},
            "hot_residency": {"before": hot_before, "after": hot_after},
            "speeds": {"before": speeds, "after": speeds_after},
            "counters": delta,
            "redis": server.version(),
        }
    finally:
        if load is not None:
            load.stop()
        server.stop()


def demonstrate(options: argparse.Namespace, directory: Path) -> dict[str, object]:
    """The whole sequence; returns the fields of the result."""
    placement = place(Tree())
    say("stage", name="fill")
    result = perform(options, directory, placement, Side("pghot", options.limit))
    if options.compare:
        say("stage", name="stock")
        result["stock"] = perform(options, directory, placement, Side("stock", _STOCK_LIMIT))
    return result | {
        "fast_nodes": placement.fast,
        "slow_node": placement.slow,
        "redis_node": placement.redis_node,
        "keys": options.keys,
        "hot_keys": options.hot_keys,
        "kernel": placement.kernel,
        "layout": placement.layout,
    }


def main() -> int:
    """Parse, run, report; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keys", type=int, required=True)
    parser.add_argument("--hot-keys", type=int, required=True)
    parser.add_argument(
        "--seconds", type=float, required=True, help="length of each throughput measurement"
    )
    parser.add_argument(
        "--limit", type=float, required=True, help="seconds to wait for the hot pages"
    )
    parser.add_argument(
        "--compare", action="store_true", help="show NUMA balancing without pghot, too"
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="redis-") as directory:
        try:
            say("result", **demonstrate(options, Path(directory)))
        except (DemoError, RedisError, OSError) as error:
            say("error", text=str(error))
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
