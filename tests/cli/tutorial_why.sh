#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/TUTORIAL-WHY.md: every command does what the text states, with what `make install` installs. The program is linked with SQLite,
# which the build needs, too.

. "$top_srcdir/tests/tap.sh"
# shellcheck disable=SC2034 # for tutorial.sh
tutorial=$top_srcdir/docs/TUTORIAL-WHY.md
. "$top_srcdir/tests/tutorial.sh"
# An order may wait for the disk or for a CPU longer than a quarter of the valuation: then record the cure again. This
# replaces the function of tests/tutorial.sh.
# shellcheck disable=SC2016
alarm=$(sed -n 's/^\$ recorder sql --list trace.dat "\(SELECT iif(max(o.dur) .*\)"$/\1/p' "$tutorial" | head -n 1)
export alarm
recorder()
{
	local status

	for _ in {1..5}; do
		status=0
		command recorder "$@" || status=$?
		[[ "$*" = "record "*"./shop own" ]] || break
		[ "$(command recorder sql --list trace.dat "$alarm")" != fine ] || break
	done
	return $status
}

tutorial_run

done_testing
