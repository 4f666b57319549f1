/* What the C programs of the bench share: inputs from files, and answering to a bench that times several in turn.
 *
 * A program prepares its call, then `serve`s: a line with the answer's values, and after that, for each line "SECONDS"
 * on standard input, a line with the shortest and the median time of a call in nanoseconds. For a line "-CALLS" it makes
 * so many calls, each timed by itself, and answers with the median, the 99th and the 99.9th percentile and the longest
 * of all calls that it ever made so.
 */
#ifndef BURIN_BENCH_CASE_H
#define BURIN_BENCH_CASE_H

#define _POSIX_C_SOURCE 200809L /* clock_gettime, posix_memalign */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SAMPLES = 1 << 20, SHORT_NANOSECONDS = 20000, MOST_RANK = 8 };

static void die(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void *memory(size_t bytes) {
  void *block = NULL;
  if (posix_memalign(&block, 64, bytes ? bytes : 64) != 0)
    die("memory", "none left");
  memset(block, 0, bytes);
  return block;
}

/* A tensor from the command line: NAME:TYPE:SIZExSIZE…:FILE, TYPE f32 or i64, the file its bytes. */
typedef struct tensor {
  char name[32];
  int is_float, rank;
  int64_t sizes[MOST_RANK];
  size_t bytes;
  void *data;
} tensor;

static tensor read_tensor(char *text) {
  tensor made = {0};
  char *name = strtok(text, ":"), *type = strtok(NULL, ":"), *sizes = strtok(NULL, ":"), *path = strtok(NULL, ":");
  if (!path)
    die("tensor", "expected NAME:TYPE:SIZES:FILE");
  snprintf(made.name, sizeof made.name, "%s", name);
  made.is_float = strcmp(type, "f32") == 0;
  made.bytes = made.is_float ? sizeof(float) : sizeof(int64_t);
  for (char *size = strtok(sizes, "x"); size && made.rank < MOST_RANK; size = strtok(NULL, "x")) {
    made.sizes[made.rank] = atoll(size);
    made.bytes *= (size_t)made.sizes[made.rank++];
  }
  made.data = memory(made.bytes);
  FILE *file = fopen(path, "rb");
  if (!file || fread(made.data, 1, made.bytes, file) != made.bytes)
    die(path, "cannot be read, or is too short");
  fclose(file);
  return made;
}

static const tensor *tensor_named(const tensor *tensors, int count, const char *name) {
  for (int i = 0; i < count; ++i)
    if (strcmp(tensors[i].name, name) == 0)
      return &tensors[i];
  return NULL;
}

/* After a step: the new keys and values [depth, 2, heads, width] into the row `position` of the caches
 * [depth, 2, heads, rows, width]. */
static void append_row(const tensor *caches, const float *added, int64_t position) {
  int64_t heads = caches->sizes[0] * caches->sizes[1] * caches->sizes[2], rows = caches->sizes[3];
  size_t width = (size_t)caches->sizes[4];
  for (int64_t head = 0; head < heads; ++head)
    memcpy((float *)caches->data + (size_t)(head * rows + position) * width, added + (size_t)head * width,
           width * sizeof(float));
}

/* Equal calls that are timed together: `call` is given 0 to count - 1; `rewind`, untimed, makes them possible again. */
typedef struct subject {
  void (*call)(int number);
  void (*rewind)(void);
  int count;
} subject;

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double one_sample(const subject *timed, int groups) {
  if (timed->rewind)
    timed->rewind();
  int64_t start = nanoseconds();
  for (int group = 0; group < groups; ++group)
    for (int number = 0; number < timed->count; ++number)
      timed->call(number);
  return (double)(nanoseconds() - start) / (groups * timed->count);
}

/* Of calls that are timed one by one, so many more. */
static void time_alone(const subject *timed, double *samples, size_t *count, size_t more) {
  for (size_t end = *count + more < MOST_SAMPLES ? *count + more : MOST_SAMPLES; *count < end;) {
    if (timed->rewind)
      timed->rewind();
    for (int number = 0; number < timed->count && *count < end; ++number) {
      int64_t start = nanoseconds();
      timed->call(number);
      samples[(*count)++] = (double)(nanoseconds() - start);
    }
  }
}

static void serve(const subject *timed, const float *answer, int values) {
  one_sample(timed, 1);
  for (int i = 0; i < values; ++i)
    printf("%.9g ", (double)answer[i]);
  printf("\n");
  fflush(stdout);
  int groups = 1;
  if (!timed->rewind)
    while (groups < 1000 && one_sample(timed, groups) * groups * timed->count < SHORT_NANOSECONDS)
      ++groups;
  double *samples = memory(MOST_SAMPLES * sizeof(double)), *alone = memory(MOST_SAMPLES * sizeof(double)), seconds;
  size_t alone_count = 0;
  while (scanf("%lf", &seconds) == 1) {
    if (seconds < 0) {
      time_alone(timed, alone, &alone_count, (size_t)-seconds);
      qsort(alone, alone_count, sizeof *alone, ascending);
      printf("%.0f %.0f %.0f %.0f\n", alone[alone_count / 2], alone[alone_count * 99 / 100],
             alone[alone_count * 999 / 1000], alone[alone_count - 1]);
      fflush(stdout);
      continue;
    }
    int64_t end = nanoseconds() + (int64_t)(seconds * 1e9);
    size_t count = 0;
    do
      samples[count++] = one_sample(timed, groups);
    while (count < MOST_SAMPLES && nanoseconds() < end);
    qsort(samples, count, sizeof *samples, ascending);
    printf("%.3f %.3f\n", samples[0], samples[count / 2]);
    fflush(stdout);
  }
  free(alone);
  free(samples);
}

#endif
