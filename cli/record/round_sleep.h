/* SPDX-License-Identifier: MIT */
/* How long the recorder's thread sleeps between two rounds. */
#ifndef CLI_ROUND_SLEEP_H
#define CLI_ROUND_SLEEP_H

#include <stdbool.h>
#include <stdint.h>

#define ROUND_SLEEP_MIN_US 100u

/* A round, and what limits the sleep after it. Times are in us. */
struct last_round {
	bool lanes;	  /* lanes were read; otherwise only the kernel is recorded */
	uint64_t longest; /* the longest sleep that the user wants; UINT64_MAX: not given */
	uint64_t left;	  /* until the end of the recording; UINT64_MAX: it has no duration */
	uint64_t slept;	  /* the sleep before this round */
	uint64_t passed;  /* since the round before */
	int percent;	  /* fill of the fullest lane; negative: an error has stopped the drain */
};

uint64_t round_sleep(const struct last_round *last);

#endif
