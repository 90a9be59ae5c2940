#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder convert: of every file that tests/golden can make, each version with and without compression is reported as the
# original is, by trace-cmd and by recorder; a file that is damaged or cannot be held leaves the output as it was.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# reports FILE FLAG...: recorder's and trace-cmd's, into ours and theirs. The first fails if it is empty.
reports()
{
	local file=$1 name=$2

	shift 2
	"$RECORDER" report "$@" "$file" >"$name.ours" 2>"$name.err" && [ -s "$name.ours" ] &&
		trace-cmd report "$@" "$file" >"$name.theirs" 2>/dev/null && [ -s "$name.theirs" ]
}

# Version 6 has tables of one length for all buffers, so the absent top buffer has CPUs, too: the first lines differ.
one_table()
{
	cmp -s <(tail -n +2 in.ours) <(tail -n +2 out.ours) && cmp -s <(tail -n +2 in.theirs) <(tail -n +2 out.theirs) &&
		cmp -s <(head -n 1 out.ours) <(head -n 1 out.theirs)
}

made=$("$mkdat")
nr=0
for name in $made; do
	"$mkdat" "$name" >in.dat
	reports in.dat in -t || fail "reports of $name"
	nr=$((nr + 1))
	for how in "6 none" "7 none" "7 any" "7 zstd:19"; do
		# shellcheck disable=SC2086
		set -- $how
		rm -f out.dat
		run "$RECORDER" convert -i in.dat -o out.dat --file-version "$1" --compression "$2"
		if [ "$status" != 0 ] || [ -n "$err" ]; then
			fail "$name to $how"
			diag "$err"
		elif ! reports out.dat out -t; then
			fail "$name to $how: a report"
			diag "$(cat out.err)"
		elif [ "$name $how" = "v7-only-instances 6 none" ] && one_table; then
			continue
		elif ! cmp -s in.ours out.ours || ! cmp -s in.theirs out.theirs; then
			fail "$name to $how: the same report"
			diag "$(diff in.ours out.ours | head -5)"
			diag "$(diff in.theirs out.theirs | head -5)"
		else
			continue
		fi
		broken=yes
	done
done
is "$nr files in four forms each give the same reports" "${broken:-no}" no
ok "there were files" test "$nr" -gt 40

# ---- what the outputs are

version_of()
{
	"$RECORDER" dump "$1" | sed -nE '1s/^trace\.dat version ([67]),.*/\1/p; 2s/^compression ([a-z]+) .*/\1/p' | xargs
}

"$mkdat" v6-many >in.dat
ok "without options" "$RECORDER" convert -i in.dat out.dat
is "it is version 7, zstd" "$(version_of out.dat)" "7 zstd"
ok "trace-cmd dump reads it" trace-cmd dump --validate -i out.dat
ok "back to version 6" "$RECORDER" convert -i out.dat --file-version 6 -o back.dat
is "which is not compressed" "$(version_of back.dat)" "6"
ok "in place" "$RECORDER" convert -i back.dat -o back.dat --compression none
is "without compression" "$(version_of back.dat)" "7 none"
"$RECORDER" report in.dat >expected
is "with the same events" "$("$RECORDER" report back.dat | cmp - expected && echo same)" same

# trace-cmd 3.1.6 loses the events of CPU 0 if others are empty, those of its own files, too: all have events here.
"$mkdat" v6-plain >in.dat
"$RECORDER" report in.dat >expected
"$RECORDER" convert -i in.dat out.dat
ok "trace-cmd converts what we compressed" trace-cmd convert -i out.dat -o theirs.dat --file-version 6
is "to the same events" "$(trace-cmd report theirs.dat 2>/dev/null | cmp - expected && echo same)" same

# Large enough for several chunks of several CPUs, and smaller than before.
"$mkdat" v6-page64k >in.dat
ok "a larger file" "$RECORDER" convert -i in.dat -o out.dat
ok "is smaller" test "$(stat -c %s out.dat)" -lt "$(($(stat -c %s in.dat) / 2))"

# ---- what is refused

echo precious >precious.dat
cp precious.dat out.dat
head -c 20000 in.dat >cut.dat
fails "a file that is cut" "$RECORDER" convert -i cut.dat -o out.dat
like "is reported" "$err" "^recorder convert: cut.dat: truncated: "
"$mkdat" v6-plain >in.dat
"$RECORDER" convert -i in.dat -o packed.dat
# The first chunk's bytes: behind the last options, in the middle of the data.
size=$(stat -c %s packed.dat)
printf '\xff\xff\xff\xff\xff\xff\xff\xff' | dd of=packed.dat bs=1 seek=$((size - 200)) conv=notrunc 2>/dev/null
fails "a chunk that does not unpack" "$RECORDER" convert -i packed.dat -o out.dat
like "is reported, too" "$err" "^recorder convert: packed.dat: damaged: the compressed data at [0-9]+ does not unpack"
is "the output is as before" "$(cat out.dat)" precious
run "$RECORDER" convert -i in.dat
is "no output: status" "$status" 2
like "no output" "$err" "^recorder convert: missing OUTPUT"
run "$RECORDER" convert -i in.dat -o out.dat other.dat
is "two outputs: status" "$status" 2
run "$RECORDER" convert -i in.dat -o out.dat --file-version 6 --compression zstd
is "version 6, compressed: status" "$status" 2
like "version 6, compressed" "$err" "version 6 has no compression"
for word in zstd:0 zstd:20 zstd: lzo zstd:3x ''; do
	run "$RECORDER" convert -i in.dat -o out.dat --compression "$word"
	is "compression '$word': status" "$status" 2
	like "compression '$word'" "$err" "takes none, any, zstd, or zstd:LEVEL .* not '$word'"
done
fails "no such directory" "$RECORDER" convert -i in.dat -o no/out.dat
like "is named" "$err" "^recorder convert: cannot write 'no/out.dat': No such file"
is "nothing was left" "$(ls -A | grep -v -E '\.(dat|ours|theirs|err)$|^(expected|run|\.out|\.err)$')" ""
is "and the output is as before" "$(cat out.dat)" precious

done_testing
