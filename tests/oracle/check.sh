#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder check: files that keep the rules are valid, also those that convert and split write; a file with one error
# has one problem, which is reported with its place.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99

# Files of tests/golden that break a rule on purpose, and how.
declare -A expected=(
	[v6-unknown]="which has no format"
	[v7-unknown]="which has no format"
	[v6-lost-markers]="no viewer shows that events were lost"
)
nr=0
for name in $("$mkdat"); do
	"$mkdat" "$name" >in.dat
	run "$RECORDER" check in.dat
	nr=$((nr + 1))
	if [ -n "${expected[$name]:-}" ]; then
		like "$name" "$out" "${expected[$name]}"
	elif [ "$status" != 0 ] || [ "$(wc -l <<<"$out")" != 1 ] || [[ $out != "in.dat: valid: "* ]]; then
		fail "$name"
		diag "$out"
		broken=yes
	fi
done
is "the others of $nr files break no rule" "${broken:-no}" no

# ---- one byte, one problem

# spoil OFFSET BYTES: a copy of a valid file with other bytes
"$mkdat" v6-bare >good.dat
ok "a file that keeps the rules" "$RECORDER" check good.dat
like "is valid" "$out" "^good.dat: valid: 1 pages, 20 events, 0 counted lost, 2 print formats that viewers cannot parse$"
page=$("$RECORDER" dump --pages good.dat | sed -nE 's/^  page at ([0-9]+) .*/\1/p' | head -1)
spoil()
{
	cp good.dat bad.dat
	printf "$2" | dd of=bad.dat bs=1 seek="$1" conv=notrunc 2>/dev/null
}
# problem NAME REGEX: bad.dat has exactly one problem, which matches
problem()
{
	run "$RECORDER" check bad.dat
	is "$1: status" "$status" 1
	like "$1" "$out" "$2"
	like "$1: counted" "$err" "^recorder check: bad.dat: [0-9]+ problems?$"
}
spoil $((page + 8)) '\xff\xff\xff\x07'
problem "a page that is longer than a page" "^CPU 0, page at $page: a page of [0-9]+ bytes says it holds 134217727"
record=$("$RECORDER" dump --records good.dat | sed -nE 's/^ *([0-9]+)  data .*/\1/p' | sed -n 3p)
spoil $((page + record + 4)) '\x77\x77'
problem "an id without a format" "^CPU 0, page at $page: the event at byte $record has the id 30583, which has no format"
spoil $((page + record)) '\x01'
problem "an event that is too short" "^CPU 0, page at $page: the event at byte $record, [a-z:_]+, has 4 bytes, its fields take"
spoil 14 '\x00\x20'
run "$RECORDER" check bad.dat
is "the page size of the prologue: status" "$status" 1
like "the page size of the prologue" "$out$err" "pages have 8192 bytes, by the header_page text 4096|truncated"

# The time of the second page is changed to 0, so it is before that of the first page.
"$mkdat" v7-many >good.dat
"$RECORDER" check good.dat >/dev/null || fail "another one that is valid"
pages=$("$RECORDER" dump --pages good.dat | sed -nE 's/^  page at ([0-9]+) .*/\1/p')
second=$(sed -n 2p <<<"$pages")
cp good.dat bad.dat
printf '\0\0\0\0\0\0\0\0' | dd of=bad.dat bs=1 seek="$second" conv=notrunc 2>/dev/null
problem "time that goes back" "page at $second: (the page's time is before|time goes back)"

# ---- one rule, one problem

# make NAME: good.dat, which is valid
make()
{
	"$mkdat" "$1" >good.dat
	"$RECORDER" check good.dat >/dev/null || fail "$1 is valid"
}
# strict NAME REGEX: a problem of bad.dat that only --strict reports
strict()
{
	is "$1: without --strict" "$("$RECORDER" check bad.dat | sed -nE 's/^bad.dat: (valid): .*/\1/p')" valid
	run "$RECORDER" check --strict bad.dat
	is "$1: status" "$status" 1
	like "$1" "$out" "$2"
}
# at TEXT: where the text is in good.dat for the first time
at()
{
	grep -abom1 "$1" good.dat | head -n 1 | cut -d : -f 1
}

make v6-instances
sed 's/alpha/\x00lpha/' good.dat >bad.dat
problem "two buffers with one name" '^at [0-9]+: two buffers have the name ""'
spoil $(($(at flyrecord) + 10)) '\0\0'
problem "data that are in the head" "the head of the file and the data of CPU 0 overlap"
make v7-instances
option=$(at 'alpha')
spoil $((option + 33)) '\0\0\0\0\0\0\0\0'
problem "a CPU without data" '^buffer "alpha", CPU 0, page at 16384: the CPU has no data, and is listed'
spoil $((option + 25)) '\0\160'
problem "data outside of their section" '^buffer "alpha", CPU 0, .*: the data are not within the section of the buffer, 16384 to'
like "and in another one" "$out" "the section buffer and the data of CPU 0 overlap"

spoil $((option + 41)) '\0\0\0\0'
run "$RECORDER" check bad.dat
is "a CPU that is listed twice: status" "$status" 1
like "a CPU that is listed twice" "$err" '^recorder check: bad.dat: damaged: the option of buffer "alpha" \(at byte [0-9]+\)$'

