/* SPDX-License-Identifier: MIT */
/* The page: its state, its actions, and its start. */
"use strict";

const LIVE_PAUSE = 150; /* ms between two requests for the state of a running recording */
const LIVE_TRIES = 10; /* requests that fail in a row until the page gives up */

class Page {
	constructor(trace) {
		this.canvas = document.getElementById("timeline");
		this.view = new View(trace);
		this.painter = new Painter(this.canvas, this.view);
		this.overview = new Overview(document.getElementById("overview"), this.painter);
		this.panels = new Panels(this);
		this.follow = false;
		this.hover = new Hover(this);
		listenToPointer(this);
		listenToOverview(this);
		listenToKeys(this);
		listenToButtons(this);
		new ResizeObserver(() => this.redraw()).observe(document.getElementById("stage"));
		this.watchResolution();
		window.addEventListener("hashchange", () => this.readAddress());
		this.tellFacts();
		this.readAddress();
		this.changed();
	}

	/* The window may move to a screen with another resolution, or be zoomed. */
	watchResolution() {
		this.redraw();
		matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`).addEventListener("change", () => this.watchResolution(), { once: true });
	}

	tellFacts() {
		const { trace } = this.view, facts = document.getElementById("facts");
		document.title = `${trace.file} - recorder view`;
		document.getElementById("title").textContent = trace.file;
		facts.replaceChildren(`${thousands(trace.events)} events, ${duration(trace.length, trace.seconds)}`);
		if (trace.gaps)
			facts.append(", ", element("b", { textContent: `${trace.lost ? thousands(trace.lost) : "some"} lost` }));
		if (trace.resolution)
			facts.append(`, merged below ${duration(trace.resolution, trace.seconds)} where dense`);
		if (trace.arrows.nr < trace.arrows.all)
			facts.append(`, ${thousands(trace.arrows.nr)} of ${thousands(trace.arrows.all)} arrows`);
	}

	/* ---------------------------------------------------------------------------------------- drawing */

	redraw() {
		this.frame ||= requestAnimationFrame(() => {
			this.frame = 0;
			this.painter.draw();
			this.overview.draw();
			this.hover.again();
		});
	}

	changed() {
		this.redraw();
		this.panels.tellRange();
		if (this.panels.current !== "item" && (!this.view.selection || this.panels.current === "rows"))
			this.panels.later();
		this.addressLater();
	}

	addressLater() {
		clearTimeout(this.addressTimer);
		this.addressTimer = setTimeout(() => this.writeAddress(), 200);
	}

	say(text) {
		document.getElementById("status").textContent = text;
	}

	/* --------------------------------------------------------------------------------------- movement */

	show(from, to) {
		this.setFollow(false);
		this.view.show(from, to);
		this.changed();
	}

	zoom(factor, at) {
		this.setFollow(false);
		this.view.zoom(factor, at);
		this.changed();
	}

	pan(part) {
		this.setFollow(false);
		this.view.pan(part);
		this.changed();
	}

	scroll(step) {
		this.view.scrollTo(this.view.scroll + step);
		this.redraw();
	}

	/* Shows the item with a margin; a point with its neighbours. */
	zoomTo(item) {
		const items = item.line.levels[0].items, length = items.end[item.i] - items.begin[item.i] || this.view.span / 8;
		this.chooseItem(item);
		this.show(items.begin[item.i] - length * 0.5, items.end[item.i] + length * 0.5);
	}

	/* ---------------------------------------------------------------------------------------- choices */

	select(from, to) {
		this.view.selection = { from: Math.max(from, 0), to: Math.min(to, this.view.trace.length) };
		this.panels.later();
		this.changed();
	}

	selectItem({ line, i }) {
		const items = line.levels[0].items;
		this.select(items.begin[i], items.end[i]);
	}

	/*
	 * Moves one end of the selection by a part of the picture. Without a selection, it begins with the chosen item,
	 * or in the middle of the picture.
	 */
	extend(part) {
		const { view } = this, items = view.item?.line.levels[0].items, middle = (view.from + view.to) / 2;
		const was = view.selection ?? (items ? { from: items.begin[view.item.i], to: items.end[view.item.i] } : { from: middle, to: middle });
		const fixed = was.fixed ?? (part > 0 ? was.from : was.to);
		const end = Math.min(Math.max((fixed === was.from ? was.to : was.from) + part * view.span, 0), view.trace.length);
		if (end < view.from || end > view.to)
			this.pan(part);
		this.select(Math.min(fixed, end), Math.max(fixed, end));
		view.selection.fixed = fixed;
		this.say(`selected: ${duration(Math.abs(end - fixed), view.trace.seconds)}, from ${view.trace.absolute(view.selection.from)} to `
			+ view.trace.absolute(view.selection.to));
	}

	drop() {
		this.view.selection = this.view.item = null;
		this.panels.later();
		this.changed();
	}

	fold(row) {
		this.view.fold(row);
		this.say(`${row.name}: ${this.view.isFolded(row) ? "folded" : "unfolded"}`);
		this.changed();
	}

	chooseRow(row) {
		this.view.row = row;
		this.view.item = null;
		this.view.reveal(row);
		this.say(row.name);
		this.changed();
	}

	chooseItem(item, move) {
		const { view } = this, items = item.line.levels[0].items;
		view.row = item.row;
		view.item = { row: item.row, line: item.line, i: item.i };
		view.reveal(item.row);
		if (move && (items.begin[item.i] < view.from || items.begin[item.i] > view.to))
			view.show(items.begin[item.i] - view.span / 2, items.begin[item.i] + view.span / 2);
		const about = this.panels.describe(view.item);
		this.say(`${about.name}, ${item.line.kind === "points" ? "" : `${duration(about.length, view.trace.seconds)}, `}`
			+ `at ${view.trace.absolute(about.time)}, ${about.row.name}${about.notes.map((note) => `, ${note}`).join("")}`);
		if (this.panels.current === "item" || !move)
			this.panels.open("item");
		this.changed();
	}

	/* Chooses the item that a row has at this time. */
	goTo(row, time) {
		const item = this.view.itemAround(row, time);
		if (item)
			this.chooseItem(item, true);
		else
			this.chooseRow(row);
		if (time < this.view.from || time > this.view.to)
			this.show(time - this.view.span / 2, time + this.view.span / 2);
	}

	stepRow(step) {
		const { rows } = this.view, at = rows.indexOf(this.view.row);
		const row = rows[Math.min(Math.max(at + step, 0), rows.length - 1)];
		if (row)
			this.chooseRow(row);
	}

	stepItem(forward) {
		const { view } = this, row = view.row ?? view.rows.find((other) => other.lines.length);
		if (!row)
			return;
		const items = view.item?.row === row ? view.item.line.levels[0].items : null;
		const next = view.neighbour(row, items ? items.begin[view.item.i] : forward ? view.from - 1 : view.to, forward);
		if (next)
			this.chooseItem(next, true);
		else
			this.say(`no ${forward ? "later" : "earlier"} item in ${row.name}`);
	}

	enter() {
		if (this.view.item)
			this.zoomTo(this.view.item);
		else if (this.view.row?.kind === "group")
			this.fold(this.view.row);
	}

	/* ----------------------------------------------------------------------------------------- search */

	find(text) {
		document.getElementById("pattern").value = text;
		return this.search();
	}

	async search() {
		const { view } = this, { trace } = view, text = document.getElementById("pattern").value;
		const turn = this.searches = (this.searches ?? 0) + 1, isWanted = () => turn === this.searches && trace === view.trace;
		const matches = text ? await findMatches(trace, text, document.getElementById("in-fields").checked) : null;
		const found = matches && isWanted() ? await inSlices(countMatches(trace, matches), isWanted) : 0;
		if (!isWanted())
			return;
		this.found = found;
		view.matches = matches;
		const rows = matches?.rows.size ?? 0;
		document.getElementById("found").textContent = !matches ? "" : `${thousands(this.found)} found${rows ? `, ${rows} rows` : ""}`;
		this.redraw();
	}

	step(forward) {
		const { view } = this, { trace, matches, item } = view;
		if (!matches)
			return;
		const time = item ? item.line.levels[0].items.begin[item.i] : forward ? view.from : view.to;
		const place = item ? placeOf(item.row.index, item.row.lines.indexOf(item.line)) : forward ? -1 : Infinity;
		const next = nextMatch(trace, matches, time, place, forward) ??
			nextMatch(trace, matches, forward ? -1 : Infinity, forward ? -1 : Infinity, forward);
		if (next)
			this.chooseItem(next, true);
		else if (matches.rows.size)
			this.chooseRow(trace.rows[[...matches.rows].find((row) => row > (view.row?.index ?? -1)) ?? [...matches.rows][0]]);
	}

	/* ---------------------------------------------------------------------------------------- address */

	/* #from=12.000000001&to=12.5&row=thread:17&at=12.25&select=12.1-12.2 */
	writeAddress() {
		const { view } = this, { trace } = view, parts = [];
		const time = (at) => trace.absolute(Math.max(at, -Number(trace.begin)));
		if (view.from > 0 || view.to < trace.length)
			parts.push(`from=${time(view.from)}`, `to=${time(view.to)}`);
		if (view.row)
			parts.push(`row=${encodeURIComponent(view.key(view.row))}`);
		if (view.item)
			parts.push(`at=${time(view.item.line.levels[0].items.begin[view.item.i])}`);
		if (view.selection)
			parts.push(`select=${time(view.selection.from)}-${time(view.selection.to)}`);
		this.address = parts.length ? `#${parts.join("&")}` : "";
		if (location.hash !== this.address)
			history.replaceState(null, "", this.address || location.pathname + location.search);
	}

