# SPDX-License-Identifier: GPL-2.0
"""What the demonstration's numbers say. Pure: no guest, no files."""

from __future__ import annotations

from statistics import median

SHARE = 0.9
"""Share of the hot pages whose arrival in DRAM is timed and demanded."""


def seconds_to(samples: list[dict], hot_pages: int, share: float = SHARE) -> float | None:
    """When ``share`` of the hot pages were in DRAM for the first time.

    Seconds since tiering was switched on, as exact as the samples are close.
    None if that never was, or if there are no hot pages.
    """
    if hot_pages <= 0:
        return None
    for sample in samples:
        if sample["hot_fast"] >= share * hot_pages:
            return sample["seconds"]
    return None


def by_node(counts: dict[str, int], nodes: list[int]) -> dict[str, int]:
    """Pages of every node, those with none included, in the nodes' order."""
    return {str(node): counts.get(str(node), 0) for node in nodes}


def pages_on(counts: dict[str, int], nodes: list[int]) -> int:
    """Pages on any of ``nodes``."""
    return sum(counts.get(str(node), 0) for node in nodes)


def summarise(guest: dict, samples: list[dict], nodes: list[int]) -> dict:
    """The guest's result as result.json has it.

    ``nodes`` are the machine's; page counts are of Redis's anonymous memory.
    """
    result = dict(guest)
    for name in ("residency", "hot_residency"):
        result[name] = {when: by_node(counts, nodes) for when, counts in guest[name].items()}
    result["throughput"] = {when: round(median(speeds)) for when, speeds in guest["speeds"].items()}
    result["seconds_to_90_percent"] = seconds_to(samples, guest["hot_pages"])
    result["timeline"] = samples
    return result


def problems(result: dict) -> list[str]:
    """Why this run does not show pghot promoting hot pages; empty if it does."""
    found = []
    fast = pages_on(result["hot_residency"]["after"], result["fast_nodes"])
    hot, promoted = result["hot_pages"], result["promoted_pages"]
    if hot <= 0:
        found.append("the load touched no page of the slow node")
    if promoted <= 0:
        found.append("pghot promoted no page")
    if result["seconds_to_90_percent"] is None or fast < SHARE * hot:
        found.append(f"only {fast} of {hot} hot pages are in DRAM")
    elif promoted < SHARE * fast:
        found.append(f"{fast} hot pages are in DRAM, but pghot promoted only {promoted}")
    return found
