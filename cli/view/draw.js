/* SPDX-License-Identifier: MIT */
/*
 * The pictures. Rectangles are written into the pixels directly, one line of pixels for each line of items, which is
 * then repeated: the cost of a frame depends on the size of the window, and not on the number of items, nor on the
 * graphics card. Items shorter than a pixel share one. It has the colour of the longest, and is as strong as the part
 * of the pixel that they cover.
 */
"use strict";

const LIGHT = ["#8fb8f0", "#f2b27a", "#9ad19a", "#e79aa8", "#b9a5e6", "#7fcfcb", "#e3cf74", "#d3a07f", "#a7c36b", "#e3a3d6",
	"#86c5ea", "#c2b8a3"];
const DARK = ["#3d6fb5", "#b0692a", "#3f8f4f", "#b04a5e", "#7458b8", "#2b8c89", "#9c8421", "#94592f", "#6a8a2b", "#a3528f",
	"#2f7fa8", "#7d725c"];
const TORN = FLAG_NO_BEGIN | FLAG_NO_END | FLAG_CUT;
const LEGIBLE = 9; /* height of a line, in pixels, that has room for a name */
const FONT = '"DejaVu Sans", system-ui, sans-serif';

/* A colour as the number of a pixel. */
function pixel(colour) {
	const number = parseInt(colour.trim().slice(1, 7), 16);
	return (0xff000000 | (number & 255) << 16 | (number & 0xff00) | number >> 16) >>> 0;
}

function mix(back, front, part) {
	const a = Math.round(part * 256), b = 256 - a;
	const low = ((back & 0xff00ff) * b + (front & 0xff00ff) * a >>> 8) & 0xff00ff;
	const high = ((back >>> 8 & 0xff) * b + (front >>> 8 & 0xff) * a >>> 8) & 0xff;
	return (0xff000000 | low | high << 8) >>> 0;
}

class Painter {
	constructor(canvas, view) {
		this.canvas = canvas;
		this.view = view;
		this.context = canvas.getContext("2d", { alpha: false });
		this.widths = new Map();
		this.readColours();
	}

	readColours() {
		const style = getComputedStyle(document.documentElement);
		const css = (name) => style.getPropertyValue(`--${name}`).trim();
		this.dark = document.documentElement.dataset.theme === "dark";
		this.css = {};
		for (const name of ["back", "stripe", "raised", "line", "text", "faint", "accent", "loss", "match"])
			this.css[name] = css(name);
		this.back = pixel(this.css.back);
		this.stripe = pixel(this.css.stripe);
		this.loss = pixel(this.css.loss);
		this.matchColour = pixel(this.css.match);
		this.names = (this.dark ? DARK : LIGHT).map(pixel);
		this.runs = RUNS.map((run) => pixel(css(run) || css("stopped")));
		this.onItems = this.dark ? "#ffffff" : "#1b2430";
	}

	colourOf(line, name) {
		if (line.kind === "states")
			return this.runs[name] ?? this.runs[4];
		if (line.isState)
			return this.names[this.stateColour(name)];
		const text = this.view.trace.strings[name] ?? "";
		if (line.isWhy)
			return this.runs[RUNS.indexOf(text)] ?? this.names[4];
		let colour = this.view.trace.colours?.get(name);
		if (colour === undefined) {
			let hash = 0;
			for (let i = 0; i < text.length; i++)
				hash = Math.imul(hash, 31) + text.charCodeAt(i) | 0;
			colour = (Math.imul(hash, 0x9e3779b1) >>> 16) % this.names.length;
			(this.view.trace.colours ||= new Map()).set(name, colour);
		}
		return this.names[colour];
	}

	/*
	 * A state has few values, which are adjacent: so they get different colours, in the order in which they are
	 * drawn.
	 */
	stateColour(name) {
		const colours = this.view.trace.stateColours ||= new Map();
		if (!colours.has(name))
			colours.set(name, colours.size % this.names.length);
		return colours.get(name);
	}

