/* SPDX-License-Identifier: MIT */
/*
 * The settings to request from the kernel, in trace-cmd's terms. The letters are options of its command line. The
 * request owns no strings except filters.
 */
#ifndef CLI_KERNEL_REQUEST_H
#define CLI_KERNEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One -e with the -f and -R after it. */
struct kernel_event {
	const char *pattern;   /* system:event, system, event; * and ? in both; all */
	char *filter;	       /* several -f joined by &&; NULL: none */
	const char **triggers; /* several -R */
	unsigned int nr_triggers;
	bool excluded; /* after -v: these events stay off */
};

/* Which functions a tracer traces. */
struct kernel_function {
	char kind; /* l: the functions that match; n: all others; g: the functions that those that match call */
	const char *pattern;
};

struct kernel_request {
	struct kernel_event *events;
	unsigned int nr_events;
	const char *tracer;	   /* -p; NULL: none */
	struct kernel_function *functions;
	unsigned int nr_functions;
	const char *module;    /* --module: only its functions; NULL: all */
	uint64_t graph_depth; /* --max-graph-depth; 0: no limit */
	bool stacktrace;      /* -T: record the stack with each event */
	bool ignore_missing;  /* -i: events that this kernel does not have */
	const char **options; /* -O */
	unsigned int nr_options;
	pid_t *tids;		   /* -P: only events of these threads */
	unsigned int nr_tids;
	bool only_command;   /* -F: also those that kernel_add_tids() adds */
	bool follow;	     /* -c: their children, too */
	bool discard;	     /* --mode discard */
	const char *clock;   /* a word of trace_clock; NULL: the one of programs */
	uint64_t buffer_kb;  /* of each CPU; 0: the kernel's default */
	uint64_t subbuf_kb;  /* 0: a page */
	bool wake_each;	     /* readers wake up for each event, not only when a ring is half full */
	const char *cpumask; /* -M, hexadecimal; NULL: all */
	bool quiet;
};

/* Whether anything is requested from the kernel. */
bool kernel_request_is_any(const struct kernel_request *request);
/* Whether an event has a trigger. */
bool kernel_request_has_triggers(const struct kernel_request *request);
/* Whether a trigger is a histogram of times, for which the kernel sets the clock of the whole instance. */
bool kernel_request_sets_clock(const struct kernel_request *request);
void kernel_request_free(struct kernel_request *request);

#endif
