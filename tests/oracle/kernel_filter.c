/* SPDX-License-Identifier: MIT */
/*
 * Our filters compared with the running kernel's: the same texts are written to task/task_rename's filter file and
 * compiled for an event with the same fields. Both must accept the same ones, except for the differences that
 * rec_filter_compile(3) names; and with those that both accept, each of several renames of this thread must pass both
 * or neither. Prints TAP.
 *
 * RECORDER_SEED chooses the texts, RECORDER_FILTER_ROUNDS how many (1000).
 */
#include "kernel_tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <librecorder/event.h>
#include <librecorder/filter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EVENT "events/task/task_rename/"

REC_EVENT(task, task_rename, s32(pid), string(oldcomm), string(newcomm), s16(oom_score_adj));

static const char *const names[] = { "a", "ab", "abc", "b.c", "xay", "[a", "a]b", "*", "aab", "fifteen letters" };

#define NR(array) (sizeof(array) / sizeof((array)[0]))

struct both {
	struct tracefs fs;
	int pipe; /* trace_pipe; reads do not block */
	int adj;  /* oom_score_adj of this process */
	char name[16];
	unsigned int checks;
};

static uint64_t state;

static unsigned int draw(unsigned int below)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned int)(state >> 33) % below;
}

static void say(struct both *both, bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++both->checks, name);
}

/* ------------------------------------------------------------------------------------------- one text, both sides */