	readAddress() {
		const { view } = this, { trace } = view, parts = new URLSearchParams(location.hash.slice(1));
		if (location.hash === this.address)
			return;
		const from = trace.relative(parts.get("from")), to = trace.relative(parts.get("to"));
		const at = trace.relative(parts.get("at")), [first, last] = (parts.get("select") ?? "").split("-").map((time) => trace.relative(time));
		if (to > from)
			view.show(from, to);
		if (last >= first)
			view.selection = { from: first, to: last };
		view.row = trace.rows.find((row) => view.key(row) === parts.get("row")) ?? view.row;
		if (view.row && view.row.y >= 0)
			view.reveal(view.row);
		if (view.row && at >= 0) {
			const item = view.neighbour(view.row, at - 1, true);
			if (item)
				this.chooseItem(item, true);
		}
		this.changed();
	}

	changeTheme(theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark") {
		document.documentElement.dataset.theme = theme;
		this.painter.readColours();
		this.redraw();
	}

	/* ------------------------------------------------------------------------------------------- live */

	setFollow(follow) {
		const button = document.getElementById("follow");
		if (this.follow === follow)
			return;
		this.follow = follow;
		button.setAttribute("aria-pressed", follow);
		if (follow)
			this.followEnd();
	}

	followEnd() {
		const { view } = this;
		view.show(view.trace.length - view.span, view.trace.length);
		this.changed();
	}

