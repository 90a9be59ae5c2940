/* SPDX-License-Identifier: MIT */
/*
 * The state of the view: the visible time range, the positions of rows that are not folded, and the selection. Times
 * are nanoseconds from the beginning of the recording; positions are CSS pixels.
 */
"use strict";

const LABELS = 230; /* the greatest width of the rows' names */
const AXIS = 26; /* height of the axis */
const PAD = 3;
const HEIGHTS = { states: 6, spans: 16, points: 10, values: 32, losses: 0 };
const SHORTEST = 20; /* ns: the shortest range that can be shown */

/* A row with hundreds of lines shows how many spans are open at a time, and leaves room for other rows. */
function heightOfSpans(lines) {
	return lines <= 32 ? HEIGHTS.spans : lines <= 96 ? 6 : 3;
}

class View {
	constructor(trace) {
		this.folded = new Set();
		this.from = 0;
		this.to = trace.length;
		this.scroll = 0;
		this.row = null; /* chosen */
		this.item = null; /* chosen: { row, line, i } */
		this.selection = null; /* { from, to }; `fixed`: the one that the keyboard does not move */
		this.matches = null; /* { names: Set, events: Set, rows: Set } */
		this.hover = null;
		this.width = this.height = 0;
		this.take(trace);
	}

	/* Use a newer state of the same running recording. */
	take(trace) {
		this.trace = trace;
		for (const row of trace.rows)
			row.level = row.parent < 0 ? 0 : trace.rows[row.parent].level + 1;
		this.layOut();
	}

	/* Rows are identified by name and kind, which do not change while a recording grows. */
	key(row) {
		return `${row.kind}:${row.id}`;
	}

	isFolded(row) {
		return this.folded.has(this.key(row));
	}

	fold(row, fold) {
		if (row.kind !== "group")
			return;
		if (fold ?? !this.isFolded(row))
			this.folded.add(this.key(row));
		else
			this.folded.delete(this.key(row));
		this.layOut();
	}

	layOut() {
		const hidden = new Set();
		let y = 0;
		this.rows = [];
		for (const row of this.trace.rows) {
			if (row.parent >= 0 && (hidden.has(row.parent) || this.isFolded(this.trace.rows[row.parent]))) {
				hidden.add(row.index);
				row.y = -1;
				continue;
			}
			row.y = y;
			row.height = this.layOutLines(row);
			y += row.height;
			this.rows.push(row);
		}
		this.total = y;
	}

	layOutLines(row) {
		const spans = row.lines.filter((line) => line.kind === "spans").length;
		let y = PAD;
		for (const line of row.lines) {
			line.y = y;
			line.height = line.kind === "spans" ? heightOfSpans(spans) : HEIGHTS[line.kind];
			y += line.height + (line.height ? 1 : 0);
		}
		if (row.kind === "group")
			return 24;
		const height = Math.max(y + PAD - 1, 20);
		if (row.lines.length === 1 || y + PAD < 20) {
			for (const line of row.lines)
				line.height ||= height - 2 * PAD;
			if (row.lines.length === 1 && row.lines[0].kind === "states")
				row.lines[0].y = (height - row.lines[0].height) / 2;
			else if (row.lines.length === 1)
				row.lines[0].height = height - 2 * PAD;
		}
		return height;
	}

	get span() {
		return this.to - this.from;
	}

	/* The width of the rows' names. A narrow window leaves most of it to the chart. */
	get labels() {
		return Math.min(LABELS, Math.round(this.width * 0.35));
	}

	get chart() {
		return Math.max(this.width - this.labels, 1);
	}

	x(time) {
		return this.labels + (time - this.from) / this.span * this.chart;
	}

	time(x) {
		return this.from + (x - this.labels) / this.chart * this.span;
	}

	/* Shows this time range, or the nearest one within the recording. */
	show(from, to) {
		const length = this.trace.length, margin = length * 0.02;
		let span = Math.min(Math.max(to - from, SHORTEST), length + 2 * margin);
		if (!Number.isFinite(span))
			span = length;
		const middle = Number.isFinite(from + to) ? (from + to) / 2 : length / 2;
		this.from = Math.min(Math.max(middle - span / 2, -margin), length + margin - span);
		this.to = this.from + span;
	}

	zoom(factor, at = (this.from + this.to) / 2) {
		const span = Math.min(Math.max(this.span * factor, SHORTEST), this.trace.length * 1.04);
		const from = at - (at - this.from) * span / this.span;
		this.show(from, from + span);
	}

