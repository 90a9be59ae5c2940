/* SPDX-License-Identifier: MIT */
/*
 * The tables below the picture. They show the same data as words and numbers, also for screen readers. Texts of the
 * recording are always set as text, never as HTML.
 */
"use strict";

const EVENTS_STEP = 300;
const LINKS_MAX = 20; /* the most links of one kind in the table of an item */
const LINES_MAX = 200; /* the most lines of other tables, until the user requests more */

function element(tag, properties = {}, ...children) {
	const made = Object.assign(document.createElement(tag), properties);
	made.append(...children);
	return made;
}

/*
 * `columns` are names; a column whose name begins with # has numbers. Cells are texts or elements; the first cell of a
 * row is its head. `rest`, if given, is shown below all rows.
 */
function table(caption, columns, rows, rest) {
	const isNumber = columns.map((name) => name.startsWith("#"));
	const head = columns.map((name, i) =>
		element("th", { scope: "col", textContent: name.replace("#", ""), className: isNumber[i] ? "number" : "" }));
	const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, i) => {
		const made = element(i ? "td" : "th", { className: isNumber[i] ? "number" : columns[i] === "Fields" ? "text" : "" });
		if (!i)
			made.scope = "row";
		made.append(cell);
		return made;
	})));
	return element("table", {}, element("caption", { textContent: caption }), element("thead", {}, element("tr", {}, ...head)),
		element("tbody", {}, ...body), ...(rest ? [element("tfoot", {}, element("tr", {}, element("td", { colSpan: columns.length }, rest)))] : []));
}

function action(text, run) {
	const button = element("button", { type: "button", textContent: text });
	button.addEventListener("click", run);
	return button;
}

class Panels {
	constructor(page) {
		this.page = page;
		this.body = document.getElementById("panel-body");
		this.tabs = ["summary", "events", "rows", "item"].map((name) => ({ name, tab: document.getElementById(`tab-${name}`) }));
		this.current = "summary";
		this.most = EVENTS_STEP;
		this.lengths = new Map(); /* lengths of tables that the user has extended, by their captions */
		this.turn = 0;
		this.body.addEventListener("focusout", ({ relatedTarget }) => {
			if (this.isStale && !(relatedTarget && this.body.contains(relatedTarget)))
				this.later();
		});
		this.tabs.forEach(({ name, tab }, i) => {
			tab.addEventListener("click", () => this.open(name));
			tab.addEventListener("keydown", (event) => {
				const step = { ArrowRight: 1, ArrowLeft: this.tabs.length - 1 }[event.key];
				if (!step)
					return;
				const next = this.tabs[(i + step) % this.tabs.length];
				this.open(next.name);
				next.tab.focus();
			});
		});
	}

	open(name) {
		this.current = name;
		for (const { name: other, tab } of this.tabs) {
			tab.setAttribute("aria-selected", other === name);
			tab.tabIndex = other === name ? 0 : -1;
		}
		this.body.setAttribute("aria-labelledby", `tab-${name}`);
		this.most = EVENTS_STEP;
		this.body.scrollTop = 0;
		this.update();
	}

	/* The time range of the tables. */
	range() {
		const { view } = this.page;
		return view.selection ?? { from: Math.max(view.from, 0), to: Math.min(view.to, view.trace.length) };
	}

	/*
	 * Updates the tables soon, once for many changes. If only the recording has grown, the table that has the focus
	 * does not change until the focus leaves it.
	 */
	later(hasGrown = false) {
		this.isDue ||= !hasGrown;
		if (this.waits())
			return;
		clearTimeout(this.timer);
		this.timer = setTimeout(() => this.waits() || this.update(), 120);
	}

	waits() {
		this.isStale = !this.isDue && this.hasFocus();
		return this.isStale;
	}

	hasFocus() {
		return this.body !== document.activeElement && this.body.contains(document.activeElement);
	}

	/*
	 * The focus stays on the same cell of the row with the same head, or of the same line, if the new tables have it; otherwise
	 * it moves to the tables.
	 */
	replace(parts) {
		const cell = (one) => [one.closest("table")?.caption.textContent, one.closest("th, td")?.cellIndex];
		const places = (one) => [[...cell(one), one.closest("tr")?.cells[0].textContent, one.textContent],
			[...cell(one), one.closest("tr")?.rowIndex]].map((place) => place.join("\n"));
		const focused = this.hasFocus() ? places(document.activeElement) : null;
		this.body.replaceChildren(...parts);
		if (!focused)
			return;
		const buttons = [...this.body.querySelectorAll("button")];
		const same = focused.map((place, i) => buttons.find((one) => places(one)[i] === place)).find(Boolean);
		(same ?? this.body).focus({ preventScroll: true });
	}

