/* SPDX-License-Identifier: MIT */
#include "cli/base/duration.h"

#include <criterion/criterion.h>

static uint64_t ms(const char *text)
{
	uint64_t value = 0;

	cr_assert(duration_read(text, &value), "%s", text);
	return value;
}

Test(duration, units)
{
	cr_expect_eq(ms("10"), 10000);
	cr_expect_eq(ms("10s"), 10000);
	cr_expect_eq(ms("0.5"), 500);
	cr_expect_eq(ms(".25"), 250);
	cr_expect_eq(ms("500ms"), 500);
	cr_expect_eq(ms("2m"), 120000);
	cr_expect_eq(ms("1.5h"), 5400000);
	cr_expect_eq(ms("0.1ms"), 1, "a part of a millisecond is not nothing");
	cr_expect_eq(ms("1000000000"), UINT64_C(1000000000000));
}

static uint64_t ns(const char *text)
{
	uint64_t value = 7;

	cr_assert(duration_read_ns(text, &value), "%s", text);
	return value;
}

Test(duration, nanoseconds)
{
	cr_expect_eq(ns("0"), 0);
	cr_expect_eq(ns("300ns"), 300);
	cr_expect_eq(ns("20us"), 20000);
	cr_expect_eq(ns("1.5s"), 1500000000);
	cr_expect_eq(ns("0.5m"), UINT64_C(30000000000));
	cr_expect_eq(ns("8999999999.999999999"), UINT64_C(8999999999999999999), "not every number, as in a double");
	cr_expect_eq(ns("1.9999999999"), 1999999999, "further digits are not used");
	cr_expect_eq(ms("1ns"), 1);
	cr_expect_eq(ms("1000001ns"), 2);
}

Test(duration, refusals)
{
	static const char *const wrong[] = {
		"",    ".",	"0",  "0.0", "-1", "+1",  "1e3", "0x10",       "inf",
		"nan", "1.2.3", "5d", "1 s", " 1", "1s ", "ms",	 "1000000001", "99999999h"
	};
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(duration_read(wrong[i], &value), "'%s'", wrong[i]);
}

Test(duration, refusals_of_nanoseconds)
{
	static const char *const wrong[] = { "",    ".",  "-1",	 "+1",	"1e3",	      "0x10",
					     "inf", " 1", "1s ", "5d", "9999999999", "18446744073709551616ns" };
	uint64_t value = 7;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_expect_not(duration_read_ns(wrong[i], &value), "'%s'", wrong[i]);
	cr_expect_eq(value, 7);
}
