/* SPDX-License-Identifier: MIT */
/*
 * The version of librecorder, of these headers and of the library that the program is running with. The two differ if
 * the library was replaced after the program was compiled. docs/COMPATIBILITY.md lists what works together.
 */
#ifndef LIBRECORDER_VERSION_H
#define LIBRECORDER_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define REC_VERSION_MAJOR 1
#define REC_VERSION_MINOR 0
#define REC_VERSION_PATCH 0

/*
 * A version as one number, so that versions can be compared, by the preprocessor too. Minor and patch are below 1000.
 */
#define REC_VERSION_NUMBER(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))

/* The version of these headers. */
#define REC_VERSION REC_VERSION_NUMBER(REC_VERSION_MAJOR, REC_VERSION_MINOR, REC_VERSION_PATCH)

#pragma GCC visibility push(default)

/* The version of the library, in the form of REC_VERSION. Signal-safe, any thread. */
unsigned int rec_version(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
