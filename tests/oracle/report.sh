# SPDX-License-Identifier: MIT
# recorder report compared with trace-cmd report, byte for byte: the files that tests/golden can make, with every flag
# (made_files.sh), and files of the kernel's own events, versions 6 and 7, plain and compressed. And one thing that trace-cmd does not
# do: the commands report what is wrong with a file.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/oracle/made_files.sh"

mkdat=$top_builddir/tests/golden/mkdat

# same NAME FILE FLAG...: the two reports are equal, and ours succeeds.
same()
{
	local name=$1 file=$2
	shift 2

	trace-cmd report "$@" "$file" > "$TMP/theirs" 2> /dev/null
	if ! "$RECORDER" report "$@" "$file" > "$TMP/ours" 2> "$TMP/err"; then
		diag "$(cat "$TMP/err")"
		fail "$name"
	elif ! cmp -s "$TMP/ours" "$TMP/theirs"; then
		diag "$(diff "$TMP/ours" "$TMP/theirs" | head -10)"
		fail "$name"
	elif [ ! -s "$TMP/ours" ]; then
		diag "an empty report"
		fail "$name"
	else
		return 0
	fi
	return 1
}

for flags in "" -t -R -l "-l -R" "-l -t" -N --ts-diff "-t --ts-diff" --nodate --raw-ts -I -S "--cpu 0" "--cpu 0,2-5"; do
	bad=0
	choose
	for name in $chosen; do
		# trace-cmd 3.1.6 applies --cpu to some of the buffers only.
		case $flags/$name in
		--cpu*instances | --cpu*only*) continue ;;
		esac
		# shellcheck disable=SC2086
		same "report $flags of $name" "$TMP/$name.dat" $flags || bad=$((bad + 1))
	done
	[ $bad -eq 0 ] && pass "report $flags, $(wc -w <<< "$chosen") made files"
done

# The clock is named by the option and, in version 6, after the tables of CPUs; those of version 7's buffers do not count.
bad=0 nr=0
for name in v6-instances v7-instances; do
	for place in $(grep -abo '\[mono\]' "$TMP/$name.dat" | cut -d : -f 1); do
		for text in '[boot]' ' mono '; do
			cp "$TMP/$name.dat" "$TMP/clock.dat"
			printf '%s' "$text" | dd of="$TMP/clock.dat" bs=1 seek="$place" conv=notrunc 2> /dev/null
			nr=$((nr + 1))
			same "$name, clock '$text' at $place" "$TMP/clock.dat" || bad=$((bad + 1))
			same "$name, clock '$text' at $place, --raw-ts" "$TMP/clock.dat" --raw-ts || bad=$((bad + 1))
		done
	done
done
is "report, $nr files with clocks that differ: differences" $bad 0

for filter in 'sched/sched_switch:next_prio > 110' 'print' 'sched:common_pid == 1002' '.*:common_pid != 1001'; do
	same "filter $filter" "$TMP/v6-kernel.dat" -F "$filter" && pass "report -F '$filter'"
done
trace-cmd report -i "$TMP/v6-plain.dat" > "$TMP/theirs" 2> /dev/null
"$RECORDER" report -i "$TMP/v6-plain.dat" > "$TMP/ours"
ok "report -i FILE" cmp "$TMP/ours" "$TMP/theirs"

# ---------------------------------------------------------------------------------------------- the kernel's events

