/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A short list of intervals in order of time. Fed by the join's reading of the
 * log, asked by loss.c; both on the ingest thread.
 */
#include "exporter/read/log_trust.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/memory.h"

/* Many dates in logs have whole seconds. */
#define PRECISION_NS (2 * CLOCK_NS_PER_SECOND)
/* How long a line may take from where it is written to us. */
#define LATENESS_NS (30 * CLOCK_NS_PER_SECOND)
#define SAVE_INTERVAL_NS (60 * CLOCK_NS_PER_SECOND)
/* Beyond this many the two oldest become one. */
#define INTERVALS_MAX 500

struct interval {
	int64_t from_ns, to_ns;
};

/* What is heard of an instance. */
struct voice {
	char *instance;
	int64_t since_ns; /* the first line */
	int64_t line_ns;  /* the latest one */
	int64_t expected_ns;
	bool is_stopped; /* the latest line says so */
	bool is_booting; /* no line since the boot */
};

struct log_trust {
	struct voice *voices;
	size_t voice_count;
	int64_t line_ns; /* of anybody */
	bool is_unseen;
	int64_t paused_ns; /* 0: it is not */
	uint8_t boot_id[CLOCK_BOOT_ID_BYTES];
	int64_t boot_ns;       /* of those that are booting */
	struct interval *gaps; /* apart from each other, the oldest first */
	size_t count;
	bool changed;
	int64_t saved_line_ns;
};

struct log_trust *
log_trust_new(void)
{
	return memory_zeroed(1, sizeof(struct log_trust));
}

void
log_trust_free(struct log_trust **trust)
{
	if (*trust == NULL)
		return;
	for (size_t i = 0; i < (*trust)->voice_count; i++)
		free((*trust)->voices[i].instance);
	free((*trust)->voices);
	free((*trust)->gaps);
	free(*trust);
	*trust = NULL;
}

static struct voice *
find_voice(const struct log_trust *trust, const char *instance)
{
	for (size_t i = 0; i < trust->voice_count; i++)
		if (strcmp(trust->voices[i].instance, instance) == 0)
			return &trust->voices[i];
	return NULL;
}

static struct voice *
add_voice(struct log_trust *trust, const char *instance, int64_t since_ns)
{
	struct voice *voice;

	trust->voices = memory_resize(
	    trust->voices, trust->voice_count + 1, sizeof(*trust->voices));
	voice = &trust->voices[trust->voice_count++];
	*voice = (struct voice){
	    .instance = memory_string(instance), .since_ns = since_ns};
	trust->changed = true;
	return voice;
}

static void
remove_gaps(struct log_trust *trust, size_t first, size_t count)
{
	if (count == 0)
		return;
	trust->count -= count;
	memmove(trust->gaps + first, trust->gaps + first + count,
	    (trust->count - first) * sizeof(*trust->gaps));
}

static void
insert_gap(struct log_trust *trust, size_t at, struct interval gap)
{
	trust->gaps =
	    memory_resize(trust->gaps, trust->count + 1, sizeof(*trust->gaps));
	memmove(trust->gaps + at + 1, trust->gaps + at,
	    (trust->count - at) * sizeof(*trust->gaps));
	trust->gaps[at] = gap;
	if (++trust->count <= INTERVALS_MAX)
		return;
	trust->gaps[0].to_ns = trust->gaps[1].to_ns;
	remove_gaps(trust, 1, 1);
}

void
log_trust_gap(struct log_trust *trust, int64_t from_ns, int64_t to_ns)
{
	struct interval gap = {from_ns, to_ns};
	size_t first = 0, end;

	if (to_ns < from_ns)
		return;
	while (first < trust->count && trust->gaps[first].to_ns < from_ns)
		first++;
	for (end = first;
	     end < trust->count && trust->gaps[end].from_ns <= to_ns; end++) {
		if (trust->gaps[end].from_ns <= from_ns &&
		    trust->gaps[end].to_ns >= to_ns)
			return;
		if (trust->gaps[end].from_ns < gap.from_ns)
			gap.from_ns = trust->gaps[end].from_ns;
		if (trust->gaps[end].to_ns > gap.to_ns)
			gap.to_ns = trust->gaps[end].to_ns;
	}
	remove_gaps(trust, first, end - first);
	insert_gap(trust, first, gap);
	trust->changed = true;
}

