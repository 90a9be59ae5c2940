/* SPDX-License-Identifier: MIT */
#include "librecorder/os/signal_block.h"

#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

void rec_signal_block_begin(struct rec_signal_block *ret_block)
{
	/* These include the signals that libc reserves, which neither sigfillset() nor sigprocmask() would block. */
	const uint64_t all = UINT64_MAX;

	ret_block->signals = 0;
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &ret_block->signals, sizeof(all));
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &ret_block->cancel);
}

void rec_signal_block_end(const struct rec_signal_block *block)
{
	int ours;

	pthread_setcancelstate(block->cancel, &ours);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &block->signals, NULL, sizeof(block->signals));
}
