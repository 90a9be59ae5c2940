/* SPDX-License-Identifier: MIT */
#include "tracer.h"
#include "librecorder/core/testpoint.h"

#if defined(__x86_64__)


#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BREAKPOINT 0xcc

static int fail(const char *what)
{
	fprintf(stderr, "tracer: %s: %s\n", what, strerror(errno));
	return -1;
}

/* ------------------------------------------------------------------------------------------- the program's points */

static unsigned int number_of(struct tracer_points *points, const char *name)
{
	unsigned int i;

	for (i = 0; i < points->count; i++)
		if (!strcmp(points->names[i], name))
			return i;
	if (i == TRACER_POINTS || strlen(name) >= sizeof(points->names[0]))
		abort();
	strcpy(points->names[i], name);
	points->count++;
	return i;
}

unsigned int tracer_point(const struct tracer_points *points, const char *name)
{
	unsigned int i;

	for (i = 0; i < points->count; i++)
		if (!strcmp(points->names[i], name))
			return i;
	fprintf(stderr, "tracer: there is no test point '%s'\n", name);
	abort();
}

/* The section has addresses of 8 bytes, each followed by a name. A copy that the linker discarded has no address. */
static void parse_points(struct tracer_points *points, const char *at, size_t size)
{
	const char *end = at + size;

	while (end - at > 8) {
		uint64_t address;
		const char *name = at + sizeof(address);

		memcpy(&address, at, sizeof(address));
		at = name + strnlen(name, (size_t)(end - name)) + 1;
		if (at > end || points->places == TRACER_PLACES)
			abort();
		if (address < points->load + 64)
			continue;
		points->place[points->places].address = address;
		points->place[points->places++].point = number_of(points, name);
	}
}

/* Reads the bytes that the breakpoints replace, each from the segment that contains it. */
static int read_bytes(struct tracer_points *points, const char *file, const Elf64_Ehdr *elf)
{
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(file + elf->e_phoff);
	unsigned int i, k;

	for (i = 0; i < points->places; i++) {
		const uint64_t address = points->place[i].address;

		for (k = 0; k < elf->e_phnum; k++)
			if (segments[k].p_type == PT_LOAD && address - segments[k].p_vaddr < segments[k].p_filesz)
				break;
		if (k == elf->e_phnum)
			return -1;
		points->place[i].byte = (unsigned char)file[segments[k].p_offset + address - segments[k].p_vaddr];
	}
	return 0;
}

static int parse_program(struct tracer_points *points, const char *file)
{
	const Elf64_Ehdr *elf = (const Elf64_Ehdr *)(const void *)file;
	const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + elf->e_shoff);
	const Elf64_Phdr *segments = (const Elf64_Phdr *)(const void *)(file + elf->e_phoff);
	const char *names = file + sections[elf->e_shstrndx].sh_offset;
	unsigned int i;

	for (i = 0; i < elf->e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0)
			points->load = segments[i].p_vaddr;
	for (i = 0; i < elf->e_shnum; i++)
		if (!strcmp(names + sections[i].sh_name, REC_TESTPOINTS) && !(sections[i].sh_flags & SHF_COMPRESSED))
			parse_points(points, file + sections[i].sh_offset, sections[i].sh_size);
	return points->places ? read_bytes(points, file, elf) : -1;
}

int tracer_read_points(const char *program, struct tracer_points *points)
{
	const int fd = open(program, O_RDONLY | O_CLOEXEC);
	struct stat st = { 0 };
	char *file = NULL;
	int r = -1;

	memset(points, 0, sizeof(*points));
	if (fd >= 0 && fstat(fd, &st) == 0)
		file = malloc((size_t)st.st_size);
	if (file && pread(fd, file, (size_t)st.st_size, 0) == st.st_size && !memcmp(file, ELFMAG, SELFMAG))
		r = parse_program(points, file);
	if (r < 0)
		fprintf(stderr, "tracer: %s: no test points in it\n", program);
	free(file);
	if (fd >= 0)
		close(fd);
	return r;
}

/* ------------------------------------------------------------------------------------------------------- running it */

static int put_byte(const struct tracer_run *run, uint64_t address, unsigned char byte)
{
	return pwrite(run->memory, &byte, 1, (off_t)(address + run->shift)) == 1 ? 0 : fail("writing a breakpoint");
}

static bool is_armed(const struct tracer_run *run, uint64_t address)
{
	unsigned int i;

	for (i = 0; i < run->points->places; i++)
		if (run->points->place[i].address == address && run->armed[run->points->place[i].point])
			return true;
	return false;
}

