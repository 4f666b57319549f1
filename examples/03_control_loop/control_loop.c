/* A control loop around a compiled policy, and how long each tick takes.
 *
 *     build/bin/control_loop WEIGHTS.safetensors [TICKS]
 *
 * Each tick reads a sample of 32 sensors, steps the policy and has 12 commands. The state takes 64 samples; then the
 * loop resets it and goes on. Everything is allocated before the first tick: a step allocates nothing, locks nothing
 * and makes no system call, so what the distribution's tail shows is the machine, not the model.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, posix_memalign */
#include "policy.h"             /* generated from graph.cpp */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SENSORS = POLICY_X_FEATURES, COMMANDS = POLICY_Y_FEATURES, CAPACITY = POLICY_TIME_MAX, WARM_UP_TICKS = 1000 };

static void require(burin_status status, const char *message) {
  if (status == BURIN_OK)
    return;
  fprintf(stderr, "control_loop: error: %s%s%s\n", burin_status_text(status), *message ? ": " : "", message);
  exit(1);
}

static void *aligned_memory(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes) != 0) {
    fprintf(stderr, "control_loop: error: out of memory\n");
    exit(1);
  }
  return memory;
}

static double now_in_microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

/* ---- The sensors: slow swings, each with its own period, and noise. A real loop waits for its bus here. */

static float noise(void) {
  static uint32_t bits = 1; /* xorshift (Marsaglia 2003): the same stream in every run */
  bits ^= bits << 13;
  bits ^= bits >> 17;
  bits ^= bits << 5;
  return (float)bits / (float)UINT32_MAX - 0.5f;
}

static void read_sample(long tick, float *sample) {
  for (int sensor = 0; sensor < SENSORS; ++sensor)
    sample[sensor] = sinf((float)tick * 0.01f * (float)(sensor + 1)) + 0.1f * noise();
}

/* ---- The distribution */

static int compare_doubles(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

/* The smallest value that at least this part of the sorted values does not exceed. */
static double percentile(const double *sorted, long count, double percent) {
  long rank = (long)ceil(percent / 100 * (double)count);
  return sorted[rank > 0 ? rank - 1 : 0];
}

static void print_distribution(const double *sorted, long count) {
  printf("latency of a step, microseconds, %ld steps\n", count);
  printf("  min %.2f   median %.2f   p99 %.2f   p99.9 %.2f   max %.2f\n\n", sorted[0], percentile(sorted, count, 50),
         percentile(sorted, count, 99), percentile(sorted, count, 99.9), sorted[count - 1]);
}

/* Equal steps from the minimum to a little above the 99th percentile; the last line is everything beyond. */
static void print_histogram(const double *sorted, long count) {
  enum { LINES = 12, WIDTH = 60 };
  double first = sorted[0], width = (percentile(sorted, count, 99) - first) / (LINES - 1) * 1.05;
  long counts[LINES] = {0}, most = 1;
  for (long i = 0; i < count; ++i) {
    double line = width > 0 ? (sorted[i] - first) / width : 0;
    ++counts[line < LINES - 1 ? (int)line : LINES - 1];
  }
  for (int line = 0; line < LINES; ++line)
    most = counts[line] > most ? counts[line] : most;
  for (int line = 0; line < LINES; ++line) {
    printf("  %s %8.2f  %8ld  ", line == LINES - 1 ? "beyond" : "from  ", first + line * width, counts[line]);
    /* Rounded up: a single step is seen. */
    for (long mark = 0; mark < (counts[line] * WIDTH + most - 1) / most; ++mark)
      putchar('#');
    putchar('\n');
  }
}

int main(int argc, char **argv) {
  long ticks = argc > 2 ? strtol(argv[2], NULL, 10) : 64000;
  if (argc < 2 || argc > 3 || ticks < 1 || ticks > 100000000) {
    fprintf(stderr, "usage: control_loop WEIGHTS.safetensors [TICKS]\n");
    return 2;
  }

  char message[512] = "";
  burin_open_options options = {.weights_path = argv[1], .message = message, .message_bytes = sizeof message};
  burin_model *policy;
  require(policy_open(&options, &policy), message);
  size_t scratch_bytes = policy_scratch_bytes(1), state_bytes = policy_state_bytes();
  void *scratch = aligned_memory(scratch_bytes), *state = aligned_memory(state_bytes);
  double *latencies = aligned_memory((size_t)ticks * sizeof *latencies);
  printf("policy: %d sensors, %d commands, state of %zu bytes for %d samples, scratch of %zu bytes\n\n", SENSORS,
         COMMANDS, state_bytes, CAPACITY, scratch_bytes);

  float sample[SENSORS], commands[COMMANDS];
  require(policy_reset(policy, state, state_bytes), "");
  for (long tick = -WARM_UP_TICKS; tick < ticks; ++tick) { /* ticks before 0 bring code and weights into the caches */
    read_sample(tick, sample);
    if (burin_state_position(state) == CAPACITY)
      require(policy_reset(policy, state, state_bytes), "");

    double before = now_in_microseconds();
    burin_status status = policy_step(policy, state, scratch, scratch_bytes, sample, commands);
    double after = now_in_microseconds();

    require(status, "");
    for (int command = 0; command < COMMANDS; ++command)
      if (!isfinite(commands[command])) { /* a real loop has its own bounds to check here */
        fprintf(stderr, "control_loop: error: at tick %ld command %d is not a number\n", tick, command);
        return 1;
      }
    if (tick >= 0)
      latencies[tick] = after - before;
  }

  printf("last commands:");
  for (int command = 0; command < COMMANDS; ++command)
    printf(" %.3f", commands[command]);
  printf("\n\n");
  qsort(latencies, (size_t)ticks, sizeof *latencies, compare_doubles);
  print_distribution(latencies, ticks);
  print_histogram(latencies, ticks);

  policy_close(policy);
  free(latencies);
  free(scratch);
  free(state);
  return 0;
}
