/* SPDX-License-Identifier: MIT */
#include "points_plan.h"

#if defined(__x86_64__)

/* tests/crash/test_resizes.c tests these points. */
static bool is_resizes(unsigned int point)
{
	return is_named(point, "resize_") || is_named(point, "move_") || is_named(point, "anew_") ||
	       is_named(point, "restart_") || is_named(point, "grow_") || is_named(point, "unmake_") ||
	       is_named(point, "remake_");
}

bool is_writers(unsigned int point)
{
	return !is_readers(point) && !is_named(point, "own_") && !is_resizes(point);
}

bool is_anybodys(unsigned int point)
{
	return !is_named(point, "own_") && !is_resizes(point);
}

struct plan draw_plan(unsigned int kind)
{
	const uint64_t from = drawn;
	struct plan plan = { .from = from,
			     .kind = kind,
			     .seed = draw(1000000),
			     .overwrite = kind % 2 == 0,
			     .control = kind % 4 == 3 || kind % 8 == 6,
			     .kb = kind % 3 == 0 && kind % 4 < 2 ? 4 : 8 + draw(16),
			     .events = 800,
			     .leave = kind % 4 == 3 || draw(4) > 0,
			     .longest = 40 + draw(600) };
	unsigned int i;

	for (i = 0; i < INJECTIONS; i++) {
		struct injection *injection = &plan.injection[i];

		do
			injection->point = draw(points.count);
		while (!is_writers(injection->point));
		injection->every = 2 + draw(20);
		injection->what = i < 4 ? GIVE_SIGNAL : draw(3) ? GIVE_SIGNAL : READ_SOME;
		if (kind % 5 == 1 && i > 4)
			injection->what = i % 2 ? READ_SOME : READ_WHOLE;
	}
	/* The most important points for signals, and for threads that end. */
	plan.injection[0].point = tracer_point(&points, draw(2) ? "head_update" : "head_set");
	plan.injection[1].point = tracer_point(&points, draw(2) ? "slow_tail" : "reserve_tail");
	plan.injection[2] = (struct injection){ tracer_point(&points, draw(2) ? "head_update" : "head_set"),
						1 + draw(9), END_THREAD };
	plan.injections = INJECTIONS;
	return plan;
}

struct plan draw_plain_plan(void)
{
	const uint64_t from = drawn;
	struct plan plan = { .from = from,
			     .seed = draw(1000000),
			     .overwrite = true,
			     .plain = true,
			     .kb = 64,
			     .events = 2,
			     .longest = 40 };

	plan.injection[0] = (struct injection){ tracer_point(&points, "slow_before"), 1, GIVE_SIGNAL };
	plan.injections = 1;
	return plan;
}

struct plan draw_discard_plan(unsigned int n)
{
	static const char *const at[] = { "discard_tail", "discard_after", "discard_cpu",     "discard_padding",
					  "uncount_tail", "uncount_left",  "uncount_entries", "slow_close" };
	const uint64_t from = drawn;
	const bool filter = n % 4 < 2;
	struct plan plan = { .from = from,
			     .kind = n,
			     .seed = draw(1000000),
			     .overwrite = n % 2 == 0,
			     .filter = filter,
			     .kb = 4 + draw(20),
			     .events = filter ? 2000 : 800,
			     .longest = filter ? 40 : 40 + draw(200) };

	plan.injections = filter ? 1 : INJECTIONS;
	for (unsigned int i = 0; i < plan.injections; i++)
		plan.injection[i] = (struct injection){ tracer_point(&points, at[i]), 1, GIVE_SIGNAL };
	return plan;
}

#endif
