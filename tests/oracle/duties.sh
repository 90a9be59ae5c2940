#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The duties of writers in format/trace-dat.md: the document and duties.py list the same duties, the files that the
# commands write keep them, and files that break one are found.

. "$top_srcdir/tests/tap.sh"

duties=$top_srcdir/tests/oracle/duties.py
mkdat=$top_builddir/tests/golden/mkdat
pinned=$top_builddir/tests/programs/pinned
cd "$TMP" || exit 99
command -v python3 >/dev/null || skip_all "python3 is not installed"
[ -x "$pinned" ] || make -C "$top_builddir" -s tests/programs/pinned >/dev/null

is "the document has the duties that are checked" "$(sed -nE 's/^\| (W[0-9]+) \|.*/\1/p' "$top_srcdir/format/trace-dat.md")" \
	"$(python3 "$duties" --list)"

# ---- what is written

for how in "" "--file-version 7" "--raw" "--buffers split" "--raw --file-version 7"; do
	# shellcheck disable=SC2086
	"$RECORDER" record -q $how -o "made$how.dat" "$pinned" 10 200 >/dev/null
	ok "record $how" python3 "$duties" "made$how.dat"
	ok "record $how: recorder check" "$RECORDER" check --strict "made$how.dat"
done
"$RECORDER" record -q --compression zstd -b 4096 -o packed.dat "$pinned" 10 20000 >/dev/null
ok "record --compression zstd" python3 "$duties" packed.dat
ok "record --compression zstd: recorder check" "$RECORDER" check --strict packed.dat
like "which is compressed" "$("$RECORDER" dump packed.dat)" "compression zstd"
for how in "" "--raw"; do
	RECORDER_ENABLE='test:*' RECORDER_KEEP=1 RECORDER_BUFFER_KB=16 "$pinned" 40 500 >/dev/null
	# shellcheck disable=SC2086
	ok "recover $how" "$RECORDER" recover $how -o "lost$how.dat" pinned
	like "recover $how: it lost events" "$("$RECORDER" report "lost$how.dat")" "EVENTS DROPPED"
	ok "recover $how: its duties" python3 "$duties" "lost$how.dat"
done
# breaks FILE: the duties that it breaks, a line each
breaks()
{
	python3 "$duties" "$1" | sed -E 's/.* breaks (W[0-9]+): .*/\1/' | sort
}
# Pages are copied as they are: the output breaks no other duty than the input.
for name in v6-many v7-instances v6-lost v6-extends v6-page64k v7-sparse v6-big-endian; do
	"$mkdat" "$name" >in.dat
	for how in "6 none" "7 none" "7 any"; do
		"$RECORDER" convert -i in.dat -o out.dat --file-version "${how% *}" --compression "${how#* }"
		is "convert $name, $how" "$(comm -13 <(breaks in.dat) <(breaks out.dat))" ""
	done
	"$RECORDER" split -i in.dat -o part -e 150 >/dev/null
	ok "split $name" python3 "$duties" part.1
done
"$mkdat" v6-plain >a.dat
"$mkdat" v7-instances >b.dat
"$RECORDER" merge -o out.dat --compression none a.dat b.dat >/dev/null
ok "merge" python3 "$duties" out.dat
ok "merge: recorder check" "$RECORDER" check --strict out.dat

# ---- what breaks a duty is found

# broken DUTY FILE: the file breaks this duty, and recorder check has a problem with it
broken()
{
	run python3 "$duties" "$2"
	like "$1 is found" "$out" "^(.*
)?$2 breaks $1: "
	run "$RECORDER" check --strict "$2"
	is "$1: recorder check" "$status" 1
}
# spoil OFFSET BYTES: bad.dat is a.dat with other bytes
spoil()
{
	cp a.dat bad.dat
	printf "$2" | dd of=bad.dat bs=1 seek="$1" conv=notrunc 2>/dev/null
}
page=$("$RECORDER" dump --pages a.dat | sed -nE 's/^  page at ([0-9]+) .*/\1/p' | sed -n 2p)
spoil 14 '\0\010'
broken W1 bad.dat
spoil "$page" '\0\0\0\0\0\0\0\0'
broken W10 bad.dat
"$mkdat" v6-lost-markers >markers.dat
broken W11 markers.dat
"$mkdat" v6-short >short.dat
broken W3 short.dat
sed 's/\[mono\]/ mono /g' a.dat >clock.dat
broken W4 clock.dat
sed 's/1002 a name/1001 a name/' a.dat >names.dat
broken W9 names.dat
sed 's/ID: 16385/ID: 16384/' a.dat >ids.dat
broken W8 ids.dat
sed 's/size:4080/size:4081/' a.dat >header.dat
broken W7 header.dat
"$mkdat" v6-extends >extends.dat
broken W12 extends.dat
# The plain size of the first chunk is changed, so that it is not a number of whole pages.
at=$("$RECORDER" dump packed.dat | sed -nE 's/^  CPU [0-9]+: [0-9]+ bytes at ([0-9]+)$/\1/p' | head -1)
cp packed.dat chunk.dat
printf '\1' | dd of=chunk.dat bs=1 seek=$((at + 8)) conv=notrunc 2>/dev/null
broken W6 chunk.dat
# Chunks of more than 1 MiB.
if grep -q 'libz\.so\.1' <<<"$(ldconfig -p)"; then
	"$RECORDER" convert -i packed.dat -o plain.dat --file-version 7 --compression none
	python3 "$top_srcdir/tests/oracle/zlib_file.py" plain.dat large.dat 300
	broken W6 large.dat
	like "recorder check, W6" "$out" "a chunk has [0-9]{7} bytes, more than 1048576"
else
	skip "chunks of more than 1 MiB" "zlib is not installed"
fi
# The second CPU's data is that of the first.
table=$(grep -abo flyrecord a.dat | head -1 | cut -d : -f 1)
cp a.dat twice.dat
dd if=a.dat of=twice.dat bs=1 skip=$((table + 10)) seek=$((table + 26)) count=8 conv=notrunc 2>/dev/null
broken W2 twice.dat
sed 's/alpha/\x00lpha/' b.dat >buffers.dat
broken W5 buffers.dat

# ---- recorder check knows the same duties

# duties.py cannot read commit words of 4 bytes or compressed options. No duty forbids ids without a format.
declare -A apart=([v6-long4]=1 [v6-big-long4]=1 [v7-zstd]=1 [v7-zstd-instances]=1 [v6-unknown]=1 [v7-unknown]=1)
nr=0
for name in $("$mkdat"); do
	[ -z "${apart[$name]:-}" ] || continue
	"$mkdat" "$name" >in.dat
	python3 "$duties" in.dat >expected
	should=$?
	nr=$((nr + 1))
	run "$RECORDER" check --strict in.dat
	[ "$status" = "$should" ] && continue
	fail "recorder check --strict: $name"
	diag "$(<expected)" "$out"
	differ=yes
done
is "recorder check --strict agrees on $nr files" "${differ:-no}" no

done_testing
