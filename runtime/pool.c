/* Persistent threads that run the tasks of one forward after another. The only file of the runtime that needs an
 * operating system's threads.
 *
 * The tasks of a run are bits of a word: a set bit is a task that nobody has claimed, and who clears it runs the task.
 * The caller takes part and never waits for a thread that has not begun: where the others still sleep, or their
 * processors do something else, it runs every task itself. So a pool costs little where it cannot help.
 *
 * Between begin and end threads look at that word in a loop, which makes a join a matter of some hundred nanoseconds;
 * after a while without work they give way at each turn (sched_yield), so that a machine with more threads than
 * processors still gets on. Outside they sleep, each on a semaphore of its own.
 *
 * A child that was forked has only the caller's thread. It runs every task itself, and ends the pool without the others.
 *
 * Rejected: a condition variable. To signal it without its mutex loses wake-ups, and a call must not lock; a semaphore
 * is posted with an atomic addition and, where a thread sleeps, a system call (futex) that wakes it.
 */
#define _POSIX_C_SOURCE 200809L
#include "pool.h"

#include "atomic.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Turns of a loop before it gives way: some tens of microseconds, longer than the parts of a forward that one thread
 * runs alone. Derived. */
enum { TURNS_BEFORE_YIELD = 2048 };

/* A line of the cache holds what some threads write and others read, and nothing else. */
enum { LINE_BYTES = 64 };

typedef struct member {
  burin_pool *pool;
  pthread_t thread;
  sem_t wake;
  int32_t index;  /* of the task that it prefers: what it touched in the last run may be in its cache */
  int32_t asleep; /* atomic; 1: about to wait for `wake`, or waiting. Who changes it back to 0 posts */
} member;

struct burin_pool {
  /* Of the run: written while it has no unclaimed task. */
  void (*task)(void *data, int32_t index);
  void *data;
  unsigned char line1[LINE_BYTES];
  uint64_t unclaimed; /* atomic: a bit for each task */
  unsigned char line2[LINE_BYTES];
  int32_t unfinished; /* atomic: tasks */
  unsigned char line3[LINE_BYTES];
  int32_t open;  /* atomic; 1: between begin and end */
  int32_t taken; /* atomic flag: the pool's one caller */
  int32_t stop;  /* atomic; 1: threads end */
  int64_t keep_awake_us;
  pid_t process; /* that has the threads: a child that was forked has none of them */
  burin_workers workers;
  int32_t started; /* members with a thread */
  member members[1];
};

