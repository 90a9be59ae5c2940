/* SPDX-License-Identifier: MIT */
/*
 * The data in the page, as objects. docs/VIEW-DATA.md describes the bytes. Blocks are expanded and columns decoded when
 * they are needed: a page that shows the whole recording needs only the coarse levels of its lines.
 */
"use strict";

const NO_EVENT = -1;
const FLAG_NO_BEGIN = 1, FLAG_NO_END = 2, FLAG_CUT = 4, FLAG_PREEMPTED = 8;
const RUNS = ["running", "runnable", "sleeping", "blocked", "stopped", "dead", "unknown"];

function fromBase64(text) {
	const code = new Uint8Array(128);
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for (let i = 0; i < 64; i++)
		code[letters.charCodeAt(i)] = i;
	let size = text.length;
	while (size && text[size - 1] === "=")
		size--;
	const bytes = new Uint8Array(Math.floor(size * 3 / 4));
	let to = 0;
	for (let at = 0; at < size; at += 4) {
		const bits = code[text.charCodeAt(at)] << 18 | code[text.charCodeAt(at + 1)] << 12 |
			(at + 2 < size ? code[text.charCodeAt(at + 2)] << 6 : 0) | (at + 3 < size ? code[text.charCodeAt(at + 3)] : 0);
		bytes[to++] = bits >> 16;
		bytes[to++] = bits >> 8;
		bytes[to++] = bits;
	}
	return bytes;
}

