/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `postlag journal dump` and `verify`: each segment is read from beginning to
 * end, by the same code that the exporter reads with.
 */
#include "cli/journal_command.h"

#include "base/reason.h"
#include "cli/event_dump.h"
#include "cli/exit_status.h"
#include "cli/journal_files.h"
#include "proto/segment_reader.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage_text[] =
    "usage: postlag journal dump [--json] FILE|DIRECTORY...\n"
    "       postlag journal verify FILE|DIRECTORY...\n"
    "\n"
    "dump     print each event of the journals, one a line\n"
    "verify   count records and damage\n"
    "\n"
    "Exit status: 0; 1 when there is damage; 2 when something cannot be "
    "used.\n";

struct tally {
	uint64_t files;
	uint64_t records;
	struct journal_damage damage;
};

struct walk {
	/* What is done with each record; NULL for verify. */
	void (*print)(FILE *out, const struct journal_record *record);
	struct segment_reader *reader;
	struct journal_damage damage; /* the reader adds to it */
	struct tally total;
	bool io_error;
};

static bool
is_damaged(const struct journal_damage *damage)
{
	return damage->records > 0 || damage->torn > 0 || damage->headers > 0 ||
	       damage->segments > 0;
}

static void
add_damage(struct journal_damage *sum, const struct journal_damage *damage)
{
	sum->records += damage->records;
	sum->bytes += damage->bytes;
	sum->torn += damage->torn;
	sum->headers += damage->headers;
	sum->segments += damage->segments;
}

static void
print_tally(const char *name, const struct tally *tally)
{
	printf("%s: files=%" PRIu64 " records=%" PRIu64
	       " damaged_records=%" PRIu64 " damaged_bytes=%" PRIu64
	       " torn=%" PRIu64 " damaged_headers=%" PRIu64
	       " unreadable=%" PRIu64 "\n",
	    name, tally->files, tally->records, tally->damage.records,
	    tally->damage.bytes, tally->damage.torn, tally->damage.headers,
	    tally->damage.segments);
}

static void
read_file(void *context, const struct journal_file *file)
{
	struct journal_position from = {file->number, 0};
	struct walk *walk = context;
	struct tally tally = {.files = 1};
	struct journal_record record;
	struct reason reason;
	int result;

	walk->damage = (struct journal_damage){0};
	segment_reader_begin(walk->reader, file->fd, from, file->path);
	while ((result = segment_reader_next(
		    walk->reader, file->complete, &record, &reason)) == 1) {
		tally.records++;
		if (walk->print != NULL)
			walk->print(stdout, &record);
	}
	segment_reader_end(walk->reader);
	if (result < 0) {
		fprintf(stderr, "postlag: %s\n", reason.text);
		walk->io_error = true;
	}
	tally.damage = walk->damage;
	if (walk->print == NULL)
		print_tally(file->path, &tally);
	walk->total.files++;
	walk->total.records += tally.records;
	add_damage(&walk->total.damage, &tally.damage);
}

/* Reads all paths and prints what there is to say at the end. */
static int
walk_paths(struct walk *walk, char *const *paths)
{
	struct reason reason;
	int status = EXIT_OK;

	for (; *paths != NULL; paths++) {
		if (journal_files_each(*paths, read_file, walk, &reason) == 0)
			continue;
		fprintf(stderr, "postlag: %s\n", reason.text);
		status = EXIT_UNUSABLE;
	}
	if (walk->print == NULL)
		print_tally("total", &walk->total);
	if (fflush(stdout) != 0) {
		perror("postlag: standard output");
		return EXIT_UNUSABLE;
	}
	if (walk->io_error || status == EXIT_UNUSABLE)
		return EXIT_UNUSABLE;
	return is_damaged(&walk->total.damage) ? EXIT_MISSING : EXIT_OK;
}

static int
usage(FILE *out, int status)
{
	fputs(usage_text, out);
	return status;
}

/* Reads the options of a verb, of which `json` only if `dumps`. */
static int
run_verb(int argc, char **argv, bool dumps)
{
	static const struct option options[] = {
	    {"json", no_argument, NULL, 'j'},
	    {"help", no_argument, NULL, 'h'},
	    {NULL, 0, NULL, 0},
	};
	struct walk walk = {.print = dumps ? event_dump_text : NULL};
	int option, status;

	optind = 1;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (option == 'h')
			return usage(stdout, EXIT_OK);
		if (option != 'j' || !dumps)
			return usage(stderr, EXIT_UNUSABLE);
		walk.print = event_dump_json;
	}
	if (optind == argc)
		return usage(stderr, EXIT_UNUSABLE);
	walk.reader = segment_reader_new(&walk.damage);
	if (walk.reader == NULL) {
		fputs("postlag: no memory\n", stderr);
		return EXIT_UNUSABLE;
	}
	status = walk_paths(&walk, argv + optind);
	segment_reader_free(&walk.reader);
	return status;
}

int
journal_command(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "dump") == 0)
		return run_verb(argc - 1, argv + 1, true);
	if (argc >= 2 && strcmp(argv[1], "verify") == 0)
		return run_verb(argc - 1, argv + 1, false);
	if (argc == 2 &&
	    (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0))
		return usage(stdout, EXIT_OK);
	return usage(stderr, EXIT_UNUSABLE);
}
