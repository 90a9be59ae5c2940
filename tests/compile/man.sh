#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Manual pages are well-formed, installed, refer to pages that exist, and name each public function and macro.

. "$top_srcdir/tests/tap.sh"

command -v mandoc >/dev/null || skip_all "mandoc is not installed"
cd "$top_srcdir" || exit 1

pages=$(ls man/*.[1-9] 2>/dev/null)
ok "there are pages" test -n "$pages"

for page in $pages; do
	is "mandoc reports nothing about $page" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
	ok "$page is installed" grep -qE "(^|[[:space:]])$page( |\$)" man/include.am
	# Our own pages are recognised by their names; others belong to other packages.
	for name in $(mandoc -T ascii "$page" | sed 's/.\x08//g' |
		grep -oE '\b((recorder|librecorder|rec)[a-z_-]*|REC_EVENT)\([1-9]\)' | sort -u); do
		file=man/${name%(*}.${name: -2:1}
		ok "$page refers to $name, which exists" test -e "$file"
	done
done

# The program in rec_map_lane(3) is the one in examples/, which is compiled.
shown=$(mandoc -T ascii -O width=200 man/rec_map_lane.3 | sed 's/.\x08//g' | sed -n '/A live consumer/,/^SEE ALSO/p' |
	sed '$d' | tr -d ' \t\n')
is "the live consumer is in rec_map_lane(3)" "$shown" "$(sed '1,2d' examples/05_top.c | tr -d ' \t\n')"

# What is between the visibility pragmas is public: exported functions, and inline ones, which have a body.
for header in include/librecorder/*.h; do
	printf '#include <librecorder/%s>\n' "${header##*/}"
done >"$TMP/all.c"
# shellcheck disable=SC2086
$CC -std=c11 -D_GNU_SOURCE $CFLAGS_FOR_TEST -E "$TMP/all.c" 2>"$TMP/errors" | awk '
	/^# [0-9]+ "/ { ours = index($3, "/include/librecorder/") > 0; next }
	/^#pragma GCC visibility push/ { public = 1; next }
	/^#pragma GCC visibility pop/ { public = 0; next }
	ours && public && !/^#/' | tr '\n' ' ' | sed -E 's/[{};]/\n&\n/g' | awk '
	/^[{;]$/ { if (depth == 0 && text ~ /^[^=(]*[ *]rec_[a-z0-9_]+ *\(/) {
			sub(/ *\(.*/, "", text); sub(/.*[ *]/, "", text); print text }
		depth += $0 == "{"; text = ""; next }
	/^\}$/ { depth--; next }
	depth == 0 { gsub(/__attribute__ *\(\([a-z_]*\)\)/, ""); text = $0 }
' | sort -u >"$TMP/functions"
diag "$(cat "$TMP/errors")"
# The list must contain, for example, the first function after a pragma, an inline one, and one with an attribute.
for name in rec_event_register rec_event_total rec_reserve rec_save; do
	ok "the headers declare $name" grep -qxF "$name" "$TMP/functions"
done
# The macros of applications: those of all public headers, except names with two underscores, and the words that make functions
# inline.
find include/librecorder -maxdepth 1 -name '*.h' -exec cat {} + |
	grep -oE '^#[[:space:]]*define (REC|rec)[A-Za-z0-9]*(_[A-Za-z0-9]+)*\>' | sed 's/.* //' |
	grep -vE '^REC_INLINE(_ALWAYS)?$' | sort -u >"$TMP/macros"
# The list must contain one macro of each header that defines any.
for name in REC_BUFFER_SUFFIX REC_DAT_LOST_UNKNOWN REC_EVENT rec_printf REC_FIELDS_MAX REC_FILTER_COUNTS REC_HAVE_EVENTS REC_LOST_UNKNOWN REC_MAP_COPY \
	REC_OPTIONS_INIT REC_READ_WHOLE REC_TIMED_END REC_VERSION_MAJOR; do
	ok "the headers define $name" grep -qxF "$name" "$TMP/macros"
done

# The names of a page are those that its NAME section has before the dash: man and apropos find it by these.
for page in man/*.3; do
	sed -n '/^\.SH NAME$/,/^\.SH SYNOPSIS$/p' "$page" | grep -v '^\.' | tr '\n' ' ' |
		sed 's/ \\- .*/ /' | tr -s ', ' '\n'
done | sort >"$TMP/named"
is "no name has two pages" "$(uniq -d "$TMP/named")" ""
is "each function has a manual page" "$(grep -vxF -f "$TMP/named" "$TMP/functions")" ""
is "each macro has a manual page" "$(grep -vxF -f "$TMP/named" "$TMP/macros")" ""
# Conversely, a name of a page is in a header, or is the page itself.
strangers=$(while read -r name; do
	[ "$name" = librecorder ] || grep -qwF -e "$name" include/librecorder/*.h include/librecorder/detail/*.h || echo "$name"
done <"$TMP/named")
is "each name of a page is in a header" "$strangers" ""

# man finds an installed page by each of these names, and the page has the name.
mkdir -p "$TMP/man/man3"
cp man/*.3 "$TMP/man/man3/"
# shellcheck disable=SC2046
ok "links are made" sh man/links.sh install "$TMP/man/man3" . $(ls man/*.[1-9])
unfound=$(cd "$TMP/man" && cat "$TMP/functions" "$TMP/macros" | while read -r name; do
	mandoc -T ascii "man3/$name.3" 2>/dev/null | sed 's/.\x08//g' | grep -cwF -e "$name" >/dev/null || echo "$name"
done)
is "man finds each function and macro" "$unfound" ""

done_testing