record_kernel()
{
	local tracing=/sys/kernel/tracing instance cpu

	can_trace || return
	instance=$tracing/instances/recorder-test-$$
	mkdir "$instance" || return
	# shellcheck disable=SC2064
	trap "rmdir '$instance'" EXIT
	echo mono > "$instance/trace_clock"
	for system in sched irq timer kmem workqueue syscalls signal task; do
		[ -e "$instance/events/$system/enable" ] && echo 1 > "$instance/events/$system/enable"
	done
	find "$top_srcdir/librecorder" "$top_srcdir/format" -name '*.c' -exec cat {} + > /dev/null
	(sleep 0.01 & kill -CHLD $$; wait)
	echo 0 > "$instance/events/enable"
	echo 0 > "$instance/tracing_on"
	for cpu in "$instance"/per_cpu/cpu*; do
		dd if="$cpu/trace_pipe_raw" of="$TMP/$(basename "$cpu").raw" bs=4096 iflag=nonblock 2> /dev/null
		[ -s "$TMP/$(basename "$cpu").raw" ] || : > "$TMP/$(basename "$cpu").raw"
	done
	trace-cmd restore -c -o "$TMP/head" > /dev/null 2>&1 &&
		trace-cmd restore -o "$TMP/kernel.dat" -i "$TMP/head" "$TMP"/cpu*.raw > /dev/null 2>&1
}
export -f can_trace record_kernel
export TMP
unshare -m bash -c record_kernel > /dev/null 2>&1
if [ -s "$TMP/kernel.dat" ]; then
	trace-cmd convert -i "$TMP/kernel.dat" -o "$TMP/v7.dat" --file-version 7 --compression none > /dev/null 2>&1
	trace-cmd convert -i "$TMP/kernel.dat" -o "$TMP/zstd.dat" --file-version 7 --compression zstd > /dev/null 2>&1
	trace-cmd convert -i "$TMP/kernel.dat" -o "$TMP/v6.dat" --file-version 6 > /dev/null 2>&1
	for file in kernel v7 zstd v6; do
		for flags in "" -t -R -l -N; do
			# In the short tier, flags are tried on one of the files only.
			[ "$file" = kernel ] || [ -z "$flags" ] || [ "${REPORT_FILES-}" = all ] || continue
			# shellcheck disable=SC2086
			same "kernel events, $file $flags" "$TMP/$file.dat" $flags && pass "report $flags, the kernel's events in $file"
		done
		ok "dump --validate, the kernel's events in $file" "$RECORDER" dump --validate "$TMP/$file.dat"
	done
	# On one CPU a single thread makes the lines. On several, threads make them, and they are written in order.
	cpu=$(taskset -cp $$ | sed 's/.*[^0-9]//')
	trace-cmd report "$TMP/kernel.dat" > "$TMP/theirs" 2> /dev/null
	ok "there are many batches of events" test "$(wc -l < "$TMP/theirs")" -gt 10000
	taskset -c "$cpu" "$RECORDER" report "$TMP/kernel.dat" > "$TMP/ours"
	ok "report on one CPU" cmp "$TMP/ours" "$TMP/theirs"
	good=0
	for _ in 1 2 3 4 5; do
		"$RECORDER" report "$TMP/zstd.dat" | cmp - "$TMP/theirs" && good=$((good + 1))
	done
	is "report on all CPUs, five times" "$good" 5
	run bash -c 'set -o pipefail; "$0" report "$1" | sed 5000q | tail -1' "$RECORDER" "$TMP/kernel.dat"
	is "a pipe that is closed among the events: status" "$status" 0
	is "and its last line" "$out" "$(sed -n 5000p "$TMP/theirs")"
	events=$(($(grep -vc '^CPU:[0-9]* \[.*EVENTS DROPPED\]$' "$TMP/theirs") - 1))
	run "$RECORDER" report --stats "$TMP/kernel.dat"
	like "report --stats" "$err" "^recorder report: $events events printed, [0-9]+ of them, of [0-9]+ formats, by libtraceevent$"
	run "$RECORDER" report --stats -R "$TMP/kernel.dat"
	like "--stats -R: all by libtraceevent" "$err" " $events of them, of [0-9]+ formats, by libtraceevent$"
else
	fail "recording the kernel's events (needs root and tracefs)"
fi

# --------------------------------------------------------------------------------------------------- what goes wrong

