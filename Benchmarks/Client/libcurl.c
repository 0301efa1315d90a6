/* The client's bound: what libcurl itself costs, from C.
 *
 *   libcurl get URL COUNT CONCURRENT | download URL [slow] | upload URL FILE
 *
 * Prints `RESULT requests bytes wall-us cpu-us peak-KiB`. */
#include <curl/curl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int64_t received;
static int is_slow;

static int64_t wall(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int64_t cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000LL + usage.ru_utime.tv_usec
        + usage.ru_stime.tv_usec;
}

static long peak(void) {
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &kib);
    if (status) fclose(status);
    return kib;
}

static void report(int64_t requests, int64_t start, int64_t start_cpu) {
    printf("RESULT %lld %lld %lld %lld %ld\n", (long long)requests, (long long)received,
           (long long)(wall() - start), (long long)(cpu() - start_cpu), peak());
}

static size_t take(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    if (is_slow && received / (8 << 20) != (int64_t)(received + size * count) / (8 << 20))
        usleep(20000);
    received += size * count;
    return size * count;
}

static CURL *handle(const char *url) {
    CURL *easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    return easy;
}

static void check(CURLcode code) {
    if (code == CURLE_OK) return;
    fprintf(stderr, "libcurl: %s\n", curl_easy_strerror(code));
    exit(1);
}

static void sequential(const char *url, int count) {
    CURL *easy = handle(url);
    for (int i = 0; i < count; i++) check(curl_easy_perform(easy));
    curl_easy_cleanup(easy);
}

static void concurrent(CURLM *multi, const char *url, int count, int width) {
    int started = 0, done = 0, running;
    for (; started < width && started < count; started++)
        curl_multi_add_handle(multi, handle(url));
    while (done < count) {
        curl_multi_perform(multi, &running);
        CURLMsg *message;
        int left;
        while ((message = curl_multi_info_read(multi, &left))) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            check(message->data.result);
            curl_multi_remove_handle(multi, easy);
            done++;
            if (started < count) {
                started++;
                curl_multi_add_handle(multi, easy);
            } else {
                curl_easy_cleanup(easy);
            }
        }
        if (done < count) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
}

int main(int count, char **words) {
    if (count < 3) return 64;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const char *what = words[1], *url = words[2];
    int64_t requests = 1, start = wall(), start_cpu = cpu();
    if (!strcmp(what, "get")) {
        requests = atoi(words[3]);
        int width = atoi(words[4]);
        if (width == 1) {
            sequential(url, 1);
            start = wall(), start_cpu = cpu(), received = 0;
            sequential(url, requests);
        } else {
            CURLM *multi = curl_multi_init();
            curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, (long)width);
            concurrent(multi, url, width, width);
            start = wall(), start_cpu = cpu(), received = 0;
            concurrent(multi, url, requests, width);
        }
    } else if (!strcmp(what, "download")) {
        is_slow = count > 3;
        sequential(url, 1);
    } else {
        FILE *file = fopen(words[3], "rb");
        struct stat status;
        if (!file || stat(words[3], &status)) return 1;
        CURL *easy = handle(url);
        curl_easy_setopt(easy, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(easy, CURLOPT_READDATA, file);
        curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
        curl_easy_setopt(easy, CURLOPT_INFILESIZE_LARGE, (curl_off_t)status.st_size);
        struct curl_slist *fields = curl_slist_append(NULL, "Expect:");
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
        check(curl_easy_perform(easy));
        received = status.st_size;
    }
    report(requests, start, start_cpu);
    return 0;
}
