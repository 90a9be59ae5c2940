#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record -m: the last events of each CPU are kept, in files of limited size; the others are shown as lost.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/calls.sh"

can_trace || skip_all "this kernel has no tracefs"
tracing=/sys/kernel/tracing
all=100000

# Checks that numbers count up to $all without a gap; prints the number of wrong ones, and the number of all.
counted()
{
	numbers "$1" | awk -v all=$all '{ n[NR] = $1 } END {
		for (i = 1; i <= NR; i++)
			bad += n[i] != sprintf("%x", all - NR + i - 1)
		print bad + 0, NR
	}'
}

# The sum of the losses that trace-cmd shows.
dropped()
{
	trace-cmd report -i "$1" 2>/dev/null | sed -n 's/^CPU:[0-9]* \[\([0-9]*\) EVENTS DROPPED\]$/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

side_size()
{
	stat -c %s "$1" 2>/dev/null || echo 0
}

# can_map: whether this kernel maps rings
can_map()
{
	local instance=$tracing/instances/recorder-test-$$ status=0

	mkdir "$instance" || return
	python3 -c 'import ctypes, mmap, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
ring = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
sys.exit(libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ, mmap.MAP_SHARED, ring, 0) == ctypes.c_void_p(-1).value)
' "$instance/per_cpu/cpu0/trace_pipe_raw" || status=$?
	rmdir "$instance"
	return $status
}
map_is_missing=
can_map || map_is_missing="this kernel does not map rings"
size_is_missing=
[ -e "$tracing/buffer_subbuf_size_kb" ] || size_is_missing="this kernel has sub-buffers of one size"

# ---- the last ones, in each of the ways and with sub-buffers of two sizes; the ring is large enough for all

for way in splice read mmap; do
	for size in 4 16; do
		for kb in 1 256; do
			name="$way, $size KB, -m $kb"
			missing=
			[ $way != mmap ] || missing=$map_is_missing
			[ $size = 4 ] || missing=${missing:-$size_is_missing}
			if [ -n "$missing" ]; then
				skip "$name" "$missing"
				continue
			fi
			run "$RECORDER" record -b 16384 --drain $way --subbuf-size $size -m $kb -o last.dat -e raw_syscalls:sys_enter \
				-f "$mine" taskset -c 0 "./$calls" $all
			told=$err
			is "$name: status" "$status" 0
			read -r bad nr <<<"$(counted last.dat)"
			is "$name: the last ones, without a gap" "$bad" 0
			# 68 bytes an event. The last page may have few of them.
			ok "$name: $nr events" test "$nr" -gt 0 -a "$nr" -le $(((kb > size ? kb : size) * 1024 / 68))
			# A page that the drain read while it was being written came in two parts, which take a place each.
			parts=1
			[ $way != read ] || parts=3
			[ $kb = 1 ] || ok "$name: as many as there is room for" test "$nr" -gt $(((kb - parts * size) * 1024 / 69 - 8))
			is "$name: the others are lost before them" "$(dropped last.dat)" $((all - nr))
			like "$name: the summary has their number" "$told" \
				"$((all - nr)) older than the last events of each CPU, which are kept \(-m\)"
			like "$name: as lost" "$told" "recorded $nr kernel events from [0-9]+ CPUs?; $((all - nr)) lost"
			"$RECORDER" report -i last.dat >ours
			trace-cmd report -i last.dat >theirs 2>/dev/null
			ok "$name: as trace-cmd has it" cmp ours theirs
			ok "$name: all counts add up" "$RECORDER" verify last.dat
		done
	done
done

# ---- fewer than that: nothing is lost

run "$RECORDER" record -m 4096 -o few.dat -e raw_syscalls:sys_enter -f "$mine" taskset -c 0 "./$calls" 1000
is "fewer events than there may be" "$(numbers few.dat | wc -l) $(dropped few.dat)" "1000 0"
unlike "the summary is as without -m" "$err" "-m"

# ---- with a ring that is too small, too: what the kernel lost counts as well

