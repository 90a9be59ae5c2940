#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# This version works with what earlier versions made: programs compiled with their headers are recorded, and their
# buffers and spools, which tests/abi/make.sh froze, are recovered. Files of later versions do no harm.

. "$top_srcdir/tests/tap.sh"

abi=$top_srcdir/tests/abi
library=$top_builddir/.libs/librecorder.so
rounds=20
lines=$((rounds * 9))
cd "$TMP" || exit 1
read -ra sanitize <<<"${CFLAGS_FOR_TEST/-I$top_srcdir\/include/}"

# events FILE: what report shows after the time
events()
{
	"$RECORDER" report "$1" | sed -nE 's/^.* \[[0-9]+\] +[0-9]+\.[0-9]+: //p' | tr -s ' ' | sed 's/ $//'
}

# compile OUTPUT INCLUDE-DIRECTORY LIBRARY
compile()
{
	ok "program.c compiles with the headers in ${2#"$top_srcdir"/}" \
		"$CC" -std=gnu11 -O2 "${sanitize[@]}" "-I$2" "$abi/program.c" -o "$1" "$3"
}

# record NAME PROGRAM: all that the program wrote is in the recording
record()
{
	ok "$1 is recorded" "$RECORDER" record -o "$TMP/program.dat" "$2" $rounds
	is "$1 prints what it wrote" "$(wc -l <"$TMP/.out")" $lines
	is "and that is in the recording" "$(events "$TMP/program.dat" | diff - "$TMP/.out" | head -n 4)" ""
}

versions=$(cd "$abi" && ls -d [0-9]*)
ok "there are frozen versions" test -n "$versions"

for version in $versions; do
	frozen=$abi/$version
	is "what $version wrote is known" "$(wc -l <"$frozen/written.txt")" $lines

	compile old "$frozen/include" "$LDADD_FOR_TEST"
	record "a program of $version, with this library linked statically," ./old
	if [ -e "$library" ]; then
		compile old-shared "$frozen/include" "$library"
		export LD_LIBRARY_PATH=${library%/*}
		record "a program of $version with this librecorder.so" ./old-shared
		unset LD_LIBRARY_PATH
	fi

	tar -xzf "$frozen/buffer.tar.gz" && ok "a buffer of $version is recovered" "$RECORDER" recover -o buffer.dat buffer.rec
	is "with all its events" "$(events buffer.dat | diff - "$frozen/written.txt" | head -n 4)" ""

	# The head's incompatible bits, then the compatible ones: docs/SPOOL-LAYOUT.md.
	zcat "$frozen/spool.gz" >spooled.dat.spool
	printf '\200' | dd of=spooled.dat.spool bs=1 seek=5416 conv=notrunc status=none
	fails "a spool with a feature that is not known is refused" "$RECORDER" recover spooled.dat.spool
	like "with one line" "$err" "^recorder recover: '.*spooled.dat.spool' was written by another version of recorder$"
	is "and stays" "$(ls spooled.dat*)" spooled.dat.spool
	zcat "$frozen/spool.gz" >spooled.dat.spool
	printf '\200' | dd of=spooled.dat.spool bs=1 seek=5408 conv=notrunc status=none
	ok "a spool of $version is recovered, with a feature that is not needed" "$RECORDER" recover spooled.dat.spool
	is "with all its events" "$(events spooled.dat | diff - <(head -n "$(cat "$frozen/spooled")" "$frozen/written.txt") | head -n 4)" ""
done

# A program of a later version, whose inline code this library does not know. The events that it leaves to the library
# are recorded.
cp -r "$top_srcdir/include" later
chmod -R u+w later
grep -rl '#define REC_EVENT_ABI' later | xargs sed -i -E 's/^(#define REC_EVENT_ABI) .*/\1 1000u/'
ok "the headers of a later version differ" grep -rq '#define REC_EVENT_ABI 1000u' later
compile new "$TMP/later" "$LDADD_FOR_TEST"
ok "a program of a later version runs" "$RECORDER" record -o later.dat ./new $rounds
unlike "and prints nothing" "$err" 'ABI'
is "its own code wrote nothing" "$(events later.dat | grep -v -e '^late:' -e '^bprint:')" ""
is "what the library wrote for it is there" "$(events later.dat | wc -l)" $((2 * rounds))
ok "with REC_DEBUG" env REC_DEBUG=1 ./new 1
is "one line reports why" "$(sed 's/process [0-9]*/process N/; s/librecorder [0-9.]*,/librecorder X,/' "$TMP/.err")" \
	"librecorder: process N: events stay off that were compiled for event ABI 1000; this is librecorder X, which knows up to 1"
ok "with headers of this version" "$RECORDER" record -o same.dat env REC_DEBUG=1 ./old 1
unlike "there is no such line" "$err" 'ABI'

done_testing
