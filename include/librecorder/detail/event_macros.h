/* SPDX-License-Identifier: MIT */
/*
 * What the macros of event.h expand to; applications do not use it directly.
 *
 * An event is, in every file that sees its declaration:
 *	rec_blob_S__N		its description, constants and text only, in the section "rec_events", where `recorder
 *				list` finds it without running the program; registering copies it to the buffer's log
 *	rec_event_S__N		its descriptor, a weak hidden symbol: one for each program and shared library
 *	rec_register_S__N	a constructor that registers it. It also keeps descriptor and description when the
 *				linker collects garbage: init arrays are roots for all linkers, section names are not
 *				for some.
 *	rec_on_S__N, rec_write_S__N	what REC_ON and REC call
 *	rec_rare_S__N		called by rec_write_S__N if the event has a condition, if the thread has no lane yet, or
 *				if the reservation is not the plain case: so the plain case calls nothing and saves no
 *				registers
 */
#ifndef REC__DETAIL
#error "for the public headers alone: include <librecorder/event.h>, or <librecorder/ffi.h> for other languages"
#endif
#ifndef LIBRECORDER_EVENT_MACROS_H
#define LIBRECORDER_EVENT_MACROS_H

#include <librecorder/detail/abi.h>
#include <librecorder/detail/event_each.h>
#include <librecorder/detail/event_format.h>
#include <librecorder/detail/event_kinds.h>
#include <librecorder/detail/event_rows.h>
#include <librecorder/detail/ring.h>
#include <librecorder/detail/word.h>
#include <librecorder/lane.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define REC__C_BEGIN extern "C" {
#define REC__C_END   }
#define REC__MIXED_BEGIN
#define REC__MIXED_END
#define REC__CAST(type, value) static_cast<type>(value)
typedef bool rec_flag_type;
/* The functions are written in C, with casts that C++ compilers may warn about. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
extern "C" {
#else
#define REC__C_BEGIN
#define REC__C_END
/* For functions in which declarations follow statements. A program may forbid that for its own code. */
#define REC__MIXED_BEGIN                                                                                               \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wdeclaration-after-statement\"")
#define REC__MIXED_END _Pragma("GCC diagnostic pop")
#define REC__CAST(type, value) ((type)(value))
typedef _Bool rec_flag_type;
#endif

/*
 * optional.h: the library may be missing at run time. Then nothing is registered, so every event is off and only these
 * few symbols are looked at.
 */
#ifdef REC_EVENTS_WEAK
#pragma weak rec_clock_mono
#pragma weak rec_commit_moved
#pragma weak rec_event_finish
#pragma weak rec_event_offer
#pragma weak rec_event_register_as
#pragma weak rec_event_too_long
#pragma weak rec_event_unregister
#pragma weak rec_lane_lease
#pragma weak rec_printf_enabled
#pragma weak rec_printf_write
#pragma weak rec_publish_slow
#pragma weak rec_reserve_rest
#pragma weak rec_task_event
#pragma weak rec_task_write
#pragma weak rec_thread_handle
#define REC__IS_THERE(symbol) ((symbol) != NULL)
#else
#define REC__IS_THERE(symbol) 1
#endif

#define REC_EVENT_COMMON_SIZE 8u
#define REC_EVENT_OFFER_MAX   1024u  /* the condition of a longer event is tested only after the reservation */
#define REC_EVENT_SIZE_MAX    65535u /* offsets and lengths of dynamic fields are 16 bits wide */

/*
 * The number of the agreement between compiled programs and the library, which docs/COMPATIBILITY.md describes. Headers
 * with another agreement have another number, and the library leaves an event off if it does not know the event's
 * number. 0: headers before 1.0, the same agreement as 1.
 */
#define REC_EVENT_ABI 1u

/*
 * An event of this program or shared library. Its members are private to the library, except for those that the inline
 * functions below read. The members up to `abi` have the same places in every agreement.
 */
struct rec_event {
	uint32_t *enabled; /* the enable word in the buffer; &off until registered */
	uint32_t id;
	uint32_t off; /* always 0 */
	const struct rec_log_event *description;
	uint32_t registered;
	uint32_t abi; /* REC_EVENT_ABI of the headers with which it was compiled */
	struct rec_event *next;
};

