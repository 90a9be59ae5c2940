#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder report prints what rec_printf recorded, however short the format is.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
cat >brief.c <<'END'
#include <librecorder/event.h>
int main(void)
{
	rec_printf("");
	rec_printf("x");
	rec_printf("\n");
	rec_printf("%d", 7);
	rec_printf("%s", "seven");
	rec_printf("%%");
	rec_printf("%3d", 7);
	return 0;
}
END
# shellcheck disable=SC2086
ok "compile" $CC $CFLAGS_FOR_TEST -Wno-format-zero-length -o brief brief.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -o brief.dat ./brief
expected=$(printf 'main: %s\n' '' x '' 7 seven % '  7')
is "report" "$("$RECORDER" report brief.dat | sed -n 's/.*: bprint: *//p')" "$expected"
if command -v trace-cmd >/dev/null; then
	is "trace-cmd report" "$(trace-cmd report brief.dat 2>/dev/null | sed -n 's/.*: bprint: *//p')" "$expected"
else
	skip "trace-cmd report" "trace-cmd is not installed"
fi

# Patterns find its event, also in a program that never reaches it.
producer=$top_builddir/tests/programs/producer
unmet()
{
	"$RECORDER" record -o named.dat "$@" 2>&1 >/dev/null | sed -n "s/.*no process has an event that matches '\([^']*\)'.*/\1/p"
}
is "its event alone" "$(unmet -u ftrace:bprint ./brief)" ""
is "in a list" "$(unmet -u 'no:*,ftrace:bprint' ./brief)" 'no:*'
is "after !" "$(unmet -u '*,!ftrace:bprint' "$producer" 1 10)" ""
is "left out" "$(unmet -x ftrace:bprint "$producer" 1 10)" ""
run "$RECORDER" record -o named.dat -u bprint ./brief
like "it is suggested" "$err" "matches 'bprint'; did you mean 'ftrace:bprint'\?"

# Call sites of two programs have the same addresses. In the merged file each site has its own address, and each record
# still has its format.
cat >plain.c <<'END'
#include <librecorder/event.h>
int main(void)
{
	rec_printf("plain %s", "text");
	rec_printf("x");
	return 0;
}
END
# shellcheck disable=SC2086
ok "compile another program" $CC $CFLAGS_FOR_TEST -o plain plain.c $LDADD_FOR_TEST
ok "record it" "$RECORDER" record -o plain.dat ./plain
ok "merge both" "$RECORDER" merge -o both.dat brief.dat plain.dat
printed()
{
	"$RECORDER" report "$1" | sed -n 's/.*: bprint: *//p'
}
both=$expected$'\n'"main: plain text"$'\n'"main: x"
is "each record has its format" "$(printed both.dat)" "$both"
if command -v trace-cmd >/dev/null; then
	is "as trace-cmd prints it, too" "$(trace-cmd report both.dat 2>/dev/null | sed -n 's/.*: bprint: *//p')" "$both"
else
	skip "as trace-cmd prints it, too" "trace-cmd is not installed"
fi
is "a site of both is one" "$("$RECORDER" dump --printk both.dat | grep -c '"x')/$("$RECORDER" dump --printk both.dat | grep -c '"plain')" 1/1
ok "merge the result and a file of it, the other way around" "$RECORDER" merge -o more.dat plain.dat both.dat
is "each record of the merged file is beside its copy" "$(printed more.dat)" \
	"$expected$(printf '\nmain: %s' 'plain text' 'plain text' x x)"
ok "record the first one again" "$RECORDER" record -o again.dat ./brief
ok "merge two recordings of it" "$RECORDER" merge -o twice.dat brief.dat again.dat
is "report" "$("$RECORDER" report twice.dat | sed -n 's/.*: bprint: *//p')" "$expected"$'\n'"$expected"

# Texts as other writers leave them: two of the formats are made shorter, with empty lines after them.
sed -e 's/^\(0x[0-9a-f]* : \)"%d"$/\1""\n\n/' -e 's/^\(0x[0-9a-f]* : \)"%3d"$/\1"x"\n\n/' brief.dat >other.dat
is "the file is still as long" "$(stat -c %s other.dat)" "$(stat -c %s brief.dat)"
is "report of shorter texts" "$("$RECORDER" report other.dat | sed -n 's/.*: bprint: *//p')" \
	"$(printf 'main: %s\n' '' x '' '' seven % x)"
done_testing
