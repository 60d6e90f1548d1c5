/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading the configuration again while the program runs: into settings of its
 * own, so that no thread sees a string change under it. Called by programs on
 * their main thread.
 */
#include "base/daemon.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/config.h"
#include "base/config_value.h"
#include "base/daemon_process.h"
#include "base/log.h"
#include "base/reason.h"

/* Settings to read a second configuration into, as large as the table says that
 * they are. */
static void *
settings_like(const struct config_section *section)
{
	size_t size = 0;

	for (size_t i = 0; i < section->item_count; i++) {
		if (section->items[i].offset > size)
			size = section->items[i].offset;
	}
	return calloc(1, size + sizeof(int64_t) + sizeof(char *));
}

static bool
same_value(const struct config_item *item, const void *left, const void *right)
{
	struct buffer a = {.limit = 0}, b = {.limit = 0};
	bool same;

	config_value_write(item, left, &a);
	config_value_write(item, right, &b);
	same = !a.failed && !b.failed && a.size == b.size &&
	       (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
	buffer_free(&a);
	buffer_free(&b);
	return same;
}

/* Takes log_level over from the fresh settings; for the others, says that they
 * wait. */
static void
apply_item(const struct config_section *now, const struct config_section *fresh,
    const struct config_item *item)
{
	int *member = (void *)((char *)now->settings + item->offset);

	if (same_value(item, now->settings, fresh->settings))
		return;
	if (member != &daemon_process.program->settings->log_level) {
		log_warn("section=%s option=%s reason=takes effect at restart",
		    now->name, item->name);
		return;
	}
	memcpy(member, (char *)fresh->settings + item->offset, sizeof(*member));
	log_set_level(
	    (enum log_level)daemon_process.program->settings->log_level);
}

static void
reload_into(struct config_section *fresh)
{
	struct reason reason;
	size_t count = daemon_process.program->section_count;

	if (config_load(daemon_process.config_path, fresh, count, &reason) <
	    0) {
		log_error("reload=failed reason=%s", reason.text);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < fresh[i].item_count; j++)
			apply_item(&daemon_process.program->sections[i],
			    &fresh[i], &fresh[i].items[j]);
	}
	log_info("reload=done config=%s log_level=%s",
	    daemon_process.config_path,
	    daemon_log_levels[daemon_process.program->settings->log_level]);
}

void
daemon_reload(void)
{
	size_t count = daemon_process.program->section_count;
	struct config_section *fresh = calloc(count, sizeof(*fresh));
	bool complete = fresh != NULL;

	for (size_t i = 0; fresh != NULL && i < count; i++) {
		fresh[i] = daemon_process.program->sections[i];
		fresh[i].settings = settings_like(&fresh[i]);
		if (fresh[i].settings == NULL) {
			fresh[i].item_count = 0;
			complete = false;
		}
	}
	if (complete)
		reload_into(fresh);
	else
		log_error("reload=failed reason=out of memory");
	for (size_t i = 0; fresh != NULL && i < count; i++) {
		config_free(&fresh[i], 1);
		free(fresh[i].settings);
	}
	free(fresh);
}
