/* SPDX-License-Identifier: MIT */
/* Mouse, touch and keys. They only call methods of the page. */
"use strict";

/* Where an event of the mouse is in the chart. */
function placeIn(canvas, event) {
	const box = canvas.getBoundingClientRect();
	return { x: event.clientX - box.left, y: event.clientY - box.top };
}

function listenToWheel(page) {
	const { canvas, view } = page;

	canvas.addEventListener("wheel", (event) => {
		const { x } = placeIn(canvas, event), unit = event.deltaMode ? 30 : 1;
		event.preventDefault();
		if (event.ctrlKey || event.metaKey) {
			page.zoom(Math.exp(event.deltaY * unit * 0.004), view.time(Math.max(x, view.labels)));
		} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
			page.pan((event.shiftKey && !event.deltaX ? event.deltaY : event.deltaX) * unit / view.chart);
		} else {
			view.scrollTo(view.scroll + event.deltaY * unit);
			page.changed();
		}
	}, { passive: false });
}

/* What the pointer is over: the time, and a tip that describes the item. */
class Hover {
	constructor(page) {
		this.page = page;
		this.place = null; /* of the pointer; null: it is elsewhere */
		this.isQuiet = false;
		this.tip = document.getElementById("tip");
		this.described = ""; /* the item that the tip describes */
		this.pointer = document.getElementById("pointer");
	}

	hide() {
		this.tip.hidden = true;
	}

	leave() {
		this.hide();
		this.place = this.page.view.hover = null;
		this.pointer.textContent = "";
		this.page.redraw();
	}

	/* A button is pressed, or Escape: no item is described until the pointer moves without a button. */
	quiet() {
		this.hide();
		this.isQuiet = true;
		this.page.view.hover = null;
		this.page.redraw();
	}

	/* The picture has changed below the pointer. */
	again() {
		if (this.place)
			this.at(this.place.x, this.place.y);
	}

	move(x, y) {
		this.isQuiet = false;
		this.at(x, y);
	}

	at(x, y) {
		const { canvas, view } = this.page, item = this.isQuiet ? null : view.itemAt(x, y), was = view.hover;
		const same = item ? item.line === was?.line && item.i === was.i : !was;
		const time = x >= view.labels ? view.time(x) : -1, inside = time >= 0 && time <= view.trace.length;
		this.place = { x, y };
		this.pointer.textContent = inside ? `Pointer: ${view.trace.absolute(time)} ${view.trace.dayTime(time)}` : "";
		if (!this.isQuiet)
			canvas.style.cursor = item || (view.rowAt(y)?.kind === "group") ? "pointer" : x > view.labels ? "crosshair" : "default";
		if (!item)
			this.hide();
		if (!same) {
			view.hover = item;
			this.page.redraw();
			if (item)
				this.describe(item);
		}
		this.putTip();
	}

	putTip() {
		const { tip, place } = this, { view } = this.page;
		if (tip.hidden || !place)
			return;
		const { x, y } = place;
		tip.style.left = `${Math.min(x + 14, Math.max(view.width - tip.offsetWidth - 8, 0))}px`;
		tip.style.top = `${y + 18 + tip.offsetHeight < view.height ? y + 18 : Math.max(y - tip.offsetHeight - 10, 0)}px`;
	}

	fill(item, about, text) {
		const { trace } = this.page.view, length = item.line.kind === "points" ? "" : `, ${duration(about.length, trace.seconds)}`;
		this.tip.replaceChildren(element("b", { textContent: about.name }),
			element("div", { textContent: text.length > 400 ? `${text.slice(0, 400)}…` : text }),
			...[`${about.row.name}, CPU ${about.cpu}`, `at ${trace.absolute(about.time)}${length}`, trace.dayTime(about.time),
				...about.notes].map((line) => element("span", { textContent: line })));
		this.tip.hidden = false;
		this.putTip();
	}

	/*
	 * The fields may have to be loaded. Until then a tip that described another item shows none; in a live page, it
	 * keeps the old ones.
	 */
	async describe(item) {
		const { panels, view } = this.page, about = panels.describe(item);
		const key = `${view.key(about.row)} ${view.trace.absolute(about.time)} ${about.name}`;
		if (this.tip.hidden || key !== this.described)
			this.fill(item, about, "");
		this.described = key;
		const text = await panels.fields(item);
		if (view.hover === item)
			this.fill(item, about, text);
	}
}