	resize() {
		const box = this.canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
		const width = Math.max(Math.round(box.width * ratio), 1), height = Math.max(Math.round(box.height * ratio), 1);
		if (this.canvas.width !== width || this.canvas.height !== height) {
			this.canvas.width = width;
			this.canvas.height = height;
		}
		this.ratio = ratio;
		this.view.width = box.width;
		this.view.height = box.height;
	}

	draw() {
		const view = this.view, context = this.context;
		this.resize();
		view.scrollTo(view.scroll);
		this.left = Math.round(view.labels * this.ratio);
		this.top = Math.round(AXIS * this.ratio);
		this.wide = Math.max(this.canvas.width - this.left, 1);
		this.high = Math.max(this.canvas.height - this.top, 1);
		if (!this.image || this.image.width !== this.wide || this.image.height !== this.high) {
			this.image = context.createImageData(this.wide, this.high);
			this.pixels = new Uint32Array(this.image.data.buffer);
			this.strip = new Uint32Array(this.wide);
			this.cover = new Float64Array(this.wide);
			this.cover2 = new Float64Array(this.wide);
			this.front = new Uint32Array(this.wide);
		}
		this.pixels.fill(this.back);
		const shown = view.rows.filter((row) => row.y + row.height > view.scroll && row.y < view.scroll + view.height - AXIS);
		const labels = [];
		for (const row of shown)
			this.paintRow(row, labels);
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.putImageData(this.image, this.left, this.top);
		context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
		this.drawLabels(labels);
		this.drawSelection();
		this.drawArrows();
		this.drawChosen();
		this.drawNames(shown);
		this.drawAxis();
	}

	/* ------------------------------------------------------------------------------------------ pixels */

	paintRow(row, labels) {
		const view = this.view, y = (row.y - view.scroll) * this.ratio;
		const back = row.kind === "group" || row.index % 2 ? this.stripe : this.back;
		if (back !== this.back)
			this.fillRows(y, row.height * this.ratio, (line) => line.fill(back));
		for (const line of row.lines) {
			const top = y + line.y * this.ratio, height = line.height * this.ratio;
			if (line.height && (top > this.high || top + height < 0))
				continue;
			if (line.kind === "values")
				this.paintValues(line, top, height, back);
			else if (line.kind === "losses")
				this.paintLosses(line, y, row.height * this.ratio);
			else
				this.paintItems(row, line, top, height, back, labels);
		}
	}

	/* Fills the lines of pixels of a range, clipped to the picture. */
	fillRows(y, height, fill) {
		const first = Math.max(Math.round(y), 0), last = Math.min(Math.round(y + height), this.high);
		for (let at = first; at < last; at++)
			fill(this.pixels.subarray(at * this.wide, (at + 1) * this.wide), at);
	}

	/* The coarsest level that is as fine as a pixel. */
	level(line) {
		const pixel = this.view.span / this.wide;
		let level = line.levels[0];
		for (const other of line.levels)
			if (other.resolution <= pixel)
				level = other;
		return level.items;
	}

	strength(row, line, items, i) {
		const matches = this.view.matches;
		if (!matches)
			return 1;
		if (matches.rows.has(row.index) || (line.kind !== "states" && matches.names.has(items.name[i])) ||
			(items.event && matches.events.has(items.event[i])))
			return 1;
		return 0.22;
	}

