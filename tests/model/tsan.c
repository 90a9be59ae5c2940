/* SPDX-License-Identifier: MIT */
/*
 * Replaces the thread sanitizer's library: the functions that the compiler calls before each access, and instead of
 * each atomic operation, of the sources that are compiled with -fsanitize=thread. Compilers call more of these
 * functions than are here; if the ring comes to need another one, the link fails.
 *
 * In an actor, an access to shared memory is a step: the actor stops before it until the explorer lets it continue.
 */
#include "steps.h"

#define CALLER __builtin_return_address(0)

/* The limit of accesses without a step; no correct action reaches it. */
#define QUIET_MAX 100000u

static unsigned int quiet_accesses;

/* Call it before a piece of work without steps. It counts accesses, so that an endless loop is noticed. */
void quiet_begin(void)
{
	quiet_accesses = 0;
}

bool steps_are_quiet(void)
{
	if (running >= 0 && !quiet)
		return false;
	if (++quiet_accesses > QUIET_MAX)
		fail("a loop does not end");
	return true;
}

/* Stop before the access. Returns the number of the common word there, or -1. */
static int step(const void *at, uint32_t size, enum access access, const void *caller, unsigned int *ret_candidate)
{
	if (!memory_is_shared(at))
		return -1;
	memory_check(at, size);
	if (steps_are_quiet())
		return -1;

	const enum place place = memory_place(at, access != ACCESS_READ && access != ACCESS_LOAD);
	struct pending next = { .caller = caller,
				.offset = memory_offset(at),
				.access = (uint8_t)access,
				.place = (uint8_t)place,
				.size = (uint8_t)size,
				.candidates = 1,
				.word = -1 };

	if (place == PLACE_COMMON || place == PLACE_OWN)
		next.word = (int16_t)memory_word(at);
	if (place != PLACE_BYTES && !unwatched)
		*ret_candidate = actor_step(&next);
	return next.word;
}

void steps_plain(const void *at, uint32_t size, bool write, const void *caller)
{
	unsigned int candidate = 0;

	step(at, size, write ? ACCESS_WRITE : ACCESS_READ, caller, &candidate);
	if (!memory_is_shared(at) || running < 0 || quiet)
		return;
	memory_race(at, size, write, false);
}

#define PLAIN(name, size, write)                                                                                       \
	void __tsan_##name(void *at);                                                                                  \
	void __tsan_##name(void *at)                                                                                   \
	{                                                                                                              \
		steps_plain(at, size, write, CALLER);								       \
	}

PLAIN(read1, 1, false)
PLAIN(read2, 2, false)
PLAIN(read4, 4, false)
PLAIN(read8, 8, false)
PLAIN(read16, 16, false)
PLAIN(write1, 1, true)
PLAIN(write2, 2, true)
PLAIN(write4, 4, true)
PLAIN(write8, 8, true)
PLAIN(write16, 16, true)
PLAIN(unaligned_read2, 2, false)
PLAIN(unaligned_read4, 4, false)
PLAIN(unaligned_read8, 8, false)
PLAIN(unaligned_read16, 16, false)
PLAIN(unaligned_write2, 2, true)
PLAIN(unaligned_write4, 4, true)
PLAIN(unaligned_write8, 8, true)
PLAIN(unaligned_write16, 16, true)

/*
 * An access to a whole structure. For other actors it is one access for each word; some release orders the stores.
 */
static void range(void *at, unsigned long size, bool write, const void *caller)
{
	if (size)
		steps_plain(at, (uint32_t)(size < 255 ? size : 255), write, caller);
}

void __tsan_read_range(void *at, unsigned long size);
void __tsan_read_range(void *at, unsigned long size)
{
	range(at, size, false, CALLER);
}

void __tsan_write_range(void *at, unsigned long size);
void __tsan_write_range(void *at, unsigned long size)
{
	range(at, size, true, CALLER);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* A fence for the compiler alone, which has no effect at run time. */
void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
	(void)order;
}

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	if (running >= 0 && !quiet)
		memory_fence(order);
}

/* Whether the word is a common one. If not, no other access may compete with this one, which is checked. */
static bool is_common(int word, const void *at, uint32_t size, bool write)
{
	if (word < 0 && running >= 0 && !quiet && memory_is_shared(at))
		memory_race(at, size, write, true);
	return word >= 0;
}

