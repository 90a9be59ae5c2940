#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# record --proc-map: the file has the maps of the recorded processes, as trace-cmd stores them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/told.sh"
cd "$TMP" || exit 1

# expected PID: the text that trace-cmd stores of a process, from its /proc/PID/maps
expected()
{
	local lines

	lines=$(awk 'NF >= 6 { split($1, at, "-"); sub(/^0+/, "", at[1]); sub(/^0+/, "", at[2]); print at[1], at[2], $6 }' \
		"/proc/$1/maps")
	printf '%x %x %s\n%s\n' "$1" "$(wc -l <<<"$lines")" "$(readlink "/proc/$1/exe")" "$lines"
}

# stored FILE: the texts that a file has
stored()
{
	"$RECORDER" dump --options "$1" | sed -nE 's/^ *procmaps +id 10 +([0-9]+) bytes at ([0-9]+) .*/\1 \2/p' |
		while read -r size at; do
			tail -c +$((at + 1)) "$1" | head -c "$size" | tr -d '\0'
		done
}

# ---- a running program

start_told
"$RECORDER" record -q --daemonize --proc-map -o out.dat -P "$pid" 2>log
daemon=$(pgrep -f -- "--proc-map -o out.dat -P $pid")
tell go
kill "$daemon"
wait_until is_gone "$daemon"
is "a running program's" "$(stored out.dat)" "$(expected "$pid")"
is "its events" "$(counts out.dat)" "get 10 idle 10 put 10"
end_told

# ---- a command that ends

cat >show <<'END'
#!/bin/bash
# The map of cat itself, which asks for no memory after it has begun to read: a shell's heap grows at any command.
echo go | "$1"
exec cat /proc/self/maps >maps
END
chmod +x show
run "$RECORDER" record -q --proc-map -o end.dat ./show "$told"
is "a command's map at its end" "$(stored end.dat | tail -n +2)" \
	"$(awk 'NF >= 6 { split($1, at, "-"); sub(/^0+/, "", at[1]); sub(/^0+/, "", at[2]); print at[1], at[2], $6 }' maps)"
like "with its program" "$(stored end.dat | head -n 1)" '^[0-9a-f]+ [0-9a-f]+ /.*cat$'
is "it has its child's events" "$(counts end.dat)" "get 10 idle 10 put 10"
run "$RECORDER" record -q --proc-map -o exit.dat sh -c 'echo go | "$0"; exit 7' "$told"
is "a command: its status" "$status" 7
run "$RECORDER" record -q --proc-map -o killed.dat sh -c 'echo go | "$0"; kill -TERM $$' "$told"
is "a command that a signal ends: its status" "$status" 143
like "and its map" "$(stored killed.dat)" ' /.*/libc'
run "$RECORDER" record -q --proc-map -o none.dat ./nosuch
is "a command that cannot be run" "$status" 127

# Signals reach a command that is traced, and so do stops.
cat >signals <<'END'
#!/bin/bash
trap 'echo go | "$1"; echo handled; exit 0' USR1
kill -USR1 $$
END
chmod +x signals
is "a signal reaches its handler" "$("$RECORDER" record -q --proc-map -o signal.dat ./signals "$told")" $'go\nhandled'

# ---- at a system call of the recorder

# stopped_at CALL NUMBER ARGUMENT...: starts a recording that stops itself after its CALL of this number; $recorder
stopped_at()
{
	: >calls
	env --default-signal=INT strace -D -qq -o calls -e trace="$1" -e inject="$1":signal=STOP:when="$2" \
		"$RECORDER" record --proc-map "${@:3}" &>log &
	recorder=$!
	wait_until grep -q 'stopped by SIGSTOP' calls
}

# has_ended NAME STATUS: the recorder goes on, and ends with this status
has_ended()
{
	local status=0

	kill -CONT $recorder
	wait_until is_gone $recorder || kill -KILL $recorder
	wait $recorder || status=$?
	is "$1" "$status" "$2"
}

if ! strace -qq -o calls -e inject=getpid:signal=CONT:when=1 true 2>/dev/null; then
	skip "signals before the command is executed" "strace is not installed, or cannot trace here"
	skip "the end of the recording" "strace is not installed, or cannot trace here"
	skip "a program that ends when its recording begins" "strace is not installed, or cannot trace here"
