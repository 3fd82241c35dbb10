# SPDX-License-Identifier: GPL-2.0
"""How a kernel is configured so that it has an option."""

#: What an option depends on and `make olddefconfig` does not switch on: where one is missing, that
#: drops the option and says nothing. A kernel of 64 bits with pages of 4 KiB goes without saying.
NEEDS = {
    "NUMA_BALANCING": ("NUMA_MIGRATION",),
    "PGHOT": ("NUMA_BALANCING", "NUMA_MIGRATION", "MEMORY_HOTPLUG", "MEMCG"),
}


def configure(option: str) -> str:
    """The command that switches `option` on in a source tree, and shows whether it is."""
    names = " ".join(f"-e {name}" for name in (*NEEDS[option], option))
    return f"scripts/config {names} && make olddefconfig && grep CONFIG_{option}=y .config"
