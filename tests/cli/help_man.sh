#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --help and the manual page of each command name the same options, arguments and operands; the completion knows all of
# them.

. "$top_srcdir/tests/tap.sh"

ok "--help" "$RECORDER" --help
commands=$(sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' <<<"$out")
is "the commands" "$(echo $commands)" "record report list ps enable disable start stop stat pages snapshot dump clock verify recover clean"
like "the version" "$("$RECORDER" --version)" '^recorder [0-9]+\.[0-9]+'
is "help is --help" "$("$RECORDER" help)" "$("$RECORDER" --help)"

# The text of a page, without fonts.
plain()
{
	sed -e 's/\\f[BIRP]//g' -e 's/\\-/-/g' "$1"
}

for command in $commands; do
	page=$top_srcdir/man/recorder-$command.1
	ok "$command --help" "$RECORDER" "$command" --help
	is "$command: --help goes to stdout alone" "$err" ""
	help=$out
	is "help $command" "$("$RECORDER" help "$command")" "$help"
	is "$command -h" "$("$RECORDER" "$command" -h)" "$help"
	ok "$command has a page" test -f "$page"
	is "$command: the page's options are those of --help" \
		"$(plain "$page" | sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' | sed -n '/^\.TP/{n;p}')" \
		"$(sed -n 's/^  *\(-.*[^ ]\)   *.*/\1/p' <<<"$help")"
	is "$command: the page's synopsis is that of --help" \
		"$(plain "$page" | sed -n '/^\.SH SYNOPSIS/{n;p}')" "$(sed -n 's/^usage: //p' <<<"$help")"
	ok "$command: recorder(1) names it" grep -q "recorder\\\\-$command" "$top_srcdir/man/recorder.1"
	ok "$command: no line of --help is wider than 118 columns" test "$(wc -L <<<"$help")" -le 118
done

# ---- completion

# shellcheck source=/dev/null
. "$top_srcdir/cli/completion/recorder"
recorder()
{
	"$RECORDER" "$@"
}

complete_words()
{
	COMP_WORDS=("$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	COMPREPLY=()
	_recorder
	echo "${COMPREPLY[*]}"
}
is "completion of a command" "$(complete_words recorder reco)" "record recover"
is "completion of an option" "$(complete_words recorder record --file)" "--file-version"
is "completion of a word" "$(complete_words recorder record --mode '')" "overwrite discard"
is "completion after a letter" "$(complete_words recorder record -C m)" "mono mono_raw"
for command in $commands; do
	is "$command: completion knows all options" "$(complete_words recorder "$command" - | tr ' ' '\n' | sort)" \
		"$("$RECORDER" "$command" --help | grep -oE '^ +(-[a-zA-Z])?(, )?(--[a-z-]+)?' | grep -oE -- '--?[a-zA-Z][a-z-]*' | sort)"
done

done_testing
