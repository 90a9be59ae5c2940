/* SPDX-License-Identifier: MIT */
/* x86-64's trap flag: while it is set, SIGTRAP comes after each instruction of the thread. For step tests. */
#ifndef REC_TEST_TRAP_FLAG_H
#define REC_TEST_TRAP_FLAG_H

#if defined(__x86_64__)

#include <signal.h>
#include <ucontext.h>

/* The flag's bit in the register of flags. */
#define TRAP_FLAG 0x100

/*
 * For functions that call others: a pushed value would overwrite data that a leaf function keeps below the stack
 * pointer.
 */
static inline void trap_flag_set(void)
{
	__asm__ volatile("pushfq\n\torq %0, (%%rsp)\n\tpopfq" : : "i"(TRAP_FLAG) : "memory", "cc");
}

static inline void trap_flag_clear(void)
{
	__asm__ volatile("pushfq\n\tandq %0, (%%rsp)\n\tpopfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

/* For a handler of SIGTRAP: clear or set the flag of the interrupted code. */
static inline void trap_flag_clear_in(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static inline void trap_flag_set_in(void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

#endif
#endif
