/* SPDX-License-Identifier: MIT */
/* How long the recorder's thread sleeps between two rounds. */
#include <criterion/criterion.h>

#include "cli/record/round_sleep.h"

#define SECOND UINT64_C(1000000)

TestSuite(round_sleep, .timeout = 60);

/* Quiet lanes, no duration, and a user who permits sleeps of a minute. */
static const struct last_round quiet = {
	.lanes = true, .longest = 60 * SECOND, .left = UINT64_MAX, .slept = 60 * SECOND, .passed = 60 * SECOND
};

/* The permission for threads to take further lanes lasts ten seconds, and is renewed each round. */
Test(round_sleep, it_is_never_longer_than_a_second)
{
	struct last_round round = quiet;

	cr_expect_eq(round_sleep(&round), SECOND);
	round.longest = UINT64_MAX;
	cr_expect_eq(round_sleep(&round), 4000);
}

Test(round_sleep, it_ends_with_the_recording)
{
	struct last_round round = quiet;

	round.left = 7000;
	cr_expect_eq(round_sleep(&round), 7000);
	round.left = 0;
	cr_expect_eq(round_sleep(&round), ROUND_SLEEP_MIN_US);
	round.lanes = false;
	round.left = 7000;
	cr_expect_eq(round_sleep(&round), 7000);
	round.left = UINT64_MAX;
	cr_expect_eq(round_sleep(&round), 100000);
}

Test(round_sleep, it_follows_the_lanes)
{
	struct last_round round = {
		.lanes = true, .longest = UINT64_MAX, .left = UINT64_MAX, .slept = 1000, .passed = 1000
	};

	cr_expect_eq(round_sleep(&round), 1000 + 1000 / 256 + 1);
	round.percent = 50;
	cr_expect_eq(round_sleep(&round), 600);
	round.percent = 60;
	cr_expect_eq(round_sleep(&round), 0);
	round.percent = -28;
	cr_expect_eq(round_sleep(&round), 1000 + 1000 / 256 + 1);
}
