/* SPDX-License-Identifier: MIT */
#include "kills_life.h"
#include "tests/unit/tell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct figures figures;
struct kills_notes *notes;
char recorder[512];

static char program[512], where[512];
char run_dir[600];
static bool failed; /* files that exist already are kept */

static const char *path_of(const char *name)
{
	static char path[700];

	snprintf(path, sizeof(path), "%s/%s", where, name);
	return path;
}

void describe_life(const struct life *life)
{
	FILE *said = fopen(path_of("said"), "re");
	char line[1000];

	if (life->writer > 0)
		kill(-life->writer, SIGKILL);
	if (life->recorder > 0)
		kill(-life->recorder, SIGKILL);
	tell("life %" PRIu64 " of seed %" PRIu64 ", drawn from %" PRIu64
	     ": %s, %u KiB, %u threads, %u waves, %u events each%s%s; "
	     "files are left in %s",
	     figures.lives, first_seed, life->seed, life->overwrite ? "overwrite" : "discard", life->kb, notes->threads,
	     notes->waves, notes->each, notes->nested ? ", nested" : "", life->attach ? ", attached" : "", where);
	while (said && fgets(line, sizeof(line), said)) {
		line[strcspn(line, "\n")] = '\0';
		tell("%s", line);
	}
	failed = true;
}

/* ---- processes */

void nap(uint64_t ns)
{
	const struct timespec t = { (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };

	nanosleep(&t, NULL);
}

/* Starts it in a process group of its own. */
static pid_t start(const char *const argv[], const char *const envp[])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	pid_t pid = -1;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 2, path_of("said"), O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
	cr_assert_eq(posix_spawn(&pid, argv[0], &files, &attr, (char *const *)(uintptr_t)argv,
				 (char *const *)(uintptr_t)envp),
		     0);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return pid;
}

/* The exit status of the process, or -1 while it runs. */
int poll_end(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, WNOHANG) == pid ? status : -1;
}

int wait_end(const struct life *life, pid_t pid)
{
	uint64_t waited;
	int status = -1;

	for (waited = 0; status < 0 && waited < PATIENCE_NS; waited += 200000) {
		nap(200000);
		status = poll_end(pid);
	}
	CHECK(life, status >= 0, "process %d does not end", (int)pid);
	return status;
}

/* Wait until the word is set. False: the process ended before. */
bool wait_word(const struct life *life, const uint32_t *word, pid_t pid)
{
	uint64_t waited;

	for (waited = 0; !__atomic_load_n(word, __ATOMIC_ACQUIRE); waited += 50000) {
		CHECK(life, waited < PATIENCE_NS, "the writer does nothing");
		if (kill(pid, 0) < 0 || poll_end(pid) >= 0)
			return false;
		nap(50000);
	}
	return true;
}

void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	figures.kills++;
}

/* The processes that a dead recorder left become this process's children (set_up()), and stay in the group. */
void wait_group(pid_t group)
{
	while (waitpid(-group, NULL, 0) > 0)
		;
}

/* ---- lives */

void begin_life(struct life *life, uint32_t events)
{
	memset(life, 0, sizeof(*life));
	memset(notes, 0, sizeof(*notes));
	life->seed = drawn;
	life->overwrite = draw(2);
	life->kb = 8u << draw(4);
	notes->threads = 1 + draw(3);
	notes->waves = 1;
	notes->each = events;
	if (draw(4) == 0) {
		notes->each = 32 + draw(64);
		notes->waves = events / notes->each;
	}
	if (notes->waves * notes->threads * 2 > KILLS_SOURCES)
		notes->waves = KILLS_SOURCES / 2 / notes->threads;
	notes->nested = draw(2);
	notes->longest = draw(2) ? 24 : KILLS_FILL;
	figures.lives++;
}

/* The environment variables; valid until the next call. */
const char *const *make_env(const struct life *life)
{
	static char dir[700], size[64], max[64];
	static const char *envp[7];
	unsigned int n = 0;

	snprintf(dir, sizeof(dir), "RECORDER_DIR=%s", run_dir);
	snprintf(size, sizeof(size), "RECORDER_BUFFER_KB=%u", life->kb);
	snprintf(max, sizeof(max), "RECORDER_MAX_KB=65536");
	envp[n++] = dir;
	envp[n++] = size;
	envp[n++] = max;
	envp[n++] = life->overwrite ? "RECORDER_MODE=overwrite" : "RECORDER_MODE=discard";
	envp[n++] = "RECORDER_ENABLE=*";
	envp[n++] = "RECORDER_KEEP=1";
	envp[n] = NULL;
	return envp;
}

void start_writer(struct life *life)
{
	char name[600];
	const char *const argv[] = { program, name, NULL };

	snprintf(name, sizeof(name), "%s/notes", where);
	life->writer = start(argv, make_env(life));
}

