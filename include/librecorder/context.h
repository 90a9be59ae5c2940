/* SPDX-License-Identifier: MIT */
/*
 * Context: values to which all events of a thread belong, such as the id of the request for which it works.
 *
 *	rec_context_set("trace_id", request->id);
 *	rec_context_set("tenant", request->tenant);
 *	...
 *	rec_context_set("trace_id", NULL);
 *
 * A value is written when it changes, and again when the thread's lane enters another sub-buffer. So other events
 * neither carry it nor cost more, and a ring that has overwritten its oldest events still has the values for the events
 * that it holds. <librecorder/event.h> includes this header.
 */
#ifndef LIBRECORDER_CONTEXT_H
#define LIBRECORDER_CONTEXT_H

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

#define REC_CONTEXT_KEYS_MAX  8	  /* keys of a thread */
#define REC_CONTEXT_KEY_MAX   31  /* bytes, without the NUL */
#define REC_CONTEXT_VALUE_MAX 127 /* bytes, without the NUL */

/*
 * The calling thread's later events belong to `value`, until it sets another value for `key` or ends. Both strings are
 * copied. NULL and "" mean that the key has no value. A key is a word of letters, digits and '_', which does not begin
 * with a digit. If the key already has this value, nothing is written.
 *
 * The event is recorder:context, which is known to tools after a process has used it once. If it is off, the value is
 * kept, and is written when the event is on and the lane enters another sub-buffer. A forked child begins with the
 * values of the thread that called fork(). A thread that shares lanes (lane.h) writes its values to a shared lane again
 * when the lane has entered an eighth of its sub-buffers since the thread last wrote them there.
 *
 * Returns 0; -EINVAL: the key is NULL, not such a word, or longer than REC_CONTEXT_KEY_MAX; -E2BIG: the value is longer
 * than REC_CONTEXT_VALUE_MAX; -ENOSPC: REC_CONTEXT_KEYS_MAX other keys have values; -ENOMEM: no memory for the thread's
 * values or for the event; -ENXIO: no buffer, or it cannot have one more event; -EBUSY: too many signal handlers that
 * set values interrupted each other, or left this function by a jump, or it is the first use in a process and has a
 * reason that rec_enable() names. Any thread; errno is preserved; signal-safe, except for the first use in a process,
 * and the next one if that returned -ENOMEM or -EBUSY. The first use in a process allocates memory, so it must not come
 * from an allocator. The first use in a thread maps memory by a system call.
 */
int rec_context_set(const char *key, const char *value);

/* optional.h: without the library, nothing is set. */
#ifdef REC_EVENTS_WEAK
#pragma weak rec_context_set
#define rec_context_set(key, value) (rec_context_set ? rec_context_set(key, value) : 0)
#endif

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
