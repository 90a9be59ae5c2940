/* SPDX-License-Identifier: MIT */
/* Clears the triggers of an instance's events. */
#ifndef CLI_KERNEL_TRIGGERS_H
#define CLI_KERNEL_TRIGGERS_H

#include <tracefs.h>

/*
 * Clear them all, in an order that the kernel accepts: it refuses to clear a trigger while another one uses its
 * variables. It does not remove an instance with such triggers. Triggers that cannot be cleared stay.
 */
void kernel_triggers_clear(struct tracefs_instance *instance);

#endif
