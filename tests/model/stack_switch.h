/* SPDX-License-Identifier: MIT */
/* Switches from one stack to another. Callee-saved registers are saved on the stack that is left. */
#ifndef STACK_SWITCH_H
#define STACK_SWITCH_H

/* Words on a stack that was left, below the address where it continues. */
#define SAVED_REGISTERS 6

void model_switch(void **from, void *to);

#endif
