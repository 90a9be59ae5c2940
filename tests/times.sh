#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# usage: times.sh LOG...
#
# Prints the time of the tests with these logs, elapsed and processor time in seconds: of each folder, and of the ten
# slowest tests. The times of tests that ran in parallel are added up.

for log; do
	seconds=${log%.log}.seconds
	[ -e "$seconds" ] && echo "$(<"$seconds") ${log%.log}"
done | sort -rn | awk '
	function line(what, clock, cpu)
	{
		return sprintf("TIME: %7.1f s, cpu %7.1f  %s", clock, cpu, what)
	}
	{
		folder = $4
		sub("/[^/]*$", "", folder)
		clock[folder] += $1
		cpu[folder] += $2 + $3
		tests[folder]++
		all_clock += $1
		all_cpu += $2 + $3
		if (NR <= 10)
			slowest[NR] = line($4, $1, $2 + $3)
	}
	END {
		for (folder in clock)
			print line(folder ", " tests[folder] " tests", clock[folder], cpu[folder]) | "sort -k 2,2rn"
		close("sort -k 2,2rn")
		print line("in all, " NR " tests; the slowest:", all_clock, all_cpu)
		for (i = 1; i in slowest; i++)
			print slowest[i]
	}'
