#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Files that are compressed with zlib are read as the same ones without compression, if the library is there; if not, or if a
# chunk is damaged, one line reports it.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v python3 >/dev/null || skip_all "python3 is not installed"
grep -q 'libz\.so\.1' <<<"$(ldconfig -p)" || skip_all "zlib is not installed"

for name in v7-plain v7-lost v7-instances v7-sparse v7-page16k; do
	"$mkdat" "$name" >in.dat
	ok "$name, compressed" python3 "$top_srcdir/tests/oracle/zlib_file.py" in.dat zlib.dat
	like "$name: with zlib" "$("$RECORDER" dump zlib.dat)" "compression zlib 1.2"
	is "$name: the report" "$(cmp <("$RECORDER" report -t zlib.dat) <("$RECORDER" report -t in.dat) && echo same)" same
	ok "$name: recorder check" "$RECORDER" check zlib.dat
	"$RECORDER" convert -i zlib.dat -o out.dat --compression none
	is "$name: converted" "$(cmp <("$RECORDER" report -t out.dat) <("$RECORDER" report -t in.dat) && echo same)" same
done

# A byte in the middle of the second CPU's data is changed.
"$mkdat" v7-plain >in.dat
python3 "$top_srcdir/tests/oracle/zlib_file.py" in.dat zlib.dat
at=$("$RECORDER" dump zlib.dat | sed -nE 's/^  CPU 1: [0-9]+ bytes at ([0-9]+)$/\1/p')
printf '\377\377\377\377\377\377\377\377' | dd of=zlib.dat bs=1 seek=$((at + 60)) conv=notrunc 2>/dev/null
run "$RECORDER" report zlib.dat
is "damaged: status" "$status" 1
like "damaged" "$err" "the compressed data at [0-9]+ does not unpack"
sed 's/zlib\x001.2/zlix\x001.2/' zlib.dat >other.dat
run "$RECORDER" report other.dat
is "another compression: status" "$status" 1
like "another compression" "$err" 'compressed with "zlix", which cannot be read here'

done_testing
