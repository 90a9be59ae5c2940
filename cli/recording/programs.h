/* SPDX-License-Identifier: MIT */
/* The running programs that use librecorder and that the user may see, found by their buffers. */
#ifndef CLI_PROGRAMS_H
#define CLI_PROGRAMS_H

#include <librecorder/reader.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/base/message.h"

/* The selected programs. */
struct programs {
	const char *dir;  /* search here (dirs.h); NULL: in all directories */
	const char *word; /* pids separated by commas, or a name (the kernel's or the binary's); NULL: all */
	bool *ret_lacks;  /* set to true if no program is found, which is not reported then; NULL: it is reported */
	bool or_file;	  /* the user may have meant `word` as a file that does not exist; for the message */
};

/*
 * Call `look` for each of these programs, with its view, its pid from programs_pid(), and its number, from 1. It
 * returns 0 or -errno, which ends the loop (-ECANCELED: it has printed the reason itself). Returns the number of
 * programs; or -1, and one line was printed: there is no such program, or it cannot be examined. If some of the pids
 * do not exist, they are reported.
 */
int programs_look(const struct message_sink *sink, const struct programs *programs,
		  int (*look)(struct rec_view *view, const char *pid, unsigned int nr, void *data), void *data);

/*
 * The same without a view: `take` gets the directory and the name of each buffer. If all programs are selected,
 * finding none is not a failure.
 */
int programs_files(const struct message_sink *sink, const struct programs *programs,
		   int (*take)(int dir, const char *name, void *data), void *data);

/*
 * The reason why a program's events could not be switched, in words: from the -errno of rec_view_switch() and similar
 * calls.
 */
const char *programs_switch_reason(int err);

#define PROGRAMS_PID_SIZE 32u

/*
 * A program's pid. If it is in another pid namespace, the pid in that namespace follows in parentheses: "4711(7)", or
 * "(7)" if the other one is unknown. Returns `text`.
 */
const char *programs_pid(const struct rec_view *view, char text[PROGRAMS_PID_SIZE]);

/*
 * Whether a program's thread ids differ from those in the kernel's events, because it is in another pid namespace than
 * the first one.
 */
bool programs_has_other_pids(const struct rec_view *view);

/* A copy of a program's whole log, which the caller frees; NULL: no memory. */
unsigned char *programs_log(const struct rec_view *view, size_t *ret_size);

#endif
