/* SPDX-License-Identifier: MIT */
#include "cli/common/background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Wait until the other process has written a byte or is gone. */
static int wait_for(pid_t pid, int from)
{
	int status;
	ssize_t n;
	char byte;

	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return EXIT_SUCCESS;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_FAILURE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int background_fork(struct background *background, int *ret_status)
{
	int tell[2], err;
	pid_t pid;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return -errno;
	/* SIGCHLD may be ignored, which is inherited; then the kernel would discard the child's status. */
	signal(SIGCHLD, SIG_DFL);
	pid = fork();
	err = pid < 0 ? -errno : 0;
	if (pid > 0) {
		close(tell[1]);
		background->pid = pid;
		*ret_status = wait_for(pid, tell[0]);
	}
	close(tell[0]);
	if (pid < 0)
		close(tell[1]);
	if (pid)
		return err;
	background->tell = tell[1];
	setsid();
	return 1;
}

static bool is_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

void background_begun(struct background *background)
{
	ssize_t n;
	int null;

	if (background->tell < 0)
		return;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		if (fd == STDIN_FILENO || !is_file(fd))
			dup2(null, fd);
	if (null > STDERR_FILENO)
		close(null);
	do
		n = write(background->tell, "", 1);
	while (n < 0 && errno == EINTR);
	close(background->tell);
	background->tell = -1;
	if (n < 0)
		kill(getpid(), SIGTERM);
}
