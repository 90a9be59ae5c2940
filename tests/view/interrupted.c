/* SPDX-License-Identifier: MIT */
/*
 * interrupted jump: spans that end in each way that docs/MEANING.md has, in two processes, which both count something.
 * interrupted lose: a span that is open while another thread writes more events than its lane holds.
 */
#define _GNU_SOURCE
#include <librecorder/event.h>
#include <librecorder/span.h>

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

REC_SPAN(cut, outer, u32(n), end(u32(n)));
REC_SPAN(cut, inner, u32(n));
REC_SPAN_KEYED(cut, rpc, key(s32(id)));
REC_STATE(cut, state, key(s32(id)), u32(value));
REC_COUNTER(cut, heap, s64(bytes));
REC_EVENT(cut, note, u32(n));

static jmp_buf back;

static void *die_inside(void *none)
{
	REC_BEGIN(cut, outer, 2);
	REC_BEGIN(cut, inner, 2);
	return none;
}

static void *write_much(void *none)
{
	REC_BEGIN(cut, outer, 5);
	for (uint32_t i = 0; i < 100000; i++)
		REC(cut, note, i);
	REC_END(cut, outer, 5);
	return none;
}

static int run(void *(*work)(void *))
{
	pthread_t thread;

	return pthread_create(&thread, NULL, work, NULL) || pthread_join(thread, NULL);
}

static int lose(void)
{
	cpu_set_t cpus;
	int err;

	/* A loss belongs to a CPU: it cuts the spans that were open there. */
	CPU_ZERO(&cpus);
	CPU_SET(sched_getcpu(), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		return 1;
	REC_BEGIN(cut, outer, 4);
	err = run(write_much);
	REC_END(cut, outer, 4);
	return err;
}

int main(int argc, char **argv)
{
	pid_t child;

	if (argc > 1 && !strcmp(argv[1], "lose"))
		return lose();
	REC_END(cut, outer, 0);
	REC_BEGIN(cut, outer, 1);
	if (!setjmp(back)) {
		REC_BEGIN(cut, inner, 1);
		longjmp(back, 1);
	}
	REC_END(cut, outer, 1);
	if (run(die_inside))
		return 1;
	REC_BEGIN(cut, rpc, -7);
	REC(cut, state, -7, 3);
	REC(cut, heap, 1000);
	child = fork();
	if (!child) {
		REC(cut, heap, 5);
		REC_BEGIN(cut, outer, 3);
		raise(SIGKILL);
	}
	if (child < 0 || waitpid(child, NULL, 0) != child)
		return 1;
	REC(cut, heap, 2000);
	REC_BEGIN(cut, inner, 4);
	REC(cut, note, 0);
	return 0;
}
