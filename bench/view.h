/* SPDX-License-Identifier: MIT */
#ifndef BENCH_VIEW_H
#define BENCH_VIEW_H

#include <librecorder/reader.h>
#include <sys/types.h>

/* The buffer of a process; NULL: it has none. */
struct rec_view *view_of(pid_t pid);

#endif
