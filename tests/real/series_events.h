/* SPDX-License-Identifier: MIT */
/* Events of a plugin: tests/real/sqlite3.sh puts them into the extension that gives generate_series(). */
#ifndef SERIES_EVENTS_H
#define SERIES_EVENTS_H

#include <librecorder/event.h>

REC_EVENT(series, filter, u64(cursor), s32(arguments));
REC_EVENT(series, next, u64(cursor));

#endif
