/* SPDX-License-Identifier: MIT */
/* The configurations of the checker of the lanes. */
#include "lanes.h"

/* clang-format off */
const struct config configs[] = {
	/* name               lanes, made, shared, before, threads     reader  flags */
	{ "lane-lease",       2, 0, 0, "",     { "sx",    "sx",   0 },              "",     OVERWRITE },
	{ "lane-lease-made",  2, 2, 0, "",     { "sxs",   "sx",   0 },              "",     OVERWRITE },
	{ "lane-lease-one",   1, 0, 0, "",     { "sx",    "sx",   0 },              "",     OVERWRITE },
	{ "lane-lease-again", 1, 1, 0, "",     { "sx",    "sxs",  0 },              "",     OVERWRITE },
	{ "lane-full",        1, 1, 0, "",     { "s",     "s",    "s" },            "",     OVERWRITE },
	/* A thread ends without notice, at any step, or between two events; the next one has its id, or not. */
	{ "lane-dies",        1, 1, 0, "",     { "s",     "s",    0 },              "",     OVERWRITE | DIES },
	{ "lane-dies-two",    2, 0, 0, "",     { "sx",    "sx",   0 },              "",     OVERWRITE | DIES },
	{ "lane-dies-three",  1, 1, 0, "",     { "s",     "s",    "s" },            "",     OVERWRITE | DIES | LONG },
	{ "lane-dies-head",   2, 2, 0, "ll",   { "l",     "s",    0 },              "",     OVERWRITE | DIES },
	{ "lane-dies-full",   1, 1, 0, "ll",   { "s",     "s",    0 },              "",     DIES },
	{ "lane-exits",       1, 1, 0, "",     { "sXs",   "ss",   0 },              "",     OVERWRITE },
	{ "lane-exits-three", 1, 1, 0, "",     { "sX",    "s",    "s" },            "",     OVERWRITE },
	{ "lane-exits-again", 1, 1, 0, "",     { "sXs",   "ss",   0 },              "",     OVERWRITE | REUSES },
	{ 0 },
};
/* clang-format on */
