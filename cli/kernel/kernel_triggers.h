/* SPDX-License-Identifier: MIT */
/* The triggers of an instance's events. */
#ifndef CLI_KERNEL_TRIGGERS_H
#define CLI_KERNEL_TRIGGERS_H

#include <stdbool.h>
#include <tracefs.h>

#include "cli/kernel/kernel_request.h"

/* Whether it is a histogram of times, for which the kernel sets the clock of the whole instance. */
bool kernel_trigger_sets_clock(const char *trigger);

/*
 * The text to set a trigger with, which the caller frees: a histogram of times that names no clock gets the one of the
 * recording, because the kernel's default is "global". NULL: no memory.
 */
char *kernel_trigger_text(const char *trigger, const char *clock);

/*
 * Clear the triggers of the events to which the request gives some; `request` NULL: of all events. Their order is one
 * that the kernel accepts: it refuses to clear a trigger while another one uses its variables, and to remove an
 * instance with variables. Triggers that cannot be cleared stay.
 */
void kernel_triggers_clear(struct tracefs_instance *instance, const struct kernel_request *request);

#endif
