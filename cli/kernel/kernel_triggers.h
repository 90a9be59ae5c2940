/* SPDX-License-Identifier: MIT */
/* Clears the triggers of an instance's events. */
#ifndef CLI_KERNEL_TRIGGERS_H
#define CLI_KERNEL_TRIGGERS_H

#include <tracefs.h>

#include "cli/kernel/kernel_request.h"

/*
 * Clear the triggers of the events to which the request gives some; `request` NULL: of all events. Their order is one
 * that the kernel accepts: it refuses to clear a trigger while another one uses its variables, and to remove an
 * instance with variables. Triggers that cannot be cleared stay.
 */
void kernel_triggers_clear(struct tracefs_instance *instance, const struct kernel_request *request);

#endif
