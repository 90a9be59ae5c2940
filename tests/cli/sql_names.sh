#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql: events whose fields, or names, are those that the tables have themselves.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1

# ---- fields with the names of columns

cat >hidden.c <<'EOF'
#include <librecorder/event.h>
REC_EVENT(a, tick, u32(n), u64(ts), u32(cpu), u32(tid), u32(pid), u32(comm), u32(task));
int main(void)
{
	for (unsigned int i = 0; i < 300; i++)
		REC(a, tick, i * 7 % 300, i, 0, 0, 0, 0, 0);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "an event that has its own ts: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o hidden hidden.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o hidden.dat ./hidden
hidden()
{
	"$RECORDER" sql --list hidden.dat "$1" 2>&1
}
is "a join by the first column, which is not the time" \
	"$(hidden 'SELECT count(*), sum(b.n) FROM tick a CROSS JOIN tick b ON b.n = a.n AND b.ts = a.ts')" "300|44850"
is "by it alone" "$(hidden 'SELECT count(*), sum(b.ts) FROM tick a CROSS JOIN tick b ON b.n = a.n')" "300|44850"
is "by its bounds" "$(hidden 'SELECT count(*) FROM tick a CROSS JOIN tick b ON b.n < a.n')" 44850
is "the hidden column has the time" "$(hidden 'SELECT count(*), sum(b.ts = a.ts) FROM tick a CROSS JOIN tick b ON b._ts = a._ts
	WHERE b.n = a.n')" "300|300"
is "in its order" "$(hidden 'SELECT group_concat(ts) FROM (SELECT ts FROM tick ORDER BY _ts LIMIT 5)')" 0,1,2,3,4

# ---- an event with the name of a table, in capital letters

cat >capital.c <<'EOF'
#include <librecorder/event.h>
REC_EVENT(app, Tasks, u64(n));
int main(void)
{
	REC(app, Tasks, 5);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "an event Tasks: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o capital capital.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o capital.dat ./capital
is "its table has another name" "$("$RECORDER" sql --list capital.dat 'SELECT n, (SELECT count(*) FROM tasks) FROM app_tasks' 2>&1)" "5|0"

# ---- fields whose names differ only in case

cat >case.c <<'EOF'
#include <librecorder/event.h>
enum { OFF, ON };
enum { UP, DOWN };
REC_EVENT(app, modes, named(mode, OFF, ON), named(Mode, UP, DOWN));
int main(void)
{
	REC(app, modes, ON, UP);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "fields mode and Mode: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o case case.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o case.dat ./case
column=$("$RECORDER" sql --list case.dat "SELECT name FROM pragma_table_xinfo('modes') WHERE name GLOB 'Mode_[0-9]*_name'" 2>&1)
is "both have the names of their values" "$("$RECORDER" sql --list case.dat "SELECT mode, mode_name, ${column%_name}, $column FROM modes" 2>&1)" \
	"1|ON|0|UP"
ok "--save" "$RECORDER" sql --save case.sqlite case.dat

# ---- stacks of programs

cat >stack.c <<'EOF'
#include <librecorder/event.h>
REC_EVENT(a, tick, u32(n));
REC_EVENT(like_the_kernel, user_stack, u32(tgid), array(u64, caller, 8));
REC_EVENT(like_the_kernel, kernel_stack, s32(size), array(u64, caller, 8));
int main(void)
{
	static const uint64_t stack[8] = { 0x401000, 0x402000 };
	REC(a, tick, 1);
	REC(like_the_kernel, user_stack, 1, stack);
	REC(like_the_kernel, kernel_stack, 8, stack);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "events like those of stacks: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o stack stack.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o stack.dat ./stack
is "the stack of a program ends at its first zero" \
	"$("$RECORDER" sql --list stack.dat "SELECT depth, address FROM stacks WHERE kind = 'user'")" $'0|4198400\n1|4202496'
is "the kernel's does not" "$("$RECORDER" sql --list stack.dat "SELECT count(*) FROM stacks WHERE kind = 'kernel'")" 8

done_testing
