/* SPDX-License-Identifier: MIT */
/* From one stack to another. Callee-saved registers are part of the stack that is left. */
#ifndef STACK_SWITCH_H
#define STACK_SWITCH_H

/* Words on a stack that was left, below the address where it continues. */
#define SAVED_REGISTERS 6

void model_switch(void **from, void *to);

#endif
