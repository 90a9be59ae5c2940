/* SPDX-License-Identifier: MIT */
/* Why the kernel did not take something, in its own words: it writes them into its error_log. */
#ifndef CLI_KERNEL_ERROR_H
#define CLI_KERNEL_ERROR_H

#include "cli/base/message.h"
#include "cli/kernel/kernel_instance.h"

/*
 * Say in one line that the instance did not take `text` for `what` ("filter of 'sched:sched_switch'"): with what
 * the kernel says of it and the column, if it does, else by the -errno `err`, which is returned.
 */
int kernel_error_say(const struct message_sink *sink, const struct instance *instance, const char *what,
		     const char *text, int err);

#endif
