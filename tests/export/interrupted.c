/* SPDX-License-Identifier: MIT */
/* interrupted jump|thread|kill: spans that are interrupted in this way. Each way begins with a whole span. */
#include <librecorder/event.h>
#include <librecorder/lane.h>
#include <librecorder/span.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

REC_SPAN(io, outer, u32(n));
REC_SPAN(io, inner, u32(n));
REC_EVENT(io, after);

static jmp_buf out;

static void *end_inside(void *unused)
{
	(void)unused;
	rec_thread_name("ends");
	REC_TASK(7, "lost");
	REC_BEGIN(io, outer, 2);
	REC_BEGIN(io, inner, 2);
	syscall(SYS_exit, 0);
	return NULL;
}

static void jump(void)
{
	REC_BEGIN(io, outer, 2);
	if (!setjmp(out)) {
		REC_BEGIN(io, inner, 2);
		longjmp(out, 1);
	}
	REC_END(io, outer);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	REC_BEGIN(io, outer, 1);
	REC_BEGIN(io, inner, 1);
	REC_END(io, inner);
	REC_END(io, outer);
	if (!strcmp(how, "jump"))
		jump();
	if (!strcmp(how, "thread") && !pthread_create(&thread, NULL, end_inside, NULL))
		pthread_join(thread, NULL);
	if (!strcmp(how, "kill")) {
		REC_BEGIN(io, outer, 2);
		REC_BEGIN(io, inner, 2);
		REC(io, after);
		kill(getpid(), SIGKILL);
	}
	REC(io, after);
	return 0;
}
