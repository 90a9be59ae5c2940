#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql: the values of the columns that follow from other events of the file.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1

# ---- a thread that moves to another CPU

cat >moves.c <<'EOF'
#include <librecorder/event.h>
#include <sched.h>
#include <stdlib.h>
REC_EVENT(x, here, u32(n));
static void on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
}
int main(void)
{
	on(0);
	REC_TASK(7);
	on(1);
	REC(x, here, 1);
	return 0;
}
EOF
if taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null; then
	# shellcheck disable=SC2086
	ok "moves: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o moves moves.c $LDADD_FOR_TEST
	ok "record" "$RECORDER" record -q -o moves.dat ./moves
	is "its task is known on the other CPU" "$("$RECORDER" sql --list moves.dat 'SELECT cpu, name, task FROM events WHERE cpu = 1')" "1|here|7"
else
	skip "its task is known on the other CPU" "CPUs 0 and 1 are not available"
fi

# ---- fields that both the begin and the end of a span have

cat >twice.c <<'EOF'
#include <librecorder/event.h>
REC_SPAN(io, read, u64(bytes), u32(n), end(u64(bytes)));
REC_SPAN_KEYED(io, copy, key(u64(id)), u64(bytes), end(u64(bytes), u32(left)));
int main(void)
{
	REC_BEGIN(io, read, 100, 1);
	REC_END(io, read, 60);
	REC_BEGIN(io, copy, 7, 500);
	REC_END(io, copy, 7, 300, 2);
	REC_END(io, read, 40);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "twice: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o twice twice.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o twice.dat ./twice
is "args has both, and a key once" "$("$RECORDER" sql --list twice.dat 'SELECT args FROM spans ORDER BY id')" \
	$'{"bytes":100,"n":1,"end.bytes":60}\n{"id":7,"bytes":500,"end.bytes":300,"left":2}\n{"bytes":40}'

done_testing
