/* SPDX-License-Identifier: MIT */
/* The options for the kernel's events. */
#ifndef CLI_KERNEL_OPTIONS_H
#define CLI_KERNEL_OPTIONS_H

#include <stdbool.h>

#include "cli/common/opts.h"
#include "cli/kernel/kernel_request.h"

/*
 * The options that select events; they share a list with those of programs, because an -f belongs to the -e or -u
 * before it.
 */
#define OPT_KERNEL_EVENT(list)                                                                                         \
	OPT_LIST('e', "event", "EVENT", "record the kernel's EVENT: system:event, system, event, with * and ?; all",   \
		 list)
#define OPT_TRIGGER(list) OPT_LIST('R', "trigger", "TRIGGER", "set TRIGGER on the events of the -e before it", list)
#define OPT_EXCLUDE(list) OPT_LIST('v', "exclude", NULL, "do not record the events of each -e after it", list)

/*
 * Take the kernel's options out of a list of these options. Each -B in the list begins the events of the next element
 * of `requests`, which is long enough. The rest, -u with its -f and --rate, is put into *ret_user, which the caller
 * frees with opt_list_free(). False: one line was printed.
 */
bool kernel_options_events(const char *command, const struct opt_list *given, struct kernel_request *const *requests,
			   struct opt_list *ret_user);

/*
 * Put the functions (-l, -n, -g) and the options (-O) into the request, until kernel_request_free(). False: one line
 * was printed.
 */
bool kernel_options_lists(const char *command, const struct opt_list *functions, const struct opt_list *options,
			  struct kernel_request *request);

#endif
