/* SPDX-License-Identifier: MIT */
/*
 * A picture of horizontal bars, each with a label and a number: SVG that needs nothing else, for light and dark pages.
 */
#ifndef CLI_SVG_BARS_H
#define CLI_SVG_BARS_H

#include <stdint.h>
#include <stdio.h>

struct svg_bars {
	FILE *out;
	unsigned int y; /* where the next line is drawn */
};

/* Begin a picture with this number of lines of text and bars. Titles and labels may be any bytes. */
void svg_open(struct svg_bars *bars, FILE *out, const char *title, unsigned int nr_lines, unsigned int nr_bars);
void svg_line(struct svg_bars *bars, const char *text);
void svg_bar(struct svg_bars *bars, const char *label, size_t size, uint64_t count, uint64_t highest);
void svg_close(struct svg_bars *bars);

#endif
