/* SPDX-License-Identifier: MIT */
/*
 * guest MODE [EVENTS]
 *
 * A program under conditions that are difficult for a library:
 *
 *	plain		threads, events of all kinds, a fork
 *	after		forbids itself all system calls but read, write, exit_group and rt_sigreturn after its first
 *			events
 *	before		the same, but its first event comes after that; what is forbidden fails
 *	tsc		gives up the time stamp counter, and forks
 *	step		traces between two calls of here(), for a debugger
 *
 * EVENTS are written, by `plain` in each of two threads and in a child as well. Prints "produced N".
 */
#include <librecorder/event.h>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(guest, number, u64(number), string(text), real(half, 1));
REC_EVENT(guest, signal, s32(sig));

static unsigned long events;

void here(void);
__attribute__((noinline)) void here(void)
{
	__asm__ volatile("");
}

static void trace(void)
{
	for (unsigned long i = 0; i < events; i++) {
		REC(guest, number, i, "text", (double)i / 2);
		if (i % 4 == 0)
			rec_printf("number %lu", i);
	}
}

static void *trace_in_thread(void *arg)
{
	trace();
	return arg;
}

static int plain(void)
{
	pthread_t threads[2];
	int status = -1;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, trace_in_thread, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	fflush(stdout);
	switch (fork()) {
	case 0:
		trace();
		exit(0);
	default:
		return wait(&status) < 0 || status;
	}
}

/* From here on `action` is applied to all system calls except four. */
static int forbid(uint32_t action)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/*
 * Prints the number and ends, by the permitted system calls: exit() runs code, also of the library, that needs others.
 */
static void end_plainly(void)
{
	char line[64];
	const int size = snprintf(line, sizeof(line), "produced %lu\n", events);

	_exit(write(1, line, (size_t)size) != size);
}

/* A handler that may interrupt at any point, and makes no system call except its return. */
static void on_fault(int sig)
{
	REC(guest, signal, sig);
}

static int sandboxed(bool before)
{
	const unsigned long all = events;

	signal(SIGTRAP, on_fault);
	/* The first events lease the thread's lane, and declare the call site of rec_printf. */
	events = before ? 0 : 1;
	trace();
	events = all - events;
	if (forbid(before ? SECCOMP_RET_ERRNO | 1 : SECCOMP_RET_KILL_PROCESS))
		return 1;
	trace();
#if defined(__x86_64__)
	__asm__ volatile("int3");
#endif
	events = all;
	end_plainly();
	return 1;
}

static int without_tsc(void)
{
	int status = -1;

	/* Treated as unsupported, which is not an error: other CPUs have no such feature. */
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
	if (fork() == 0) {
		REC(guest, number, 1, "off", 0);
		exit(0);
	}
	return wait(&status) < 0 || status;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int failed = 2;

	events = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	if (!strcmp(mode, "plain"))
		failed = plain();
	else if (!strcmp(mode, "after"))
		failed = sandboxed(false);
	else if (!strcmp(mode, "before"))
		failed = sandboxed(true);
	else if (!strcmp(mode, "tsc"))
		return without_tsc();
	if (!strcmp(mode, "step")) {
		here();
		trace();
		here();
		failed = 0;
	}
	if (!failed)
		printf("produced %lu\n", !strcmp(mode, "plain") ? 3 * events : events);
	return failed;
}
