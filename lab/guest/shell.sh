#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The login shell of `make shell`: first brings hotplugged memory online.
. "${BASH_SOURCE[0]%/*}/online.sh"
online_memory
exec bash "$@"
