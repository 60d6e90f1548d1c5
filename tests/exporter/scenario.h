/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scenario: what the milter's and the hook's journals and the mail log held of
 * some mail on a real Postfix, read through the real readers.
 *
 * The files and their form are those of tests/e2e/record_scenarios.py. A
 * scenario is unpacked into a directory as the exporter would find it, and kept
 * in memory as the records that its sources give.
 */
#ifndef TESTS_EXPORTER_SCENARIO_H
#define TESTS_EXPORTER_SCENARIO_H

#include <fcntl.h>

#include "base/buffer.h"
#include "exporter/read/sources.h"
#include "exporter/read/watch.h"
#include "proto/event_codec.h"

#include "tests/exporter/join_fixture.h"

#define SCENARIO_QUEUE_IDS_MAX 200

/* A record of a source. */
struct item {
	struct journal_record record; /* not MAILLOG */
	char *line;                   /* MAILLOG; NULL: a gap */
	struct log_record log;        /* its views are not set */
	/* It was written between these moments, by the wall clock, and not
	 * before the one in front of it. */
	int64_t begin_ns, end_ns;
	unsigned delivered; /* of how many deliveries it tells */
};

struct scenario {
	char name[NAME_MAX + 1];
	char directory[PATH_MAX / 2];
	struct arena *arena;
	int64_t clock_ns; /* when it was recorded */
	const char *maillog_instances;
	char **lines; /* of the log */
	size_t line_count;
	struct item *items[JOURNALS];
	size_t counts[JOURNALS];
	const char *queue_ids[SCENARIO_QUEUE_IDS_MAX];
	size_t queue_id_count;
};

static int64_t scenario_clock_ns;

static struct stamp
scenario_clock(void)
{
	return (struct stamp){scenario_clock_ns, scenario_clock_ns};
}

static inline int
base64_digit(char digit)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = digit != '\0' ? strchr(digits, digit) : NULL;

	return at != NULL ? (int)(at - digits) : -1;
}

/* Appends what a line of base64 and the bits left of the line before hold. */
struct base64 {
	uint32_t bits;
	unsigned count;
};

static inline void
base64_decode(struct base64 *state, const char *text, struct buffer *out)
{
	for (; base64_digit(*text) >= 0; text++) {
		state->bits = state->bits << 6 | (uint32_t)base64_digit(*text);
		state->count += 6;
		if (state->count >= 8) {
			uint8_t byte =
			    (uint8_t)(state->bits >> (state->count - 8));

			state->count -= 8;
			buffer_append(out, &byte, 1);
		}
	}
}