static void
hear(struct log_trust *trust, const char *instance, int64_t wall_ns)
{
	struct voice *voice = find_voice(trust, instance);

	if (voice == NULL)
		voice = add_voice(trust, instance, wall_ns);
	if (voice->is_booting && wall_ns >= trust->boot_ns) {
		if (!voice->is_stopped)
			log_trust_gap(trust, voice->line_ns, trust->boot_ns);
		voice->is_booting = false;
		trust->changed = true;
	}
	voice->is_stopped = false;
	if (wall_ns > voice->line_ns)
		voice->line_ns = wall_ns;
}

void
log_trust_stop(struct log_trust *trust, const char *instance)
{
	struct voice *voice = find_voice(trust, instance);

	if (voice == NULL)
		return;
	voice->is_stopped = true;
	trust->changed = true;
}

void
log_trust_line(struct log_trust *trust, const char *instance, int64_t wall_ns)
{
	if (instance != NULL)
		hear(trust, instance, wall_ns);
	if (trust->paused_ns != 0 && wall_ns >= trust->paused_ns) {
		log_trust_gap(trust, trust->paused_ns, wall_ns);
		trust->paused_ns = 0;
		trust->changed = true;
	}
	if (wall_ns > trust->line_ns)
		trust->line_ns = wall_ns;
}

void
log_trust_see(struct log_trust *trust, bool is_seen)
{
	trust->is_unseen = !is_seen;
}

/* Who has ended has nothing to log. */
static bool
has_any_to_log(const struct log_trust *trust)
{
	for (size_t i = 0; i < trust->voice_count; i++)
		if (!trust->voices[i].is_stopped)
			return true;
	return trust->voice_count == 0;
}

/* A pause that was read before has its gap already. */
void
log_trust_pause(struct log_trust *trust, int64_t from_ns)
{
	if (from_ns < trust->line_ns || trust->paused_ns != 0 ||
	    !has_any_to_log(trust))
		return;
	trust->paused_ns = from_ns;
	trust->changed = true;
}

void
log_trust_expect(struct log_trust *trust, const char *instance, int64_t wall_ns)
{
	struct voice *voice = find_voice(trust, instance);

	if (voice != NULL && wall_ns > voice->expected_ns)
		voice->expected_ns = wall_ns;
}

void
log_trust_boot(struct log_trust *trust,
    const uint8_t boot_id[CLOCK_BOOT_ID_BYTES], int64_t boot_wall_ns)
{
	if (memcmp(trust->boot_id, boot_id, CLOCK_BOOT_ID_BYTES) == 0)
		return;
	for (size_t i = 0; i < trust->voice_count; i++) {
		struct voice *voice = &trust->voices[i];

		/* One that was silent throughout the boot before. */
		if (voice->is_booting && !voice->is_stopped)
			log_trust_gap(trust, voice->line_ns, trust->boot_ns);
		voice->is_booting = true;
	}
	trust->boot_ns = boot_wall_ns;
	memcpy(trust->boot_id, boot_id, CLOCK_BOOT_ID_BYTES);
	trust->changed = true;
}

static bool
is_readable(const struct log_trust *trust)
{
	return !trust->is_unseen && trust->paused_ns == 0;
}

static bool
is_speaking(const struct voice *voice, int64_t now_ns)
{
	return voice->expected_ns <= voice->line_ns + LATENESS_NS ||
	       voice->expected_ns + LATENESS_NS >= now_ns;
}

bool
log_trust_is_alive(const struct log_trust *trust, int64_t now_ns)
{
	for (size_t i = 0; i < trust->voice_count; i++)
		if (!is_speaking(&trust->voices[i], now_ns))
			return false;
	return is_readable(trust) && trust->voice_count > 0;
}

bool
log_trust_misses(const struct log_trust *trust, int64_t from_ns)
{
	for (size_t i = trust->count; i-- > 0;)
		if (trust->gaps[i].to_ns >= from_ns)
			return true;
	return false;
}

bool
log_trust_covers(const struct log_trust *trust, const char *instance,
    int64_t from_ns, int64_t now_ns)
{
	const struct voice *voice = find_voice(trust, instance);

	if (voice == NULL || !is_readable(trust) ||
	    (voice->is_booting && from_ns <= trust->boot_ns) ||
	    !is_speaking(voice, now_ns) ||
	    from_ns + PRECISION_NS < voice->since_ns)
		return false;
	return !log_trust_misses(trust, from_ns - PRECISION_NS);
}

bool
log_trust_is_unsaved(const struct log_trust *trust)
{
	return trust->changed ||
	       trust->line_ns - trust->saved_line_ns > SAVE_INTERVAL_NS;
}

