/* SPDX-License-Identifier: MIT */
/* When events were lost: intervals that are collected, joined, written as a text and read. */
#include "format/dat/dat_losses.h"
#include "format/io/blob.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static char *text_of(struct dat_losses *losses)
{
	struct blob text = BLOB_INIT;

	dat_losses_join(losses);
	dat_losses_put(losses, &text);
	blob_put(&text, "", 1);
	cr_assert_eq(text.error, 0);
	return (char *)text.data;
}

static void expect_text(struct dat_losses *losses, const char *wanted)
{
	char *text = text_of(losses);

	cr_expect_str_eq(text, wanted);
	free(text);
}

Test(dat_losses, those_that_overlap_are_one)
{
	struct dat_losses losses = { 0 };

	expect_text(&losses, "");
	dat_losses_add(&losses, 300, DAT_LOSS_NO_END);
	dat_losses_add(&losses, 100, 150);
	dat_losses_add(&losses, 200, 210);
	dat_losses_add(&losses, 120, 160);
	dat_losses_add(&losses, 160, 170);
	dat_losses_add(&losses, 400, 500);
	expect_text(&losses, "100 to 170, 200 to 210, 300 on");
	dat_losses_free(&losses);
}

Test(dat_losses, between_two_times)
{
	struct dat_losses losses;

	cr_assert_eq(dat_losses_read("100 to 170, 200 to 210, 300 on", &losses), 0);
	cr_expect_eq(losses.nr, 3);
	cr_expect_not(dat_losses_between(&losses, 0, 100));
	cr_expect(dat_losses_between(&losses, 0, 101));
	cr_expect(dat_losses_between(&losses, 120, 130));
	cr_expect(dat_losses_between(&losses, 169, 180));
	cr_expect_not(dat_losses_between(&losses, 170, 200));
	cr_expect(dat_losses_between(&losses, 170, 201));
	cr_expect_not(dat_losses_between(&losses, 210, 300));
	cr_expect(dat_losses_between(&losses, 5000, 5001));
	dat_losses_free(&losses);
	cr_assert_eq(dat_losses_read(NULL, &losses), 0);
	cr_expect_not(dat_losses_between(&losses, 0, UINT64_MAX));
}

/* If there are very many losses, the nearest ones are joined, and none is left out. */
Test(dat_losses, very_many)
{
	struct dat_losses losses = { 0 }, again;
	char *text;

	for (uint64_t i = 0; i < 100000; i++)
		dat_losses_add(&losses, 100 * i, 100 * i + 1 + i % 90);
	dat_losses_add(&losses, UINT64_C(1) << 63, (UINT64_C(1) << 63) + 5);
	text = text_of(&losses);
	cr_assert_eq(losses.error, 0);
	cr_expect(losses.nr > 1 && losses.nr <= 256, "%zu", losses.nr);
	cr_assert_eq(dat_losses_read(text, &again), 0);
	cr_assert_eq(again.nr, losses.nr);
	cr_expect_eq(memcmp(again.all, losses.all, losses.nr * sizeof(*losses.all)), 0);
	for (uint64_t i = 0; i < 100000; i++)
		cr_assert(dat_losses_between(&again, 100 * i, 100 * i + 1));
	cr_expect_not(dat_losses_between(&again, 10000000, UINT64_C(1) << 63));
	free(text);
	dat_losses_free(&losses);
	dat_losses_free(&again);
}

/* Times that no file has: between two of them there may be a file. */
Test(dat_losses, very_many_that_are_exact)
{
	struct dat_losses times = { .is_exact = true }, again;
	char *text;

	for (uint64_t i = 0; i < 1000; i++)
		dat_losses_add(&times, 100 * i, 100 * i + 2);
	text = text_of(&times);
	cr_assert_eq(dat_losses_read(text, &again), 0);
	cr_assert_eq(again.nr, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		cr_assert_not(dat_losses_between(&again, 100 * i + 2, 100 * i + 100));
	free(text);
	dat_losses_free(&times);
	dat_losses_free(&again);
}

Test(dat_losses, damaged_texts)
{
	static const char *const texts[] = {
		"", "x", "5", "7 to ", "9 to 3", "1 to 2 3 to 4", "8 on, ", "1 to 2, , 3 on",
		"2 on on, 5 to 6", "-1 to 4",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct dat_losses losses;

		cr_assert_eq(dat_losses_read(texts[i], &losses), 0);
		cr_expect(losses.nr <= 1, "%s", texts[i]);
		for (size_t k = 0; k < losses.nr; k++)
			cr_expect_lt(losses.all[k].since, losses.all[k].until);
		dat_losses_free(&losses);
	}
}
