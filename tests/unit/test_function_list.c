/* SPDX-License-Identifier: MIT */
/* The list of functions: its lines, and that a look-up has the same result as libtraceevent's. */
#include "format/io/function_list.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <event-parse.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct function_list functions;
/* Requests for this much memory fail; 0: none fails. */
static size_t refused;

/* The linker defines these names; no header can declare them. */
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
	return refused && size == refused ? NULL : __real_malloc(size);
}

static void add(const char *text, size_t size)
{
	cr_assert_eq(function_list_add(&functions, text, size), 0);
}

/* "name+offset", followed by "[module]"; or "-". */
static const char *find(uint64_t address)
{
	const struct listed_function *function = function_list_find(&functions, address);
	static char text[128];

	if (!function)
		return "-";
	snprintf(text, sizeof(text), "%s+%" PRIu64 "[%s]", function->name, address - function->address,
		 function_module(function));
	return text;
}

static void free_list(void)
{
	function_list_free(&functions);
}

TestSuite(function_list, .fini = free_list);

Test(function_list, names_and_modules)
{
	static const char text[] = "1000 T first\n1010 t second\t[module]\n00000000000ABCDE W third\t[m]\textra\n"
				   "ffffffffffffffff t last";

	add(text, strlen(text));
	cr_assert_eq(functions.nr, 4);
	cr_assert_str_eq(find(0xfff), "-");
	cr_assert_str_eq(find(0x1000), "first+0[]");
	cr_assert_str_eq(find(0x100f), "first+15[]");
	cr_assert_str_eq(find(0x1012), "second+2[module]");
	cr_assert_str_eq(find(0xabcde), "third+0[m]");
	cr_assert_str_eq(find(UINT64_MAX - 1), "third+18446744073708847904[m]");
	cr_assert_str_eq(find(UINT64_MAX), "last+0[]");
}

/* The end of the last function is unknown. */
Test(function_list, after_the_last)
{
	add("1000 T only\n", 12);
	cr_assert_str_eq(find(0x1000), "only+0[]");
	cr_assert_str_eq(find(0x1001), "-");
}

Test(function_list, lines_without_a_function)
{
	static const char *const lines[] = {
		"",
		"1000",
		"1000 T",
		"1000 T ",
		"1000 T  name",
		"1000  name",
		"T name",
		" 1000 T n",
		"0x1000 T n",
		"1000\tT\tname",
		"100g T name",
		"00000000000001000 T name",
		"1000 a __per_cpu",
		"1000 A n",
		"1000 t $x",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s\n2000 t good\n", lines[i]);
		add(text, strlen(text));
		cr_assert_eq(functions.nr, 1, "'%s': %zu functions", lines[i], functions.nr);
		cr_assert_str_eq(find(0x2000), "good+0[]");
		function_list_free(&functions);
	}
}

Test(function_list, nothing_and_half_a_module)
{
	add(NULL, 0);
	add("", 0);
	cr_assert_eq(functions.nr, 0);
	cr_assert_str_eq(find(0), "-");
	add("1 t a\t[\n2 t b\t[]\n3 t c\t\n4 t d [m]\n", 34);
	cr_assert_str_eq(find(1), "a+0[]");
	cr_assert_str_eq(find(2), "b+0[]");
	cr_assert_str_eq(find(3), "c+0[]");
	cr_assert_str_eq(find(4), "d+0[]");
}

/* A NUL ends the text, as it does for libtraceevent. */
Test(function_list, up_to_a_nul)
{
	add("1000 t a\n2000 t b\0c\n3000 t d\n", 29);
	cr_assert_eq(functions.nr, 2);
	cr_assert_str_eq(find(0x2000), "b+0[]");
}

Test(function_list, a_second_text)
{
	add("1000 t a\n3000 t c\n", 18);
	add("2000 t b\n4000 t d\t[m]\n", 22);
	cr_assert_eq(functions.nr, 4);
	cr_assert_str_eq(find(0x1fff), "a+4095[]");
	cr_assert_str_eq(find(0x2fff), "b+4095[]");
	cr_assert_str_eq(find(0x3001), "c+1[]");
	cr_assert_str_eq(find(0x4000), "d+0[m]");
}

Test(function_list, no_memory)
{
	static const char more[] = "2000 t b\n";

	add("1000 t a\n", 9);
	/* Two lines, the empty one at the end among them, what is there, and the end. */
	refused = 4 * sizeof(struct listed_function);
	cr_assert_eq(function_list_add(&functions, more, strlen(more)), -ENOMEM);
	cr_assert_eq(functions.nr, 1);
	cr_assert_str_eq(find(0x1000), "a+0[]");
	refused = 0;
	cr_assert_eq(function_list_add(&functions, more, strlen(more)), 0);
	cr_assert_str_eq(find(0x2000), "b+0[]");
}

/* ------------------------------------------------------------------------------------------------- libtraceevent */

#define LINES 3000

/* Lines in no order, with several names for some addresses. Returns the text's size. */
static size_t make_text(char *text, size_t room)
{
	size_t size = 0;

	for (unsigned int i = 0; i < LINES; i++)
		size += (size_t)snprintf(text + size, room - size, "%016x %c %sfunction_%u%s\n",
					 0x1000 + (unsigned int)rand() % LINES * 16, "TtWaA$"[rand() % 6],
					 rand() % 8 ? "" : "$", i, rand() % 3 ? "" : "\t[module]");
	return size;
}

static void compare(struct tep_handle *tep, uint64_t address)
{
	const struct listed_function *function = function_list_find(&functions, address);
	const char *name = tep_find_function(tep, address);

	cr_assert_eq(!name, !function, "%" PRIx64 ": %s", address, name ? name : function->name);
	if (!name)
		return;
	cr_assert_str_eq(function->name, name, "%" PRIx64, address);
	cr_assert_eq(function->address, tep_find_function_address(tep, address));
}

Test(function_list, as_libtraceevent)
{
	for (unsigned int seed = 1; seed <= 20; seed++) {
		static char text[LINES * 64];
		struct tep_handle *tep = tep_alloc();

		srand(seed);
		/* Both texts have several names for the same addresses. */
		for (unsigned int i = 0; i < 2; i++) {
			const size_t size = make_text(text, sizeof(text));

			cr_assert_eq(tep_parse_kallsyms(tep, text), 0);
			add(text, size);
		}
		cr_assert_gt(functions.nr, LINES);
		for (uint64_t address = 0xff0; address < 0x1000 + (LINES + 2) * 16; address += 1 + (uint64_t)rand() % 9)
			compare(tep, address);
		for (unsigned int i = 0; i < LINES; i++)
			compare(tep, 0x1000 + (uint64_t)i * 16);
		function_list_free(&functions);
		tep_free(tep);
	}
}