#if __SIZEOF_POINTER__ == 8
REC_ABI_ASSERT(offsetof(struct rec_event, enabled) == 0 && offsetof(struct rec_event, id) == 8 &&
		       offsetof(struct rec_event, off) == 12 && offsetof(struct rec_event, description) == 16 &&
		       offsetof(struct rec_event, registered) == 24 && offsetof(struct rec_event, abi) == 28 &&
		       sizeof(struct rec_event) == 40,
	       "docs/COMPATIBILITY.md: event");
#endif

/* A rec_printf in the source. */
struct rec_printf_site {
	uint64_t number; /* the format number in its records, unique among the processes of this machine */
	uint32_t buffer; /* the buffer whose log knows it; 0: none */
	/* layout of its arguments (printf_format.h); 0 until that buffer's log has the site, or if it has no layout */
	uint32_t layout;
};

REC_ABI_ASSERT(sizeof(struct rec_printf_site) == 16, "docs/COMPATIBILITY.md: call site");

#pragma GCC visibility push(default)

/*
 * Register an event: give it its id and enable word. If an event with the same description is known, from another
 * object or from an earlier registration of this one, the event gets the same id. If registration is impossible, the
 * event stays off and header->lost_log_full counts it. The event also stays off if its abi is unknown; REC_DEBUG=1
 * reports that. Calling this function again for the same event does nothing. Not signal-safe; any thread.
 */
void rec_event_register(struct rec_event *event);

/*
 * The same, for one of the files that declare the event: the linker keeps one descriptor for all of them, and
 * `description` is this file's. If it differs from the descriptor's, the records of one file would be read as the other
 * one describes them: so the event stays off, header->lost_log_full counts it, and REC_DEBUG=1 reports it.
 * Constructors call this function. Not signal-safe; any thread.
 */
void rec_event_register_as(struct rec_event *event, const struct rec_log_event *description);

/* Forget the descriptor, because its object is about to be unloaded. Not signal-safe; any thread. */
void rec_event_unregister(struct rec_event *event);

/* Count an event that is longer than the maximum. Any thread; signal-safe. */
void rec_event_too_long(struct rec_handle *handle);

/*
 * Write an event whose enable word `word` names a condition, if it passes that condition: `size` bytes at `record`,
 * including common fields. An event that does not pass is neither stamped nor reserved. 1: written; 0: it did not
 * pass; -EBUSY: refused and counted. Signal-safe.
 */
int rec_event_offer(uint32_t word, struct rec_handle *handle, const void *record, size_t size);

/*
 * Commit an event whose `size` bytes are complete at `record`, which rec_reserve() returned, or discard it if it does
 * not pass the condition that `word` names; 0: no condition. 1: written; 0: it did not pass; -EBUSY: this is not the
 * process that reserved it. Signal-safe.
 */
int rec_event_finish(uint32_t word, const struct rec_slot *slot, void *record, size_t size);

/*
 * rec_printf() calls this function; applications do not. Any thread; signal-safe for the arguments that the comment of
 * rec_printf() names. The first use of a call site by a process writes to the log.
 */