/* Moves the chart, or selects a time, from where the button was pressed to where the pointer is now. */
function dragTo(page, drag, x, y) {
	const { view } = page;

	drag.moved ||= Math.hypot(x - drag.x, y - drag.y) > 4;
	if (!drag.moved)
		return;
	if (drag.pan) {
		const step = (drag.x - x) / view.chart * (drag.to - drag.from);
		view.scrollTo(drag.scroll + drag.y - y);
		page.show(drag.from + step, drag.to + step);
	} else if (drag.x >= view.labels) {
		const time = view.time(Math.max(x, view.labels));
		page.select(Math.min(drag.time, time), Math.max(drag.time, time));
	}
}

/* Where two fingers are: the place between them, and how far they are apart. */
function between(one, other) {
	return { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, apart: Math.max(Math.hypot(one.x - other.x, one.y - other.y), 1) };
}

/*
 * Two fingers move the chart: what is between them stays there, and as they move apart it is shown larger. Their
 * direction does not matter.
 */
function startPinch({ view }, one, other) {
	const { x, y, apart } = between(one, other);
	return { time: view.time(Math.max(x, view.labels)), scroll: view.scroll + y, span: view.span, apart };
}

function pinchTo(page, pinch, one, other) {
	const { view } = page, { x, y, apart } = between(one, other);

	view.zoom(pinch.span * pinch.apart / apart / view.span, pinch.time);
	view.scrollTo(pinch.scroll - y);
	const step = pinch.time - view.time(Math.max(x, view.labels));
	page.show(view.from + step, view.to + step);
}

function click(page, x, y) {
	const row = page.view.rowAt(y), item = page.view.itemAt(x, y);

	if (item)
		page.chooseItem(item);
	else if (row?.kind === "group")
		page.fold(row);
	else if (row)
		page.chooseRow(row);
	else
		page.drop();
}

function startDrag({ view }, { x, y }, pan, moved) {
	return { x, y, from: view.from, to: view.to, scroll: view.scroll, time: view.time(x), moved, pan };
}

/*
 * The places of the fingers on the chart, by the numbers of their pointers, and what the first two do. One that is put
 * down or lifted does not move the chart: the others continue from where they are.
 */
class Fingers {
	constructor(page) {
		this.page = page;
		this.places = new Map();
		this.pinch = null;
	}

	/* Returns the drag of a finger that is alone. */
	grip(moved) {
		const [one, other] = this.places.values();
		this.pinch = other ? startPinch(this.page, one, other) : null;
		return one && !other ? startDrag(this.page, one, true, moved) : null;
	}

	down(event, place) {
		this.places.set(event.pointerId, place);
		return this.grip(false);
	}

	lift(event) {
		return this.places.delete(event.pointerId) ? this.grip(true) : null;
	}

	/* Whether the fingers have moved the chart. */
	move(event, place) {
		if (this.places.has(event.pointerId))
			this.places.set(event.pointerId, place);
		if (this.pinch)
			pinchTo(this.page, this.pinch, ...this.places.values());
		return !!this.pinch;
	}
}

function listenToPointer(page) {
	const { canvas, hover } = page, fingers = new Fingers(page);
	let drag = null;

	listenToWheel(page);
	canvas.addEventListener("pointerdown", (event) => {
		const { x, y } = placeIn(canvas, event);
		if (event.button > 1)
			return;
		canvas.setPointerCapture(event.pointerId);
		drag = event.pointerType === "touch" ? fingers.down(event, { x, y })
			: startDrag(page, { x, y }, event.button === 1 || event.shiftKey || y < AXIS, false);
		hover.quiet();
		hover.at(x, y);
	});
	canvas.addEventListener("pointermove", (event) => {
		const { x, y } = placeIn(canvas, event);
		if (fingers.move(event, { x, y }))
			return;
		if (!drag) {
			hover.move(x, y);
			return;
		}
		dragTo(page, drag, x, y);
		hover.at(x, y);
	});
	canvas.addEventListener("pointerup", (event) => {
		const { x, y } = placeIn(canvas, event), was = drag;
		drag = fingers.lift(event);
		if (was && !was.moved)
			click(page, x, y);
	});
	canvas.addEventListener("pointercancel", (event) => drag = fingers.lift(event));
	canvas.addEventListener("dblclick", (event) => {
		const { x, y } = placeIn(canvas, event), item = page.view.itemAt(x, y);
		if (item)
			page.zoomTo(item);
	});
	canvas.addEventListener("pointerleave", () => hover.leave());
}

