#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Makes the pictures in the README, beside this script: packer.png, the demo in KernelShark with our plugin, a row for each
# thread; kernel.png, the same with the scheduler's events; and view.png, the page of recorder view of that. Run it in the build
# directory, as root, while little else runs. A picture notes what drew it: tests/view/gallery.sh and
# tests/oracle/kernelshark_plugin.sh fail if the page's words, colours or sizes, or the lines of the plugin's source that give
# sizes, corners and colours, have changed since.
#
#	../librecorder/docs/pictures/make.sh
#
# There is no picture of ui.perfetto.dev: the page comes from the network, and no package has a copy of it that could be fetched
# and pinned. tests/export compares what Perfetto's own importer reads from our files instead.

set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# picture NAME FILES [OPTION OF RECORD]...: few files at a slow level, so the graph shows single files.
picture()
{
	local name=$1 files=$2
	shift 2
	# Drag the edge of the column of times to the right until all digits are visible.
	local actions="mousemove 161 364 mousedown 1 mousemove 180 364 mousemove 225 364 mouseup 1 mousemove 900 600"

	./recorder record -q "$@" -o "$work/trace.dat" -- ./examples/packer -j 2 -l 15 -n "$files" /usr/share/doc
	bash "$here/../../tests/oracle/screenshot.sh" -g 1200x760 -x "$actions" -p .libs/plugin-recorder.so "$work/trace.dat" "$work/$name.png" \
		--task packer/walk,packer/zstd-0,packer/zstd-1
	convert "$work/$name.png" -set drawn-by "$(bash "$here/../../tests/oracle/plugin_look.sh" "$here/../..")" -define png:compression-level=9 "$here/$name.png"
}

# page NAME FILES: the same in recorder view, zoomed to the range in which most spans begin
page()
{
	local name=$1 files=$2 look

	./recorder record -q -o "$work/packer.dat" -e sched:sched_switch -e sched:sched_waking -- \
		./examples/packer -j 2 -l 12 -n "$files" /usr/share/doc
	./recorder view -o "$work/$name.html" "$work/packer.dat"
	look=$(PYTHONPATH="$here/../../tests/view" python3 -B "$here/../../tests/view/picture.py" "$work/$name.html" "$work/$name.png" 1200x620 '(() => {
		const page = recorderView, { view } = page;
		view.fold(view.trace.rows.find((row) => row.name === "Other threads"), true);
		const spans = view.trace.rows.filter((row) => row.name.startsWith("packer/zstd")).map((row) =>
			row.lines.find((line) => line.kind === "spans").levels[0].items);
		const begins = spans.flatMap((items) => [...items.begin]), count = (from) => begins.filter((time) => time >= from && time < from + 8e6).length;
		const from = begins.reduce((best, time) => count(time) > count(best) ? time : best);
		page.show(from - 5e5, from + 8e6);
		page.find("packer:compress").then(() => { page.step(true); page.find(""); page.panels.open("summary"); });
	})()')
	convert "$work/$name.png" -set drawn-by "$look" +dither -colors 96 -define png:compression-level=9 "$here/$name.png"
}

page view 400
picture packer 60
picture kernel 12 -F -c -e sched:sched_switch -e sched:sched_waking -u '*'
