// A stand-in for the headers of Apple's SDKs, written for one purpose: to have the branches for Apple
// platforms looked at by the compiler where there is no SDK. It declares what the toolkit uses, from
// the public documentation (manual pages), with the types that Darwin gives it. Nothing here runs.
#ifndef STANDIN_DARWIN_H
#define STANDIN_DARWIN_H
typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;
typedef int int32_t; typedef unsigned int uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;
typedef long intptr_t; typedef unsigned long uintptr_t; typedef long intmax_t; typedef unsigned long uintmax_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define INT64_MAX 9223372036854775807LL
#define UINT64_MAX 18446744073709551615ULL
#define SIZE_MAX 18446744073709551615UL
typedef unsigned long size_t; typedef long ssize_t; typedef long long off_t; typedef int pid_t; typedef unsigned int uid_t, gid_t;
typedef int dev_t; typedef uint64_t ino_t; typedef uint16_t mode_t, nlink_t; typedef uint32_t socklen_t; typedef uint8_t sa_family_t;
typedef uint16_t in_port_t; typedef uint32_t in_addr_t; typedef long time_t; typedef int suseconds_t; typedef uint64_t rlim_t;
typedef unsigned int u_int; typedef unsigned char u_char; typedef unsigned short u_short; typedef unsigned long u_long;
typedef uint32_t u_int32_t; typedef uint16_t u_int16_t; typedef uint8_t u_int8_t; typedef unsigned int nfds_t; typedef unsigned int fsblkcnt_t, fsfilcnt_t; typedef unsigned int useconds_t; typedef long clock_t; typedef int blksize_t_; typedef int64_t blkcnt_t; typedef int32_t blksize_t;
typedef __builtin_va_list va_list;
#ifndef NULL
#define NULL ((void *)0)
#endif
#define STANDIN_DEPRECATED(version) __attribute__((availability(macos, introduced = 10.4, deprecated = version)))

// errno.h
int *__error(void);
#ifndef STANDIN_SWIFT
#define errno (*__error())
#endif
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define EBADF 9
#define ECHILD 10
#define ENOMEM 12
#define EACCES 13
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTTY 25
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30
#define EMLINK 31
#define EPIPE 32
#define ERANGE 34
#define EAGAIN 35
#define EWOULDBLOCK EAGAIN
#define EINPROGRESS 36
#define ENOTSOCK 38
#define ENOTSUP 45
#define EAFNOSUPPORT 47
#define EADDRINUSE 48
#define EADDRNOTAVAIL 49
#define ENETDOWN 50
#define ENETUNREACH 51
#define ENETRESET 52
#define ECONNABORTED 53
#define ECONNRESET 54
#define ENOBUFS 55
#define ENOTCONN 57
#define ETIMEDOUT 60
#define ECONNREFUSED 61
#define ELOOP 62
#define ENAMETOOLONG 63
#define EHOSTUNREACH 65
#define ENOTEMPTY 66
#define EDQUOT 69
#define ESTALE 70
#define ENOLCK 77
#define ENOSYS 78
#define EOVERFLOW 84
#define ECANCELED 89
#define ENOATTR 93
#define ENODATA 96
#define EOPNOTSUPP 102

// time.h
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
struct tm { int tm_sec, tm_min, tm_hour, tm_mday, tm_mon, tm_year, tm_wday, tm_yday, tm_isdst; long tm_gmtoff; char *tm_zone; };
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6, CLOCK_MONOTONIC_RAW = 4, CLOCK_PROCESS_CPUTIME_ID = 12, CLOCK_THREAD_CPUTIME_ID = 16 } clockid_t;
int clock_gettime(clockid_t, struct timespec *);
time_t time(time_t *);
time_t mktime(struct tm *);
struct tm *localtime_r(const time_t *, struct tm *);
struct tm *gmtime_r(const time_t *, struct tm *);
size_t strftime(char *, size_t, const char *, const struct tm *);
int nanosleep(const struct timespec *, struct timespec *);
int usleep(useconds_t);
unsigned int sleep(unsigned int); int sched_yield(void);

