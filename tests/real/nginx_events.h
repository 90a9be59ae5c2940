/* SPDX-License-Identifier: MIT */
/* Events that tests/real/nginx.sh puts into nginx. */
#ifndef NGINX_EVENTS_H
#define NGINX_EVENTS_H

#include <librecorder/event.h>

REC_EVENT(nginx, accept, s32(fd));
REC_EVENT(nginx, recv, s32(fd), u64(size));
REC_EVENT(nginx, request, s32(fd), stringn(uri));
REC_EVENT(nginx, finalize, s32(fd), s64(status));
REC_EVENT(nginx, log, s32(fd), u64(sent));
REC_EVENT(nginx, worker, s64(number));

#endif
