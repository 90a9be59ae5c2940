# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: Perfetto's trace processor, in $RECORDER_PERFETTO or where fetch.sh puts it at its
# first use.
#
#	sql NAME SQL		the query belongs to the next ask
#	ask FILE		asks the queries of a trace; their answers go to $TMP/answers. Checks that there was no error
#	answer NAME		the rows of that answer, with blanks between the values, lines joined by ';'

processor=${RECORDER_PERFETTO:-$top_srcdir/build/perfetto}

command -v node >/dev/null || skip_all "node is not installed"
# The sources may be read-only.
mkdir -p "$processor" 2>/dev/null || { processor=$top_builddir/perfetto && mkdir -p "$processor"; }
# Several tests may begin at the same time.
exec {processor_lock}>"$processor/lock"
flock "$processor_lock"
run bash "$top_srcdir/tests/export/fetch.sh" "$processor"
exec {processor_lock}>&-
[ "$status" != 77 ] || skip_all "$err"
is "Perfetto's trace processor is there" "$err" ""

sql()
{
	printf '%s\t%s\n' "$1" "$2" >>"$TMP/queries"
}

ask()
{
	sql errors "select name, value from stats where severity = 'error' and value > 0"
	ok "$1: Perfetto reads it" sh -c 'node "$0" "$1" "$2" <"$3"' "$top_srcdir/tests/export/query.mjs" "$processor" \
		"$1" "$TMP/queries"
	cp "$TMP/.out" "$TMP/answers"
	rm "$TMP/queries"
	is "$1: without an error" "$(answer errors)" ""
}

answer()
{
	sed -n "s/^$1	//p" "$TMP/answers" | tr '\t' ' ' | paste -s -d ';'
}
