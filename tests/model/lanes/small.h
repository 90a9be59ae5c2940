/* SPDX-License-Identifier: MIT */
/* Included before each source that the checker of the lanes compiles: sub-buffers may be small. */
#ifndef SMALL_H
#define SMALL_H

#pragma push_macro("REC__DETAIL")
#undef REC__DETAIL
#define REC__DETAIL 1
#include <librecorder/detail/abi.h>
#pragma pop_macro("REC__DETAIL")

#undef REC_SUBBUF_MIN
#define REC_SUBBUF_MIN 128u

/* A thread that finds a shared lane held three times asks whether its holder is gone. */
#define SHARE_PATIENCE 3u

#endif