/* The paths of the existing buffers, in `found`. */
size_t find_buffers(glob_t *found)
{
	char pattern[700];

	snprintf(pattern, sizeof(pattern), "%s/*.rec", run_dir);
	if (glob(pattern, 0, NULL, found))
		found->gl_pathc = 0;
	return found->gl_pathc;
}

/* If the writer has committed an event, its buffer is complete, even if the writer was killed before it noted that. */
static bool has_begun(void)
{
	struct kills_sums sums;

	kills_sum(notes, &sums);
	return notes->started || sums.committed;
}

/* False if a buffer may be unfinished because its program was killed in its first moment. */
bool open_buffer(const struct life *life, struct rec_view **ret_view)
{
	glob_t found;
	int r = -ENOENT;

	if (find_buffers(&found))
		r = rec_view_open(found.gl_pathv[0], ret_view);
	globfree(&found);
	CHECK(life, r == 0 || !has_begun(), "the buffer: %s", strerror(-r));
	return r == 0;
}

static void remove_all(const char *dir)
{
	char path[1000];
	struct dirent *entry;
	DIR *list = opendir(dir);

	while (list && (entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, entry->d_name);
		if (unlink(path) == 0)
			continue;
		remove_all(path);
		rmdir(path);
	}
	if (list)
		closedir(list);
}

void end_life(const struct life *life)
{
	CHECK(life, waitpid(-1, NULL, WNOHANG) < 0, "a process is left");
	remove_all(run_dir);
	unlink(path_of("said"));
}

/* Every event that was committed was read, or is reported as lost. `exactly`: and no other loss is reported. */
void check_sums(const struct life *life, struct kills_account *account, uint64_t lost, bool exactly)
{
	struct kills_sums sums;

	CHECK(life, account->corrupt == 0, "a corrupt page: %s", account->walk.why);
	kills_sum(notes, &sums);
	lost += sums.lost;
	if (sums.gone > lost)
		figures.lost_committed += sums.gone - lost;
	CHECK(life, sums.gone <= lost,
	      "%" PRIu64 " committed, %" PRIu64 " read, %" PRIu64 " gone, %" PRIu64 " reported as lost", sums.committed,
	      sums.read, sums.gone, lost);
	CHECK(life, !exactly || lost <= sums.gone + sums.in_doubt,
	      "%" PRIu64 " reported as lost, %" PRIu64 " are, %" PRIu64 " in doubt", lost, sums.gone, sums.in_doubt);
	/* There is one reader and one account, so no event may be found twice. */
	CHECK(life, !exactly || account->reader > 1 || account->repeated == 0, "%" PRIu64 " events came twice",
	      account->repeated);
	figures.events += sums.committed;
	figures.read += sums.read;
	figures.lost += sums.gone;
	figures.pages += notes->taken_count ? notes->taken_count : account->walk.pages;
	figures.corrupt += account->corrupt;
	figures.repeated += account->repeated;
}

/* Take all that the lanes still hold. Returns the number of lost events that was not reported to a reader yet. */
uint64_t drain_by_hand(const struct life *life, struct kills_account *account, struct rec_view *view)
{
	struct rec_view_losses losses;
	struct rec_lane_stats stats;
	struct kills_sums sums;
	uint64_t lost = 0, torn = 0;
	uint32_t lane;
	int r;

	for (lane = 0; lane < rec_view_lanes(view); lane++) {
		while ((r = kills_take_page(account, view, lane, 0)) > 0)
			;
		CHECK(life, r == 0, "lane %u: %s (%s)", lane, strerror(-r), account->walk.why);
		r = rec_view_stats(view, lane, &stats);
		/* The writer was killed while it made the lane. */
		if (r == -ENODATA || r == -EAGAIN)
			continue;
		CHECK(life, r == 0, "lane %u: %s", lane, strerror(-r));
		CHECK(life, stats.broken == 0 && stats.entries == 0, "lane %u: broken %u, %" PRIu64 " left", lane,
		      stats.broken, stats.entries);
		lost += stats.lost_unread;
		torn += stats.torn;
	}
	rec_view_losses(view, &losses);
	kills_sum(notes, &sums);
	CHECK(life, torn <= sums.in_doubt, "%" PRIu64 " torn, %" PRIu64 " events that may be", torn, sums.in_doubt);
	figures.torn += torn;
	return lost + losses.no_lane;
}

/* ---- the command */

void attach_words(const struct life *life, const char *output, struct attach_words *words)
{
	const char *const argv[] = { recorder, "record", "-q", "-P", words->pid, "-o", words->file, NULL };

	snprintf(words->file, sizeof(words->file), "%s/%s", run_dir, output);
	snprintf(words->pid, sizeof(words->pid), "%d", (int)life->writer);
	memcpy(words->argv, argv, sizeof(argv));
}

