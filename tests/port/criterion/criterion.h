/* SPDX-License-Identifier: MIT */
/*
 * Replaces Criterion where it is not available: other CPUs, the thread sanitizer. It has the names
 * of Criterion that our tests use, with the same meaning; harness.c runs the tests. A test file is the same with both.
 */
#ifndef PORT_CRITERION_H
#define PORT_CRITERION_H

/* Criterion's header includes these, and is a system header, so what its macros compare causes no warnings. */
#pragma GCC system_header

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What may follow a test's or suite's name. */
struct port_options {
	char sentinel;
	void (*init)(void);
	void (*fini)(void);
	double timeout; /* seconds; 0: the harness's own */
	int signal;	/* the signal that must end the test */
	int exit_code;
	bool disabled;
	const char *description;
};

struct port_test {
	const char *suite;
	const char *name; /* NULL: the options are those of the suite */
	void (*run)(void);
	struct port_options options;
	struct port_test *next;
};

/* The test that runs in this process. */
struct port_named {
	const char *name;
};
extern const struct port_named *criterion_current_suite, *criterion_current_test;

/* Called by constructors; the order is that of the file. */
void port_add(struct port_test *test);

/* Prints why and ends the test, in whichever of its processes. `format` may be NULL. */
void port_fail(const char *file, int line, const char *what, const char *format, ...) __attribute__((noreturn));

/* The same, but the test continues and fails at its end. */
void port_expect(const char *file, int line, const char *what, const char *format, ...);
void port_skip(const char *format, ...) __attribute__((noreturn));

#define PORT_DESCRIBE(id, suite_, name_, run_, ...)                                                                    \
	static struct port_test id = { suite_, name_, run_, { .sentinel = 0, __VA_ARGS__ }, NULL };                    \
	__attribute__((constructor)) static void id##_add(void)                                                        \
	{                                                                                                              \
		port_add(&id);                                                                                         \
	}

#define Test(suite_, name_, ...)                                                                                       \
	static void suite_##_##name_##_impl(void);                                                                     \
	PORT_DESCRIBE(port_test_##suite_##_##name_, #suite_, #name_, suite_##_##name_##_impl, __VA_ARGS__)             \
	static void suite_##_##name_##_impl(void)

#define TestSuite(suite_, ...) PORT_DESCRIBE(port_suite_##suite_, #suite_, NULL, NULL, __VA_ARGS__)

/* The last argument of a varargs call is a NULL that is read only if there is no message. */
#define PORT_CHECK(how, ok, what, ...)                                                                                 \
	do {                                                                                                           \
		if (!(ok))                                                                                             \
			how(__FILE__, __LINE__, what, ##__VA_ARGS__, NULL);                                            \
	} while (0)

#define cr_assert(c, ...)	     PORT_CHECK(port_fail, c, #c, ##__VA_ARGS__)
#define cr_assert_not(c, ...)	     PORT_CHECK(port_fail, !(c), "not " #c, ##__VA_ARGS__)
#define cr_assert_eq(a, b, ...)	     PORT_CHECK(port_fail, (a) == (b), #a " == " #b, ##__VA_ARGS__)
#define cr_assert_neq(a, b, ...)     PORT_CHECK(port_fail, (a) != (b), #a " != " #b, ##__VA_ARGS__)
#define cr_assert_lt(a, b, ...)	     PORT_CHECK(port_fail, (a) < (b), #a " < " #b, ##__VA_ARGS__)
#define cr_assert_leq(a, b, ...)     PORT_CHECK(port_fail, (a) <= (b), #a " <= " #b, ##__VA_ARGS__)
#define cr_assert_gt(a, b, ...)	     PORT_CHECK(port_fail, (a) > (b), #a " > " #b, ##__VA_ARGS__)
#define cr_assert_geq(a, b, ...)     PORT_CHECK(port_fail, (a) >= (b), #a " >= " #b, ##__VA_ARGS__)
#define cr_assert_null(p, ...)	     PORT_CHECK(port_fail, (p) == NULL, #p " is NULL", ##__VA_ARGS__)
#define cr_assert_not_null(p, ...)   PORT_CHECK(port_fail, (p) != NULL, #p " is not NULL", ##__VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)  PORT_CHECK(port_fail, strcmp(a, b) == 0, #a " is " #b, ##__VA_ARGS__)
#define cr_assert_str_neq(a, b, ...) PORT_CHECK(port_fail, strcmp(a, b) != 0, #a " is not " #b, ##__VA_ARGS__)
#define cr_assert_arr_eq(a, b, n, ...) PORT_CHECK(port_fail, memcmp(a, b, n) == 0, #a " holds " #b, ##__VA_ARGS__)
#define cr_assert_arr_neq(a, b, n, ...) PORT_CHECK(port_fail, memcmp(a, b, n) != 0, #a " holds not " #b, ##__VA_ARGS__)
#define cr_assert_float_eq(a, b, e, ...)                                                                               \
	PORT_CHECK(port_fail, (a) - (b) <= (e) && (b) - (a) <= (e), #a " == " #b, ##__VA_ARGS__)
#define cr_assert_fail(...) port_fail(__FILE__, __LINE__, "never", ##__VA_ARGS__, NULL)
#define cr_fatal(...)	    cr_assert_fail(__VA_ARGS__)

#define cr_expect(c, ...)	     PORT_CHECK(port_expect, c, #c, ##__VA_ARGS__)
#define cr_expect_not(c, ...)	     PORT_CHECK(port_expect, !(c), "not " #c, ##__VA_ARGS__)
#define cr_expect_eq(a, b, ...)	     PORT_CHECK(port_expect, (a) == (b), #a " == " #b, ##__VA_ARGS__)
#define cr_expect_neq(a, b, ...)     PORT_CHECK(port_expect, (a) != (b), #a " != " #b, ##__VA_ARGS__)
#define cr_expect_lt(a, b, ...)	     PORT_CHECK(port_expect, (a) < (b), #a " < " #b, ##__VA_ARGS__)
#define cr_expect_leq(a, b, ...)     PORT_CHECK(port_expect, (a) <= (b), #a " <= " #b, ##__VA_ARGS__)
#define cr_expect_gt(a, b, ...)	     PORT_CHECK(port_expect, (a) > (b), #a " > " #b, ##__VA_ARGS__)
#define cr_expect_geq(a, b, ...)     PORT_CHECK(port_expect, (a) >= (b), #a " >= " #b, ##__VA_ARGS__)
#define cr_expect_null(p, ...)	     PORT_CHECK(port_expect, (p) == NULL, #p " is NULL", ##__VA_ARGS__)
#define cr_expect_not_null(p, ...)   PORT_CHECK(port_expect, (p) != NULL, #p " is not NULL", ##__VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)  PORT_CHECK(port_expect, strcmp(a, b) == 0, #a " is " #b, ##__VA_ARGS__)
#define cr_expect_str_neq(a, b, ...) PORT_CHECK(port_expect, strcmp(a, b) != 0, #a " is not " #b, ##__VA_ARGS__)

#define cr_skip_test(...) port_skip("" __VA_ARGS__)
#define cr_skip(...)	  port_skip("" __VA_ARGS__)
#define cr_log_info(...)  port_note("" __VA_ARGS__)
void port_note(const char *format, ...);

#endif
