/* SPDX-License-Identifier: MIT */
/* The machine itself: the well-known patterns have the outcomes of C11, and of ARM's stores before loads. */
#include "tests/litmus/case.h"

#include <criterion/criterion.h>

static bool runs_to(const struct litmus *litmus)
{
	return litmus_run(litmus).bad;
}

static bool both_saw_nothing(const struct litmus_end *end)
{
	return REG(1, 1) == 0 && REG(2, 1) == 0;
}

Test(engine, store_buffering)
{
	enum { X, Y };
	struct litmus sb = { .name = "store buffering", .is_bad = both_saw_nothing,
			     .threads = { { ST(X, 1, RELEASE, ""), FENCE(ACQ_REL, ""), LD(Y, 1, ACQUIRE, "") },
					  { ST(Y, 1, RELEASE, ""), FENCE(SEQ_CST, ""), LD(X, 1, ACQUIRE, "") } } };

	cr_assert(runs_to(&sb));
	sb.threads[0][1].order = SEQ_CST;
	cr_assert(!runs_to(&sb));
}

static bool both_saw_the_other(const struct litmus_end *end)
{
	return REG(1, 1) == 1 && REG(2, 1) == 1;
}

Test(engine, load_buffering)
{
	enum { X, Y };
	struct litmus lb = { .name = "load buffering", .is_bad = both_saw_the_other,
			     .threads = { { LD(X, 1, RELAXED, ""), ST(Y, 1, RELAXED, "") },
					  { LD(Y, 1, RELAXED, ""), ST(X, 1, RELAXED, "") } } };

	cr_assert(runs_to(&lb));
	lb.threads[0][1].if_reg = lb.threads[1][1].if_reg = 1;
	lb.threads[0][1].if_value = lb.threads[1][1].if_value = 1;
	cr_assert(!runs_to(&lb), "out of thin air");
	lb.threads[0][1].if_reg = lb.threads[1][1].if_reg = 0;
	lb.threads[0][1].order = RELEASE;
	lb.threads[1][1].order = RELEASE;
	cr_assert(!runs_to(&lb));
}

static bool readers_disagree(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 2 && REG(3, 1) == 2 && REG(3, 2) == 1;
}

/* Two readers never see one location's stores in two orders, however weak the memory is. */
Test(engine, coherence)
{
	enum { X };
	struct litmus co = { .name = "coherence", .is_bad = readers_disagree,
			     .threads = { { ST(X, 1, RELAXED, ""), ST(X, 2, RELAXED, "") },
					  { LD(X, 1, RELAXED, ""), LD(X, 2, RELAXED, "") },
					  { LD(X, 1, RELAXED, ""), LD(X, 2, RELAXED, "") } } };

	cr_assert(!runs_to(&co));
	co.is_bad = both_saw_nothing;
	cr_assert(runs_to(&co));
}

static bool one_lost(const struct litmus_end *end)
{
	return end->last[0] != 3;
}

Test(engine, exchange_is_one)
{
	enum { X };
	struct litmus two = { .name = "two ors", .is_bad = one_lost,
			      .threads = { { OR(X, 1, RELAXED, "") }, { OR(X, 2, RELAXED, "") } } };

	cr_assert(!runs_to(&two));
	two.threads[0][0].order = SPLIT;
	cr_assert(runs_to(&two));
}

static bool told_but_not_there(const struct litmus_end *end)
{
	return REG(3, 1) == 2 && REG(3, 2) == 0;
}

/* An exchange passes on what the release before it carried, even if the exchange itself is relaxed. */
Test(engine, release_sequence)
{
	enum { DATA, FLAG };
	struct litmus rs = { .name = "release sequence", .is_bad = told_but_not_there,
			     .threads = { { ST(DATA, 1, RELAXED, ""), ST(FLAG, 1, RELEASE, "") },
					  { CAS(FLAG, 1, 2, 1, RELAXED, "") },
					  { LD(FLAG, 1, ACQUIRE, ""), LD(DATA, 2, RELAXED, "") } } };

	cr_assert(!runs_to(&rs));
	rs.threads[0][1].order = RELAXED;
	cr_assert(runs_to(&rs));
}

static bool fences_failed(const struct litmus_end *end)
{
	return REG(2, 1) == 1 && REG(2, 2) == 0;
}

Test(engine, fences)
{
	enum { DATA, FLAG };
	struct litmus mp = { .name = "message by fences", .is_bad = fences_failed,
			     .threads = { { ST(DATA, 1, RELAXED, ""), FENCE(RELEASE, ""), ST(FLAG, 1, RELAXED, "") },
					  { LD(FLAG, 1, RELAXED, ""), FENCE(ACQUIRE, ""),
					    LD(DATA, 2, RELAXED, "") } } };

	cr_assert(!runs_to(&mp));
	mp.threads[0][1].order = RELAXED;
	cr_assert(runs_to(&mp));
	mp.threads[0][1].order = RELEASE;
	mp.threads[1][1].order = RELAXED;
	cr_assert(runs_to(&mp));
}
