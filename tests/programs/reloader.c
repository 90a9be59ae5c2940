/* SPDX-License-Identifier: MIT */
/*
 * reloader WORKERS EVENTS FILE
 *
 * A server of several processes, like nginx: a master forks WORKERS workers; on SIGHUP it forks as many new ones, and
 * the old ones end. Each writes EVENTS events as soon as it runs and one on the request to end, numbered from 0 on. On
 * SIGTERM, and when the master is gone, all end. FILE has a byte for each worker that was made.
 */
#include <librecorder/event.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORKERS_MAX 64

REC_EVENT(test, work, u32(worker), u32(number));

static volatile sig_atomic_t told_to_reload, told_to_end;

static void on_signal(int number)
{
	if (number == SIGHUP)
		told_to_reload = 1;
	else
		told_to_end = 1;
}

/* The pipe's other end is closed when the worker's generation ends. */
static _Noreturn void work(uint32_t worker, uint32_t events, int until)
{
	struct pollfd poll_until = { .fd = until };

	for (uint32_t i = 0; i < events; i++)
		REC(test, work, worker, i);
	while (!(poll_until.revents & POLLHUP))
		poll(&poll_until, 1, -1);
	REC(test, work, worker, events);
	exit(0);
}

/* Returns the write end of the new generation's pipe; `before` is that of the previous generation. */
static int begin_generation(unsigned int workers, uint32_t events, int file, int before)
{
	static uint32_t made;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		exit(1);
	for (unsigned int i = 0; i < workers; i++, made++) {
		const pid_t child = fork();

		if (child < 0)
			exit(1);
		if (child == 0) {
			close(ends[1]);
			close(before);
			work(made, events, ends[0]);
		}
		if (write(file, "", 1) != 1)
			exit(1);
	}
	close(ends[0]);
	return ends[1];
}

int main(int argc, char **argv)
{
	const unsigned int workers = argc == 4 ? (unsigned int)strtoul(argv[1], NULL, 10) : 0;
	const uint32_t events = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	const struct sigaction action = { .sa_handler = on_signal };
	sigset_t blocked, open;
	int file, held;

	if (!workers || workers > WORKERS_MAX)
		return 2;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGHUP);
	sigaddset(&blocked, SIGTERM);
	sigprocmask(SIG_BLOCK, &blocked, &open);
	sigaction(SIGHUP, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	file = creat(argv[3], 0600);
	held = begin_generation(workers, events, file, -1);
	while (!told_to_end) {
		const int before = held;

		sigsuspend(&open);
		if (!told_to_reload)
			continue;
		told_to_reload = 0;
		held = begin_generation(workers, events, file, before);
		close(before);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
	close(held);
	while (wait(NULL) > 0)
		;
	return 0;
}
