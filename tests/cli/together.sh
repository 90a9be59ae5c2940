#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recorders that start together: each looks for what killed recorders have left, and may find the new directory of another
# one before its recorder has locked it. Then that recorder makes another directory.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1
producer=$top_builddir/tests/programs/producer
command -v strace >/dev/null || skip_all "strace is not installed"
strace -qq -o trace -e inject=flock:signal=CONT:when=1 true 2>/dev/null || skip_all "strace cannot trace here"

# begin_stopped CALL: starts a recorder that stops itself after each such call; $recorder
begin_stopped()
{
	: >calls
	stops=0
	strace -D -y -o calls -e trace="$1" -e inject="$1":signal=STOP "$RECORDER" record -q "$producer" 1 10 >log 2>&1 &
	recorder=$!
}

# is_at TEXT: it has stopped after a call whose line has the text; after others it continues. For wait_until
is_at()
{
	local stopped

	stopped=$(grep -c 'stopped by SIGSTOP' calls)
	[ "$stopped" -gt $stops ] || return
	stops=$stopped
	[[ $(grep '^[a-z]*(' calls | tail -n 1) == *"$1"* ]] && return
	kill -CONT $recorder
	return 1
}

goes_on()
{
	kill -CONT $recorder 2>/dev/null
	is_gone $recorder
}

# recorded NAME: it continues, succeeds, has recorded all events, and left nothing
recorded()
{
	local status=0

	ok "$1: it ends" wait_until goes_on
	wait $recorder || status=$?
	is "$1: it succeeds" "$status $(grep -v '^produced' log)" "0 "
	is "$1: the events" "$("$RECORDER" report trace.dat | grep -c ' count: ')" 10
	is "$1: nothing is left" "$(ls run)" ""
	rm -f trace.dat*
}

begin_stopped /^mkdir
ok "a recorder has made its directory" wait_until is_at '/session-'
exec {lock}<"$(echo run/session-*)"
ok "another one has it locked" flock -n $lock
recorded "locked"
exec {lock}<&-

begin_stopped /^mkdir
ok "a recorder has made its directory, too" wait_until is_at '/session-'
ok "another one removes it" rmdir run/session-*
recorded "removed"

begin_stopped flock
ok "a recorder has opened and locked its directory" wait_until is_at '/run/session-'
ok "which another one has just removed" rmdir run/session-*
recorded "removed after it was opened"

done_testing