// stdlib.h, string.h, stdio.h, ctype
void *malloc(size_t); void *calloc(size_t, size_t); void *realloc(void *, size_t); void free(void *);
int posix_memalign(void **, size_t, size_t);
char *getenv(const char *); int setenv(const char *, const char *, int); int unsetenv(const char *);
char *mkdtemp(char *); int mkstemp(char *);
void abort(void) __attribute__((noreturn)); void exit(int) __attribute__((noreturn)); void _exit(int) __attribute__((noreturn)); int atexit(void (*)(void));
char *realpath(const char *, char *); long strtol(const char *, char **, int); int atoi(const char *);
uint32_t arc4random(void); void arc4random_buf(void *, size_t);
void *memcpy(void *, const void *, size_t); void *memmove(void *, const void *, size_t); void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t); void *memchr(const void *, int, size_t); void *memmem(const void *, size_t, const void *, size_t);
int timingsafe_bcmp(const void *, const void *, size_t);
size_t strlen(const char *); size_t strnlen(const char *, size_t); int strcmp(const char *, const char *); int strncmp(const char *, const char *, size_t);
char *strerror(int); int strerror_r(int, char *, size_t); char *strdup(const char *); char *strstr(const char *, const char *); char *strchr(const char *, int);
char *strcpy(char *, const char *); int strcasecmp(const char *, const char *); int strncasecmp(const char *, const char *, size_t);
typedef struct __sFILE { int _file; } FILE;
extern FILE *stdin, *stdout, *stderr; struct tm *localtime(const time_t *); struct tm *gmtime(const time_t *);
int fflush(FILE *); char *fgets(char *, int, FILE *); int fputs(const char *, FILE *); size_t fwrite(const void *, size_t, size_t, FILE *); int fclose(FILE *); FILE *fopen(const char *, const char *); int setvbuf(FILE *, char *, int, size_t); int fileno(FILE *); size_t fread(void *, size_t, size_t, FILE *); void flockfile(FILE *); void funlockfile(FILE *);
int snprintf(char *, size_t, const char *, ...); int sscanf(const char *, const char *, ...); int fprintf(FILE *, const char *, ...); int printf(const char *, ...);
int rename(const char *, const char *); int remove(const char *);
int renameat(int, const char *, int, const char *); int renamex_np(const char *, const char *, unsigned int); int renameatx_np(int, const char *, int, const char *, unsigned int);
#define RENAME_SECLUDE 0x00000001
#define RENAME_SWAP 0x00000002
#define RENAME_EXCL 0x00000004

// fcntl.h, unistd.h, sys/file.h
int open(const char *, int, ...); int openat(int, const char *, int, ...); int fcntl(int, int, ...);
int flock(int, int);
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
#define O_RDONLY 0x0000
#define O_WRONLY 0x0001
#define O_RDWR 0x0002
#define O_ACCMODE 0x0003
#define O_NONBLOCK 0x00000004
#define O_APPEND 0x00000008
#define O_NOFOLLOW 0x00000100
#define O_CREAT 0x00000200
#define O_TRUNC 0x00000400
#define O_EXCL 0x00000800
#define O_NOCTTY 0x00020000
#define O_DIRECTORY 0x00100000
#define O_CLOEXEC 0x01000000
#define AT_FDCWD -2
#define AT_SYMLINK_NOFOLLOW 0x0020
#define AT_REMOVEDIR 0x0080
#define F_DUPFD 0
#define F_GETFD 1
#define F_SETFD 2
#define F_GETFL 3
#define F_SETFL 4
#define F_GETPATH 50
#define F_DUPFD_CLOEXEC 67
#define F_SETNOSIGPIPE 73
#define FD_CLOEXEC 1
#define STDIN_FILENO 0
#define STDOUT_FILENO 1
#define STDERR_FILENO 2
#define SEEK_SET 0
#define SEEK_CUR 1
#define SEEK_END 2
#define R_OK 4
#define W_OK 2
#define X_OK 1
#define F_OK 0
#define _SC_NPROCESSORS_ONLN 58
#define _SC_PAGESIZE 29
#define _PC_CASE_SENSITIVE 11
#define _PC_NAME_MAX 4
#define PATH_MAX 1024
#define NAME_MAX 255
int close(int); ssize_t read(int, void *, size_t); ssize_t write(int, const void *, size_t); ssize_t pread(int, void *, size_t, off_t); ssize_t pwrite(int, const void *, size_t, off_t);
off_t lseek(int, off_t, int); int fsync(int); int ftruncate(int, off_t); int truncate(const char *, off_t); int dup(int); int dup2(int, int); int pipe(int[2]); int isatty(int); int access(const char *, int); int faccessat(int, const char *, int, int);
int unlink(const char *); int unlinkat(int, const char *, int); int rmdir(const char *); int link(const char *, const char *); int linkat(int, const char *, int, const char *, int); int symlink(const char *, const char *); int symlinkat(const char *, int, const char *); ssize_t readlink(const char *, char *, size_t); ssize_t readlinkat(int, const char *, char *, size_t);
pid_t getpid(void); pid_t getppid(void); uid_t getuid(void); uid_t geteuid(void); int seteuid(uid_t); gid_t getgid(void); int gethostname(char *, size_t); char *getcwd(char *, size_t); int chdir(const char *); long sysconf(int); long fpathconf(int, int); long pathconf(const char *, int); int execv(const char *, char *const *);
int chown(const char *, uid_t, gid_t); int fchown(int, uid_t, gid_t); int kill(pid_t, int);

