#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The layers: each folder includes and calls only what the table below permits, there is no cycle, and no file is too
# long. docs/ARCHITECTURE.md describes the same and has a row for each file. Every rule is shown to fail when it is
# broken.

. "$top_srcdir/tests/tap.sh"

cd "$top_srcdir" || exit 1

# FOLDER : other folders, and single headers of others, that it may include : public headers that it may include
cat >"$TMP/rooms" <<'END'
librecorder/core : : detail/abi detail/word event_text filter log page pattern version
librecorder/os : librecorder/core : detail/abi detail/ring buffer_dir clock
librecorder/ring : librecorder/core librecorder/os : detail/ring page source
librecorder/process : librecorder/core librecorder/os librecorder/ring : detail/abi detail/event_macros buffer buffer_dir clock context event event_text ffi filter lane version
librecorder/view : librecorder/core librecorder/os librecorder/ring : event_text map page reader
librecorder : librecorder/core librecorder/os librecorder/process librecorder/view format/weave : buffer clock reader
format/io : librecorder/os/high_fd.h : page
format/hist : :
format/dat : format/io librecorder/core/page_bytes.h librecorder/core/stats_text.h : page
format/weave : format/io format/dat librecorder/core/page_bytes.h : clock event_text log page source
format/print : format/io :
format/text : format/io format/dat format/print :
format/model : format/io format/dat format/text :
format/public : format/io format/dat format/text : dat
format/sql : format/io format/dat format/text format/model :
format/export : format/io format/dat format/print format/text format/model :
format/series : format/io format/dat format/export format/text format/model :
format/why : format/io format/dat format/text format/model :
format/stats : :
format/diff : format/io format/dat format/text format/model format/stats format/why :
format/verify : format/io format/dat format/print format/text : page
format/view : format/io format/dat format/text format/model :
kernelshark : format/io format/dat format/text format/model :
cli/base : format/io/utf8.h librecorder/core/no_controls.h librecorder/core/proc_stat.h :
cli/recording : cli/base format/io format/weave librecorder/core/dir_rules.h librecorder/core/stats_text.h librecorder/os/boot_id.h librecorder/os/pid_namespace.h : buffer_dir clock event_text filter lane log page pattern reader source
cli/kernel : cli/base cli/recording format/dat format/io format/weave librecorder/core/stats_text.h librecorder/os/boot_id.h librecorder/os/pid_namespace.h librecorder/os/mount.h : clock lane map page
cli/common : cli/base cli/recording format/dat format/io format/series format/text : reader
cli/programs : cli/common cli/kernel cli/recording format/text format/weave cli/base format/io : event_text lane log map page pattern reader
cli/record : cli/base cli/common cli/kernel cli/programs cli/recording format/dat : buffer_dir page
cli/report : cli/common format/dat format/io format/model format/text format/print cli/base : context event_text filter pattern
cli/ask : cli/base cli/common cli/report format/dat format/diff format/export format/hist format/io format/model format/series format/sql format/text format/why :
cli/files : cli/base cli/common format/dat format/io format/text : page pattern
cli/view : cli/common cli/kernel cli/recording format/dat format/io format/model format/view format/text format/weave : clock
cli : cli/ask cli/base cli/common cli/files cli/kernel cli/programs cli/record cli/recording cli/report cli/view format/dat format/diff format/export format/io format/text format/verify format/hist format/series format/why : buffer_dir clock event_text lane log map reader
END

# Folders that may use libraries besides libc.
external='(traceevent/|event-parse|tracefs|zstd|zlib|kbuffer|sqlite3|editline)'
libraries='^(format/dat/dat_compress|format/dat/dat_pack\.|format/diff/|format/export/|format/model/|format/print/|format/public/|format/series/|format/sql/|format/text/|format/verify/|format/view/|format/why/|cli/)'

