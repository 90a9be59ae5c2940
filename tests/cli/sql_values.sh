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

done_testing
