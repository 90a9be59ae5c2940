# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: tests/programs/told, which writes events on request.
#
#	start_told [COMMAND...]	starts one, by COMMAND... (empty: as it is); its pid is in $pid
#	tell WORD		sends it a word, and waits until the work is done
#	end_told		ends it
#	counts FILE		how many of each event a recording has: "get 10 put 10"

told=$top_builddir/tests/programs/told

tell()
{
	local answer

	echo "$1" >&"${told_program[1]}"
	read -r answer <&"${told_program[0]}"
	[ "$1" != pid ] || pid=$answer
}

start_told()
{
	coproc told_program { exec "$@" "$told"; }
	tell pid
}

end_told()
{
	exec {told_program[1]}>&-
	wait_until is_gone "$pid"
}

counts()
{
	"$RECORDER" report "$1" | sed -nE 's/^.* (put|get|idle): .*/\1/p' | sort | uniq -c | awk '{ print $2, $1 }' |
		paste -sd ' '
}
