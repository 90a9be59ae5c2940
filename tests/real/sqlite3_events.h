/* SPDX-License-Identifier: MIT */
/* Events that tests/real/sqlite3.sh puts into sqlite3. */
#ifndef SQLITE3_EVENTS_H
#define SQLITE3_EVENTS_H

#include <librecorder/event.h>

REC_EVENT(sqlite, prepare, stringn(sql));
REC_EVENT(sqlite, finalize, u64(statement));
REC_EVENT(sqlite, read, s32(size), s64(offset));
REC_EVENT(sqlite, write, s32(size), s64(offset));

#endif
