/* SPDX-License-Identifier: MIT */
/* Ids of the parts of a trace.dat, in both versions. */
#ifndef FORMAT_DAT_ID_H
#define FORMAT_DAT_ID_H

/* Ids of sections and options (trace-dat.md 6). */
enum dat_id {
	DAT_DONE = 0,
	DAT_DATE = 1,
	DAT_CPUSTAT = 2,
	DAT_BUFFER = 3,
	DAT_TRACECLOCK = 4,
	DAT_UNAME = 5,
	DAT_HOOK = 6,
	DAT_OFFSET = 7,
	DAT_CPUCOUNT = 8,
	DAT_VERSION = 9,
	DAT_PROCMAPS = 10,
	DAT_TRACEID = 11,
	DAT_TIME_SHIFT = 12,
	DAT_GUEST = 13,
	DAT_TSC2NSEC = 14,
	DAT_STRINGS = 15,
	DAT_HEADER_INFO = 16,
	DAT_FTRACE_EVENTS = 17,
	DAT_EVENT_FORMATS = 18,
	DAT_KALLSYMS = 19,
	DAT_PRINTK = 20,
	DAT_CMDLINES = 21,
	DAT_BUFFER_TEXT = 22,
	DAT_BTF_FILE = 23,
	DAT_LAST_BOOT_INFO = 24,
	DAT_MODULES_FILE = 25,
};

/* The last one that is known. */
#define DAT_OPTION_LAST DAT_MODULES_FILE

#endif
