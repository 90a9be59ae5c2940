/* SPDX-License-Identifier: MIT */
/* Text of any bytes inside of XML. */
#include "cli/base/xml.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void check(const char *text, size_t size, const char *expected)
{
	char *made = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&made, &length);

	cr_assert(out);
	xml_text(out, text, size);
	cr_assert_eq(fclose(out), 0);
	cr_assert_str_eq(made, expected);
	free(made);
}

#define CHECK(text, expected) check(text, sizeof(text) - 1, expected)

Test(xml, references)
{
	CHECK("", "");
	CHECK("plain", "plain");
	CHECK("<a href=\"x\">'&amp;", "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;");
	CHECK("]]>\n\t", "]]&gt;&#10;&#9;");
}

Test(xml, what_xml_cannot_have)
{
	CHECK("a\0b", "a\xef\xbf\xbd" "b");
	CHECK("\x1b[2J\x7f\r", "\xef\xbf\xbd[2J\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	CHECK("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

Test(xml, utf8)
{
	CHECK("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
}
