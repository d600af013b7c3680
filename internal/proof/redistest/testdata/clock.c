/* A wall clock that can be pushed and stopped, for redis-server: preloaded, it
 * adds to CLOCK_REALTIME an offset in nanoseconds that it reads, each time, from
 * the shared file that REDISTEST_CLOCK names; or, if the second number there is
 * not 0, it always says that one, in nanoseconds since 1970. It asks the kernel
 * by system calls alone, because jemalloc asks for the time before it can
 * allocate. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *pushed;

static int64_t said(int64_t real)
{
	if (!pushed) {
		const char *path = getenv("REDISTEST_CLOCK");
		long fd = path ? syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC) : -1;
		if (fd < 0)
			return real;
		long at = syscall(SYS_mmap, 0, 2 * sizeof *pushed, PROT_READ, MAP_SHARED, fd, 0);
		syscall(SYS_close, fd);
		if (at < 0 && at > -4096)
			return real;
		pushed = (const int64_t *)at;
	}
	return pushed[1] ? pushed[1] : real + pushed[0];
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	long failed = syscall(SYS_clock_gettime, id, ts);
	if (!failed && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
		int64_t now = said(ts->tv_sec * 1000000000LL + ts->tv_nsec);
		ts->tv_sec = now / 1000000000LL;
		ts->tv_nsec = now % 1000000000LL;
	}
	return (int)failed;
}

int gettimeofday(struct timeval *restrict tv, void *restrict tz)
{
	struct timespec ts;
	(void)tz;
	if (clock_gettime(CLOCK_REALTIME, &ts))
		return -1;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *t)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (t)
		*t = ts.tv_sec;
	return ts.tv_sec;
}
