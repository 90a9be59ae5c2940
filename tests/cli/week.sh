#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A first week: the Debian packages in a fresh system, where every command of docs/TUTORIAL.md does what its text states, the
# kernel's events among them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/package/packages.sh"
. "$top_srcdir/tests/tutorial.sh"

ok "the packages are built" packages_build
root=$TMP/root
ok "a fresh system is unpacked" fresh_system "$root"
if ! ok "the packages install" inside "$root" 'dpkg -i /packages/*.deb'; then
	done_testing
	exit
fi

tutorial_kinds
tutorial_script "$root/try" "${kinds[@]}"
# The kernel calls threads by the ids of the first pid namespace.
namespaces=(--mount)
ok "the tutorial runs" inside "$root" 'mount -t tracefs nodev /sys/kernel/tracing; bash run.sh'
tutorial_results "$root/try" "${kinds[@]}"

done_testing
