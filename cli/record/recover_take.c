/* SPDX-License-Identifier: MIT */
#include "cli/record/recover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/buffer_dir.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/base_name.h"
#include "cli/base/human_age.h"
#include "cli/base/human_size.h"
#include "cli/base/proc_stat.h"
#include "cli/common/show_text.h"
#include "cli/recording/core_file.h"

const struct message_sink recover_sink = COMMAND_SINK(RECOVER);

bool recover_fails(const char *what, int err)
{
	complain(RECOVER, "cannot recover '%s': %s", what, strerror(-err));
	return false;
}

/* -------------------------------------------------------------------------------------------- a directory, a file */

bool recover_take_dir(struct recover *recover, const char *path)
{
	char *real = realpath(path, NULL);
	int err = real ? 0 : -errno;

	if (!err && strlen(real) >= sizeof(recover->dir.path))
		err = -ENAMETOOLONG;
	if (!err && session_is_session(real)) {
		err = session_lock_named(real, &recover->dir);
	} else if (!err) {
		/*
		 * This directory is not locked. If a lane has another reader, the drain finds that. The running
		 * programs in it belong to no recording, so their events stay. A single buffer is taken also if its
		 * process cannot be seen from here and may be dead: the user has named it.
		 */
		if (!recover->temporary && !recover->only[0])
			recover->flags |= DRAIN_DEAD;
		strcpy(recover->dir.path, real);
		recover->dir.fd = open(real, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = recover->dir.fd < 0 ? -errno : 0;
	}
	free(real);
	if (err == -EBUSY) {
		complain(RECOVER, "'%s' belongs to a recording that is still running", path);
		return false;
	}
	return !err || recover_fails(path, err);
}

void recover_say_others(const char *session, const char *spool)
{
	complain(RECOVER,
		 "'%s' belongs to another user, and its spool is '%s': 'recorder recover %s' makes a file of both",
		 session, spool, spool);
}

/*
 * Take a session. Its link leads to its spool. If the spool is gone, or is another session's, its owner gave it
 * up; the buffers can still be recovered. False: one line was printed.
 */
static bool take_session(struct recover *recover, const char *path)
{
	bool others;
	char *spool;

	if (!recover_take_dir(recover, path))
		return false;
	spool = session_is_session(recover->dir.path) ? session_spool(&recover->dir) : NULL;
	others = spool && session_is_others(&recover->dir);
	if (others)
		recover_say_others(path, spool);
	strcpy(recover->spool_path, spool ? spool : "");
	free(spool);
	return !others;
}

/* Whether the buffer's program is running, which is reported. */
static bool is_of_living(const struct recover *recover, const char *path)
{
	const uint32_t pid = leftovers_living(recover->dir.fd, recover->only);

	if (pid)
		complain(RECOVER,
			 "'%s' belongs to process %" PRIu32 ", which is still running: 'recorder snapshot -P %" PRIu32
			 "' copies its events",
			 path, pid, pid);
	return pid;
}

static bool take_buffer(struct recover *recover, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	if (!realpath(path, dir))
		return recover_fails(path, -errno);
	slash = strrchr(dir, '/');
	snprintf(recover->only, sizeof(recover->only), "%s", slash + 1);
	slash[slash == dir] = '\0';
	return recover_take_dir(recover, dir) && !is_of_living(recover, path);
}

/* ---------------------------------------------------------------------------------------------------- a core file */

static bool say_no_buffer(const char *path, const struct core_info *info)
{
	char left[PATH_MAX + 64] = "";

	if (!info->listed) {
		complain(RECOVER, "'%s' has no list of mapped files (NT_FILE), so its buffer cannot be found", path);
		return false;
	}
	if (!info->absent) {
		complain(RECOVER, "'%s' holds no buffer: program %u (%s) did not use librecorder", path, info->pid,
			 info->name);
		return false;
	}
	if (!access(info->path, F_OK))
		snprintf(left, sizeof(left), "; the buffer is still there: 'recorder recover %s'", info->path);
	complain(RECOVER,
		 "'%s' holds no memory shared with files, as is the kernel's default "
		 "('echo 0x3f >/proc/PID/coredump_filter' before the crash changes that)%s",
		 path, left);
	return false;
}

static bool take_core(struct recover *recover, const char *path)
{
	const char *top = getenv("TMPDIR");
	struct core_info info = { 0 };
	char dir[PATH_MAX];
	int err;

	if (snprintf(dir, sizeof(dir), "%s/recorder-XXXXXX", top && *top ? top : "/tmp") >= (int)sizeof(dir))
		return recover_fails(path, -ENAMETOOLONG);
	if (!mkdtemp(dir)) {
		complain(RECOVER, "cannot make a directory for the buffers in '%s': %s; set TMPDIR", path,
			 strerror(errno));
		return false;
	}
	recover->temporary = true;
	if (!recover_take_dir(recover, dir)) {
		rmdir(dir);
		return false;
	}
	err = core_file_extract(path, dir, &info);
	if (err == -ENOEXEC)
		complain(RECOVER, "'%s' is an ELF file, but not a core file", path);
	else if (err == -EPROTO)
		complain(RECOVER, "'%s' is a core file of another kind of machine", path);
	else if (err == -EBADMSG)
		complain(RECOVER, "'%s' is a damaged core file", path);
	else if (err)
		complain(RECOVER, "cannot recover '%s': %s (in '%s'; set TMPDIR to another directory)", path,
			 strerror(-err), dir);
	if (err)
		return false;
	if (!info.buffers)
		return say_no_buffer(path, &info);
	if (info.damaged)
		complain(RECOVER, "'%s' also holds %u %s not recovered", path, info.damaged,
			 info.damaged == 1 ? "damaged buffer, which is" : "damaged buffers, which are");
	if (info.cut)
		complain(RECOVER, "'%s' is truncated: the missing part is not in the output", path);
	return true;
}

void recover_remove_temporary(struct recover *recover)
{
	const struct dirent *entry;
	DIR *dir = opendir(recover->dir.path);

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			unlinkat(recover->dir.fd, entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(recover->dir.path);
}

/* --------------------------------------------------------------------------------------------------- what is left */

bool recover_take_left(struct recover *recover)
{
	return leftovers_find_all(&recover_sink, recover->dirs, &recover->left);
}

/* Whether a process is running. A zombie counts as dead. */
static bool is_running(unsigned long pid)
{
	struct rec_proc_stat stat;

	return pid <= UINT32_MAX && proc_stat_of((uint32_t)pid, &stat) == 0 && !rec_proc_stat_is_dead(&stat);
}

/*
 * Whether the word selects an item. As for record -P, the word is a pid, the kernel's name of the process, or the name
 * of the program's file, which may be longer.
 */
static bool is_wanted(const struct leftover *item, const char *word, bool by_pid)
{
	if (by_pid)
		return item->pid == strtoul(word, NULL, 10);
	return !strcmp(item->comm, word) || !strcmp(item->program, word);
}

/* The newest process with this number or name; NULL: no process has it. */
static const struct left_place *find_image(struct recover *recover, const char *word, bool by_pid)
{
	const struct left_place *where = NULL;

	for (unsigned int i = 0; i < recover->left.nr; i++) {
		const struct left_place *place = &recover->left.places[i];

		for (unsigned int j = 0; j < place->nr; j++) {
			const struct leftover *item = &place->items[j];

			if (!is_wanted(item, word, by_pid) ||
			    (recover->image && recover->image->start_time > item->start_time))
				continue;
			recover->image = item;
			where = place;
		}
	}
	return where;
}

static bool say_no_image(const struct recover *recover, const char *word, bool by_pid)
{
	const char *more = recover->left.busy ? " (running recordings were not searched)" : "";

	if (!by_pid)
		complain(RECOVER,
			 "no dead program '%s' has left a buffer%s; 'recorder snapshot -P %s' copies the events "
			 "of a running one",
			 word, more, word);
	else if (is_running(strtoul(word, NULL, 10)))
		complain(RECOVER,
			 "process %s has left no buffer, it is still running: 'recorder snapshot -P %s' copies its "
			 "events%s",
			 word, word, more);
	else
		complain(RECOVER, "process %s has left no buffer%s", word, more);
	return false;
}

static void print_item(const char *pid, uint64_t made, uint64_t bytes, const char *name)
{
	char size[32], age[32];

	printf("%7s  %8s  %10s  %-15s  ", pid, human_age(made, age, sizeof(age)), human_size(bytes, size, sizeof(size)),
	       name);
}

/*
 * Prints the buffers that dead programs left, and the spools of unfinished recordings. With `name`, only the buffers of
 * programs with this name. Returns their number.
 */
static unsigned int print_left(const struct recover *recover, const char *name)
{
	static const char heading[] = "    PID       AGE        SIZE  NAME             FILE";
	unsigned int nr = 0;
	char pid[16];

	for (unsigned int i = 0; i < recover->left.nr; i++) {
		const struct left_place *place = &recover->left.places[i];
		struct stat st;

		for (unsigned int j = 0; j < place->nr; j++) {
			const struct leftover *item = &place->items[j];

			if (name && !is_wanted(item, name, false))
				continue;
			if (!nr++)
				puts(heading);
			snprintf(pid, sizeof(pid), "%u", item->pid);
			print_item(pid, item->last, item->size, item->comm);
			show_path(place->dir.path);
			putchar('/');
			show_path(item->name);
			putchar('\n');
		}
		if (name || !place->spool || stat(place->spool, &st) < 0)
			continue;
		if (!nr++)
			puts(heading);
		print_item("-", (uint64_t)st.st_mtime, (uint64_t)st.st_blocks * 512u, "(recording)");
		show_path(place->spool);
		putchar('\n');
	}
	return nr;
}

/* Whether several processes have this name. Several images of one process count as one. */
static bool is_ambiguous(const struct recover *recover, const char *name)
{
	for (unsigned int i = 0; i < recover->left.nr; i++) {
		const struct left_place *place = &recover->left.places[i];

		for (unsigned int j = 0; j < place->nr; j++) {
			const struct leftover *item = &place->items[j];

			if (is_wanted(item, name, false) &&
			    (item->pid != recover->image->pid || item->start_time != recover->image->start_time))
				return true;
		}
	}
	return false;
}

/* Report that the name fits several processes. False. */
static bool list_candidates(const struct recover *recover, const char *name)
{
	print_left(recover, name);
	complain(RECOVER, "several dead programs '%s' have left buffers: name one of these by its PID or FILE", name);
	return false;
}

/* Take the leftovers of the newest process with this PID, or of the only process with this name. */
static bool take_image(struct recover *recover, const char *word, bool by_pid)
{
	const struct left_place *where;
	char path[PATH_MAX];

	if (!recover_take_left(recover))
		return false;
	where = find_image(recover, word, by_pid);
	if (!where)
		return say_no_image(recover, word, by_pid);
	if (!by_pid && is_ambiguous(recover, word))
		return list_candidates(recover, word);
	if (!where->is_session)
		return true;
	strcpy(path, where->dir.path);
	recover->image = NULL;
	leftovers_free(&recover->left);
	recover->flags |= DRAIN_DEAD;
	if (!take_session(recover, path))
		return false;
	if (!recover->quiet)
		complain(RECOVER, "process %s was being recorded: all of the recording in '%s' is recovered", word,
			 path);
	return true;
}

/* ---------------------------------------------------------------------------------------------------- the operand */

static bool take_file(struct recover *recover, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return recover_fails(path, -errno);
	if (S_ISDIR(st.st_mode))
		return take_session(recover, path);
	if (!S_ISREG(st.st_mode)) {
		complain(RECOVER, "cannot recover '%s': it is not a regular file", path);
		return false;
	}
	if (rec_buffer_is_name(base_name(path)))
		return take_buffer(recover, path);
	if (core_file_is_elf(path))
		return take_core(recover, path);
	return realpath(path, recover->spool_path) || recover_fails(path, -errno);
}

/* Called if no word was given, and there is no spool: list what is left. Returns false. */
static bool list_left(struct recover *recover)
{
	if (!recover_take_left(recover))
		return false;
	leftovers_sweep(&recover->left);
	if (print_left(recover, NULL))
		complain(RECOVER, "name one of these by its PID, NAME or FILE, or recover all of them with --all");
	else
		complain(RECOVER,
			 "nothing to recover: there is no trace.dat.spool, and no dead program has left anything");
	return false;
}

/* Whether the word does not name a spool or a buffer: no such file exists, or the file is the program itself. */
static bool is_program(const char *word)
{
	return !strchr(word, '/') && (access(word, F_OK) < 0 || (access(word, X_OK) == 0 && core_file_is_elf(word)));
}

bool recover_take(struct recover *recover, const char *word)
{
	if (recover->all)
		return recover_take_left(recover);
	if (!word && access("trace.dat.spool", F_OK) < 0)
		return list_left(recover);
	if (!word)
		word = "trace.dat.spool";
	if (*word && !word[strspn(word, "0123456789")])
		return take_image(recover, word, true);
	if (is_program(word))
		return take_image(recover, word, false);
	return take_file(recover, word);
}
