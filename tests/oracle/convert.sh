#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder convert: every file that tests/golden can make is converted to forms of each version, with and without
# compression, and trace-cmd and recorder report it as the original. If a file is damaged, or the version cannot hold it, the output
# stays as it was.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# reports FILE NAME FLAG...: recorder's report into NAME.ours and trace-cmd's into NAME.theirs. Fails if one is empty.
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

# By default each file is converted to two of the four forms, in turn; REPORT_FILES=all: to all.
made=$("$mkdat")
nr=0
turn=0
for name in $made; do
	"$mkdat" "$name" >in.dat
	reports in.dat in -t || fail "reports of $name"
	nr=$((nr + 1))
	for how in "6 none" "7 none" "7 any" "7 zstd:19"; do
		turn=$((turn + 1))
		[ "${REPORT_FILES-}" = all ] || [ $(((nr + turn) % 2)) = 0 ] || [[ "$name $how" = v7-*instances*" 6 none" ]] || continue
		# shellcheck disable=SC2086
		set -- $how
		rm -f out.dat
		run "$RECORDER" convert -i in.dat -o out.dat --file-version "$1" --compression "$2"
		if [ "$name $how" = "v7-large-instances 6 none" ] && [[ $err =~ "version 6 has one size"$ ]]; then
			continue
		elif [ "$status" != 0 ] || [ -n "$err" ]; then
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
is "$nr files in their new forms give the same reports" "${broken:-no}" no
ok "there were files" test "$nr" -gt 40

# ---- the clock: version 7 has it in an option for the file, which may be missing or have no brackets, and in each buffer

# clocks FILE: the texts of the clocks, that of the option first
clocks()
{
	python3 - "$1" <<'END'
import struct, sys
data = open(sys.argv[1], "rb").read()
at = data.index(b"\0", data.index(b"\0", 18) + 1) + 1
at = struct.unpack_from("<Q", data, at)[0] + 16
file, buffers = "none", []
while True:
    number, size = struct.unpack_from("<HI", data, at)
    payload = data[at + 6:at + 6 + size]
    at += 6 + size
    if number == 0:
        break
    if number == 4:
        file = payload.decode().rstrip("\0")
    if number == 3:
        buffers.append(payload[8:].split(b"\0")[1].decode())
print(file, *sorted(buffers), sep="|")
END
}

# made_clocks FILE OPTION BUFFERS: v7-instances with these clocks, each as long as "[mono]"; OPTION none: the option is another one
made_clocks()
{
	"$mkdat" v7-instances | python3 -c '
import sys
option, buffers = (word.encode() for word in sys.argv[1:])
data = sys.stdin.buffer.read()
parts = data.split(b"\4\0\7\0\0\0[mono]")
assert len(parts) == 2
option = b"\5\0\7\0\0\0[mono]" if option == b"none" else b"\4\0\7\0\0\0" + option
sys.stdout.buffer.write(option.join(part.replace(b"[mono]", buffers) for part in parts))
' "$2" "$3" >"$1"
}

while IFS='|' read -r option buffers in_6; do
	made_clocks in.dat "$option" "$buffers"
	is "clocks '$option' and '$buffers'" "$(clocks in.dat)" "$option|$buffers|$buffers|$buffers"
	reports in.dat in -t || fail "reports of '$option' and '$buffers'"
	for how in "6 none" "7 none" "7 any"; do
		# shellcheck disable=SC2086
		set -- $how
		ok "convert to $how" "$RECORDER" convert -i in.dat -o out.dat --file-version "$1" --compression "$2"
		reports out.dat out -t || fail "a report"
		ok "the times are shown as before" cmp in.ours out.ours
		ok "by trace-cmd, too" cmp in.theirs out.theirs
		if [ "$1" = 7 ]; then
			is "the clocks are the same" "$(clocks out.dat)" "$(clocks in.dat)"
		else
			is "version 6 names one that is true of all" "$("$RECORDER" dump --clock out.dat)" "clock $in_6"
		fi
	done
done <<'END'
[boot]|[mono]|boot
[mono]|[boot]|mono
none|[boot]|not stated
none|[mono]|mono
 boot |[boot]|not stated
 mono |[boot]|not stated
