#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The tables of docs/SHM-LAYOUT.md and docs/SPOOL-LAYOUT.md whose heads name a structure: each field has the offset and
# the size in its row. The compiler gives the real ones.
. "$top_srcdir/tests/tap.sh"

# report LINE STRUCTURE OFFSET SIZE FIELD: a statement that prints what is wrong with a row
report()
{
	printf 'if (offsetof(struct %s, %s) != %s || sizeof(((struct %s *)0)->%s) != %s)\n' "$2" "$5" "$3" "$2" "$5" "$4"
	printf '\tprintf("line %s: %s.%s is at %%zu, %%zu bytes\\n", offsetof(struct %s, %s), sizeof(((struct %s *)0)->%s));\n' \
		"$1" "$2" "$5" "$2" "$5" "$2" "$5"
}

# check DOC INCLUDE HEADER...: the document's tables; a program that includes INCLUDE has the structures of the headers
check()
{
	local doc=$1 include=$2 rows fields unknown='' overlaps='' end=0 last='' checked=0 named
	shift 2
	# The rows: line, structure, offset, size, field. A field is the first word of its cell; "text 1" is text[1].
	rows=$(awk -F ' *[|] *' '
		/^[|] offset [|]/ { structure = match($4, /`struct [a-z_]*`/) ? substr($4, RSTART + 8, RLENGTH - 9) : "no-structure" }
		!/^[|]/ { structure = "" }
		structure && $2 ~ /^[0-9]+$/ {
			field = $4
			sub(/:.*/, "", field)
			if (sub(/ [0-9]$/, "[&]", field))
				sub(/ /, "", field)
			print NR, structure, $2, $3, field
		}' "$doc")
	# structure.field, as the headers declare them; what is reserved has no name.
	fields=$(awk '
		/^struct [a-z_]* [{]/ { structure = $2 }
		/^[}];/ { structure = "" }
		/^\t\/\*/ { next }
		structure && match($0, /^\t[^;]*;/) {
			field = substr($0, 1, RLENGTH - 1)
			gsub(/\[[^]]*\]/, "", field)
			sub(/.* /, "", field)
			print structure "." field
		}' "$@")
	{
		printf '#include %s\n#include <stddef.h>\n#include <stdio.h>\nint main(void)\n{\n' "$include"
		while read -r line structure offset size field; do
			[ "$structure" = "$last" ] || end=0
			[ "$offset" -ge "$end" ] || overlaps+="line $line begins at $offset, before $end; "
			last=$structure end=$((offset + size))
			[ "$field" = reserved ] && continue
			if grep -q -x -F "$structure.${field%\[*}" <<<"$fields"; then
				report "$line" "$structure" "$offset" "$size" "$field"
				checked=$((checked + 1))
			else
				unknown+="line $line: $structure has no $field; "
			fi
		done <<<"$rows"
		printf 'return 0;\n}\n'
	} >"$TMP/layout.c"

	echo "# ${doc##*/}"
	is "each row is a field of the structure that its table names" "$unknown" ""
	is "no row begins before the end of the one above" "$overlaps" ""
	ok "there are rows" test "$checked" -gt 60
	# shellcheck disable=SC2086
	ok "the program with all rows compiles" $CC $CFLAGS_FOR_TEST "-I$top_srcdir" -o "$TMP/layout" "$TMP/layout.c"
	is "each field has the place and the length of its row" "$("$TMP/layout" 2>&1)" ""

	named=$(awk '{ sub(/\[.*/, "", $5); print $2 "." $5 }' <<<"$rows")
	is "each field of these structures has a row" \
		"$(awk '{ print $2 }' <<<"$rows" | sort -u | while read -r structure; do
			grep -e "^$structure\." <<<"$fields" | grep -v '\.reserved' | grep -v -x -F "$named"; done)" ""
}

doc=$top_srcdir/docs/SHM-LAYOUT.md
abi=$top_srcdir/include/librecorder/detail/abi.h
check "$doc" '<librecorder/reader.h>' "$abi" "${abi%.h}_page.h"
is "and the version is this one" "$(sed -n 's/.*`REC_ABI_VERSION` is \([0-9]*\).*/\1/p' "$doc")" \
	"$(sed -n 's/^#define REC_ABI_VERSION \([0-9]*\)u.*/\1/p' "$abi")"

doc=$top_srcdir/docs/SPOOL-LAYOUT.md
format=$top_srcdir/cli/recording/spool_format.h
check "$doc" '"cli/recording/spool_format.h"' "$format"
is "each structure of the spool has a table" "$(sed -n 's/^struct \([a-z_]*\) {.*/\1/p' "$format" | while read -r structure; do
	grep -q "^| offset .*\`struct $structure\`" "$doc" || echo "$structure"; done)" ""
is "and the version is this one" "$(sed -n 's/.*`SPOOL_VERSION` is \([0-9]*\).*/\1/p' "$doc")" \
	"$(sed -n 's/^#define SPOOL_VERSION \([0-9]*\)u.*/\1/p' "$format")"
done_testing
