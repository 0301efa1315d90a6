// Calls on files that differ between systems, or that older headers lack.
#define _GNU_SOURCE
#include "http_server_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

ssize_t http_server_attribute_of_opened(
    int directory, const char *path, const char *name, void *room, size_t count) {
    int file = openat(directory, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    if (file < 0) return -1;
    ssize_t result = http_server_attribute(file, name, room, count);
    int error = errno;
    close(file);
    errno = error;
    return result;
}

#if defined(__linux__)
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#if !defined(STATX_BASIC_STATS)
// musl has the call since 1.2.5.
#include <linux/stat.h>

static int statx(
    int directory, const char *name, int flags, unsigned mask, struct statx *status) {
    return (int)syscall(SYS_statx, directory, name, flags, mask, status);
}
#endif

int http_server_status(int directory, const char *name, struct http_server_file_status *status) {
    struct statx raw;
    int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
#if defined(STATX_MNT_ID)
    unsigned mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID;
#else
    unsigned mask = STATX_BASIC_STATS | STATX_BTIME;
#endif
    if (statx(directory, name, flags, mask, &raw) != 0) return -1;
    memset(status, 0, sizeof *status);
    status->mode = raw.stx_mode;
    status->device_major = raw.stx_dev_major;
    status->device_minor = raw.stx_dev_minor;
    status->inode = raw.stx_ino;
    status->size = (int64_t)raw.stx_size;
    status->modified_seconds = raw.stx_mtime.tv_sec;
    status->modified_nanoseconds = raw.stx_mtime.tv_nsec;
    status->changed_seconds = raw.stx_ctime.tv_sec;
    status->changed_nanoseconds = raw.stx_ctime.tv_nsec;
#if defined(STATX_MNT_ID)
    if (raw.stx_mask & STATX_MNT_ID) status->mount = raw.stx_mnt_id;
#endif
    if (raw.stx_mask & STATX_BTIME) {
        status->born_seconds = raw.stx_btime.tv_sec;
        status->born_nanoseconds = raw.stx_btime.tv_nsec;
    }
    return 0;
}

int http_server_rename(int from_directory, const char *from, int to_directory, const char *to, int mode) {
    if (mode == 0) return renameat(from_directory, from, to_directory, to);
    // RENAME_NOREPLACE is 1 and RENAME_EXCHANGE 2.
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, (unsigned)mode);
}

// Copies from the current offsets to the end, which is expected after `size` bytes.
static int copy_by_hand(int from, int to, int64_t size) {
    char room[(size_t)1 << 16];
    for (int64_t copied = 0;;) {
        ssize_t count = read(from, room, sizeof room);
        if (count == 0) return 0;
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        for (ssize_t done = 0; done < count;) {
            ssize_t written = write(to, room + done, (size_t)(count - done));
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return -1;
            done += written;
        }
        copied += count;
        // Some file systems return less than there is, so a short read before `size` is no end.
        if (copied >= size && count < (ssize_t)sizeof room) return 0;
    }
}

int http_server_copy_content(int from, int to, int64_t size) {
    // Content that fits into the buffer of copy_by_hand takes two calls, fewer than other ways.
    static const int64_t small = (int64_t)1 << 15;
    if (size < small) return copy_by_hand(from, to, size);
    if (ioctl(to, FICLONE, from) == 0) return 0;
    int64_t copied = 0;
    for (;;) {
        ssize_t count = copy_file_range(from, 0, to, 0, (size_t)1 << 30, 0);
        if (count > 0) copied += count;
        if (count > 0 || (count < 0 && errno == EINTR)) continue;
        if (count == 0 && copied >= size) return 0;
        // Some file systems of programs and of other machines return 0 before the end.
        if (count == 0) break;
        // Older kernels do not copy between file systems. The bytes copied so far stay, and both
        // offsets have advanced.
        if (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) break;
        return -1;
    }
    return copy_by_hand(from, to, size - copied);
}

ssize_t http_server_attribute(int file, const char *name, void *room, size_t count) {
    return fgetxattr(file, name, room, count);
}

ssize_t http_server_attribute_at(int directory, const char *path, const char *name, void *room, size_t count) {
    // getxattrat came with Linux 6.13; its number is the same on all architectures.
    static _Atomic int is_missing;
    struct { uint64_t value; uint32_t size, flags; } arguments = {(uintptr_t)room, (uint32_t)count, 0};
    if (!is_missing) {
        long result = syscall(464, directory, path, AT_SYMLINK_NOFOLLOW, name, &arguments, sizeof arguments);
        if (result >= 0 || (errno != ENOSYS && errno != EPERM)) return (ssize_t)result;
        is_missing = 1;
    }
    return http_server_attribute_of_opened(directory, path, name, room, count);
}

int http_server_set_attribute(int file, const char *name, const void *value, size_t count) {
    return fsetxattr(file, name, value, count, 0);
}

int http_server_remove_attribute(int file, const char *name) {
    return fremovexattr(file, name);
}

