/* SPDX-License-Identifier: MIT */
/* UTF-8 in texts from programs and files, which may have any bytes. */
#ifndef FORMAT_UTF8_H
#define FORMAT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * The length of the character at `text`, which has at least one byte. 0: it is not UTF-8, as overlong forms and
 * surrogates.
 */
static inline size_t utf8_length(const char *text, size_t size)
{
	/* For each length, the lowest character that needs it. */
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char first = (unsigned char)text[0];
	const size_t length = first < 0x80				? 1
			      : first >= 0xc0 && first < 0xe0 ? 2
			      : first >= 0xe0 && first < 0xf0 ? 3
			      : first >= 0xf0 && first < 0xf8 ? 4
							      : 0;
	uint32_t code;

	if (length <= 1 || length > size)
		return length == 1;
	code = first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		const unsigned char next = (unsigned char)text[i];

		if ((next & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (next & 0x3fu);
	}
	return code >= lowest[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? length : 0;
}

#endif
