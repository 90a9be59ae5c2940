/* SPDX-License-Identifier: MIT */
/* What is drawn over the rows: the selection, the chosen item, arrows; and the overview of the whole recording. */
"use strict";

const ARROWS_MAX = 400; /* the most arrows of the chosen row in one picture: more cannot be distinguished */
const ARROW_GAP = 10; /* pixels of the picture's width for each arrow: closer ones would cover the rows like a curtain */
const FLOW = 1; /* a kind of arrows; 0 is a wake-up */

Object.assign(Painter.prototype, {
	drawSelection() {
		const { context, view, css } = this, selection = view.selection;
		if (!selection)
			return;
		const from = Math.max(view.x(selection.from), view.labels), to = Math.min(view.x(selection.to), view.width);
		if (to < from)
			return;
		context.globalAlpha = 0.16;
		context.fillStyle = css.accent;
		context.fillRect(from, AXIS, to - from, view.height);
		context.globalAlpha = 1;
		context.fillRect(from, AXIS, 1, view.height);
		context.fillRect(to - 1, AXIS, 1, view.height);
		const text = duration(selection.to - selection.from, view.trace.seconds);
		context.font = `bold 11px ${FONT}`;
		context.textBaseline = "middle";
		if (context.measureText(text).width + 12 < to - from) {
			context.textAlign = "center";
			context.fillText(text, (from + to) / 2, AXIS + 9);
			context.textAlign = "start";
		}
	},

	box({ row, line, i }) {
		const { view } = this, items = line.levels[0].items;
		if (row.y < 0)
			return null;
		const x = Math.max(view.x(items.begin[i]), view.labels - 3), end = Math.min(view.x(items.end[i]), view.width + 3);
		return end < view.labels || x > view.width ? null
			: { x, y: AXIS + row.y - view.scroll + line.y, width: Math.max(end - x, 3), height: line.height };
	},

	drawChosen() {
		const { context, view, css } = this;
		for (const [item, colour, width] of [[view.hover, css.faint, 1], [view.item, css.accent, 2]]) {
			const box = item && this.box(item);
			if (!box)
				continue;
			context.strokeStyle = colour;
			context.lineWidth = width;
			context.strokeRect(box.x - 0.5, box.y - 0.5, box.width + 1, box.height + 1);
		}
	},

	/* The place where an arrow touches a row: its middle; for a folded row, the middle of its heading. */
	arrowY(row) {
		while (row.y < 0)
			row = this.view.trace.rows[row.parent];
		return AXIS + row.y - this.view.scroll + (row.kind === "group" ? 12 : Math.min(row.height / 2, 14));
	},

	/*
	 * The arrows in the picture. If there are too many for its width: flows, and the arrows of the chosen row. If these
	 * are too many: the arrows of the chosen row. If these are too many: none. `hidden` is the number of arrows left out.
	 */
	arrowsShown() {
		const { view } = this, { arrows } = view.trace, chosen = (view.item?.row ?? view.row)?.index;
		const isOwn = (k) => arrows.fromRow[k] === chosen || arrows.toRow[k] === chosen;
		const all = [], flows = [], own = [], most = Math.min(view.chart / ARROW_GAP, ARROWS_MAX);
		let nr = 0;
		for (let k = firstFrom(arrows.from, view.from - arrows.longest); k < arrows.nr && arrows.from[k] <= view.to; k++) {
			if (arrows.to[k] < view.from)
				continue;
			nr++;
			if (all.length <= most)
				all.push(k);
			if (flows.length <= most && (arrows.kind[k] === FLOW || isOwn(k)))
				flows.push(k);
			if (own.length <= ARROWS_MAX && isOwn(k))
				own.push(k);
		}
		const shown = [all, flows].find((list) => list.length <= most) ?? (own.length <= ARROWS_MAX ? own : []);
		return { shown: shown.map((k) => ({ k, own: isOwn(k) })), hidden: nr - shown.length };
	},

	drawArrows() {
		const { context, view, css } = this, { arrows, rows } = view.trace;
		context.save();
		context.beginPath();
		context.rect(view.labels, AXIS, view.chart, view.height);
		context.clip();
		const { shown, hidden } = this.arrowsShown();
		document.getElementById("hidden-arrows").textContent =
			hidden ? `${thousands(hidden)} arrows are not drawn: zoom in, or choose a row to see its arrows` : "";
		for (const { k, own } of shown) {
			const x = view.x(arrows.from[k]), end = view.x(arrows.to[k]);
			const y = this.arrowY(rows[arrows.fromRow[k]]), to = this.arrowY(rows[arrows.toRow[k]]);
			const flow = arrows.kind[k] === FLOW;
			if (!flow && y === to)
				continue; /* both threads are under one heading that is folded */
			context.strokeStyle = context.fillStyle = flow ? css.accent : css.text;
			context.globalAlpha = own ? 0.95 : flow ? 0.6 : 0.32;
			context.lineWidth = own ? 1.6 : 1;
			context.beginPath();
			context.moveTo(x, y);
			const bend = Math.max(Math.abs(end - x) / 2, flow ? 14 : 0);
			context.bezierCurveTo(x + bend, y, end - bend, to, end, to);
			context.stroke();
			const down = to > y ? -1 : 1;
			context.beginPath();
			context.moveTo(end, to);
			if (bend)
				context.lineTo(end - 6, to - 3.5), context.lineTo(end - 6, to + 3.5);
			else
				context.lineTo(end - 3.5, to + 6 * down), context.lineTo(end + 3.5, to + 6 * down);
			context.fill();
		}
		context.restore();
	},
});