void rec_printf_write(struct rec_printf_site *site, const char *function, int line, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The enable word of rec_printf's event. */
extern uint32_t *rec_printf_enabled;

/* 1: the event is on; 0: it is off. Any thread; signal-safe, as are all inline functions below. */
REC_INLINE int rec_event_on(struct rec_event *event)
{
	return (rec_load_relaxed(rec_load_relaxed(&event->enabled)) & REC_ENABLE_ON) != 0;
}

/*
 * The id of an event that is on. A caller that found the event on has read the pointer to its word; the id was stored
 * before that pointer (edge E1). On x86 loads stay in order by themselves.
 */
REC_INLINE uint32_t rec_event_id(struct rec_event *event)
{
#if defined(__x86_64__) && !defined(REC_GENERIC_ATOMICS)
	rec_signal_fence();
#else
	(void)rec_load_acquire(&event->enabled);
#endif
	return event->id;
}

/*
 * The condition that the event's enable word names; 0: none. Acquire: the condition was complete before the word named
 * it (edge F1); on x86 every load is an acquire.
 */
REC_INLINE uint32_t rec_event_condition(uint32_t *enabled)
{
	const uint32_t word = rec_load_acquire(enabled);

	return word < 1u << REC_ENABLE_CONDITION_SHIFT ? 0 : word;
}

/* As rec_event_on(), for rec_printf's event. */
REC_INLINE int rec_printf_on(void)
{
	if (!REC__IS_THERE(&rec_printf_enabled))
		return 0;
	return (rec_load_relaxed(rec_load_relaxed(&rec_printf_enabled)) & REC_ENABLE_ON) != 0;
}

/*
 * The calling thread's handle: of its own lane, or one whose reservations each take a shared lane. NULL: as
 * rec_lane_lease(). Any thread; signal-safe.
 */
REC_INLINE struct rec_handle *rec_handle_get(void)
{
	struct rec_handle *handle = rec_thread_handle;

	return REC_LIKELY(handle->lane != NULL) ? handle : rec_lane_lease();
}

/*
 * Write the common fields of an event with this id, in one store, at the address that rec_reserve() returned. Returns
 * the address of the event's own fields.
 */
REC_INLINE unsigned char *rec_put_common(unsigned char *at, const struct rec_handle *handle, uint32_t id)
{
	const uint64_t common = handle->common | id;

	__builtin_memcpy(at, &common, sizeof(common));
	return at + sizeof(common);
}

#pragma GCC visibility pop

static inline unsigned char *rec_put(unsigned char *at, const void *from, size_t size)
{
	__builtin_memcpy(at, from, size);
	return at + size;
}

/*
 * Like rec_put(), for strings: moves, which may overlap, instead of a call. A function that calls another one after the
 * reservation has to save all registers that it needs afterwards.
 */
static inline unsigned char *rec_put_text(unsigned char *at, const char *from, size_t size)
{
	unsigned char *const end = at + size;
	const char *const from_end = from + size;

	if (size >= 16) {
		__builtin_memcpy(at, from, 16);
		for (at += 16, from += 16; end - at > 16; at += 16, from += 16)
			__builtin_memcpy(at, from, 16);
		__builtin_memcpy(end - 16, from_end - 16, 16);
	} else if (size >= 8) {
		__builtin_memcpy(at, from, 8);
		__builtin_memcpy(end - 8, from_end - 8, 8);
	} else if (size >= 4) {
		__builtin_memcpy(at, from, 4);
		__builtin_memcpy(end - 4, from_end - 4, 4);
	} else if (size) {
		at[0] = REC__CAST(unsigned char, from[0]);
		at[size / 2] = REC__CAST(unsigned char, from[size / 2]);
		end[-1] = REC__CAST(unsigned char, from_end[-1]);
	}
	return end;
}

/* A __data_loc word: the place of a dynamic field in the record, and its length. */
static inline unsigned char *rec_put_location(unsigned char *at, size_t offset, size_t size)
{
	const uint32_t word = (uint32_t)offset | (uint32_t)size << 16;

	return rec_put(at, &word, sizeof(word));
}

/* The length of a dynamic field, limited to a value that is too long anyway, so that sums do not overflow. */
static inline size_t rec_dynamic_size(const void *from, size_t size)
{
	return !from ? 0 : size > REC_EVENT_SIZE_MAX ? REC_EVENT_SIZE_MAX : size;
}

static inline uintptr_t rec_address(const volatile void *pointer)
{
	return (uintptr_t)pointer;
}

static inline double rec_scale(unsigned int decimals)
{
	double scale = 1;

	for (unsigned int i = 0; i < decimals; i++)
		scale *= 10;
	return scale;
}

/* See REC_EVENT, real. The limit is the largest double below 2^63. */
static inline int64_t rec_fixed_point(double value, unsigned int decimals)
{
	const double limit = 9223372036854774784.0;
	int64_t whole;
	double rest;

	value *= rec_scale(decimals);
	if (__builtin_isnan(value))
		return INT64_MIN;
	if (value > limit)
		return INT64_MAX;
	if (value < -limit)
		return -INT64_MAX;
	/* The difference is exact; a sum with 0.5 would be rounded itself. */
	whole = (int64_t)value;
	rest = value - (double)whole;
	return whole + (rest >= 0.5) - (rest <= -0.5);
}

#ifdef __cplusplus
}
#pragma GCC diagnostic pop
#endif

