#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder pages: the contents of a running program's lanes and of the kernel's rings, page by page.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"

# line NAME REGEX: a line of the last output, saved by `keep`, matches REGEX.
line()
{
	ok "$1" grep -qE "$2" shown
}

keep()
{
	printf '%s\n' "$out" >shown
}

cd "$TMP" || exit 1
export RECORDER_ENABLE='test:*' RECORDER_BUFFER_KB=64

begin_to count 100
ok "stat before" "$RECORDER" stat -P "$pid"
ok "pages of a lane" "$RECORDER" pages -P "$pid"
keep
is "no message is printed" "$err" ""
line "the meta page" '^lane 0: [0-9]+ sub-buffers of 4096 bytes; entries 100 overrun 0 read 0 '
line "the page" '^page 1: time [0-9]+ commit [0-9]+ from 0 entries 100 fill [0-9]+%$'
is "each event, decoded" "$(sed -n 's/.*seq: number=//p' shown)" "$(seq 0 99)"
ok "again" "$RECORDER" pages -P "$pid"
is "what was shown is still there" "$(grep -c seq <<<"$out")" 100
like "and unread" "$("$RECORDER" stat -P "$pid")" "entries: 100"
end "$pid"

begin_to count 100
ok "pages taken from a lane" "$RECORDER" pages -P "$pid" --take --hex
keep
like "it is reported" "$err" "count as read: no recording gets them"
line "the meta page" '^lane 0: [0-9]+ sub-buffers of 4096 bytes; entries 100 overrun 0 read 0 '
line "the page" '^page 1: time [0-9]+ commit [0-9]+ from 0 entries 100 fill [0-9]+%$'
is "each event, decoded" "$(sed -n 's/.*seq: number=//p' shown)" "$(seq 0 99)"
line "with thread and CPU" "^  [0-9]+ tid $pid \\[[0-9]+\\] seq: number=0"
line "its bytes" '^  00000: [0-9a-f]{8} '
line "the figures after it" '^lane 0: .* entries 100 overrun 0 read 100 .*; reader 1 read [0-9]+ lost events 0$'
ok "again" "$RECORDER" pages -P "$pid"
keep
is "what was taken is read" "$(grep -c seq shown)" 0
end "$pid"

# The program writes four times what the lane holds: a loss before the first page.
begin_to count 16000
ok "a lane that wrapped" "$RECORDER" pages -P victim
keep
first=$(sed -n "s/.*seq: number=//p" shown | head -1)
line "how many are gone" "^lane 0: .* entries 16000 overrun $first read 0 "
ok "the same, taken" "$RECORDER" pages -P victim --take
keep
is "begins with the same event" "$(sed -n "s/.*seq: number=//p" shown | head -1)" "$first"
first=$(sed -n "s/.*seq: number=//p" shown | head -1)
line "its first page says how many are gone" " LOST STORED from 0 .* \\[$first EVENTS DROPPED\\]$"
is "and the rest is there" "$(grep -c 'seq: number=' shown)" $((16000 - first))
end "$pid"

begin_to count 1000
ok "figures instead of pages" "$RECORDER" pages -P "$pid" --lane 0 --stats
keep
line "are printed" '^[0-9]+ pages, 1000 events, [0-9]+ bytes, 0 lost in .* us a page, .* ns an event$'
is "and no page is shown" "$(grep -c ^page shown)" 0
fails "a lane that is not there" "$RECORDER" pages -P "$pid" --lane 7
like "is named" "$err" 'there is no lane 7'
status=0
timeout 60 "$RECORDER" pages -P "$pid" --follow >/dev/full 2>full || status=$?
is "pages that cannot be printed: status" "$status" 1
like "pages that cannot be printed: message" "$(<full)" "cannot write to standard output"
left=$("$RECORDER" pages -P "$pid" --stats | sed -nE 's/^[0-9]+ pages, ([0-9]+) events, .*/\1/p')
ok "after pages that cannot be printed, the rest is not taken" test "$left" -gt 500
"$RECORDER" pages -P "$pid" --follow >follow &
pages=$!
wait_until grep -q '^lane 0' follow
kill "$pid"
wait "$pages"
is "following ends with the program" $? 0

fails "neither program nor kernel" "$RECORDER" pages
like "is reported" "$err" 'either -P and a running program, or --kernel'
fails "no program of this name" "$RECORDER" pages -P nobody-has-this-name
like "is reported, too" "$err" "no running program 'nobody-has-this-name'"

# The kernel, in an instance of this test, in a tracefs that is mounted for it alone.
kernel()
{
	unshare -m "$BASH" -c '
		mkdir -p tracefs && mount -t tracefs tracefs tracefs || exit 99
		instance=$PWD/tracefs/instances/recorder-pages-$$
		mkdir "$instance" || exit 99
		trap "rmdir \"$instance\"" EXIT
		echo "number 17" >"$instance/trace_marker"
		"$1" pages --kernel --instance "$instance" --cpu 99999 2>no_cpu
		"$1" pages --kernel --instance "$instance" >looked || exit
		"$1" pages --kernel --instance "$instance" --take
		status=$?
		"$1" pages --kernel --instance "$instance" >again || exit
		"$1" pages --kernel --instance nobody-has-this-name 2>no_instance
		exit $status' kernel "$RECORDER"
}
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null || ! grep -q tracefs /proc/filesystems; then
	skip "pages of the kernel" "needs root and tracefs"
else
	run kernel
	keep
	is "pages of the kernel" "$status" 0
	line "its event, decoded" 'tid [0-9]+ print: .*number 17'
	line "in a page" '^page [0-9]+: time [0-9]+ commit [0-9]+ from 0 entries 1 '
	is "looking took nothing" "$(grep -c 'number 17' looked shown again | tr '\n' ' ')" "looked:1 shown:1 again:0 "
	like "a CPU that is not there" "$(cat no_cpu)" "option '--cpu'"
	like "an instance that is not there" "$(cat no_instance)" 'cannot read cpu 0: No such file or directory'
fi

done_testing
