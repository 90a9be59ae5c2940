/* SPDX-License-Identifier: MIT */
#include "cli/base/priority.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest slice that the kernel permits, in ns. */
#define SLICE_NS 100000u

/* The layout of the first sched_setattr(). glibc before 2.41 has neither the struct nor the call. */
struct attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/* 0: the default slice. Errors are ignored: older kernels have no slices. */
static void set_slice(uint64_t ns)
{
	struct attributes attributes = { .size = sizeof(attributes) };

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof(attributes), 0) < 0 || attributes.policy != SCHED_OTHER)
		return;
	attributes.size = sizeof(attributes);
	attributes.runtime = ns;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* What the calling thread had before priority_raise(). */
static __thread struct {
	bool is_raised;
	int policy;
	struct sched_param param;
} before;

int priority_raise(unsigned int priority)
{
	const struct sched_param param = { .sched_priority = (int)priority };
	int err;

	before.policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	sched_getparam(0, &before.param);
	if (before.param.sched_priority >= param.sched_priority)
		return 0;
	before.is_raised = !sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
	if (before.is_raised)
		return 0;
	err = -errno;
	set_slice(SLICE_NS);
	return err;
}

void priority_drop(void)
{
	/* The kernel lets only root reset SCHED_RESET_ON_FORK, and refuses the whole call otherwise. */
	if (before.is_raised)
		sched_setscheduler(0, before.policy | SCHED_RESET_ON_FORK, &before.param);
	before.is_raised = false;
	set_slice(0);
}
