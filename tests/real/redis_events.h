/* SPDX-License-Identifier: MIT */
/* Events that tests/real/redis.sh puts into redis. */
#ifndef REDIS_EVENTS_H
#define REDIS_EVENTS_H

#include <librecorder/event.h>

REC_EVENT(redis, read, u64(client));
REC_EVENT(redis, command, u64(client), s32(words), string(name));
REC_EVENT(redis, reply, u64(client), s32(handler));
REC_EVENT(redis, io_thread, s64(number));

#endif
