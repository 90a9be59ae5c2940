/* SPDX-License-Identifier: MIT */
/* The library's version, compiled into it, so that a program can compare it with the version of its headers. */
#include <librecorder/version.h>

unsigned int rec_version(void)
{
	return REC_VERSION;
}
