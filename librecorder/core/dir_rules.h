/* SPDX-License-Identifier: MIT */
/* Where programs put their buffers if RECORDER_DIR is not set, and which directories are safe to use. */
#ifndef DIR_RULES_H
#define DIR_RULES_H

#include <stdbool.h>
#include <sys/stat.h>

/* REC_SHM_DIR/REC_SHM_PREFIX + uid; or REC_RUN_NAME in XDG_RUNTIME_DIR, which is REC_RUN_DIR/uid. */
#define REC_SHM_DIR    "/dev/shm"
#define REC_SHM_PREFIX "librecorder-"
#define REC_RUN_DIR    "/run/user"
#define REC_RUN_NAME   "librecorder"

/* The name of a session, the directory of one recording in a buffer directory, begins with this. */
#define REC_SESSION_PREFIX "session-"

/* Any owner. */
#define REC_ANY_UID ((uid_t)-1)

/* A user who may write there could replace a file by another one. */
static inline bool rec_dir_is_owners_alone(const struct stat *st, uid_t owner)
{
	return (owner == REC_ANY_UID || st->st_uid == owner) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

#endif
