/* SPDX-License-Identifier: MIT */
/* Events as text, one line each: by the descriptions in a program's log, or by the formats of the running kernel. */
#ifndef CLI_DECODE_H
#define CLI_DECODE_H

#include <librecorder/page.h>
#include <stddef.h>

struct decoder;

/* A decoder for the events that a log describes. 0; -ENOMEM; or the errno of fork (format/text/event_probe.h). */
int decoder_of_log(const void *log, size_t size, struct decoder **ret_decoder);

/* A decoder for all events of the running kernel. 0; -ENOENT: no tracefs, or its formats cannot be read. */
int decoder_of_kernel(struct decoder **ret_decoder);

/* Takes NULL too; returns NULL. */
struct decoder *decoder_close(struct decoder *decoder);

/*
 * "name: fields", or NULL: no description has the event's id. Valid until the next call. The record is `size` bytes at
 * `payload`, a copy that does not change meanwhile.
 */
const char *decoder_line(struct decoder *decoder, const void *payload, size_t size);

#endif
