/* SPDX-License-Identifier: MIT */
/* One pass of the model (format/model) over a trace, for the tables that are computed from it. */
#ifndef FORMAT_SQL_MODEL_H
#define FORMAT_SQL_MODEL_H

#include "format/io/blob.h"
#include "format/sql/sql_row.h"

/* Gives all items to the sink, whose `arg` is a struct sql_row for the table. 0; -ENOMEM; what the sink returned. */
int sql_model_run(struct sql_trace *trace, struct sql_cells *cells, struct model_sink *sink);

/*
 * Appends the fields of a record as members to a JSON object, of which at least the opening brace is there. Fields that
 * the record `before` also has are left out; `before` may be NULL.
 */
void sql_json_fields(struct sql_trace *trace, const struct model_record *record, const struct model_record *before,
		     struct blob *out);

#endif
