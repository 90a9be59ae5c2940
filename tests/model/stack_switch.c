/* SPDX-License-Identifier: MIT */
#include "stack_switch.h"

#if defined(__x86_64__)

__asm__(".text\n"
	".globl model_switch\n"
	"model_switch:\n"
	"	push %rbp\n	push %rbx\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov %rsp, (%rdi)\n"
	"	mov %rsi, %rsp\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbx\n	pop %rbp\n"
	"	ret\n");

#else
#error "tests/model switches stacks on x86-64 only; the code that it checks there is the portable one"
#endif
