/* SPDX-License-Identifier: MIT */
/* The contents of a time range: counts and durations by name, states of threads, values; events in order; matches. */
"use strict";

const ITEMS_A_STEP = 16384;

/*
 * Summarises a time range. A span or state counts if it overlaps the range; `total` is the part inside the range,
 * `least` and `most` are whole durations. A span without its begin or end, or that was cut short, has no duration: it only
 * counts as `incomplete`, as in recorder latency and top. `merged` is the part of the count that is in merged items, which have one
 * name for all.
 */
function summarise(trace, from, to) {
	return finish(summariseSteps(trace, from, to));
}

function* summariseSteps(trace, from, to) {
	const spans = new Map(), points = new Map(), runs = new Map(), values = new Map(), others = new Map();
	let states = [], merged = 0;

	const addSpan = (map, key, row, items, i) => {
		const sum = map.get(key) ?? { name: items.name[i], row, count: 0, incomplete: 0, total: 0, least: Infinity, most: 0, all: 0 };
		const length = coveredOf(items, i), many = countOf(items, i), whole = items.end[i] - items.begin[i];
		const inside = Math.min(items.end[i], to) - Math.max(items.begin[i], from);
		map.set(key, sum);
		if (map === spans && many === 1 && items.flags[i] & TORN) {
			sum.incomplete++;
			return;
		}
		sum.count += many;
		sum.all += length;
		sum.total += whole ? length * inside / whole : 0;
		if (many === 1) {
			sum.least = Math.min(sum.least, length);
			sum.most = Math.max(sum.most, length);
		} else {
			merged += many;
		}
	};
	const addStates = function* (row, items) {
		const sum = { row, times: new Float64Array(RUNS.length) };
		for (let i = firstAfter(items, from); i < items.nr && items.begin[i] <= to; i++) {
			if (!(i % ITEMS_A_STEP))
				yield;
			const whole = items.end[i] - items.begin[i], inside = Math.min(items.end[i], to) - Math.max(items.begin[i], from);
			sum.times[items.name[i]] += whole ? coveredOf(items, i) * inside / whole : 0;
		}
		if (sum.times.some((time) => time > 0))
			states.push(sum);
	};
	const addValues = function* (row, items) {
		const sum = { row, count: 0, least: Infinity, most: -Infinity, last: 0 };
		for (let i = firstAfter(items, from); i < items.nr && items.begin[i] <= to; i++) {
			if (!(i % ITEMS_A_STEP))
				yield;
			sum.count += items.begin[i] >= from ? countOf(items, i) : 0;
			sum.least = Math.min(sum.least, items.low[i]);
			sum.most = Math.max(sum.most, items.high[i]);
			sum.last = items.high[i];
		}
		if (sum.least <= sum.most)
			values.set(row.index, sum);
	};

	/* States and tasks are counted by row; all other items for all rows together. */
	const addSpans = function* (row, line, items) {
		const own = row.kind === "state" || row.kind === "task" || row.kind === "why";
		const map = line.kind === "points" ? points : own ? others : row.kind === "cpu" && !line.depth ? runs : spans;
		for (let i = firstAfter(items, from); i < items.nr && items.begin[i] <= to; i++) {
			if (!(i % ITEMS_A_STEP))
				yield;
			addSpan(map, own ? row.index * 0x100000000 + items.name[i] : items.name[i], row, items, i);
		}
	};

	for (const row of trace.rows)
		for (const line of row.lines) {
			yield* line.levels[0].prepare();
			const { items } = line.levels[0];
			if (line.kind === "states")
				yield* addStates(row, items);
			else if (line.kind === "values")
				yield* addValues(row, items);
			else if (line.kind !== "losses")
				yield* addSpans(row, line, items);
		}
	const list = (map, by) => [...map.values()].sort((a, b) => b[by] - a[by]);
	states = states.sort((a, b) => b.times[0] - a.times[0]);
	return { spans: list(spans, "total"), points: list(points, "count"), runs: list(runs, "total"), states, others: list(others, "total"),
		values: [...values.values()], merged };
}

function* eventsSteps(trace, from, to, most) {
	for (const row of trace.rows)
		for (const line of row.lines)
			yield* line.levels[0].prepare();
	return eventsBetween(trace, from, to, most);
}

/*
 * The number of items of each row, and its time: of a thread the time on CPUs, otherwise that of the outermost spans.
 */
function* rowsSteps(trace) {
	const sums = [];
	for (const row of trace.rows) {
		const sum = { row, count: 0, time: 0 };
		for (const line of row.lines) {
			yield* line.levels[0].prepare();
			const { items } = line.levels[0];
			for (let i = 0; i < items.nr; i++) {
				if (!(i % ITEMS_A_STEP))
					yield;
				sum.count += line.kind === "states" || line.kind === "losses" ? 0 : countOf(items, i);
				if (line.kind === "states" ? !items.name[i] : line.kind === "spans" && !line.depth)
					sum.time += coveredOf(items, i);
			}
		}
		sums.push(sum);
	}
	return sums;
}

