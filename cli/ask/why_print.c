/* SPDX-License-Identifier: MIT */
/* See why_print.h. */
#include "cli/ask/why_print.h"

#include "cli/base/human_ns.h"
#include "cli/common/show_text.h"
#include "cli/common/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_id(const struct why_span *span)
{
	if (span->is_signed)
		printf("%" PRId64, (int64_t)span->id);
	else
		printf("%" PRIu64, span->id);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void json_piece(struct why *why, const struct why_piece *piece)
{
	const char *name = why_thread_name(why, piece->tid);

	printf("{\"class\": \"%s\", \"begin\": %" PRIu64 ", \"dur\": %" PRIu64 ", \"task\": ",
	       why_class_name(piece->class), piece->begin, piece->end - piece->begin);
	show_json(stdout, name ? name : "");
	printf(", \"tid\": %" PRId32 ", \"cpu\": ", piece->tid);
	if (piece->cpu >= 0)
		printf("%" PRId32, piece->cpu);
	else
		fputs("null", stdout);
	fputs(", \"by\": ", stdout);
	show_json(stdout, piece->by);
	fputs(", \"what\": ", stdout);
	show_json(stdout, piece->what);
	putchar('}');
}

int why_print_json(struct why *why, const struct why_span *span)
{
	const struct why_piece *pieces;
	uint64_t sums[WHY_CLASSES];
	const long nr = why_explain(why, span, &pieces, sums);
	const char *comma = "";

	if (nr < 0)
		return -ENOMEM;
	fputs("{\"span\": ", stdout);
	show_json(stdout, why_span_name(why, span));
	fputs(", \"id\": ", stdout);
	print_id(span);
	printf(", \"begin\": %" PRIu64 ", \"dur\": %" PRIu64 ", \"classes\": {", span->begin, span->end - span->begin);
	for (unsigned int i = 0; i < WHY_CLASSES; i++) {
		if (sums[i])
			printf("%s\"%s\": %" PRIu64, comma, why_class_name((enum why_class)i), sums[i]);
		comma = sums[i] ? ", " : comma;
	}
	printf("}, \"state\": \"%s\", \"path\": [", model_span_state_name(model_flags_state(span->flags)));
	for (long i = 0; i < nr; i++) {
		fputs(i ? ", " : "", stdout);
		json_piece(why, &pieces[i]);
	}
	puts("]}");
	return 0;
}

/* ------------------------------------------------------------------------------------------------------------- text */

static void print_time(const struct why *why, uint64_t time)
{
	char text[HUMAN_NS_SIZE];

	if (why_counts_ns(why))
		fputs(human_ns(time, text), stdout);
	else
		printf("%10" PRIu64, time);
}

/* Pieces that differ only in their time. */
struct sum {
	const struct why_piece *piece;
	uint64_t ns;
	unsigned long times;
};

static bool are_alike(const struct why_piece *a, const struct why_piece *b)
{
	return a->class == b->class && a->tid == b->tid && !strcmp(a->by, b->by) && !strcmp(a->what, b->what);
}

static int by_kind(const void *a, const void *b)
{
	const struct why_piece *x = ((const struct sum *)a)->piece, *y = ((const struct sum *)b)->piece;
	int order = (int)x->class - (int)y->class;

	order = order ? order : (x->tid > y->tid) - (x->tid < y->tid);
	order = order ? order : strcmp(x->by, y->by);
	return order ? order : strcmp(x->what, y->what);
}

static int by_time(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->piece->class != y->piece->class)
		return (int)x->piece->class - (int)y->piece->class;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->piece->begin < y->piece->begin ? -1 : 1;
}

/* Adds up pieces that are alike. Returns how many kinds there are; the caller frees *ret_sums. -ENOMEM. */
static long add_up(const struct why_piece *pieces, long nr, struct sum **ret_sums)
{
	struct sum *sums = calloc((size_t)nr + 1, sizeof(*sums));
	long kept = 0;

	if (!sums)
		return -ENOMEM;
	for (long i = 0; i < nr; i++)
		sums[i] = (struct sum){ &pieces[i], pieces[i].end - pieces[i].begin, 1 };
	qsort(sums, (size_t)nr, sizeof(*sums), by_kind);
	for (long i = 0; i < nr; i++) {
		if (kept && are_alike(sums[kept - 1].piece, sums[i].piece)) {
			sums[kept - 1].ns += sums[i].ns;
			sums[kept - 1].times++;
		} else {
			sums[kept++] = sums[i];
		}
	}
	qsort(sums, (size_t)kept, sizeof(*sums), by_time);
	*ret_sums = sums;
	return kept;
}

