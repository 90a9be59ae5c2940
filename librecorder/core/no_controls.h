/* SPDX-License-Identifier: MIT */
/*
 * Names of programs and files in what is printed. A control character there would break the line in two, or give a
 * command to the terminal.
 */
#ifndef NO_CONTROLS_H
#define NO_CONTROLS_H

/*
 * Replace the control characters of a text by '?': those of ASCII, and 0x80 to 0x9f, as single bytes or as UTF-8,
 * because terminals interpret these, too. Other bytes stay, also if they are not UTF-8.
 */
static inline void rec_no_controls(char *text)
{
	unsigned char before = 0;
	unsigned int follow = 0; /* the bytes that the character may still have */

	for (unsigned char *at = (unsigned char *)text; *at; at++) {
		const unsigned char byte = *at;

		/* An overlong form is not UTF-8. */
		if ((before == 0xe0 && byte < 0xa0) || (before == 0xf0 && byte < 0x90))
			follow = 0;
		if (byte < ' ' || byte == 127 || (byte >= 0x80 && byte < 0xa0 && !follow)) {
			*at = '?';
			/* The first byte of U+0080 to U+009F. */
			if (byte >= 0x80 && before == 0xc2)
				at[-1] = '?';
		}
		if (byte >= 0xc3 && byte < 0xf5)
			follow = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
		else if (byte >= 0x80 && byte < 0xc0 && follow)
			follow--;
		else
			follow = 0;
		before = byte;
	}
}

#endif
