#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# --help and the manual page of each command name the same options, arguments and operands; the completion of each shell
# knows all of them.

. "$top_srcdir/tests/tap.sh"

ok "--help" "$RECORDER" --help
commands=$(sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' <<<"$out")
is "the commands" "$(echo $commands)" "record report view sql hist latency assert why diff top profile list ps enable disable start stop stat pages snapshot export dump convert split merge check clock verify recover clean"
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
		"$("$RECORDER" "$command" --help | grep -oE '^ +(-[a-zA-Z])?(, )?(--[a-z0-9-]+)?' | grep -oE -- '--?[a-zA-Z][a-z0-9-]*' | sort)"
done

# ---- completion for zsh and fish: the sed programs of their files are run on the output of --help, without the shells

# program FILE FUNCTION: the sed program in that function.
program()
{
	sed -n "/$2\\b/,/^\\(}\\|end\\)\$/p" "$top_srcdir/cli/completion/$1" | sed -n "/sed -nE '\$/,/^\t'\$/{//!p}"
}
help=$("$RECORDER" --help)
about=$(sed -n 's/^  record  *//p' <<<"$help")
is "zsh: commands" "$(sed -nE "$(program _recorder '^_recorder_commands')" <<<"$help" | sed 's/:.*//' | xargs)" "$(echo $commands)"
is "fish: commands" "$(sed -nE "$(program recorder.fish '^function __recorder_commands')" <<<"$help" | cut -f1 | xargs)" \
	"$(echo $commands)"
like "zsh: what a command does" "$(sed -nE "$(program _recorder '^_recorder_commands')" <<<"$help")" "record:$about"
zsh_options=$(program _recorder '^_recorder_options')
fish_options=$(program recorder.fish '^function __recorder_options')
for command in $commands; do
	help=$("$RECORDER" "$command" --help)
	options=$(complete_words recorder "$command" - | tr ' ' '\n' | sort)
	is "zsh: $command's options" "$(sed -nE "$zsh_options" <<<"$help" | cut -f1 | sort)" "$options"
	is "fish: $command's options" "$(sed -nE "$fish_options" <<<"$help" | cut -f1 | sort)" "$options"
done
help=$("$RECORDER" record --help)
for shell in zsh fish; do
	options=${shell}_options
	lines=$(sed -nE "${!options}" <<<"$help" | grep -P '^(-q|--quiet|-o|--mode|-C)\t')
	is "$shell: arguments and what options do" "$lines" "$(printf '%s\t%s\t%s\n' \
		-o FILE "$(sed -n 's/^  -o, --output FILE  *//p' <<<"$help")" \
		--mode 'overwrite|discard' "$(sed -n 's/^ *--mode overwrite|discard  *//p' <<<"$help")" \
		-C "$(sed -n 's/^  -C, --clock \([^ ]*\) .*/\1/p' <<<"$help")" "$(sed -n 's/^  -C, --clock [^ ]*  *//p' <<<"$help")" \
		-q '' 'print only errors' --quiet '' 'print only errors')"
done

# Running programs and their events: the completions of all shells offer the same. Installed shells are run, too.
# shellcheck source=/dev/null
. "$top_srcdir/tests/told.sh"
export RECORDER_DIR=$TMP/buffers
mkdir -m 700 "$RECORDER_DIR"
start_told
is "completion of a program" "$(complete_words recorder record -P t)" told
is "by its pid" "$(complete_words recorder stat -P "${pid:0:1}")" "$pid"
is "without -P" "$(complete_words recorder stat t)" told
touch "$TMP/tool"
is "where a file is possible, too" "$(cd "$TMP" && complete_words recorder list t)" "told tool"
is "and where only a file is" "$(cd "$TMP" && complete_words recorder report t)" tool
mkdir "$TMP/tools"
is "completion of a directory" "$(cd "$TMP" && complete_words recorder stat --dir t)" tools
is "no completion of a number" "$(cd "$TMP" && complete_words recorder why --slowest t)" ""
is "an operand after an option without an argument" "$(cd "$TMP" && complete_words recorder list --full t)" "told tool tools"
is "completion of an event" "$(complete_words recorder record -u '' | tr ' ' '\n' | sort | xargs)" "kv:get kv:put net:idle"
is "which the shell takes for three words" "$(complete_words recorder record -x kv : p)" put
ok "a trace with spans" "$RECORDER" record -q -o "$TMP/trace.dat" "$top_builddir/examples/07_storage" 20
# completed WORD...: the completions in the directory of the trace, sorted
completed()
{
	(cd "$TMP" && complete_words "$@" | tr ' ' '\n' | sort | xargs)
}
is "completion of a span" "$(completed recorder why --span '')" \
	"$("$RECORDER" sql --list "$TMP/trace.dat" "SELECT DISTINCT system || ':' || name FROM spans ORDER BY 1" | xargs)"
is "which the shell takes for three words" "$(completed recorder why --span storage : che)" checksum
is "after the shell has quoted the colon" "$(completed recorder why --span 'storage\:che')" storage:checksum
is "in quotes" "$(completed recorder why --span "'storage:che")" storage:checksum
is "of the file that the command line names" \
	"$(cd / && complete_words recorder view "$TMP/trace.dat" --why storage : che)" checksum
mkdir "$TMP/else where"
mv "$TMP/trace.dat" "$TMP/else where/12:30.dat"
is "also below ~, with quoted characters" \
	"$(HOME=$TMP complete_words recorder view '~/else\ where/12' : 30.dat --why storage : che)" checksum
is "also in quotes" "$(complete_words recorder view "'$TMP/else where/12:30.dat'" --why storage : che)" checksum
if command -v zsh >/dev/null; then
	is "zsh: the same" "$(HOME=$TMP zsh -fc "$(sed -n '/^_recorder_trace()/,/^}/p' "$top_srcdir/cli/completion/_recorder")"'
		words=(recorder view "~/else\\ where/12:30.dat" --why "") CURRENT=5
		_recorder_trace')" "$TMP/else where/12:30.dat"
else
	skip "zsh: the same" "zsh is not installed"
fi
if command -v fish >/dev/null; then
	is "fish: the same" "$(HOME=$TMP PATH=${RECORDER%/*}:$PATH fish -c "source $top_srcdir/cli/completion/recorder.fish
		complete -C 'recorder view ~/else\\ where/12:30.dat --why storage:che'")" storage:checksum
else
	skip "fish: the same" "fish is not installed"
fi
mv "$TMP/else where/12:30.dat" "$TMP/trace.dat"
is "completion of an event of the file" "$(completed recorder hist -e storage : re)" "reply request_begin request_end"
is "of spans and events as operands" "$(completed recorder latency storage : che)" "checksum checksum_begin checksum_end"
is "after the system" "$(completed recorder latency storage :)" "$(completed recorder latency storage : '')"
for file in _recorder recorder.fish; do
	is "$file: spans" \
		"$("$RECORDER" report --events "$TMP/trace.dat" | sed -nE "$(program $file "^\(function _\)\?_recorder_spans")")" \
		"$(_recorder_spans "$TMP/trace.dat")"
done
mkdir "$TMP/hack"
# hostile WORD...: the completions if a program and a span have names that are commands, and the files that these make
hostile()
{
	cd "$TMP/hack" && recorder()
	{
		case "$1 ${2-}" in
		'ps '*) echo '        4711  started      1/2         1  $(>hacked)       /tmp/program' ;;
		'report --events') printf '%s\n' 'system: io' 'name: `>hacked`_begin' 'ID: 16385' 'name: a b_begin' 'ID: 16386' ;;
		*) "$RECORDER" "$@" ;;
		esac
	} && complete_words "$@" && ls
}
is "a name is not run as a command, nor offered: readline would not quote it" "$(hostile recorder record -P '')" 4711
is "nor is that of a span" "$(hostile recorder why --span '')" "io:a b"
is "completion of a user" "$(complete_words recorder record --user roo)" root
for function in programs patterns; do
	list=$([ $function = programs ] && echo ps || echo list)
	for file in _recorder recorder.fish; do
		is "$file: $function" "$("$RECORDER" $list | sed -nE "$(program $file "^\(function _\)\?_recorder_$function")" | sort)" \
			"$(_recorder_$function | sort)"
	done
