#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The cost of an unrecorded program that is linked with librecorder, compared with its twin that is not: no descriptor,
# at most 64 KiB of memory, no thread, no signal handler, no output. The program must not lose its CPU at its start.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
cat >linked.c <<'END'
#include <librecorder/event.h>
#include <stdio.h>
#include <unistd.h>
REC_EVENT(test, one, u64(number));
REC_EVENT(test, two, u64(number), string(text));
int main(void)
{
	REC(test, one, 1);
	REC(test, two, 2, "two");
	puts("started");
	fflush(stdout);
	return getchar() == EOF;
}
END
sed -e '/librecorder/d' -e '/^REC_EVENT/d' -e '/REC(/d' linked.c >plain.c
# shellcheck disable=SC2086
ok "compile" $CC $CFLAGS_FOR_TEST -o linked linked.c $LDADD_FOR_TEST -lpthread
# shellcheck disable=SC2086
ok "compile the twin" $CC $CFLAGS_FOR_TEST -o plain plain.c

# Starts $1, and waits until it is in main(); it ends at the end of its input. Its pid in $pid.
begin()
{
	mkfifo "$1.in"
	"./$1" <"$1.in" >"$1.out" 2>"$1.err" &
	pid=$!
	exec {input}>"$1.in"
	wait_until test -s "$1.out"
}

finish()
{
	exec {input}>&-
	wait "$pid"
}

# memory PID: the memory of the process in KiB: that of its buffer, and other memory that it has written to.
memory()
{
	awk '/^[0-9a-f]+-/ { buffer = /\.rec$/; written = $2 ~ /w/ }
		/^Rss:/ && buffer || /^Private_Dirty:/ && written && !buffer { n += $2 } END { print n + 0 }' "/proc/$1/smaps"
}

# The data that the kernel has about the process and that must be the same for both programs.
state()
{
	sed -n -e 's/^\(Threads\|SigBlk\|SigIgn\|SigCgt\):[[:space:]]*/\1 /p' "/proc/$1/status"
}

descriptors()
{
	find "/proc/$1/fd" -mindepth 1 | wc -l
}

# A program that is linked statically, also with libc, has its buffer, and its children have theirs.
# shellcheck disable=SC2086
ok "compile a static one" $CC $CFLAGS_FOR_TEST -static -o static linked.c $LDADD_FOR_TEST -lpthread
ok "it is recorded" bash -c "echo | '$RECORDER' record -o static.dat ./static"
is "both events" "$("$RECORDER" report static.dat | grep -cE ' (one|two): ')" 2

begin plain
plain_memory=$(memory "$pid")
plain_state=$(state "$pid")
plain_descriptors=$(descriptors "$pid")
finish
begin linked
ok "the linked one has its buffer" "$RECORDER" ps -P "$pid"
more=$(($(memory "$pid") - plain_memory))
ok "memory: $more KiB more" test "$more" -le 64
is "as many descriptors" "$(descriptors "$pid")" "$plain_descriptors"
is "threads and signals" "$(state "$pid")" "$plain_state"
finish
is "exit status" $? 1
is "nothing is printed" "$(cat linked.out linked.err)" started
is "and nothing is left" "$(find "$RECORDER_DIR" -type f | wc -l)" 0

# The kernel updates a process's account when the stat of the whole process is read, and may then run another program
# first.
if strace -qq -o trace true 2>/dev/null; then
	# A program whose pid is a multiple of 32 also sweeps the directory, and reads its own stat a second time for that.
	while
		strace -qq -y -o trace -e trace=open,openat ./linked </dev/null >/dev/null
		thread=$(sed -n '/task/{s|.*/proc/[0-9]*/task/\([0-9]*\).*|\1|p;q;}' trace)
		[ $((${thread:-1} % 32)) -eq 0 ]
	do :; done
	is "its first thread's stat is read" "$(grep -cE '/proc/[0-9]+/task/[0-9]+>?[,/] ?"?stat"' trace)" 1
	is "and the process's is not" "$(grep -cE '/proc/(self|[0-9]+)>?[,/] ?"?stat"' trace)" 0
else
	skip "its first thread's stat is read" "strace is not installed, or may not trace"
	skip "and the process's is not" "strace is not installed, or may not trace"
fi

done_testing