END

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
ok "version 6, any compression" "$RECORDER" convert -i out.dat --file-version 6 --compression any -o any.dat
ok "leaves it uncompressed" cmp any.dat back.dat
cp back.dat other.dat
run "$RECORDER" convert other.dat
is "a file that is given where others take the input: the status" "$status" 2
is "what to do" "$err" "recorder convert: 'other.dat' exists: give it by -i to read it, by -o to replace it"
ok "the file is as it was" cmp back.dat other.dat
cp in.dat trace.dat
ok "trace.dat in place" "$RECORDER" convert trace.dat
is "it is version 7" "$(version_of trace.dat)" "7 zstd"
ok "in place" "$RECORDER" convert -i back.dat -o back.dat --compression none
is "without compression" "$(version_of back.dat)" "7 none"
"$RECORDER" report in.dat >expected
is "with the same events" "$("$RECORDER" report back.dat | cmp - expected && echo same)" same

# All CPUs have events here: if one is empty, trace-cmd 3.1.6 loses the events of CPU 0, even in its own files.
"$mkdat" v6-plain >in.dat
"$RECORDER" report in.dat >expected
"$RECORDER" convert -i in.dat out.dat
ok "trace-cmd converts what we compressed" trace-cmd convert -i out.dat -o theirs.dat --file-version 6
is "to the same events" "$(trace-cmd report theirs.dat 2>/dev/null | cmp - expected && echo same)" same

# The file is large enough for several chunks of several CPUs. Compressed, it is smaller.
"$mkdat" v6-page64k >in.dat
ok "a larger file" "$RECORDER" convert -i in.dat -o out.dat
ok "is smaller" test "$(stat -c %s out.dat)" -lt "$(($(stat -c %s in.dat) / 2))"

# Symbols of more than 60 MiB, which recorder does not unpack, remain uncompressed.
"$mkdat" v6-kernel | python3 -c '
import struct, sys
data = bytearray(sys.stdin.buffer.read())
more = b"".join(b"%x t %s\n" % (0xffffffffa0000000 + i, b"x" * ((1 << 20) - 20)) for i in range(61))
places = data.index(b"flyrecord\0") + 10
for at in (places, places + 16):
    struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + len(more))
text = data.index(b"ffffffff81000000 T do_one\n")
struct.pack_into("<I", data, text - 4, struct.unpack_from("<I", data, text - 4)[0] + len(more))
sys.stdout.buffer.write(data[:text] + more + data[text:])
' >symbols.dat
reports symbols.dat in || fail "reports of a file with many symbols"
ok "many symbols" "$RECORDER" convert -i symbols.dat -o symbols.dat
is "the result is compressed" "$(version_of symbols.dat)" "7 zstd"
reports symbols.dat out || fail "reports of the result"
ok "the result is reported as before" cmp in.ours out.ours
ok "by trace-cmd, too" cmp in.theirs out.theirs
like "with names of functions" "$(cat out.ours)" "do_one"
ok "and it is converted again" "$RECORDER" convert -i symbols.dat -o symbols.dat
rm symbols.dat

# ---- raw recordings

pinned=$top_builddir/tests/programs/pinned
[ -x "$pinned" ] || make -C "$top_builddir" -s tests/programs/pinned >/dev/null

# places FILE: how many events are on the CPU that they name, and how many are not
places()
{
	"$RECORDER" report "$1" >"$1.txt"
	cmp -s "$1.txt" <(trace-cmd report "$1" 2>/dev/null) || echo "reports differ"
	sed -nE 's/.*\[([0-9]+)\].* place: +cpu=([0-9]+) .*/\1 \2/p' "$1.txt" | awk '{ n[$1 + 0 == $2 + 0]++ } END { print n[1] + 0, n[0] + 0 }'
}
ok "a raw recording" "$RECORDER" record --raw -b 1024 -o raw.dat "$pinned" 40 50
is "has lanes for CPUs" "$(places raw.dat | awk '{ print $1 + $2, ($2 > 0) }')" "4000 1"
ok "woven" "$RECORDER" convert --woven -i raw.dat -o woven.dat
is "each event is on its CPU" "$(places woven.dat)" "4000 0"
ok "recorder check" "$RECORDER" check woven.dat
ok "in parts" "$RECORDER" split -r -e 1500 -i raw.dat -o part
is "woven, each event of each part is on its CPU" "$(for part in part.000?; do
	"$RECORDER" convert --woven -i "$part" -o woven.dat && places woven.dat
