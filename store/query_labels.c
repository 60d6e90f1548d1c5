/* SPDX-License-Identifier: BSD-2-Clause */
/* Collects labels from the names of series. Called by the command line. */
#include "store/query_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "store/database.h"
#include "store/day_tables.h"
#include "store/schema_archive.h"

struct collection {
	enum series_kind kind;
	struct arena *arena;
	struct label_answer *answer;
	bool has_archive; /* whose series are those of all its days */
};

static void
add_label(struct collection *collection, const char *label, size_t size)
{
	struct label_answer *answer = collection->answer;
	const char **place = arena_append(collection->arena, &answer->labels,
	    &answer->count, sizeof(*answer->labels));

	if (place != NULL)
		*place = arena_string_sized(collection->arena, label, size);
}

/* Rows of (id, name). */
static void
add_rows(struct collection *collection, struct statement *rows)
{
	while (statement_step(rows) == 1 && !arena_failed(collection->arena)) {
		const char *name = column_string(rows, 1, collection->arena);
		size_t size;
		const char *label =
		    name != NULL
			? series_find_label(name, collection->kind, &size)
			: NULL;

		if (label != NULL)
			add_label(collection, label, size);
	}
	statement_end(rows);
}

static void
add_file(void *context, struct day_tables *tables, int64_t day)
{
	add_rows(
	    context, database_statement(tables->database, SQL_SERIES_READ));
}

static void
add_archive(void *context, struct database *archive, int64_t day)
{
	struct collection *collection = context;

	if (!collection->has_archive)
		add_rows(collection,
		    database_statement(archive, SQL_ARCHIVE_SERIES_READ));
	collection->has_archive = true;
}

static int
by_text(const void *left, const void *right)
{
	return strcmp(
	    *(const char *const *)left, *(const char *const *)right);
}

/* Each file has its own. */
static void
remove_doubles(struct label_answer *answer)
{
	size_t kept = 0;

	if (answer->count > 0)
		qsort(answer->labels, answer->count, sizeof(*answer->labels),
		    by_text);
	for (size_t i = 0; i < answer->count; i++)
		if (kept == 0 ||
		    strcmp(answer->labels[kept - 1], answer->labels[i]) != 0)
			answer->labels[kept++] = answer->labels[i];
	answer->count = kept;
}

int
store_latency_labels(struct store_reader *reader, enum series_kind kind,
    struct arena *arena, struct label_answer *answer_r, struct reason *reason)
{
	struct collection collection = {
	    .kind = kind, .arena = arena, .answer = answer_r};
	const struct query_days days = {
	    .first = INT64_MIN,
	    .last = INT64_MAX,
	    .context = &collection,
	    .file = add_file,
	    .archived = add_archive,
	};

	*answer_r = (struct label_answer){.count = 0};
	if (query_days_visit(reader, &days, &answer_r->gap, reason) != 0)
		return -1;
	if (arena_failed(arena))
		return reason_set(reason, "too much was found");
	remove_doubles(answer_r);
	return 0;
}
