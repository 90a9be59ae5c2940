// SPDX-License-Identifier: MIT
/*
 * A plugin for KernelShark 2: spans as bars on the rows of tasks, outer ones above inner ones, and counters as curves.
 * KernelShark calls init when it opens a buffer of a file, and draw() for each row that it paints.
 */
#include "kernelshark/marks.h"

#include <KsPlugins.hpp>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace {

struct closer {
	void operator()(struct marks *marks) const { marks_close(marks); }
};

/* A file has a stream for each of its buffers, and these show the same tasks. */
std::map<std::string, std::weak_ptr<struct marks>> files;
std::map<int, std::shared_ptr<struct marks>> streams;

/* Bars use the upper part of a row, so that KernelShark's own drawing stays visible below. */
constexpr double bars_part = 0.6;
constexpr int thickness_most = 9, thickness_least = 2;

/* At the end of a span that was cut. */
constexpr int strokes = 3, stroke_step = 4;

/* The part of a row that is painted, and how times become columns. */
struct canvas {
	const KsPlot::Graph &graph;
	const kshark_trace_histo &histo;
	KsPlot::PlotObjList &shapes;

	int bin(int64_t ts) const
	{
		const int64_t at = (std::max(ts, histo.min) - histo.min) / histo.bin_size;

		return static_cast<int>(std::min<int64_t>(at, histo.n_bins - 1));
	}
	int64_t end_of(int bin) const { return histo.min + (bin + 1) * histo.bin_size; }
	int x(int bin) const { return graph.bin(bin)._base.x(); }
	int top() const { return graph.base() - graph.height(); }
};

KsPlot::Color color_from(uint32_t rgb)
{
	return { static_cast<uint8_t>(rgb >> 16), static_cast<uint8_t>(rgb >> 8), static_cast<uint8_t>(rgb) };
}

void add_line(const canvas &on, KsPlot::Point from, KsPlot::Point to, uint32_t rgb, float size)
{
	auto *line = new KsPlot::Line(from, to);

	line->_color = color_from(rgb);
	line->_size = size;
	on.shapes.push_front(line);
}

/*
 * A span that was not seen whole: hollow, and without the side where its begin, or its end, was not seen. If it was
 * cut, it has both sides, and strokes near its end.
 */
void add_hollow(const canvas &on, const mark_span &span, int left, int right, int y, int thickness)
{
	const auto stroke = [&](int x) { add_line(on, { x, y }, { x, y + thickness }, span.color, 1); };

	add_line(on, { left, y }, { right, y }, span.color, 1);
	add_line(on, { left, y + thickness }, { right, y + thickness }, span.color, 1);
	if (span.state != MODEL_SPAN_NO_BEGIN)
		stroke(left);
	if (span.state != MODEL_SPAN_OPEN)
		stroke(right);
	for (int i = 1; span.state == MODEL_SPAN_CUT && i <= strokes && right - i * stroke_step > left; i++)
		stroke(right - i * stroke_step);
}

void add_bar(const canvas &on, const mark_span &span, int y, int thickness)
{
	const int left = on.x(on.bin(span.begin)), right = std::max(on.x(on.bin(span.end)), left + 1);

	if (span.state != MODEL_SPAN_WHOLE && right - left >= 3) {
		add_hollow(on, span, left, right, y, thickness);
		return;
	}

	auto *bar = new KsPlot::Rectangle;

	bar->setFill(true);
	bar->_size = 1;
	bar->setPoint(0, left, y);
	bar->setPoint(1, left, y + thickness);
	bar->setPoint(2, right, y + thickness);
	bar->setPoint(3, right, y);
	bar->_color = color_from(span.color);
	on.shapes.push_front(bar);
}

/* One bar for each column at most, however many spans there are in it. */
void draw_line(const canvas &on, const mark_line &line, int y, int thickness)
{
	const mark_span *const last = line.spans + line.nr;
	const auto ends_before = [](const mark_span &span, int64_t ts) { return span.end < ts; };
	const mark_span *span = std::lower_bound(line.spans, last, on.histo.min, ends_before);

	while (span != last && span->begin <= on.histo.max) {
		add_bar(on, *span, y, thickness);
		span = std::lower_bound(span + 1, last, on.end_of(on.bin(span->end)), ends_before);
	}
}