done)" $'1500 0\n1500 0\n1000 0'
ok "the parts, merged" "$RECORDER" merge -o merged.dat part.0001 part.0002 part.0003
rm part.000?
ok "and woven" "$RECORDER" convert --woven -i merged.dat -o woven.dat
is "each event of all parts is on its CPU" "$(places woven.dat)" "4000 0"
ok "with a file that has no markers" "$RECORDER" merge --buffers woven -o merged.dat raw.dat woven.dat
ok "woven, too" "$RECORDER" convert --woven -i merged.dat -o both.dat
is "each event of both files is on its CPU" "$(places both.dat)" "8000 0"
ok "the file without markers first" "$RECORDER" merge --buffers woven -o merged.dat woven.dat raw.dat
ok "woven" "$RECORDER" convert --woven -i merged.dat -o both.dat
is "each event is on its CPU again" "$(places both.dat)" "8000 0"
python3 -c 'import sys
data = sys.stdin.buffer.read()
clock, = (option for option in (b"\0\7\0\0\0[mono]\0", b"\0\12\0\0\0[x86-tsc]\0") if data.count(b"\4" + option) == 1)
sys.stdout.buffer.write(data.replace(b"\4" + clock, b"\5" + clock))' <raw.dat >none.dat
ok "woven, of a file that states no clock" "$RECORDER" convert --woven -i none.dat -o woven.dat
is "it states none, either" "$(clocks woven.dat)" "none|"
ok "woven, version 6" "$RECORDER" convert --woven --file-version 6 -i raw.dat -o woven.dat
is "each event is on its CPU, too" "$(places woven.dat)" "4000 0"
is "and has its time" "$("$RECORDER" report -t woven.dat | grep -oE '[0-9]+\.[0-9]{9}: place.*' | sort | md5sum)" \
	"$("$RECORDER" report -t raw.dat | grep -oE '[0-9]+\.[0-9]{9}: place.*' | sort | md5sum)"
# Lanes that lost events begin with an event, before their first marker.
RECORDER_ENABLE='test:*' RECORDER_KEEP=1 RECORDER_BUFFER_KB=16 "$pinned" 40 500 >/dev/null
ok "one with losses" "$RECORDER" recover --raw -o raw.dat pinned
lost=$(lost_in "$err")
ok "has some" test "$lost" -gt 0
ok "woven with losses" "$RECORDER" convert --woven -i raw.dat -o woven.dat
is "none is on another CPU" "$(places woven.dat | awk '{ print ($1 > 0), $2 }')" "1 0"
is "the losses are there" "$(sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\].*/\1/p' woven.dat.txt | awk '{ sum += $1 } END { print sum + 0 }')" "$lost"
cp in.dat plain.dat
fails "a file without markers" "$RECORDER" convert --woven -i plain.dat -o woven.dat
like "is no raw recording" "$err" "^recorder convert: plain.dat: it is not a raw recording"
is "and nothing was written" "$(places woven.dat | awk '{ print ($1 > 0), $2 }')" "1 0"

# ---- what is refused

echo precious >precious.dat
cp precious.dat out.dat
head -c 20000 in.dat >cut.dat
fails "a file that is cut" "$RECORDER" convert -i cut.dat -o out.dat
like "is reported" "$err" "^recorder convert: cut.dat: truncated: "
"$mkdat" v6-plain >in.dat
head -c 20000 in.dat >cut.dat
fails "a file that is cut, with events before that" "$RECORDER" convert -i cut.dat -o saved.dat
like "is reported" "$err" "^recorder convert: cut.dat: truncated: .*; the rest of the file was read$"
ok "something is left" test "$("$RECORDER" report cut.dat 2>/dev/null | wc -l)" -gt 10
is "what is left is written, and trace-cmd reads it" "$(trace-cmd report -t saved.dat 2>&1 | cmp - <("$RECORDER" report -t cut.dat 2>/dev/null) && echo same)" same
ok "recorder check" "$RECORDER" check saved.dat
rm saved.dat
# The first record of the first page becomes one that is longer than the page.
at=$("$RECORDER" dump --records cut.dat 2>/dev/null | sed -nE 's/^ +page at ([0-9]+) .*/\1/p' | head -1)
cp cut.dat damaged.dat
printf '\0\0\0\0\xff\xff\xff\xff' | dd of=damaged.dat bs=1 seek=$((at + 16)) conv=notrunc 2>/dev/null
fails "a file that is cut and damaged" "$RECORDER" convert -i damaged.dat -o saved.dat
like "that is reported" "$err" "damaged: events of 1 page are missing"
is "the other pages' events are written" "$("$RECORDER" report -t saved.dat | grep -vc DROPPED)" \
	"$("$RECORDER" report -t damaged.dat 2>/dev/null | grep -vc DROPPED)"
ok "there are some" test "$("$RECORDER" report saved.dat | wc -l)" -gt 10
rm saved.dat
"$RECORDER" convert -i in.dat -o packed.dat
# Bytes of a chunk, in the middle of the data, are changed.
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
is "nothing was left" "$(ls -A | grep -v -E '\.(dat|ours|theirs|err|txt)$|^(expected|run|\.out|\.err)$')" ""
is "and the output is as before" "$(cat out.dat)" precious

done_testing
