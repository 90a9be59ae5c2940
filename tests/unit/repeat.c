/* SPDX-License-Identifier: MIT */
#include "repeat.h"
#include "tell.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char noted[512];

/* The test's process. Its children print nothing. */
static pid_t owner;

char *repeat_line(char *to, size_t size, const char *variables, const char *builddir, const char *program,
		  const char *suite, const char *test)
{
	snprintf(to, size, "%s%s%s %s --filter %s/%s", variables, builddir ? " top_builddir=" : "",
		 builddir ? builddir : "", program, suite, test);
	return to;
}

/* Print the line at the end of the process, if variables are noted. A test that has passed has none. */
static void say_it(void)
{
	char program[512] = "", line[1500];

	if (!noted[0] || getpid() != owner)
		return;
	/* Criterion changes the name of the process. */
	if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
		return;
	tell("repeat: %s", repeat_line(line, sizeof(line), noted, getenv("top_builddir"), program,
				       criterion_current_suite->name, criterion_current_test->name));
	noted[0] = '\0';
}

static void on_crash(int signal)
{
	say_it();
	/* The default action ends the process: SA_RESETHAND. */
	raise(signal);
}

static void begin(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	const struct sigaction action = { .sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER) };
	unsigned int i;

	if (owner)
		return;
	owner = getpid();
	atexit(say_it);
	for (i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &action, NULL);
}

void repeat_by(const char *format, ...)
{
	va_list args;

	begin();
	va_start(args, format);
	vsnprintf(noted, sizeof(noted), format, args);
	va_end(args);
}

void repeat_nothing(void)
{
	noted[0] = '\0';
}

unsigned int repeat_numbers(const char *name, unsigned long long *numbers, unsigned int most)
{
	const char *at = getenv(name);
	unsigned int n = 0;
	char *end;

	while (at && n < most) {
		numbers[n] = strtoull(at, &end, 0);
		cr_assert(end != at && (*end == ',' || !*end), "%s is not a list of numbers separated by commas", name);
		n++;
		at = *end ? end + 1 : NULL;
	}
	cr_assert_null(at, "%s has more than %u numbers", name, most);
	return n;
}