# A folder may call its own functions and those of the folders that it may include. It may also call the functions of
# the folders listed here, which public headers declare.
cat >"$TMP/calls" <<'END'
format/weave : librecorder/core
cli/recording : librecorder/core librecorder/os librecorder/view
cli/kernel : librecorder/core librecorder/os librecorder/view
cli/common : librecorder/view
cli/programs : librecorder/core librecorder/view
cli/record : librecorder/os librecorder/view
cli/files : librecorder/core
cli/report : librecorder/core
cli/view : librecorder/os librecorder/view
cli : librecorder/core librecorder/os librecorder/view
END

lines_max=500

# includes: "file quote header" for each #include of the tree; quote is " or <
includes()
{
	grep -roE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<][^">]+' --include='*.[ch]' include librecorder format cli kernelshark |
		sed -E 's/^([^:]*):[^"<]*(["<])/\1 \2 /'
}

# arrows: prints the includes on stdin that the table does not permit
arrows()
{
	awk -v external="$external" -v libraries="$libraries" '
		function room(path) { sub(/\/[^\/]*$/, "", path); return path }
		FILENAME != "-" {
			split($0, part, / *: */)
			known[part[1]] = 1
			nr = split(part[2], name, " ")
			for (i = 1; i <= nr; i++) may[part[1] " " name[i]] = 1
			nr = split(part[3], name, " ")
			for (i = 1; i <= nr; i++) public[part[1] " librecorder/" name[i] ".h"] = 1
			next
		}
		{ here = room($1); is_public = here ~ /^include\// }
		!is_public && !(here in known) { print $1, "is in no room of the table"; next }
		$3 ~ external { if ($1 !~ libraries) print; next }
		$2 == "<" && $3 ~ /^librecorder\// { if (!is_public && !(here " " $3 in public)) print; next }
		$2 == "\"" && (is_public || (room($3) != here && !(here " " room($3) in may) && !(here " " $3 in may))) { print }
	' "$TMP/rooms" -
}

includes >"$TMP/includes"
ok "there are includes" test "$(wc -l <"$TMP/includes")" -gt 500
is "no arrow upwards" "$(arrows <"$TMP/includes")" ""

# Each folder, with each folder and each header that it may not use.
headers=$(cd include/librecorder && find . -name '*.h' | sed 's|^\./||; s|\.h$||')
while IFS=: read -r here rooms public; do
	here=${here% }
	while IFS=' :' read -r there _; do
		[ "$here" = "$there" ] || [[ "$rooms " == *" $there "* ]] || echo "$here/x.c \" $there/y.h"
	done <"$TMP/rooms"
	for header in $headers; do
		[[ "$public " == *" $header "* ]] || echo "$here/x.c < librecorder/$header.h"
	done
done <"$TMP/rooms" >"$TMP/forbidden"
ok "most arrows are not permitted" test "$(wc -l <"$TMP/forbidden")" -gt 1500
is "any of those is found" "$(arrows <"$TMP/forbidden" | diff "$TMP/forbidden" -)" ""
for line in 'librecorder/core/x.c < zstd.h' 'format/io/x.h < traceevent/event-parse.h' 'format/dat/dat_read.c < zstd.h' \
	'include/librecorder/x.h " librecorder/process/process.h'; do
	is "and so is $line" "$(arrows <<<"$line")" "$line"
done
is "a folder that the table does not have" "$(arrows <<<'cli/attic/x.c < stdio.h')" "cli/attic/x.c is in no room of the table"

# ------------------------------------------------------------------------------------------------ calls

# objects FOLDER: "source object" for each source there: its newest object, because an earlier build may have left one
# with another name. Objects of sources that no longer exist are left out.
objects()
{
	local object name

	ls -t "$top_builddir/$1"/*.o "$top_builddir/$1"/.libs/*.o 2>/dev/null | while read -r object; do
		name=${object##*/}
		name=${name%.o}
		name=$1/${name##*-}.c
		[ ! -e "$name" ] && [ ! -e "$top_builddir/$name" ] || echo "$name $object"
	done | awk '!seen[$1]++'
}

while IFS=' :' read -r folder _; do
	objects "$folder"
done <"$TMP/rooms" >"$TMP/objects"
is "each source of format has an object" \
	"$(find format -name '*.c' | sort | comm -23 - <(cut -d ' ' -f 1 "$TMP/objects" | sort))" ""

# symbols: "folder kind symbol", with an address before the kind if it is defined there, of each folder's objects
symbols()
{
	cut -d ' ' -f 2- "$TMP/objects" | xargs -d '\n' nm -A | awk '
		FILENAME != "-" { object = substr($0, length($1) + 2); sub(/\/[^\/]*$/, "", $1); folder[object] = $1; next }
		{ end = index($0, ".o:") + 2; print folder[substr($0, 1, end - 1)], substr($0, end + 1) }' "$TMP/objects" -
}
symbols >"$TMP/symbols"

# calls: "user symbol definer" for each function or variable of the tree that an object of another folder refers to
calls()
{
	awk '
		NF == 4 && $3 ~ /[TDBRCVW]/ { at[$4] = $1 }
		NF == 3 && $2 == "U" { wants[$1 " " $3] = 1 }
		END { for (want in wants) { split(want, part, " ")
			if (part[2] in at && at[part[2]] != part[1]) print part[1], part[2], at[part[2]] } }' "$TMP/symbols"
}

# calls_up: those of the calls on stdin that neither table permits
calls_up()
{
	awk '
		FILENAME != "-" {
			split($0, part, / *: */)
			nr = split(part[2], name, " ")
			for (i = 1; i <= nr; i++) may[part[1] " " name[i]] = 1
			next
		}
		!($1 " " $3 in may) { print }
	' "$TMP/rooms" "$TMP/calls" - | sort
}

calls >"$TMP/called"
ok "there are calls" test "$(wc -l <"$TMP/called")" -gt 100
is "no call upwards" "$(calls_up <"$TMP/called")" ""
for line in 'librecorder/view rec_process librecorder/process' 'librecorder/core rec_clock_mono librecorder/os' \
	'format/weave rec_view_open librecorder/view' 'cli/recording opts_parse cli' 'cli/kernel rec_process librecorder/process'; do
	is "and this one would be found: $line" "$(calls_up <<<"$line")" "$line"
done

# data: "variable file..." for each variable among the symbols of objects on stdin that one file defines and others refer to,
# except those of the public headers
data()
{
	awk '
		{ file = $1; sub(/^.*\//, "", file); sub(/\.o:.*/, "", file); sub(/^.*-/, "", file) }
		$(NF - 1) ~ /^[BDRC]$/ { at[$NF] = file }
		$(NF - 1) == "U" { users[$NF] = users[$NF] " " file }
		END { for (name in at) if (name in users) print name, at[name] users[name] }' | sort |
		while read -r name files; do
			grep -rqw "$name" include || echo "$name $files"
		done
}

# Each part of librecorder/process keeps its own state: other parts use its functions.
awk '/^librecorder\/process\// { print $2 }' "$TMP/objects" | LC_ALL=C sort | xargs nm -A >"$TMP/process"
is "few files of librecorder/process share data" "$(data <"$TMP/process")" \
	"rec_auto_linked auto process
rec_event_conditions event filter_run
rec_pool lane_pool lane lane_control lane_grow lane_share lane_thread
rec_process process process_file
rec_thread_context context lane lane_share"
is "one that shared them would be found" "$(printf '%s\n' 'a/process.o:0000 B rec_process' 'a/x-debug.o: U rec_process' | data)" \
	"rec_process process debug"

# prints: "folder symbol" for each use of a function that prints, among the symbols of objects on stdin
prints()
{
	awk '$3 ~ /^(stdout|stderr|(__)?v?printf(_chk)?|puts|putchar|perror|psignal|warnx?|errx?)$/ { print $1, $3 }'
}

# Only commands print, and KernelShark's plugin if it shows nothing. librecorder's line for REC_DEBUG is a write(2).
is "only commands print" "$(prints <"$TMP/symbols" | grep -vE '^(cli(/(common|programs|record|report|ask|files|view))?|kernelshark) ')" ""
ok "these do" test -n "$(prints <"$TMP/symbols")"
is "a folder that printed would be found" "$(prints <<<'cli/recording U stderr')" "cli/recording stderr"

# options FILE...: strings of C that name options of a command line. ulimit and mount are other commands; instances of tracefs have
# names that end with "-clock".
options()
{
	grep -ohE '"([^"\\]|\\.)*"' "$@" | grep -E "[\" (']-{1,2}[a-zA-Z]" | grep -vE 'ulimit -|mount -|^"-clock"$'
}

# commands FILE...: strings of C that name commands of recorder
commands()
{
	grep -ohE '"([^"\\]|\\.)*"' "$@" | grep -E "'recorder [a-z]"
}

is "cli/recording and cli/kernel know no command" "$(commands cli/recording/*.[ch] cli/kernel/*.[ch])" ""
echo 'message(sink, "no program ('"'recorder ps'"' shows them)");' >"$TMP/commands.c"
is "one that did would be found" "$(commands "$TMP/commands.c")" "\"no program ('recorder ps' shows them)\""
is "cli/recording and cli/kernel know no option of the command" "$(options cli/recording/*.[ch] cli/kernel/*.[ch])" ""
printf 'message(sink, "no user (--user)", strerror(-err));\nmessage(sink, "larger: -b");\n' >"$TMP/options.c"
is "one that did would be found" "$(options "$TMP/options.c")" "$(printf '"no user (--user)"\n"larger: -b"')"

# parameters FILE...: those that know the parameters of a weave
parameters()
{
	grep -lE '\bweave_params\b|\bparams->' "$@" | tr '\n' ' '
}

# Each step of the weave gets the part that it needs (struct weave_in, weave_meta, weave_input, weave_owner).
is "two files know the parameters of the weave" "$(parameters format/weave/*.c)" "format/weave/weave.c format/weave/weave_params.c "
printf 'if (weave->params->raw)\n' >"$TMP/weave_step.c"
is "another one would be found" "$(parameters "$TMP/weave_step.c")" "$TMP/weave_step.c "

# wholes FILE...: those that know the whole weave
wholes()
{
	grep -lE 'struct weave \*|\bweave->' "$@" | tr '\n' ' '
}

is "neither what reads a stream nor what writes pages knows the whole weave" "$(wholes format/weave/weave_{stream,out,run}.c)" ""
is "the merge needs it" "$(wholes format/weave/weave.c)" "format/weave/weave.c "

# ------------------------------------------------------------------------------------------------ circles and lengths

# circles: those that tsort finds among the pairs on stdin
circles()
{
	tsort 2>&1 >/dev/null
}

# files: "file file" for each include of the tree's own headers
files()
{
	awk '$2 == "\"" { print $1, $3 } $2 == "<" && $3 ~ /^librecorder\// { print $1, "include/" $3 }'
}

# rooms: the same between folders; detail/ is part of the public headers
rooms()
{
	files | sed -E 's|include/librecorder/detail/|include/librecorder/|g; s|/[^/ ]*( \|$)|\1|g' | awk '$1 != $2'
}

is "no circle of files" "$(files <"$TMP/includes" | circles)" ""
is "no circle of folders" "$(rooms <"$TMP/includes" | circles)" ""
like "one of files is found" "$(printf 'a/x.h " a/y.h\na/y.h " a/x.h\n' | files | circles)" 'a/x\.h'
like "one of folders is found" "$(printf 'a/x.h " b/y.h\nb/z.h " a/w.h\n' | rooms | circles)" 'loop'

# long FILE...: those with more lines than the limit
long()
{
	awk -v max="$lines_max" 'FNR == max + 1 { print FILENAME }' "$@"
}

# All files that are compiled or run, except tests/abi, where files of earlier versions must not change.
mapfile -t files < <(find include librecorder format cli kernelshark bench examples tests -path tests/abi -prune -o -type f \
	\( -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.sh' -o -name '*.bash' -o -name '*.py' -o -name '*.js' -o -name '*.mjs' \) -print)
ok "there are files" test ${#files[@]} -gt 700
is "no file is longer than $lines_max lines" "$(long "${files[@]}")" ""
seq $((lines_max + 1)) >"$TMP/long.c"
is "one that is longer is found" "$(long "$TMP/long.c")" "$TMP/long.c"

# tall FILE...: functions of more than 60 lines
tall()
{
	awk '/^[a-zA-Z_].*\)$/ { name = $0; begin = 0 }
		/^\{$/ { begin = FNR }
		/^\}$/ { if (begin && FNR - begin - 1 > 60) print FILENAME ": " name; begin = 0 }' "$@"
}

# shellcheck disable=SC2046
is "no function has more than 60 lines" "$(tall $(printf '%s\n' "${files[@]}" | grep '\.c$' | grep -v '^tests/'))" ""
{ printf 'int tall(void)\n{\n'; printf '\tcall(%d);\n' {1..61}; printf '}\n'; } >"$TMP/tall.c"
is "one that has is found" "$(tall "$TMP/tall.c")" "$TMP/tall.c: int tall(void)"

# wide FILE...: lines of C that are longer than 120 columns, with tabs of eight
wide()
{
	LC_ALL=C awk '{ text = $0; columns = 0
		while ((at = index(text, "\t"))) { columns += at - 1; columns += 8 - columns % 8; text = substr(text, at + 1) }
		if (columns + length(text) > 120) print FILENAME ":" FNR }' "$@"
}

# shellcheck disable=SC2046
is "no line of C has more than 120 columns" "$(wide $(printf '%s\n' "${files[@]}" | grep '\.[ch]$'))" ""
printf '\tint a; /* %s */\n\tint b; /* %s */\n' "$(printf '%.0sx' {1..100})" "$(printf '%.0sx' {1..99})" >"$TMP/wide.c"
is "one that has is found" "$(wide "$TMP/wide.c")" "$TMP/wide.c:1"

# words FILE...: those that know the bits of a page's words
words()
{
	grep -lE '\bREC_(TYPE_(BITS|PADDING|DATA_MAX)|DELTA_BITS|COMMIT_SIZE_MASK)\b' "$@" | sort | tr '\n' ' '
}

# A page is decoded in one place. The ring's writer makes its own words, and copies of its pages.
# shellcheck disable=SC2046
is "the words of a page are taken apart in one place" "$(words $(find include librecorder format cli -name '*.[ch]' ! -path 'librecorder/ring/*'))" \
	"include/librecorder/detail/abi_page.h include/librecorder/detail/ring.h librecorder/core/page_bytes.h "
printf 'type = word & ((1u << REC_TYPE_BITS) - 1u);\n' >"$TMP/walker.c"
is "another place is found" "$(words "$TMP/walker.c")" "$TMP/walker.c "

# ------------------------------------------------------------------------------------------------ the document

# rows FOLDER: those of its table in docs/ARCHITECTURE.md, "stem.c, .h, _private.h | what"
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

for folder in include/librecorder include/librecorder/detail $(sed 's/ .*//' "$TMP/rooms"); do
	ok "docs/ARCHITECTURE.md has rows for $folder" test "$(rows "$folder" | wc -l)" -gt 0
	is "one for each file, and no more" \
		"$(diff <(rows "$folder") <(find "$folder" -maxdepth 1 -name '*.[ch]' -printf '%f\n' | sort) | grep '^[<>]')" ""
done
is "each folder is in the table" "$(find librecorder format cli -name '*.[ch]' -printf '%h\n' | sort -u | grep -v -x -F -f <(sed 's/ .*//' "$TMP/rooms"))" ""

# ------------------------------------------------------------------------------------------------ lists

libc=$(sed -n '/^libformat_\(core\|read\)_sources/,/[^\\]$/p' format/include.am | grep -oE 'format/[a-z0-9_/]+\.[ch]')
# A script or program that is in no list never runs.
tests=$(cd "$top_srcdir" && ls tests/*/*.sh tests/*/test_*.c tests/*/fuzz_*.c tests/*/kernel_*.c)
ok "there are tests" test "$(wc -l <<<"$tests")" -gt 100
is "each of them is in tests/include.am" \
	"$(grep -v -x -F -f <(grep -oE 'tests/[a-z]+/[a-z_0-9]+(\.sh|\.c)?' tests/include.am) <<<"$tests" |
		grep -v -x -F -f <(grep -oE 'tests/[a-z]+/[a-z_0-9]+' tests/include.am | sed 's/$/.c/'))" ""

# tests_in LIST: those of a list in tests/include.am
tests_in()
{
	sed -n "/^$1 = /,/[^\\\\]\$/p" tests/include.am | grep -oE 'tests/[a-z]+/[a-z_0-9]+'
}

ok "there are unit tests with threads" test "$(tests_in threaded_tests | wc -l)" -gt 10
# The test litmus has several sources, none of which has its name.
is "those that start one run under the thread sanitizer in the short tier" \
	"$(tests_in unit_tests | sed 's/$/.c/' | xargs grep -slE 'pthread_create|reader_lane\(' | grep -v -x -F -f <(tests_in threaded_tests | sed 's/$/.c/'))" ""

ok "the libc-only lists of format are not empty" test "$(wc -l <<<"$libc")" -gt 40
is "the libc-only files of format need libc alone" \
	"$(grep -E " < $external" "$TMP/includes" | grep -F -f <(printf '%s\n' "$libc" | sed 's/$/ /'))" ""

# beyond: "symbol definer" for each function or variable that the libc-only files of format refer to and other files of
# format define
beyond()
{
	awk -v libc="$libc" '
		BEGIN { nr = split(libc, name, "\n"); for (i = 1; i <= nr; i++) is_libc[name[i]] = 1 }
		FILENAME != "-" { source[$2] = $1; next }
		{ end = index($0, ".o:") + 2; file = source[substr($0, 1, end - 1)]; if (file !~ /^format\//) next }
		$(NF - 1) ~ /^[TDBRCVW]$/ { at[$NF] = file }
		$(NF - 1) == "U" && file in is_libc { wants[$NF] = 1 }
		END { for (symbol in wants) if (symbol in at && !(at[symbol] in is_libc)) print symbol, at[symbol] }' "$TMP/objects" -
}

cut -d ' ' -f 2- "$TMP/objects" | xargs -d '\n' nm -A >"$TMP/nm"
is "they refer to no other file of format" "$(beyond <"$TMP/nm")" ""
is "one that did would be found" \
	"$({ cat "$TMP/nm"; sed -n 's,^format/io/blob.c \(.*\),\1: U model_number,p' "$TMP/objects"; } | beyond)" "model_number format/model/model.c"

# outside FILE: the headers of format that a test of unit_tests includes though their functions are in no libc-only list
outside()
{
	grep -ohE '"format/[a-z0-9_/]+\.h"' "$@" | tr -d '"' | sort -u | grep -v -x -F -f <(printf '%s\n' "$libc")
}

mapfile -t alone < <(tests_in unit_tests | sed 's/$/.c/' | xargs ls 2>/dev/null)
is "the unit tests of builds without the command include none of the other headers" "$(outside "${alone[@]}")" ""
echo '#include "format/text/event_tasks.h"' >"$TMP/test_spoilt.c"
is "one that does is found" "$(outside "$TMP/test_spoilt.c")" format/text/event_tasks.h

# In docs/TESTING.md, a name without a folder is in the folder of the name before it.
named=$(for name in $(sed -nE 's/^\| (.*) \| not in it \|$/\1/p' docs/TESTING.md | tr -d ,); do
	[[ $name == */* ]] || name=$folder/$name
	folder=${name%/*}
	echo "${name%.sh}"
done | sort)
is "docs/TESTING.md names the tests that only the long tier has" "$named" \
	"$({ tests_in long_shell_tests; tests_in long_programs; } | sed -E 's,^(tests/(package|vm))/.*,\1,' | sort -u)"

done_testing