#define ATOMIC(bits)                                                                                                   \
	typedef uint##bits##_t u##bits;                                                                                \
	u##bits __tsan_atomic##bits##_load(const volatile u##bits *at, int order);                                     \
	u##bits __tsan_atomic##bits##_load(const volatile u##bits *at, int order)                                      \
	{                                                                                                              \
		unsigned int candidate = 0;                                                                            \
		const int word = step((const void *)at, bits / 8, ACCESS_LOAD, CALLER, &candidate);                    \
                                                                                                                       \
		if (is_common(word, (const void *)at, bits / 8, false))                                                \
			return (u##bits)memory_load(word, candidate, order);                                           \
		return *at;                                                                                            \
	}                                                                                                              \
	void __tsan_atomic##bits##_store(volatile u##bits *at, u##bits value, int order);                              \
	void __tsan_atomic##bits##_store(volatile u##bits *at, u##bits value, int order)                               \
	{                                                                                                              \
		unsigned int candidate = 0;                                                                            \
		const int word = step((const void *)at, bits / 8, ACCESS_STORE, CALLER, &candidate);                   \
                                                                                                                       \
		if (is_common(word, (const void *)at, bits / 8, true))                                                 \
			memory_store(word, value, order);                                                              \
		*at = value;                                                                                           \
	}                                                                                                              \
	static u##bits add##bits(volatile u##bits *at, u##bits value, int order, const void *caller)                   \
	{                                                                                                              \
		unsigned int candidate = 0;                                                                            \
		const int word = step((const void *)at, bits / 8, ACCESS_ADD, caller, &candidate);                     \
		const u##bits was = *at;                                                                               \
                                                                                                                       \
		if (is_common(word, (const void *)at, bits / 8, true))                                                 \
			memory_exchange(word, (u##bits)(was + value), order);                                          \
		*at = (u##bits)(was + value);                                                                          \
		return was;                                                                                            \
	}                                                                                                              \
	u##bits __tsan_atomic##bits##_fetch_add(volatile u##bits *at, u##bits value, int order);                       \
	u##bits __tsan_atomic##bits##_fetch_add(volatile u##bits *at, u##bits value, int order)                        \
	{                                                                                                              \
		return add##bits(at, value, order, CALLER);                                                            \
	}                                                                                                              \
	u##bits __tsan_atomic##bits##_fetch_sub(volatile u##bits *at, u##bits value, int order);                       \
	u##bits __tsan_atomic##bits##_fetch_sub(volatile u##bits *at, u##bits value, int order)                        \
	{                                                                                                              \
		return add##bits(at, (u##bits)(0 - value), order, CALLER);                                             \
	}                                                                                                              \
	static u##bits exchange##bits(volatile u##bits *at, u##bits expected, u##bits value, int order, int failed,    \
				      const void *caller)                                                              \
	{                                                                                                              \
		unsigned int candidate = 0;                                                                            \
		const int word = step((const void *)at, bits / 8, ACCESS_EXCHANGE, caller, &candidate);                \
		const u##bits was = *at;                                                                               \
		const bool common = is_common(word, (const void *)at, bits / 8, was == expected);                      \
                                                                                                                       \
		if (was == expected) {                                                                                 \
			if (common)                                                                                    \
				memory_exchange(word, value, order);                                                   \
			*at = value;                                                                                   \
			memory_exchanged((const void *)at, (uint64_t)was, (uint64_t)value);                            \
		} else if (common) {                                                                                   \
			memory_load(word, memory_candidates(word) - 1, failed);                                        \
		}                                                                                                      \
		return was;                                                                                            \
	}                                                                                                              \
	bool __tsan_atomic##bits##_compare_exchange_strong(volatile u##bits *at, u##bits *expected, u##bits value,     \
							   int order, int failed);                                     \
	bool __tsan_atomic##bits##_compare_exchange_strong(volatile u##bits *at, u##bits *expected, u##bits value,     \
							   int order, int failed)                                      \
	{                                                                                                              \
		const u##bits was = exchange##bits(at, *expected, value, order, failed, CALLER);                       \
		const bool done = was == *expected;                                                                    \
                                                                                                                       \
		*expected = was;                                                                                       \
		return done;                                                                                           \
	}                                                                                                              \
	u##bits __tsan_atomic##bits##_compare_exchange_val(volatile u##bits *at, u##bits expected, u##bits value,      \
							   int order, int failed);                                     \
	u##bits __tsan_atomic##bits##_compare_exchange_val(volatile u##bits *at, u##bits expected, u##bits value,      \
							   int order, int failed)                                      \
	{                                                                                                              \
		return exchange##bits(at, expected, value, order, failed, CALLER);                                     \
	}

ATOMIC(32)
ATOMIC(64)

/* No shared word has this size. */
uint8_t __tsan_atomic8_load(const volatile uint8_t *at, int order);
uint8_t __tsan_atomic8_load(const volatile uint8_t *at, int order)
{
	(void)order;
	return *at;
}
