/* SPDX-License-Identifier: MIT */
/*
 * Leftovers: files of programs and recorders that are gone, in buffer directories. The search changes nothing, except
 * that it locks the sessions found, so that no other process takes them. Files that may be in use are never included: a
 * buffer whose program may be running, or a file in a session whose recorder may be running.
 */
#ifndef CLI_LEFTOVERS_H
#define CLI_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/base/message.h"
#include "cli/recording/session.h"

/* A buffer of a program that is gone. */
struct leftover {
	char name[256];
	uint32_t pid; /* 0: not known */
	uint64_t start_time;
	char comm[32];
	char program[256]; /* the name of its file, without directories */
	uint64_t size; /* bytes of memory or disk that its removal frees */
	bool is_empty; /* it holds no event */
	uint64_t last; /* time of its last event, or of the file's last change: seconds, CLOCK_REALTIME */
};

/* A directory with such buffers, oldest first. */
struct left_place {
	struct session dir; /* locked, if it is a session */
	bool is_session;    /* the directory is a session, whose recorder is gone; false for a single buffer in it */
	char *spool;	    /* path of the session's spool, if it still exists */
	uint64_t made;
	struct leftover *items;
	unsigned int nr;
	unsigned int living;  /* buffers of running programs in the same directory */
	unsigned int unknown; /* buffers that could not be opened, so their programs are unknown */
};

/* Each buffer directory, followed by the sessions in it. */
struct leftovers {
	struct left_place *places;
	unsigned int nr;
	unsigned int busy; /* sessions whose recorders are running */
};

/*
 * Fill `left` with what is in the directories of dirs.h. False: one line was printed. The caller frees it in any case.
 */
bool leftovers_find_all(const struct message_sink *sink, const char *dir, struct leftovers *left);

/*
 * Add what is in one session, or one buffer, to `left`, which begins as { 0 }; the caller frees it in any case. 0,
 * -ENOMEM, or the reason why it cannot be read; -EBUSY: the session's recorder is running, or the buffer's program may
 * be.
 */
int leftovers_find_session(const char *path, struct leftovers *left);
int leftovers_find_buffer(const char *path, struct leftovers *left);

/*
 * The pid of the running process to which the buffer `name` in this directory belongs. 0: the process is gone, or it
 * cannot be seen from here, or the buffer cannot be read.
 */
uint32_t leftovers_living(int dir, const char *name);

/* Remove the buffers without an event, from the list and from the disk, except those in sessions. */
void leftovers_sweep(struct leftovers *left);

/*
 * Remove such buffers from all directories of dirs.h, and fill `left` with the other leftovers. No line is printed; if
 * the directories cannot be read, `left` is empty. The caller frees it in any case.
 */
void leftovers_find_swept(const char *dir, struct leftovers *left);

/* The same for commands that have no interest in the other leftovers. */
void leftovers_sweep_all(const char *dir);

/* Releases the sessions, too. */
void leftovers_free(struct leftovers *left);

#endif
