/* SPDX-License-Identifier: MIT */
/* Strings of JSON, and the UTF-8 in them. */
#include "format/io/json.h"
#include "format/io/utf8.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

/* The text as a string of JSON. It is copied to memory of this size, so that a sanitizer sees a read beyond it. */
static void convert(const char *text, size_t size, struct blob *ret_blob)
{
	char *copy = malloc(size);

	memcpy(copy, text, size);
	*ret_blob = (struct blob)BLOB_INIT;
	json_string(ret_blob, copy, size);
	blob_put(ret_blob, "", 1);
	free(copy);
}

static void check(const char *text, size_t size, const char *expected)
{
	struct blob blob;

	convert(text, size, &blob);
	cr_expect_str_eq((const char *)blob.data, expected);
	blob_free(&blob);
	while (size--) {
		convert(text, size, &blob);
		blob_free(&blob);
	}
}

Test(json, plain_text_stays)
{
	CHECK("", "\"\"");
	CHECK("a < b > c & 'd' / e", "\"a < b > c & 'd' / e\"");
	CHECK("Gr\u00fc\u00dfe \u65e5\u672c \U0001f600 \u00a0", "\"Gr\u00fc\u00dfe \u65e5\u672c \U0001f600 \u00a0\"");
}

Test(json, what_json_does_not_permit)
{
	CHECK("\"\\", "\"\\\"\\\\\"");
	CHECK("a\nb\0c\x1f", "\"a\\u000ab\\u0000c\\u001f\"");
}

Test(json, what_a_terminal_would_obey)
{
	CHECK("\x7f\xc2\x80\xc2\x9b" "31m\xc2\x9f\u00a0", "\"\\u007f\\u0080\\u009b31m\\u009f\u00a0\"");
}

Test(json, what_ends_the_script_of_a_page)
{
	CHECK("</script>", "\"\\u003c/script>\"");
	CHECK("<!--", "\"\\u003c!--\"");
	CHECK("<<<", "\"<<<\"");
}

Test(json, bytes_that_are_not_utf8)
{
	CHECK("a\xff" "b\xc3", "\"a\\\\xffb\\\\xc3\"");
	CHECK("\x9b", "\"\\\\x9b\"");
	CHECK("\xc2", "\"\\\\xc2\"");
}

Test(utf8, the_lengths_of_characters)
{
	static const struct {
		const char *text;
		size_t size, length;
	} texts[] = {
		{ "\0", 1, 1 }, { "~", 1, 1 }, { "\x7f", 1, 1 },
		{ "\x80", 1, 0 }, { "\xbf\xbf", 2, 0 },
		{ "\xc1\xbf", 2, 0 }, { "\xc2\x80", 2, 2 }, { "\xdf\xbf", 2, 2 },
		{ "\xc2\x7f", 2, 0 }, { "\xc2\xc0", 2, 0 },
		{ "\xc2\x80", 1, 0 },
		{ "\xe0\x9f\xbf", 3, 0 }, { "\xe0\xa0\x80", 3, 3 }, { "\xed\x9f\xbf", 3, 3 }, { "\xed\xa0\x80", 3, 0 },
		{ "\xee\x80\x80", 3, 3 }, { "\xef\xbf\xbf", 3, 3 }, { "\xef\xbf\xbf", 2, 0 },
		{ "\xf0\x8f\xbf\xbf", 4, 0 }, { "\xf0\x90\x80\x80", 4, 4 }, { "\xf4\x8f\xbf\xbf", 4, 4 },
		{ "\xf4\x90\x80\x80", 4, 0 }, { "\xf7\xbf\xbf\xbf", 4, 0 }, { "\xf8\x88\x80\x80\x80", 5, 0 },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_eq(utf8_length(texts[i].text, texts[i].size), texts[i].length, "text %zu", i);
}
