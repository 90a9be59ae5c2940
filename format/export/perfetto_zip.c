/* SPDX-License-Identifier: MIT */
/*
 * Writes packets inside of compressed packets: the output is a third to a twentieth of the size of a trace.dat with
 * small records, although each record takes more bytes here. Perfetto permits 512 KiB for each, and asks for zlib
 * (fastest: level 1).
 */
#include "format/export/perfetto_private.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define PIECE (256u * 1024u) /* bytes of packets that are compressed together */
#define LEVEL 1

enum { PACKET_COMPRESSED = 50 };

struct perfetto_zip {
	struct blob plain;
	struct blob packet;
	z_stream stream;
	bool is_open;
};

int perfetto_zip_open(struct perfetto *p)
{
	p->zip = calloc(1, sizeof(*p->zip));
	if (!p->zip || deflateInit(&p->zip->stream, LEVEL) != Z_OK)
		return -ENOMEM;
	p->zip->is_open = true;
	return 0;
}

/* deflate() needs one call for the whole piece: there is room for the worst case. */
static int compress_piece(struct perfetto *p)
{
	struct perfetto_zip *zip = p->zip;
	const size_t room = deflateBound(&zip->stream, (uLong)zip->plain.size);
	unsigned char *compressed = malloc(room);
	size_t packet;

	if (!compressed || deflateReset(&zip->stream) != Z_OK) {
		free(compressed);
		return -ENOMEM;
	}
	zip->stream.next_in = zip->plain.data;
	zip->stream.avail_in = (uInt)zip->plain.size;
	zip->stream.next_out = compressed;
	zip->stream.avail_out = (uInt)room;
	deflate(&zip->stream, Z_FINISH);
	zip->packet.size = 0;
	packet = proto_begin(&zip->packet, TRACE_PACKET);
	proto_bytes(&zip->packet, PACKET_COMPRESSED, compressed, zip->stream.total_out);
	proto_end(&zip->packet, packet);
	free(compressed);
	zip->plain.size = 0;
	if (!zip->packet.error)
		export_out_put(p->out, zip->packet.data, zip->packet.size);
	return zip->packet.error;
}

int perfetto_zip_put(struct perfetto *p, const struct blob *packet)
{
	struct perfetto_zip *zip = p->zip;
	int err = 0;

	if (zip->plain.size && zip->plain.size + packet->size > PIECE)
		err = compress_piece(p);
	blob_put(&zip->plain, packet->data, packet->size);
	return err ? err : zip->plain.error;
}

int perfetto_zip_end(struct perfetto *p)
{
	return p->zip->plain.size ? compress_piece(p) : 0;
}

void perfetto_zip_close(struct perfetto *p)
{
	if (!p->zip)
		return;
	if (p->zip->is_open)
		deflateEnd(&p->zip->stream);
	blob_free(&p->zip->plain);
	blob_free(&p->zip->packet);
	free(p->zip);
}
