/* SPDX-License-Identifier: MIT */
/*
 * Short programs in which the ring's rare cases occur together; action.c explains the letters. On a sub-buffer of 2^6
 * bytes the longest event ("l") fills a page, or three of one word ("s") do. On one of 2^7 bytes, events that state
 * time and CPU anew fit after others, on the same page.
 */
#include "model.h"

/* clang-format off */
const struct config configs[] = {
	/* name               pages     prefill program nested depth, interrupts reads ticks flags */
	/* Writers alone. */
	{ "nest",              2, 7, "",     "ss",   "sd",   3, 2, "",    "01",  OVERWRITE | CUT },
	{ "head",              2, 6, "lls",  "ll",   "l",    3, 2, "",    "01",  OVERWRITE | CUT },
	{ "head-3-pages",      3, 6, "lls",  "l",    "rl",   3, 2, "",    "1",   OVERWRITE | CUT },
	{ "rounds",            2, 6, "lls",  "l",    "Rl",   3, 2, "",    "1",   OVERWRITE | CUT },
	{ "wrap",              2, 6, "sp",   "s",    "R",    2, 1, "",    "01",  OVERWRITE | CUT },
	{ "discard",           2, 7, "s",    "Dl",   "sdD",  3, 2, "",    "01",  OVERWRITE | CUT },
	{ "discard-page",      2, 6, "ss",   "ds",   "lds",  3, 2, "",    "1",   OVERWRITE | CUT },
	{ "discard-far",       3, 6, "s",    "d",    "r",    2, 1, "",    "1",   OVERWRITE | CUT },
	{ "inside",            2, 6, "s",    "zz",   "sl",   2, 2, "",    "1",   OVERWRITE | CUT },
	{ "cross",             2, 7, "l",    "s",    "s",    3, 2, "",    "1",   OVERWRITE | CUT },
	{ "steps",             2, 7, "s",    "ss",   "s",    3, 2, "",    "01-", OVERWRITE },
	{ "steps-inside",      2, 6, "s",    "z",    "sl",   2, 2, "",    "01-", OVERWRITE | LONG },
	{ "full",              2, 6, "ll",   "ls",   "sl",   3, 2, "",    "01",  CUT },
	{ "clock",             2, 7, "s",    "sds",  "sd",   2, 1, "",    "1b",  OVERWRITE },
	{ "clock-back",        2, 6, "s",    "sdss", "",     1, 0, "",    "01-", OVERWRITE },
	{ "clock-cross",       2, 6, "ss",   "ss",   "",     1, 0, "",    "1b",  OVERWRITE },
	{ "cpu",               2, 7, "s",    "ss",   "s",    3, 2, "",    "01",  OVERWRITE | MOVES },
	{ "cpu-discard",       2, 7, "s",    "dss",  "d",    2, 1, "",    "1",   OVERWRITE | MOVES },
	{ "again",             2, 7, "s",    "sss",  "s",    2, 1, "",    "1",   OVERWRITE },
	{ "macro",             2, 7, "s",    "es",   "e",    3, 2, "",    "01",  OVERWRITE },
	{ "long",              2, 6, "ss",   "tTs",  "st",   2, 1, "",    "1",   OVERWRITE },
	{ "full-long",         2, 6, "lll",  "tTs",  "st",   2, 1, "",    "1",   CUT },
	{ "full-plain",        2, 6, "lsss", "ss",   "s",    2, 1, "",    "1",   CUT },
	{ "full-free",         2, 6, "lssssp", "ss", "s",    2, 1, "",    "1",   CUT },
	{ "full-fits",         2, 7, "lsl",  "sss",  "s",    2, 1, "",    "1",   CUT },
	{ "full-overwrite",    2, 6, "lssst", "ss",  "s",    2, 1, "",    "1",   OVERWRITE },
	{ "first",             2, 6, "",     "ss",   "sd",   2, 1, "",    "01-", OVERWRITE },
	{ "first-time",        2, 6, "",     "ss",   "s",    2, 1, "",    "01-", OVERWRITE },
	{ "word",              2, 8, "s",    "xX",   "sX",   2, 1, "",    "1",   OVERWRITE },
	{ "wrap-stays",        2, 6, "sp",   "s",    "R",    2, 1, "",    "01",  OVERWRITE | CUT | STAYS },
	{ "rounds-stays",      2, 6, "lls",  "l",    "Rl",   3, 2, "",    "1",   OVERWRITE | STAYS },
	{ "gate",              2, 7, "s",    "gGe",  "sgG",  2, 1, "",    "1",   OVERWRITE },
	{ "deepest",           2, 7, "s",    "sn",   "ns",   3, 2, "",    "1",   OVERWRITE },
	/* The kinds that `left` allows, with crossing handlers, and with one left between D and E. */
	{ "announce",          3, 6, "sssl", "s",    "rs",   2, 2, "",    "1",   OVERWRITE },
	{ "announce-again",    2, 7, "llssss", "h",  "s",    2, 2, "",    "1",   OVERWRITE },
	{ "announce-late",     3, 7, "lllssss", "hl", "s",    2, 2, "",    "1",   OVERWRITE },
	{ "announce-twice",    3, 6, "lllsss", "s",  "l",    2, 1, "",    "1",   OVERWRITE | CUT },
	/* With a reader. */
	{ "read",              2, 6, "ss",   "sl",   "s",    2, 1, "pp",  "1",   OVERWRITE | CUT },
	{ "read-head",         2, 6, "ll",   "l",    "l",    2, 1, "ww",  "1",   OVERWRITE | CUT },
	{ "read-head-3-pages", 3, 6, "lll",  "l",    "l",    2, 1, "ww",  "1",   OVERWRITE },
	{ "read-rounds",       2, 6, "ll",   "l",    "r",    2, 1, "w",   "1",   OVERWRITE },
	{ "read-rounds-stays", 2, 6, "sp",   "s",    "R",    2, 1, "wp",  "1",   OVERWRITE | STAYS | THOROUGH },
	{ "read-full",         2, 6, "ll",   "lss",  "s",    2, 1, "wp",  "1",   CUT },
	{ "read-discard",      2, 6, "s",    "dl",   "sd",   2, 1, "pp",  "1",   OVERWRITE },
	/* Deaths, and the successors that continue. */
	{ "writer-dies",       2, 6, "ll",   "l",    "",     1, 0, "wp",  "1",   OVERWRITE | WRITER_DIES },
	{ "writer-dies-nested", 2, 6, "ll",  "l",    "l",    2, 1, "w",   "1",   OVERWRITE | WRITER_DIES | LONG },
	{ "program-dies",      2, 6, "ll",   "l",    "l",    2, 1, "w",   "1",   OVERWRITE | PROGRAM_DIES | LONG },
	{ "reader-dies",       2, 6, "ll",   "l",    "",     1, 0, "pww", "1",   OVERWRITE | READER_DIES },
	{ "reader-dies-full",  2, 6, "ll",   "lls",  "",     1, 0, "pww", "1",   READER_DIES },
	/* Loads that find older values. */
	{ "weak",              2, 6, "ll",   "ls",   "",     1, 0, "wp",  "1",   OVERWRITE | WEAK },
	{ "weak-full",         2, 6, "ll",   "lls",  "",     1, 0, "wwp", "1",   WEAK },
	{ "weak-nested",       2, 6, "ll",   "l",    "s",    2, 1, "w",   "1",   OVERWRITE | WEAK },
	/* Looking without consuming; sleeping. */
	{ "iterate",           2, 6, "ls",   "ll",   "",     1, 0, "oc",  "1",   OVERWRITE | ITERATES | LONG },
	{ "iterate-small",     2, 6, "ss",   "sss",  "",     1, 0, "oc",  "1",   OVERWRITE | ITERATES },
	{ "iterate-jump",      2, 6, "lls",  "ls",   "",     1, 0, "oc",  "1",   OVERWRITE | ITERATES | JUMPS | THOROUGH },
	{ "sleep",             2, 6, "s",    "lll",  "",     1, 0, "wb",  "1",   OVERWRITE },
	{ "sleep-weak",        2, 6, "s",    "ll",   "",     1, 0, "b",   "1",   OVERWRITE | WEAK },
	{ "count",             2, 6, "ls",   "l",    "",     1, 0, "vpv", "1",   OVERWRITE | ITERATES },
	/* Events one by one, and copies of pages. */
	{ "consume",           2, 6, "sss",  "sl",   "",     1, 0, "kkk", "1",   OVERWRITE },
	{ "consume-full",      2, 6, "sssl", "ls",   "",     1, 0, "kpk", "1",   0 },
	{ "copy",              2, 6, "sss",  "sl",   "",     1, 0, "Qqk", "1",   OVERWRITE },
	{ "copy-lost",         2, 6, "sssll", "l",   "",     1, 0, "Qqq", "1",   OVERWRITE },
	{ "anew",              2, 6, "ll",   "sd",   "s",    2, 1, "",    "1",   OVERWRITE | ANEW },
	{ "anew-full",         2, 6, "lll",  "ls",   "",     1, 0, "p",   "1",   ANEW },
	/* Two threads that share the lane. */
	{ "share",             2, 6, "ll",   "sl",   "",     1, 0, "ls",  "1",   OVERWRITE | SHARED },
	{ "share-full",        2, 6, "ll",   "ls",   "",     1, 0, "sl",  "1",   SHARED },
	{ "share-discard",     2, 7, "s",    "dD",   "",     1, 0, "sd",  "1",   OVERWRITE | SHARED },
	{ "share-nested",      2, 6, "l",    "ls",   "s",    2, 1, "l",   "1",   OVERWRITE | SHARED },
	{ "share-dies",        2, 6, "ll",   "sl",   "",     1, 0, "ls",  "1",   OVERWRITE | SHARED | WRITER_DIES },
	{ "share-weak",        2, 6, "ll",   "ls",   "",     1, 0, "sl",  "1",   OVERWRITE | SHARED | WEAK },
	/* Handlers that jump out of what they interrupted. */
	{ "jump",              2, 7, "s",    "sss",  "s",    2, 1, "",    "01",  OVERWRITE | JUMPS },
	{ "jump-nested",       2, 7, "s",    "ss",   "s",    3, 2, "",    "01",  OVERWRITE | JUMPS | LONG },
	{ "jump-discard",      2, 7, "s",    "ds",   "ds",   2, 1, "",    "01",  OVERWRITE | JUMPS },
	{ "jump-discard-two",  2, 7, "s",    "d",    "s",    2, 2, "",    "1",   OVERWRITE | JUMPS },
	{ "jump-discard-far",  3, 6, "lsssls", "d",  "l",    2, 2, "",    "1",   OVERWRITE | JUMPS },
	{ "jump-mover",        2, 6, "lls",  "s",    "l",    2, 1, "",    "1",   OVERWRITE | JUMPS },
	{ "jump-head",         2, 6, "lls",  "ll",   "l",    2, 1, "",    "01",  OVERWRITE | JUMPS },
	{ "jump-cross",        2, 7, "ls",   "ls",   "s",    3, 2, "",    "1",   OVERWRITE | JUMPS | LONG },
	{ "jump-after",        2, 7, "lls",  "ssl",  "l",    2, 1, "",    "1",   OVERWRITE | JUMPS },
	{ "jump-stays",        2, 6, "lls",  "ls",   "l",    2, 1, "",    "1",   OVERWRITE | JUMPS | STAYS },
	{ "jump-full",         2, 6, "ll",   "lss",  "s",    2, 1, "p",   "1",   JUMPS | LONG },
	{ "jump-dies",         2, 7, "s",    "ss",   "s",    2, 1, "",    "1",   OVERWRITE | JUMPS | CUT },
	{ "jump-read",         2, 7, "s",    "ss",   "s",    2, 1, "p",   "1",   OVERWRITE | JUMPS },
	{ "jump-refused",      2, 7, "s",    "ss",   "ts",   3, 2, "",    "1",   OVERWRITE | JUMPS },
	{ "jump-mistaken",     2, 7, "s",    "ysYs", "",    1, 0, "",    "1",   OVERWRITE | JUMPS },
	/* Longer ones. */
	{ "writer-dies-two",   2, 6, "ll",   "ls",   "",     1, 0, "wp",  "1",   OVERWRITE | WRITER_DIES | LONG },
	{ "reader-dies-two",   2, 6, "ll",   "ls",   "",     1, 0, "pww", "1",   OVERWRITE | READER_DIES | LONG },
	{ "head-deep",         2, 6, "lls",  "ll",   "ls",   3, 3, "",    "1",   OVERWRITE | CUT | THOROUGH },
	{ "rounds-deep",       3, 6, "llls", "l",    "Rls",  3, 3, "",    "1",   OVERWRITE | CUT | THOROUGH },
	{ "discard-deep",      2, 7, "s",    "DlD",  "sdl",  3, 3, "",    "1",   OVERWRITE | CUT | THOROUGH },
	{ "read-deep",         2, 6, "ll",   "l",    "l",    3, 2, "wp",  "1",   OVERWRITE | THOROUGH },
	{ "read-rounds-deep",  3, 6, "lll",  "l",    "rs",   2, 1, "wwp", "1",   OVERWRITE | THOROUGH },
	{ "reader-dies-nested", 2, 6, "ll",  "ll",   "l",    2, 1, "pw",  "1",   OVERWRITE | READER_DIES | THOROUGH },
	{ "weak-deep",         2, 6, "ll",   "ls",   "sl",   2, 1, "wp",  "1",   OVERWRITE | WEAK | THOROUGH },
	{ 0 },
};
/* clang-format on */
