#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What earlier versions made works with this one: programs compiled with their headers are recorded, their buffers and
# spools are recovered. tests/abi/make.sh froze them.

. "$top_srcdir/tests/tap.sh"

abi=$top_srcdir/tests/abi
library=$top_builddir/.libs/librecorder.so
rounds=20
lines=$((rounds * 9))
cd "$TMP" || exit 1
read -ra sanitize <<<"${CFLAGS_FOR_TEST/-I$top_srcdir\/include/}"

# events FILE: what report shows behind the time
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

# record NAME PROGRAM: all that it wrote is in the recording
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

	zcat "$frozen/spool.gz" >spooled.dat.spool
	ok "a spool of $version is recovered" "$RECORDER" recover spooled.dat.spool
	is "with all its events" "$(events spooled.dat | diff - <(head -n "$(cat "$frozen/spooled")" "$frozen/written.txt") | head -n 4)" ""
done

done_testing