static pid_t start_with_command(const struct life *life, const char *output)
{
	char file[700], name[600], size[24];
	const char *const argv[] = {
		recorder, "record", "-q", "-b",	   size, "--mode", life->overwrite ? "overwrite" : "discard",
		"-o",	  file,	    "--", program, name, NULL
	};

	snprintf(file, sizeof(file), "%s/%s", run_dir, output);
	snprintf(name, sizeof(name), "%s/notes", where);
	snprintf(size, sizeof(size), "%u", life->kb);
	return start(argv, make_env(life));
}

void start_recorder(struct life *life, const char *output)
{
	struct attach_words words;

	if (life->attach) {
		attach_words(life, output, &words);
		life->recorder = start(words.argv, make_env(life));
	} else {
		life->recorder = start_with_command(life, output);
	}
}

/* Whether the writer has made its buffer, which it does before it comes to the gate. */
bool has_buffer(void)
{
	struct rec_view *view = NULL;
	glob_t found;
	bool has;

	has = find_buffers(&found) && rec_view_open(found.gl_pathv[0], &view) == 0;
	rec_view_close(view);
	globfree(&found);
	return has;
}

static void recover(const struct life *life, const char *what, const char *output)
{
	const char *const argv[] = { recorder, "recover", "-q", "-o", output, what, NULL };
	const int status = wait_end(life, start(argv, make_env(life)));

	/* If a spool has no data, no file is made, and the command reports that. */
	CHECK(life, WIFEXITED(status) && WEXITSTATUS(status) <= 1, "recovering %s: status %#x", what,
	      (unsigned int)status);
}

/* Make a file of each spool that recorders left, and of each buffer that no recorder had. */
void recover_all(const struct life *life)
{
	static const char *const left[] = { "*.spool", "session-*/*.rec", "*.rec" };
	char pattern[700], output[800];
	unsigned int i, files = 0;
	glob_t found;
	size_t k;

	for (i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
		snprintf(pattern, sizeof(pattern), "%s/%s", run_dir, left[i]);
		if (glob(pattern, 0, NULL, &found))
			continue;
		for (k = 0; k < found.gl_pathc; k++) {
			/*
			 * Recovering a spool removes other files of this list, too. A program that was killed at once
			 * left an unfinished file, which is skipped.
			 */
			if (access(found.gl_pathv[k], F_OK) || !has_begun())
				continue;
			snprintf(output, sizeof(output), "%s/recovered%u.dat", run_dir, files++);
			recover(life, found.gl_pathv[k], output);
		}
		globfree(&found);
	}
}

void judge_files(const struct life *life)
{
	struct kills_account account;
	char pattern[700];
	glob_t found;
	size_t k;

	kills_account_init(&account, notes, 1);
	snprintf(pattern, sizeof(pattern), "%s/*.dat", run_dir);
	if (glob(pattern, 0, NULL, &found))
		found.gl_pathc = 0;
	CHECK(life, found.gl_pathc || !has_begun(), "no file");
	for (k = 0; k < found.gl_pathc; k++)
		CHECK(life, kills_take_file(&account, found.gl_pathv[k]), "%s: %s", found.gl_pathv[k],
		      account.walk.why);
	/* If one file begins with the last page of another file, both may report a loss before that page. */
	check_sums(life, &account, account.lost, found.gl_pathc == 1);
	globfree(&found);
	kills_account_free(&account);
}

/* ---- tests */

void set_up(void)
{
	const char *top = getenv("top_builddir");
	int fd;

	cr_assert_not_null(top);
	snprintf(program, sizeof(program), "%s/tests/crash/victim_kills", top);
	snprintf(recorder, sizeof(recorder), "%s/recorder", top);
	snprintf(where, sizeof(where), "%s/tests/points-XXXXXX", top);
	cr_assert_not_null(mkdtemp(where));
	snprintf(run_dir, sizeof(run_dir), "%s/run", where);
	cr_assert_eq(mkdir(run_dir, 0700), 0);
	fd = open(path_of("notes"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, sizeof(*notes)), 0);
	notes = mmap(NULL, sizeof(*notes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(notes, MAP_FAILED);
	close(fd);
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	draw_begin();
}

void tear_down(void)
{
	if (failed)
		return;
	remove_all(where);
	rmdir(where);
}

void report(const char *whom)
{
	tell("{\"killed\": \"%s\", \"kills\": %" PRIu64 ", \"lives\": %" PRIu64 ", \"events\": %" PRIu64
	     ", \"read\": %" PRIu64 ", \"lost\": %" PRIu64 ", \"lost_committed\": %" PRIu64 ", \"torn\": %" PRIu64
	     ", \"read_twice\": %" PRIu64 ", \"pages\": %" PRIu64 ", \"corrupt_pages\": %" PRIu64 ", \"seed\": %" PRIu64
	     "}",
	     whom, figures.kills, figures.lives, figures.events, figures.read, figures.lost, figures.lost_committed,
	     figures.torn, figures.repeated, figures.pages, figures.corrupt, first_seed);
	cr_assert_gt(figures.read, 0);
	draw_end();
}
