/* SPDX-License-Identifier: MIT */
/* Filters for records in files: texts in place, the time, the thread's name, fields that are absent. */
#include <librecorder/event_text.h>
#include <librecorder/filter.h>

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

struct __attribute__((packed)) file_record {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	char name[8];
	int32_t prio;
};

static const struct rec_event_info info = {
	.nr_fields = 2,
	.fields = { { .kind = REC_FIELD_STRING,
		      .name = { "name", 4 },
		      .offset = 8,
		      .size = 8,
		      .element = 1,
		      .length = 8 },
		    { .kind = REC_FIELD_SIGNED,
		      .name = { "prio", 4 },
		      .offset = 16,
		      .size = 4,
		      .element = 4,
		      .length = 1,
		      .is_signed = true } },
};

static _Alignas(8) unsigned char bytes[REC_CONDITION_MAX];
static struct rec_condition *const condition = (struct rec_condition *)(void *)bytes;

static bool passes(const char *filter, unsigned int flags)
{
	/* The name fills its place: there is no NUL. */
	const struct file_record record = {
		.type = 300, .pid = 17, .name = { 'k', 'w', 'o', 'r', 'k', 'e', 'r', '1' }, .prio = -5
	};
	const struct rec_filter_record one = { &record, sizeof(record), 3, 1500000000, "server" };
	struct rec_filter_error error;
	const int size = rec_filter_compile_fields(&info, flags, filter, condition, sizeof(bytes), &error);

	cr_assert_gt(size, 0, "%s: %s", filter, error.reason);
	return rec_filter_match_reading(condition, (size_t)size, &one);
}

Test(filter_reading, texts_time_and_thread)
{
	cr_expect(passes("name == 'kworker1'", 0));
	cr_expect_not(passes("name == 'kworker'", 0));
	cr_expect_not(passes("name == 'kworker1x'", 0));
	cr_expect(passes("name ~ 'kw*' && name != 'x'", 0));
	cr_expect(passes("name =~ 'work'", 0));
	cr_expect_not(passes("name =~ '^work'", 0));
	cr_expect_not(passes("name =~ 'WORK'", 0));
	cr_expect_not(passes("name =~ 'w[|]o\\.\\\\'", 0));
	cr_expect(passes("name =~ '^k.or[j-l]er1$'", 0));
	cr_expect(passes("name !~ '[^k]2$'", 0));
	cr_expect(passes("comm == 'server' && COMM ~ 's*'", 0));
	cr_expect(passes("ts == 1.5 && ts < 1.500000001 && ts > 1.4", 0));
	cr_expect(passes("TIMESTAMP == 1500000000", REC_FILTER_COUNTS));
	cr_expect(passes("cpu == 3 && pid == 17 && prio == -5", 0));
}

Test(filter_reading, absent_fields)
{
	struct rec_filter_error error;

	cr_expect_eq(rec_filter_compile_fields(&info, 0, "size == 1", condition, sizeof(bytes), &error), -EINVAL);
	cr_expect_not(passes("size == 1", REC_FILTER_ABSENT_IS_FALSE));
	cr_expect_not(passes("size != 1", REC_FILTER_ABSENT_IS_FALSE));
	cr_expect_not(passes("size[3] != 1 || path == 'x' || path !~ 'y'", REC_FILTER_ABSENT_IS_FALSE));
	cr_expect(passes("!(size == 1)", REC_FILTER_ABSENT_IS_FALSE));
	cr_expect(passes("prio < 0 || size == 1", REC_FILTER_ABSENT_IS_FALSE));
	cr_expect_eq(rec_filter_absent(condition, 0), 0);
	cr_expect_eq(rec_filter_absent(condition, 1), 13);
	cr_expect_eq(rec_filter_absent(condition, 2), -EINVAL);
	/* The value with which an absent field is compared must still be valid. */
	cr_expect_eq(rec_filter_compile_fields(&info, REC_FILTER_ABSENT_IS_FALSE, "size ==", condition, sizeof(bytes),
					       &error),
		     -EINVAL);
}

/* A record that ends early lets the event pass: nothing outside of it is read. */
Test(filter_reading, short_records)
{
	const struct rec_filter_record one = { "12345678901", 11, 0, 0, NULL };
	struct rec_filter_error error;
	int size = rec_filter_compile_fields(&info, 0, "name == 'x'", condition, sizeof(bytes), &error);

	cr_assert_gt(size, 0);
	cr_expect(rec_filter_match_reading(condition, (size_t)size, &one));
	size = rec_filter_compile_fields(&info, 0, "comm == ''", condition, sizeof(bytes), &error);
	cr_assert_gt(size, 0);
	cr_expect(rec_filter_match_reading(condition, (size_t)size, &one));
}
