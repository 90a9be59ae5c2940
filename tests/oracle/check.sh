#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder check: files that keep the rules are valid, those that convert and split write too; a file with one thing wrong
# has one problem, named with its place.

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
# problem NAME REGEX: the one problem of bad.dat
problem()
{
	run "$RECORDER" check bad.dat
	is "$1: status" "$status" 1
	like "$1" "$out" "$2"
	like "$1: counted" "$err" "^recorder check: bad.dat: [0-9]+ problems?$"
}
spoil $((page + 8)) '\xff\xff\xff\x07'
problem "a page that is longer than a page" "^CPU 0, page at $page: a page of [0-9]+ bytes says it holds 134217727"
record=$("$RECORDER" dump --all good.dat | sed -nE 's/^ *([0-9]+)  data .*/\1/p' | sed -n 3p)
spoil $((page + record + 4)) '\x77\x77'
problem "an id without a format" "^CPU 0, page at $page: the event at byte $record has the id 30583, which has no format"
spoil $((page + record)) '\x01'
problem "an event that is too short" "^CPU 0, page at $page: the event at byte $record, [a-z:_]+, has 4 bytes, its fields take"
spoil 14 '\x00\x20'
run "$RECORDER" check bad.dat
is "the page size of the prologue: status" "$status" 1
like "the page size of the prologue" "$out$err" "pages have 8192 bytes, by the header_page text 4096|truncated"

# A page before the one before, and twice the same data.
"$mkdat" v7-many >good.dat
"$RECORDER" check good.dat >/dev/null || fail "another one that is valid"
pages=$("$RECORDER" dump --pages good.dat | sed -nE 's/^  page at ([0-9]+) .*/\1/p')
second=$(sed -n 2p <<<"$pages")
cp good.dat bad.dat
printf '\0\0\0\0\0\0\0\0' | dd of=bad.dat bs=1 seek="$second" conv=notrunc 2>/dev/null
problem "time that goes back" "page at $second: (the page's time is before|time goes back)"

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