int64_t http_server_waits(void) {
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nvcsw : -1;
}

int http_server_is_local(int file) {
    struct statfs system;
    if (fstatfs(file, &system) != 0) return 0;
    switch ((uint32_t)system.f_type) {
    case 0x0000EF53:  // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x9123683E:  // Btrfs
    case 0xF2F52010:  // F2FS
    case 0x2FC12FC1:  // ZFS
    case 0xCA451A4E:  // bcachefs
    case 0x01021994:  // tmpfs
    case 0x794C7630:  // overlayfs
        return 1;
    default:
        return 0;
    }
}

int http_server_is_one_volume(int file) {
    struct statfs system;
    if (fstatfs(file, &system) != 0) return 0;
    switch ((uint32_t)system.f_type) {
    case 0x0000EF53:  // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0xF2F52010:  // F2FS
    case 0x01021994:  // tmpfs
        return 1;
    default:
        return 0;
    }
}

ssize_t http_server_path(int file, char *room, size_t count) {
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    ssize_t length = readlink(name, room, count);
    return length < (ssize_t)count && length > 0 && room[0] == '/' ? length : -1;
}

int http_server_ignores_case(int directory) {
    // FS_CASEFOLD_FL
    int flags = 0;
    if (ioctl(directory, FS_IOC_GETFLAGS, &flags) == 0 && (flags & 0x40000000) != 0) return 1;
    struct statfs system;
    if (fstatfs(directory, &system) != 0) return 0;
    switch ((uint32_t)system.f_type) {
    case 0x00004D44:  // FAT
    case 0x2011BAB0:  // exFAT
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB 2 and later
        return 1;
    default:
        return 0;
    }
}
#endif

#if defined(__APPLE__)
#include <copyfile.h>
#include <sys/mount.h>

int http_server_status(int directory, const char *name, struct http_server_file_status *status) {
    struct stat raw;
    int result = name[0] == 0 ? fstat(directory, &raw) : fstatat(directory, name, &raw, AT_SYMLINK_NOFOLLOW);
    if (result != 0) return -1;
    memset(status, 0, sizeof *status);
    status->mode = raw.st_mode;
    status->device_minor = (uint32_t)raw.st_dev;
    status->inode = raw.st_ino;
    status->size = raw.st_size;
    status->modified_seconds = raw.st_mtimespec.tv_sec;
    status->modified_nanoseconds = raw.st_mtimespec.tv_nsec;
    status->changed_seconds = raw.st_ctimespec.tv_sec;
    status->changed_nanoseconds = raw.st_ctimespec.tv_nsec;
    status->born_seconds = raw.st_birthtimespec.tv_sec;
    status->born_nanoseconds = raw.st_birthtimespec.tv_nsec;
    return 0;
}

int http_server_rename(int from_directory, const char *from, int to_directory, const char *to, int mode) {
    unsigned flags = mode == 1 ? RENAME_EXCL : mode == 2 ? RENAME_SWAP : 0;
    return renameatx_np(from_directory, from, to_directory, to, flags);
}

int http_server_copy_content(int from, int to, int64_t size) {
    (void)size;
    return fcopyfile(from, to, 0, COPYFILE_DATA);
}

ssize_t http_server_attribute(int file, const char *name, void *room, size_t count) {
    return fgetxattr(file, name, room, count, 0, 0);
}

ssize_t http_server_attribute_at(int directory, const char *path, const char *name, void *room, size_t count) {
    return http_server_attribute_of_opened(directory, path, name, room, count);
}

int http_server_set_attribute(int file, const char *name, const void *value, size_t count) {
    return fsetxattr(file, name, value, count, 0, 0);
}

int http_server_remove_attribute(int file, const char *name) {
    return fremovexattr(file, name, 0);
}

int64_t http_server_waits(void) {
    return -1;
}

int http_server_is_local(int file) {
    struct statfs system;
    return fstatfs(file, &system) == 0 && (system.f_flags & MNT_LOCAL) != 0;
}

int http_server_is_one_volume(int file) {
    (void)file;
    return 0;
}

ssize_t http_server_path(int file, char *room, size_t count) {
    if (count < 1024 || fcntl(file, F_GETPATH, room) != 0) return -1;
    return (ssize_t)strnlen(room, count);
}

int http_server_ignores_case(int directory) {
    return fpathconf(directory, _PC_CASE_SENSITIVE) == 0;
}
#endif

int http_server_set_modified(int file, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = seconds, .tv_nsec = nanoseconds}};
    return futimens(file, times);
}

static _Thread_local int may_block;

int http_server_may_block(void) {
    return may_block;
}

void http_server_set_may_block(int value) {
    may_block = value;
}

int http_server_look_flags(void) {
#if defined(O_PATH)
    return O_PATH | O_CLOEXEC;
#else
    return O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
#endif
}

int http_server_hold(int file) {
    return flock(file, LOCK_EX | LOCK_NB);
}
