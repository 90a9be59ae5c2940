/* SPDX-License-Identifier: MIT */
#include "cli/base/escape.h"
#include "librecorder/core/no_controls.h"

#include <criterion/criterion.h>
#include <string.h>

/* The text of `size` bytes with its escapes. */
static const char *escaped_bytes(const char *text, size_t size, bool lines)
{
	static char to[256];
	char escape[ESCAPE_SIZE];
	size_t at = 0;

	while (size) {
		const size_t plain = escape_plain(text, size, lines);

		memcpy(to + at, text, plain);
		at += plain;
		text += plain;
		size -= plain;
		if (!size)
			break;
		strcpy(to + at, escape_byte(*text++, escape));
		at += strlen(to + at);
		size--;
	}
	to[at] = '\0';
	return to;
}

static const char *escaped(const char *text)
{
	return escaped_bytes(text, strlen(text), false);
}

Test(escape, plain_text_and_utf8_stay)
{
	static const char *const texts[] = {
		"", "text ~ \\n \"quotes\"", "Gr\u00fc\u00dfe", "\u65e5\u672c", "\U0001f600", "\u00a0"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		cr_expect_str_eq(escaped(texts[i]), texts[i]);
}

Test(escape, control_characters)
{
	cr_expect_str_eq(escaped("a\nb\tc\r"), "a\\nb\\tc\\r");
	cr_expect_str_eq(escaped("\a\b\v\f"), "\\a\\b\\v\\f");
	cr_expect_str_eq(escaped("\033[31mred\033[0m\1777"), "\\033[31mred\\033[0m\\1777");
	cr_expect_str_eq(escaped_bytes("a\0b", 3, false), "a\\000b");
}

Test(escape, control_characters_of_8_bits)
{
	cr_expect_str_eq(escaped("\xc2\x9b"
				 "31m"),
			 "\\302\\23331m", "CSI in UTF-8");
	cr_expect_str_eq(escaped("\x9b"
				 "31m"),
			 "\\23331m", "CSI as one byte");
}

Test(escape, what_is_not_utf8)
{
	cr_expect_str_eq(escaped("\xff"), "\\377");
	cr_expect_str_eq(escaped("\xe6\x97"), "\\346\\227", "cut off");
	cr_expect_str_eq(escaped("\xc0\x8a"), "\\300\\212", "an overlong line feed");
	cr_expect_str_eq(escaped("\xe0\x80\x9b"), "\\340\\200\\233", "an overlong CSI");
	cr_expect_str_eq(escaped("\xed\xa0\x80"), "\\355\\240\\200", "a surrogate");
	cr_expect_str_eq(escaped("\xf4\x90\x80\x80"), "\\364\\220\\200\\200", "beyond Unicode");
	cr_expect_str_eq(escaped("\xf8\x88\x80\x80\x80"), "\\370\\210\\200\\200\\200", "five bytes");
	cr_expect_str_eq(escaped("\xc3x"), "\\303x", "the character after it stays");
}

Test(no_controls, each_control_character_is_a_question_mark)
{
	static const struct {
		const char *text, *shown;
	} texts[] = {
		{ "", "" },
		{ "a\nb\033[31m\177", "a?b?[31m?" },
		{ "Gr\u00fc\u00dfe \u65e5\u672c \U0001f600 \u00a0 \u4e1b",
		  "Gr\u00fc\u00dfe \u65e5\u672c \U0001f600 \u00a0 \u4e1b" },
		{ "\xc2\x9b"
		  "31m",
		  "??31m" },
		{ "\x9b"
		  "31m\x80\x9f",
		  "?31m??" },
		{ "Gr\xfc\xdf"
		  "e \xa0\xff",
		  "Gr\xfc\xdf"
		  "e \xa0\xff" },
		{ "\xe0\x80\x9b", "\xe0??" },
		{ "\xf0\x80\x80\x9b", "\xf0???" },
		{ "\xc3\x9b\x9b", "\xc3\x9b?" },
		{ "\xe6\x97", "\xe6\x97" },
	};
	char text[64];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(text, texts[i].text);
		rec_no_controls(text);
		cr_expect_str_eq(text, texts[i].shown, "text %zu", i);
	}
}

Test(escape, layout)
{
	cr_expect_str_eq(escaped_bytes("a\n\tb\033", 5, true), "a\n\tb\\033");
}
