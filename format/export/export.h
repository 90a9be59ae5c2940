/* SPDX-License-Identifier: MIT */
/*
 * Writers of other formats. Each gets every event of a file, in time order, and writes a stream; see the head of its
 * file for the format.
 */
#ifndef FORMAT_EXPORT_H
#define FORMAT_EXPORT_H

#include "format/export/export_out.h"
#include "format/export/export_trace.h"

enum export_form {
	EXPORT_FORM_TEXT,
	EXPORT_FORM_BINARY,
	EXPORT_FORM_DIRECTORY, /* a directory of files: out->fd is its descriptor */
};

struct export_writer {
	enum export_form form;
	/* 0; -ENOMEM. The trace and the output must outlive *ret_state, which close() frees; it takes NULL. */
	int (*open)(struct export_trace *trace, struct export_out *out, void **ret_state);
	/* 0; -ENOMEM; the output's error. */
	int (*event)(void *state, const struct dat_event *event);
	/* There are no more events. Errors as event(). */
	int (*end)(void *state);
	void (*close)(void *state);
};

extern const struct export_writer export_chrome, export_ctf, export_folded, export_perfetto;

#endif
