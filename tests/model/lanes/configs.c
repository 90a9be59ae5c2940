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
	{ "lane-full",        1, 1, 0, "",     { "s",     "s",    "s" },            "",     OVERWRITE | LONG },
	{ "lane-three",       2, 2, 0, "",     { "sx",    "sx",   "sx" },           "",     OVERWRITE | LONG },
	/* A thread ends without notice, at any step, or between two events; the next one has its id, or not. */
	{ "lane-dies",        1, 1, 0, "",     { "s",     "s",    0 },              "",     OVERWRITE | DIES },
	{ "lane-dies-two",    2, 0, 0, "",     { "sx",    "sx",   0 },              "",     OVERWRITE | DIES | LONG },
	{ "lane-dies-three",  1, 1, 0, "",     { "s",     "s",    "s" },            "",     OVERWRITE | DIES | LONG },
	{ "lane-dies-again",  1, 1, 0, "",     { "ss",    "s",    0 },              "",
	  OVERWRITE | DIES | REUSES | LONG },
	{ "lane-dies-head",   2, 2, 0, "ll",   { "l",     "s",    0 },              "",     OVERWRITE | DIES },
	{ "lane-dies-read",   2, 2, 0, "ll",   { "l",     "s",    0 },              "r",
	  OVERWRITE | DIES | THOROUGH },
	{ "lane-dies-full",   1, 1, 0, "ll",   { "s",     "s",    0 },              "",     DIES },
	{ "lane-exits",       1, 1, 0, "",     { "sXs",   "ss",   0 },              "",     OVERWRITE },
	{ "lane-exits-three", 1, 1, 0, "",     { "sX",    "s",    "s" },            "",     OVERWRITE | LONG },
	{ "lane-exits-again", 1, 1, 0, "",     { "sXs",   "ss",   0 },              "",     OVERWRITE | REUSES | LONG },
	/* A thread's own lane, or another thread's, is to get another shape: the thread continues in another lane. */
	{ "lane-resize",      2, 2, 0, "s",    { "zs",    "sx",   0 },              "",     OVERWRITE },
	{ "lane-resize-read", 2, 2, 0, "s",    { "zs",    0,      0 },              "r",    OVERWRITE },
	{ "lane-request",     2, 2, 0, "s",    { "ss",    "Z",    0 },              "",     OVERWRITE },
	{ "lane-request-three", 3, 2, 0, "s",    { "sx",    "Z",    "s" },            "",     OVERWRITE },
	{ "lane-request-read", 2, 2, 0, "s",    { "ss",    "Z",    0 },              "r",    OVERWRITE },
	{ "lane-request-dies", 2, 2, 0, "s",    { "ss",    "Z",    0 },              "",     OVERWRITE | DIES },
	{ "lane-anew",        2, 2, 0, "",     { "sx",    "Z",    0 },              "",     OVERWRITE },
	/* A thread that ended had lane 0. The next one with its id changes that lane, while others take it over. */
	{ "lane-resize-reuses", 1, 1, 0, "",    { "sZ",    "s",    0 },              "",
	  OVERWRITE | DIES | REUSES | LONG },
	{ "lane-release-reuses", 2, 2, 0, "s",  { "R",     "scCc", "s" },            "",
	  OVERWRITE | DIES | REUSES | LONG },
	/* A lane is set aside as a snapshot, and given back. */
	{ "lane-swap",        2, 2, 0, "s",    { "csC",   "sx",   0 },              "",     OVERWRITE },
	{ "lane-swap-read",   2, 2, 0, "s",    { "csC",   0,      0 },              "r",    OVERWRITE },
	{ "lane-disable",     1, 1, 0, "s",    { "ss",    "dD",   0 },              "",     OVERWRITE },
	/* Threads beyond the lanes share one. */
	{ "lane-share",       2, 2, 1, "",     { "s",     "s",    "s" },            "",     OVERWRITE | LONG },
	{ "lane-share-exit",  2, 2, 1, "s",    { "s",     "sx",   "s" },            "",     OVERWRITE },
	/* While a reader permits growth, a thread whose lane is full takes further lanes. */
	{ "lane-grows",       4, 1, 0, "lll",  { "ll",    0,      0 },              "r",    OVERWRITE | GROWS },
	{ "lane-grows-two",   4, 2, 0, "lll",  { "lll",   "sx",   0 },              "",     OVERWRITE | GROWS },
	{ "lane-grows-three", 4, 2, 0, "lll",  { "lll",   "lll",  0 },              "",     OVERWRITE | GROWS },
	/* Meanwhile the pool turns one into a shared lane. */
	{ "lane-grows-share", 4, 2, 1, "ll",   { "ls",    "s",    0 },              "",     OVERWRITE | GROWS | LATE },
	{ "lane-gives-share", 4, 1, 1, "lllxreGs", { "ll", "s",   0 },              "",     OVERWRITE | GROWS | LATE },
	/*
	 * When growth is not permitted any more, lanes are given up; when it is permitted again, they are made again.
	 */
	{ "lane-gives-up",    4, 1, 0, "lllxr",    { "Gsll",  0,  0 },              "er",   OVERWRITE | GROWS },
	{ "lane-gives-again", 4, 1, 0, "lllxreGs", { "llgll", "s", 0 },             "",     OVERWRITE | GROWS },
	{ "lane-gives-read",  4, 1, 0, "lll",      { "Glll",  0,  0 },              "re",   OVERWRITE | GROWS | LONG },
	/* Two threads give up the same lane; one gives up a lane while another takes it; or ends without notice. */
	{ "lane-gives-two",   4, 1, 0, "lllxreG",  { "lll",   "lll", 0 },           "",     OVERWRITE | GROWS },
	{ "lane-gives-taken", 4, 1, 0, "llllllxrell", { "Gl", "llll", 0 },          "",     OVERWRITE | GROWS | LONG },
	{ "lane-gives-dies",  2, 1, 0, "llllreGll", { "l",  "s",  0 },            "",
	  OVERWRITE | GROWS | DIES | LONG },
	/* Another thread disables a lane while it is given up: either the lane stays, or disabling it fails. */
	{ "lane-gives-disabled", 4, 1, 0, "lllxreGs", { "ll", "mD", 0 },            "",     OVERWRITE | GROWS },
	{ "lane-attach",      4, 1, 0, "",         { "allx",  "as", 0 },            "",     OVERWRITE | GROWS },
	/* A thread ends without notice, at any step, while it has a shared lane. */
	{ "lane-share-dies",  1, 1, 1, "",     { "s",     "s",    0 },              "",     OVERWRITE | DIES },
	/* Other lanes are free, and still the lane is repaired. */
	{ "lane-share-dies-two", 2, 2, 2, "s", { "s",     "s",    0 },              "",     OVERWRITE | DIES },
	/* The same, while a living thread holds another one all the time. */
	{ "lane-share-dies-four", 4, 2, 4, "sxsxsxs", { "s", "s",  0 },              "",     OVERWRITE | DIES },
	{ "lane-share-dies-head", 2, 2, 2, "lll", { "ll", "s",    0 },              "",     OVERWRITE | DIES | LONG },
	{ "lane-share-reuses", 1, 1, 1, "",    { "ss",    "s",    0 },              "",     OVERWRITE | DIES | REUSES },
	{ "lane-share-dies-three", 1, 1, 1, "", { "s",    "s",    "s" },            "",     OVERWRITE | DIES | LONG },
	/* A reader that sleeps until a lane is full; one that ends, and another one. */
	{ "lane-wait",        1, 1, 0, "l",    { "l",     0,      0 },              "w",    OVERWRITE },
	{ "lane-wait-two",    2, 2, 0, "l",    { "l",     "s",    0 },              "w",    OVERWRITE | LONG },
	{ "lane-reader-ends", 1, 1, 0, "l",    { "ll",    0,      0 },              "rer",  OVERWRITE },
	{ 0 },
};
/* clang-format on */
