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

# Sites of two programs have the same addresses: a record would be printed with the other program's format.
cat >plain.c <<'END'
#include <librecorder/event.h>
int main(void)
{
	rec_printf("plain");
	return 0;
}
END
# shellcheck disable=SC2086
ok "compile another program" $CC $CFLAGS_FOR_TEST -o plain plain.c $LDADD_FOR_TEST
ok "record it" "$RECORDER" record -o plain.dat ./plain
fails "merge both" "$RECORDER" merge -o both.dat brief.dat plain.dat
is "is refused" "$err" "recorder merge: plain.dat: its rec_printf calls have the addresses of other calls in a file before it"
ok "without a result" test ! -e both.dat
ok "record the first one again" "$RECORDER" record -o again.dat ./brief
ok "merge two recordings of it" "$RECORDER" merge -o twice.dat brief.dat again.dat
is "report" "$("$RECORDER" report twice.dat | sed -n 's/.*: bprint: *//p')" "$expected"$'\n'"$expected"

# Texts as other writers leave them: two of the formats are made shorter, with empty lines after them.
sed -e 's/^\(0x[0-9a-f]* : \)"%d"$/\1""\n\n/' -e 's/^\(0x[0-9a-f]* : \)"%3d"$/\1"x"\n\n/' brief.dat >other.dat
is "the file is still as long" "$(stat -c %s other.dat)" "$(stat -c %s brief.dat)"
is "report of shorter texts" "$("$RECORDER" report other.dat | sed -n 's/.*: bprint: *//p')" \
	"$(printf 'main: %s\n' '' x '' '' seven % x)"
done_testing