sed 's/1002 a name/1001 a name/' good.dat >bad.dat
problem "two names of a thread" "line [0-9] of the command lines is a second name of thread 1001"
sed 's/^1002 /x002 /' good.dat >bad.dat
problem "a line without a thread" "line [0-9] of the command lines is not a thread and a name"
sed 's/^1002 a name/1002 \n103 x/' good.dat >bad.dat
problem "an empty name" "line [0-9] of the command lines is not a thread and a name"
last=$("$RECORDER" dump --cmd-lines good.dat | grep . | tail -n 1)
spoil $(($(at "^$last$") + ${#last})) ' '
strict "a last name without an end" "the last line of the command lines, [0-9], does not end"
sed 's/^entries: 0/entries; 0/' good.dat >bad.dat
problem "a statistic without a name" 'statistics: "entries; 0" is not a name and a value'
sed 's/CPU: 0/CPV: 0/' good.dat >bad.dat
problem "statistics without a CPU" 'statistics: "CPV: 0" is of no CPU'
sed 's/^overrun: 0/CPU: 0    /' good.dat >bad.dat
problem "statistics of a CPU twice" 'statistics: CPU 0 has two'
sed 's/\[mono\]\x00\x00\x00\x08/ mono \x00\x00\x00\x08/' good.dat >bad.dat
problem "a clock without brackets" "option traceclock has no clock in brackets"
sed 's/timestamp;\toffset:0/timestamp;\toffset:4/' good.dat >bad.dat
problem "a header_page text without time" "the header_page text has no field timestamp of 8 bytes at 0"

make v6-lost
page=12288 # it has the number of its lost events
like "losses are in its pages" "$("$RECORDER" dump --pages good.dat)" "page at $page .*lost"
spoil $((page + 11)) '\100'
problem "a number without a loss" "page at $page: the page has a number of lost events, and says that none were lost"
spoil $((page + 11)) '\340'
problem "reserved bits" "page at $page: reserved bits of the commit word are set"
# Padding is added up to 4 bytes before the end of the page.
used=$((0x$(od -An -tx2 -j $((page + 8)) -N 2 good.dat | tr -d ' ')))
spoil $((page + 8)) '\354\017'
cp bad.dat longer.dat
size=$(printf '%02x' $((4076 - used - 4)))
printf '\75\0\0\0%b\0\0\0' "\\x$size" | dd of=longer.dat bs=1 seek=$((page + 16 + used)) conv=notrunc 2>/dev/null
mv longer.dat bad.dat
problem "a number that does not fit" "page at $page: the number of lost events does not fit into the page"
cp good.dat bad.dat
strict "the high half of a commit word" "page at $page: the high half of the commit word is not 0"
make v6-zero-pages
page=$("$RECORDER" dump --pages good.dat | sed -nE 's/^  page at ([0-9]+) .*/\1/p' | head -n 1)
spoil $((page + 11)) '\200'
problem "a loss before no events" "page at $page: the page has no events: no viewer shows that events were lost"

make v6-extends
cp good.dat bad.dat
strict "padding that takes time" "padding takes time"
make v6-short
cp good.dat bad.dat
strict "a last page that is short" "the last page is shorter than a page"
make v6-plain
"$RECORDER" convert -i good.dat -o bad.dat --file-version 7 --compression zstd
ok "compressed data" "$RECORDER" check --strict bad.dat
# The size in the option is made too small, as trace-cmd's is.
read -r size start < <("$RECORDER" dump bad.dat | sed -nE 's/^  CPU 0: ([0-9]+) bytes at ([0-9]+)$/\1 \2/p')
number=$(printf '\\x%02x\\x%02x' $((start & 255)) $((start >> 8)))
place=$(grep -aboP "$number\\x00{6}" bad.dat | head -n 1 | cut -d : -f 1)
printf "$(printf '\\%03o\\%03o' $(((size - 4) & 255)) $(((size - 4) >> 8)))" |
	dd of=bad.dat bs=1 seek=$((place + 8)) conv=notrunc 2>/dev/null
strict "a size that is too small" "the chunks end at $((start + size)), the data at $((start + size - 4))"

"$mkdat" v7-many >good.dat
head -c 5000 good.dat >bad.dat
run "$RECORDER" check bad.dat
is "a file that is cut: status" "$status" 1
like "a file that is cut" "$err" "^recorder check: bad.dat: truncated: .* \\(at byte [0-9]+\\)$"
"$mkdat" v6-unknown >bad.dat
run "$RECORDER" check --limit 0 bad.dat
is "--limit: problems" "$(grep -c -e "^at" -e "^CPU" <<<"$out")" 0
like "--limit: the others" "$out" "only the first 0 are shown"

# ---- what we write

for how in "6 none" "7 none" "7 zstd"; do
	# shellcheck disable=SC2086
	set -- $how
	"$RECORDER" convert -i good.dat -o out.dat --file-version "$1" --compression "$2"
	ok "what convert writes, $how" "$RECORDER" check out.dat
	"$RECORDER" split -i out.dat -o part -e 100 >/dev/null
	ok "what split writes, $how" "$RECORDER" check part.1
done

done_testing
