/* SPDX-License-Identifier: MIT */
/*
 * The directory of one recording, in which its programs put their buffers. It is private (0700, inside the user's
 * buffer directory). The recorder holds a lock on it until it ends, in whatever way. The link "spool" in it points to
 * the recording's spool, so that each leads to the other after a kill.
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/base/message.h"
#include "librecorder/core/dir_rules.h"

struct session {
	int fd; /* holds the lock; -1: none */
	char path[PATH_MAX];
};

#define SESSION_INIT { -1, "" }
#define SESSION_PREFIX REC_SESSION_PREFIX
#define SESSION_SPOOL_LINK "spool"

/*
 * The user's buffer directory; with `create` it is made if it is missing. False: one line was printed; or the directory
 * is missing and `create` is false: then *ret_missing is set instead.
 */
bool session_buffer_dir(const struct message_sink *sink, bool create, char *path, size_t size, bool *ret_missing);

/* Make a session, locked. False: one line was printed. */
bool session_create(const struct message_sink *sink, struct session *ret_session);

/* Point the session's link to this spool. False: one line was printed. */
bool session_link_spool(const struct message_sink *sink, const struct session *session, const char *spool);

/*
 * The target of the link, which the caller frees. NULL: there is no link; or the spool is gone, or another session's
 * spool now has its name. In another user's session the link may lead to any file: there the target must be a spool
 * that belongs to that user or to us, otherwise NULL; and the caller only names it, and does not open it.
 */
char *session_spool(const struct session *session);

/* Whether the session belongs to another user. */
bool session_is_others(const struct session *session);

/* Lock an existing directory. 0; -EBUSY: its recorder is still running; or the errno of open. */
int session_lock(const char *path, struct session *ret_session);

/* The same for an open directory: the session takes over the descriptor, or closes it. `fd` may itself be an error. */
int session_lock_fd(int fd, const char *path, struct session *ret_session);

/*
 * As session_lock(), for a session that the user has named: waits up to a second for a command that sweeps or lists
 * what is left, which locks the sessions of killed recorders meanwhile.
 */
int session_lock_named(const char *path, struct session *ret_session);

/*
 * Whether a file name is that of a link from a program that could not make its buffer; its target is the number of the
 * error.
 */
bool session_is_reason(const char *name);

/* Whether the last part of a path is the name of a session. */
bool session_is_session(const char *path);

/* Release the lock; the directory stays. */
void session_close(struct session *session);

/*
 * Remove the directory and the buffers in it, and release the lock. Other files, which another program put there, stay,
 * and then so does the directory. False: a program that is running, or is just starting, has a buffer there, which
 * stays, or this cannot be determined now; then the session stays open (see survivors.h).
 */
bool session_remove(struct session *session);

/*
 * Sessions that killed recorders left in the user's buffer directory: those without a buffer and without a spool are
 * removed. Returns the number of the others; the path of one of them is written to `path`.
 */
unsigned int session_sweep(char *path, size_t size);

#endif
