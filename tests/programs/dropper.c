/* SPDX-License-Identifier: MIT */
/*
 * dropper UID
 *
 * Writes ten events as the user that started it, becomes user UID for good, writes ten more in this thread and in
 * another, and ten in a forked child. Then the program ends.
 */
#include <librecorder/event.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

REC_EVENT(test, step, u32(number));

static void *write_ten(void *arg)
{
	const uint32_t first = *(const uint32_t *)arg;

	for (uint32_t i = 0; i < 10; i++)
		REC(test, step, first + i);
	return NULL;
}

int main(int argc, char **argv)
{
	uint32_t first[] = { 0, 10, 20, 30 };
	const uid_t uid = argc == 2 ? (uid_t)strtoul(argv[1], NULL, 10) : 0;
	pthread_t thread;
	pid_t child;
	int status;

	write_ten(&first[0]);
	if (!uid || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return 2;
	write_ten(&first[1]);
	if (pthread_create(&thread, NULL, write_ten, &first[2]) || pthread_join(thread, NULL))
		return 1;
	child = fork();
	if (!child) {
		write_ten(&first[3]);
		exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