static void print_what(struct why *why, const struct why_span *span, const struct why_piece *piece)
{
	const char *name = piece->tid != span->tid ? why_thread_name(why, piece->tid) : NULL;

	if (name && !strstr(piece->what, name)) {
		show_text(stdout, name, strlen(name), false);
		fputs(*piece->what ? ": " : "", stdout);
	}
	if (*piece->what)
		show_text(stdout, piece->what, strlen(piece->what), false);
	else if (!name)
		fputs(piece->class == WHY_RUNNING ? "own time" : "", stdout);
}

/* Print the lines below the sum of a class: the longest causes, and the sum of the rest. */
static void print_class(struct why *why, const struct why_span *span, const struct sum *sums, long nr,
			enum why_class class)
{
	enum { LINES_MAX = 12 };
	uint64_t rest = 0;
	int lines = 0;

	for (long i = 0; i < nr; i++) {
		if (sums[i].piece->class != class)
			continue;
		if (lines++ >= LINES_MAX) {
			rest += sums[i].ns;
			continue;
		}
		fputs("      ", stdout);
		print_time(why, sums[i].ns);
		fputs("  ", stdout);
		print_what(why, span, sums[i].piece);
		if (sums[i].times > 1)
			printf(" (%lu times)", sums[i].times);
		putchar('\n');
	}
	if (rest) {
		fputs("      ", stdout);
		print_time(why, rest);
		printf("  %d others\n", lines - LINES_MAX);
	}
}

static void print_head(struct why *why, const struct why_span *span)
{
	const char *name = why_thread_name(why, span->tid);

	fputs(paint(PAINT_TITLE), stdout);
	show_text(stdout, why_span_name(why, span), strlen(why_span_name(why, span)), false);
	printf("%s id ", paint_end());
	print_id(span);
	fputs(", ", stdout);
	show_text(stdout, name ? name : "", name ? strlen(name) : 0, false);
	if (why_counts_ns(why))
		printf(", at %" PRIu64 ".%09" PRIu64 ":", span->begin / 1000000000, span->begin % 1000000000);
	else
		printf(", at %" PRIu64 ": ", span->begin);
	print_time(why, span->end - span->begin);
	if (span->flags & MODEL_NO_BEGIN)
		fputs(", its begin is not in the trace", stdout);
	if (span->flags & MODEL_NO_END)
		fputs(", its end is not in the trace", stdout);
	if (span->flags & MODEL_CUT)
		fputs(", cut short, or with losses inside", stdout);
	putchar('\n');
}

int why_print_text(struct why *why, const struct why_span *span, bool path)
{
	const struct why_piece *pieces;
	uint64_t classes[WHY_CLASSES];
	const uint64_t all = span->end - span->begin;
	const long nr = why_explain(why, span, &pieces, classes);
	struct sum *sums;
	const long kinds = nr < 0 ? nr : add_up(pieces, nr, &sums);

	if (kinds < 0)
		return -ENOMEM;
	print_head(why, span);
	for (unsigned int i = 0; i < WHY_CLASSES; i++) {
		if (!classes[i])
			continue;
		fputs("  ", stdout);
		print_time(why, classes[i]);
		printf("  %s%s%s, %.1f %%\n", paint(PAINT_NAME), why_class_name((enum why_class)i), paint_end(),
		       all ? 100.0 * (double)classes[i] / (double)all : 0);
		print_class(why, span, sums, kinds, (enum why_class)i);
	}
	free(sums);
	for (long i = 0; path && i < nr; i++) {
		fputs("  +", stdout);
		print_time(why, pieces[i].begin - span->begin);
		fputs("  ", stdout);
		print_time(why, pieces[i].end - pieces[i].begin);
		printf("  %-11s  ", why_class_name(pieces[i].class));
		print_what(why, span, &pieces[i]);
		putchar('\n');
	}
	return 0;
}
