/* SPDX-License-Identifier: BSD-2-Clause */
/* Which bytes of a text are somebody's name. */
#include "store/forget_words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/reason.h"

#include "tests/lib/unit.h"

static char directory[] = "/tmp/postlag-forget-XXXXXX";
static struct pseudonym_key *key;

static const struct {
	const char *text, *wanted;
} rows[] = {
    {"<alice@x.example> Saved", "<*****@x.example> Saved"},
    {"<ALICE@X.example>: no", "<*****@X.example>: no"},
    {"alice@x.example", "*****@x.example"},
    {"rfc822;alice@x.example, alice@x.example.",
	"rfc822;*****@x.example, *****@x.example."},
    {"id=alice%40x.example;", "id=*****%40x.example;"},
    {"malice@x.example, alice+a@x.example, bob.alice@x.example",
	"malice@x.example, alice+a@x.example, bob.alice@x.example"},
    {"alice@x.example.org, alice@x.example2, alice@y.example",
	"alice@x.example.org, alice@x.example2, alice@y.example"},
    {"unknown user: \"alice\"", "unknown user: \"*****\""},
    {"delivered to file: /home/alice/Mailbox",
	"delivered to file: /home/*****/Mailbox"},
    {"User doesn't exist: alice", "User doesn't exist: *****"},
    {"alice is a name like any other", "alice is a name like any other"},
    {"alice@", "alice@"},
    {"", ""},
    {"@x.example", "@x.example"},
};

static void
only_whoever_is_meant_is_overwritten(void **state)
{
	struct forget_words words;

	forget_words_set(&words, "Alice@x.example", key);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char *text = strdup(rows[i].text);
		bool changed =
		    forget_words_in(&words, text, strlen(text), true);

		assert_row_string(i, text, rows[i].wanted);
		assert_row(
		    i, changed == (strcmp(rows[i].text, rows[i].wanted) != 0));
		assert_row(
		    i, !forget_words_in(&words, text, strlen(text), true));
		free(text);
	}
}

/* A word of a blob has its size in front, which may look like a letter. */
static void
words_of_blobs_are_found(void **state)
{
	static const char mail[] = "alice.in.wonderland@x.example";
	struct forget_words words;
	char blob[128], wanted[128];
	size_t size = 0;

	forget_words_set(&words, mail, key);
	size += (size_t)snprintf(blob, sizeof(blob), "%c%s%c<%s>%c%s",
	    (int)strlen(mail) + 20, mail, 'z', mail, 19, "alice.in.wonderland");
	memcpy(wanted, blob, sizeof(blob));
	memset(wanted + 1, '*', 19);
	memset(strstr(wanted, "<") + 1, '*', 19);
	memset(wanted + size - 19, '*', 19);
	assert_true(forget_words_in(&words, blob, size, false));
	assert_memory_equal(blob, wanted, size);
}

static void
pseudonyms_are_meant_too(void **state)
{
	struct forget_words words;
	char text[64];

	forget_words_set(&words, "alice@x.example", key);
	snprintf(text, sizeof(text), "<%.17s@x.example> %.9s", words.long_mark,
	    words.short_mark);
	assert_true(forget_words_in(&words, text, strlen(text), true));
	assert_string_equal(text, "<*****************@x.example> *********");
	assert_true(
	    forget_words_mean(&words, words.long_mark, 17, "X.example", 9));
	assert_true(
	    forget_words_mean(&words, words.short_mark, 9, "x.example", 9));
	assert_true(forget_words_mean(&words, "ALICE", 5, "x.example", 9));
	assert_false(forget_words_mean(&words, "alice", 5, "y.example", 9));
	assert_false(forget_words_mean(&words, "alice", 5, NULL, 0));
}

static int
begin(void **state)
{
	struct reason reason;

	assert_non_null(mkdtemp(directory));
	return pseudonym_key_open(directory, true, &key, &reason) == 1 ? 0 : -1;
}

static int
end(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/address.key", directory);
	pseudonym_key_free(&key);
	return unlink(path) == 0 ? rmdir(directory) : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(only_whoever_is_meant_is_overwritten),
	    cmocka_unit_test(words_of_blobs_are_found),
	    cmocka_unit_test(pseudonyms_are_meant_too),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
