/* SPDX-License-Identifier: MIT */
/*
 * What is asked of the kernel on the command line, in trace-cmd's words. The strings are those of argv.
 */
#ifndef CLI_KERNEL_REQUEST_H
#define CLI_KERNEL_REQUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/opts.h"

/* One -e with the -f and -R behind it. */
struct kernel_event {
	const char *pattern;   /* system:event, system, event; * and ? in both; all */
	char *filter;	       /* several -f joined by &&; NULL: none */
	const char **triggers; /* several -R */
	unsigned int nr_triggers;
	bool excluded; /* behind -v: not these */
};

struct kernel_request {
	struct kernel_event *events;
	unsigned int nr_events;
	const char *tracer;	   /* -p; NULL: none */
	struct opt_list functions; /* -l, -n, -g */
	struct opt_list options;   /* -O */
	pid_t *tids;		   /* -P: threads, of these alone */
	unsigned int nr_tids;
	bool only_command;   /* -F: as well of those that kernel_add_pid() adds */
	bool follow;	     /* -c: of their children, too */
	bool discard;	     /* --mode discard */
	const char *clock;   /* a word of trace_clock; NULL: the one of programs */
	uint64_t buffer_kb;  /* of each CPU; 0: the kernel's default */
	uint64_t subbuf_kb;  /* 0: a page */
	const char *cpumask; /* -M, hexadecimal; NULL: all */
	bool hide;	     /* --hide: not what the recorder itself does */
	bool quiet;
};

/*
 * The options that say which events; they share a list with those of programs, as an -f belongs to the -e or -u
 * before it.
 */
#define OPT_KERNEL_EVENT(list)                                                                                         \
	OPT_LIST('e', "event", "EVENT", "record the kernel's EVENT: system:event, system, event, with * and ?; all",   \
		 list)
#define OPT_TRIGGER(list) OPT_LIST('R', "trigger", "TRIGGER", "set TRIGGER on the events of the -e before it", list)
#define OPT_EXCLUDE(list) OPT_LIST('v', "exclude", NULL, "do not record the events of each -e after it", list)

/*
 * Take what is the kernel's out of a list of these options: the rest, -u with its -f and --rate, is put into
 * *ret_user, to be freed with opt_list_free(). False: one line was printed.
 */
bool kernel_request_events(const char *command, const struct opt_list *given, struct kernel_request *request,
			   struct opt_list *ret_user);

/* Whether the kernel is asked for anything. */
bool kernel_request_is_any(const struct kernel_request *request);
void kernel_request_free(struct kernel_request *request);

#endif
