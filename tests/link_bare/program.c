/* A compiled policy opened from weights that are linked in, run in every way, and refused what is wrong. Whatever comes
 * out is printed to the last bit. The same source is linked with an operating system and without one; it uses nothing
 * but the policy, so that what both print can be compared.
 */
#include "program.h"
#include "policy.h"

#define ALIGNED __attribute__((aligned(64)))
enum { SAMPLES = 23, SENSORS = POLICY_X_FEATURES, COMMANDS = POLICY_Y_FEATURES };

__asm__(".section .rodata\n"
        ".balign 64\n"
        ".globl packed_weights, packed_weights_end\n"
        "packed_weights:\n"
        ".incbin \"policy.packed\"\n"
        "packed_weights_end:\n"
        ".previous\n");
extern const unsigned char packed_weights[], packed_weights_end[];

static ALIGNED unsigned char memory[BURIN_MODEL_BYTES + POLICY_WEIGHTS_BYTES], other_memory[BURIN_MODEL_BYTES],
    state[1 << 18], other_state[1 << 18], saved[1 << 18], scratch[1 << 18];
static float x[SAMPLES][SENSORS], y[SAMPLES][COMMANDS];
static int failures;

/* ---- Text */

static size_t length_of(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

static void say(const char *text) { write_bytes(text, length_of(text)); }

static void say_number(unsigned long number) {
  char digits[20];
  size_t first = sizeof digits;
  do
    digits[--first] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  write_bytes(digits + first, sizeof digits - first);
}

/* A line: what it is, and the bits of each float. */
static void say_floats(const char *what, const float *values, int count) {
  say(what);
  for (int i = 0; i < count; ++i) {
    union {
      float value;
      unsigned bits;
    } both = {values[i]};
    char digits[9] = {' '};
    for (int digit = 8; digit > 0; --digit, both.bits >>= 4)
      digits[digit] = "0123456789abcdef"[both.bits & 15];
    write_bytes(digits, sizeof digits);
  }
  say("\n");
}

static void say_rows(const char *what, int rows) {
  for (int row = 0; row < rows; ++row)
    say_floats(what, y[row], COMMANDS);
}

static void expect(const char *call, burin_status status, burin_status expected) {
  if (status == expected)
    return;
  say(call);
  say(" gives status ");
  say_number((unsigned long)status);
  say(", expected ");
  say_number((unsigned long)expected);
  say("\n");
  ++failures;
}

/* ---- The work */

static const burin_open_options in_place = {.weights = packed_weights,
                                            .weights_stay = 1,
                                            .verify_content = 1,
                                            .memory = other_memory,
                                            .memory_bytes = sizeof other_memory};

static burin_model *open_or_say(const char *what, burin_open_options options, burin_status expected) {
  char message[256];
  burin_model *model = NULL;
  options.message = message;
  options.message_bytes = sizeof message;
  if (options.weights_bytes == 0)
    options.weights_bytes = (size_t)(packed_weights_end - packed_weights);
  expect(what, policy_open(&options, &model), expected);
  if (!model) {
    say(what);
    say(": ");
    say(message);
    say("\n");
  }
  return model;
}

static void read_samples(void) {
  unsigned bits = 1; /* xorshift (Marsaglia 2003) */
  for (int i = 0; i < SAMPLES * SENSORS; ++i) {
    bits ^= bits << 13;
    bits ^= bits >> 17;
    bits ^= bits << 5;
    (&x[0][0])[i] = (float)(int)(bits >> 8) / 8388608.0f - 1.0f;
  }
}

static void run_model(const burin_model *model) {
  size_t bytes = 0;
  expect("forward", policy_forward(model, scratch, sizeof scratch, SAMPLES, x[0], y[0]), BURIN_OK);
  say_rows("forward", 1); /* the mean over time */
  expect("reset", policy_reset(model, state, sizeof state), BURIN_OK);
  for (int row = 0; row < 5; ++row)
    expect("step", policy_step(model, state, scratch, sizeof scratch, x[row], y[row]), BURIN_OK);
  say_rows("step", 5);
  expect("state_save", policy_state_save(model, state, saved, sizeof saved, &bytes), BURIN_OK);
  expect("advance", policy_advance(model, state, scratch, sizeof scratch, SAMPLES - 5, x[5], y[5]), BURIN_OK);
  say_rows("advance", SAMPLES);
  expect("state_load", policy_state_load(model, other_state, sizeof other_state, saved, bytes), BURIN_OK);
  expect("step", policy_step(model, other_state, scratch, sizeof scratch, x[5], y[5]), BURIN_OK);
  say_floats("step of a loaded state", y[5], COMMANDS);
  int64_t rows;
  expect("state_read", policy_state_read(model, state, "no such value", NULL, 0, &rows), BURIN_NO_SUCH_STATE_VALUE);
}

static void refuse(void) {
  burin_open_options options = in_place;
  options.weights_bytes = (size_t)(packed_weights_end - packed_weights) - 4;
  open_or_say("weights cut off", options, BURIN_FILE_MALFORMED);
  options.weights_bytes = 100;
  open_or_say("header cut off", options, BURIN_FILE_MALFORMED);
  options = in_place;
  options.memory_bytes = sizeof other_memory - 1;
  open_or_say("memory too small", options, BURIN_OUT_OF_MEMORY);
  options.weights_stay = 0;
  options.memory_bytes = sizeof other_memory;
  open_or_say("no memory for a copy", options, BURIN_OUT_OF_MEMORY);
  options = in_place;
  options.memory = other_memory + 4;
  open_or_say("memory misaligned", options, BURIN_MISALIGNED);

  /* The same bytes, 4 past where they should lie. */
  size_t bytes = (size_t)(packed_weights_end - packed_weights);
  static ALIGNED unsigned char moved[POLICY_WEIGHTS_BYTES + 8192];
  if (bytes + 4 > sizeof moved) {
    say("the packed file is larger than expected\n");
    ++failures;
    return;
  }
  for (size_t i = 0; i < bytes; ++i)
    moved[4 + i] = packed_weights[i];
  options = in_place;
  options.weights = moved + 4;
  open_or_say("weights misaligned", options, BURIN_MISALIGNED);
  moved[4 + bytes - 1] ^= 1;
  open_or_say("weights damaged", options, BURIN_FILE_MALFORMED);
}

int run_program(void) {
  read_samples();
  burin_model *model = open_or_say("open in place", in_place, BURIN_OK);
  if (model)
    run_model(model);
  policy_close(model);
  burin_open_options copied = in_place;
  copied.weights_stay = 0;
  copied.memory = memory;
  copied.memory_bytes = sizeof memory;
  model = open_or_say("open a copy", copied, BURIN_OK);
  if (model)
    run_model(model);
  policy_close(model);
  refuse();
  return failures;
}
