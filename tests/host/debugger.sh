#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A debugger that steps through events one instruction at a time changes none of them.

. "$top_srcdir/tests/tap.sh"

command -v gdb >/dev/null || skip_all "gdb is not installed"
guest=$top_builddir/tests/programs/guest
cd "$TMP" || exit 1

# Step from the first call of here() far into the events after it, including the first lease of a lane.
cat >steps <<'END'
set pagination off
set confirm off
set debuginfod enabled off
break here
run
delete
stepi 6000
info registers rip
continue
END

# The fields of the events, in order, without the times.
events()
{
	"$RECORDER" report "$1" | sed -n -E 's/.*(number|bprint): +//p'
}

ok "by itself" "$RECORDER" record -q -o plain.dat -- "$guest" step 40
ok "step by step" "$RECORDER" record -q -o steps.dat -- gdb -nx -batch -x steps --args "$guest" step 40
like "it reached its end" "$out" "produced 40"
like "and every instruction was stepped through" "$out" "rip +0x"
is "there are 40 and 10 events" "$(events plain.dat | wc -l)" 50
is "the same ones" "$(events steps.dat)" "$(events plain.dat)"

done_testing