static inline void pause_processor(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

static inline void wait_a_turn(int *turns) {
  if (*turns < TURNS_BEFORE_YIELD) {
    ++*turns;
    pause_processor();
  } else {
    sched_yield();
  }
}

/* Claims a task, `preferred` where it is free, and runs it. 0: there is none. */
static int run_a_task(burin_pool *pool, int32_t preferred) {
  uint64_t unclaimed = __atomic_load_n(&pool->unclaimed, __ATOMIC_RELAXED);
  while (unclaimed != 0) {
    int32_t index = (unclaimed >> preferred & 1) != 0 ? preferred : __builtin_ctzll(unclaimed);
    uint64_t bit = UINT64_C(1) << index;
    unclaimed = __atomic_fetch_and(&pool->unclaimed, ~bit, __ATOMIC_ACQUIRE);
    if ((unclaimed & bit) == 0)
      continue; /* another was faster */
    pool->task(pool->data, index);
    __atomic_fetch_sub(&pool->unfinished, 1, __ATOMIC_RELEASE);
    return 1;
  }
  return 0;
}

static int64_t now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Runs tasks while the pool is open, and waits a while for it to be opened again. */
static void stay_awake(member *self) {
  burin_pool *pool = self->pool;
  int turns = 0;
  int64_t closed_at = -1;
  for (;;) {
    if (__atomic_load_n(&pool->open, __ATOMIC_ACQUIRE)) {
      closed_at = -1;
      if (run_a_task(pool, self->index))
        turns = 0;
    } else {
      if (pool->keep_awake_us <= 0 || __atomic_load_n(&pool->stop, __ATOMIC_ACQUIRE))
        return;
      int64_t now = now_us();
      closed_at = closed_at < 0 ? now : closed_at;
      if (now - closed_at >= pool->keep_awake_us)
        return;
    }
    wait_a_turn(&turns);
  }
}

static void *live(void *argument) {
  member *self = (member *)argument;
  while (!__atomic_load_n(&self->pool->stop, __ATOMIC_ACQUIRE)) {
    stay_awake(self);
    /* Either this thread sees that the pool was opened meanwhile, or who opened it sees that this thread sleeps. */
    __atomic_store_n(&self->asleep, 1, __ATOMIC_SEQ_CST);
    int needed =
        __atomic_load_n(&self->pool->open, __ATOMIC_SEQ_CST) || __atomic_load_n(&self->pool->stop, __ATOMIC_SEQ_CST);
    if (needed && __atomic_exchange_n(&self->asleep, 0, __ATOMIC_SEQ_CST) == 1)
      continue;
    while (sem_wait(&self->wake) != 0) /* interrupted by a signal */
      ;
  }
  return NULL;
}

static void wake_all(burin_pool *pool) {
  for (int32_t i = 0; i < pool->started; ++i)
    if (__atomic_exchange_n(&pool->members[i].asleep, 0, __ATOMIC_SEQ_CST) == 1)
      sem_post(&pool->members[i].wake);
}

static int begin(void *context) {
  burin_pool *pool = (burin_pool *)context;
  if (!burin_flag_take(&pool->taken))
    return 0;
  __atomic_store_n(&pool->open, 1, __ATOMIC_SEQ_CST);
  wake_all(pool);
  return 1;
}

static void end(void *context) {
  burin_pool *pool = (burin_pool *)context;
  __atomic_store_n(&pool->open, 0, __ATOMIC_RELEASE);
  burin_flag_give_back(&pool->taken);
}

static void run(void *context, void (*task)(void *data, int32_t index), void *data, int32_t tasks) {
  burin_pool *pool = (burin_pool *)context;
  pool->task = task;
  pool->data = data;
  __atomic_store_n(&pool->unfinished, tasks, __ATOMIC_RELAXED);
  __atomic_store_n(&pool->unclaimed, ~UINT64_C(0) >> (64 - tasks), __ATOMIC_RELEASE);
  while (run_a_task(pool, 0))
    ;
  int turns = 0;
  while (__atomic_load_n(&pool->unfinished, __ATOMIC_ACQUIRE) != 0)
    wait_a_turn(&turns);
}

burin_pool *burin_pool_create(int32_t threads, const burin_pool_options *options) {
  if (threads < 2 || threads > BURIN_MOST_WORKERS)
    return NULL;
  burin_pool *pool = (burin_pool *)calloc(1, sizeof *pool + (size_t)(threads - 2) * sizeof(member));
  if (!pool)
    return NULL;
  pool->keep_awake_us = options ? options->keep_awake_us : 0;
  pool->process = getpid();
  pool->workers.context = pool;
  pool->workers.count = threads;
  pool->workers.run = run;
  pool->workers.begin = begin;
  pool->workers.end = end;
  for (int32_t i = 0; i < threads - 1; ++i) {
    member *self = &pool->members[i];
    self->pool = pool;
    self->index = i + 1; /* the caller prefers 0 */
    if (sem_init(&self->wake, 0, 0) != 0 || pthread_create(&self->thread, NULL, live, self) != 0) {
      burin_pool_destroy(pool);
      return NULL;
    }
    ++pool->started;
  }
  return pool;
}

const burin_workers *burin_pool_workers(const burin_pool *pool) { return &pool->workers; }

void burin_pool_destroy(burin_pool *pool) {
  if (!pool)
    return;
  __atomic_store_n(&pool->stop, 1, __ATOMIC_SEQ_CST);
  wake_all(pool);
  int has_threads = pool->process == getpid();
  for (int32_t i = 0; i < pool->started; ++i) {
    if (has_threads)
      pthread_join(pool->members[i].thread, NULL);
    sem_destroy(&pool->members[i].wake);
  }
  free(pool);
}

burin_pool *burin_pool_of_model(int32_t threads, const burin_workers **workers, burin_pool_end *end_pool) {
  burin_pool *pool = burin_pool_create(threads, NULL);
  if (pool)
    *workers = burin_pool_workers(pool);
  *end_pool = burin_pool_destroy;
  return pool;
}
