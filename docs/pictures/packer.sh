#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes packer.png, the picture in the README: the demo recorded, opened in KernelShark with a row for each thread. Run
# it in the build directory; the picture is written beside this script.
#
#	../librecorder/docs/pictures/packer.sh

set -eu

here=$(cd "$(dirname "$0")" && pwd)
screenshot=$here/../../tests/oracle/screenshot.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Few files at a slow level: single files can be told apart in the graph.
./recorder record -q -o "$work/trace.dat" -- ./examples/packer -j 2 -l 15 -n 60 /usr/share/doc

# The column of times drawn wider, by its edge, until all digits are seen.
actions="mousemove 161 364 mousedown 1 mousemove 180 364 mousemove 225 364 mouseup 1 mousemove 900 600"
bash "$screenshot" -g 1200x760 -x "$actions" "$work/trace.dat" "$here/packer.png" \
	--task packer/walk,packer/zstd-0,packer/zstd-1
