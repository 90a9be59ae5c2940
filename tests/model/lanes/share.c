/* SPDX-License-Identifier: MIT */
/* lane_share.c, with access to its own data, which are part of a state. */
#include "librecorder/process/lane_share.c"

extern uint32_t *const share_starved;
extern struct rec_lane *const share_nowhere;

uint32_t *const share_starved = &starved;
struct rec_lane *const share_nowhere = &nowhere;