/* ------------------------------------------------------------------------------------------------------ an event */

/* Fields are passed on with a prefix, as event_each.h explains. */
#define REC__EVENT(each, string, ...) REC__EVENT_(each, each, string, REC__FIRST(__VA_ARGS__, ~), _##__VA_ARGS__)

/*
 * `each` visits the fields of the event, `all` those in the text of its declaration. They differ only for the end of
 * a span, whose description has the constants of all fields.
 */
#define REC__EVENT_(all, each, string, base, ...) REC__EVENT__(all, each, string, base, _##__VA_ARGS__)

/* The type of a constant, the name of the function that writes, and a wrapper for it. event.hpp redefines all three. */
#define REC__CONSTANT	 int64_t
#define REC__WRITE(base) rec_write_##base
#define REC__WRAP(each, base, ...)

/* `recorder list` prints descriptions in the order of the section. gcc -O2 would reverse the order of the source. */
#if defined(__GNUC__) && !defined(__clang__)
#define REC__NO_REORDER __attribute__((no_reorder))
#else
#define REC__NO_REORDER
#endif

/*
 * After the library's own constructor, which has 101, and before those of C++ objects, which may write events.
 */
#define REC__CONSTRUCTOR 102

/*
 * The last parameter of rec_write_S__N takes the 0 that REC adds, so that an event without fields needs no special
 * case. Returns 1 if the event was written; only REC_SCOPE uses the result, and elsewhere the compiler drops it.
 */