void
log_trust_forget(struct log_trust *trust, int64_t before_ns)
{
	size_t old = 0;

	while (old < trust->count && trust->gaps[old].to_ns < before_ns)
		old++;
	if (old > 0)
		remove_gaps(trust, 0, old);
}

void
log_trust_write(struct log_trust *trust, struct buffer *out)
{
	for (size_t i = 0; i < trust->voice_count; i++)
		buffer_append_format(out, "voice %" PRId64 " %" PRId64 " %s\n",
		    trust->voices[i].since_ns, trust->voices[i].line_ns,
		    trust->voices[i].instance);
	for (size_t i = 0; i < trust->voice_count; i++) {
		const struct voice *voice = &trust->voices[i];

		if (voice->is_stopped)
			buffer_append_format(
			    out, "stopped %s\n", voice->instance);
		if (voice->is_booting)
			buffer_append_format(out, "booting %" PRId64 " %s\n",
			    trust->boot_ns, voice->instance);
	}
	buffer_append_format(out, "line %" PRId64 "\n", trust->line_ns);
	if (trust->paused_ns != 0)
		buffer_append_format(
		    out, "paused %" PRId64 "\n", trust->paused_ns);
	buffer_append_string(out, "boot ");
	for (size_t i = 0; i < CLOCK_BOOT_ID_BYTES; i++)
		buffer_append_format(out, "%02x", trust->boot_id[i]);
	buffer_append_string(out, "\n");
	for (size_t i = 0; i < trust->count; i++)
		buffer_append_format(out, "gap %" PRId64 " %" PRId64 "\n",
		    trust->gaps[i].from_ns, trust->gaps[i].to_ns);
	trust->changed = false;
	trust->saved_line_ns = trust->line_ns;
}

static void
read_boot(struct log_trust *trust, const char *line)
{
	unsigned byte;

	if (strlen(line) < 5 + 2 * CLOCK_BOOT_ID_BYTES)
		return;
	for (size_t i = 0; i < CLOCK_BOOT_ID_BYTES; i++) {
		if (sscanf(line + 5 + 2 * i, "%2x", &byte) != 1)
			return;
		trust->boot_id[i] = (uint8_t)byte;
	}
}

static void
read_voice(struct log_trust *trust, const char *line)
{
	int64_t since_ns, line_ns;
	int name = 0;

	if (sscanf(line, "voice %" SCNd64 " %" SCNd64 " %n", &since_ns,
		&line_ns, &name) == 2 &&
	    name > 0 && line[name] != '\0')
		add_voice(trust, line + name, since_ns)->line_ns = line_ns;
}

/* "stopped NAME", "booting TIME NAME". Returns whether it is one of them. */
static bool
read_state(struct log_trust *trust, const char *line)
{
	struct voice *voice;
	int64_t boot_ns;
	int name = 0;

	if (strncmp(line, "stopped ", 8) == 0) {
		log_trust_stop(trust, line + 8);
		return true;
	}
	if (sscanf(line, "booting %" SCNd64 " %n", &boot_ns, &name) != 1 ||
	    name == 0)
		return false;
	voice = find_voice(trust, line + name);
	if (voice != NULL) {
		voice->is_booting = true;
		trust->boot_ns = boot_ns;
	}
	return true;
}

static void
read_line(struct log_trust *trust, const char *line)
{
	struct interval gap;

	if (read_state(trust, line))
		return;
	if (strncmp(line, "boot ", 5) == 0)
		read_boot(trust, line);
	else if (strncmp(line, "voice ", 6) == 0)
		read_voice(trust, line);
	else if (sscanf(line, "gap %" SCNd64 " %" SCNd64, &gap.from_ns,
		     &gap.to_ns) == 2)
		log_trust_gap(trust, gap.from_ns, gap.to_ns);
	else if (sscanf(line, "line %" SCNd64, &trust->line_ns) != 1)
		sscanf(line, "paused %" SCNd64, &trust->paused_ns);
}

void
log_trust_read(struct log_trust *trust, const void *data, size_t size)
{
	char *text = memory_zeroed(size + 1, 1), *rest = text, *line;

	if (size > 0)
		memcpy(text, data, size);
	while ((line = strsep(&rest, "\n")) != NULL)
		read_line(trust, line);
	free(text);
	trust->changed = false;
	trust->saved_line_ns = trust->line_ns;
}