void draw_lines(const canvas &on, const mark_row &row)
{
	const int room = static_cast<int>(on.graph.height() * bars_part);
	const int wanted = row.nr_lines ? room / static_cast<int>(std::min<size_t>(row.nr_lines, 1000)) : 0;
	const int thickness = std::clamp(wanted - 1, thickness_least, thickness_most);
	int y = on.top();

	for (size_t i = 0; i < row.nr_lines && y + thickness <= on.top() + room; i++, y += thickness + 1)
		draw_line(on, row.lines[i], y, thickness);
}

/* The curve has steps: a counter keeps its value until the next one. */
void draw_curve(const canvas &on, const mark_curve &curve)
{
	const mark_value *const last = curve.values + curve.nr;
	const auto is_before = [](const mark_value &value, int64_t ts) { return value.ts < ts; };
	const double range = static_cast<double>(curve.most) - static_cast<double>(curve.least);
	const auto y_of = [&](int64_t value) {
		const double part = range > 0 ? (static_cast<double>(value) - static_cast<double>(curve.least)) / range : 0.5;

		return on.graph.base() - static_cast<int>(part * on.graph.height());
	};
	const auto add = [&](int x, int y, int to_x, int to_y) {
		add_line(on, { x, y }, { to_x, to_y }, curve.color, 2);
	};
	const mark_value *at = std::lower_bound(curve.values, last, on.histo.min, is_before);

	if (at != curve.values)
		at--;
	while (at != last && at->ts <= on.histo.max) {
		const mark_value *const next = std::lower_bound(at + 1, last, on.end_of(on.bin(at->ts)), is_before);
		const int64_t until = next == last ? on.histo.max : next->ts;
		const int x = on.x(on.bin(at->ts)), to_x = on.x(on.bin(until)), y = y_of(at->value);

		add(x, y, to_x, y);
		if (next != last)
			add(to_x, y, to_x, y_of(next->value));
		at = next;
	}
}

void draw(struct kshark_cpp_argv *argv, int sd, int pid, int action)
{
	const KsCppArgV *const args = KS_ARGV_TO_CPP(argv);
	const auto stream = streams.find(sd);

	if (!(action & KSHARK_TASK_DRAW) || stream == streams.end())
		return;
	if (args->_histo->bin_size <= 0 || args->_histo->n_bins <= 0 || !args->_graph->size())
		return;
	if (const mark_row *row = marks_row(stream->second.get(), pid)) {
		const canvas on = { *args->_graph, *args->_histo, *args->_shapes };

		draw_lines(on, *row);
		for (size_t i = 0; i < row->nr_curves; i++)
			draw_curve(on, row->curves[i]);
	}
}

std::shared_ptr<struct marks> open_file(const char *path)
{
	std::shared_ptr<struct marks> known = files[path].lock();
	char error[MARKS_ERROR];
	struct marks *marks;

	if (known)
		return known;
	if (marks_open(path, &marks, error) < 0) {
		std::fprintf(stderr, "recorder's plugin: %s: %s\n", path, error);
		return nullptr;
	}
	if (marks_given_up(marks))
		std::fprintf(stderr, "recorder's plugin: %s: the ends of %" PRIu64 " spans and states were not awaited: "
			     "too many were open\n", path, marks_given_up(marks));
	known.reset(marks, closer());
	files[path] = known;
	return known;
}

} // namespace

extern "C" {

__attribute__((visibility("default"))) int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream);
__attribute__((visibility("default"))) int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream);

/* Returns the number of registered handlers. */
int KSHARK_PLOT_PLUGIN_INITIALIZER(struct kshark_data_stream *stream)
{
	const std::shared_ptr<struct marks> marks = open_file(stream->file);

	if (!marks)
		return 0;
	streams[stream->stream_id] = marks;
	kshark_register_draw_handler(stream, draw);
	return 1;
}

int KSHARK_PLOT_PLUGIN_DEINITIALIZER(struct kshark_data_stream *stream)
{
	if (!streams.erase(stream->stream_id))
		return 0;
	kshark_unregister_draw_handler(stream, draw);
	return 1;
}
}