/* Where the program was loaded: the first mapping of its file. */
static int find_shift(struct tracer_run *run)
{
	char path[64];
	unsigned long long start = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)run->pid);
	maps = fopen(path, "re");
	if (!maps || fscanf(maps, "%llx", &start) != 1 || !start)
		return fail(path);
	fclose(maps);
	run->shift = start - run->points->load;
	return 0;
}

int tracer_arm(struct tracer_run *run, unsigned int point)
{
	unsigned int i;

	for (i = 0; i < run->points->places; i++)
		if (run->points->place[i].point == point &&
		    put_byte(run, run->points->place[i].address, BREAKPOINT) < 0)
			return -1;
	run->armed[point] = true;
	return 0;
}

int tracer_start(struct tracer_run *run, const char *const argv[], const char *const envp[])
{
	char path[64];
	unsigned int i;
	int status;

	run->depth = 0;
	run->thread = run->pid = fork();
	if (run->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execve(argv[0], (char *const *)(uintptr_t)argv, (char *const *)(uintptr_t)envp);
		_exit(127);
	}
	if (run->pid < 0 || waitpid(run->pid, &status, 0) != run->pid || !WIFSTOPPED(status))
		return fail(argv[0]);
	if (ptrace(PTRACE_SETOPTIONS, run->pid, NULL, (void *)(PTRACE_O_EXITKILL | PTRACE_O_TRACECLONE)) < 0)
		return fail("PTRACE_SETOPTIONS");
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)run->pid);
	run->memory = open(path, O_RDWR | O_CLOEXEC);
	if (run->memory < 0)
		return fail(path);
	if (find_shift(run) < 0)
		return -1;
	for (i = 0; i < run->points->places; i++)
		if (run->armed[run->points->place[i].point] &&
		    put_byte(run, run->points->place[i].address, BREAKPOINT) < 0)
			return -1;
	return 0;
}

/* Execute the one instruction that the breakpoint replaced. */
static int step_over(struct tracer_run *run, uint64_t address)
{
	unsigned char byte = 0;
	unsigned int i;
	int status;

	if (!is_armed(run, address))
		return 0;
	for (i = 0; i < run->points->places; i++)
		if (run->points->place[i].address == address)
			byte = run->points->place[i].byte;
	if (put_byte(run, address, byte) < 0)
		return -1;
	if (ptrace(PTRACE_SINGLESTEP, run->thread, NULL, NULL) < 0 ||
	    waitpid(run->thread, &status, __WALL) != run->thread)
		return fail("single step");
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP)
		return fail("a single step ended otherwise");
	return put_byte(run, address, BREAKPOINT);
}

static int jump(const struct tracer_run *run, struct user_regs_struct *regs)
{
	static const uint64_t nowhere;

	/* The new stack is below the red zone, aligned as after a call. The return address 0 stops unwinders. */
	regs->rsp = ((regs->rsp - 256) & ~UINT64_C(15)) - 8;
	regs->rip = run->jump;
	if (pwrite(run->memory, &nowhere, sizeof(nowhere), (off_t)regs->rsp) != sizeof(nowhere))
		return fail("writing a return address");
	return ptrace(PTRACE_SETREGS, run->thread, NULL, regs) < 0 ? fail("PTRACE_SETREGS") : 0;
}

static enum tracer_order ask(struct tracer_run *run, uint64_t address)
{
	enum tracer_order order = TRACER_GO;
	unsigned int i;

	/* If two points have the same address, the stronger order is carried out. */
	for (i = 0; i < run->points->places; i++) {
		const unsigned int point = run->points->place[i].point;

		if (run->points->place[i].address == address && run->armed[point]) {
			const enum tracer_order one = run->at_point(run, point);

			order = one > order ? one : order;
		}
	}
	return order;
}

static bool belongs(const struct tracer_run *run, pid_t thread)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)run->pid, (int)thread);
	return thread == run->pid || access(path, F_OK) == 0;
}

/*
 * Asks waitpid() for a report of any of the program's threads, without waiting. Returns the thread's id; 0: no report;
 * or -1.
 */
static pid_t look_at_threads(const struct tracer_run *run, int *ret_status)
{
	const struct dirent *entry;
	char path[64];
	pid_t thread = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)run->pid);
	tasks = opendir(path);
	if (!tasks)
		return -1;
	while (thread <= 0 && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			thread = waitpid((pid_t)strtol(entry->d_name, NULL, 10), ret_status, __WALL | WNOHANG);
	closedir(tasks);
	return thread > 0 ? thread : 0;
}

/*
 * The next report of one of the program's threads: its id, or -1. Reports of another program that is traced are left to
 * the tracer_run() of that program: the first stop of a thread that it has just made may come while it is stopped.
 */