function listenToOverview(page) {
	const { view } = page, canvas = document.getElementById("overview");
	const time = (event) => {
		const box = canvas.getBoundingClientRect();
		return (event.clientX - box.left - view.labels) / Math.max(box.width - view.labels, 1) * view.trace.length;
	};
	const centre = (event) => page.show(time(event) - view.span / 2, time(event) + view.span / 2);

	canvas.addEventListener("pointerdown", (event) => {
		canvas.setPointerCapture(event.pointerId);
		centre(event);
	});
	canvas.addEventListener("pointermove", (event) => event.buttons & 1 && centre(event));
	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		page.zoom(Math.exp(event.deltaY * 0.004), time(event));
	}, { passive: false });
}

function listenToKeys(page) {
	const { view } = page;
	const screen = () => view.height - AXIS;
	const keys = {
		ArrowLeft: (event) => event.shiftKey ? page.extend(-0.02) : page.pan(-0.12), a: () => page.pan(-0.12), A: () => page.pan(-1),
		ArrowRight: (event) => event.shiftKey ? page.extend(0.02) : page.pan(0.12), d: () => page.pan(0.12), D: () => page.pan(1),
		"+": () => page.zoom(1 / 1.5), "=": () => page.zoom(1 / 1.5), w: () => page.zoom(1 / 1.5),
		"-": () => page.zoom(1.5), s: () => page.zoom(1.5),
		ArrowUp: () => page.stepRow(-1), ArrowDown: () => page.stepRow(1),
		PageUp: () => page.scroll(-screen()), PageDown: () => page.scroll(screen()),
		".": () => page.stepItem(true), ",": () => page.stepItem(false),
		Enter: () => page.enter(), m: () => view.item && page.selectItem(view.item),
		f: () => view.selection && page.show(view.selection.from, view.selection.to),
		0: () => page.show(0, view.trace.length),
		Home: () => page.show(0, view.span), End: () => page.show(view.trace.length - view.span, view.trace.length),
	};
	const anywhere = {
		"/": () => document.getElementById("pattern").focus(),
		n: () => page.step(true), N: () => page.step(false), t: () => page.changeTheme(),
		"?": () => document.getElementById("help").showModal(),
		Escape: () => {
			page.hover.quiet();
			page.drop();
		},
		1: () => page.panels.open("summary"), 2: () => page.panels.open("events"), 3: () => page.panels.open("rows"),
		4: () => page.panels.open("item"),
	};

	document.addEventListener("keydown", (event) => {
		const typing = event.target.closest?.("input, dialog"), here = event.target === page.canvas || event.target === document.body;
		if (event.ctrlKey || event.metaKey || event.altKey || typing) {
			if (typing && event.key === "Escape" && event.target.id === "pattern")
				page.canvas.focus();
			return;
		}
		const run = anywhere[event.key] ?? (here ? keys[event.key] ?? keys[event.key.toLowerCase()] : null);
		if (!run)
			return;
		event.preventDefault();
		run(event);
	});
}

function listenToButtons(page) {
	const on = (id, run) => document.getElementById(id).addEventListener("click", run);
	on("zoom-in", () => page.zoom(1 / 2));
	on("zoom-out", () => page.zoom(2));
	on("zoom-all", () => page.show(0, page.view.trace.length));
	on("theme", () => page.changeTheme());
	on("help-open", () => document.getElementById("help").showModal());
	on("find-previous", () => page.step(false));
	on("follow", () => page.setFollow(!page.follow));
	document.getElementById("find").addEventListener("submit", (event) => {
		event.preventDefault();
		page.step(true);
	});
	const pattern = document.getElementById("pattern"), inFields = document.getElementById("in-fields");
	for (const input of [pattern, inFields])
		input.addEventListener("input", () => page.search());
}
