/* SPDX-License-Identifier: MIT */
/*
 * The directory of one recording: its programs put their buffers there. It is private (0700, inside the user's buffer
 * directory), and a lock on it ends with the recorder, however that ends. The link "spool" in it leads to the
 * recording's spool, so that either finds the other after a kill.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/base/message.h"

struct session {
	int fd; /* holds the lock; -1: none */
	char path[PATH_MAX];
};

#define SESSION_INIT { -1, "" }
#define SESSION_PREFIX "session-"
#define SESSION_SPOOL_LINK "spool"

/*
 * The user's buffer directory, made with `create` where it is missing. False: one line was printed in the name of
 * `command`, unless the directory is merely not there and `create` is false: then *ret_missing is set.
 */
bool session_buffer_dir(const struct message_sink *sink, bool create, char *path, size_t size, bool *ret_missing);

/* Make one, locked. False: one line was printed. */
bool session_create(const struct message_sink *sink, struct session *ret_session);

/* Let the session's link lead to this spool. False: one line was printed. */
bool session_link_spool(const struct message_sink *sink, const struct session *session, const char *spool);

/*
 * Where the link leads, to be freed by the caller; NULL: nowhere, or the session is another user's, who could lead
 * root to where he must not go himself.
 */
char *session_spool(const struct session *session);

/* Lock an existing directory. 0; -EBUSY: its recorder lives; or open's errno. */
int session_lock(const char *path, struct session *ret_session);

/* The same of one that is open: the descriptor becomes the session's, or is closed. An error may be `fd` itself. */
int session_lock_fd(int fd, const char *path, struct session *ret_session);

/*
 * Whether a file name is that of what a program leaves that could not make its buffer: a link to the number of the
 * error.
 */
bool session_is_reason(const char *name);

/* Whether the last part of a path is that of a session. */
bool session_is_session(const char *path);

/* Let go of the lock; the directory stays. */
void session_close(struct session *session);

/*
 * Remove the directory and the buffers in it, and let go of the lock. Programs that still write keep their memory
 * until they end. What is no buffer, and so was put there by somebody else, stays, and the directory with it.
 */
void session_remove(struct session *session);

/*
 * Sessions that killed recorders left in the user's buffer directory: those without a buffer in them are removed.
 * Returns how many others there are; the path of one of them is written to `path`.
 */
unsigned int session_sweep(char *path, size_t size);

#endif
