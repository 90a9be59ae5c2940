/* SPDX-License-Identifier: MIT */
/*
 * How inline functions load and store words that other threads, processes or signal handlers read or write at the same
 * time. They are __atomic built-ins, which C and C++ share and ThreadSanitizer understands, with one exception: if only
 * the writer stack of a lane competes (a thread and the signal handlers that interrupt it), one plain x86 instruction
 * is atomic enough, and a lock prefix would double the cost of an event. If REC_GENERIC_ATOMICS is defined, the
 * portable form is used there, too.
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>"
#endif
#ifndef LIBRECORDER_WORD_H
#define LIBRECORDER_WORD_H

#include <stdbool.h>
#include <stdint.h>

#define REC_LIKELY(x)	__builtin_expect(!!(x), 1)
#define REC_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define rec_load_relaxed(p)	__atomic_load_n((p), __ATOMIC_RELAXED)
/* The thread sanitizer reports a plain load of a word that is stored atomically as a race. */
#if defined(__SANITIZE_THREAD__)
#define REC_UNDER_TSAN 1
#elif defined(__has_feature)
#define REC_UNDER_TSAN __has_feature(thread_sanitizer)
#else
#define REC_UNDER_TSAN 0
#endif

/*
 * rec_load_relaxed() for a word that is read only once and independently of others. An x86 instruction may then use it
 * directly as its memory operand; a C11 load would cost an instruction of its own.
 */
#if defined(__x86_64__) && !defined(REC_GENERIC_ATOMICS) && !REC_UNDER_TSAN
#define rec_load_operand(p) (*(p))
#else
#define rec_load_operand(p) rec_load_relaxed(p)
#endif
#define rec_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define rec_store_relaxed(p, v) __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define rec_store_release(p, v) __atomic_store_n((p), (v), __ATOMIC_RELEASE)

/*
 * Keeps the compiler from moving memory accesses across it. Against a signal handler on the same thread this is
 * sufficient, because a CPU sees its own accesses in order.
 */
#define rec_signal_fence() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/*
 * Compare and exchange, for words that only the writer stack of one lane changes. It orders nothing for other CPUs:
 * what they may see is published by the release store of the commit position.
 */
static inline bool rec_local_cmpxchg64(uint64_t *word, uint64_t expected, uint64_t desired)
{
#if defined(__x86_64__) && !defined(REC_GENERIC_ATOMICS)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*word), "+a"(expected)
			 : "r"(desired)
			 : "memory");
	return done;
#else
	bool done = __atomic_compare_exchange_n(word, &expected, desired, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);

	rec_signal_fence();
	return done;
#endif
}

#endif
