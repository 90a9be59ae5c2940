/* SPDX-License-Identifier: MIT */
/*
 * Prints the marks that the plugin for KernelShark draws, one on each line:
 *
 *	kshark_marks FILE	bar TID LINE BEGIN END SYSTEM:NAME STATE COLOR, and value TID TIME SYSTEM:NAME VALUE
 *				COLOR; and given_up NUMBER, if it is not 0
 *
 * STATE is as in recorder sql, with an underscore for its blank.
 */
#include "kernelshark/marks.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const states[] = {
	[MODEL_SPAN_WHOLE] = "whole", [MODEL_SPAN_NO_BEGIN] = "no_begin",
	[MODEL_SPAN_OPEN] = "open", [MODEL_SPAN_CUT] = "cut"
};

static void print_row(const struct mark_row *row, int32_t tid)
{
	for (size_t i = 0; i < row->nr_lines; i++) {
		for (size_t k = 0; k < row->lines[i].nr; k++) {
			const struct mark_span *span = &row->lines[i].spans[k];

			printf("bar %" PRId32 " %zu %" PRId64 " %" PRId64 " %s:%s %s %06" PRIX32 "\n", tid, i,
			       span->begin, span->end, span->system, span->name, states[span->state], span->color);
		}
	}
	for (size_t i = 0; i < row->nr_curves; i++) {
		const struct mark_curve *curve = &row->curves[i];

		for (size_t k = 0; k < curve->nr; k++)
			printf("value %" PRId32 " %" PRId64 " %s:%s %" PRId64 " %06" PRIX32 "\n", tid,
			       curve->values[k].ts, curve->system, curve->name, curve->values[k].value, curve->color);
	}
}

int main(int argc, char **argv)
{
	struct marks *marks = NULL;
	char error[MARKS_ERROR];
	int32_t tid;

	if (argc != 2)
		return 2;
	if (marks_open(argv[1], &marks, error) < 0) {
		fprintf(stderr, "kshark_marks: %s: %s\n", argv[1], error);
		return 1;
	}
	for (size_t i = 0; marks_next(marks, i, &tid); i++)
		print_row(marks_row(marks, tid), tid);
	if (marks_given_up(marks))
		printf("given_up %" PRIu64 "\n", marks_given_up(marks));
	marks_close(marks);
	return 0;
}
