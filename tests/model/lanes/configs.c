/* SPDX-License-Identifier: MIT */
/* The configurations of the checker of the lanes. */
#include "lanes.h"

/* clang-format off */
const struct config configs[] = {
	/* name               lanes, shared   threads                    reader  flags */
	{ "lane-lease",       2, 0, { "sx",    "sx",   0 },              "",     OVERWRITE },
	{ "lane-lease-one",   1, 0, { "sx",    "sxs",  0 },              "",     OVERWRITE },
	{ 0 },
};
/* clang-format on */
