/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keyed hashes as letters. Called by the exporter for what it is about to
 * store, and by searches.
 *
 * The letters are those of the word in lower case; which of them are capitals
 * follows from the word as it is. So comparing pseudonyms, with regard to case
 * or without, is comparing words.
 */
#include "store/pseudonym.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/memory.h"
#include "base/reason.h"
#include "store/layout.h"

#define KEY_BYTES 32
#define DIGEST_BYTES 32

struct pseudonym_key {
	unsigned char bytes[KEY_BYTES];
};

/* Written under another name first: a key is whole or not there. */
static int
create_key(const char *directory, const char *path, struct reason *reason)
{
	char *new_path = layout_path(directory, "address.key.new");
	unsigned char bytes[KEY_BYTES];
	int fd, result = -1;

	randombytes_buf(bytes, sizeof(bytes));
	unlink(new_path);
	fd = open(new_path,
	    O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && write(fd, bytes, sizeof(bytes)) == sizeof(bytes) &&
	    fsync(fd) == 0 && rename(new_path, path) == 0)
		result = layout_sync_name(path);
	if (result != 0)
		reason_set_errno(reason, "cannot make %s", path);
	if (fd >= 0)
		close(fd);
	sodium_memzero(bytes, sizeof(bytes));
	free(new_path);
	return result;
}

static int
read_key(int fd, const char *path, struct pseudonym_key **key_r,
    struct reason *reason)
{
	struct pseudonym_key *key = memory_zeroed(1, sizeof(*key));
	ssize_t size = read(fd, key->bytes, sizeof(key->bytes));

	if (size == sizeof(key->bytes)) {
		*key_r = key;
		return 1;
	}
	pseudonym_key_free(&key);
	if (size < 0)
		return reason_set_errno(reason, "%s", path);
	errno = 0;
	return reason_set(reason, "%s is no key", path);
}

static int
open_key(const char *path, struct pseudonym_key **key_r, struct reason *reason)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	int result;

	if (fd < 0)
		return errno == ENOENT ? 0
				       : reason_set_errno(reason, "%s", path);
	result = read_key(fd, path, key_r, reason);
	close(fd);
	return result;
}

int
pseudonym_key_open(const char *directory, bool create,
    struct pseudonym_key **key_r, struct reason *reason)
{
	char *path = layout_path(directory, "address.key");
	int result = -1;

	*key_r = NULL;
	if (sodium_init() < 0)
		reason_set(reason, "libsodium cannot be used");
	else
		result = open_key(path, key_r, reason);
	if (result == 0 && create) {
		result = create_key(directory, path, reason);
		if (result == 0)
			result = open_key(path, key_r, reason);
	}
	free(path);
	return result;
}

void
pseudonym_key_free(struct pseudonym_key **key)
{
	if (*key == NULL)
		return;
	sodium_memzero(*key, sizeof(**key));
	free(*key);
	*key = NULL;
}

static void
digest(const struct pseudonym_key *key, const char *word, size_t size,
    unsigned char digest_r[DIGEST_BYTES])
{
	crypto_generichash(digest_r, DIGEST_BYTES, (const unsigned char *)word,
	    size, key->bytes, sizeof(key->bytes));
}

/* In ASCII, as addresses are compared everywhere here. Returns whether that
 * changed anything. */
static bool
fold(const char *word, size_t size, char *folded_r)
{
	bool changed = false;

	for (size_t i = 0; i < size; i++) {
		bool is_upper = word[i] >= 'A' && word[i] <= 'Z';

		folded_r[i] =
		    (char)(is_upper ? word[i] + ('a' - 'A') : word[i]);
		changed = changed || is_upper;
	}
	return changed;
}

/* At least one capital shows that the word is not all lower case. */
static void
set_capitals(
    const unsigned char bytes[DIGEST_BYTES], char *letters, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (i == 0 || (bytes[i] & 1) != 0)
			letters[i] = (char)toupper((unsigned char)letters[i]);
}

void
pseudonym(const struct pseudonym_key *key, const char *word, size_t size,
    char *letters_r, size_t count)
{
	char *folded = memory_zeroed(size + 1, 1);
	bool has_capitals = fold(word, size, folded);
	unsigned char bytes[DIGEST_BYTES];

	digest(key, folded, size, bytes);
	for (size_t i = 0; i < count; i++)
		letters_r[i] =
		    (char)('a' + (bytes[2 * i] | bytes[2 * i + 1] << 8) % 26);
	if (has_capitals) {
		digest(key, word, size, bytes);
		set_capitals(bytes, letters_r, count);
	}
	free(folded);
}

static bool
is_mark_and_letters(const char *word, size_t size, char mark, size_t letters)
{
	if (size != letters + 1 || word[0] != mark)
		return false;
	for (size_t i = 1; i < size; i++)
		if (!isalpha((unsigned char)word[i]))
			return false;
	return true;
}

enum pseudonym_form
pseudonym_form(const char *word, size_t size)
{
	if (is_mark_and_letters(word, size, PSEUDONYM_MARK, PSEUDONYM_LETTERS))
		return PSEUDONYM_LONG;
	if (is_mark_and_letters(
		word, size, PSEUDONYM_SHORT_MARK, PSEUDONYM_SHORT_LETTERS))
		return PSEUDONYM_SHORT;
	return PSEUDONYM_NONE;
}