head -c 20000 "$TMP/v6-plain.dat" > "$TMP/cut.dat"
run "$RECORDER" report "$TMP/cut.dat"
is "a cut file: status" "$status" 1
like "a cut file: the reason" "$err" "^recorder report: $TMP/cut.dat: truncated: the CPU [01] data should end at [0-9]+, the file ends at 20000; the rest of the file was read$"
is "a cut file: what is there is printed" "$(printf '%s\n' "$out" | grep -v '^cpus=' | diff - <("$RECORDER" report "$TMP/v6-plain.dat") | grep '^<')" ""
ok "a cut file: some of it is there" test "$(printf '%s\n' "$out" | wc -l)" -gt 10
run "$RECORDER" dump "$TMP/cut.dat"
like "dump of a cut file" "$err" "^recorder dump: $TMP/cut.dat: truncated: "
run "$RECORDER" report /dev/null
like "no regular file" "$err" "^recorder report: /dev/null: not a regular file"
run "$RECORDER" report "$TMP"
like "a directory" "$err" "^recorder report: $TMP: a directory"
cd "$TMP" || exit 99
run "$RECORDER" report
like "the default file, absent" "$err" "^recorder report: trace.dat: cannot open: No such file"
run "$RECORDER" report -F 'sched_switch:next_pid ==' "$TMP/v6-kernel.dat"
is "a filter without right side" "$status" 2
run "$RECORDER" report --cpu 1- "$TMP/v6-kernel.dat"
like "an invalid list" "$err" "^recorder report: --cpu '1-' is not a list"
run bash -c 'set -o pipefail; "$0" report "$1" | head -1' "$RECORDER" "$TMP/v6-plain.dat"
is "a closed pipe is not a failure" "$status" 0
is "a closed pipe causes no message" "$err" ""
run bash -c '"$0" report "$1" > /dev/full' "$RECORDER" "$TMP/v6-plain.dat"
is "a full disk: status" "$status" 1
like "a full disk: the reason" "$err" "cannot write the report: No space left"

# The text of a latency tracer is made of chunks; one of them is damaged.
for name in v6-latency v7-latency v7-latency-zstd; do
	ok "$name: check" "$RECORDER" check "$TMP/$name.dat"
	ok "$name: dump --validate" "$RECORDER" dump --validate "$TMP/$name.dat"
done
python3 - "$TMP/v7-latency-zstd.dat" "$TMP/bad.dat" <<-'END'
	import sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at = data.index(b"wakeup latency")
	at = data.index(b"\x28\xb5\x2f\xfd", at)
	data[at] ^= 1
	open(sys.argv[2], "wb").write(data)
END
damage="damaged: the compressed data at [0-9]+ does not unpack"
run "$RECORDER" report "$TMP/bad.dat"
like "a damaged text: the reason" "$status $err" "^1 recorder report: $TMP/bad.dat: $damage$"
is "a damaged text: what precedes it is printed" "$(printf '%s\n' "$out" | cmp -n 8000 - <("$RECORDER" report "$TMP/v7-latency.dat"))" ""
run "$RECORDER" check "$TMP/bad.dat"
like "a damaged text: check" "$status $out" "^1 .*page at [0-9]+: $damage"
run "$RECORDER" dump --validate "$TMP/bad.dat"
like "a damaged text: dump --validate" "$status $out" "^1 .*page at [0-9]+: $damage"

# Of the two chunks of a CPU, the first one, of two pages, is damaged. The second one is read.
"$mkdat" v7-zstd > "$TMP/bad.dat"
at=$("$RECORDER" dump "$TMP/bad.dat" | sed -nE 's/^  CPU 0: [0-9]+ bytes at ([0-9]+)$/\1/p')
printf '\377' | dd of="$TMP/bad.dat" bs=1 seek=$((at + 12)) conv=notrunc 2>/dev/null
run "$RECORDER" report "$TMP/bad.dat"
like "a damaged chunk: report" "$status $err" "^1 recorder report: $TMP/bad.dat: damaged: events of 2 pages are missing"
is "a damaged chunk: what follows it is printed" "$(printf '%s\n' "$out" | grep -c '\[000\]')" 38
run "$RECORDER" check "$TMP/bad.dat"
like "a damaged chunk: check" "$status $out" "^1 .*page at [0-9]+: $damage.* 4 pages, 238 events"
run "$RECORDER" dump --pages "$TMP/bad.dat"
is "a damaged chunk: dump" "$status $(grep -c '^  page at ' <<<"$out")" "1 4"

"$mkdat" v6-lost-markers > "$TMP/markers.dat"
run "$RECORDER" dump --validate "$TMP/markers.dat"
like "validate finds losses that no viewer shows" "$out" "no viewer shows that events were lost"
run "$RECORDER" dump --records "$TMP/v6-plain.dat"
is "dump shows every event" "$(echo "$out" | grep -c ' data ')" 600
is "dump shows every page" "$(echo "$out" | grep -c '^  page at ')" 8

done_testing
