/* SPDX-License-Identifier: MIT */
#include "cli/kernel/kernel_pids.h"
#include "librecorder/os/pid_namespace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/file_limit.h"
#include "cli/base/proc_stat.h"
#include "cli/base/proc_status.h"
#include "cli/base/read_text.h"
#include "cli/kernel/kernel.h"

struct search {
	const struct message_sink *sink;
	struct kernel_request *request;
	struct kernel_pids *pids;
	struct number_map *known; /* the ids in request->tids */
	unsigned long *seen; /* processes found by their buffers, with the pids by which the user named them */
	unsigned int nr_seen;
	const char *name; /* the name of the processes to find */
};

bool kernel_pids_are_ours(const struct message_sink *sink)
{
	if (!rec_pid_namespace_is_other(rec_pid_namespace(AT_FDCWD, REC_OWN_PID_NAMESPACE)))
		return true;
	if (!sink)
		return false;
	message(sink,
		"the kernel's events of certain processes%s or of one command%s need pids of the host's namespace: "
		"record outside of this pid namespace, or all processes",
		message_remark(sink, WORD_PROCESSES).text, message_remark(sink, WORD_COMMAND_ALONE).text);
	return false;
}

/* -------------------------------------------------------------------------------------------------------- finding */

static bool out_of_memory(const struct search *search)
{
	message(search->sink, "out of memory");
	return false;
}

/* Whether this errno of an open says that too many files are open; then one line was printed. */
static bool lacks_descriptor(const struct search *search, int number)
{
	if (number != EMFILE && number != ENFILE)
		return false;
	message(search->sink, "cannot open another process%s: %s; each one needs a file descriptor (ulimit -Hn)",
		message_remark(search->sink, WORD_PROCESSES).text, strerror(number));
	return true;
}

/* Call `each` with every process in /proc; `dir` is /proc, `name` the pid. False: a call returned false. */
static bool each_process(const struct search *search,
			 bool (*each)(const struct search *search, int dir, const char *name))
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	bool good = true;

	while (proc && good && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			good = each(search, dirfd(proc), entry->d_name);
	if (proc)
		closedir(proc);
	return good;
}

static bool add_tid(const struct search *search, unsigned long tid)
{
	struct kernel_request *request = search->request;
	pid_t *tids = realloc(request->tids, (request->nr_tids + 1) * sizeof(*tids));

	if (tids)
		request->tids = tids;
	if (!tids || number_map_set(search->known, tid, 1))
		return out_of_memory(search);
	tids[request->nr_tids++] = (pid_t)tid;
	return true;
}

/* The process to which a thread belongs; 0: it is gone. */
static unsigned long process_of(int dir)
{
	return proc_status_number(dir, "status", "Tgid");
}

static bool has_tid(const struct search *search, unsigned long tid)
{
	return number_map_get(search->known, tid);
}