else
	# The traced process stops at a signal, even if it ignores it.
	for signal in WINCH TSTP INT; do
		stopped_at ptrace 1 -q -o early.dat sh -c 'echo go | "$0"' "$told"
		child=$(pgrep -P $recorder)
		kill -$signal "$child"
		[ $signal != TSTP ] || kill -CONT "$child"
		has_ended "SIG$signal before the command is executed" $([ $signal = INT ] && echo 130 || echo 0)
	done
	if [ "$(id -u)" = 0 ]; then
		stopped_at ptrace 1 -q -o early.dat -e sched "$told"
		kill -INT "$(pgrep -P $recorder)"
		has_ended "SIGINT before the command is executed, with the kernel's events" 130
		ok "which are recorded" test -s early.dat
		is "the recorder's own map is not stored as the command's" "$(stored early.dat)" ""
	else
		skip "SIGINT before the command is executed, with the kernel's events" "not root"
	fi
	mkfifo idle
	exec 6<>idle
	strace -D -q -o calls -e trace=ptrace,getdents64,pwritev "$RECORDER" record -q --proc-map -o go.dat "$told" \
		<idle >log 2>&1 6>&- &
	recorder=$!
	wait_until is_attached go.dat.spool "$told" 2
	kill -TERM $recorder
	wait_until grep -q '^+++ exited' calls
	wait $recorder
	is "the command continues before the directory is searched for the last time" \
		"$(sed -n '/PTRACE_DETACH/,$p' calls | grep -oE '^(getdents64|pwritev)' | head -n 1)" getdents64
	exec 6>&-
	start_told
	# The third write to the spool is that of the program, whose events are on then.
	stopped_at pwritev 3 -o short.dat -P "$pid"
	ok "a program is attached to" is_attached short.dat.spool "$told"
	tell go
	end_told
	has_ended "the program has ended before its map is taken" 0
	is "its events are recorded" "$(counts short.dat)" "get 10 idle 10 put 10"
	unlike "nothing is reported about it" "$(<log)" "no running program"
fi

# ---- the recording ends first

mkfifo words
exec 6<>words
"$RECORDER" record -q --proc-map -o first.dat "$told" <words >log 2>&1 &
recorder=$!
is_started()
{
	child=$(pgrep -P $recorder)
}
wait_until is_started
echo go >&6
wait_until is_attached first.dat.spool "$told"
kill -TERM $recorder
wait $recorder
is "a recording that ends first: the status" $? 143
ok "the command keeps running" kill -0 "$child"
is "and is not traced any more" "$(awk '/^TracerPid/ { print $2 }' "/proc/$child/status")" 0
kill "$child"

# ---- the first thread, which alone is traced, does not stop

cat >threads.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_t first;

/* exec: this thread executes another program; otherwise it outlives the first thread. */
static void *run(void *exec)
{
	if (exec)
		execlp("sh", "sh", "-c", "echo >begun; exec sleep 1000", (char *)NULL);
	pthread_join(first, NULL);
	fclose(fopen("begun", "w"));
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pthread_t thread;

	(void)argc;
	first = pthread_self();
	pthread_create(&thread, NULL, run, argv[1]);
	pthread_exit(NULL);
}
END
# shellcheck disable=SC2086
ok "a program with two threads" $CC $CFLAGS_FOR_TEST threads.c -pthread -o threads
for how in exec ""; do
	rm -f begun
	"$RECORDER" record -q --proc-map -o "threads$how.dat" ./threads $how &>log &
	recorder=$!
	wait_until test -e begun
	child=$(pgrep -P $recorder)
	kill -TERM $recorder
	ok "${how:-pthread_exit}: the recording ends" wait_until is_gone $recorder || kill -KILL $recorder
	status=0
	wait $recorder || status=$?
	is "${how:-pthread_exit}: its status" "$status" 143
	kill -KILL "$child"
done

# ---- command lines

run "$RECORDER" record --proc-map -e sched_switch
is "of no process: the status" "$status" 2
like "and the message" "$err" '^recorder record: --proc-map is for'

done_testing
