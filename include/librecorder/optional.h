/* SPDX-License-Identifier: MIT */
/*
 * Events in a shared library that must also build and run without librecorder. Copy this one file into the library's
 * sources and include it in place of <librecorder/event.h>:
 *
 *	#include "optional.h"
 *
 *	REC_EVENT(io, submit, u64(id), s32(fd), string(path));
 *	...
 *		REC(io, submit, req->id, req->fd, req->path);
 *
 *	built			run			what happens
 *	without librecorder	anywhere		the macros do nothing; arguments are not evaluated, and not
 *						reported as unused
 *	with its headers	without librecorder.so	events are off: two loads, a test and a branch
 *	with its headers	with librecorder.so	as with <librecorder/event.h>
 *
 * Do not link the library with librecorder: it is used through weak symbols, which stay 0 if librecorder is not loaded.
 * It is loaded if the program is linked with it, or by LD_PRELOAD=librecorder.so.0. In a program, the linker decides
 * about weak symbols when it makes the program, so events in the program's own files stay off unless it is linked with
 * librecorder; such a program must be position-independent (-fPIE, the default of most compilers).
 *
 * REC_HAVE_EVENTS is defined as 1 if the headers were found, and as 0 otherwise. Define REC_NO_EVENTS before the
 * #include to build without events even if the headers are found. The functions of <librecorder/lane.h> are not
 * optional: call them under `#if REC_HAVE_EVENTS`, in a program that is linked with librecorder.
 */
#ifndef LIBRECORDER_OPTIONAL_H
#define LIBRECORDER_OPTIONAL_H

#define REC_HAVE_EVENTS 0
#if !defined(REC_NO_EVENTS) && defined(__has_include)
#if __has_include(<librecorder/event.h>)
#undef REC_HAVE_EVENTS
#define REC_HAVE_EVENTS 1
#endif
#endif

#if REC_HAVE_EVENTS

#define REC_EVENTS_WEAK 1
#include <librecorder/event.h>

#else

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Never called or defined: it is used only inside sizeof, so that compilers do not report variables that only events
 * use.
 */
int rec_optional_unused(const char *first, ...);

#ifdef __cplusplus
}
#endif

#define REC_EVENT(system, ...)	   struct rec_semicolon_follows
#define REC_EVENT_FMT(system, ...) struct rec_semicolon_follows
#define REC_SPAN(system, ...)	   struct rec_semicolon_follows
#define REC_SPAN_KEYED(system, ...) struct rec_semicolon_follows
#define REC_TIMED(system, ...)	   struct rec_semicolon_follows
#define REC_COUNTER(system, ...)   struct rec_semicolon_follows
#define REC_STATE(system, ...)	   struct rec_semicolon_follows
#define REC_BEGIN(system, ...)	   REC__OPTIONAL(__VA_ARGS__, 0)
#define REC_END(system, ...)	   REC__OPTIONAL(__VA_ARGS__, 0)
#define REC_SCOPE(system, ...)	   REC__OPTIONAL(__VA_ARGS__, 0)
#define REC_TIMED_START(system, name) 0
#define REC_TIMED_END(system, ...) REC__OPTIONAL(__VA_ARGS__, 0)
#define REC_TASK(...)		   ((void)sizeof(rec_optional_unused("", __VA_ARGS__)))
#define REC(system, ...)	   REC__OPTIONAL(__VA_ARGS__, 0)
#define REC_ON(system, name)	   0
#define rec_context_set(key, value) REC__OPTIONAL_SET(key, value)
#define rec_printf(...)		   ((void)sizeof(rec_optional_unused(__VA_ARGS__)))

/* A function, not a plain value: in a statement, compilers would report a plain value as unused. */
static inline __attribute__((unused)) int rec_optional_set(size_t unused)
{
	(void)unused;
	return 0;
}

#define REC__OPTIONAL_SET(key, value) rec_optional_set(sizeof(rec_optional_unused("", key, value)))

/* The first argument is the event's name, which is not a value: it is left out. */
#define REC__OPTIONAL(name, ...) ((void)sizeof(rec_optional_unused("", __VA_ARGS__)))

#endif
#endif
