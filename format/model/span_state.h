/* SPDX-License-Identifier: MIT */
/* What a consumer shows of the flags of a span, if it shows one thing. Also for C++. */
#ifndef FORMAT_MODEL_SPAN_STATE_H
#define FORMAT_MODEL_SPAN_STATE_H

enum model_span_state {
	MODEL_SPAN_WHOLE,
	MODEL_SPAN_NO_BEGIN, /* its begin is the time from which it is known */
	MODEL_SPAN_CUT,	     /* it ended with an outer span, or events were lost inside it */
	MODEL_SPAN_OPEN,     /* its end was not seen: it was open where the trace or its thread ended */
};

#endif
