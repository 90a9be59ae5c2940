# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# What applies a mutant of tests/model/mutants to the sources, for mutants.sh and mutants_text.sh.

declare -A damaged

# damage TREE FILE TEXT REPLACEMENT...: ${damaged[FILE]} is the text of each file that the mutant changes, as changed. Fails
# and prints why if a TEXT is not in its file exactly once.
damage()
{
	local tree=$1 file=$2 rest

	shift 2
	damaged=()
	damaged[$file]=$(<"$tree/$file") || return 1
	while [ $# -ge 2 ]; do
		if [ "$1" = in ]; then
			file=$2
			[ -n "${damaged[$file]-}" ] || damaged[$file]=$(<"$tree/$file") || return 1
			shift 2
			continue
		fi
		rest=${damaged[$file]/"$1"/}
		if [ "$rest" = "${damaged[$file]}" ] || [ "${rest/"$1"/}" != "$rest" ]; then
			echo "this is not there exactly once in $file: $1"
			return 1
		fi
		damaged[$file]=${damaged[$file]/"$1"/"$2"}
		shift 2
	done
	[ $# -eq 0 ] || echo "a text without a replacement: $1"
	[ $# -eq 0 ]
}