static pid_t wait_for_thread(const struct tracer_run *run, int *ret_status)
{
	const struct timespec a_moment = { .tv_nsec = 100000 };
	siginfo_t any = { .si_pid = 0 };
	pid_t thread;

	for (;;) {
		if (waitid(P_ALL, 0, &any, WEXITED | WSTOPPED | WNOWAIT | __WALL) < 0)
			return -1;
		if (belongs(run, any.si_pid))
			return waitpid(any.si_pid, ret_status, __WALL);
		thread = look_at_threads(run, ret_status);
		if (thread)
			return thread;
		nanosleep(&a_moment, NULL);
	}
}

void tracer_kill(struct tracer_run *run)
{
	pid_t pid;
	int status;

	kill(run->pid, SIGKILL);
	/* The leader is gone when all its threads were waited for. */
	do
		pid = wait_for_thread(run, &status);
	while (pid > 0 && !(pid == run->pid && !WIFSTOPPED(status)));
	if (run->memory >= 0)
		close(run->memory);
	run->memory = -1;
}

/*
 * A thread is stopped at a breakpoint. 1: continue with *ret_signal; otherwise the negated result of tracer_run(),
 * which returns.
 */
static int at_breakpoint(struct tracer_run *run, int *ret_signal)
{
	struct user_regs_struct regs;
	uint64_t address;

	if (ptrace(PTRACE_GETREGS, run->thread, NULL, &regs) < 0)
		return fail("PTRACE_GETREGS"), -TRACER_FAILED;
	regs.rip--;
	address = regs.rip - run->shift;
	if (!is_armed(run, address)) {
		fprintf(stderr, "tracer: a trap at %#llx\n", (unsigned long long)address);
		return -TRACER_FAILED;
	}
	if (ptrace(PTRACE_SETREGS, run->thread, NULL, &regs) < 0)
		return fail("PTRACE_SETREGS"), -TRACER_FAILED;
	run->stopped_at = address;
	if (run->depth && run->interrupted[run->depth - 1].address == address &&
	    run->interrupted[run->depth - 1].stack == regs.rsp) {
		/* The handler that was called at this point has returned. */
		run->depth--;
		return step_over(run, address) < 0 ? -TRACER_FAILED : 1;
	}
	switch (ask(run, address)) {
	case TRACER_SIGNAL:
		if (run->depth == TRACER_DEPTH)
			break;
		run->interrupted[run->depth].address = address;
		run->interrupted[run->depth++].stack = regs.rsp;
		*ret_signal = SIGUSR1;
		return 1;
	case TRACER_JUMP:
		run->depth = 0;
		return jump(run, &regs) < 0 ? -TRACER_FAILED : 1;
	case TRACER_STOP:
		return -TRACER_STOPPED;
	case TRACER_KILL:
		tracer_kill(run);
		return -TRACER_KILLED;
	default:
		break;
	}
	return step_over(run, address) < 0 ? -TRACER_FAILED : 1;
}

static void tell_where(const struct tracer_run *run, int sig)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, run->thread, NULL, &regs) == 0)
		fprintf(stderr, "tracer: signal %d at %#llx, rsp %#llx\n", sig,
			(unsigned long long)(regs.rip - run->shift), regs.rsp);
}

enum tracer_end tracer_run(struct tracer_run *run)
{
	int status, sig = 0, r = 1;

	if (run->stopped_at && step_over(run, run->stopped_at) < 0)
		return tracer_kill(run), TRACER_FAILED;
	run->stopped_at = 0;
	for (;;) {
		if (ptrace(PTRACE_CONT, run->thread, NULL, (void *)(intptr_t)sig) < 0 && errno != ESRCH)
			return fail("PTRACE_CONT"), tracer_kill(run), TRACER_FAILED;
		sig = 0;
		run->thread = wait_for_thread(run, &status);
		if (run->thread == run->pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
			return close(run->memory), run->memory = -1, TRACER_ENDED;
		if (run->thread < 0 || (run->thread == run->pid && !WIFSTOPPED(status))) {
			fprintf(stderr, "tracer: the program ended with status %#x\n", (unsigned int)status);
			return TRACER_FAILED;
		}
		if (!WIFSTOPPED(status))
			continue;
		if (status >> 16 || WSTOPSIG(status) == SIGSTOP) {
			/* A thread has begun, or reports its first stop. */
			continue;
		}
		if (WSTOPSIG(status) == SIGSEGV || WSTOPSIG(status) == SIGBUS)
			tell_where(run, WSTOPSIG(status));
		if (WSTOPSIG(status) != SIGTRAP) {
			sig = WSTOPSIG(status);
			continue;
		}
		r = at_breakpoint(run, &sig);
		if (r == -TRACER_FAILED)
			tracer_kill(run);
		if (r <= 0)
			return (enum tracer_end) - r;
		run->stopped_at = 0;
	}
}

#endif
