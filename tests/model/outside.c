/* SPDX-License-Identifier: MIT */
/* Replacements for what the ring calls: memory for an iterator, the alternate stack, system calls, the clock. */
#include "model.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define CALLER __builtin_return_address(0)

/*
 * The sources are compiled so that they call these functions instead of the C library's. reader_iter.c allocates its
 * iterator with the first one, and the copy of a sub-buffer with the second.
 */
void *model_iter_calloc(size_t count, size_t size);
void *model_iter_calloc(size_t count, size_t size)
{
	if (count * size > sizeof(m.iter))
		fail("the iterator wants %zu bytes", count * size);
	memset(m.iter, 0, sizeof(m.iter));
	return m.iter;
}

void *model_iter_malloc(size_t size);
void *model_iter_malloc(size_t size)
{
	(void)size;
	return m.copy;
}

/* Copies memory that others may change meanwhile: each eight bytes are a step. */
void *model_iter_memcpy(void *to, const void *from, size_t size);
void *model_iter_memcpy(void *to, const void *from, size_t size)
{
	size_t at, part;

	for (at = 0; at < size; at += part) {
		part = size - at < 8 ? size - at : 8;
		steps_plain((const unsigned char *)from + at, (uint32_t)part, false, CALLER);
		memcpy((unsigned char *)to + at, (const unsigned char *)from + at, part);
	}
	return to;
}

void model_free(void *memory);
void model_free(void *memory)
{
	(void)memory;
}

/* There is no alternate stack; or it is the writer's; or it is another one. */
int model_sigaltstack(const stack_t *stack, stack_t *old);
int model_sigaltstack(const stack_t *stack, stack_t *old)
{
	(void)stack;
	*old = (stack_t){ .ss_flags = SS_DISABLE, .ss_size = STACK_SIZE };
	if (with(ALTERNATE | ELSEWHERE)) {
		old->ss_flags = with(ALTERNATE) ? SS_ONSTACK : 0;
		old->ss_sp = actor_stack_base(with(ALTERNATE) ? WRITER : READER);
	}
	return 0;
}

long model_syscall(long number, ...);
long model_syscall(long number, ...)
{
	(void)number;
	return 0;
}

/* The writer's clock. The explorer chooses how far it has moved since it was read last. */
uint64_t rec_clock_mono(void)
{
	const struct pending next = { .caller = CALLER,
				      .access = ACCESS_CLOCK,
				      .place = PLACE_OWN,
				      .size = 8,
				      .word = -1,
				      .candidates = (uint8_t)strlen(config->ticks) };
	unsigned int candidate = 0;
	struct actor *actor = &m.actors[running < 0 ? WRITER : running];

	if (!steps_are_quiet() && (next.candidates > 1 || with(MOVES)))
		candidate = actor_step(&next);
	switch (config->ticks[candidate]) {
	case '1':
		m.clock++;
		break;
	case 'b':
		m.clock += REC_DELTA_MAX + 5u;
		break;
	case '-':
		m.clock--;
		m.oracle.back = true;
		break;
	default:
		break;
	}
	if (actor->depth) {
		actor->levels[actor->depth - 1].time = m.clock;
		actor->levels[actor->depth - 1].cpu = m.shared.cpu;
	}
	return m.clock;
}
