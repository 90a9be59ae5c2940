#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: driver.sh TAP-DRIVER OPTION...
#
# automake's TAP driver. It also writes a file LOG.seconds beside the test's log, for tests/times.sh: how long the test
# took, and how much processor time.

for ((i = 1; i < $#; i++)); do
	next=$((i + 1))
	[ "${!i}" != --log-file ] || log=${!next}
done
TIMEFORMAT='%R %U %S'
{ time sh "$@" 2>&3; } 3>&2 2>"${log%.log}.seconds"