	paintItems(row, line, top, height, back, labels) {
		const { view, strip, cover, front, wide } = this, items = this.level(line);
		const scale = wide / view.span, points = line.kind === "points", edges = [];
		strip.fill(back);
		cover.fill(0);
		this.cover2.fill(0);
		for (let i = firstAfter(items, view.from); i < items.nr && items.begin[i] <= view.to; i++) {
			const x = (items.begin[i] - view.from) * scale, end = (items.end[i] - view.from) * scale;
			const strength = this.strength(row, line, items, i), colour = this.colourOf(line, items.name[i]);
			if (end - x >= 2) {
				const full = coveredOf(items, i) / (items.end[i] - items.begin[i]);
				const solid = mix(back, colour, strength * Math.min(1, countOf(items, i) > 1 ? 0.25 + 0.6 * full : 1));
				const first = Math.max(Math.round(x), 0), last = Math.min(Math.round(end), wide);
				strip.fill(solid, first, last);
				const torn = line.kind === "spans" && countOf(items, i) === 1 ? items.flags[i] & TORN : 0;
				if (torn)
					edges.push({ x, end, torn });
				else if (line.kind === "spans" && last - first > 3 && end <= wide)
					strip[last - 1] = mix(back, colour, strength * 0.35);
				if (line.kind === "spans" && line.height >= LEGIBLE && (end - x) / this.ratio > 22 && strength === 1)
					labels.push({ line, items, i, x: Math.max(x, 0), end: Math.min(end, wide), y: top, height });
			} else {
				const at = Math.min(Math.max(Math.floor(x), 0), wide - 1);
				const weight = points ? 1 : Math.max(coveredOf(items, i) * scale, 0.02);
				cover[at] += weight * strength;
				if (weight * strength > this.cover2[at]) {
					this.cover2[at] = weight * strength;
					front[at] = colour;
				}
			}
		}
		const least = line.kind === "states" ? 0.15 : 0.4;
		for (let x = 0; x < wide; x++)
			if (cover[x])
				strip[x] = mix(strip[x], front[x], Math.min(1, points ? 0.55 + 0.15 * cover[x] : least + (1 - least) * cover[x]));
		if (points && this.ratio < 1.5)
			this.widen();
		this.fillRows(top, height, (to) => to.set(strip));
		for (const edge of edges)
			this.tearEdge(edge, top, height, back);
		this.paintTicks(view.matches?.ticks.get(line), top, height);
		if (points)
			this.labelPoints(row, line, items, scale, top, height, labels);
	}

	/*
	 * A span that is not whole: the edge is torn where its begin or end was not seen, and hatched where it was cut.
	 * Whole sides are drawn as usual.
	 */
	tearEdge({ x, end, torn }, top, height, back) {
		const first = Math.round(x), last = Math.round(end), tooth = 6 * this.ratio;
		const reach = Math.min(tooth, (last - first) / 2), hatched = Math.min(2 * tooth, last - first);
		const clear = (to, from, until) => to.fill(back, Math.min(Math.max(from, 0), this.wide), Math.min(Math.max(until, 0), this.wide));
		this.fillRows(top, height, (to, at) => {
			const y = at - Math.round(top), deep = Math.round(reach * Math.abs(1 - y % tooth * 2 / tooth));
			if (torn & FLAG_NO_BEGIN)
				clear(to, first, first + deep);
			if (torn & FLAG_NO_END)
				clear(to, last - deep, last);
			for (let i = Math.max(last - hatched, 0); torn & FLAG_CUT && i < Math.min(last, this.wide); i++)
				if ((last - i + y) / this.ratio % 4 < 1.5)
					to[i] = back;
		});
	}

	/*
	 * Draws a mark at each match, in the upper part of the line, so that a match is visible even if it shares a
	 * pixel with other items.
	 */
	paintTicks(times, top, height) {
		const { view, wide } = this, scale = wide / view.span;
		for (let i = times ? firstFrom(times, view.from) : Infinity; i < times?.length && times[i] <= view.to;) {
			const x = Math.floor((times[i] - view.from) * scale);
			this.fillRows(top, Math.max(height / 3, 2), (to) => to.fill(this.matchColour, x, Math.min(x + Math.ceil(this.ratio), wide)));
			i = Math.max(firstFrom(times, view.from + (x + 1) / scale), i + 1);
		}
	}

	/* Makes single points two pixels wide, so that they are visible. */
	widen() {
		const { strip, cover, wide } = this;
		for (let x = wide - 2; x >= 0; x--)
			if (cover[x] && !cover[x + 1])
				strip[x + 1] = strip[x];
	}

	labelPoints(row, line, items, scale, top, height, labels) {
		const room = 60 * this.ratio;
		let i = firstAfter(items, this.view.from);
		if ((items.nr - i) * 2 > this.wide && i + this.wide < items.nr && items.begin[i + this.wide] <= this.view.to)
			return;
		for (; i < items.nr && items.begin[i] <= this.view.to; i++) {
			const x = (items.begin[i] - this.view.from) * scale;
			const next = i + 1 < items.nr ? (items.begin[i + 1] - this.view.from) * scale : this.wide;
			if (next - x > room && countOf(items, i) === 1 && this.strength(row, line, items, i) === 1)
				labels.push({ line, items, i, x: x + 3 * this.ratio, end: Math.min(next, this.wide), y: top, height, free: true });
		}
	}

