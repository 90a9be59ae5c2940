/* SPDX-License-Identifier: MIT */
/* Formats whose trial fails, because there is no memory for it: they are not used, and all others are. */
#include "format/text/event_parse.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A request for so much memory fails; 0: none does. Children have a copy. */
static size_t refused;
/* How the last child ended that was waited for. */
static int ended;

/* From the linker; no header can declare them. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
pid_t __real_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage);
pid_t __wrap_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage);

void *__wrap_malloc(size_t size)
{
	return refused && size == refused ? NULL : __real_malloc(size);
}

/* The compiler makes it of a request whose memory is then set to zero. */
void *__wrap_calloc(size_t nr, size_t size)
{
	return refused && nr * size == refused ? NULL : __real_calloc(nr, size);
}

pid_t __wrap_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
{
	const pid_t r = __real_wait4(pid, ret_status, options, ret_usage);

	if (r > 0 && WIFSIGNALED(*ret_status))
		ended = WTERMSIG(*ret_status);
	return r;
}

#define FORMAT(name, id, size)                                                              \
	"name: " name "\nID: " id "\nformat:\n"                                             \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"              \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                        \
	"\tfield:char text[" size "];\toffset:8;\tsize:" size ";\tsigned:0;\n\n"            \
	"print fmt: \"%s\", REC->text\n"

static char texts[][512] = { FORMAT("small", "300", "8"), FORMAT("large", "301", "3000"), FORMAT("last", "302", "16") };
#define LARGE (8 + 3000)
#define NR    (sizeof(texts) / sizeof(texts[0]))

static struct event_table *open_table(void)
{
	static char system[] = "made";
	static struct dat_format formats[NR];
	const struct dat_file file = { .commit_size = 8, .formats = formats, .nr_formats = NR };
	struct event_table *table = NULL;

	for (size_t i = 0; i < NR; i++)
		formats[i] = (struct dat_format){ system, { texts[i], strlen(texts[i]), 0 } };
	cr_assert_eq(event_table_open(&file, EVENT_NO_PLUGINS, &table), 0);
	return table;
}

Test(event_parse, all_are_used)
{
	struct event_table *table = open_table();

	cr_assert_eq(table->failures, 0u);
	cr_assert(table->types[300] && table->types[301] && table->types[302]);
	cr_assert_eq(table->types[301]->need, LARGE);
	event_table_close(table);
}

Test(event_parse, no_memory_for_a_trial)
{
	struct event_table *table;

	refused = LARGE + 64 + EVENT_SLACK;
	table = open_table();
	cr_assert_eq(table->failures, 1u);
	cr_assert(table->types[300] && !table->types[301] && table->types[302]);
	/* An access to the missing memory would be SIGSEGV. */
	cr_assert_eq(ended, SIGABRT, "signal %d", ended);
	event_table_close(table);
}

/* Then the time that a trial took is not known: one second is charged, and the formats after it are tried. */
Test(event_parse, no_memory_while_SIGCHLD_is_ignored)
{
	struct event_table *table;

	signal(SIGCHLD, SIG_IGN);
	refused = LARGE + 64 + EVENT_SLACK;
	table = open_table();
	cr_assert_eq(table->failures, 1u);
	cr_assert(table->types[300] && !table->types[301] && table->types[302]);
	event_table_close(table);
	signal(SIGCHLD, SIG_DFL);
}
