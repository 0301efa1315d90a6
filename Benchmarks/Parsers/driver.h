// What every parser driver in C shares: the command line, the cases, the clock.
//
//   DRIVER --case PATH --iterations N
//
// PATH is one `.http` file, or a folder whose `.http` files are parsed in rotation. A driver
// defines `parse`, includes this file last, and prints nanoseconds per request. `parser.py` runs
// drivers in turn; any program with this command line can be measured with `--external`.

#ifndef DRIVER_H
#define DRIVER_H

#include <dirent.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { case_limit = 64, path_limit = 4096 };

typedef struct {
    char *bytes;
    size_t length;
} request_t;

// Parses one request; returns 0 when the parser takes it for bad or incomplete.
static int parse(const char *bytes, size_t length);

static request_t requests[case_limit];
static size_t request_count;

static void refuse(const char *what, const char *path) {
    fprintf(stderr, "%s: %s\n", what, path);
    exit(1);
}

static void load_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || request_count == case_limit) refuse("cannot load", path);
    fseek(file, 0, SEEK_END);
    request_t *request = &requests[request_count++];
    request->length = (size_t)ftell(file);
    request->bytes = malloc(request->length);
    rewind(file);
    if (fread(request->bytes, 1, request->length, file) != request->length) refuse("short", path);
    fclose(file);
}

static int is_case(const struct dirent *entry) {
    const char *end = strrchr(entry->d_name, '.');
    return end && strcmp(end, ".http") == 0;
}

static void load(const char *path) {
    struct stat status;
    if (stat(path, &status) < 0) refuse("no such case", path);
    if (!S_ISDIR(status.st_mode)) {
        load_file(path);
        return;
    }
    struct dirent **entries;
    int count = scandir(path, &entries, is_case, alphasort);
    for (int i = 0; i < count; i++) {
        char file[path_limit];
        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        load_file(file);
    }
    if (request_count == 0) refuse("no cases in", path);
}

static double nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

// Tells `steps` where the measured loop begins and ends.
static void mark(void) {
    if (getenv("STEPS")) raise(SIGUSR1);
}

static double measure(long iterations) {
    size_t next = 0;
    mark();
    double start = nanoseconds();
    for (long i = 0; i < iterations; i++) {
        const request_t *request = &requests[next];
        if (!parse(request->bytes, request->length)) refuse("not parsed", request->bytes);
        next = next + 1 == request_count ? 0 : next + 1;
    }
    double duration = nanoseconds() - start;
    mark();
    return duration / (double)iterations;
}

int main(int count, char **arguments) {
    long iterations = 0;
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--case") == 0) load(arguments[i + 1]);
        if (strcmp(arguments[i], "--iterations") == 0) iterations = atol(arguments[i + 1]);
    }
    if (request_count == 0 || iterations <= 0) {
        fprintf(stderr, "usage: DRIVER --case PATH --iterations N\n");
        return 2;
    }
    printf("%.3f\n", measure(iterations));
}

#endif
