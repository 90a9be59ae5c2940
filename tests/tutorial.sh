# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# docs/TUTORIAL.md as a test; tests/tutorial.py says how its commands are found and compared. Sourced after tests/tap.sh.
#
#	tutorial_script DIR [KIND...]	writes its sources, and run.sh with its commands, to DIR
#	tutorial_results DIR [KIND...]	one check for each command, once run.sh has run there

tutorial_script()
{
	python3 "$top_srcdir/tests/tutorial.py" script "$top_srcdir/docs/TUTORIAL.md" "$@"
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
	done < <(python3 "$top_srcdir/tests/tutorial.py" check "$top_srcdir/docs/TUTORIAL.md" "$@")
	ok "there are commands" test "$commands" -gt 15
}
