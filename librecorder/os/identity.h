/* SPDX-License-Identifier: MIT */
/* The identity of a process, so that others can find out whether it still exists, also from another pid namespace. */
#ifndef IDENTITY_H
#define IDENTITY_H

#include <librecorder/detail/abi.h>
#include <stdbool.h>
#include <sys/types.h>

struct rec_identity {
	uint32_t pid;	     /* in its own pid namespace */
	uint64_t pid_ns;     /* the inode of that namespace; 0: not known */
	uint64_t start_time; /* as rec_process_start_time() */
	bool locked;	     /* it holds REC_LOCK_PROGRAM of its buffer as long as it maps the buffer */
};

/*
 * The time at which a process started, in clock ticks since boot: field 22 of /proc/PID/stat. 0 or -errno; -ESRCH: it
 * has ended, though its parent has not waited for it yet.
 */
int rec_process_start_time(pid_t pid, uint64_t *ret_start_time);

/* Store what identifies this process; no buffer is needed. Unavailable values (no /proc) are 0. Signal-safe. */
void rec_identity_self(struct rec_identity *ret_self);

/*
 * As rec_identity_self(); also stores the target of /proc/self/exe: a text of less than `size` bytes, empty if
 * unavailable.
 */
void rec_identity_and_exe(struct rec_identity *ret_self, char *ret_exe, size_t size);

/* The process that owns this buffer. */
void rec_identity_read(const struct rec_buffer_header *header, struct rec_identity *ret_who);

/*
 * Whether a process may still write to its buffer; `fd` is an open descriptor of the buffer. False only if the process
 * is certainly gone: if that cannot be determined from here, it counts as alive.
 */
bool rec_identity_is_alive(const struct rec_identity *who, int fd);

/* The same; but false also if that cannot be determined from here. */
bool rec_identity_is_certain(const struct rec_identity *who, int fd);

/*
 * A descriptor (pidfd) of a process of this pid namespace that is alive: as long as poll() reports nothing to read,
 * the process lives. -1: there is no such descriptor, or the process is gone.
 */
int rec_identity_watch(const struct rec_identity *who);

/*
 * Whether a process of another pid namespace is in /proc, which is read completely. If no process maps the buffer of
 * such a process, the process may be in the middle of exec, and will make another buffer.
 */
bool rec_identity_is_seen(const struct rec_identity *who);

/*
 * The process's pid in our own pid namespace; 0: it cannot be seen from here. Reads /proc, completely if the process
 * is in another namespace.
 */
pid_t rec_identity_pid_here(const struct rec_identity *who);

/*
 * Locks on single bytes of a buffer file (REC_LOCK_ of abi.h). The kernel releases them when the holder's last
 * descriptor or mapping is gone. Take a lock: 0; -EBUSY: another holder has it, possibly another descriptor of this
 * process; -errno. Signal-safe.
 */
int rec_lock_take(int fd, unsigned int byte);
void rec_lock_give(int fd, unsigned int byte);

/* Whether another holder has this lock: 1, 0, or -errno. */
int rec_lock_ask(int fd, unsigned int byte);

#endif
