#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every test that docs/DESIGN-FIGURES.md names exists; every figure, remark and bug has a row. And every fact that the
# sources refer to has a row in docs/FACTS.md.
. "$top_srcdir/tests/tap.sh"

doc=$top_srcdir/docs/DESIGN-FIGURES.md
tests=$(sed -n 's/^Test(\([a-z_]*\), *\([A-Za-z0-9_]*\).*/\1\/\2/p' "$top_srcdir"/tests/*/*.c)

# is_there SUITE/NAME, or NAME of any suite
is_there()
{
	grep -q -x -e "$1" -e "[a-z_]*/$1" <<<"$tests"
}

missing=$(grep -o -E '\b((design|review|forms|profbuf|history|lane_control|reader_event)/[A-Za-z0-9_]+|h[0-9]{2}_[a-z0-9_]+)' "$doc" |
	  sort -u | while read -r name; do is_there "$name" || echo "$name"; done)
is "the tests it names exist" "$missing" ""

named=$(grep -c -o -E '(design|review|history)/[a-z]|h[0-9]{2}_' "$doc")
ok "it names some" test "$named" -gt 60

rows=$(sed -n 's/^| \([0-9R, to]*\) |.*/\1/p' "$doc")
figures=0
while read -r from to; do
	for ((i = from; i <= ${to:-$from}; i++)); do
		figures=$((figures + 1))
	done
done < <(sed -n '/^## The figures/,/^## The review/s/^| \([0-9][0-9]*\)\(\(, \| to \)\([0-9]*\)\)\{0,1\} |.*/\1 \4/p' "$doc")
is "fifty-one figures" "$figures" 51
is "eleven remarks" "$(grep -c -E '^R[0-9]+$' <<<"$rows")" 11
is "forty bugs" "$(sed -n '/^## Forty bugs/,/^## Go/s/^| \([0-9]*\) |.*/\1/p' "$doc" | paste -sd ' ')" "$(seq 40 | paste -sd ' ')"

unnamed=$(sed -n 's/^Test(profbuf, *\([A-Za-z_]*\).*/\1/p' "$top_srcdir/tests/unit/test_profbuf.c" |
	  while read -r name; do grep -q "$name" "$doc" || echo "$name"; done)
is "each test of profBuf has a row" "$unnamed" ""

unlisted=$(grep -E '^(design|review)/(figure|r[0-9])|/h[0-9]{2}_' <<<"$tests" |
	   while read -r name; do grep -q -e "${name#history*/}" "$doc" || echo "$name"; done)
is "each test of a figure, a remark or a bug has a row" "$unlisted" ""

label='[A-I][0-9]+(\.[0-9]+)?'
facts=$(cd "$top_srcdir" && grep -rohiE "facts[ /](trace-dat [0-9]\.[0-9]|$label(( to |, | and )$label)*)" \
		include librecorder format cli tests docs | grep -oE "trace-dat [0-9.]*|$label" | sort -u)
ok "the sources refer to facts" test "$(wc -l <<<"$facts")" -gt 20
unsaid=$(grep -v '^H' <<<"$facts" | while read -r fact; do
	grep -q -F "| $fact |" "$top_srcdir/docs/FACTS.md" || echo "$fact"; done)
is "each of these facts has a row" "$unsaid" ""
done_testing
