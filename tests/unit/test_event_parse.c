/* SPDX-License-Identifier: MIT */
/* Formats whose trial fails for lack of memory or of time are not used, and are counted; all others are used. */
#include "format/text/event_parse.h"
#include "format/text/event_probe.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>

/* Requests for this much memory or more fail; 0: none fails. Children inherit a copy. */
static size_t refused;
/* The status of the last child that was waited for. */
static int ended;
/* The processor time that a child has taken, as its parent sees it; 0: the true one. */
static time_t taken;

/* The linker defines these names; no header can declare them. */
void *__real_calloc(size_t nr, size_t size);
void *__wrap_calloc(size_t nr, size_t size);
pid_t __real_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage);
pid_t __wrap_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage);
int __real_setitimer(int which, const struct itimerval *timer, struct itimerval *ret_old);
int __wrap_setitimer(int which, const struct itimerval *timer, struct itimerval *ret_old);

void *__wrap_calloc(size_t nr, size_t size)
{
	return refused && nr * size == refused ? NULL : __real_calloc(nr, size);
}

pid_t __wrap_wait4(pid_t pid, int *ret_status, int options, struct rusage *ret_usage)
{
	const pid_t r = __real_wait4(pid, ret_status, options, ret_usage);

	if (r > 0 && WIFSIGNALED(*ret_status))
		ended = WTERMSIG(*ret_status);
	if (r > 0 && taken)
		ret_usage->ru_utime.tv_sec = taken;
	return r;
}

/* A limit of seconds becomes one of as many 100 ms. */
int __wrap_setitimer(int which, const struct itimerval *timer, struct itimerval *ret_old)
{
	const struct itimerval shorter = { .it_value.tv_usec = timer->it_value.tv_sec * 100000 };

	return __real_setitimer(which, &shorter, ret_old);
}

#define FIELDS(size)                                                                         \
	"format:\n"                                                                          \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"              \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"                        \
	"\tfield:char text[" size "];\toffset:8;\tsize:" size ";\tsigned:0;\n\n"            \
	"print fmt: \"%s\", REC->text\n"
#define FORMAT(name, id, size) "name: " name "\nID: " id "\n" FIELDS(size)

static char texts[][512] = { FORMAT("small", "300", "8"), FORMAT("large", "301", "3000"), FORMAT("last", "302", "16") };
#define LARGE (8 + 3000)
#define NR    (sizeof(texts) / sizeof(texts[0]))

static struct event_table *open_file(const struct dat_file *file, unsigned int flags)
{
	struct event_table *table = NULL;

	cr_assert_eq(event_table_open(file, EVENT_NO_PLUGINS | flags, &table), 0);
	return table;
}

static struct event_table *open_table(void)
{
	static char system[] = "made";
	static struct dat_format formats[NR];
	const struct dat_file file = { .commit_size = 8, .formats = formats, .nr_formats = NR };

	for (size_t i = 0; i < NR; i++)
		formats[i] = (struct dat_format){ system, { texts[i], strlen(texts[i]), 0 } };
	return open_file(&file, 0);
}

Test(event_parse, all_are_used)
{
	struct event_table *table = open_table();

	cr_assert_eq(table->failed.nr, 0u);
	cr_assert_eq(table->left_out.nr, 0u);
	cr_assert(table->types[300] && table->types[301] && table->types[302]);
	cr_assert_eq(table->types[301]->need, LARGE);
	event_table_close(table);
}

Test(event_parse, no_memory_for_a_trial)
{
	struct event_table *table;

	refused = LARGE + 64 + EVENT_SLACK;
	table = open_table();
	cr_assert_eq(table->failed.nr, 1u);
	cr_assert(table->types[300] && !table->types[301] && table->types[302]);
	cr_assert_eq(table->left_out.nr, 1u);
	cr_assert_str_eq(table->left_out.first, "made:large");
	/* An access to the missing memory would be SIGSEGV. */
	cr_assert_eq(ended, SIGABRT, "signal %d", ended);
	event_table_close(table);
}

/* Many formats take long together, under valgrind for example: each is tried all the same. */
Test(event_parse, children_that_take_nine_seconds)
{
	enum { MANY = 1000 };
	static char system[] = "made", many[MANY][512];
	static struct dat_format formats[MANY];
	const struct dat_file file = { .commit_size = 8, .formats = formats, .nr_formats = MANY };
	struct event_table *table;

	for (int i = 0; i < MANY; i++) {
		snprintf(many[i], sizeof(many[i]), "name: event_%d\nID: %d\n%s", i, 1000 + i,
			 i % 300 ? FIELDS("16") : FIELDS("3000"));
		formats[i] = (struct dat_format){ system, { many[i], strlen(many[i]), 0 } };
	}
	refused = LARGE + 64 + EVENT_SLACK;
	taken = 9;
	table = open_file(&file, 0);
	cr_assert_eq(table->failed.nr, 4u, "%u", table->failed.nr);
	cr_assert_str_eq(table->left_out.first, "made:event_0");
	cr_assert_eq(table->left_out.nr, 4u);
	for (int i = 0; i < MANY; i++)
		cr_assert_eq(!table->types[1000 + i], i % 300 == 0, "%d", i);
	event_table_close(table);
}

