/* SPDX-License-Identifier: MIT */
/* Weaving: large pages, many streams, logs that grow, wrong parameters, a caller that gives up. */
#include "weave_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

Test(weave_limits, big_sub_buffers_make_big_pages)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 1);
	s.fake->subbuf_size = 65536;
	s.process.subbuf_size = 65536;
	for (number = 0; number < 100; number++)
		fake_put(s.fake, 0, 0, 1000 + number, ID_A, PID, number, 60000);
	seen = weave(&s);
	cr_assert_eq(seen->page_size, 65536);
	cr_assert_eq(seen->nr, 100);
	cr_assert_eq(seen->events[99].size, 60000);
	weaving_end(&s, seen);
}

static int count_calls(void *arg, uint64_t pages)
{
	unsigned int *calls = arg;

	cr_assert_gt(pages, 0);
	return ++*calls == 3;
}

Test(weave_limits, progress_may_give_up)
{
	struct weaving s;
	unsigned int calls = 0;
	uint64_t number;

	weaving_begin(&s, 1);
	for (number = 0; number < 300000; number++)
		fake_put(s.fake, 0, 0, 1000 + number, ID_A, PID, number, FAKE_SIZE);
	s.params.progress = count_calls;
	s.params.arg = &calls;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -ECANCELED);
	cr_assert_eq(calls, 3);
	cr_assert_eq(s.stats.events, 0);
	cr_assert_neq(access(s.params.output, F_OK), 0);
	fake_free(s.fake);
	blob_free(&s.log);
}

Test(weave_limits, wrong_parameters)
{
	struct weaving s;

	weaving_begin(&s, 1);
	s.params.version = 5;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -EINVAL);
	s.params.version = 6;
	s.params.page_size = 5000;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -EINVAL);
	s.params.page_size = 0;
	s.process.clock = 9;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -EINVAL);
	s.process.clock = REC_CLOCK_MONO;
	s.fake->described[0].process = 1;
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -EINVAL);
	s.fake->described[0].process = 0;
	s.params.output = "/nonexistent/directory/x.dat";
	cr_assert_eq(weave_to_dat(&s.params, &s.stats), -ENOENT);
	fake_free(s.fake);
	blob_free(&s.log);
}

struct growing {
	struct blob *log;
	unsigned int calls;
};

static bool grow_log(void *arg, unsigned int process, const void **ret_log, size_t *ret_size)
{
	struct growing *growing = arg;

	cr_assert_eq(process, 0);
	if (growing->calls++)
		return false;
	fake_log_event(growing->log, ID_B + 1, "t", "late", "u64(number)", 16);
	*ret_log = growing->log->data;
	*ret_size = growing->log->size;
	return true;
}

Test(weave_limits, logs_may_grow)
{
	struct weaving s;
	struct seen *seen;
	struct growing growing;

	weaving_begin(&s, 1);
	growing = (struct growing){ &s.log, 0 };
	s.params.refresh = grow_log;
	s.params.refresh_arg = &growing;
	fake_put(s.fake, 0, 0, 100, ID_A, PID, 1, FAKE_SIZE);
	fake_put(s.fake, 0, 0, 101, ID_B + 1, PID, 2, FAKE_SIZE);
	fake_put(s.fake, 0, 0, 102, ID_B + 2, PID, 3, FAKE_SIZE);
	seen = weave(&s);
	cr_assert_eq(seen->nr, 3); /* with the end event, which reports the event that stays unknown */
	cr_assert_str_eq(seen->events[1].name, "t:late");
	cr_assert_eq(s.stats.unknown_events, 1);
	weaving_end(&s, seen);
}

/* A source's page is invalid after the next page was requested; thousands of streams take turns. */
Test(weave_limits, a_thousand_streams)
{
	struct weaving s;
	struct seen *seen;
	uint64_t number;

	weaving_begin(&s, 1000);
	for (number = 0; number < 100000; number++)
		fake_put(s.fake, (unsigned int)(number * 7 % 1000), (uint32_t)number % 5, 1000 + number, ID_A,
			 PID + (int32_t)(number * 7 % 1000), number, FAKE_SIZE + 4 * (uint32_t)(number % 9));
	seen = weave(&s);
	cr_assert_eq(seen->nr, 100000);
	for (number = 0; number < 100000; number++)
		cr_assert_eq(seen->events[number].number, number);
	cr_assert_eq(s.stats.threads, 1000);
	weaving_end(&s, seen);
}
