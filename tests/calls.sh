# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh, for tests of the kernel's drain: a program that numbers its system calls. Sets
# $calls to the program, under a name of its own, so that the calls of other tests are not mistaken for ours; sets $mine
# to the filter of raw_syscalls that selects its calls; and defines
#
#	numbers FILE		the numbers of the calls in a file, in the file's order

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
