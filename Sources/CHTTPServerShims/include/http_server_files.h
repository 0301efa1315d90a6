#ifndef C_HTTP_SERVER_FILES_H
#define C_HTTP_SERVER_FILES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The calls that FileTree needs, with names in an open directory. Results are those of the system
// calls.

/// The attributes of a file that FileTree needs; the same on all systems.
struct http_server_file_status {
    uint32_t mode;
    uint32_t device_major, device_minor;
    uint64_t inode;
    /// The number of the mount; 0 if the system does not report it.
    uint64_t mount;
    int64_t size;
    int64_t modified_seconds, modified_nanoseconds;
    int64_t changed_seconds, changed_nanoseconds;
    int64_t born_seconds, born_nanoseconds;
};

/// fstatat with the time of birth. It does not follow links; an empty name is `directory` itself.
int http_server_status(int directory, const char *name, struct http_server_file_status *status);

/// Renames a file. If the new name is taken, mode 0 replaces it, 1 fails with EEXIST, and 2
/// exchanges both.
int http_server_rename(int from_directory, const char *from, int to_directory, const char *to, int mode);

/// Copies content from one file to the other, sharing blocks where the file system can do that.
/// `size` is the expected number of bytes; all content is copied.
int http_server_copy_content(int from, int to, int64_t size);

/// Extended attributes in the namespace of users.
ssize_t http_server_attribute(int file, const char *name, void *room, size_t count);
/// The same for the name of a file or directory, but not of a link, in an open directory.
ssize_t http_server_attribute_at(int directory, const char *path, const char *name, void *room, size_t count);
/// The same for systems without a call for names: opens the file.
ssize_t http_server_attribute_of_opened(
    int directory, const char *path, const char *name, void *room, size_t count);
int http_server_set_attribute(int file, const char *name, const void *value, size_t count);
int http_server_remove_attribute(int file, const char *name);

/// Sets the time of a file's last modification.
int http_server_set_modified(int file, int64_t seconds, int64_t nanoseconds);

/// Whether the file system of an open file is local, so that no call waits for another machine or
/// program; 0 if that is not known.
int http_server_is_local(int file);

/// Whether a mount of this file system is one volume, so that every rename inside of it works.
/// Btrfs and others have volumes inside of a volume that are not mounts. 0 if that is not known.
int http_server_is_one_volume(int file);

/// The path of an open file, without NUL at its end; -1 if the system does not report it. `count`
/// is at least 1024.
ssize_t http_server_path(int file, char *room, size_t count);

/// Whether names in an open directory are the same if only their case differs; 0 if that is not
/// known.
int http_server_ignores_case(int directory);

/// How often this thread has had to wait since it began. Losing the processor to another thread is
/// not a wait. -1 if the system does not report it.
int64_t http_server_waits(void);

/// The flags of `open` for a file of which only attributes are read: O_PATH if the system has it.
int http_server_look_flags(void);

/// Whether this thread may wait for the disk.
int http_server_may_block(void);
void http_server_set_may_block(int may_block);

/// Locks a file exclusively with flock, without waiting.
int http_server_hold(int file);

#endif
