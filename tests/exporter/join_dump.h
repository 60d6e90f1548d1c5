/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * join_dump: what came of a script, as text: counters and histogram counts that
 * are not zero, gauges, and of each queue id what the store finds.
 */
#ifndef TESTS_EXPORTER_JOIN_DUMP_H
#define TESTS_EXPORTER_JOIN_DUMP_H

#include "base/buffer.h"
#include "exporter/serve/published.h"
#include "store/query.h"

#include "tests/exporter/join_fixture.h"
#include "tests/lib/outcome_rows.h"

static inline void
dump_totals(struct world *world, struct buffer *out)
{
	const struct totals_names *names = metrics_names();
	const size_t prefix = strlen("postlag_");
	struct picture picture;

	outcome_rows_check(world->directory);
	picture_init(&picture);
	totals_snapshot(world->totals, picture.counters, picture.histograms);
	for (size_t i = 0; i < names->counter_count; i++)
		if (picture.counters[i] > 0)
			buffer_append_format(out, "%s %lu\n",
			    names->counters[i] + prefix, picture.counters[i]);
	for (size_t i = 0; i < names->histogram_count; i++)
		if (picture.histograms[i].exponential.count > 0)
			buffer_append_format(out, "%s %lu\n",
			    names->histograms[i] + prefix,
			    picture.histograms[i].exponential.count);
	picture_free(&picture);
}

static inline void
dump_record(const struct message_record *record, struct buffer *out)
{
	for (size_t i = 0; i < record->recipient_count; i++) {
		const struct recipient_record *recipient =
		    &record->recipients[i];

		buffer_append_format(out, " %.*s=%s/%u",
		    (int)strcspn(recipient->address, "@"), recipient->address,
		    recipient_state_name(recipient->state),
		    recipient->attempts);
	}
	for (size_t i = 0; i < record->leg_count; i++)
		buffer_append_format(
		    out, " [%s]", leg_state_name(record->legs[i].state));
	buffer_append_string(out, "\n");
}

static inline void
dump_found(struct store_reader *reader, const char *key, struct buffer *out)
{
	struct arena *arena = arena_new(64 << 20);
	struct message_record *records;
	struct reason reason;
	long count = store_find(reader, key, 100, arena, &records, &reason);

	if (count < 0)
		fail_msg("%s", reason.text);
	for (long i = 0; i < count; i++) {
		buffer_append_format(out, "%s%s:",
		    uuid_is_set(&records[i].event.id) ? "" : "no message ",
		    key);
		dump_record(&records[i], out);
	}
	arena_free(&arena);
}

static inline const char *
step_queue_id(const struct step *step)
{
	if (step->event.type == EVENT_MESSAGE)
		return step->event.message.queue_id;
	if (step->event.type == EVENT_DELIVERY)
		return step->event.delivery.queue_id;
	return NULL;
}

static inline bool
is_first_of_its_queue_id(const struct script *script, size_t number)
{
	const char *queue_id = step_queue_id(&script->steps[number]);

	for (size_t i = 0; queue_id != NULL && i < number; i++) {
		const char *other = step_queue_id(&script->steps[i]);

		if (other != NULL && strcmp(other, queue_id) == 0)
			return false;
	}
	return queue_id != NULL;
}

/* What memory believes must be what the store would tell a new one. */
static inline void
dump_gauges(struct world *world, struct buffer *out)
{
	struct join *fresh = join_new(world->store, STAMP_WAIT_NS);
	struct join_figures memory, store;
	struct reason reason;
	size_t open = 0;

	if (world->reads_log)
		join_read_logs(fresh, world->instances, 0);
	assert_int_equal(join_rebuild(fresh, 0, &reason), 0);
	join_figures(world->join, &memory);
	join_figures(fresh, &store);
	join_free(&fresh);
	assert_int_equal(memory.messages, store.messages);
	for (unsigned i = 0; i < OPEN_STATES; i++) {
		assert_int_equal(memory.recipients[i], store.recipients[i]);
		open += store.recipients[i];
	}
	assert_int_equal(memory.waiting, store.waiting);
	assert_int_equal(memory.oldest_wall_ns, store.oldest_wall_ns);
	buffer_append_format(
	    out, "open %zu\nwaiting %zu\n", open, store.waiting);
}

/* To be freed. */
static inline char *
world_dump(struct world *world, const struct script *script)
{
	struct buffer out = {.data = NULL};
	struct reason reason;
	struct store_reader *reader =
	    store_reader_open(world->directory, &reason);

	assert_non_null(reader);
	dump_totals(world, &out);
	dump_gauges(world, &out);
	for (size_t i = 0; i < script->count; i++)
		if (is_first_of_its_queue_id(script, i))
			dump_found(
			    reader, step_queue_id(&script->steps[i]), &out);
	store_reader_free(&reader);
	buffer_append(&out, "", 1);
	return (char *)out.data;
}

/* The value of a line `name value` of a dump; 0 without one. */
static inline unsigned long
dump_value(const char *dump, const char *name)
{
	const char *next;
	size_t size = strlen(name);

	for (const char *line = dump; line != NULL; line = next) {
		next = strchr(line, '\n');
		next = next != NULL ? next + 1 : NULL;
		if (strncmp(line, name, size) == 0 && line[size] == ' ')
			return strtoul(line + size, NULL, 10);
	}
	return 0;
}

/* The sum of all label sets of a family but those that hold `without`. */
static inline unsigned long
dump_sum(const char *dump, const char *name, const char *without)
{
	size_t size = strlen(name);
	unsigned long sum = 0;

	for (const char *line = dump; line != NULL; line = strchr(line, '\n')) {
		size_t length;

		line += *line == '\n';
		length = strcspn(line, "\n");
		if (strncmp(line, name, size) != 0 ||
		    (line[size] != ' ' && line[size] != '{') ||
		    memmem(line, length, without, strlen(without)) != NULL)
			continue;
		sum += strtoul(memrchr(line, ' ', length), NULL, 10);
	}
	return sum;
}

/* I5: the two sides of the balance. */
static inline unsigned long
came_in(const char *dump)
{
	return dump_sum(dump, "recipients_accepted_total", "?") +
	       dump_sum(dump, "recipients_added_total", "?") +
	       dump_sum(dump, "outcome_revisions_total", "from=\"aborted\"");
}

static inline unsigned long
went_out(const char *dump)
{
	return dump_sum(dump, "recipient_outcomes_total", "?") +
	       dump_sum(dump, "recipients_recognized_total", "?") +
	       dump_sum(dump, "open", "?");
}

static inline void
assert_balance(const char *dump)
{
	if (came_in(dump) != went_out(dump))
		fail_msg("%lu came in, %lu went out:\n%s", came_in(dump),
		    went_out(dump), dump);
}

#endif