static bool add_threads(const struct search *search, int dir)
{
	const int fd = openat(dir, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *tasks = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool good = fd >= 0 || !lacks_descriptor(search, errno);

	while (tasks && good && (entry = readdir(tasks))) {
		const unsigned long tid = strtoul(entry->d_name, NULL, 10);

		if (tid && !has_tid(search, tid))
			good = add_tid(search, tid);
	}
	if (tasks)
		closedir(tasks);
	else if (fd >= 0)
		close(fd);
	return good;
}

/* 1; 0: the process has ended; -ENOMEM or -EMFILE: one line was printed. */
static int add_if_alive(const struct search *search, unsigned long pid, bool threads)
{
	struct kernel_pids *pids = search->pids;
	struct kernel_pid *list = realloc(pids->list, (pids->nr + 1) * sizeof(*list));
	unsigned long process;
	char path[32];
	bool good;
	int dir;

	if (!list) {
		out_of_memory(search);
		return -ENOMEM;
	}
	pids->list = list;
	snprintf(path, sizeof(path), "/proc/%lu", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && lacks_descriptor(search, errno))
		return -EMFILE;
	errno = 0;
	process = dir < 0 ? 0 : process_of(dir);
	if (dir >= 0)
		list[pids->nr++] = (struct kernel_pid){ .dir = dir, .has_all = threads && process == pid };
	if (!process)
		return lacks_descriptor(search, errno) ? -EMFILE : 0;
	good = threads && process == pid ? add_threads(search, dir) : add_tid(search, pid);
	return good ? 1 : -ENOMEM;
}

static bool add_process(const struct search *search, unsigned long pid, bool threads)
{
	const int added = add_if_alive(search, pid, threads);

	if (!added)
		message(search->sink, "there is no process %lu%s: it has ended", pid,
			message_remark(search->sink, WORD_PROCESSES).text);
	return added > 0;
}

static bool was_seen(const struct search *search, unsigned long pid)
{
	for (unsigned int i = 0; i < search->nr_seen; i++)
		if (search->seen[i] == pid)
			return true;
	return false;
}

static bool add_list(const struct search *search, const char *list, bool threads)
{
	bool good = true;
	char *end;

	for (const char *at = list; good && *at; at = end + (*end == ',')) {
		const unsigned long pid = strtoul(at, &end, 10);

		if (*at < '0' || *at > '9' || !pid || pid > INT_MAX || (*end && *end != ',')) {
			message(search->sink, "'%s' is not a list of ids separated by commas%s", list,
				message_remark(search->sink, threads ? WORD_PROCESSES : WORD_THREADS).text);
			return false;
		}
		good = was_seen(search, pid) || add_process(search, pid, threads);
	}
	return good;
}

static bool note_seen(struct search *search, unsigned long pid)
{
	unsigned long *seen = realloc(search->seen, (search->nr_seen + 1) * sizeof(*seen));

	if (!seen)
		return out_of_memory(search);
	search->seen = seen;
	seen[search->nr_seen++] = pid;
	return true;
}

static int take_program(int dir, const char *name, void *data)
{
	struct search *search = data;
	struct rec_view *view;
	uint32_t pid, inner;
	const int err = rec_view_open_at(dir, name, &view);

	/* If the file is gone, the program counts as not found. Attaching reports other errors. */
	if (err)
		return err == -ENOENT ? err : 0;
	pid = rec_view_pid(view);
	inner = rec_view_info(view)->pid;
	rec_view_close(view);
	if (!note_seen(search, pid ? pid : inner))
		return -ENOMEM;
	return !pid || add_if_alive(search, pid, true) >= 0 ? 0 : -ECANCELED;
}

/* Whether a process in /proc has the name, or its binary has; or the errno of an open. */
static int is_named(int dir, const char *name)
{
	char comm[32], exe[PATH_MAX];
	ssize_t size;
	char *base;
	const int err = read_text_at(dir, "comm", comm, sizeof(comm));

	if (err)
		return err;
	comm[strcspn(comm, "\n")] = '\0';
	if (!strcmp(comm, name))
		return true;
	size = readlinkat(dir, "exe", exe, sizeof(exe) - 1);
	exe[size > 0 ? size : 0] = '\0';
	base = strrchr(exe, '/');
	return base && !strcmp(base + 1, name);
}

/* Add a process if it has the name. If it ends meanwhile, it counts as gone. */
static bool add_if_named(const struct search *search, int proc, const char *entry)
{
	const unsigned long pid = strtoul(entry, NULL, 10);
	bool good = true;
	int dir, named;

	if (!pid || pid == (unsigned long)getpid() || was_seen(search, pid))
		return true;
	dir = openat(proc, entry, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return !lacks_descriptor(search, errno);
	named = is_named(dir, search->name);
	if (named < 0)
		good = !lacks_descriptor(search, -named);
	else if (named && process_of(dir) == pid)
		good = add_if_alive(search, pid, true) >= 0;
	close(dir);
	return good;
}

/* Add every process with this name, whether it uses librecorder or not. */
static bool add_named(struct search *search, const char *name)
{
	search->name = name;
	if (!each_process(search, add_if_named))
		return false;
	if (!search->request->nr_tids) {
		message(search->sink, "there is no process '%s'%s", name,
			message_remark(search->sink, WORD_PROCESSES).text);
		return false;
	}
	return true;
}

static bool is_list(const char *word)
{
	return word[strspn(word, "0123456789,")] == '\0';
}

static int by_number(const void *a, const void *b)
{
	const unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static bool add_before(const struct search *search, int dir, const char *name)
{
	struct kernel_pids *pids = search->pids;
	unsigned long *before = pids->before;

	(void)dir;
	/* The room doubles at each power of two. */
	if (!(pids->nr_before & (pids->nr_before - 1)))
		before = reallocarray(before, pids->nr_before ? 2 * (size_t)pids->nr_before : 1, sizeof(*before));
	if (!before)
		return out_of_memory(search);
	pids->before = before;
	before[pids->nr_before++] = strtoul(name, NULL, 10);
	return true;
}

/* Note the processes that exist, to know later which are new. */
static bool note_before(const struct search *search)
{
	struct kernel_pids *pids = search->pids;

	if (!each_process(search, add_before))
		return false;
	/* Each process that is found keeps a descriptor. */
	file_limit_raise();
	if (pids->nr_before)
		qsort(pids->before, pids->nr_before, sizeof(*pids->before), by_number);
	return true;
}

bool kernel_pids_find(const struct message_sink *sink, const struct programs *which, bool programs,
		      struct kernel_request *request, struct kernel_pids *pids)
{
	struct search search = { .sink = sink, .request = request, .pids = pids, .known = &pids->known };
	bool good = note_before(&search);

	if (good && programs)
		good = programs_files(sink, which, take_program, &search) > 0 ||
		       (which->ret_lacks && *which->ret_lacks);
	/* If the user selected programs, they must use librecorder; otherwise any process is accepted. */
	if (good && (!programs || which->ret_lacks))
		good = is_list(which->word) ? add_list(&search, which->word, true) : add_named(&search, which->word);
	free(search.seen);
	if (good && !request->nr_tids)
		message(sink, "there is no process '%s'%s: it has ended", which->word,
			message_remark(sink, WORD_PROCESSES).text);
	return good && request->nr_tids;
}

bool kernel_pids_threads(const struct message_sink *sink, const char *tids, struct kernel_request *request,
			 struct kernel_pids *pids)
{
	const struct search search = { .sink = sink, .request = request, .pids = pids, .known = &pids->known };

	return add_list(&search, tids, false);
}

/* Add a process that began after note_before(), if its parent is recorded. If it ends meanwhile, it is left out. */
static bool add_if_child(const struct search *search, int proc, const char *name)
{
	struct kernel_pids *pids = search->pids;
	const unsigned long pid = strtoul(name, NULL, 10);
	struct kernel_pid *list;
	bool is_child, good;
	int dir;

	if (bsearch(&pid, pids->before, pids->nr_before, sizeof(pid), by_number) || has_tid(search, pid))
		return true;
	dir = openat(proc, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return !lacks_descriptor(search, errno);
	errno = 0;
	is_child = has_tid(search, proc_status_number(dir, "status", "PPid"));
	good = is_child || !lacks_descriptor(search, errno);
	if (!is_child) {
		close(dir);
		return good;
	}
	list = realloc(pids->list, (pids->nr + 1) * sizeof(*list));
	if (!list) {
		close(dir);
		return out_of_memory(search);
	}
	pids->list = list;
	list[pids->nr++] = (struct kernel_pid){ .dir = dir, .has_all = true };
	return true;
}

/* Add the threads of these processes that are not in the request yet. */
static bool add_new_threads(const struct search *search, const struct kernel_pids *pids)
{
	bool good = true;

	for (unsigned int i = 0; i < pids->nr && good; i++)
		good = !pids->list[i].has_all || add_threads(search, pids->list[i].dir);
	return good;
}

bool kernel_pids_catch_up(const struct message_sink *sink, struct kernel_pids *pids,
			  struct kernel_request *request, struct kernel *kernel)
{
	struct kernel_pids children = { .before = pids->before, .nr_before = pids->nr_before };
	const struct search search = {
		.sink = sink, .request = request, .pids = &children, .known = &pids->known };
	unsigned int known;
	bool good;
	int err;

	/* A thread or process that is not recorded yet may begin others. */
	do {
		known = request->nr_tids;
		good = add_new_threads(&search, pids) && (!pids->nr_before || each_process(&search, add_if_child)) &&
		       add_new_threads(&search, &children);
		err = good && request->nr_tids > known
			      ? kernel_add_tids(kernel, request->tids + known, request->nr_tids - known) : 0;
		if (err)
			message(sink, "cannot record the processes%s: %s",
				message_remark(sink, WORD_PROCESSES).text, strerror(-err));
	} while (good && !err && request->nr_tids > known);
	children.before = NULL;
	kernel_pids_close(&children);
	return good && !err;
}

/* --------------------------------------------------------------------------------------------------------- living */

static bool is_alive(int dir)
{
	struct rec_proc_stat stat;
	struct stat st;

	if (proc_stat_read(dir, "stat", &stat))
		return false;
	if (stat.state != 'Z' && stat.state != 'X')
		return true;
	/* The first thread has ended, but others may exist: the link count of /proc/PID/task includes each of them. */
	return fstatat(dir, "task", &st, 0) == 0 && st.st_nlink > 3;
}

void kernel_pids_each(const struct kernel_pids *pids, void (*each)(pid_t pid, void *arg), void *arg)
{
	for (unsigned int i = 0; i < pids->nr; i++) {
		const pid_t pid = (pid_t)process_of(pids->list[i].dir);

		if (pid > 0)
			each(pid, arg);
	}
}

bool kernel_pids_alive(const struct kernel_pids *pids)
{
	for (unsigned int i = 0; i < pids->nr; i++)
		if (is_alive(pids->list[i].dir))
			return true;
	return false;
}

void kernel_pids_close(struct kernel_pids *pids)
{
	for (unsigned int i = 0; i < pids->nr; i++)
		close(pids->list[i].dir);
	free(pids->list);
	free(pids->before);
	number_map_free(&pids->known);
	*pids = (struct kernel_pids){ .nr = 0 };
}
