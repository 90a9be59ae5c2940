#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The fields f32 and f64, from the macro to every reader of a recording: output for programs has the exact number, and
# text has six decimals, as trace-cmd prints them.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >load.c <<'EOF'
#include <librecorder/event.h>
#include <math.h>
REC_EVENT(sys, load, u8(n), f32(one), f64(two));
REC_EVENT_FMT(sys, whole, ("%lld degrees", t), f64(t));
REC_SPAN(sys, work, f32(share), end(f64(result)));
int main(void)
{
	REC(sys, load, 0, 0.1f, 0.3);
	REC(sys, load, 1, 1.5f, -2.5e-9);
	REC(sys, load, 2, -1e30f, 1e300);
	REC(sys, load, 3, NAN, -INFINITY);
	REC(sys, whole, -21.75);
	REC_BEGIN(sys, work, 0.25f);
	REC_END(sys, work, 1e-3);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "a program" $CC $CFLAGS_FOR_TEST load.c $LDADD_FOR_TEST -o load
ok "is recorded" "$RECORDER" record -q -o trace.dat ./load

lines='load: n=0 one=0.100000 two=0.300000
load: n=1 one=1.500000 two=<-0.000001
load: n=2 one=>-18446744073709551615.000000 two=>18446744073709551615.000000
load: n=3 one=nan 0.000000 two=>-18446744073709551615.000000
whole: -21 degrees
work_begin: share=0.250000
work_end: result=0.001000'
lines_of()
{
	sed -nE 's/^.*[0-9]: ((load|whole|work_[a-z]*): .*)/\1/p' | tr -s ' '
}
is "report prints six decimals" "$("$RECORDER" report | lines_of)" "$lines"
if command -v trace-cmd >/dev/null; then
	is "and so does trace-cmd" "$(trace-cmd report -i trace.dat 2>/dev/null | lines_of)" "$lines"
else
	skip "and so does trace-cmd" "trace-cmd is not installed"
fi

is "--json has the numbers" "$("$RECORDER" report --json | grep -oE '"(one|share|t|result)":.*' | sed -E 's/\}.*//')" \
	'"one":0.1,"two":0.3
"one":1.5,"two":-2.5e-09
"one":-1e+30,"two":1e+300
"one":null,"two":null
"t":-21.75
"share":0.25
"result":0.001'
is "--csv too" "$("$RECORDER" report --csv -F 'sys:load' | sed 's/.*,load,//; s/\r//' | cut -d , -f 3- | tail -n +2 | grep -oE '[^,]+,[^,]+,[^,]+$')" \
	'0,0.1,0.3
1,1.5,-2.5e-09
2,-1e+30,1e+300
3,nan,-inf'

# passes FILTER NUMBERS: these are the fields n of the events that report -F shows, and of those that record -f records
passes()
{
	local n='s/.*load: *n=([0-9]).*/\1/p'

	is "report -F '$1'" "$("$RECORDER" report -F "sys:load if $1" | sed -nE "$n" | paste -s -d ' ')" "$2"
	"$RECORDER" record -q -u sys:load -f "$1" -o filtered.dat ./load
	is "record -f '$1'" "$("$RECORDER" report filtered.dat | sed -nE "$n" | paste -s -d ' ')" "$2"
}
passes 'one > 0.1' 1
passes 'one >= 0.1' '0 1'
passes 'one == 0.1' 0
passes 'one != 0.1' '1 2 3'
passes 'two < 0' '1 3'
passes 'two <= -2.5e-9 && one > 1' 1
passes '!(one < 5)' 3
passes 'two > 1e299 || one == 1.5' '1 2'
fails "no bits" "$RECORDER" report -F 'sys:load if one & 1'
like "it is reported" "$err" "& does not work on an f32 or f64"

sql()
{
	"$RECORDER" sql --list trace.dat "$1" 2>&1
}
is "sql: numbers" "$(sql 'SELECT n, two * 2 FROM load WHERE one > 0.05 AND two < 1')" '0|0.6
1|-5.0e-09'
is "sql: NaN is NULL" "$(sql 'SELECT n, one IS NULL, two < 0 FROM load WHERE n = 3')" '3|1|1'
is "sql: a table in memory" "$(sql 'SELECT count(*), min(b.two) FROM load a JOIN load b ON b.n = a.n')" '4|-Inf'
is "sql: the fields of a span" "$(sql "SELECT args FROM spans")" '{"share":0.25,"result":0.001}'

ok "export" "$RECORDER" export --chrome trace.dat -o trace.json
is "has the numbers" "$(grep -oE '"(one|two)": ?[^,}]*' trace.json | tr -d ' ' | paste -s -d ';')" \
	'"one":0.1;"two":0.3;"one":1.5;"two":-2.5e-09;"one":-1e+30;"two":1e+300;"one":null;"two":null'

done_testing