/* A filter may be longer than what tracefs_set() takes. 0 or negative errno. */
static int set_filter(const struct tracefs *fs, const char *text)
{
	const int fd = tracefs_fd(fs, O_WRONLY | O_TRUNC, EVENT "filter");
	int r = fd < 0 ? fd : 0;

	if (r == 0 && write(fd, text, strlen(text)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

/* Compile for our event. The size of the condition, or -EINVAL. */
static int compile(const char *text, struct rec_condition *condition, struct rec_filter_error *error)
{
	return rec_filter_compile(&rec_blob_task__task_rename.event, text, condition, REC_CONDITION_MAX, error);
}

/* A record as our event would write it. */
static size_t make_record(unsigned char *record, const struct both *both, const char *name)
{
	const int32_t pid = (int32_t)syscall(SYS_gettid);
	const int16_t adj = (int16_t)both->adj;
	const size_t fixed = 8 + 4 + 4 + 4 + 2, old_size = strlen(both->name) + 1, new_size = strlen(name) + 1;
	const uint32_t old = (uint32_t)(fixed | old_size << 16), new = (uint32_t)((fixed + old_size) | new_size << 16);

	memset(record, 0, fixed);
	memcpy(record + 4, &pid, 4);
	memcpy(record + 8, &pid, 4);
	memcpy(record + 12, &old, 4);
	memcpy(record + 16, &new, 4);
	memcpy(record + 20, &adj, 2);
	memcpy(record + fixed, both->name, old_size);
	memcpy(record + fixed + old_size, name, new_size);
	return fixed + old_size + new_size;
}

/* Rename this thread. Returns whether the kernel recorded that. */
static bool rename_to(struct both *both, const char *name)
{
	char text[4096];
	bool seen = false;
	ssize_t n;

	/* Skip what is there: if the kernel refuses a text, the event has no filter for a while. */
	while (read(both->pipe, text, sizeof(text)) > 0)
		;
	prctl(PR_SET_NAME, name);
	snprintf(both->name, sizeof(both->name), "%s", name);
	while ((n = read(both->pipe, text, sizeof(text) - 1)) > 0) {
		text[n] = '\0';
		seen = seen || strstr(text, "task_rename:");
	}
	return seen;
}

/* Filters that we refuse and the kernel accepts, each for a reason in the manual. */
static bool is_known_difference(const char *reason)
{
	static const char *const known[] = { "is out of range for", "a comparison is missing" };

	for (size_t i = 0; i < NR(known); i++)
		if (strstr(reason, known[i]))
			return true;
	return false;
}

enum verdict {
	DIFFER,
	TAKEN,
	REFUSED,
};

static enum verdict try_text(struct both *both, const char *text)
{
	_Alignas(8) unsigned char bytes[REC_CONDITION_MAX], record[256];
	struct rec_condition *condition = (struct rec_condition *)(void *)bytes;
	struct rec_filter_error error;
	const int ours = compile(text, condition, &error), kernel = set_filter(&both->fs, text);
	enum verdict verdict = TAKEN;

	if (ours < 0 && kernel < 0)
		return REFUSED;
	if (ours < 0 && is_known_difference(error.reason))
		return REFUSED;
	if (ours < 0 || kernel < 0) {
		printf("# '%s': the kernel %s, we %s\n", text, kernel < 0 ? "refuses it" : "takes it",
		       ours < 0 ? error.reason : "take it");
		return DIFFER;
	}
	for (size_t i = 0; i < NR(names); i++) {
		const size_t size = make_record(record, both, names[i]);
		const bool we = rec_filter_match(condition, (size_t)ours, record, size, 0);
		char old[16];

		strcpy(old, both->name);
		if (rename_to(both, names[i]) == we)
			continue;
		printf("# '%s': from '%s' to '%s' %s the kernel's\n", text, old, names[i],
		       we ? "passes our filter, not" : "does not pass our filter, but");
		verdict = DIFFER;
	}
	return verdict;
}

/* ------------------------------------------------------------------------------------------------------- the texts */

/*
 * There is no pattern with a plain text after a star or between two, such as *b and *b*: the kernel looks for these in
 * the whole array that holds its strings here, even after the string's end.
 */
static const char *const fixed[] = {
	"pid > 3",
	"sise > 3",
	"pid => 3",
	"(pid == 3",
	"pid == 3)",
	"newcomm == ab",
	"newcomm == \"ab",
	"newcomm < \"a\"",
	"pid == \"a\"",
	"pid ~ 3",
	"pid == 3 &",
	"pid == 3 & pid == 4",
	"()",
	"!pid == 3",
	"!(pid == 3)",
	"pid == 0x",
	"pid == -",
	"pid == - 3",
	"pid == 08",
	"pid == 010",
	"pid == 0x7fffffff",
	"pid == 99999999999999999999",
	"common_type == -1",
	"pid & 3",
	"newcomm & 3",
	"newcomm == 3",
	"common_pid==1||common_pid==2&&pid>3",
	"pid",
	"3 == pid",
	"pid == 3 pid == 4",
	"CPU >= 0",
	"cpu < 4096",
	"newcomm == 'it'",
	"((pid != 3))",
	"!!(pid != 3)",
	"! ! pid != 3",
	"pid = 3",
	"pid === 3",
	"pid == 3 || || pid == 4",
	"((pid == 3)",
	"newcomm ~ 'a*'",
	"newcomm ~ '*[b]'",
	"newcomm ~ '*[a]*'",
	"newcomm ~ '!a*'",
	"newcomm ~ '[a-b]*'",
	"newcomm ~ '[!a]*'",
	"newcomm ~ '?a?'",
	"newcomm ~ '\\\\*'",
	"newcomm ~ '[[]a'",
	"newcomm ~ 'a]b'",
	"newcomm ~ ''",
	"newcomm != ''",
	"oldcomm == 'a' && newcomm != 'a'",
	"oom_score_adj < 0",
	"oom_score_adj == 5 && newcomm ~ 'a*b'",
	"oom_score_adj & 1",
	"oom_score_adj > -6",
	"oom_score_adj >= 5",
	"newcomm ~ '[a'",
	"newcomm ~ '*['",
	"newcomm ~ '[]a]*'",
	"newcomm ~ 'a*]*'",
};

static size_t add_comparison(char *text)
{
	static const char *const numbers[] = { "pid", "common_pid", "oom_score_adj" };
	static const char *const operators[] = { "==", "!=", "<", "<=", ">", ">=", "&" };
	static const char *const patterns[] = { "a*",	 "*[b]",  "*[a]*", "?",	      "??",   "a?*",
						"[ab]*", "[!x]*", "*.?",   "*",	      "!a",   "!*[b]*",
						"a*b",	 "\\\\*", "*t*s",  "[a-y]ay", "*[!b]" };

	switch (draw(4)) {
	case 0:
		return (size_t)sprintf(text, "%s %s %d", numbers[draw(2)], operators[draw(7)],
				       (int)getpid() + (int)draw(3) - 1);
	case 1:
		return (size_t)sprintf(text, "%s%s%d", numbers[2], operators[draw(7)], (int)draw(12) - 3);
	case 2:
		return (size_t)sprintf(text, "%s %s '%s'", draw(2) ? "oldcomm" : "newcomm",
				       draw(2) ? "==" : "!=", names[draw(NR(names))]);
	default:
		return (size_t)sprintf(text, "%s ~ \"%s\"", draw(2) ? "oldcomm" : "newcomm",
				       patterns[draw(NR(patterns))]);
	}
}

static size_t add_expression(char *text, unsigned int depth)
{
	size_t used = 0;

	if (!depth || draw(3) == 0)
		return add_comparison(text);
	used += (size_t)sprintf(text + used, "%s(", draw(3) ? "" : "!");
	used += add_expression(text + used, depth - 1);
	used += (size_t)sprintf(text + used, "%s", draw(2) ? " && " : "||");
	used += add_expression(text + used, depth - 1);
	/* Sometimes one part more, and sometimes without the closing parenthesis. */
	if (!draw(3)) {
		used += (size_t)sprintf(text + used, "%s", draw(2) ? "&&" : " || ");
		used += add_comparison(text + used);
	}
	return used + (size_t)sprintf(text + used, "%s", draw(30) ? ")" : "");
}

/* --------------------------------------------------------------------------------------------------- the test */

static void compare(struct both *both)
{
	const char *seed = getenv("RECORDER_SEED"), *rounds = getenv("RECORDER_FILTER_ROUNDS");
	const unsigned int nr = rounds ? (unsigned int)strtoul(rounds, NULL, 10) : 1000;
	unsigned int verdicts[3] = { 0 };
	char text[4096];
	uint64_t first;

	for (size_t i = 0; i < NR(fixed); i++)
		verdicts[try_text(both, fixed[i])]++;
	say(both, verdicts[DIFFER] == 0 && verdicts[TAKEN] > 20 && verdicts[REFUSED] > 20, "texts of each kind");
	state = seed ? strtoull(seed, NULL, 10) : 1;
	first = state;
	printf("# RECORDER_SEED=%" PRIu64 "\n", first);
	memset(verdicts, 0, sizeof(verdicts));
	for (unsigned int i = 0; i < nr; i++) {
		add_expression(text, 4);
		verdicts[try_text(both, text)]++;
	}
	printf("# %u taken by both, %u refused\n", verdicts[TAKEN], verdicts[REFUSED]);
	if (verdicts[DIFFER] || verdicts[TAKEN] <= nr / 2)
		printf("# repeat: RECORDER_SEED=%" PRIu64 " RECORDER_FILTER_ROUNDS=%u tests/oracle/kernel_filter\n",
		       first, nr);
	say(both, verdicts[DIFFER] == 0 && verdicts[TAKEN] > nr / 2, "any texts");
}

static bool set_adj(int adj)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "w");

	return file && fprintf(file, "%d\n", adj) > 0 && fclose(file) == 0;
}

int main(void)
{
	struct both both = { .adj = 5 };
	char pid[16], name[64];
	const char *why;

	snprintf(name, sizeof(name), "recorder-test-filter-%d", (int)getpid());
	why = tracefs_open(&both.fs, name);
	if (why) {
		printf("1..0 # SKIP %s\n", why);
		return 0;
	}
	both.pipe = tracefs_fd(&both.fs, O_RDONLY | O_NONBLOCK, "trace_pipe");
	if (both.pipe >= 0)
		why = tracefs_set(&both.fs, EVENT "enable", "1") < 0 ? "no task_rename event in this kernel"
		      : set_adj(both.adj)			     ? NULL
								     : "no right to oom_score_adj";
	if (both.pipe < 0 || why) {
		close(both.pipe);
		tracefs_close(&both.fs);
		printf("1..0 # SKIP %s\n", why ? why : "no trace_pipe");
		return 0;
	}
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	tracefs_set(&both.fs, "set_event_pid", pid);
	rename_to(&both, "a");
	compare(&both);
	close(both.pipe);
	say(&both, tracefs_close(&both.fs), "the instance is removed");
	printf("1..%u\n", both.checks);
	return 0;
}
