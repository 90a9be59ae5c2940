/* SPDX-License-Identifier: MIT */
/* The library's version, compiled into it, so that a program can tell it from the version of its headers. */
#include <librecorder/version.h>

unsigned int rec_version(void)
{
	return REC_VERSION;
}
