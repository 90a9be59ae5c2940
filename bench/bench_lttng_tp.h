/* SPDX-License-Identifier: MIT */
/* The events of bench_events.c as LTTng-UST tracepoints. LTTng includes this file several times. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench_lttng_tp.h"

#if !defined(BENCH_LTTNG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_TP_H

#include <lttng/tracepoint.h>
#include <stdint.h>

LTTNG_UST_TRACEPOINT_EVENT(bench, u64, LTTNG_UST_TP_ARGS(uint64_t, n),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, n, n)))

LTTNG_UST_TRACEPOINT_EVENT(bench, off, LTTNG_UST_TP_ARGS(uint64_t, n),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, n, n)))

LTTNG_UST_TRACEPOINT_EVENT(
	bench, ints,
	LTTNG_UST_TP_ARGS(uint64_t, a, uint64_t, b, uint32_t, c, uint32_t, d, uint32_t, e, uint16_t, f, uint16_t, g),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, a, a) lttng_ust_field_integer(uint64_t, b, b)
				    lttng_ust_field_integer(uint32_t, c, c) lttng_ust_field_integer(uint32_t, d, d)
					    lttng_ust_field_integer(uint32_t, e, e)
						    lttng_ust_field_integer(uint16_t, f, f)
							    lttng_ust_field_integer(uint16_t, g, g)))

LTTNG_UST_TRACEPOINT_EVENT(bench, text, LTTNG_UST_TP_ARGS(const char *, s),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_string(s, s)))

#endif

#include <lttng/tracepoint-event.h>
