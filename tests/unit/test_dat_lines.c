/* SPDX-License-Identifier: MIT */
/* Lines of a file's texts, whole and damaged. */
#include <criterion/criterion.h>
#include <string.h>

#include "format/dat/dat_lines.h"

static const char format[] = "name: work\nID: 317\nformat:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\tfield:int bare;\n"
			     "\tfield:char half;\toffset:4;\n"
			     "\tfield:int minus;\toffset:-8;\tsize:4;\n"
			     "\tfield:char name[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:u32 last;\toffset:24;\tsize:4;\tsigned:0;";

Test(dat_lines, field)
{
	uint32_t offset = 7, size = 7;

	cr_expect(dat_line_field(format, " common_type;", &offset, &size));
	cr_expect(offset == 0 && size == 2);
	cr_expect(dat_line_field(format, " name[16];", &offset, &size));
	cr_expect(offset == 8 && size == 16);
	cr_expect(dat_line_field(format, " last;", &offset, &size), "a last line without its end");
	cr_expect(offset == 24 && size == 4);
}

Test(dat_lines, damaged_fields)
{
	uint32_t offset, size;

	cr_expect(!dat_line_field(format, " none;", &offset, &size));
	cr_expect(!dat_line_field(format, " bare;", &offset, &size), "the numbers of the next line are not its own");
	cr_expect(!dat_line_field(format, " half;", &offset, &size));
	cr_expect(!dat_line_field(format, " minus;", &offset, &size));
	cr_expect(!dat_line_field("", " bare;", &offset, &size));
}

Test(dat_lines, id)
{
	cr_expect(!strncmp(dat_line_id(format), "317\n", 4));
	cr_expect(!strcmp(dat_line_id("ID:12"), "12"), "the first line");
	cr_expect_null(dat_line_id("name: x\nformat:\n"));
	cr_expect_null(dat_line_id("name: x\nID: \n17"), "a line without its number");
	cr_expect_null(dat_line_id("name: x\nID: -1\n"));
	cr_expect_null(dat_line_id(""));
}

Test(dat_lines, name)
{
	cr_expect(dat_line_is_named(format, "work"));
	cr_expect(!dat_line_is_named(format, "wor"));
	cr_expect(!dat_line_is_named(format, "work\nID"));
	cr_expect(!dat_line_is_named("work\n", "work"));
	cr_expect(!dat_line_is_named("", ""));
}

static bool thread(const char *line, uint64_t tid, const char *name)
{
	const char *found;
	uint64_t number;

	return dat_line_thread(line, strcspn(line, "\n"), &number, &found) && number == tid &&
	       !strncmp(found, name, strlen(name)) && found + strlen(name) == line + strcspn(line, "\n");
}

Test(dat_lines, threads)
{
	const char *name;
	uint64_t tid;

	cr_expect(thread("12 worker\n13 other", 12, "worker"));
	cr_expect(thread("4294967295 a b ", 4294967295, "a b "));
	cr_expect(!dat_line_thread("12", 2, &tid, &name));
	cr_expect(!dat_line_thread("12 ", 3, &tid, &name));
	cr_expect(!dat_line_thread(" 12 x", 5, &tid, &name));
	cr_expect(!dat_line_thread("-1 x", 4, &tid, &name));
	cr_expect(!dat_line_thread("12345678901 x", 13, &tid, &name), "no thread has such a number");
	cr_expect(!dat_line_thread("123 x", 3, &tid, &name), "the name is not in the line");
	cr_expect(!dat_line_thread("", 0, &tid, &name));
}
