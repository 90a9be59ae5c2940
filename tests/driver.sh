#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: driver.sh TAP-DRIVER OPTION...
#
# automake's TAP driver, and beside the log of the test a file LOG.seconds: how long the test took, and how much of the
# processors, for tests/times.sh.

for ((i = 1; i < $#; i++)); do
	next=$((i + 1))
	[ "${!i}" != --log-file ] || log=${!next}
done
TIMEFORMAT='%R %U %S'
{ time sh "$@" 2>&3; } 3>&2 2>"${log%.log}.seconds"
