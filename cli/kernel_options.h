/* SPDX-License-Identifier: MIT */
/* The options that say what is asked of the kernel. */
#ifndef CLI_KERNEL_OPTIONS_H
#define CLI_KERNEL_OPTIONS_H

#include <stdbool.h>

#include "cli/kernel/kernel_request.h"
#include "cli/opts.h"

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
bool kernel_options_events(const char *command, const struct opt_list *given, struct kernel_request *request,
			   struct opt_list *ret_user);

/*
 * The functions (-l, -n, -g) and the options (-O) of the request, until kernel_request_free(). False: one line was
 * printed.
 */
bool kernel_options_lists(const char *command, const struct opt_list *functions, const struct opt_list *options,
			  struct kernel_request *request);

#endif