async function expand(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function expandJson(bytes) {
	return JSON.parse(new TextDecoder().decode(await expand(bytes)));
}

/* Reads columns of numbers, one after another. */
class Columns {
	constructor(bytes, at) {
		this.bytes = bytes;
		this.at = at;
	}

	numbers(nr, out) {
		const bytes = this.bytes;
		let at = this.at;
		for (let i = 0; i < nr; i++) {
			let byte = bytes[at++], value = byte & 127;
			for (let scale = 128; byte > 127; scale *= 128) {
				byte = bytes[at++];
				value += (byte & 127) * scale;
			}
			out[i] = value;
		}
		this.at = at;
		return out;
	}

	sums(nr) {
		const out = this.numbers(nr, new Float64Array(nr));
		for (let i = 1; i < nr; i++)
			out[i] += out[i - 1];
		return out;
	}

	differences(nr) {
		const out = this.numbers(nr, new Float64Array(nr));
		let last = 0;
		for (let i = 0; i < nr; i++)
			out[i] = last += out[i] % 2 ? -(out[i] + 1) / 2 : out[i] / 2;
		return out;
	}

	events(nr) {
		const out = this.numbers(nr, new Float64Array(nr));
		let last = 0;
		for (let i = 0; i < nr; i++) {
			const step = out[i] % 2 ? -(out[i] + 1) / 2 : out[i] / 2;
			if (step > 0x7fffffffff)
				out[i] = NO_EVENT;
			else
				out[i] = (last += step) - 1;
		}
		return out;
	}
}

/* The result of a generator, computed without pauses. */
function finish(steps) {
	for (;;) {
		const { done, value } = steps.next();
		if (done)
			return value;
	}
}

const SLICE = 6; /* ms: less than half of a frame */

/* The result of a generator, computed in slices between which the browser draws; null: it is no longer needed. */
async function inSlices(steps, isWanted) {
	for (;;) {
		const until = performance.now() + SLICE;
		do {
			const { done, value } = steps.next();
			if (done)
				return value;
		} while (performance.now() < until);
		await new Promise((go) => setTimeout(go));
		if (!isWanted())
			return null;
	}
}

/* One level of a line. Its columns are decoded when they are first used. */
class Level {
	constructor(trace, line, numbers, isFirst) {
		[this.resolution, this.nr, this.at] = numbers;
		this.trace = trace;
		this.line = line;
		this.isFirst = isFirst;
		this.columns = null;
	}

	get items() {
		if (!this.columns)
			finish(this.prepare());
		return this.columns;
	}

	/* Decodes the columns, one in each step. */
	*prepare() {
		while (!this.columns) {
			this.decoder ||= this.decode();
			const { done, value } = this.decoder.next();
			if (done) {
				this.columns = value;
				this.decoder = null;
			}
			yield;
		}
	}

	*decode() {
		const nr = this.nr, from = new Columns(this.trace.bytes, this.at), items = { nr };
		items.begin = from.sums(nr);
		yield;
		if (this.line.kind === "values") {
			items.low = from.differences(nr);
			yield;
			items.high = from.numbers(nr, new Float64Array(nr));
			items.end = new Float64Array(nr);
			for (let i = 0; i < nr; i++) {
				items.high[i] += items.low[i];
				items.end[i] = i + 1 < nr ? items.begin[i + 1] : this.trace.length;
			}
		} else {
			items.end = from.numbers(nr, new Float64Array(nr));
			for (let i = 0; i < nr; i++)
				items.end[i] += items.begin[i];
			yield;
			items.name = from.numbers(nr, new Uint32Array(nr));
			yield;
			items.flags = from.numbers(nr, new Uint8Array(nr));
			yield;
		}
		if (this.isFirst) {
			items.event = from.events(nr);
			yield;
			items.last = from.numbers(nr, new Float64Array(nr));
			yield;
			items.cpu = from.numbers(nr, new Uint16Array(nr));
			yield;
		}
		if (this.resolution) {
			items.count = from.numbers(nr, new Uint32Array(nr));
			if (this.line.kind !== "values")
				items.covered = from.numbers(nr, new Float64Array(nr));
		}
		return items;
	}
}

/* The number of events or spans that item i stands for, and the time that they cover. */
function countOf(items, i) {
	return items.count ? items.count[i] : 1;
}

function coveredOf(items, i) {
	return items.count && items.count[i] > 1 ? items.covered[i] : items.end[i] - items.begin[i];
}

/* The first item that ends after `time`; items of a line do not overlap. */
function firstAfter(items, time) {
	let low = 0, high = items.nr;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (items.end[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The first of sorted times that is not before `time`. */
function firstFrom(times, time) {
	let low = 0, high = times.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

class Trace {
	/* blocks: functions that return the compressed bytes of each block. */
	static async load(blocks) {
		const trace = new Trace();
		const [head, bytes] = await Promise.all([expandJson(blocks[blocks.length - 1]()), expand(blocks[blocks.length - 2]())]);
		Object.assign(trace, head);
		trace.begin = BigInt(head.begin);
		trace.length = Math.max(head.length, 1);
		trace.days = (head.days ?? []).map(([at, day]) => ({ at: Number(BigInt(at) - trace.begin), start: BigInt(day) - BigInt(at) + trace.begin }));
		trace.bytes = bytes;
		trace.blocks = blocks;
		trace.textBlocks = new Map();
		trace.rows = head.rows.map((row, index) => trace.makeRow(row, index));
		trace.rowsByName = new Map(trace.rows.map((row) => [row.name, row]));
		trace.arrows = trace.makeArrows(head.arrows);
		return trace;
	}

	makeRow(row, index) {
		const made = { index, kind: row.kind, id: row.id, name: this.strings[row.name], parent: row.parent, level: 0, lines: [] };
		for (const line of row.lines) {
			const to = { kind: line.kind, depth: line.depth, isState: row.kind === "state", isWhy: row.kind === "why",
				isOfThreads: row.kind === "task" || (row.kind === "cpu" && !line.depth) };
			to.levels = line.levels.map((numbers, k) => new Level(this, to, numbers, !k));
			made.lines.push(to);
		}
		return made;
	}

	makeArrows([nr, all, at]) {
		const from = new Columns(this.bytes, at);
		const arrows = { nr, all, from: from.sums(nr), to: from.numbers(nr, new Float64Array(nr)), longest: 0 };
		for (let i = 0; i < nr; i++) {
			arrows.longest = Math.max(arrows.longest, arrows.to[i]);
			arrows.to[i] += arrows.from[i];
		}
		arrows.fromRow = from.numbers(nr, new Uint32Array(nr));
		arrows.toRow = from.numbers(nr, new Uint32Array(nr));
		arrows.kind = from.numbers(nr, new Uint8Array(nr));
		return arrows;
	}

	/* The text of an event's fields; "" if it was left out. */
	async text(event) {
		if (event === NO_EVENT)
			return "";
		let block = this.texts.length - 1;
		while (block >= 0 && this.texts[block] > event)
			block--;
		return block < 0 ? "" : (await this.textBlock(block)).get(event) ?? "";
	}

	textBlock(block) {
		if (!this.textBlocks.has(block))
			this.textBlocks.set(block, this.loadTexts(block));
		return this.textBlocks.get(block);
	}

	async loadTexts(block) {
		const { events, texts } = await expandJson(this.blocks[block]());
		const map = new Map();
		let event = this.texts[block];
		for (let i = 0; i < texts.length; i++)
			map.set(event += events[i], texts[i]);
		return map;
	}

	/* A time of the page as the file has it: "12345.678901234", or a number of ticks. */
	absolute(time) {
		const ns = this.begin + BigInt(Math.round(time));
		return this.seconds ? `${ns / 1000000000n}.${String(ns % 1000000000n).padStart(9, "0")}` : String(ns);
	}

	/*
	 * CLOCK_REALTIME at a time of the page, a BigInt; null if it is not known. Between two readings of the clocks it is on the
	 * line through both, unless the clock was set back; outside of them the offset of the nearest reading applies.
	 */
	realtime(time) {
		if (!this.days.length)
			return null;
		const first = this.days[0], last = this.days[this.days.length - 1], passed = BigInt(Math.round(time));
		if (time <= first.at || first === last)
			return first.start + passed;
		const drift = Number(last.start - first.start), length = last.at - first.at;
		if (time >= last.at || length + drift < 0)
			return last.start + passed;
		return first.start + passed + BigInt(Math.round((time - first.at) / length * drift));
	}

	/* "2026-11-23 14:03:05.250000 +0100", in the time zone of the browser; "" if it is not known. */
	dayTime(time) {
		const ns = this.realtime(time);
		if (ns === null)
			return "";
		const date = new Date(Number(ns / 1000000n)), two = (number) => String(number).padStart(2, "0");
		const zone = -date.getTimezoneOffset(), hours = Math.floor(Math.abs(zone) / 60);
		return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:`
			+ `${two(date.getSeconds())}.${String(ns / 1000n % 1000000n).padStart(6, "0")} ${zone < 0 ? "-" : "+"}${two(hours)}${two(Math.abs(zone) % 60)}`;
	}

	/* The opposite conversion; NaN: the text is not such a time. */
	relative(text) {
		const match = /^(\d{1,20})(?:\.(\d{1,9}))?$/.exec(text ?? "");
		if (!match)
			return NaN;
		const ns = this.seconds ? BigInt(match[1]) * 1000000000n + BigInt((match[2] ?? "").padEnd(9, "0")) : BigInt(match[1]);
		return Number(ns - this.begin);
	}
}
