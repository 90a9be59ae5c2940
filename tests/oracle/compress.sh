#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --compression: the compressed file has every event that was produced, in order, in trace-cmd's report as in
# recorder's, whether events are woven, split or raw; it is smaller, and recorder check finds nothing.

. "$top_srcdir/tests/tap.sh"

producer=$top_builddir/tests/programs/producer
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"
[ -x "$producer" ] || make -C "$top_builddir" -s tests/programs/producer >/dev/null

threads=3 events=30000

# recorded NAME OPTION...: record the producer, without losses, and compare both reports with what it made
recorded()
{
	local name=$1

	shift
	rm -f out.dat
	ok "$name" "$RECORDER" record -b 4096 -o out.dat "$@" "$producer" $threads $events
	is "$name: nothing is lost" "$(events_in "$err") $(lost_in "$err")" "$((threads * events)) 0"
	"$RECORDER" report out.dat >ours
	is "$name: each event" "$(sed -nE 's/.* count: +thread=([0-9]+) number=([0-9]+)$/\1 \2/p' ours | sort -u | wc -l)" "$((threads * events))"
	is "$name: in order" "$(awk '{ n = $NF; sub(/number=/, "", n); t = $(NF - 1); if (t in last && n + 0 <= last[t]) bad++; last[t] = n + 0 }
		END { print bad + 0 }' <(grep ' count: ' ours))" 0
	ok "$name: trace-cmd's report" cmp ours <(trace-cmd report out.dat 2>/dev/null)
	ok "$name: recorder check" "$RECORDER" check out.dat
}

recorded "not compressed" --file-version 7
plain=$(stat -c %s out.dat)
recorded "zstd" --compression zstd
like "zstd: version 7" "$("$RECORDER" dump out.dat)" "^trace.dat version 7, .*
compression zstd "
ok "zstd: a quarter at most" test "$(stat -c %s out.dat)" -lt $((plain / 4))
ok "zstd: chunks that trace-cmd reads" trace-cmd dump --validate -i out.dat
recorded "zstd:1, one buffer for each process" --compression zstd:1 --buffers split
recorded "any, raw" --compression any --raw
recorded "none" --compression none
like "none: version 6" "$("$RECORDER" dump out.dat)" "^trace.dat version 6, "

# recover has the option, too: here it reads the buffer that a program left.
RECORDER_ENABLE='test:*' RECORDER_KEEP=1 RECORDER_BUFFER_KB=4096 "$producer" 1 20000 >/dev/null
ok "recover --compression" "$RECORDER" recover --compression zstd -o out.dat producer
like "recover: version 7" "$("$RECORDER" dump out.dat)" "compression zstd "
is "recover: each event" "$("$RECORDER" report out.dat | grep -c ' count: ')" 20000
for command in recover snapshot; do
	run "$RECORDER" $command --file-version 6 --compression zstd -o out.dat
	is "$command, version 6: status" "$status" 2
	like "$command, version 6" "$err" "^recorder $command: version 6 has no compression"
done

run "$RECORDER" record -o out.dat --file-version 6 --compression zstd "$producer" 1 1
is "version 6: status" "$status" 2
like "version 6" "$err" "^recorder record: version 6 has no compression"
ok "version 6, any" "$RECORDER" record -o out.dat --file-version 6 --compression any "$producer" 1 1
like "any leaves version 6 uncompressed" "$("$RECORDER" dump out.dat)" "^trace.dat version 6, "
run "$RECORDER" record -o out.dat --compression lzo "$producer" 1 1
is "another method: status" "$status" 2
like "another method" "$err" "^recorder record: option '--compression' takes none, any, zstd"

done_testing
