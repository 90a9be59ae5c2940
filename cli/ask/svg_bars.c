/* SPDX-License-Identifier: MIT */
/* See svg_bars.h. */
#include "cli/ask/svg_bars.h"

#include <inttypes.h>
#include <string.h>

#include "cli/base/xml.h"

#define WIDTH	  860u
#define LINE	  20u
#define LABEL_END 300u
#define BAR_BEGIN 310u
#define BAR_WIDTH 440u

static void put_text(const struct svg_bars *bars, unsigned int x, const char *class, const char *text, size_t size)
{
	fprintf(bars->out, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, bars->y, class);
	xml_text(bars->out, text, size);
	fputs("</text>\n", bars->out);
}

void svg_open(struct svg_bars *bars, FILE *out, const char *title, unsigned int nr_lines, unsigned int nr_bars)
{
	const unsigned int height = LINE * (nr_lines + nr_bars + 3);

	*bars = (struct svg_bars){ .out = out, .y = LINE + LINE / 2 };
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
		"role=\"img\">\n<title>",
		WIDTH, height, WIDTH, height);
	xml_text(out, title, strlen(title));
	fputs("</title>\n<style>\n"
	      "svg { background: #fff; }\n"
	      "text { font: 13px monospace; fill: #222; white-space: pre; }\n"
	      ".title { font-weight: bold; font-size: 15px; }\n"
	      ".label { text-anchor: end; }\n"
	      "rect { fill: #3a78b5; }\n"
	      "@media (prefers-color-scheme: dark) {\n"
	      "svg { background: #1b1b1b; } text { fill: #ddd; } rect { fill: #6aa5dc; } }\n"
	      "</style>\n",
	      out);
	put_text(bars, LINE, "title", title, strlen(title));
	bars->y += LINE;
}

void svg_line(struct svg_bars *bars, const char *text)
{
	put_text(bars, LINE, "line", text, strlen(text));
	bars->y += LINE;
}

void svg_bar(struct svg_bars *bars, const char *label, size_t size, uint64_t count, uint64_t highest)
{
	const double width = highest ? (double)count / (double)highest * BAR_WIDTH : 0;
	char number[24];

	put_text(bars, LABEL_END, "label", label, size);
	fprintf(bars->out, "<rect x=\"%u\" y=\"%u\" width=\"%.1f\" height=\"%u\"/>\n", BAR_BEGIN, bars->y - 12, width,
		LINE - 5);
	snprintf(number, sizeof(number), "%" PRIu64, count);
	put_text(bars, BAR_BEGIN + (unsigned int)width + 6, "count", number, strlen(number));
	bars->y += LINE;
}

void svg_close(struct svg_bars *bars)
{
	fputs("</svg>\n", bars->out);
}