run "$RECORDER" record -b 8 -m 64 -o both.dat -e raw_syscalls:sys_enter -f "$mine" taskset -c 0 "./$calls" $all
lost=$(sed -n 's/^recorded [0-9]* kernel events from .*; \([0-9]*\) lost$/\1/p' <<<"$err")
is "a small ring: each event is there or lost" "$(($(numbers both.dat | wc -l) + lost))" $all
ok "a small ring: all counts add up" "$RECORDER" verify both.dat

# ---- compressed, and in a buffer of its own

run "$RECORDER" record -m 64 --compression zstd -o apart.dat -e sched_switch -B calls -e raw_syscalls:sys_enter -f "$mine" \
	taskset -c 0 "./$calls" $all
is "-B and zstd: status" "$status" 0
read -r bad nr <<<"$(counted apart.dat)"
is "-B and zstd: the last ones" "$bad" 0
ok "-B and zstd: $nr events" test "$nr" -gt 900 -a "$nr" -le 964
ok "-B and zstd: all counts add up" "$RECORDER" verify apart.dat

# ---- beside programs, whose events all stay

run "$RECORDER" record -m 64 -o woven.dat -e raw_syscalls:sys_enter "$top_builddir/tests/programs/producer" 1 1000
like "beside a program: its events" "$err" "recorded 1000 events"

# ---- the side file is no larger; a recorder that is killed leaves the last ones

"$RECORDER" record -q -m 256 -o killed.dat -e raw_syscalls:sys_enter -f "$mine" taskset -c 0 "./$calls" 0 >log 2>&1 &
recorder=$!
# The number of pages that were overwritten, in the file's head.
went_round()
{
	[ "$(od -An -tu8 -j16 -N8 killed.dat.spool.cpu0 2>/dev/null || echo 0)" -ge 200 ]
}
wait_until went_round
child=$(cat /proc/$recorder/task/$recorder/children)
kill -KILL $recorder
# shellcheck disable=SC2086 # one or none
kill -KILL $child
wait $recorder 2>/dev/null
is "killed: the size of the side file" "$(side_size killed.dat.spool.cpu0)" $((260 * 1024))
run "$RECORDER" recover killed.dat.spool
is "killed: recovered" "$status" 0
nr=$(numbers killed.dat | wc -l)
ok "killed: $nr events" test "$nr" -gt 59 -a "$nr" -le 3855
before=
gaps=0
while read -r number; do
	[ -z "$before" ] || [ $((16#$number)) = $((16#$before + 1)) ] || gaps=$((gaps + 1))
	before=$number
done < <(numbers killed.dat)
is "killed: they follow one another" "$gaps" 0
first=$((16#$(numbers killed.dat | head -1)))
is "killed: those before them are lost" "$(dropped killed.dat)" "$first"
is "killed: nothing is left" "$(echo killed*)" killed.dat

# The recorder is killed after it noted which pages it overwrites, and before it writes the first of them. It writes by
# two splices: one from the ring, then one to the file. A turn overwrites half of the places at most.
for when in 40 41; do
	name="killed at splice $when"
	if ! strace -qq -o trace -e inject=write:delay_enter=1:when=1 true 2>/dev/null; then
		skip "$name" "strace is not installed, or cannot trace here"
		continue
	fi
	rm -f killed.dat*
	"$RECORDER" record -q --drain splice -m 256 -o killed.dat -e raw_syscalls:sys_enter -f "$mine" taskset -c 0 "./$calls" 0 >log 2>&1 &
	recorder=$!
	wait_until went_round
	child=$(cat /proc/$recorder/task/$recorder/children)
	strace -qq -f -o trace -e trace=splice -e inject=splice:signal=KILL:when=$when -p "$recorder"
	# shellcheck disable=SC2086 # one or none
	kill -KILL $child
	wait $recorder 2>/dev/null
	is "$name: it is killed" $? 137
	run "$RECORDER" recover killed.dat.spool
	is "$name: recovered" "$status" 0
	nr=$(numbers killed.dat | wc -l)
	ok "$name: $nr events" test "$nr" -gt 1800
done

# ---- what is refused

run "$RECORDER" record -m 64 -o no.dat true
is "-m without the kernel's events" "$status" 2
like "-m without the kernel's events: the message" "$err" "-m limits what is kept of the kernel's events: it needs -e or -p"
run "$RECORDER" record -m 0 -o no.dat -e sched true
is "-m 0" "$status" 2

done_testing
