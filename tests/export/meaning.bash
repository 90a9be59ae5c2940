# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: meaning.dat, a recording of tests/export/meaning.c, and the tids of its threads in
# $main and $server.

# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o meaning "$top_srcdir/tests/export/meaning.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o plain.dat ./meaning
main=$(sed -n 's/^main //p' .out)
server=$(sed -n 's/^server //p' .out)

# The words of docs/MEANING.md, each as long as what it replaces.
type()
{
	local pad=${3//?/x} blanks=${3//?/ }

	printf '%s\n' "s/field:$1 $pad$2;/field:$4 $2;/g" "s/REC->$pad$2\b/REC->$2$blanks/g"
}
{
	type u64 id 12345678 rec_key_u64
	type u64 id 12345 rec_task
	type u64 flow 12345 rec_flow
	type u64 dur 123456789 rec_duration
	type s64 bytes 123456789012 rec_counter_s64
	type s32 value 1234567890 rec_state_s32
} >words
sed -f words plain.dat >meaning.dat
is "the file is still as long" "$(stat -c %s meaning.dat)" "$(stat -c %s plain.dat)"