/*
 * The arrows that touch an item: they begin or end on its row, in its time. The row of a keyed span belongs to no
 * thread, so an arrow touches such a span if it begins or ends at the same time as the span.
 */
function arrowsOf(trace, { row, line, i }) {
	const { arrows, rows } = trace, items = line.levels[0].items, begin = items.begin[i], end = items.end[i], found = [];
	const touches = (time, number) => row.kind === "keyed" ? time === begin || time === end
		: number === row.index && time >= begin && time <= end;
	for (let k = 0; k < arrows.nr && arrows.from[k] <= end; k++) {
		const words = arrows.kind[k] === FLOW ? ["Flow from", "Flow to"] : ["Woken by", "Wakes"];
		if (touches(arrows.to[k], arrows.toRow[k]))
			found.push({ word: words[0], row: rows[arrows.fromRow[k]], time: arrows.from[k] });
		if (touches(arrows.from[k], arrows.fromRow[k]))
			found.push({ word: words[1], row: rows[arrows.toRow[k]], time: arrows.to[k] });
	}
	return found;
}

/* The whole recording in one strip: how many events, or how busy the CPUs were, and the part that is shown. */
class Overview {
	constructor(canvas, painter) {
		this.canvas = canvas;
		this.painter = painter;
		this.bars = null;
	}

	/* The load of each column of pixels: time on CPUs if the recording has it, otherwise the number of events. */
	count(wide) {
		const { trace } = this.painter.view, bars = new Float64Array(wide), scale = wide / trace.length;
		const cpus = trace.rows.filter((row) => row.kind === "cpu" && row.lines.some((line) => line.kind === "spans"));
		const rows = cpus.length ? cpus : trace.rows;
		for (const line of rows.flatMap((row) => row.lines)) {
			if (line.kind === "states" || line.kind === "values" || (cpus.length && (line.kind !== "spans" || line.depth)))
				continue;
			const items = (line.levels.findLast((level) => level.resolution <= 1 / scale) ?? line.levels[0]).items;
			for (let i = 0; i < items.nr; i++) {
				const first = Math.min(Math.floor(items.begin[i] * scale), wide - 1);
				const last = Math.min(Math.floor(items.end[i] * scale), wide - 1);
				const part = cpus.length ? coveredOf(items, i) * scale : countOf(items, i);
				for (let x = first; x <= last; x++)
					bars[x] += part / (last - first + 1);
			}
		}
		this.bars = bars;
		this.trace = trace;
	}

	draw() {
		const { canvas, painter } = this, { view, css } = painter, ratio = window.devicePixelRatio || 1;
		const box = canvas.getBoundingClientRect(), width = Math.round(box.width), height = Math.round(box.height);
		if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
			canvas.width = Math.round(width * ratio);
			canvas.height = Math.round(height * ratio);
		}
		const chart = Math.max(width - view.labels, 1);
		if (this.trace !== view.trace || this.bars?.length !== chart)
			this.count(chart);
		const context = canvas.getContext("2d"), most = Math.max(...this.bars, 1e-9);
		context.setTransform(ratio, 0, 0, ratio, 0, 0);
		context.fillStyle = css.raised;
		context.fillRect(0, 0, width, height);
		context.fillStyle = css.accent;
		context.globalAlpha = 0.55;
		for (let x = 0; x < chart; x++) {
			const bar = this.bars[x] ? Math.max(this.bars[x] / most * (height - 8), 1) : 0;
			context.fillRect(view.labels + x, height - bar, 1, bar);
		}
		context.globalAlpha = 1;
		const from = view.labels + Math.max(view.from, 0) / view.trace.length * chart;
		const to = view.labels + Math.min(view.to / view.trace.length, 1) * chart;
		context.fillStyle = css.back;
		context.globalAlpha = 0.72;
		context.fillRect(view.labels, 0, from - view.labels, height);
		context.fillRect(to, 0, width - to, height);
		context.globalAlpha = 1;
		context.strokeStyle = css.accent;
		context.lineWidth = 1.5;
		context.strokeRect(from, 1, Math.max(to - from, 2), height - 2);
		context.fillStyle = css.faint;
		context.font = `11px ${FONT}`;
		context.textBaseline = "middle";
		context.fillText(`${duration(view.trace.length, view.trace.seconds)} in all`, 10, 14);
		context.fillText(`${duration(view.span, view.trace.seconds)} shown`, 10, 30);
	}
}
