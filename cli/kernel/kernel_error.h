/* SPDX-License-Identifier: MIT */
/* The reason why the kernel refused a setting, in the kernel's words, which it writes into its error_log. */
#ifndef CLI_KERNEL_ERROR_H
#define CLI_KERNEL_ERROR_H

#include "cli/base/message.h"
#include "cli/kernel/kernel_instance.h"

/*
 * Report on one line that the instance refused `text` for `what` ("filter of 'sched:sched_switch'"): with the kernel's
 * message and the column, if there is one, otherwise with the text of the -errno `err`, which is returned.
 */
int kernel_error_say(const struct message_sink *sink, const struct instance *instance, const char *what,
		     const char *text, int err);

#endif
