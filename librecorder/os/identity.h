/* SPDX-License-Identifier: MIT */
/* Who a process is, so that others can ask whether it is still there, from another pid namespace as well. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>
#include <sys/types.h>

struct rec_identity {
	uint32_t pid;	     /* in its own pid namespace, */
	uint64_t pid_ns;     /* which has this inode; 0: not known */
	uint64_t start_time; /* as rec_process_start_time() */
	bool locked;	     /* its buffer's REC_LOCK_PROGRAM is held as long as it maps the buffer */
};

/*
 * When a process started, in clock ticks since boot: field 22 of /proc/PID/stat. 0 or -errno; -ESRCH: it is over,
 * though its parent has not asked for it yet.
 */
int rec_process_start_time(pid_t pid, uint64_t *ret_start_time);

/* This process, without a buffer. What cannot be known (there may be no /proc) is 0. Signal-safe. */
void rec_identity_self(struct rec_identity *ret_self);

/* The same, and what /proc/self/exe leads to; a text of less than `size` bytes, empty if it cannot be known. */
void rec_identity_and_exe(struct rec_identity *ret_self, char *ret_exe, size_t size);

/* Whose buffer this is. */
void rec_identity_read(const struct rec_buffer_header *header, struct rec_identity *ret_who);

/*
 * Whether a process may still write to its buffer, an open descriptor of which is `fd`. False only if it is surely
 * gone: what cannot be told from here counts as alive.
 */
bool rec_identity_is_alive(const struct rec_identity *who, int fd);

/*
 * A descriptor (pidfd) of a process of this pid namespace that is alive: while poll() finds nothing to read there, the
 * process lives. -1: there can be none, or it is gone.
 */
int rec_identity_watch(const struct rec_identity *who);

/*
 * Whether a process of another pid namespace stands in /proc, all of which is read: one whose buffer nobody has
 * mapped may be in the middle of exec, and will have another one.
 */
bool rec_identity_is_seen(const struct rec_identity *who);

/*
 * The process's pid in our own pid namespace; 0: it cannot be seen from here. Reads /proc, whole where it is in
 * another one.
 */
pid_t rec_identity_pid_here(const struct rec_identity *who);

/*
 * Locks on single bytes of a buffer file (REC_LOCK_ of abi.h), which the kernel gives back when the last descriptor
 * or mapping of whoever took them is gone. Take one: 0; -EBUSY: another has it, another descriptor of this process
 * included; -errno. Signal-safe.
 */
int rec_lock_take(int fd, unsigned int byte);
void rec_lock_give(int fd, unsigned int byte);

/* Whether another has it: 1, 0, or -errno. */
int rec_lock_ask(int fd, unsigned int byte);

#endif