	/*
	 * Draws a curve: in each column of pixels, the area below the highest value, and the range from the lowest to
	 * the highest.
	 */
	paintValues(line, top, height, back) {
		const { view, wide } = this, items = this.level(line), scale = wide / view.span;
		const [low, high] = this.range(line), colour = this.names[0], area = mix(back, colour, 0.3);
		const least = this.cover.fill(NaN), most = this.cover2.fill(NaN);
		for (let i = firstAfter(items, view.from); i < items.nr && items.begin[i] <= view.to; i++) {
			const first = Math.max(Math.floor((items.begin[i] - view.from) * scale), 0);
			const last = Math.min(Math.max(Math.floor((items.end[i] - view.from) * scale), first), wide - 1);
			const merged = countOf(items, i) > 1 && items.high[i] !== items.low[i];
			for (let x = first; x <= last; x++) {
				least[x] = x > first && !merged || !(least[x] <= items.low[i]) ? items.low[i] : least[x];
				most[x] = x > first && !merged || !(most[x] >= items.high[i]) ? items.high[i] : most[x];
			}
		}
		const above = (value) => top + height - 1 - (value - low) / (high - low || 1) * (height - 2);
		for (let x = 0; x < wide; x++) {
			if (Number.isNaN(most[x]))
				continue;
			const upper = Math.round(above(most[x])), lower = Math.round(above(least[x]));
			const bottom = Math.min(Math.round(top + height), this.high);
			for (let y = Math.max(upper, 0); y < bottom; y++)
				this.pixels[y * wide + x] = y <= lower + this.ratio - 1 ? colour : area;
		}
	}

	range(line) {
		if (!line.range) {
			const items = line.levels[line.levels.length - 1].items;
			line.range = [0, 0];
			for (let i = 0; i < items.nr; i++) {
				line.range[0] = Math.min(line.range[0], items.low[i]);
				line.range[1] = Math.max(line.range[1], items.high[i]);
			}
		}
		return line.range;
	}

	paintLosses(line, y, height) {
		const { view, wide } = this, items = this.level(line), scale = wide / view.span;
		for (let i = firstAfter(items, view.from); i < items.nr && items.begin[i] <= view.to; i++) {
			const x = Math.floor((items.begin[i] - view.from) * scale);
			this.fillRows(y, height, (to, at) => to.fill(this.loss, Math.max(x - (at >> 1) % 2, 0), Math.min(x + 2, wide)));
		}
	}

	/* ------------------------------------------------------------------------------------------ texts */

	widthOf(text) {
		let width = this.widths.get(text);
		if (width === undefined) {
			width = this.context.measureText(text).width;
			this.widths.set(text, width);
		}
		return width;
	}

	/* The part of a text that fits. */
	fit(text, room) {
		const width = this.widthOf(text);
		if (width <= room)
			return text;
		for (let letters = Math.ceil(text.length * room / width); letters > 1; letters--) {
			const part = `${text.slice(0, letters)}…`;
			if (this.widthOf(part) <= room)
				return part;
		}
		return "";
	}

	/* What fits of an item's name: all of it, or the name without its system, or a part of that. */
	label({ line, items, i }, room) {
		const many = countOf(items, i), count = many > 1 ? `${many} × ` : "", name = this.view.trace.strings[items.name[i]] ?? "";
		const whole = count + name, short = line.isOfThreads ? whole : count + name.slice(name.indexOf(":") + 1);
		return this.widthOf(whole) <= room ? whole : this.fit(short, room);
	}

