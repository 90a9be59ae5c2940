#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# contracts.py HEADER...: prints each function of public headers whose comment is missing, or that states neither in its own
# comment nor in that at the head of its file from which threads it may be called, and whether by signal handlers. A comment
# is that of all declarations after it, up to an empty line or another comment.
import re
import sys

TOKEN = re.compile(
    r"/\*(?P<comment>.*?)\*/|^(?:REC_INLINE\w* )?(?:const |struct |unsigned )*\w+ \**(?P<name>rec_\w+)\([^;{]*\)[^;{]*[;{]",
    re.S | re.M)
THREADS = re.compile(r"thread", re.I)
SIGNALS = re.compile(r"signal", re.I)

functions = 0
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        text = file.read()
    head = re.search(r"/\*(?! SPDX)(.*?)\*/", text, re.S).group(1)
    comment, end = "", 0
    for token in TOKEN.finditer(text):
        if token["name"] is None:
            # A comment after a declaration on the same line is skipped.
            if not text[text.rfind("\n", 0, token.start()) + 1:token.start()].strip():
                comment, end = token["comment"], token.end()
            continue
        # The functions of optional.h are for programs without the library, so they are skipped.
        if token["name"].startswith("rec_optional_"):
            continue
        functions += 1
        own = comment if "\n\n" not in text[end:token.start()] else ""
        for what, wanted in ("no comment", own), ("threads", THREADS.search(own + head)), ("signals", SIGNALS.search(own + head)):
            if not wanted:
                print(f"{path}: {token['name']}: {what}")
                break
if functions < 1:
    print("no function found")