// sys/stat.h
struct stat { dev_t st_dev; mode_t st_mode; nlink_t st_nlink; ino_t st_ino; uid_t st_uid; gid_t st_gid; dev_t st_rdev; struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec; off_t st_size; int64_t st_blocks; int32_t st_blksize; uint32_t st_flags, st_gen; int32_t st_lspare; int64_t st_qspare[2]; };
int stat(const char *, struct stat *); int lstat(const char *, struct stat *); int fstat(int, struct stat *); int fstatat(int, const char *, struct stat *, int);
int chmod(const char *, mode_t); int fchmod(int, mode_t); int fchmodat(int, const char *, mode_t, int); int mkdir(const char *, mode_t); int mkdirat(int, const char *, mode_t); mode_t umask(mode_t); int mkfifo(const char *, mode_t); int mknod(const char *, mode_t, dev_t);
int futimens(int, const struct timespec[2]); int utimensat(int, const char *, const struct timespec[2], int);
#define UTIME_NOW -1
#define UTIME_OMIT -2
#define S_IFMT 0170000
#define S_IFIFO 0010000
#define S_IFCHR 0020000
#define S_IFDIR 0040000
#define S_IFBLK 0060000
#define S_IFREG 0100000
#define S_IFLNK 0120000
#define S_IFSOCK 0140000
// sys/statvfs.h, sys/mount.h
struct statvfs { unsigned long f_bsize, f_frsize; fsblkcnt_t f_blocks, f_bfree, f_bavail; fsfilcnt_t f_files, f_ffree, f_favail; unsigned long f_fsid, f_flag, f_namemax; };
int statvfs(const char *, struct statvfs *); int fstatvfs(int, struct statvfs *);
struct statfs { uint32_t f_bsize; int32_t f_iosize; uint64_t f_blocks, f_bfree, f_bavail, f_files, f_ffree; int32_t f_fsid[2]; uid_t f_owner; uint32_t f_type, f_flags, f_fssubtype; char f_fstypename[16], f_mntonname[1024], f_mntfromname[1024]; uint32_t f_reserved[8]; };
int statfs(const char *, struct statfs *); int fstatfs(int, struct statfs *);
#define MNT_LOCAL 0x00001000
// dirent.h
struct dirent { uint64_t d_ino, d_seekoff; uint16_t d_reclen, d_namlen; uint8_t d_type; char d_name[1024]; };
typedef struct { int __dd_fd; long __dd_loc, __dd_size; char *__dd_buf; int __dd_len; long __dd_seek; long __padding; int __dd_flags; } DIR;
DIR *opendir(const char *); DIR *fdopendir(int); struct dirent *readdir(DIR *); int closedir(DIR *); void rewinddir(DIR *); int dirfd(DIR *);
#define DT_DIR 4
#define DT_REG 8
#define DT_LNK 10
#define DT_UNKNOWN 0
// sys/xattr.h, copyfile.h
ssize_t fgetxattr(int, const char *, void *, size_t, u_int32_t, int); int fsetxattr(int, const char *, const void *, size_t, u_int32_t, int); int fremovexattr(int, const char *, int); ssize_t flistxattr(int, char *, size_t, int);
ssize_t getxattr(const char *, const char *, void *, size_t, u_int32_t, int); int setxattr(const char *, const char *, const void *, size_t, u_int32_t, int); ssize_t listxattr(const char *, char *, size_t, int);
typedef struct _copyfile_state *copyfile_state_t; typedef uint32_t copyfile_flags_t;
#define COPYFILE_DATA (1 << 3)
int fcopyfile(int, int, copyfile_state_t, copyfile_flags_t);
// sys/mman.h
void *mmap(void *, size_t, int, int, int, off_t); int munmap(void *, size_t);
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_PRIVATE 2
#define MAP_SHARED 1
#define MAP_ANON 0x1000
#define MAP_ANONYMOUS MAP_ANON
// sys/resource.h
struct rlimit { rlim_t rlim_cur, rlim_max; }; int getrlimit(int, struct rlimit *); int setrlimit(int, const struct rlimit *);
#define RLIMIT_NOFILE 8
struct rusage { struct timeval ru_utime, ru_stime; long ru_maxrss, ru_ixrss, ru_idrss, ru_isrss, ru_minflt, ru_majflt, ru_nswap, ru_inblock, ru_oublock, ru_msgsnd, ru_msgrcv, ru_nsignals, ru_nvcsw, ru_nivcsw; };
int getrusage(int, struct rusage *);
#define RUSAGE_SELF 0
// sys/ioctl.h
#define FIONREAD 0x4004667fUL
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; }; int ioctl(int, unsigned long, ...);
// signal.h
typedef uint32_t sigset_t;
union sigval { int sival_int; void *sival_ptr; };
struct __siginfo { int si_signo, si_errno, si_code; pid_t si_pid; uid_t si_uid; int si_status; void *si_addr; union sigval si_value; long si_band; unsigned long __pad[7]; }; typedef struct __siginfo siginfo_t;
union __sigaction_u { void (*__sa_handler)(int); void (*__sa_sigaction)(int, struct __siginfo *, void *); };
struct sigaction { union __sigaction_u __sigaction_u; sigset_t sa_mask; int sa_flags; };
typedef void (*sig_t)(int);
int sigaction(int, const struct sigaction *restrict, struct sigaction *restrict);
int sigemptyset(sigset_t *); int sigfillset(sigset_t *); int sigdelset(sigset_t *, int); int sigaddset(sigset_t *, int); int sigismember(const sigset_t *, int); int sigpending(sigset_t *); int pthread_sigmask(int, const sigset_t *, sigset_t *); int raise(int); void (*signal(int, void (*)(int)))(int);
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3
#define SA_RESTART 2
#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGSTOP 17
#define SIGCONT 19
#define SIGCHLD 20
#define SIGWINCH 28
#define SIGUSR1 30
#define SIGUSR2 31
// pthread.h
#pragma clang assume_nonnull begin
struct _opaque_pthread_t { long __sig; void *_Nullable __cleanup_stack; char __opaque[8176]; }; typedef struct _opaque_pthread_t *pthread_t;
struct _opaque_pthread_attr_t { long __sig; char __opaque[56]; }; typedef struct _opaque_pthread_attr_t pthread_attr_t;
struct _opaque_pthread_mutex_t { long __sig; char __opaque[56]; }; typedef struct _opaque_pthread_mutex_t pthread_mutex_t;
struct _opaque_pthread_mutexattr_t { long __sig; char __opaque[8]; }; typedef struct _opaque_pthread_mutexattr_t pthread_mutexattr_t;
struct _opaque_pthread_cond_t { long __sig; char __opaque[40]; }; typedef struct _opaque_pthread_cond_t pthread_cond_t;
struct _opaque_pthread_rwlock_t { long __sig; char __opaque[192]; }; typedef struct _opaque_pthread_rwlock_t pthread_rwlock_t; struct _opaque_pthread_rwlockattr_t { long __sig; char __opaque[16]; }; typedef struct _opaque_pthread_rwlockattr_t pthread_rwlockattr_t;
struct _opaque_pthread_once_t { long __sig; char __opaque[8]; }; typedef struct _opaque_pthread_once_t pthread_once_t; typedef unsigned long pthread_key_t;
#define PTHREAD_ONCE_INIT {0x30B1BCBA, {0}}
#define PTHREAD_MUTEX_ERRORCHECK 1
#define PTHREAD_MUTEX_RECURSIVE 2
int pthread_attr_init(pthread_attr_t *); int pthread_attr_destroy(pthread_attr_t *); int pthread_attr_getstacksize(const pthread_attr_t *, size_t *); int pthread_attr_setstacksize(pthread_attr_t *, size_t);
int pthread_create(pthread_t _Nullable *_Nonnull, const pthread_attr_t *_Nullable, void *_Nullable (*_Nonnull)(void *), void *_Nullable);
int pthread_detach(pthread_t); int pthread_join(pthread_t, void *_Nullable *_Nullable); pthread_t pthread_self(void); int pthread_main_np(void); int pthread_setname_np(const char *);
int pthread_mutex_init(pthread_mutex_t *, const pthread_mutexattr_t *_Nullable); int pthread_mutex_destroy(pthread_mutex_t *); int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *); int pthread_mutexattr_init(pthread_mutexattr_t *); int pthread_mutexattr_settype(pthread_mutexattr_t *, int); int pthread_mutexattr_destroy(pthread_mutexattr_t *);
int pthread_rwlock_init(pthread_rwlock_t *, const pthread_rwlockattr_t *_Nullable); int pthread_rwlock_destroy(pthread_rwlock_t *); int pthread_rwlock_rdlock(pthread_rwlock_t *); int pthread_rwlock_wrlock(pthread_rwlock_t *); int pthread_rwlock_unlock(pthread_rwlock_t *);
int pthread_key_create(pthread_key_t *, void (*_Nullable)(void *)); int pthread_setspecific(pthread_key_t, const void *_Nullable); void *_Nullable pthread_getspecific(pthread_key_t); int pthread_once(pthread_once_t *, void (*_Nonnull)(void));
#pragma clang assume_nonnull end
// sys/socket.h, netinet/*, netdb.h, net/if.h, poll.h
struct sockaddr { uint8_t sa_len; sa_family_t sa_family; char sa_data[14]; };
struct sockaddr_storage { uint8_t ss_len; sa_family_t ss_family; char __ss_pad1[6]; int64_t __ss_align; char __ss_pad2[112]; };
struct in_addr { in_addr_t s_addr; };
struct in6_addr { union { uint8_t __u6_addr8[16]; uint16_t __u6_addr16[8]; uint32_t __u6_addr32[4]; } __u6_addr; };
struct sockaddr_in { uint8_t sin_len; sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; char sin_zero[8]; };
struct sockaddr_in6 { uint8_t sin6_len; sa_family_t sin6_family; in_port_t sin6_port; uint32_t sin6_flowinfo; struct in6_addr sin6_addr; uint32_t sin6_scope_id; };
struct sockaddr_un { unsigned char sun_len; sa_family_t sun_family; char sun_path[104]; };
struct linger { int l_onoff, l_linger; };
struct iovec { void *iov_base; size_t iov_len; };
struct sf_hdtr { struct iovec *headers; int hdr_cnt; struct iovec *trailers; int trl_cnt; };
struct addrinfo { int ai_flags, ai_family, ai_socktype, ai_protocol; socklen_t ai_addrlen; char *ai_canonname; struct sockaddr *ai_addr; struct addrinfo *ai_next; };
struct ifaddrs { struct ifaddrs *ifa_next; char *ifa_name; unsigned int ifa_flags; struct sockaddr *ifa_addr, *ifa_netmask, *ifa_dstaddr; void *ifa_data; };
struct pollfd { int fd; short events, revents; };
int socket(int, int, int); int bind(int, const struct sockaddr *, socklen_t); int listen(int, int); int accept(int, struct sockaddr *, socklen_t *); int connect(int, const struct sockaddr *, socklen_t); int getsockname(int, struct sockaddr *, socklen_t *); int getpeername(int, struct sockaddr *, socklen_t *); int getsockopt(int, int, int, void *, socklen_t *); int setsockopt(int, int, int, const void *, socklen_t); ssize_t recv(int, void *, size_t, int); ssize_t recvfrom(int, void *, size_t, int, struct sockaddr *, socklen_t *); ssize_t send(int, const void *, size_t, int); ssize_t sendto(int, const void *, size_t, int, const struct sockaddr *, socklen_t); int shutdown(int, int); int socketpair(int, int, int, int *);
int sendfile(int, int, off_t, off_t *, struct sf_hdtr *, int);
ssize_t writev(int, const struct iovec *, int); ssize_t readv(int, const struct iovec *, int);
int getaddrinfo(const char *, const char *, const struct addrinfo *, struct addrinfo **); void freeaddrinfo(struct addrinfo *); int getnameinfo(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t, int); const char *gai_strerror(int);
int getifaddrs(struct ifaddrs **); void freeifaddrs(struct ifaddrs *); unsigned int if_nametoindex(const char *); char *if_indextoname(unsigned int, char *);
const char *inet_ntop(int, const void *, char *, socklen_t); int inet_pton(int, const char *, void *);
int poll(struct pollfd *, nfds_t, int);
#define POLLIN 1
#define POLLOUT 4
#define POLLERR 8
#define POLLHUP 16
#define AF_UNSPEC 0
#define AF_UNIX 1
#define AF_INET 2
#define AF_ROUTE 17
#define AF_LINK 18
#define AF_INET6 30
#define PF_ROUTE AF_ROUTE
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_RAW 3
#define SOL_SOCKET 0xffff
#define SO_ACCEPTCONN 0x0002
#define SO_REUSEADDR 0x0004
#define SO_KEEPALIVE 0x0008
#define SO_LINGER 0x0080
#define SO_NWRITE 0x1024
#define SO_REUSEPORT 0x0200
#define SO_SNDBUF 0x1001
#define SO_RCVBUF 0x1002
#define SO_SNDTIMEO 0x1005
#define SO_RCVTIMEO 0x1006
#define SO_ERROR 0x1007
#define SO_NOSIGPIPE 0x1022
#define SOMAXCONN 128
#define MSG_OOB 1
#define MSG_PEEK 2
#define MSG_DONTWAIT 0x80
#define SHUT_RD 0
#define SHUT_WR 1
#define SHUT_RDWR 2
#define IPPROTO_IP 0
#define IPPROTO_TCP 6
#define IPPROTO_IPV6 41
#define IPV6_V6ONLY 27
#define TCP_NODELAY 1
#define TCP_KEEPALIVE 0x10
#define TCP_KEEPINTVL 0x101
#define TCP_KEEPCNT 0x102
#define AI_PASSIVE 1
#define AI_NUMERICHOST 4
#define NI_NUMERICHOST 2
#define INET_ADDRSTRLEN 16
#define INET6_ADDRSTRLEN 46
#define IFF_UP 0x1
#define IFF_LOOPBACK 0x8
#define IFF_POINTOPOINT 0x10
#define IFF_RUNNING 0x40
#define IF_NAMESIZE 16
// sys/event.h
struct kevent { uintptr_t ident; int16_t filter; uint16_t flags; uint32_t fflags; intptr_t data; void *udata; };
int kqueue(void); int kevent(int, const struct kevent *, int, struct kevent *, int, const struct timespec *);
#define EVFILT_READ (-1)
#define EVFILT_WRITE (-2)
#define EVFILT_VNODE (-4)
#define EVFILT_PROC (-5)
#define EVFILT_SIGNAL (-6)
#define EVFILT_TIMER (-7)
#define EVFILT_USER (-10)
#define EVFILT_EXCEPT (-15)
#define EV_ADD 0x0001
#define EV_DELETE 0x0002
#define EV_ENABLE 0x0004
#define EV_DISABLE 0x0008
#define EV_ONESHOT 0x0010
#define EV_CLEAR 0x0020
#define EV_RECEIPT 0x0040
#define EV_ERROR 0x4000
#define EV_EOF 0x8000
#define NOTE_TRIGGER 0x01000000
#define NOTE_FFNOP 0x00000000
#define NOTE_LOWAT 0x00000001
#define NOTE_SECONDS 0x00000001
#define NOTE_USECONDS 0x00000002
#define NOTE_NSECONDS 0x00000004
#define NOTE_ABSOLUTE 0x00000008
// spawn.h, sys/wait.h
typedef void *posix_spawnattr_t; typedef void *posix_spawn_file_actions_t;
int posix_spawn_file_actions_init(posix_spawn_file_actions_t *); int posix_spawn_file_actions_destroy(posix_spawn_file_actions_t *); int posix_spawn_file_actions_adddup2(posix_spawn_file_actions_t *, int, int); int posix_spawn_file_actions_addopen(posix_spawn_file_actions_t *, int, const char *, int, mode_t); int posix_spawn_file_actions_addclose(posix_spawn_file_actions_t *, int);
int posix_spawn(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *); int posix_spawnp(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *, char *const *, char *const *);
int posix_spawnattr_init(posix_spawnattr_t *); int posix_spawnattr_destroy(posix_spawnattr_t *); int posix_spawnattr_setflags(posix_spawnattr_t *, short); int posix_spawnattr_setpgroup(posix_spawnattr_t *, pid_t);
int posix_spawnattr_setsigmask(posix_spawnattr_t *restrict, const sigset_t *restrict); int posix_spawnattr_setsigdefault(posix_spawnattr_t *restrict, const sigset_t *restrict);
#define POSIX_SPAWN_SETPGROUP 0x0002
#define POSIX_SPAWN_SETSIGDEF 0x0004
#define POSIX_SPAWN_SETSIGMASK 0x0008
#define POSIX_SPAWN_CLOEXEC_DEFAULT 0x4000
pid_t waitpid(pid_t, int *, int);
typedef enum { P_ALL, P_PID, P_PGID } idtype_t; typedef uint32_t id_t;
int waitid(idtype_t, id_t, siginfo_t *, int);
#define WNOHANG 1
#define WEXITED 4
#define WNOWAIT 0x20
// crt_externs.h
char ***_NSGetEnviron(void);
// launch.h, TargetConditionals.h
int launch_activate_socket(const char *_Nonnull, int *_Nonnull *_Nullable, size_t *_Nonnull);
#ifdef __ENVIRONMENT_MAC_OS_X_VERSION_MIN_REQUIRED__
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#else
#define TARGET_OS_OSX 0
#define TARGET_OS_IPHONE 1
#endif
#define TARGET_OS_MAC 1
// os/lock.h
typedef struct os_unfair_lock_s { uint32_t _os_unfair_lock_opaque; } os_unfair_lock; typedef os_unfair_lock *os_unfair_lock_t;
void os_unfair_lock_lock(os_unfair_lock_t); void os_unfair_lock_unlock(os_unfair_lock_t); _Bool os_unfair_lock_trylock(os_unfair_lock_t);
// select
typedef struct fd_set { int32_t fds_bits[32]; } fd_set;

#ifndef F_FULLFSYNC
#define F_FULLFSYNC 51
#endif
#ifndef EPROTO
#define EPROTO 100
#endif
#ifndef ENOPROTOOPT
#define ENOPROTOOPT 42
#endif
#ifndef EHOSTDOWN
#define EHOSTDOWN 64
#endif
#ifndef OPEN_MAX
#define OPEN_MAX 10240
#endif
#endif
