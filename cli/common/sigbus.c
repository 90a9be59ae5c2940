/* SPDX-License-Identifier: MIT */
#include "cli/common/sigbus.h"

#include <librecorder/reader.h>
#include <signal.h>
#include <stddef.h>

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	(void)context;
	/* If the code is not positive, a process sent the signal. */
	if (info->si_code > 0 && rec_view_fault(info->si_addr))
		return;
	/*
	 * The access is repeated, and its signal now ends this process. A signal that was sent has no access to repeat.
	 */
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig);
}

void sigbus_handle(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
