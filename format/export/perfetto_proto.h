/* SPDX-License-Identifier: MIT */
/*
 * Writes protocol buffers into a blob: fields that are varints, eight bytes, texts, or messages, which may contain
 * messages. (https://protobuf.dev/programming-guides/encoding/)
 */
#ifndef FORMAT_PERFETTO_PROTO_H
#define FORMAT_PERFETTO_PROTO_H

#include "format/io/blob.h"

/* A varint without its field: an element of a packed list. */
void proto_varint(struct blob *blob, uint64_t value);

/*
 * The first function writes a field of any unsigned type, an enumeration or a truth value; the second one an int32 or
 * int64.
 */
void proto_uint(struct blob *blob, uint32_t field, uint64_t value);
void proto_int(struct blob *blob, uint32_t field, int64_t value);

void proto_fixed64(struct blob *blob, uint32_t field, uint64_t value);
void proto_double(struct blob *blob, uint32_t field, double value);
void proto_bytes(struct blob *blob, uint32_t field, const void *bytes, size_t size);
void proto_text(struct blob *blob, uint32_t field, const char *text);

/* A message in a field: everything that is put between the two calls. The first returns what the second needs. */
size_t proto_begin(struct blob *blob, uint32_t field);
void proto_end(struct blob *blob, size_t begun);

#endif
