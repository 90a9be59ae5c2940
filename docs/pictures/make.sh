#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes the pictures in the README, beside this script: packer.png, the demo in KernelShark with a row for each thread, and
# kernel.png, the same with the scheduler's events. Run it in the build directory, as root, while little else runs.
#
#	../librecorder/docs/pictures/make.sh

set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture NAME FILES [OPTION OF RECORD]...: few files at a slow level, so single files can be told apart in the graph.
picture()
{
	local name=$1 files=$2
	shift 2
	# The column of times drawn wider, by its edge, until all digits are seen.
	local actions="mousemove 161 364 mousedown 1 mousemove 180 364 mousemove 225 364 mouseup 1 mousemove 900 600"

	./recorder record -q "$@" -o "$work/trace.dat" -- ./examples/packer -j 2 -l 15 -n "$files" /usr/share/doc
	bash "$here/../../tests/oracle/screenshot.sh" -g 1200x760 -x "$actions" "$work/trace.dat" "$here/$name.png" \
		--task packer/walk,packer/zstd-0,packer/zstd-1
}

picture packer 60
picture kernel 12 -F -c -e sched:sched_switch -e sched:sched_waking -u '*'
