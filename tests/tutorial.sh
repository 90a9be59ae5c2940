# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Runs a tutorial as a test; tests/tutorial.py describes how its commands are found and compared. Sourced after
# tests/tap.sh. $tutorial is the file, docs/TUTORIAL.md if it is not set.
#
#	tutorial_install		installs the build below $TMP, for the commands to use
#	tutorial_kinds			sets `kinds` to the kinds of commands that this machine can run; skips the others
#	tutorial_script DIR [KIND...]	writes its sources, and run.sh with its commands, to DIR
#	tutorial_results DIR [KIND...]	one check for each command, once run.sh has run there
#	tutorial_run			all of these, in $TMP/try
#	recorder ARGUMENT...		the command; to be exported before run.sh runs. "record -P" and "snapshot -P" are repeated
#					as long as what they print matches $tutorial_again

tutorial=${tutorial:-$top_srcdir/docs/TUTORIAL.md}

# The smallest number of commands, by file, with and without those of the kernel.
tutorial_least()
{
	case ${tutorial##*/},$* in
	TUTORIAL-WHY.md,*kernel*) echo 7 ;;
	TUTORIAL-WHY.md,*) echo 1 ;;
	README.md,*kernel*) echo 14 ;;
	README.md,*) echo 9 ;;
	*) echo 16 ;;
	esac
}

tutorial_install()
{
	local root=$TMP/root pc

	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	ok "make install" make -s -C "$top_builddir" install "DESTDIR=$root"
	pc=$(find "$root" -name librecorder.pc)
	export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root LD_LIBRARY_PATH=${pc%/pkgconfig/*}
	PATH=$(dirname "$(find "$root" -type f -path '*/bin/recorder')"):$PATH
}

tutorial_kinds()
{
	kinds=()
	if can_trace; then
		kinds=(kernel)
	else
		skip "the kernel's events" "needs root and tracefs"
	fi
}

# If the program gets no CPU during a short recording, or between two commands, there is nothing to record or to copy: try
# again. $tutorial_again matches what is printed then.
export tutorial_again='nothing was (recorded|copied)'
recorder()
{
	local status

	[[ "$1 ${2-}" =~ ^(record|snapshot)\ -P ]] || { command recorder "$@"; return; }
	for _ in {1..50}; do
		status=0
		command recorder "$@" >printed 2>&1 || status=$?
		grep -qE "$tutorial_again" printed || break
	done
	cat printed
	return $status
}

tutorial_script()
{
	python3 "$top_srcdir/tests/tutorial.py" script "$tutorial" "$@"
}

tutorial_results()
{
	local line commands=0

	forget_others "$1"/out.*
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

tutorial_run()
{
	unset RECORDER_ENABLE
	tutorial_install
	export RECORDER_DIR=$TMP/run
	mkdir "$RECORDER_DIR" "$TMP/try"
	tutorial_kinds
	tutorial_script "$TMP/try" "${kinds[@]}"
	export -f recorder
	(cd "$TMP/try" && bash run.sh)
	tutorial_results "$TMP/try" "${kinds[@]}"
}