done
for shell in zsh fish; do
	file=$top_srcdir/cli/completion/$([ $shell = zsh ] && echo _recorder || echo recorder.fish)
	if command -v $shell >/dev/null; then
		ok "$shell can read it" $shell -n "$file"
	else
		skip "$shell can read it" "$shell is not installed"
	fi
done
if command -v fish >/dev/null; then
	is "fish: a program" "$(HOME=$TMP PATH=${RECORDER%/*}:$PATH fish -c "source $top_srcdir/cli/completion/recorder.fish
		complete -C 'recorder record -P t'")" told
	is "fish: without -P" "$(HOME=$TMP PATH=${RECORDER%/*}:$PATH fish -c "source $top_srcdir/cli/completion/recorder.fish
		complete -C 'recorder stat t'")" told
	is "fish: a span" "$(cd "$TMP" && HOME=$TMP PATH=${RECORDER%/*}:$PATH fish -c "
		source $top_srcdir/cli/completion/recorder.fish
		complete -C 'recorder why --span storage:che'")" storage:checksum
else
	for name in "a program" "without -P" "a span"; do
		skip "fish: $name" "fish is not installed"
	done
fi
end_told

# The completion files handle every kind of argument in --help that can be completed.
for kind in FILE DIR EVENT PATTERN PROGRAM SPAN USER; do
	ok "zsh: an argument that is a $kind" grep -q "^	$kind) " "$top_srcdir/cli/completion/_recorder"
	ok "fish: an argument that is a $kind" grep -q "^		case $kind\$" "$top_srcdir/cli/completion/recorder.fish"
done

done_testing