	/* Shows a newer state of a running recording. The chosen item stays chosen if it still exists. */
	async take(trace) {
		const { view } = this, before = view.trace, shift = Number(before.begin - trace.begin);
		if (!shift && trace.events === before.events && trace.length === before.length)
			return;
		let chosen, item;
		do {
			chosen = view.item;
			item = chosen && await itemAgain(chosen, before, trace, (...of) => this.panels.fields(...of));
		} while (chosen !== view.item);
		const { span } = view, whole = span >= before.length, key = view.row && view.key(view.row);
		view.take(trace);
		view.row = trace.rows.find((row) => view.key(row) === key) ?? null;
		view.item = item;
		view.hover = null;
		for (const end of Object.keys(view.selection ?? {}))
			view.selection[end] += shift;
		if (this.follow)
			view.show(whole ? 0 : trace.length - span, trace.length);
		else
			view.show(view.from + shift, view.to + shift);
		this.tellFacts();
		/* Matches are numbers of this picture's items. */
		view.matches = null;
		if (document.getElementById("pattern").value)
			this.search();
		this.redraw();
		this.panels.later(true);
		this.addressLater();
	}
}

function splitBlocks(bytes) {
	const numbers = new DataView(bytes.buffer), blocks = [];
	for (let at = 0; at + 4 <= bytes.length;) {
		const size = numbers.getUint32(at, true), block = bytes.subarray(at + 4, at + 4 + size);
		blocks.push(() => block);
		at += 4 + size;
	}
	return blocks;
}

async function askServer() {
	const answer = await fetch("data", { cache: "no-store" });
	if (!answer.ok)
		throw new Error(`the server answered ${answer.status}`);
	return answer.status === 204 ? null : Trace.load(splitBlocks(new Uint8Array(await answer.arrayBuffer())));
}

function pause(times = 1) {
	return new Promise((done) => setTimeout(done, times * LIVE_PAUSE));
}

/* The present state. A request that fails is repeated, after longer and longer pauses, before the page gives up. */
async function stateOfServer() {
	for (let tries = 1; ; tries++) {
		try {
			return await askServer();
		} catch (error) {
			if (tries === LIVE_TRIES)
				throw error;
		}
		await pause(tries);
	}
}

/* The first state: there may be no program with an event yet. */
async function firstOfServer() {
	for (;;) {
		const trace = await stateOfServer();
		if (trace)
			return trace;
		document.getElementById("facts").textContent = "waiting for the first event of a program";
		await pause();
	}
}

async function followServer(page) {
	document.getElementById("follow").hidden = false;
	page.setFollow(true);
	for (;;) {
		await pause();
		try {
			const trace = await stateOfServer();
			if (trace)
				await page.take(trace);
		} catch (error) {
			document.getElementById("facts").append(" (the recording is no longer shown: ", String(error.message), ")");
			page.say("the recording is no longer shown");
			return;
		}
	}
}

async function start() {
	const dark = matchMedia("(prefers-color-scheme: dark)");
	document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
	const stored = [...document.querySelectorAll("script.block")].map((block) => () => fromBase64(block.textContent));
	try {
		const page = window.recorderView = new Page(stored.length ? await Trace.load(stored) : await firstOfServer());
		dark.addEventListener("change", () => page.changeTheme(dark.matches ? "dark" : "light"));
		if (!stored.length)
			followServer(page);
	} catch (error) {
		document.getElementById("facts").textContent = `cannot show the recording: ${error.message}`;
		throw error;
	}
}

start();
