# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# A tutorial as a test; tests/tutorial.py says how its commands are found and compared. Sourced after tests/tap.sh. $tutorial is the
# file, docs/TUTORIAL.md if it is not set.
#
#	tutorial_script DIR [KIND...]	writes its sources, and run.sh with its commands, to DIR
#	tutorial_results DIR [KIND...]	one check for each command, once run.sh has run there

tutorial=${tutorial:-$top_srcdir/docs/TUTORIAL.md}

# The least number of commands, by file and by whether those of the kernel are there.
tutorial_least()
{
	case ${tutorial##*/},$* in
	TUTORIAL-WHY.md,*kernel*) echo 7 ;;
	TUTORIAL-WHY.md,*) echo 1 ;;
	*) echo 16 ;;
	esac
}

tutorial_script()
{
	python3 "$top_srcdir/tests/tutorial.py" script "$tutorial" "$@"
}

tutorial_results()
{
	local line commands=0

	while read -r line; do
		case $line in
		"ok "*) pass "${line#* - }" ;;
		"not ok "*) fail "${line#* - }" ;;
		*) echo "$line" ;;
		esac
		commands=$((commands + 1))
	done < <(python3 "$top_srcdir/tests/tutorial.py" check "$tutorial" "$@")
	ok "there are commands" test "$commands" -ge "$(tutorial_least "$@")"
}
