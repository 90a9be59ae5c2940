/* SPDX-License-Identifier: MIT */
/*
 * requests NR [fork|small]
 * requests FILE
 *
 * With a number: writes io:submit with ids 0 to NR - 1, every other one for a file "/var/lib/N.db", and io:done of
 * each; with fork, once more in a forked child; with small, in a buffer whose lanes take at most 8 MiB. With a file:
 * two threads do that until the program is killed; the file gets the two thread ids, a line each, when both have
 * written something.
 */
#include <librecorder/buffer.h>
#include <librecorder/event.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum op { OP_READ = 1, OP_WRITE };

REC_EVENT(io, submit, u64(id), s32(fd), named(op, OP_READ, OP_WRITE), string(path));
REC_EVENT(io, done, u64(id), s32(result));

static void submit(unsigned long id)
{
	char path[64];

	snprintf(path, sizeof(path), "/var/%s/%lu.%s", id % 2 ? "tmp" : "lib", id, id % 2 ? "tmp" : "db");
	REC(io, submit, id, (int)(id % 7) - 1, id % 3 ? OP_READ : OP_WRITE, path);
	REC(io, done, id, -(int)(id % 5));
}

static pthread_barrier_t barrier;
static long tids[2];

static void *submit_for_ever(void *which)
{
	*(long *)which = syscall(SYS_gettid);
	submit(0);
	pthread_barrier_wait(&barrier);
	for (unsigned long id = 1;; id++)
		submit(id);
	return NULL;
}

static int run_for_ever(const char *name)
{
	pthread_t thread;
	FILE *file;

	pthread_barrier_init(&barrier, NULL, 3);
	for (unsigned int i = 0; i < 2; i++)
		if (pthread_create(&thread, NULL, submit_for_ever, &tids[i]))
			return 1;
	pthread_barrier_wait(&barrier);
	file = fopen(name, "w");
	if (!file)
		return 1;
	fprintf(file, "%ld\n%ld\n", tids[0], tids[1]);
	fclose(file);
	pthread_join(thread, NULL);
	return 1;
}

static int make_small_buffer(void)
{
	struct rec_options options = REC_OPTIONS_INIT;

	options.memory_max = (size_t)8 << 20;
	return rec_configure(&options);
}

int main(int argc, char **argv)
{
	const unsigned long nr = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	pid_t pid = 1;
	int status = 0;

	if (argc < 2)
		return 2;
	if (!nr)
		return run_for_ever(argv[1]);
	if (argc > 2 && !strcmp(argv[2], "fork"))
		pid = fork();
	if (argc > 2 && !strcmp(argv[2], "small") && make_small_buffer() < 0)
		return 3;
	for (unsigned long id = 0; id < nr; id++)
		submit(id);
	if (pid > 1)
		waitpid(pid, &status, 0);
	return status;
}
