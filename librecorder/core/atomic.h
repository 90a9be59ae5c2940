/* SPDX-License-Identifier: MIT */
/* The atomic operations that only the library uses. Those of the inline functions are in librecorder/detail/word.h. */
#ifndef LIBRECORDER_CORE_ATOMIC_H
#define LIBRECORDER_CORE_ATOMIC_H

#include <librecorder/detail/word.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Release: stores after it become visible after those before it. Acquire: loads after it see what those before it saw.
 * Full: both, and all other orders.
 */
#define rec_fence_release() __atomic_thread_fence(__ATOMIC_RELEASE)
#define rec_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define rec_fence_full()    __atomic_thread_fence(__ATOMIC_SEQ_CST)

/* Compare and exchange among all processes; on failure *expected is the value found. */
static inline bool rec_cmpxchg64(uint64_t *word, uint64_t *expected, uint64_t desired)
{
	return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline bool rec_cmpxchg32(uint32_t *word, uint32_t *expected, uint32_t desired)
{
	return __atomic_compare_exchange_n(word, expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

/*
 * A counter that only the writer stack of one lane changes and others read: one instruction, so no handler can split
 * it.
 */
static inline void rec_local_add64(uint64_t *word, uint64_t n)
{
#if defined(__x86_64__) && !defined(REC_GENERIC_ATOMICS)
	__asm__ volatile("addq %1, %0" : "+m"(*word) : "er"(n) : "memory");
#else
	__atomic_fetch_add(word, n, __ATOMIC_RELAXED);
#endif
}

#endif
