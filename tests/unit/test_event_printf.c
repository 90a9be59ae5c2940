/* SPDX-License-Identifier: MIT */
/* rec_printf: what is printed from the binary arguments is what printf would have printed. */
#include "librecorder/process/process.h"
#include "tests/unit/event_fixture.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <float.h>
#include <librecorder/event.h>
#include <librecorder/event_text.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

static char expected[8192];

static void all_on(void)
{
	cr_assert_gt(rec_enable("ftrace:bprint"), 0);
	expected[0] = '\0';
}

TestSuite(event_printf, .init = all_on);

/* Record it, and note the expected text. */
#define BOTH(...)                                                                                                      \
	do {                                                                                                           \
		const size_t at_ = strlen(expected);                                                                   \
		rec_printf(__VA_ARGS__);                                                                               \
		snprintf(expected + at_, sizeof(expected) - at_, "bprint: %s: ", __func__);                            \
		snprintf(expected + strlen(expected), sizeof(expected) - strlen(expected), __VA_ARGS__);               \
		strcat(expected, "\n");                                                                                \
	} while (0)

static void compare(void)
{
	const char *text = event_fixture_text();

	cr_assert_str_eq(text, expected, "\n%s\ninstead of\n%s", text, expected);
}

Test(event_printf, whole_numbers)
{
	BOTH("%d %i %u %x %X %o", -1, 2, 3000000000u, 0xbeefu, 0xbeefu, 8u);
	BOTH("%ld %lu %lx %lld %llu", -1L, ~0ul, 0xabcdef0123456789ul, -5LL, ~0ull);
	BOTH("%hhd %hhu %hd %hu", (signed char)-2, (unsigned char)255, (short)-3, (unsigned short)65535);
	BOTH("%zu %zd %jd %td", (size_t)7, (ssize_t)-7, (intmax_t)-8, (ptrdiff_t)-9);
	BOTH("%5d|%05d|%.3d|%8.3d|%#x|%#o", 1, 2, 3, 4, 5u, 6u);
	BOTH("%-5d|%+d|% d|%*d|%-*d|%.*d", 1, 2, 3, 4, 5, 6, 7, 2, 8);
	BOTH("%+lld %-6ldx %*lu", -5LL, 3L, 4, 5ul);
	BOTH("%+hhd %+hd", (signed char)-7, (short)300);
	compare();
}

