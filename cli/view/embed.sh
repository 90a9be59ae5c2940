#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The page of `recorder view`, as C: embed.sh DIRECTORY OF THE PAGE'S SOURCES. Prints the page's parts as strings, around
# the places where the command puts the data, with the hashes of style and script in the page's policy: a browser runs
# this script and no other, whatever the data contain.
set -eu
export LC_ALL=C

dir=$1
scripts="data.js rows.js draw.js marks.js summary.js panels.js input.js main.js"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hash()
{
	sha256sum <"$1" | cut -d ' ' -f 1 | tr a-f A-F | basenc --base16 -d | basenc --base64
}

# Prints the text of a file as a C string. No line is longer than a C compiler must accept.
string()
{
	sed -e 's/[\\"]/\\&/g' -e 's/\t/\\t/g' -e 's/.*/\t"&\\n"/' "$1"
}

# part NAME FROM TO: the lines of page.html between two comments
part()
{
	sed -n "/<!--$2-->/,/<!--$3-->/{ /<!--[A-Z]*-->/d; p; }" "$work/page.html" >"$work/part"
	printf 'const char view_page_%s[] =\n' "$1"
	string "$work/part"
	echo '	"";'
}

(echo '<!--START-->'; cat "$dir/page.html"; echo '<!--END-->') >"$work/page.html"
cat "$dir/page.css" >"$work/page.css"
for script in $scripts; do cat "$dir/$script"; done | sed '/^"use strict";$/d' >"$work/rest.js"
(echo '"use strict";'; cat "$work/rest.js") >"$work/page.js"

echo '/* SPDX-License-Identifier: MIT */'
echo '/* Made by cli/view/embed.sh. */'
echo '#include "cli/view/view_page.h"'
part start START POLICY
part head POLICY STYLE
part body STYLE DATA
part end SCRIPT END
printf 'const char view_page_style[] =\n'
string "$work/page.css"
echo '	"";'
printf 'const char view_page_script[] =\n'
string "$work/page.js"
echo '	"";'
printf 'const char view_page_style_hash[] = "%s";\n' "$(hash "$work/page.css")"
printf 'const char view_page_script_hash[] = "%s";\n' "$(hash "$work/page.js")"
