/* SPDX-License-Identifier: MIT */
/* The gate at which the writer of a life waits until a recorder has attached. */
#include "kills_life.h"
#include "cli/recording/spool_format.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whether the spool has a program: chunks before the first process are skipped. */
static bool has_process(const char *spool)
{
	struct spool_chunk chunk = { .magic = SPOOL_CHUNK_MAGIC };
	off_t at = sizeof(struct spool_head);
	const int fd = open(spool, O_RDONLY | O_CLOEXEC);
	bool has = false;

	while (!has && pread(fd, &chunk, sizeof(chunk), at) == sizeof(chunk) && chunk.magic == SPOOL_CHUNK_MAGIC) {
		has = chunk.kind == SPOOL_PROCESS;
		at += (off_t)(sizeof(chunk) + ((chunk.size + 7u) & ~7u));
	}
	close(fd);
	return has;
}

/* Once the spool of the attached recorder has the program, all further events count; events before were skipped. */
static bool is_attached(void)
{
	char path[700];
	glob_t found;
	bool is = false;

	snprintf(path, sizeof(path), "%s/*.spool", run_dir);
	if (glob(path, 0, NULL, &found) == 0)
		is = has_process(found.gl_pathv[0]);
	globfree(&found);
	return is;
}

/*
 * Whether the process has ended. Waiting for other reports, too, would take the process's stops away from the thread
 * that traces it.
 */
static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid == pid;
}

void open_gate(const struct life *life)
{
	uint64_t waited;

	for (waited = 0; !is_attached(); waited += 200000) {
		/* The recorder may attach and be killed between two looks. */
		CHECK(life, waited < PATIENCE_NS && (!has_ended(life->recorder) || is_attached()),
		      "the recorder does not begin");
		nap(200000);
	}
	__atomic_store_n(&notes->gate, 0, __ATOMIC_RELEASE);
}