static bool is_in_handler;
static unsigned int nr_unsafe;
int __wrap_snprintf(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

int __wrap_snprintf(char *text, size_t size, const char *format, ...)
{
	va_list args;
	int n;

	nr_unsafe += is_in_handler;
	va_start(args, format);
	n = vsnprintf(text, size, format, args);
	va_end(args);
	return n;
}

static void write_from_handler(int signal)
{
	is_in_handler = true;
	rec_printf("%d %lld %08x %3.2d %s %20s %p %c", signal, -1LL, 0xbeefu, 7, "text", "right", (void *)16, 'c');
	is_in_handler = false;
}

/* Integers, pointers and strings: even the first event of a call site calls nothing that a handler may not call. */
Test(event_printf, what_is_signal_safe_calls_no_snprintf)
{
	signal(SIGUSR1, write_from_handler);
	raise(SIGUSR1);
	cr_assert_eq(nr_unsafe, 0);
	cr_assert_str_eq(event_fixture_text(),
			 "bprint: write_from_handler: 10 -1 0000beef  07 text                right 0x10 c\n");
}

/* Arguments that are larger than the conversion's type. Compilers warn of them, but printf defines the result. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
Test(event_printf, narrowing_is_printfs)
{
	rec_printf("%hhd %hhu %hd %hu", 300, 300, 70000, 70000);
	cr_assert_str_eq(event_fixture_text(), "bprint: event_printf_narrowing_is_printfs_impl: 44 44 4464 4464\n");
}
#pragma GCC diagnostic pop

Test(event_printf, strings)
{
	const char *none = getenv("NO_SUCH_VARIABLE_OF_THIS_TEST");

	BOTH("%s", "");
	BOTH("%s and %s", "one", "two");
	BOTH("%d%s%d%s%lld", 1, "a", 2, "bcd", 3LL);
	BOTH("%.2s|%.*s|%.0s|%.10s", "xyz", 1, "pq", "gone", "short");
	BOTH("%5s|%-5s|%*s|%-*s|%5.1s", "a", "b", 5, "c", 5, "d", "ef");
	BOTH("%c%c %3c|%-3c|", 'a', 'b', 'c', 'd');
	BOTH("%s", none);
	BOTH("100%% of %s", "it");
	BOTH("%%");
	BOTH("x");
	BOTH("\"quoted\" \\ and\ttabbed %s", "\"so\" \\");
	compare();
}

Test(event_printf, what_libtraceevent_cannot_print)
{
	BOTH("%f %.1f %10.3f %-10.3f|", 1.5, 0.25, -2.125, 3.0);
	BOTH("%e %g %G %a %E", 1e100, 1e-10, 2.5, 1.0, -0.0);
	BOTH("%Lf %.*f %*.1f", 2.5L, 2, 3.14159, 8, 1.0);
	BOTH("%ls %lc", L"wide", (wint_t)L'w');
	errno = ENOENT;
	BOTH("%m %d", 1);
	cr_assert_eq(errno, ENOENT);
	compare();
}

Test(event_printf, pointers)
{
	rec_printf("%p %p %20p|", (void *)0x7ffe1234, NULL, (void *)16);
	cr_assert_str_eq(event_fixture_text(),
			 "bprint: event_printf_pointers_impl: 0x7ffe1234 0x0                 0x10|\n");
}

Test(event_printf, one_newline_at_the_end_is_dropped)
{
	rec_printf("one\n");
	rec_printf("n=%d\n", 2);
	rec_printf("in\nside %d", 3);
	cr_assert_str_eq(event_fixture_text(),
			 "bprint: event_printf_one_newline_at_the_end_is_dropped_impl: one\n"
			 "bprint: event_printf_one_newline_at_the_end_is_dropped_impl: n=2\n"
			 "bprint: event_printf_one_newline_at_the_end_is_dropped_impl: in\nside 3\n");
}

Test(event_printf, thirty_two_conversions)
{
	const char *text;

	BOTH("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %s", 1, 2, 3,
	     4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
	     "end");
	compare();
	rec_printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d",
		   1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
		   28, 29, 30, 31, 32, 33);
	text = event_fixture_text();
	cr_assert(strstr(text, "cannot be recorded"), "%s", text);
}

Test(event_printf, long_strings_are_cut_and_nothing_after_them_is_lost)
{
	static char string[5000];
	const char *text;

	memset(string, 's', sizeof(string) - 1);
	rec_printf("%s|%s|%lld|%f|%s|%d", string, "second", 12345678901234LL, 0.5, string, 17);
	text = event_fixture_text();
	cr_assert_eq(event_fixture_count(), 1);
	cr_assert_gt(strlen(text), 900);
	cr_assert_lt(strlen(text), 1200);
	cr_assert(strstr(text, "|12345678901234|"), "%s", text);
	cr_assert_str_eq(strrchr(text, '|'), "|17\n");
}

Test(event_printf, long_texts_are_kept_if_there_is_room)
{
	static char string[600];

	memset(string, 's', sizeof(string) - 1);
	BOTH("%f END", 1e300);
	BOTH("%Lf|%-5s|", -1e300L, string);
	BOTH("%-700d|%+.250d|", 1, 2);
	compare();
}

/* A number is never cut to another one. */
Test(event_printf, numbers_without_room_are_marked)
{
	static char string[2000];
	const char *text;

	memset(string, 's', sizeof(string) - 1);
	rec_printf("%s|%f|%-1500d|%.1200e|%d", string, 1e300, 1, 1.0, 17);
	text = event_fixture_text();
	cr_assert_eq(event_fixture_count(), 1);
	cr_assert_str_eq(strchr(text, '|'), "|(too long)|(too long)|(too long)|17\n");
	rec_printf("%-1500s|%f", "cut", 0.25);
	text = event_fixture_text();
	cr_assert_str_eq(strrchr(text, '|'), "|0.250000\n");
}

Test(event_printf, a_site_is_logged_once)
{
	uint64_t log_used = 0;

	for (int i = 0; i < 100; i++) {
		rec_printf("%d", i);
		if (i == 0)
			log_used = rec_process_header()->log_used;
	}
	cr_assert_eq(rec_process_header()->log_used, log_used);
	event_fixture_text();
	cr_assert_eq(event_fixture_count(), 100);
}

Test(event_printf, formats_too_long_for_the_log_are_replaced_by_a_text)
{
const char *text;

#define TEN(x)	 x x x x x x x x x x
#define HUNDRED(x) TEN(TEN(x))
	rec_printf(HUNDRED("twenty characters...") TEN("twenty characters...") "%d", 1);
	cr_assert(strstr(event_fixture_text(), "cannot be recorded"));
	rec_printf(HUNDRED("ten chars.") "%d", 1);
	text = event_fixture_text();
	cr_assert_gt(strlen(text), 1000, "%s", text);
}

Test(event_printf, malformed_sites_are_refused)
{
	struct {
		struct rec_log_printf site;
		char text[16];
	} made = { .site = { { sizeof(made), REC_LOG_PRINTF, 0 }, 1, 1, 8 } };
	char text[64];

	memcpy(made.text, "fn\0a\"%d\n", 8);
	cr_assert_eq(rec_printf_format_text(&made.site, text, sizeof(text)), -EBADMSG, "not ended");
	made.site.text_size = 9;
	cr_assert_eq(rec_printf_format_text(&made.site, text, sizeof(text)), 9);
	cr_assert_str_eq(text, "\"a\\\"%d\\n\"");
	cr_assert_str_eq(rec_printf_function(&made.site), "fn");
	cr_assert_eq(rec_printf_format_text(&made.site, text, 9), -ENOSPC);
	made.site.text_size = 17;
	cr_assert_eq(rec_printf_format_text(&made.site, text, sizeof(text)), -EBADMSG);
	cr_assert_str_eq(rec_printf_function(&made.site), "");
	made.site.text_size = 9;
	made.site.record.size = sizeof(made.site.record);
	cr_assert_eq(rec_printf_format_text(&made.site, text, sizeof(text)), -EBADMSG);
}

/* libtraceevent reads the last two characters of a format, even if it is shorter. */
Test(event_printf, short_formats_are_read_within_their_bounds)
{
	static const struct {
		char format[4];
		const char *text;
	} cases[] = {
		{ "", "\"\\n\"" },	 { "x", "\"x\\n\"" }, { "%d", "\"%d\"" },
		{ "\n", "\"\\n\"" }, { "\"", "\"\\\"\"" }, { "%d\n", "\"%d\\n\"" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct {
			struct rec_log_printf site;
			char text[16];
		} made = { .site = { { sizeof(made), REC_LOG_PRINTF, 0 }, 1, 1, 8 } };
		char text[64];

		memcpy(made.text, "fn", 3);
		strcpy(made.text + 3, cases[i].format);
		made.site.text_size = (uint16_t)(4 + strlen(cases[i].format));
		cr_assert_eq(rec_printf_format_text(&made.site, text, sizeof(text)), (int)strlen(cases[i].text));
		cr_assert_str_eq(text, cases[i].text);
	}
}
