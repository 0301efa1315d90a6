#ifndef C_HTTP_SERVER_FILES_H
#define C_HTTP_SERVER_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What FileTree needs, by names in an open directory. Results are as in the calls they stand for.

/// What of a file FileTree looks at; the same on all systems.
struct http_server_file_status {
    uint32_t mode;
    uint32_t device_major, device_minor;
    uint64_t inode;
    /// Where it is mounted; 0 where the system does not tell.
    uint64_t mount;
    int64_t size;
    int64_t modified_seconds, modified_nanoseconds;
    int64_t changed_seconds, changed_nanoseconds;
    int64_t born_seconds, born_nanoseconds;
};

/// fstatat with the time of birth, of a link itself; of `directory` for an empty name.
int http_server_status(int directory, const char *name, struct http_server_file_status *status);

/// Renames over what is there: 0 replaces it, 1 refuses with EEXIST, 2 exchanges both.
int http_server_rename(int from_directory, const char *from, int to_directory, const char *to, int mode);

/// Copies content from one file to the other, sharing blocks where the file system can do that.
/// `size` is what the first one is thought to have; it copies what is there.
int http_server_copy_content(int from, int to, int64_t size);

/// Extended attributes in the namespace of users.
ssize_t http_server_attribute(int file, const char *name, void *room, size_t count);
/// The same of a name in an open directory, where it is a file or directory and no link.
ssize_t http_server_attribute_at(int directory, const char *path, const char *name, void *room, size_t count);
/// The same where there is no call for it: opens it.
ssize_t http_server_attribute_of_opened(
    int directory, const char *path, const char *name, void *room, size_t count);
int http_server_set_attribute(int file, const char *name, const void *value, size_t count);
int http_server_remove_attribute(int file, const char *name);

/// Sets when a file was changed last.
int http_server_set_modified(int file, int64_t seconds, int64_t nanoseconds);

/// Whether the file system of an open file is one of this machine, which keeps nobody waiting for
/// another machine or program; 0 where that is not known.
int http_server_is_local(int file);

/// Whether what is on one mount is on one volume, so that anything can be renamed to anywhere there.
/// Btrfs and others have volumes inside of one that are no mounts.
int http_server_is_one_volume(int file);

/// The path of an open file, without NUL at its end; -1 where the system cannot tell. `count` is at
/// least 1024.
ssize_t http_server_path(int file, char *room, size_t count);

/// Whether names in an open directory are the same if only their case differs; 0 where that is not
/// known.
int http_server_ignores_case(int directory);

/// How often this thread has had to wait for something since it began; what is no wait is that another
/// one had its turn on the processor. -1 where the system does not tell.
int64_t http_server_waits(void);

/// The flags of `open` for a file that is only looked at: O_PATH, where the system has it.
int http_server_look_flags(void);

/// Whether this thread is one that may wait for the disk.
int http_server_may_block(void);
void http_server_set_may_block(int may_block);

/// flock for the process alone, without waiting.
int http_server_hold(int file);

#endif
