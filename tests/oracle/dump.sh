#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder dump, part by part: the texts of every file that tests/golden can make are printed as trace-cmd dump prints them,
# and the other parts are those of the whole.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

texts="--head-page --head-event --ftrace-events --systems --events --kallsyms --printk --cmd-lines"
nr=0
for name in $("$mkdat"); do
	"$mkdat" "$name" >in.dat
	# trace-cmd prints the place of each section of version 7, and nothing about a section that is absent.
	# Its dump cannot read compressed options, its report can.
	case $name in v7-bare | *-zstd*) continue ;; esac
	nr=$((nr + 1))
	for text in $texts "--systems --events"; do
		# shellcheck disable=SC2086
		"$RECORDER" dump $text in.dat >ours 2>err
		# shellcheck disable=SC2086
		trace-cmd dump $text -i in.dat 2>/dev/null | grep -v -a '^	\[Section ' >theirs
		cmp -s ours theirs && [ -s ours ] && continue
		fail "$name: dump $text"
		diag "$(cat err) $(diff ours theirs | head -5)"
		broken=yes
	done
done
is "the texts of $nr files" "${broken:-no}" no
ok "there were files" test "$nr" -gt 40

# ---- sections, and their descriptions, which files that trace-cmd converts have

same_headings()
{
	local flags=$1 file=$2

	# shellcheck disable=SC2086
	run "$RECORDER" dump $flags "$file"
	# shellcheck disable=SC2086
	is "$file: $flags" "$out" "$(trace-cmd dump $flags -i "$file" 2>/dev/null)"
	is "$file: $flags: status" "$status" 0
}
for compression in none zstd; do
	for name in v6-kernel v6-instances; do
		"$mkdat" "$name" >in.dat
		trace-cmd convert -i in.dat -o "$name-$compression.dat" --file-version 7 --compression "$compression" >/dev/null 2>&1
		for flags in --strings --sections "--sections --strings"; do
			same_headings "$flags" "$name-$compression.dat"
		done
	done
done
like "they have descriptions" "$("$RECORDER" dump --strings v6-kernel-zstd.dat)" '"ftrace events" @ [0-9]+'
# trace-cmd accepts this, too, and prints the same.
same_headings "--sections --verbose=debug" v6-kernel-none.dat
same_headings "--strings --verbose" v6-kernel-none.dat
run "$RECORDER" dump --verbose=much v6-kernel-none.dat
is "a level that does not exist: status" "$status" 2
like "a level that does not exist" "$err" "^recorder dump: --verbose 'much' is not a level"
"$mkdat" v7-options >v7.dat
same_headings --sections v7.dat
same_headings --strings v7.dat
"$mkdat" v6-plain >v6.dat
same_headings "--sections --strings" v6.dat
# If a file's options are compressed, trace-cmd prints the sections but not their number.
"$mkdat" v7-zstd >zstd.dat
is "compressed options" "$("$RECORDER" dump --sections zstd.dat | grep -v '^	\[[0-9]* sections\]$')" \
	"$(trace-cmd dump --sections -i zstd.dat 2>/dev/null)"
size=$(stat -c %s v6-kernel-none.dat)
head -c $((size - 10)) v6-kernel-none.dat >cut.dat
run "$RECORDER" dump --sections cut.dat
is "a section that is cut: status" "$status" 1
like "a section that is cut: the others" "$out" "Section  0 @ "
like "a section that is cut" "$err" "^recorder dump: cut.dat: truncated: the section at [0-9]+ has [0-9]+ bytes, the file ends at $((size - 10))\$"

# ---- the other options print parts that together are the whole
"$mkdat" v7-instances >in.dat
"$RECORDER" dump in.dat >whole
is "summary, options, buffers: the whole" "$(for part in summary options flyrecord; do "$RECORDER" dump --$part in.dat; done | cmp - whole && echo same)" same
is "together, too" "$("$RECORDER" dump --flyrecord --options --summary in.dat | cmp - whole && echo same)" same
is "the clock" "$("$RECORDER" dump --clock in.dat)" "clock mono"
is "-a is --records: pages, too" "$("$RECORDER" dump -a in.dat)" "$("$RECORDER" dump --pages --records in.dat)"
like "and their records" "$("$RECORDER" dump -a in.dat)" "  data  "

# ---- --all: every part, and no pages

# titles PROGRAM FILE: the titles of the texts and sections that dump --all shows, which both programs print alike
titles()
{
	"$1" dump --all -i "$2" 2>err | grep -aE '^	\[(Header|Ftrace|Events|Kallsyms|Trace printk|Saved|String|[0-9]+ sections|Section [0-9 ]+@ [0-9]+ +	)' | sort
}
for file in v6.dat v7.dat v6-kernel-none.dat; do
	# shellcheck disable=SC2086
	is "$file, --all: each option by itself" "$("$RECORDER" dump --all $file)" \
		"$("$RECORDER" dump --summary $texts --options --flyrecord --clock --strings --sections $file)"
	is "$file, --all: the parts that trace-cmd shows" "$(titles "$RECORDER" $file)" "$(titles trace-cmd $file)"
done
ok "there are texts and sections" test "$(titles "$RECORDER" v7.dat | wc -l)" -gt 14
unlike "there are no pages" "$("$RECORDER" dump --all v7.dat)" "page at"
"$mkdat" v6-bare >bare.dat
is "no clock" "$("$RECORDER" dump --clock bare.dat)" "clock not stated"
ok "-v is --validate" "$RECORDER" dump -v in.dat
like "it validates" "$out" "^in.dat: valid: "
run "$RECORDER" dump -v --events in.dat
is "both: status" "$status" 2
like "both" "$err" "^recorder dump: --validate cannot be combined with options that show parts"
run "$RECORDER" dump -v --all in.dat
is "with all of them: status" "$status" 2
run "$RECORDER" dump -v --records in.dat
is "with records: status" "$status" 2
like "with records" "$err" "^recorder dump: --validate cannot be combined with --pages or --records"

done_testing
