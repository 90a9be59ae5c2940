/* SPDX-License-Identifier: MIT */
#include "cli/recording/family.h"
#include "librecorder/os/pid_namespace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cli/base/proc_stat.h"

/* The list is tidied when it has grown by this many members and by a quarter. */
#define FEW 256u

static bool has_same_pid(const struct process *one, const struct process *other)
{
	return one->pid == other->pid && (one->pid_ns == other->pid_ns || !one->pid_ns || !other->pid_ns);
}

/* Whether a process has our time namespace: in another one, programs know another start time than /proc shows here. */
static bool has_our_time(uint32_t pid)
{
	struct stat ours, other;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/time", pid);
	/* Kernels before 5.6 have one only. */
	if (stat("/proc/self/ns/time", &ours) < 0)
		return true;
	return !stat(path, &other) && other.st_dev == ours.st_dev && other.st_ino == ours.st_ino;
}

/* Whether the process has certainly ended. Pids of other namespaces cannot be checked. */
static bool is_gone(const struct process *process, uint64_t here)
{
	struct rec_proc_stat stat;
	int err;

	if (!here || process->pid_ns != here || !process->start_time)
		return false;
	err = proc_stat_of(process->pid, &stat);
	return err == -ENOENT || (!err && stat.start_time != process->start_time && has_our_time(process->pid));
}

void family_tidy(struct family *family)
{
	uint64_t here;
	unsigned int kept = 0;

	/* A check of each member costs a system call or two. */
	if (family->nr < family->tidy_at)
		return;
	here = rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE);
	for (unsigned int i = 0; i < family->nr; i++) {
		struct member *member = &family->list[i];
		const bool was_gone = member->is_gone;

		member->is_gone = is_gone(&member->process, here);
		if (!was_gone || !member->is_gone)
			family->list[kept++] = *member;
	}
	family->nr = kept;
	family->tidy_at = kept + kept / 4 + FEW;
}

int family_add(struct family *family, const struct process *process)
{
	const unsigned int room = family->room * 2 + FEW;
	struct member *list;

	if (family->nr == family->room) {
		list = realloc(family->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		family->list = list;
		family->room = room;
	}
	family->list[family->nr++] = (struct member){ .process = *process };
	return 0;
}

/*
 * Whether the pid of process `one` had certainly passed to another process before `self` started. Pids of other
 * namespaces cannot be checked.
 */
static bool has_lost_pid(const struct process *one, const struct process *self)
{
	struct rec_proc_stat stat;

	return one->start_time && one->pid_ns && one->pid_ns == rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE) &&
	       !proc_stat_of(one->pid, &stat) && stat.start_time != one->start_time &&
	       stat.start_time <= self->start_time && has_our_time(one->pid);
}

/*
 * Whether process `one` is the parent of `self`, according to the `parent` in the buffer of `self`. The buffer of a
 * forked child has its parent's start time, and the child may be in another pid namespace than its parent. The buffer
 * of a new image after exec lacks the start time; then the parent is the process with the same pid that started no
 * later than `self`, unless another process got that pid in between.
 */
static bool is_parent(const struct process *one, const struct process *self, const struct process *parent)
{
	if (parent->start_time)
		return one->pid == parent->pid && one->start_time == parent->start_time;
	return has_same_pid(one, parent) && one->start_time <= self->start_time && !has_lost_pid(one, self);
}

bool family_has(const struct family *family, const struct process *self, const struct process *parent)
{
	for (unsigned int i = 0; i < family->nr; i++) {
		const struct process *one = &family->list[i].process;

		if ((has_same_pid(one, self) && one->start_time == self->start_time) || is_parent(one, self, parent))
			return true;
	}
	return false;
}

static bool runs(const struct process *process)
{
	struct rec_proc_stat stat;

	return !proc_stat_of(process->pid, &stat) && stat.start_time == process->start_time &&
	       !rec_proc_stat_is_dead(&stat);
}

bool family_runs(const struct family *family)
{
	const uint64_t here = rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE);

	for (unsigned int i = family->nr; i-- && here;) {
		const struct process *one = &family->list[i].process;

		if (one->start_time && one->pid_ns == here && runs(one))
			return true;
	}
	return false;
}

void family_free(struct family *family)
{
	free(family->list);
	*family = (struct family){ 0 };
}
