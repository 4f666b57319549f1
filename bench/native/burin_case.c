/* Burin from C: one of its models, linked in.
 *
 *     burin_case WEIGHTS x:f32:ROWSxFEATURES:FILE
 *
 * Compiled with MODEL, its name; OUTPUTS; and for the step after ROWS - 1 samples instead of a whole sequence, STEP. */
#include "case.h"
#define TEXT_OF(text) #text
#define TEXT(text) TEXT_OF(text)
#define JOIN_OF(a, b) a##_##b
#define JOIN(a, b) JOIN_OF(a, b)
#define ENTRY(name) JOIN(MODEL, name)
#include TEXT(MODEL.h)

enum { STATES_BYTES = 16384, MOST_STATES = 16 }; /* copies that one sample steps: half a first cache of them at most */

static burin_model *model;
static tensor x;
static float y[OUTPUTS];
static void *scratch;
static size_t scratch_bytes;

static void check(burin_status status) {
  if (status != BURIN_OK)
    die(TEXT(MODEL), burin_status_text(status));
}

#ifdef STEP

static char *states, *kept;
static size_t stride;
static int copies;

static void rewind_states(void) { memcpy(states, kept, stride * (size_t)copies); }

static void call(int number) {
  ENTRY(step)
  (model, states + stride * (size_t)number, scratch, scratch_bytes,
   (const float *)x.data + (x.sizes[0] - 1) * x.sizes[1], y);
}

static subject prepare(void) {
  size_t bytes = ENTRY(state_bytes)();
  int64_t past = x.sizes[0] - 1;
  stride = (bytes + 63) / 64 * 64;
  copies = (int)(STATES_BYTES / stride);
  copies = copies < 1 ? 1 : copies > MOST_STATES ? MOST_STATES : copies;
  states = memory(stride * (size_t)copies);
  kept = memory(stride * (size_t)copies);
  float *ignored = memory((size_t)past * sizeof y);
  check(ENTRY(reset)(model, kept, bytes));
  check(ENTRY(advance)(model, kept, scratch, scratch_bytes, past, x.data, ignored));
  for (int copy = 1; copy < copies; ++copy)
    memcpy(kept + stride * (size_t)copy, kept, bytes);
  return (subject){call, rewind_states, copies};
}

#else

static void call(int number) {
  (void)number;
  ENTRY(forward)(model, scratch, scratch_bytes, x.sizes[0], x.data, y);
}

static subject prepare(void) { return (subject){call, NULL, 1}; }

#endif

int main(int argc, char **argv) {
  if (argc != 3)
    die("usage", "burin_case WEIGHTS TENSOR");
  char message[512] = "";
  burin_open_options options = {0};
  options.weights_path = argv[1];
  options.message = message;
  options.message_bytes = sizeof message;
  if (ENTRY(open)(&options, &model) != BURIN_OK)
    die(argv[1], message);
  x = read_tensor(argv[2]);
  scratch_bytes = ENTRY(scratch_bytes)(x.sizes[0]);
  scratch = memory(scratch_bytes);
  subject timed = prepare();
  serve(&timed, y, OUTPUTS);
  ENTRY(close)(model);
  return 0;
}
