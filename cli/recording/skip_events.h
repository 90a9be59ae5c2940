/* SPDX-License-Identifier: MIT */
#ifndef CLI_SKIP_EVENTS_H
#define CLI_SKIP_EVENTS_H

#include <librecorder/reader.h>

/*
 * Skip the events in a program's lanes, which do not belong to a recording. 0; -EBUSY: another recorder reads a lane;
 * -ENOMEM; -EROFS.
 */
int skip_events(struct rec_view *view);

#endif
