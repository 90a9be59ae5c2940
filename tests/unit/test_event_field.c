/* SPDX-License-Identifier: MIT */
/* Where values lie in a record that may be too short for them. */
#include <criterion/criterion.h>
#include <string.h>

#include "format/io/bytes.h"
#include "format/text/event_field.h"

#define SIZE 24u

/* Words of dynamic fields at 4 and 8: 6 bytes at 12, and the same by a distance from the end of the word at 8. */
static const unsigned char record[SIZE] = {
	1, 2, 3, 4, 12, 0, 6, 0, 0, 0, 6, 0, 't', 'e', 'x', 't', 0, 'x', 8, 9, 10, 11, 12, 13,
};

static bool is_at(struct tep_format_field field, uint32_t size, uint32_t offset, uint32_t length)
{
	uint32_t at = 0, found = 0;

	return event_field_place(&field, record, size, false, &at, &found) && at == offset && found == length;
}

static bool is_absent(struct tep_format_field field, uint32_t size)
{
	uint32_t at, found;

	return !event_field_place(&field, record, size, false, &at, &found);
}

Test(event_field, fixed)
{
	const struct tep_format_field number = { .offset = 4, .size = 4 }, rest = { .offset = 20 };
	const struct tep_format_field array = { .offset = 8, .size = 64, .flags = TEP_FIELD_IS_ARRAY };

	cr_expect(is_at(number, SIZE, 4, 4));
	cr_expect(is_at(number, 8, 4, 4));
	cr_expect(is_absent(number, 7));
	cr_expect(is_absent(number, 0));
	cr_expect(is_at(rest, SIZE, 20, 4), "without a size, it extends to the end");
	cr_expect(is_at(array, SIZE, 8, 16), "an array that is shorter than its format");
	cr_expect(is_absent(array, 7));
}

Test(event_field, dynamic)
{
	struct tep_format_field field = { .offset = 4, .size = 4, .flags = TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_ARRAY };
	uint32_t length;

	cr_expect(is_at(field, SIZE, 12, 6));
	cr_expect(is_at(field, 18, 12, 6));
	cr_expect(is_absent(field, 17), "its value is cut off");
	cr_expect(is_absent(field, 7), "its word is cut off");
	cr_expect(!strcmp(event_field_text(&field, record, SIZE, false, &length), "text") && length == 4);
	cr_expect_null(event_field_text(&field, record, 17, false, &length));
	field.flags |= TEP_FIELD_IS_RELATIVE;
	field.offset = 8;
	cr_expect(is_at(field, SIZE, 12, 6));
	field.size = 8;
	cr_expect(is_absent(field, SIZE), "a word of another size");
	field.flags = 0;
	cr_expect_null(event_field_text(&field, record, SIZE, false, &length), "not dynamic");
}

Test(event_field, numbers)
{
	static const unsigned char bytes[] = { 0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8 };

	cr_expect(bytes_number(bytes, 1, true, false) == -1 && bytes_number(bytes, 1, false, false) == 0xff);
	cr_expect(bytes_number(bytes, 2, true, true) == -2 && bytes_number(bytes, 2, false, true) == 0xfffe);
	cr_expect(bytes_number(bytes, 4, false, false) == 0xfcfdfeff && bytes_number(bytes, 4, true, false) < 0);
	cr_expect((uint64_t)bytes_number(bytes, 8, false, true) == UINT64_C(0xfffefdfcfbfaf9f8));
	cr_expect(bytes_number(bytes, 3, false, false) == 0, "no field has three bytes");
}
