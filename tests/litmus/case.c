/* SPDX-License-Identifier: MIT */
#include "tests/litmus/case.h"

#include <criterion/criterion.h>
#include <stdio.h>

static const char *const order_names[] = { "relaxed", "acquire", "release", "acq_rel", "seq_cst", "two accesses" };

void litmus_check(const struct litmus *litmus)
{
	const struct litmus_result whole = litmus_run(litmus);
	unsigned int t, n, edges = 0;

	printf("# %s: %llu executions, %llu states\n", litmus->name, (unsigned long long)whole.executions,
	       (unsigned long long)whole.states);
	cr_assert(!whole.bad, "%s: the bad outcome is within reach", litmus->name);
	cr_assert_gt(whole.executions, 1);
	for (t = 0; t < LITMUS_THREADS; t++) {
		for (n = 0; litmus->threads[t][n].kind != LITMUS_END; n++) {
			const struct litmus_op *op = &litmus->threads[t][n];
			struct litmus weaker = *litmus;
			struct litmus_result result;

			if (!op->edge && !op->spare)
				continue;
			weaker.threads[t][n].order = op->weak;
			result = litmus_run(&weaker);
			edges += op->edge;
			printf("#     %s, %s as %s: %s, %llu executions\n", op->code, order_names[op->order],
			       order_names[op->weak], result.bad ? "goes wrong" : "still right",
			       (unsigned long long)result.executions);
			cr_assert_eq(result.bad, op->edge, "%s: %s", litmus->name, op->code);
		}
	}
	cr_assert_gt(edges, 0);
}
