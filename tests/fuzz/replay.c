/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in for the fuzzer: feeds each file named on the command line to the
 * fuzz target it is linked with and prints one TAP line per file. Each input
 * lies in memory of exactly its size, so that the address sanitizer sees a read
 * behind it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *
read_file(const char *path, size_t *size_r)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	rewind(file);
	if (size >= 0)
		data = malloc(size > 0 ? (size_t)size : 1);
	if (data != NULL && fread(data, 1, (size_t)size, file) < (size_t)size) {
		free(data);
		data = NULL;
	}
	fclose(file);
	*size_r = (size_t)size;
	return data;
}

int
main(int argc, char **argv)
{
	int status = argc > 1 ? 0 : 1;

	for (int i = 1; i < argc; i++) {
		const char *slash = strrchr(argv[i], '/');
		const char *name = slash != NULL ? slash + 1 : argv[i];
		size_t size;
		uint8_t *data = read_file(argv[i], &size);

		if (data != NULL)
			LLVMFuzzerTestOneInput(data, size);
		else
			status = 1;
		printf("%s %d - %s\n", data != NULL ? "ok" : "not ok", i, name);
		fflush(stdout);
		free(data);
	}
	if (argc == 1)
		printf("not ok 1 - a corpus is there to replay\n");
	printf("1..%d\n", argc > 1 ? argc - 1 : 1);
	return status;
}