	tellRange() {
		const { view } = this.page, { from, to } = this.range();
		const text = `${view.selection ? "Selected" : "Shown"}: ${duration(to - from, view.trace.seconds)} from ${view.trace.absolute(from)}`
			+ (view.trace.days.length ? ` (${view.trace.dayTime(from)})` : "");
		document.getElementById("range").textContent = text;
	}

	update() {
		clearTimeout(this.timer);
		this.isStale = false;
		this.isDue = false;
		this.tellRange();
		const { from, to } = this.range();
		this.ready = this.fillIn({ summary: () => this.summary(from, to), events: () => this.events(from, to), rows: () => this.rows(),
			item: () => this.item() }[this.current]);
	}

	/*
	 * Tables of a large recording take longer than a frame: they are made in slices, and abandoned if other tables
	 * are requested.
	 */
	async fillIn(make) {
		const turn = ++this.turn, parts = await make();
		if (parts && turn === this.turn)
			this.replace(parts);
	}

	/* The result of a generator; null: other tables are requested. */
	slices(steps) {
		const { turn } = this;
		return inSlices(steps, () => turn === this.turn);
	}

	length(ns) {
		return duration(ns, this.page.view.trace.seconds);
	}

	/* ---------------------------------------------------------------------------------------- summary */

	/*
	 * A table with a row for each element of a list. If the list is long, the table has the first elements, and
	 * states how many more there are.
	 */
	list(caption, columns, list, line) {
		const most = this.lengths.get(caption) ?? LINES_MAX, more = list.length - most;
		const rest = more > 0 && element("span", {}, `and ${thousands(more)} more: `, action(`show ${thousands(Math.min(more, 4 * most))}`, () => {
			this.lengths.set(caption, 5 * most);
			this.update();
		}));
		return table(caption, columns, list.slice(0, most).map(line), rest);
	}

	async summary(from, to) {
		const { trace } = this.page.view, sums = await this.slices(summariseSteps(trace, from, to)), name = (sum) => trace.strings[sum.name] ?? "";
		const find = (sum) => action(name(sum), () => this.page.find(name(sum)));
		const parts = [];
		if (!sums)
			return null;
		if (sums.merged)
			parts.push(element("p", { textContent: `${thousands(sums.merged)} of these are merged, because the recording is too large to keep all: `
				+ "they count under the name of the longest." }));
		const side = element("div", { className: "side" });
		parts.push(side);
		if (sums.spans.length)
			side.append(this.list("Spans", ["Name", "#Count", "#Time in range", "#Mean", "#Least", "#Most", "#Incomplete"], sums.spans, (sum) =>
				[find(sum), thousands(sum.count), this.length(sum.total), sum.count ? this.length(sum.all / sum.count) : "",
					sum.least === Infinity ? "" : this.length(sum.least), sum.most ? this.length(sum.most) : "",
					sum.incomplete ? thousands(sum.incomplete) : ""]));
		if (sums.points.length)
			side.append(this.list("Events", ["Name", "#Count"], sums.points, (sum) => [find(sum), thousands(sum.count)]));
		if (sums.others.length)
			side.append(this.list("States and tasks", ["Of", "Name", "#Count", "#Time in range", "#Mean"], sums.others, (sum) =>
				[this.rowLink(sum.row), name(sum), thousands(sum.count), this.length(sum.total), this.length(sum.all / sum.count)]));
		if (sums.values.length)
			side.append(this.list("Counters", ["Name", "#Changes", "#Least", "#Most", "#Last"], sums.values, (sum) =>
				[this.rowLink(sum.row), thousands(sum.count), thousands(sum.least), thousands(sum.most), thousands(sum.last)]));
		if (sums.states.length)
			side.append(this.list("Threads", ["Thread", "#Running", "#Runnable", "#Blocked", "#Sleeping"], sums.states, ({ row, times }) =>
				[this.rowLink(row), ...[0, 1, 3, 2].map((run) => times[run] ? this.length(times[run]) : "")]));
		if (sums.runs.length)
			side.append(this.list("On CPUs", ["Thread", "#Times", "#Time", "#Part"], sums.runs, (sum) =>
				[find(sum), thousands(sum.count), this.length(sum.total), `${(100 * sum.total / Math.max(to - from, 1)).toFixed(1)} %`]));
		if (!side.childElementCount)
			side.append(element("p", { textContent: "There is nothing in this range." }));
		return parts;
	}

	rowLink(row) {
		return action(row.name, () => this.page.chooseRow(row));
	}

	/* ------------------------------------------------------------------------------------ events, rows */