static inline void
scenario_write(const struct scenario *scenario, const char *name,
    const struct buffer *content)
{
	char path[PATH_MAX];
	FILE *file;
	struct timespec times[2];

	snprintf(path, sizeof(path), "%s/%s", scenario->directory, name);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(
	    fwrite(content->data, 1, content->size, file), content->size);
	fclose(file);
	/* A log's lines have no year but that of its last change. */
	times[0] = times[1] =
	    (struct timespec){scenario->clock_ns / SECOND_NS, 0};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static inline void
scenario_make_directories(struct scenario *scenario)
{
	static const char *const names[] = {
	    "journal", "journal/milter", "journal/lmtp"};
	const char *parent = getenv("TMPDIR");

	snprintf(scenario->directory, sizeof(scenario->directory),
	    "%s/scenario.XXXXXX", parent != NULL ? parent : "/tmp");
	assert_non_null(mkdtemp(scenario->directory));
	for (size_t i = 0; i < COUNT(names); i++) {
		char path[PATH_MAX];

		snprintf(
		    path, sizeof(path), "%s/%s", scenario->directory, names[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
}

/* What is being unpacked. */
struct unpacking {
	struct scenario *scenario;
	struct buffer log;
	char segment[64]; /* its name; empty: none yet */
	struct buffer journal;
	struct base64 base64;
};

static inline void
unpack_segment(struct unpacking *unpacking)
{
	if (*unpacking->segment != '\0')
		scenario_write(unpacking->scenario, unpacking->segment,
		    &unpacking->journal);
	buffer_clear(&unpacking->journal);
	unpacking->base64 = (struct base64){0, 0};
}

static inline void
unpack_log_line(struct unpacking *unpacking, const char *text)
{
	struct scenario *scenario = unpacking->scenario;
	char **line = arena_append(scenario->arena, &scenario->lines,
	    &scenario->line_count, sizeof(char *));

	*line = arena_string(scenario->arena, text);
	buffer_append_format(&unpacking->log, "%s\n", text);
}

static inline void
unpack_line(struct unpacking *unpacking, char *line)
{
	struct scenario *scenario = unpacking->scenario;
	char source[16], number[32];
	int skip = 0;

	if (*line == '|') {
		unpack_log_line(unpacking, line + 1);
	} else if (sscanf(line, "journal %15s %31s", source, number) == 2) {
		unpack_segment(unpacking);
		snprintf(unpacking->segment, sizeof(unpacking->segment),
		    "journal/%s/%s.journal", source, number);
	} else if (*unpacking->segment != '\0') {
		base64_decode(&unpacking->base64, line, &unpacking->journal);
	} else if (sscanf(line, "instances %n", &skip), skip > 0) {
		scenario->maillog_instances =
		    arena_string(scenario->arena, line + skip);
	} else if (*line != '#' && strcmp(line, "log") != 0) {
		assert_int_equal(
		    sscanf(line, "clock %ld", &scenario->clock_ns), 1);
	}
}

static inline void
scenario_unpack(struct scenario *scenario, const char *path)
{
	struct unpacking unpacking = {.scenario = scenario};
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	assert_non_null(file);
	while (getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		unpack_line(&unpacking, line);
	}
	fclose(file);
	free(line);
	unpack_segment(&unpacking);
	scenario_write(scenario, "mail.log", &unpacking.log);
	buffer_free(&unpacking.journal);
	buffer_free(&unpacking.log);
}

/* Called with each record of the sources, in the order in which the exporter
 * would apply them. */
typedef void scenario_each(
    void *context, struct world *world, const struct source_record *record);

static inline bool
scenario_is_ready(void *context, const struct source_record *record)
{
	return record->line != NULL ? join_log_is_ready(context, record->line)
				    : join_is_ready(context, record->record);
}

static inline struct sources *
scenario_open_sources(const struct scenario *scenario,
    const struct world *world, struct watch **watch_r)
{
	char path[PATH_MAX];
	struct sources *sources;
	struct reason reason;

	snprintf(path, sizeof(path), "%s/journal", scenario->directory);
	*watch_r = watch_open(path, &reason);
	assert_non_null(*watch_r);
	/* It keeps the name. */
	sources = sources_new(
	    arena_string(scenario->arena, path), world->store, *watch_r);
	snprintf(path, sizeof(path), "%s/mail.log", scenario->directory);
	if (sources_add_log(sources, path, "", &reason) != 0 ||
	    sources_scan(sources, &reason) != 0)
		fail_msg("%s", reason.text);
	return sources;
}

/* Reads everything there is, as after a long downtime. */
static inline void
scenario_read(const struct scenario *scenario, struct world *world,
    scenario_each *each, void *context)
{
	struct watch *watch;
	struct sources *sources =
	    scenario_open_sources(scenario, world, &watch);
	struct source_record record;

	while (sources_next(sources, scenario_is_ready, world->join, &record) ==
	       1) {
		assert_false(source_record_is_damaged(&record));
		if (record.record != NULL || record.line != NULL)
			each(context, world, &record);
	}
	assert_false(sources_in_trouble(sources));
	sources_free(&sources);
	watch_free(&watch);
}

/* The codec makes a copy of an event. */
static inline void
copy_record(struct scenario *scenario, struct item *item,
    const struct journal_record *record)
{
	struct segment_header *segment =
	    arena_alloc(scenario->arena, sizeof(*segment));
	struct buffer bytes = {.data = NULL};
	struct reason reason;

	item->record = *record;
	*segment = *record->segment;
	segment->source = arena_string(scenario->arena, segment->source);
	segment->instance = arena_string(scenario->arena, segment->instance);
	segment->program = arena_string(scenario->arena, segment->program);
	item->record.segment = segment;
	assert_int_equal(
	    event_encode(&record->event, scenario->arena, &bytes), 0);
	if (event_decode(bytes.data, bytes.size, scenario->arena,
		&item->record.event, &reason) != 0)
		fail_msg("%s", reason.text);
	buffer_free(&bytes);
}

static inline int64_t
latest_ns(int64_t wall_ns, struct stamp stamp)
{
	return stamp.wall_ns > wall_ns ? stamp.wall_ns : wall_ns;
}

/* When an event was appended, which is soon after the last that it tells of. */
static inline int64_t
appended_ns(const struct event *event)
{
	const struct message_event *message = &event->message;
	const struct delivery_event *delivery = &event->delivery;
	int64_t wall_ns = 0;

	if (event->type == EVENT_MESSAGE) {
		wall_ns = latest_ns(wall_ns, message->connect_at);
		wall_ns = latest_ns(wall_ns, message->mail_at);
		wall_ns = latest_ns(wall_ns, message->data_at);
		wall_ns = latest_ns(wall_ns, message->eom_at);
		wall_ns = latest_ns(wall_ns, message->end_at);
	} else if (event->type == EVENT_DELIVERY) {
		wall_ns = latest_ns(wall_ns, delivery->mail_at);
		wall_ns = latest_ns(wall_ns, delivery->end_at);
	} else if (event->type == EVENT_HEARTBEAT) {
		wall_ns = event->heartbeat.at.wall_ns;
	}
	return wall_ns;
}

static inline unsigned
deliveries_told(const struct event *event)
{
	unsigned told = 0;

	if (event->type != EVENT_DELIVERY)
		return 0;
	for (size_t i = 0; i < event->delivery.recipient_count; i++)
		told += event->delivery.recipients[i].final.code / 100 == 2;
	return told;
}

static inline void
scenario_add_queue_id(struct scenario *scenario, struct maillog_view queue_id)
{
	if (queue_id.size == 0)
		return;
	for (size_t i = 0; i < scenario->queue_id_count; i++)
		if (strlen(scenario->queue_ids[i]) == queue_id.size &&
		    memcmp(scenario->queue_ids[i], queue_id.at,
			queue_id.size) == 0)
			return;
	assert_true(scenario->queue_id_count < SCENARIO_QUEUE_IDS_MAX);
	scenario->queue_ids[scenario->queue_id_count++] =
	    arena_string_sized(scenario->arena, queue_id.at, queue_id.size);
}

static inline void
keep_line(
    struct scenario *scenario, struct item *item, const struct log_record *line)
{
	item->log = *line;
	item->begin_ns = line->wall_ns;
	item->end_ns = line->wall_ns + line->precision_ns + 1;
	if (line->gap != LOG_GAP_NONE)
		return;
	/* There was no gap before, so lines and records go together. */
	item->line = scenario->lines[scenario->counts[MAILLOG] - 1];
	item->delivered = line->record.kind == MAILLOG_DELIVERY &&
			  line->record.status == MAILLOG_SENT;
	scenario_add_queue_id(scenario, line->record.queue_id);
}

static inline void
keep_event(struct scenario *scenario, struct item *item,
    const struct journal_record *record)
{
	const char *queue_id = NULL;

	copy_record(scenario, item, record);
	item->begin_ns = item->end_ns = appended_ns(&record->event);
	item->delivered = deliveries_told(&record->event);
	if (record->event.type == EVENT_MESSAGE)
		queue_id = record->event.message.queue_id;
	else if (record->event.type == EVENT_DELIVERY)
		queue_id = record->event.delivery.queue_id;
	if (queue_id != NULL)
		scenario_add_queue_id(scenario, maillog_view_of(queue_id));
}

static inline int
source_number(const struct source_record *record)
{
	if (record->line != NULL)
		return MAILLOG;
	return strcmp(record->source, journal_names[MILTER]) == 0 ? MILTER
								  : LMTP;
}

static inline void
keep_item(
    void *context, struct world *world, const struct source_record *record)
{
	struct scenario *scenario = context;
	int source = source_number(record);
	struct item *item = arena_append(scenario->arena,
	    &scenario->items[source], &scenario->counts[source], sizeof(*item));

	if (source == MAILLOG)
		keep_line(scenario, item, record->line);
	else
		keep_event(scenario, item, record->record);
	if (scenario->counts[source] > 1) {
		item->begin_ns = item[-1].begin_ns > item->begin_ns
				     ? item[-1].begin_ns
				     : item->begin_ns;
		item->end_ns = item[-1].end_ns > item->end_ns ? item[-1].end_ns
							      : item->end_ns;
	}
}

/* A world with this scenario's instances, and its time. */
static inline void
scenario_begin_world(const struct scenario *scenario, struct world *world)
{
	scenario_clock_ns = scenario->clock_ns;
	*world = (struct world){
	    .reads_log = true,
	    .maillog_instances = scenario->maillog_instances,
	    .instance = "mx.example.test",
	};
	world_make(world);
}

static inline void
scenario_load(
    struct scenario *scenario, const char *directory, const char *name)
{
	char path[PATH_MAX];
	struct world world;

	*scenario = (struct scenario){.arena = arena_new(64 << 20)};
	snprintf(scenario->name, sizeof(scenario->name), "%.*s",
	    (int)strcspn(name, "."), name);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	scenario_make_directories(scenario);
	scenario_unpack(scenario, path);
	scenario_begin_world(scenario, &world);
	scenario_read(scenario, &world, keep_item, scenario);
	world_end(&world);
	assert_false(arena_failed(scenario->arena));
	assert_int_equal(scenario->counts[MAILLOG], scenario->line_count);
}

static inline void
scenario_free(struct scenario *scenario)
{
	nftw(scenario->directory, fixture_unlink, 10, FTW_DEPTH | FTW_PHYS);
	/* Whoever keeps its records has set it to NULL. */
	arena_free(&scenario->arena);
}

#endif