	pan(part) {
		const step = part * this.span;
		this.show(this.from + step, this.to + step);
	}

	scrollTo(y) {
		this.scroll = Math.min(Math.max(y, 0), Math.max(this.total - (this.height - AXIS), 0));
	}

	reveal(row) {
		const room = this.height - AXIS;
		for (let above = row; above.parent >= 0;) {
			above = this.trace.rows[above.parent];
			if (this.isFolded(above))
				this.fold(above, false);
		}
		if (row.y < this.scroll)
			this.scrollTo(row.y);
		else if (row.y + row.height > this.scroll + room)
			this.scrollTo(row.y + row.height - room);
	}

	/* The row at a height of the canvas. */
	rowAt(y) {
		const at = y - AXIS + this.scroll;
		if (y < AXIS)
			return null;
		let low = 0, high = this.rows.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.rows[middle].y + this.rows[middle].height <= at)
				low = middle + 1;
			else
				high = middle;
		}
		return this.rows[low] ?? null;
	}

	/* The item at a position, with some pixels of tolerance for thin items. Merged items are never returned. */
	itemAt(x, y) {
		const row = this.rowAt(y);
		if (!row || x < this.labels)
			return null;
		const inside = y - AXIS + this.scroll - row.y, near = 3 / this.chart * this.span, time = this.time(x);
		for (const line of row.lines) {
			if (inside < line.y - 1 || inside > line.y + line.height || line.kind === "losses")
				continue;
			const items = line.levels[0].items;
			let best = null, distance = near;
			for (let i = firstAfter(items, time - near); i < items.nr && items.begin[i] <= time + near; i++) {
				const away = Math.max(items.begin[i] - time, time - items.end[i], 0);
				if (away <= distance) {
					best = { row, line, i };
					distance = away;
				}
				if (!away && items.end[i] > time)
					break;
			}
			if (best)
				return best;
		}
		return null;
	}

	/*
	 * The item of a row at a time: one that begins or ends then, the innermost span, or the state; null: there is
	 * none.
	 */
	itemAround(row, time) {
		let best = null, rank = 0;
		for (const line of row.lines) {
			const { items } = line.levels[0];
			for (let i = firstAfter(items, time); i < items.nr && items.begin[i] <= time && line.kind !== "losses"; i++) {
				const exact = items.begin[i] === time || items.end[i] === time;
				const now = line.kind === "states" ? 1 : (exact ? 0x100000 : 2) + line.depth;
				if (now > rank)
					[best, rank] = [{ row, line, i }, now];
			}
		}
		return best;
	}

	/*
	 * The next item of a row that begins after a time or, if not `forward`, the last one that begins before it.
	 * Only lines of spans and points are searched.
	 */
	neighbour(row, time, forward) {
		let best = null;
		for (const line of row.lines) {
			if (line.kind === "losses" || (line.kind === "states" && row.lines.some((other) => other.kind !== "states")))
				continue;
			const items = line.levels[0].items;
			let i = firstAfter(items, time);
			if (forward)
				while (i < items.nr && items.begin[i] <= time)
					i++;
			else
				while (i >= items.nr || (i >= 0 && items.begin[i] >= time))
					i--;
			if (i < 0 || i >= items.nr)
				continue;
			const begin = items.begin[i];
			if (!best || (forward ? begin < best.begin : begin > best.begin))
				best = { row, line, i, begin };
		}
		return best;
	}
}

/* ---------------------------------------------------------------------------------------------------- numbers */

/* A duration with three or four digits: "12.35 ms". */
function duration(ns, seconds = true) {
	if (!seconds)
		return `${Math.round(ns)}`;
	for (const [unit, size] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (Math.abs(ns) >= size)
			return `${(ns / size).toPrecision(Math.abs(ns) >= 1000 * size ? 6 : 4)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

function thousands(number) {
	return String(number).replace(/\B(?=(\d{3})+$)/g, "\u2009");
}

/* "io:submit" of an item; of thread states, the state; of values, the value. */
function labelOf(trace, { row, line, i }) {
	const items = line.levels[0].items;
	if (line.kind === "values")
		return `${row.name} = ${items.low[i]}`;
	if (line.kind === "states")
		return RUNS[items.name[i]] + (items.flags[i] & FLAG_PREEMPTED ? ", preempted" : "");
	return trace.strings[items.name[i]];
}
