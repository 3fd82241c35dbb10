# SPDX-License-Identifier: GPL-2.0
from lab.demo.inside import process

MAPS = """\
55d0c1a00000-55d0c1a42000 r-xp 00001000 fe:01 393301                     /usr/bin/redis-check-rdb
55d0c2e00000-55d0c2e21000 rw-p 00000000 00:00 0                          [heap]
7f2a40000000-7f2a44000000 rw-p 00000000 00:00 0
7ffd2c1e0000-7ffd2c201000 rw-p 00000000 00:00 0                          [stack]
7ffd2c3a1000-7ffd2c3a5000 r--p 00000000 00:00 0                          [vvar]
7ffd2c3a5000-7ffd2c3a7000 r-xp 00000000 00:00 0                          [vdso]
"""

NUMA_MAPS = """\
55d0c1a00000 default file=/usr/bin/redis-check-rdb mapped=66 active=0 N0=66 kernelpagesize_kB=4
55d0c2e00000 default heap anon=33 dirty=33 N0=3 N2=30 kernelpagesize_kB=4
7f2a40000000 default anon=16384 dirty=16384 N1=84 N2=16300 kernelpagesize_kB=4
7ffd2c1e0000 default stack anon=4 dirty=4 N0=4 kernelpagesize_kB=4
7ffd2c3a1000 default
"""


def test_anonymous_areas_are_the_process_own_data():
    assert process.anonymous_areas(MAPS) == [
        (0x55D0C2E00000, 0x55D0C2E21000),
        (0x7F2A40000000, 0x7F2A44000000),
        (0x7FFD2C1E0000, 0x7FFD2C201000),
    ]


def test_pages_by_node_counts_the_given_areas_only():
    starts = {start for start, _ in process.anonymous_areas(MAPS)}
    assert process.pages_by_node(NUMA_MAPS, starts) == {0: 7, 1: 84, 2: 16330}
    assert process.pages_by_node(NUMA_MAPS, set()) == {}


def test_this_process():
    with open("/proc/self/maps") as maps:
        areas = process.anonymous_areas(maps.read())
    assert areas and all(start < end for start, end in areas)
