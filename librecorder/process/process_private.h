/* SPDX-License-Identifier: MIT */
/* Shared by the making of the buffer (process.c) and its file (process_file.c). Other code sees process.h only. */
#ifndef PROCESS_PRIVATE_H
#define PROCESS_PRIVATE_H

#include "librecorder/process/geometry.h"
#include "librecorder/process/process.h"

#include <limits.h>

struct rec_process {
	struct rec_buffer_header *header; /* NULL: no buffer; then `error` is the reason */
	size_t size;			  /* of the mapping */
	struct rec_loan *loan;		  /* has no memory until a recorder attaches */
	uint32_t *original;		  /* 1; 0 in a copy of this process */
	bool keep;			  /* leave the file when the program exits normally */
	bool locked;			  /* REC_LOCK_PROGRAM shows whether this process has the file mapped */
	pid_t pid;
	uint64_t pid_ns;
	uint64_t start_time;
	pid_t parent_pid; /* when this process began */
	uint64_t parent_start;
	int error; /* why there is no buffer: -errno */
	char path[PATH_MAX];
	/* Where the recorder of a command moves the file if this process outlives the recording; "": nowhere. */
	char moved_path[PATH_MAX];
	size_t dir_size; /* of the directory's path in it, if RECORDER_DIR named it; else 0 */
	bool dir_is_users; /* RECORDER_DIR was read, and named no directory */
};

extern struct rec_process rec_process;

/*
 * Make and map the file with this layout; path, size and header are set then. If `keep` is set and the session is gone,
 * the file is in the directory above, and `keep` is cleared. 0 or -errno; then nothing is left.
 */
int rec_process_map_file(const struct rec_geometry *geometry);

/*
 * This process has no buffer. In a session the recorder must report that, because this process cannot. So this function
 * makes a symbolic link with the name that the buffer would have and the error number as its target; such a link needs
 * no room except for its name. If there is no session, or if the link cannot be made, the function notes the error
 * number in the buffer of the process that forked this one; `parent` is that buffer, or NULL. See also debug.h.
 * Signal-safe.
 */
void rec_process_say_why(struct rec_buffer_header *parent);

/* Remove the link that rec_process_say_why() made, because the process tries to make a buffer again. */
void rec_process_take_back_why(void);

#endif