	drawLabels(labels) {
		const { context, view } = this;
		context.font = `11px ${FONT}`;
		context.textBaseline = "middle";
		context.save();
		context.beginPath();
		context.rect(view.labels, AXIS, view.chart, view.height);
		context.clip();
		for (const label of labels.slice(0, 3000)) {
			const { x, end, y, height, free } = label, text = this.label(label, (end - x) / this.ratio - 8);
			context.fillStyle = free ? this.css.faint : this.onItems;
			context.fillText(text, view.labels + x / this.ratio + 4, AXIS + (y + height / 2) / this.ratio + 0.5);
		}
		context.restore();
	}

	drawNames(shown) {
		const { context, view, css } = this;
		context.fillStyle = css.raised;
		context.fillRect(0, 0, view.labels, view.height);
		for (const row of shown) {
			const y = AXIS + row.y - view.scroll, group = row.kind === "group";
			if (row === view.row) {
				context.fillStyle = css.accent;
				context.fillRect(0, y, 3, row.height);
			}
			context.fillStyle = group || row === view.row ? css.text : css.faint;
			context.font = group ? `bold 12px ${FONT}` : `11.5px ${FONT}`;
			const mark = group ? (view.isFolded(row) ? "▸ " : "▾ ") : "";
			const indent = 10 + 14 * row.level;
			this.widths.clear();
			context.fillText(this.fit(mark + row.name, view.labels - indent - 8), indent, y + Math.min(row.height / 2, 14) + 0.5);
			context.fillStyle = css.line;
			context.fillRect(group ? 0 : indent, y, group ? view.width : view.labels - indent, group ? 1 : 0.5);
		}
		this.widths.clear();
		context.fillRect(view.labels - 1, 0, 1, view.height);
	}

	/* ------------------------------------------------------------------------------------------- axis */

	/* The least step of 1, 2 or 5 times a power of ten, so that marks are at least this many pixels apart. */
	stepOf(pixels) {
		const least = this.view.span / this.view.chart * pixels, power = 10 ** Math.floor(Math.log10(least));
		return Math.max(power * ([1, 2, 5].find((n) => n * power >= least) ?? 10), 1);
	}

	/*
	 * Marks are 90 pixels apart or, if that is not enough for their texts, as far as these are wide. The last two
	 * texts are measured, because of two neighbours at least one has all decimals: 1.998 s, 2 s.
	 */
	step() {
		const step = this.stepOf(90), last = Math.floor(this.view.to / step);
		const wide = Math.max(...[Math.max(last - 1, 0), last].map((n) => this.widthOf(this.mark(n, step)))) + 20;
		return wide > 90 ? this.stepOf(wide) : step;
	}

	drawAxis() {
		const { context, view, css } = this;
		context.font = `11px ${FONT}`;
		context.textBaseline = "middle";
		this.widths.clear();
		const step = this.step();
		context.fillStyle = css.raised;
		context.fillRect(0, 0, view.width, AXIS);
		for (let n = Math.ceil(view.from / step); n * step <= view.to; n++) {
			const x = view.x(n * step);
			if (x < view.labels)
				continue;
			context.fillStyle = css.line;
			context.fillRect(Math.round(x), AXIS - 6, 1, 6);
			context.globalAlpha = 0.25;
			context.fillRect(Math.round(x), AXIS, 1, view.height);
			context.globalAlpha = 1;
			context.fillStyle = css.faint;
			context.fillText(this.mark(n, step), x + 4, AXIS / 2);
		}
		context.fillStyle = css.raised;
		context.fillRect(0, 0, view.labels, AXIS);
		context.fillStyle = css.faint;
		context.fillText(this.fit(`${view.trace.absolute(Math.max(view.from, 0))}${view.trace.seconds ? " s" : ""}`, view.labels - 20), 10, AXIS / 2);
		context.fillStyle = css.line;
		context.fillRect(0, AXIS - 1, view.width, 1);
		this.widths.clear();
	}

	/* The largest unit that the end of the picture reaches (1 s, 1 ms, 1 µs), and in which the step has at most three decimals. */
	mark(n, step) {
		const { to, trace } = this.view;
		if (!trace.seconds)
			return String(n * step);
		const [unit, size] = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]].find(([, size]) => (to >= size && step >= size / 1000) || size === 1);
		return `${+(n * step / size).toFixed(3)} ${unit}`;
	}
}