	async events(from, to) {
		const { turn } = this, { trace } = this.page.view, list = await this.slices(eventsSteps(trace, from, to, this.most + 1));
		const fields = [];
		if (!list)
			return null;
		const rows = list.slice(0, this.most).map((item) => {
			const items = item.line.levels[0].items, text = element("span");
			fields.push([item, text]);
			return [action(trace.absolute(item.time), () => this.page.chooseItem(item, true)),
				item.line.kind === "spans" ? this.length(items.end[item.i] - items.begin[item.i]) : "",
				item.row.name, String(items.cpu[item.i]), labelOf(trace, item), text];
		});
		this.fill(fields, turn);
		const parts = [table(list.length ? "Events of the range, in order of time" : "There is no event in this range.",
			["Time", "#Length", "Row", "#CPU", "Name", "Fields"], rows)];
		if (list.length > this.most)
			parts.push(action(`Show ${EVENTS_STEP} more`, () => {
				this.most += EVENTS_STEP;
				this.update();
			}));
		return parts;
	}

	/* Texts are in blocks that may have to be expanded first. */
	async fill(fields, turn) {
		for (const [item, to] of fields) {
			const text = await this.fields(item);
			if (turn !== this.turn)
				return;
			to.textContent = text;
		}
	}

	/* The texts of an item in the file: the fields of its event, and of the event that ended it. */
	async fields({ line, i }, trace = this.page.view.trace) {
		const items = line.levels[0].items;
		if (line.isWhy)
			return countOf(items, i) > 1 ? "" : trace.strings[items.last[i]];
		const first = await trace.text(items.event[i]);
		const last = line.kind === "spans" && items.last[i] ? await trace.text(items.event[i] + items.last[i]) : "";
		return last ? `${first} → ${last}` : first;
	}

	async rows() {
		const { trace } = this.page.view, sums = await this.slices(rowsSteps(trace));
		return sums && [this.list("All rows", ["Row", "Kind", "In", "#Items", "#Time"], sums, ({ row, count, time }) =>
			[this.rowLink(row), row.kind, row.parent < 0 ? "" : trace.rows[row.parent].name, thousands(count), time ? this.length(time) : ""])];
	}

	/* ------------------------------------------------------------------------------------------- item */

	describe({ row, line, i }) {
		const { trace } = this.page.view, items = line.levels[0].items, flags = items.flags?.[i] ?? 0;
		const notes = [];
		if (countOf(items, i) > 1)
			notes.push(`${thousands(countOf(items, i))} merged, which cover ${this.length(coveredOf(items, i))}`);
		if (line.kind !== "states" && flags & FLAG_NO_BEGIN)
			notes.push("its begin was not seen");
		if (line.kind !== "states" && flags & FLAG_NO_END)
			notes.push("it had not ended");
		if (flags & FLAG_CUT)
			notes.push("it was cut short");
		return { name: labelOf(trace, { row, line, i }), row, time: items.begin[i], length: items.end[i] - items.begin[i],
			cpu: items.cpu[i], notes };
	}

	/* The arrows of an item, as links to what they come from and lead to. */
	causes(item) {
		const { trace } = this.page.view, arrows = arrowsOf(trace, item), links = [];
		for (const word of new Set(arrows.map((arrow) => arrow.word))) {
			const cell = element("span"), list = arrows.filter((arrow) => arrow.word === word);
			for (const { row, time } of list.slice(0, LINKS_MAX))
				cell.append(cell.childNodes.length ? ", " : "", action(`${row.name} at ${trace.absolute(time)}`, () => this.page.goTo(row, time)));
			if (list.length > LINKS_MAX)
				cell.append(` and ${thousands(list.length - LINKS_MAX)} more`);
			links.push([word, cell]);
		}
		return links;
	}

	item() {
		const { turn } = this, { item, trace } = this.page.view;
		if (!item)
			return [element("p", { textContent: "No item is chosen. Click on one, or use the keys full stop and comma." })];
		const about = this.describe(item), fields = element("span");
		this.fill([[item, fields]], turn);
		const lines = [["Name", about.name], ["Row", this.rowLink(about.row)], ["Begin", trace.absolute(about.time)]];
		if (trace.days.length)
			lines.push(["Time of day", trace.dayTime(about.time)]);
		if (item.line.kind !== "points")
			lines.push(["Length", `${this.length(about.length)} (${thousands(Math.round(about.length))}${trace.seconds ? " ns" : ""})`],
				["End", trace.absolute(about.time + about.length)]);
		/* A piece of a span's time has no CPU here, because its details contain the CPU. */
		if (!item.line.isWhy)
			lines.push(["CPU", String(about.cpu)]);
		lines.push(...about.notes.map((note) => ["Note", note]), ["Fields", fields], ...this.causes(item));
		return [table("The chosen item", ["", ""], lines),
			element("p", {}, action("Zoom to it", () => this.page.zoomTo(item)), " · ", action("Select its time", () => this.page.selectItem(item)))];
	}
}
