# SPDX-License-Identifier: GPL-2.0
"""``make demo``: an unmodified Redis whose hot pages pghot promotes.

lab/demo/ runs on the host, lab/demo/inside/ in the guest. They talk in lines of
JSON on the guest program's stdout.
"""
