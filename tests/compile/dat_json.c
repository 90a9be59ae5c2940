/* SPDX-License-Identifier: MIT */
/*
 * Prints what librecorder-dat finds in a file as lines of JSON, which tests/compile/dat_json.py compares with those of
 * recorder report --json. Texts are hexadecimal digits, so that nothing needs an escape.
 *
 *	dat_json FILE		all records
 *	dat_json FILE SINCE	those from a time on, of all streams together, then of each stream
 */
#include <librecorder/dat.h>

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_text(const void *text, size_t size)
{
	printf("{\"hex\":\"");
	for (size_t i = 0; i < size; i++)
		printf("%02x", ((const unsigned char *)text)[i]);
	printf("\"}");
}

static void put_string(const char *text)
{
	put_text(text, strlen(text));
}

static void put_int(int64_t number, int is_signed)
{
	if (is_signed)
		printf("%" PRId64, number);
	else
		printf("%" PRIu64, (uint64_t)number);
}

/* Printed with the fewest digits that read back as the same number; null if it is not finite, as JSON requires. */
static void put_float(double number, uint32_t size)
{
	char text[32];
	int digits = 0;

	if (!isfinite(number)) {
		printf("null");
		return;
	}
	do
		snprintf(text, sizeof(text), "%.*g", ++digits, number);
	while (size == 4 ? strtof(text, NULL) != (float)number : strtod(text, NULL) != number);
	printf("%s", text);
}

static void put_bytes(const struct rec_dat_field *field, const struct rec_dat_field_info *info,
		      const struct rec_dat_record *record)
{
	const void *data;
	size_t size;
	int64_t number;
	uint32_t i;

	if (rec_dat_get_bytes(field, record, &data, &size)) {
		printf("null");
		return;
	}
	if (info->kind == REC_DAT_TEXT) {
		put_text(data, size);
		return;
	}
	printf("[");
	if (rec_dat_get_element(field, record, 0, &number) != -EINVAL) {
		for (i = 0; !rec_dat_get_element(field, record, i, &number); i++) {
			printf(i ? "," : "");
			put_int(number, info->is_signed);
		}
		if (i != size / info->element_size)
			exit(4);
	} else {
		for (size_t n = 0; n < size; n++)
			printf("%s%u", n ? "," : "", ((const unsigned char *)data)[n]);
	}
	printf("]");
}

static void put_fields(const struct rec_dat_event *event, const struct rec_dat_record *record)
{
	const struct rec_dat_field *field;
	struct rec_dat_field_info info;
	const char *comma = "";
	int64_t number;
	double real;

	for (uint32_t i = 0; (field = rec_dat_field_at(event, i)); i++) {
		rec_dat_field_describe(field, &info);
		if (rec_dat_field_find(event, info.name) != field)
			exit(5);
		if (!strcmp(info.name, "common_type") || !strcmp(info.name, "common_pid"))
			continue;
		printf("%s\"%s\":", comma, info.name);
		comma = ",";
		if (!rec_dat_get_int(field, record, &number))
			put_int(number, info.is_signed);
		else if (!rec_dat_get_float(field, record, &real))
			put_float(real, info.size);
		else
			put_bytes(field, &info, record);
	}
}

static void put_place(const struct rec_dat *dat, const struct rec_dat_record *record)
{
	struct rec_dat_buffer buffer;

	if (rec_dat_buffer_at(dat, record->buffer, &buffer))
		exit(6);
	printf("{\"ts\":%" PRIu64 ",\"cpu\":%" PRIu32, record->ts, record->cpu);
	if (buffer.name[0]) {
		printf(",\"buffer\":");
		put_string(buffer.name);
	}
}

static void put_record(const struct rec_dat *dat, const struct rec_dat_record *record)
{
	const struct rec_dat_event *event = rec_dat_event_find(dat, record->id);
	const char *comm = rec_dat_comm(dat, record->tid);
	const int32_t process = rec_dat_process(dat, record->tid);

	if (record->lost) {
		put_place(dat, record);
		if (record->lost == REC_DAT_LOST_UNKNOWN)
			printf(",\"lost\":null}\n");
		else
			printf(",\"lost\":%" PRIu64 "}\n", record->lost);
	}
	put_place(dat, record);
	printf(",\"pid\":%" PRId32 ",\"comm\":", record->tid);
	put_string(comm ? comm : "<...>");
	if (process >= 0)
		printf(",\"tgid\":%" PRId32, process);
	if (process >= 0 && rec_dat_comm(dat, process)) {
		printf(",\"process\":");
		put_string(rec_dat_comm(dat, process));
	}
	if (event) {
		printf(",\"system\":");
		put_string(rec_dat_event_system(event));
		printf(",\"event\":");
		put_string(rec_dat_event_name(event));
		printf(",\"fields\":{");
		put_fields(event, record);
		printf("}}\n");
	} else {
		printf(",\"system\":null,\"event\":null,\"id\":%" PRId32 "}\n", record->id);
	}
}

static int put_all(const struct rec_dat *dat, struct rec_dat_iter *iter)
{
	struct rec_dat_record record;
	struct rec_dat_error error;
	int damaged;

	while (rec_dat_iter_next(iter, &record))
		put_record(dat, &record);
	damaged = rec_dat_iter_damaged(iter, &error) != 0;
	if (damaged)
		fprintf(stderr, "damaged: %s\n", error.text);
	rec_dat_iter_close(iter);
	return damaged;
}

static int put_streams(struct rec_dat *dat, uint64_t since)
{
	struct rec_dat_iter *iter;
	struct rec_dat_buffer buffer;
	int status = 0;

	for (uint32_t b = 0; !rec_dat_buffer_at(dat, b, &buffer); b++)
		for (uint32_t s = 0; !rec_dat_iter_open_stream(dat, b, s, since, &iter); s++)
			status |= put_all(dat, iter);
	return status;
}

int main(int argc, char **argv)
{
	struct rec_dat_error error;
	struct rec_dat_iter *iter;
	struct rec_dat *dat;
	uint64_t since;
	int status;

	if (argc < 2)
		return 2;
	if (rec_dat_open(argv[1], &dat, &error)) {
		fprintf(stderr, "at %" PRIu64 ": %s\n", error.offset, error.text);
		return 1;
	}
	since = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	if (argc > 2 ? rec_dat_iter_open_at(dat, since, &iter) : rec_dat_iter_open(dat, &iter))
		return 3;
	status = put_all(dat, iter);
	if (argc > 2)
		status |= put_streams(dat, since);
	rec_dat_close(dat);
	return status;
}