/* Texts on which the parser would take for ever, and one that it crashes on. */
static void attempt(void *arg, size_t i)
{
	(void)arg;
	if (i == 3)
		abort();
	while (i == 1 || i == 5)
		;
}

Test(event_parse, each_has_a_limit_of_its_own)
{
	bool bad[8] = { false };
	sigset_t blocked;

	/* The program ignores and blocks the signal; the child does neither. */
	signal(SIGPROF, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPROF);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	cr_assert_eq(event_probe(attempt, NULL, 8, bad), 0);
	for (size_t i = 0; i < 8; i++)
		cr_assert_eq(bad[i], i == 1 || i == 3 || i == 5, "%zu", i);
	cr_assert_eq(ended, SIGPROF, "signal %d", ended);
}

/* Names are printed: control characters are replaced, and long names are cut. */
Test(event_parse, the_name_of_one_that_is_left_out)
{
	static char system[] = "a\033[2Jvery_long_name_of_a_system_of_events", none[] = "";
	static char text[] = "name: x\033y\nID: 3\0";
	static struct dat_format formats[] = { { system, { text, sizeof(text), 0 } }, { system, { none, 0, 0 } } };
	const struct dat_file file = { .commit_size = 8, .formats = formats, .nr_formats = 2 };
	struct event_table *table = open_file(&file, 0);

	cr_assert_eq(table->left_out.nr, 2u);
	cr_assert_str_eq(table->left_out.first, "a??2Jvery_long_name_of_a_system:x?y");
	event_table_close(table);
}

/* If the time of a trial is unknown, it counts as a trial that has reached its limit. The next formats are tried. */
Test(event_parse, no_memory_while_SIGCHLD_is_ignored)
{
	struct event_table *table;

	signal(SIGCHLD, SIG_IGN);
	refused = LARGE + 64 + EVENT_SLACK;
	table = open_table();
	cr_assert_eq(table->failed.nr, 1u);
	cr_assert(table->types[300] && !table->types[301] && table->types[302]);
	event_table_close(table);
	signal(SIGCHLD, SIG_DFL);
}

/* Names and begins of functions are the same, whether the list is parsed at once or when it is needed. */
Test(event_parse, functions_later)
{
	static char list[] = "0000000000001000 T first\nbad line\n0000000000001080 t second\t[module]\n"
			     "0000000000001080 t alias\n0000000000002000 T last\n";
	static const uint64_t addresses[] = { 0,      0xfff,  0x1000, 0x1001, 0x107f,
					      0x1080, 0x1081, 0x1fff, 0x2000, 0x2001 };
	const struct dat_file file = { .commit_size = 8, .kallsyms = { list, strlen(list), 0 } };
	struct event_table *now = open_file(&file, 0), *later = open_file(&file, EVENT_FUNCTIONS_LATER);

	cr_assert(later->later && !later->functions.nr);
	cr_assert_str_eq(tep_find_function(later->tep, 0x1001), "first");
	cr_assert(!later->later && later->functions.nr == 4);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		const char *name = tep_find_function(now->tep, addresses[i]);
		const char *late = tep_find_function(later->tep, addresses[i]);

		cr_assert(name ? late && !strcmp(name, late) : !late, "%zu: %s, %s", i, name, late);
		cr_assert_eq(tep_find_function_address(now->tep, addresses[i]),
			     tep_find_function_address(later->tep, addresses[i]), "%zu", i);
	}
	event_table_close(now);
	event_table_close(later);
}

/* Functions that are added to a list that is parsed later are added to it. */
Test(event_parse, functions_later_and_more)
{
	static char list[] = "0000000000001000 T first\n";
	static const char more[] = "0000000000002000 T added\n0000000000003000 T last\n";
	const struct dat_file file = { .commit_size = 8, .kallsyms = { list, strlen(list), 0 } };
	struct event_table *table = open_file(&file, EVENT_FUNCTIONS_LATER);

	cr_assert_eq(event_table_add_symbols(table, more, strlen(more)), 0);
	cr_expect_str_eq(tep_find_function(table->tep, 0x1001), "first");
	cr_expect_str_eq(tep_find_function(table->tep, 0x2001), "added");
	cr_expect_eq(event_table_functions(table)->nr, 3);
	event_table_close(table);
}
