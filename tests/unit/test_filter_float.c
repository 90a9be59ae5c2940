/* SPDX-License-Identifier: MIT */
/* Filters on fields that are float and double. */
#include "filter_fixture.h"

#include <criterion/criterion.h>
#include <math.h>

struct trial {
	const char *filter;
	bool passes;
};

#define TRY(trials, record)                                                                                            \
	for (size_t i = 0; i < sizeof(trials) / sizeof((trials)[0]); i++)                                              \
	cr_expect_eq(filter_try((trials)[i].filter, record, 0), (trials)[i].passes, "%s", (trials)[i].filter)

/* The values as a program writes them. For NaN only != is true. */
Test(filter_float, comparisons)
{
	static const struct trial trials[] = {
		{ "ratio == 0.1", true },
		{ "ratio != 0.1", false },
		{ "ratio > 0.1", false },
		{ "ratio >= 0.1", true },
		{ "ratio < 1e-1", false },
		{ "ratio <= 0.1e0 && ratio > -0.1", true },
		{ "ratio < 0.2 && ratio > 0", true },
		{ "!(ratio < 0.2)", false },
		{ "wide == -2.5e-3", true },
		{ "wide == -0.0025", true },
		{ "wide < -25e-4", false },
		{ "wide <= -25e-4", true },
		{ "wide > -1", true },
		{ "wide >= 1", false },
		{ "wide < 123456789012345678901234567890", true },
		{ "wide > -1e999", true },
		{ "wide > 1e-999 || ratio == 7", false },
	};
	static const struct trial nan_trials[] = {
		{ "wide == 1", false }, { "wide != 1", true },	  { "wide < 1", false },
		{ "wide <= 1", false }, { "wide > 1", false },	  { "wide >= 1", false },
		{ "!(wide > 1)", true }, { "!(wide <= 1)", true }, { "ratio > 1.5", true },
		{ "ratio == 1e400", true }, { "ratio < 1e38", false },
	};
	struct filter_record record;

	filter_record_init(&record);
	record.ratio = 0.1f;
	record.wide = -0.0025;
	TRY(trials, &record);
	record.ratio = INFINITY;
	record.wide = NAN;
	TRY(nan_trials, &record);
}
