#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Nothing looks upward: the includes of each folder, against the layers of docs/ARCHITECTURE.md.

. "$top_srcdir/tests/tap.sh"

cd "$top_srcdir" || exit 1

# headers FOLDER: "file header" for each #include of its sources
headers()
{
	grep -HoE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+' "$1"/*.[ch] 2>/dev/null |
		sed -E 's/^([^:]*):[^<"]*[<"]/\1 /'
}

# none NAME FOLDER REGEX [BUT]: no header that FOLDER includes matches REGEX, unless the line matches BUT
none()
{
	local all found

	all=$(headers "$2")
	if [ -z "$all" ]; then
		fail "$1"
		diag "$2 has no sources with includes"
		return
	fi
	found=$(printf '%s\n' "$all" | grep -E " $3" | grep -vE "${4:-^$}")
	is "$1" "$found" ""
}

external='(traceevent/|event-parse\.h|tracefs|zstd|kbuffer\.h)'

none "public headers include libc and each other" include/librecorder "(format|cli|librecorder/.*_private|librecorder/(process|shm|rules|enable)\.h)|$external"
none "librecorder needs libc alone" librecorder "$external"
none "librecorder knows no command" librecorder '(cli/|cmd)'
none "librecorder knows no trace.dat but in save.c" librecorder '(\.\./)?format/' '^librecorder/save\.c '
none "format knows no rings, buffers, threads" format \
	'(<?librecorder/)?(ring|lane|buffer|reader|event|clock|[a-z]*_private|process|shm|rules|enable|pthread)\.h'
none "format knows no command and no kernel side" format '(cli/|cmd|tracefs)'
none "commands use no private header of librecorder" cli 'librecorder/.*(internal|private)|\.\./librecorder/'

private=$(cd librecorder && ls ./*.h 2>/dev/null | sed 's|^\./||')
for header in $private; do
	[ -e "include/librecorder/$header" ] && continue
	is "private $header is not for commands" "$(headers cli | grep -E " librecorder/$header\$")" ""
	is "private $header is not for format" "$(headers format | grep -E " librecorder/$header\$")" ""
done

# The rows of a folder's table in docs/ARCHITECTURE.md: "stem.c, .h, _private.h | what".
rows()
{
	awk -v folder="$1/" '
		/^###? / { on = $2 == folder; next }
		on && /^\| [a-z0-9_]+\.[ch]/ {
			sub(/^\| /, ""); sub(/ \*? *\|.*/, ""); nr = split($0, name, ", ")
			stem = name[1]; sub(/\..*/, "", stem)
			for (i = 1; i <= nr; i++)
				print name[i] ~ /^[._]/ ? stem name[i] : name[i]
		}' docs/ARCHITECTURE.md | grep '\.[ch]$' | sort
}

for folder in include/librecorder librecorder format cli; do
	ok "docs/ARCHITECTURE.md has rows for $folder" test "$(rows "$folder" | wc -l)" -gt 10
	is "one for each file, and no more" "$(diff <(rows "$folder") <(cd "$folder" && ls -- *.[ch] | sort) | grep '^[<>]')" ""
done

libc=$(sed -n '/^libformat_core_sources/,/[^\\]$/p' format/include.am | grep -oE 'format/[a-z0-9_]+\.[ch]')
# A script or program that stands in no list is never run.
tests=$(cd "$top_srcdir" && ls tests/*/*.sh tests/*/test_*.c tests/*/fuzz_*.c tests/*/kernel_*.c)
ok "there are tests" test "$(wc -l <<<"$tests")" -gt 100
is "each of them stands in tests/include.am" \
	"$(grep -v -x -F -f <(grep -oE 'tests/[a-z]+/[a-z_0-9]+(\.sh|\.c)?' tests/include.am) <<<"$tests" |
		grep -v -x -F -f <(grep -oE 'tests/[a-z]+/[a-z_0-9]+' tests/include.am | sed 's/$/.c/'))" ""

ok "the libc-only list of format is not empty" test -n "$libc"
is "the libc-only files of format need libc alone" \
	"$(headers format | grep -E " $external" | grep -F -f <(printf '%s\n' "$libc" | sed 's/$/ /'))" ""

done_testing
