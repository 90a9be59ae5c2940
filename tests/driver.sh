#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: driver.sh TAP-DRIVER OPTION...
#
# automake's TAP driver. For tests/times.sh it also writes a file LOG.seconds beside the test's log, with the elapsed
# time and the processor time.

for ((i = 1; i < $#; i++)); do
	next=$((i + 1))
	[ "${!i}" != --log-file ] || log=${!next}
done
TIMEFORMAT='%R %U %S'
{ time sh "$@" 2>&3; } 3>&2 2>"${log%.log}.seconds"
