#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes the pictures in the README, beside this script: packer.png, the demo in KernelShark with a row for each thread,
# kernel.png, the same with the scheduler's events, and view.png, the page of recorder view of that. Run it in the build directory, as root, while little else runs.
#
#	../librecorder/docs/pictures/make.sh

set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture NAME FILES [OPTION OF RECORD]...: few files at a slow level, so the graph shows single files.
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

# page NAME FILES: the same in recorder view, from the moment on at which all threads work
page()
{
	local name=$1 files=$2

	./recorder record -q -o "$work/packer.dat" -e sched:sched_switch -e sched:sched_waking -- \
		./examples/packer -j 2 -l 12 -n "$files" /usr/share/doc
	./recorder view -o "$work/$name.html" "$work/packer.dat"
	PYTHONPATH="$here/../../tests/view" python3 -B "$here/../../tests/view/picture.py" "$work/$name.html" "$work/$name.png" 1200x620 '(() => {
		const page = recorderView, { view } = page;
		view.fold(view.trace.rows.find((row) => row.name === "Other threads"), true);
		const spans = view.trace.rows.filter((row) => row.name.startsWith("packer/zstd")).map((row) =>
			row.lines.find((line) => line.kind === "spans").levels[0].items);
		const from = spans[0].begin[spans[0].nr >> 1];
		page.show(from - 5e5, from + 8e6);
		page.find("packer:compress").then(() => { page.step(true); page.find(""); page.panels.open("summary"); });
	})()'
	convert "$work/$name.png" +dither -colors 96 -define png:compression-level=9 "$here/$name.png"
}

page view 400
picture packer 60
picture kernel 12 -F -c -e sched:sched_switch -e sched:sched_waking -u '*'
