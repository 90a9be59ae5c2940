/* SPDX-License-Identifier: MIT */
/* The running programs that use librecorder and that the user may see, found by their buffers. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include <librecorder/reader.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/base/message.h"

/* Which programs. */
struct programs {
	const char *dir;  /* look here (dirs.h); NULL: wherever such programs may be */
	const char *word; /* pids separated by commas, or a name (the kernel's or the binary's); NULL: all */
	bool or_file;	  /* the word may have been meant for a file, which is not there: for the message */
};

/*
 * Look at each of these programs: `look` is given its view, its pid as programs_pid() has it, and which one it is, from 1. It
 * returns 0 or -errno, which ends it (-ECANCELED: it has said why by itself). Returns how many there were; or -1, and what was
 * wrong was said in one line: there is none, or it cannot be looked at. Pids that were asked for and are not there, beside
 * others that are, are named.
 */
int programs_look(const struct message_sink *sink, const struct programs *programs,
		  int (*look)(struct rec_view *view, const char *pid, unsigned int nr, void *data), void *data);

/*
 * The same without a view: `take` is given the directory and the name of each one's buffer. Where all are meant, none
 * is no failure.
 */
int programs_files(const struct message_sink *sink, const struct programs *programs,
		   int (*take)(int dir, const char *name, void *data), void *data);

/* Why a program's events could not be switched: the -errno of rec_view_switch() and its like in words. */
const char *programs_switch_reason(int err);

#define PROGRAMS_PID_SIZE 32u

/*
 * A program's pid; if it is in another pid namespace with the one that it has there in brackets, "4711(7)", and "(7)"
 * where the other cannot be known. Returns `text`.
 */
const char *programs_pid(const struct rec_view *view, char text[PROGRAMS_PID_SIZE]);

/* A copy of a program's whole log, to be freed by the caller; NULL: no memory. */
unsigned char *programs_log(const struct rec_view *view, size_t *ret_size);

#endif
