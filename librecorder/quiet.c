/* SPDX-License-Identifier: MIT */
#include "quiet.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the kernel takes as the size of a signal set. */
#define SIGSET_SIZE (_NSIG / 8)

void rec_quiet_begin(struct rec_quiet *ret_quiet)
{
	sigset_t all;

	/* Those too that libc keeps for itself, which neither sigfillset() nor sigprocmask() would block. */
	memset(&all, 0xff, sizeof(all));
	memset(&ret_quiet->signals, 0, sizeof(ret_quiet->signals));
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &ret_quiet->signals, SIGSET_SIZE);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ret_quiet->cancel);
}

void rec_quiet_end(const struct rec_quiet *quiet)
{
	int ours;

	pthread_setcancelstate(quiet->cancel, &ours);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &quiet->signals, NULL, SIGSET_SIZE);
}
