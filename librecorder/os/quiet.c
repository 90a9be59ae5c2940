/* SPDX-License-Identifier: MIT */
#include "librecorder/os/quiet.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void rec_quiet_begin(struct rec_quiet *ret_quiet)
{
	/* Including those that libc reserves, which neither sigfillset() nor sigprocmask() would block. */
	const uint64_t all = UINT64_MAX;

	ret_quiet->signals = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &ret_quiet->signals, sizeof(all));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ret_quiet->cancel);
}

void rec_quiet_end(const struct rec_quiet *quiet)
{
	int ours;

	pthread_setcancelstate(quiet->cancel, &ours);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &quiet->signals, NULL, sizeof(quiet->signals));
}
