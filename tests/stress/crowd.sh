#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Ten thousand short-lived threads, two hundred at a time, and two thousand threads at once with memory for the lanes of
# a few: every event is there or counted as lost, under the name of its thread, and memory stays within the limit.

. "$top_srcdir/tests/tap.sh"

crowd=$top_builddir/tests/programs/crowd
cd "$TMP" || exit 1

# judge NAME FILE PRODUCED: no event twice, none invented, as many as the summary counts, each under its thread's name.
# A thread id that was reused has two names; those threads are left out.
judge()
{
	local got

	is "$1: each event is recorded or lost" "$(($(events_in "$said") + $(lost_in "$said")))" "$3"
	"$RECORDER" report "$2" | awk '/ crowd: / {
			who = $1; sub(/-[0-9]+$/, "", who)
			tid = $1; sub(/.*-/, "", tid)
			match($0, /thread=[0-9]+/); thread = substr($0, RSTART + 7, RLENGTH - 7)
			match($0, /number=[0-9]+/); number = substr($0, RSTART + 7, RLENGTH - 7)
			twice += seen[thread, number]++
			n++
			if (!((tid, thread) in pair)) { pair[tid, thread]; threads[tid]++ }
			wrong[tid] += who != "t" thread
		}
		END {
			for (tid in wrong)
				if (threads[tid] == 1)
					bad += wrong[tid]
			print n + 0, twice + 0, bad + 0
		}' >got
	got=$(cat got)
	is "$1: events in the file, repeated events, events with another name" "$got" "$(events_in "$said") 0 0"
}

# within NAME TEXT KB: checks the program's report of its memory
within()
{
	ok "$1: shared memory when all are gone (${2##* } KiB)" test "${2##* }" -le "$3"
}

# ---- recorded

ok "ten thousand threads are recorded" "$RECORDER" record "$crowd" 10000 200 20
said=$err
within "recorded" "$out" $((70 * 1024))
judge "recorded" trace.dat 200000

# ---- not recorded: what its buffer holds

ok "ten thousand threads, not recorded" env 'RECORDER_ENABLE=*' RECORDER_KEEP=1 "$crowd" 10000 200 20
within "by themselves" "$out" $((70 * 1024))
size=$(du -k "$RECORDER_DIR"/*.rec | cut -f1)
ok "the buffer takes no more than its limit ($size KiB)" test "$size" -le $((70 * 1024))
ok "it is recovered" "$RECORDER" recover -o alone.dat "$RECORDER_DIR"
said=$err
judge "by themselves" alone.dat 200000

# ---- two thousand at once, in little memory

# Small lanes: with only a few shared ones, threads that lost their CPU in the middle of an event may hold all of them. But
# each of these lanes has room for all events. The first hundred threads use up the lanes one after the other. If all two
# thousand began at once, there would be no shared lane until a thread that makes one gets its CPU back: what the others
# write before that is lost, and counted.
export RECORDER_MAX_KB=32768 RECORDER_BUFFER_KB=512
ok "two thousand threads at once" "$RECORDER" record -o many.dat "$crowd" 2000 2000 8 50000 100
unset RECORDER_MAX_KB RECORDER_BUFFER_KB
said=$err
within "in 32 MiB" "$out" $((38 * 1024))
judge "in 32 MiB" many.dat 16000
is "in 32 MiB: none lost" "$(lost_in "$said")" 0

done_testing
