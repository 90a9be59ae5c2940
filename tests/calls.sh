# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# After tests/tap.sh, for tests of the kernel's drain: a program whose system calls are numbered. Gives $calls, the program,
# with a name of its own, so that another test's calls are not ours; $mine, the filter of raw_syscalls for them; and
#
#	numbers FILE		those that a file has, in its order

[ "$(id -u)" = 0 ] || skip_all "only root may trace the kernel"
cd "$TMP" || exit 1

calls=calls$$
cp "$top_builddir/tests/programs/calls" "$calls" || exit 1
getppid=$("./$calls" 1)
mine="id == $getppid && comm == \"$calls\""

numbers()
{
	"$RECORDER" report "$1" | sed -n 's/.*sys_enter: *NR [0-9]* (\([0-9a-f]*\),.*/\1/p'
}
