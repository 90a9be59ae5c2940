#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Spans, counters, states and tasks from the program to the file: the storage server of the examples, with the counts that it
# promises; how they are selected, listed and printed; and what is in the file of spans that were interrupted.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

storage=$top_builddir/examples/07_storage
n=30

# counts FILE: "NAME COUNT" on each line, sorted
counts()
{
	"$RECORDER" report "$1" | sed -nE 's/^.{16,}-[0-9]+ +\[[0-9]+\] +[0-9.]+: ([a-z_]+): .*/\1/p' | LC_ALL=C sort | uniq -c | awk '{ print $2, $1 }'
}

# ------------------------------------------------------------------------------------------------ the demo

ok "the storage server is recorded" "$RECORDER" record -q -o storage.dat "$storage" $n
is "it reports what it did" "$out" "$n requests, 3 failed"
is "it writes the events that it promises" "$(counts storage.dat)" "checksum_begin $n
checksum_end $n
conn $((2 * n + 8))
disk $n
job_begin $n
job_end $n
queue $((2 * n))
reply $n
request_begin $n
request_end $n
task $((2 * n + 8))"
is "every tenth request fails" "$("$RECORDER" report storage.dat | grep -c 'request_end: .*result=-5$')" $((n / 10))
is "no job is shorter than its disk and its checksum" "$("$RECORDER" report storage.dat | awk '
	match($0, /-[0-9]+ +\[/) { tid = substr($0, RSTART + 1, RLENGTH - 2) + 0 }
	/ job_begin: / { match($0, /[0-9]+\.[0-9]+/); begin[tid] = substr($0, RSTART, RLENGTH) }
	/ job_end: / { match($0, /[0-9]+\.[0-9]+/); if (substr($0, RSTART, RLENGTH) - begin[tid] < 0.000199) print }')" ""
is "nor is a read of the disk" "$("$RECORDER" report storage.dat | sed -n 's/.* disk: *dur=\([0-9]*\) .*/\1/p' | awk '$1 < 150000' | wc -l)" 0

if command -v trace-cmd >/dev/null; then
	trace-cmd report storage.dat >trace-cmd.txt 2>trace-cmd.err
	is "trace-cmd prints the same" "$(cmp trace-cmd.txt <("$RECORDER" report storage.dat))$(cat trace-cmd.err)" ""
else
	skip "trace-cmd prints the same" "trace-cmd is not installed"
fi

# ------------------------------------------------------------------------------------------------ selecting and listing

ok "the name of a span selects both of its events" "$RECORDER" record -q -u storage:job -o job.dat "$storage" $n
is "and nothing else" "$(counts job.dat)" "job_begin $n
job_end $n"
ok "it can be excluded" "$RECORDER" record -q -u 'storage:*,!storage:job,!storage:conn' -x storage:checksum -o some.dat "$storage" $n
is "and neither of its events is recorded" "$(counts some.dat | cut -d ' ' -f 1 | tr '\n' ' ')" "disk queue reply request_begin request_end "
ok "a filter on the key fits both events" "$RECORDER" record -q -u storage:request -f 'id == 7' -o key.dat "$storage" $n
is "so the span is whole" "$(counts key.dat)" "request_begin 1
request_end 1"

run "$RECORDER" list "$storage"
is "list shows a span on one line" "$(grep -v "^$storage$" <<<"$out" | LC_ALL=C sort)" \
	"  storage:checksum  span u64(id)
  storage:conn      state key(u32(id)), named(state, IDLE, BUSY, CLOSED)
  storage:disk      timed u64(id)
  storage:job       span u64(id), flow(cause), end(s32(result))
  storage:queue     counter u32(length)
  storage:reply     u64(id), flow(cause)
  storage:request   span key(u64(id)), u32(conn), named(op, GET, PUT), flow(cause), end(s32(result))"

# A span is one event for everything that counts events; its begin and end can have conditions of their own.
cat >pair.c <<'END'
#include <librecorder/event.h>
#include <stdio.h>
REC_SPAN_KEYED(pair, job, key(u32(id)), u32(size), end(s32(result)));
REC_EVENT(pair, other, u32(id));
int main(void)
{
	puts("begun");
	fflush(stdout);
	return getchar() == 'x';
}
END
# shellcheck disable=SC2086
ok "a program with a span and an event" $CC $CFLAGS_FOR_TEST pair.c $LDADD_FOR_TEST -o pair
coproc pair { exec ./pair; }
pair_pid=$pair_PID # bash unsets pair_PID when the program has ended
read -r _ <&"${pair[0]}"
listed()
{
	"$RECORDER" list -P pair | sed -n 's/^  *\([onfpart]* *pair:\)/\1/p' | tr -s ' '
}
counted()
{
	"$RECORDER" ps -P pair | awk 'NR == 2 { print $3 }'
}
is "ps counts what list shows" "$(counted)" "0/$(listed | wc -l)"
ok "enable" "$RECORDER" enable -P pair 'pair:*'
is "counts the same" "$(tail -n 1 <<<"$out") $(counted)" "  2 events on 2/2"
ok "disable" "$RECORDER" disable -P pair pair:job
is "counts a span as one" "$(tail -n 1 <<<"$out") $(counted)" "  1 event off 1/2"
ok "one of its events" "$RECORDER" enable -P pair pair:job_begin -f 'id == 7'
is "is one, too" "$(tail -n 1 <<<"$out") $(counted)" "  1 event on 2/2"
like "list shows whose condition it is" "$(listed | grep job)" "^part pair:job span .* begin if id == 7$"
ok "the other with another filter" "$RECORDER" enable -P pair pair:job_end -f 'result < 0' --rate 50
like "both are shown" "$(listed | grep job)" "^on pair:job span .* begin if id == 7 end rate 50 if result < 0$"
ok "both with the same" "$RECORDER" enable -P pair pair:job -f 'id == 7'
like "which is shown once" "$(listed | grep job)" "^on pair:job span .*\) if id == 7$"
exec {pair[1]}>&-
wait_until is_gone "$pair_pid"

# ------------------------------------------------------------------------------------------------ interrupted

# A program that is interrupted inside of spans, in each way that docs/MEANING.md has.
cat >interrupted.c <<'END'
#include <librecorder/event.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

REC_SPAN(cut, outer, u32(n), end(u32(n)));
REC_SPAN(cut, inner);

static void *ends_inside(void *none)
{
	REC_BEGIN(cut, outer, 2);
	REC_SCOPE(cut, inner);
	pthread_exit(none);
}

int main(int argc, char **argv)
{
	static jmp_buf back;
	pthread_t thread;

	REC_BEGIN(cut, outer, 1);
	if (setjmp(back) == 0) {
		REC_BEGIN(cut, inner);
		longjmp(back, 1);
	}
	REC_END(cut, outer, 1);
	if (pthread_create(&thread, NULL, ends_inside, NULL) == 0)
		pthread_join(thread, NULL);
	REC_BEGIN(cut, outer, 3);
	if (argc > 1 && strcmp(argv[1], "kill") == 0)
		raise(SIGKILL);
	return 0;
}
END
read -ra library <<<"$LDADD_FOR_TEST"
read -ra cflags <<<"$CFLAGS_FOR_TEST"
# shellcheck disable=SC2086
ok "a program with interrupted spans" $CC -I"$top_srcdir/include" "${cflags[@]}" -o interrupted interrupted.c "${library[@]}" -lpthread

# shown ARGUMENT: the recorded events of a program that is interrupted in this way
shown()
{
	"$RECORDER" record -q -u 'cut:*' -o cut.dat ./interrupted "$1" >/dev/null 2>&1
	"$RECORDER" report cut.dat | sed -n 's/^.*: \([a-z]*_[a-z]*\): *\(.*\)/\1 \2/p' | sed 's/ *$//' | tr '\n' ';'
}
# pthread_exit() unwinds C code only if it was compiled with -fexceptions.
before="outer_begin n=1;inner_begin;outer_end n=1;outer_begin n=2;inner_begin;"
like "a jump leaves a begin without an end, and so does the end of a thread" "$(shown none)" \
	"^${before}(inner_end;)?outer_begin n=3;$"
like "a killed program has no end either" "$(shown kill)" "^${before}(inner_end;)?outer_begin n=3;$"

done_testing