/* The first `most` events between two times, in order: points, and spans by their begin. */
function eventsBetween(trace, from, to, most) {
	const found = [];
	for (const row of trace.rows)
		for (const line of row.lines) {
			if (line.kind === "states" || line.kind === "losses")
				continue;
			const items = line.levels[0].items;
			let nr = 0;
			for (let i = firstAfter(items, from); i < items.nr && items.begin[i] <= to && nr < most; i++)
				if (items.begin[i] >= from && items.event[i] !== NO_EVENT) {
					found.push({ row, line, i, time: items.begin[i], event: items.event[i] });
					nr++;
				}
		}
	found.sort((a, b) => a.time - b.time || a.event - b.event);
	return found.slice(0, most);
}

const SHIFT_MAX = 100000; /* the most ns by which new readings of the clocks may move an event between two states */

/*
 * The same item in a later state of the recording: of the same row, kind and name, with the same fields, and next in time; null:
 * it is gone. `fields`: of an item of a trace.
 */
async function itemAgain({ row, line, i }, before, now, fields) {
	const time = line.levels[0].items.begin[i] + Number(before.begin - now.begin), name = labelOf(before, { row, line, i });
	const text = await fields({ line, i }, before), found = [];
	const to = now.rows.find((one) => one.kind === row.kind && one.id === row.id);
	for (const one of to?.lines.filter(({ kind }) => kind === line.kind) ?? []) {
		const { items } = one.levels[0];
		for (let k = firstAfter(items, time - SHIFT_MAX); k < items.nr && items.begin[k] <= time + SHIFT_MAX; k++)
			if (labelOf(now, { row: to, line: one, i: k }) === name)
				found.push({ row: to, line: one, i: k, far: Math.abs(items.begin[k] - time) });
	}
	for (const one of found.sort((a, b) => a.far - b.far))
		if (await fields(one, now) === text)
			return { row: to, line: one.line, i: one.i };
	return null;
}

/* Names of events, rows and, with inFields, events whose fields contain the text. */
async function findMatches(trace, text, inFields) {
	const wanted = text.toLowerCase(), matches = { names: new Set(), rows: new Set(), events: new Set() };
	trace.strings.forEach((string, i) => string.toLowerCase().includes(wanted) && matches.names.add(i));
	for (const row of trace.rows)
		if (row.kind !== "group" && row.name.toLowerCase().includes(wanted))
			matches.rows.add(row.index);
	for (let block = 0; inFields && block < trace.texts.length; block++)
		for (const [event, fields] of await trace.textBlock(block))
			if (fields.toLowerCase().includes(wanted))
				matches.events.add(event);
	return matches;
}

function isMatch(matches, line, items, i) {
	return (line.kind !== "states" && line.kind !== "losses" && line.kind !== "values" && matches.names.has(items.name[i])) ||
		matches.events.has(items.event[i]);
}

/*
 * Counts the matches. matches.ticks gets their times for each line, because coarser levels do not have the merged
 * items.
 */
function* countMatches(trace, matches) {
	let nr = 0;
	matches.ticks = new Map();
	for (const row of trace.rows)
		for (const line of row.lines) {
			yield* line.levels[0].prepare();
			const { items } = line.levels[0], ticks = [];
			for (let i = 0; i < items.nr; i++) {
				if (!(i % ITEMS_A_STEP))
					yield;
				if (isMatch(matches, line, items, i)) {
					nr += countOf(items, i);
					ticks.push(items.begin[i]);
				}
			}
			if (ticks.length)
				matches.ticks.set(line, ticks);
		}
	return nr;
}

/* The place of a line among all lines, in the order of the picture. */
function placeOf(row, line) {
	return row * 0x100000 + line;
}

/*
 * The next match that begins after the time of an item or, if not `forward`, the last one that begins before it.
 * Matches of one moment are in the order of rows.
 */
function nextMatch(trace, matches, time, place, forward) {
	let best = null;
	const before = (a, b) => a.time - b.time || a.place - b.place;
	const start = { time, place };
	trace.rows.forEach((row, r) => row.lines.forEach((line, l) => {
		const items = line.levels[0].items, here = placeOf(r, l);
		let i = firstAfter(items, time);
		while (i > 0 && i < items.nr && items.begin[i] > time && !forward)
			i--;
		if (i >= items.nr)
			i = items.nr - 1;
		const step = forward ? 1 : -1;
		for (; i >= 0 && i < items.nr; i += step) {
			const at = { row, line, i, time: items.begin[i], place: here };
			if (!isMatch(matches, line, items, i) || before(at, start) * step <= 0)
				continue;
			if (!best || before(at, best) * step < 0)
				best = at;
			break;
		}
	}));
	return best;
}
