/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into trace-cmd for the benchmark: trace-cmd writes set_ftrace_filter and other files even if that was not
 * requested, and gives up if they return EPERM, as they do on some virtual machines. This library gives it /dev/null
 * for these.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *instead(const char *path)
{
	const char *name = strrchr(path, '/');

	if (name && (!strcmp(name, "/ftrace_enabled") || !strncmp(name, "/set_ftrace_", 12) ||
		     !strncmp(name, "/set_graph_", 11)))
		return "/dev/null";
	return path;
}

#define OPEN(name)                                                                                                   \
	int name(const char *path, int flags, ...);                                                                  \
	int name(const char *path, int flags, ...)                                                                   \
	{                                                                                                            \
		int (*const next)(const char *, int, ...) =                                                          \
			(int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name);                                    \
		unsigned int mode;                                                                                   \
		va_list args;                                                                                        \
                                                                                                                     \
		va_start(args, flags);                                                                               \
		mode = va_arg(args, unsigned int);                                                                   \
		va_end(args);                                                                                        \
		return next(instead(path), flags, mode);                                                             \
	}

OPEN(open)
OPEN(open64)