#define REC__EVENT__(all, each, string, base, ...)                                                                     \
	each(REC__CHECK, _##__VA_ARGS__)                                                                               \
	REC_ABI_ASSERT(0 each(REC__ONE, _##__VA_ARGS__) <= 32,                                                         \
		       "an event has at most 32 fields, with those of its key() and the duration of REC_TIMED");       \
	static const struct {                                                                                          \
		struct rec_log_event event;                                                                            \
		REC__CONSTANT numbers[1 all(REC__COUNT, _##__VA_ARGS__)];					       \
		char text[sizeof(string)];                                                                             \
	} rec_blob_##base REC__NO_REORDER __attribute__((section("rec_events"), aligned(8))) = {                       \
		{ { sizeof(rec_blob_##base), REC_LOG_EVENT, 0 }, 1 all(REC__COUNT, _##__VA_ARGS__), sizeof(string) },  \
		{ REC_EVENT_COMMON_SIZE each(REC__SIZE, _##__VA_ARGS__) all(REC__NUMBERS, _##__VA_ARGS__) },	       \
		string                                                                                                 \
	};                                                                                                             \
	REC__C_BEGIN                                                                                                   \
	extern struct rec_event rec_event_##base __attribute__((weak, visibility("hidden")));                          \
	struct rec_event rec_event_##base = {                                                                          \
		&rec_event_##base.off, 0, 0, &rec_blob_##base.event, 0, REC_EVENT_ABI, NULL			       \
	};                                                                                                             \
	REC__C_END                                                                                                     \
	static void __attribute__((constructor(REC__CONSTRUCTOR))) rec_register_##base(void)                           \
	{                                                                                                              \
		if (REC__IS_THERE(rec_event_register_as))                                                              \
			rec_event_register_as(&rec_event_##base, &rec_blob_##base.event);                              \
	}                                                                                                              \
	static void __attribute__((destructor)) rec_unregister_##base(void)                                            \
	{                                                                                                              \
		if (REC__IS_THERE(rec_event_unregister))                                                               \
			rec_event_unregister(&rec_event_##base);                                                       \
	}                                                                                                              \
	static inline int __attribute__((unused)) rec_on_##base(void)                                                  \
	{                                                                                                              \
		return rec_event_on(&rec_event_##base);                                                                \
	}                                                                                                              \
	REC__MIXED_BEGIN                                                                                               \
	static __attribute__((noinline, cold, unused)) int rec_rare_##base(                                            \
		each(REC__PARAM, _##__VA_ARGS__) int rec_end)                                                          \
	{													       \
		const size_t rec_fixed = REC_EVENT_COMMON_SIZE each(REC__SIZE, _##__VA_ARGS__);			       \
		struct rec_handle *const rec_handle_ = rec_handle_get();					       \
		size_t rec_size = rec_fixed, rec_next = rec_fixed;						       \
		unsigned char rec_offer[REC_EVENT_OFFER_MAX] __attribute__((aligned(8)));			       \
		unsigned char *rec_record, *rec_at;								       \
		struct rec_slot rec_slot_;									       \
		uint32_t rec_word;										       \
														       \
		(void)rec_end;											       \
		if (REC_UNLIKELY(!rec_handle_))									       \
			return 0;										       \
		each(REC__MEASURE, _##__VA_ARGS__)								       \
		if (REC_UNLIKELY(rec_size > REC_EVENT_SIZE_MAX)) {						       \
			rec_event_too_long(rec_handle_);							       \
			return 0;										       \
		}												       \
		rec_word = rec_event_condition(rec_load_relaxed(&rec_event_##base.enabled));			       \
		rec_record = rec_offer;										       \
		if (!rec_word || rec_size > sizeof(rec_offer))							       \
			rec_record = REC__CAST(unsigned char *,							       \
				rec_reserve_rest(rec_handle_, REC__CAST(uint32_t, rec_size), __builtin_dwarf_cfa(),    \
						 &rec_slot_));							       \
		if (REC_UNLIKELY(!rec_record))									       \
			return 0;										       \
		rec_at = rec_put_common(rec_record, rec_handle_, rec_event_id(&rec_event_##base));		       \
		each(REC__PUT, _##__VA_ARGS__)									       \
		(void)rec_at;											       \
		(void)rec_next;											       \
		if (rec_record == rec_offer)									       \
			return rec_event_offer(rec_word, rec_handle_, rec_offer, rec_size) > 0;			       \
		return rec_event_finish(rec_word, &rec_slot_, rec_record, rec_size) > 0;			       \
	}													       \
	static __attribute__((noinline, unused)) int REC__WRITE(base)(each(REC__PARAM, _##__VA_ARGS__) int rec_end)   \
	{													       \
		const size_t rec_fixed = REC_EVENT_COMMON_SIZE each(REC__SIZE, _##__VA_ARGS__);			       \
		size_t rec_size = rec_fixed, rec_next = rec_fixed;						       \
		unsigned char *rec_record, *rec_at;								       \
		struct rec_handle *rec_handle_;									       \
		struct rec_slot rec_slot_;									       \
														       \
		REC_ABI_ASSERT(REC_EVENT_COMMON_SIZE each(REC__SIZE, _##__VA_ARGS__) <= REC_EVENT_SIZE_MAX,	       \
			       "the fields are too long for an event");						       \
		each(REC__MEASURE, _##__VA_ARGS__)								       \
		rec_handle_ = rec_thread_handle;								       \
		if (REC_UNLIKELY(rec_event_condition(rec_load_relaxed(&rec_event_##base.enabled)) ||		       \
				 !rec_handle_->lane || rec_size > REC_EVENT_SIZE_MAX)) \
			return rec_rare_##base(each(REC__ARG, _##__VA_ARGS__) rec_end);	       \
		rec_record = REC__CAST(unsigned char *,								       \
			rec_reserve_fast(rec_handle_, REC__CAST(uint32_t, rec_size), !REC_HAS_TSC, &rec_slot_));       \
		if (REC_UNLIKELY(!rec_record)) \
			return rec_rare_##base(each(REC__ARG, _##__VA_ARGS__) rec_end);	       \
		rec_at = rec_put_common(rec_record, rec_handle_, rec_event_id(&rec_event_##base));		       \
		each(REC__PUT, _##__VA_ARGS__)									       \
		(void)rec_at;											       \
		(void)rec_next;											       \
		rec_commit_fast(&rec_slot_);									       \
		return 1;											       \
	}													       \
	REC__MIXED_END                                                                                                 \
	REC__WRAP(each, base, _##__VA_ARGS__)									       \
	struct rec_semicolon_follows

#endif
