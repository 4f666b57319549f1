/* Reads handwritten digits as they arrive, row by row, and says after every row which digit it takes them for.
 *
 *     build/bin/digits WEIGHTS.safetensors
 *
 * 360 images of 8×8 pixels go through `digit_reader_step`, one row a call. The program draws a few of them with the
 * probabilities of the ten digits, prints how often the best guess is right after each row, and compares all of it with
 * the values of the golden case `digits`, which an independent library computed in double precision.
 */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include "digit_reader.h"       /* generated from graph.cpp */
#include "digits_case.h"        /* the images, their labels, the expected scores */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  IMAGES = 360,
  ROWS = DIGIT_READER_ROWS_MAX,
  PIXELS = DIGIT_READER_PIXELS_FEATURES,
  DIGITS = DIGIT_READER_SCORES_FEATURES
};

/* What the trained encoder reaches after each row. */
static const double stated_accuracy[ROWS] = {0.4028, 0.5972, 0.7889, 0.8528, 0.9056, 0.9250, 0.9417, 0.9389};

static void require(burin_status status, const char *message) {
  if (status == BURIN_OK)
    return;
  fprintf(stderr, "digits: error: %s%s%s\n", burin_status_text(status), *message ? ": " : "", message);
  exit(1);
}

static void *aligned_memory(size_t bytes) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, bytes) != 0) {
    fprintf(stderr, "digits: error: out of memory\n");
    exit(1);
  }
  return memory;
}

static int best_of(const float *scores) {
  int best = 0;
  for (int digit = 1; digit < DIGITS; ++digit)
    if (scores[digit] > scores[best])
      best = digit;
  return best;
}

/* softmax: the scores are logarithms of probabilities, up to a constant. */
static void probabilities_of(const float *scores, double *probabilities) {
  double sum = 0;
  for (int digit = 0; digit < DIGITS; ++digit)
    sum += probabilities[digit] = exp(scores[digit] - scores[best_of(scores)]);
  for (int digit = 0; digit < DIGITS; ++digit)
    probabilities[digit] /= sum;
}

/* ---- Drawing */

/* Grey and heights from little to much; blocks where the terminal shows them, plain characters otherwise. */
typedef struct pen {
  const char *grey[5];
  const char *height[9];
  const char *bold, *normal;
} pen;

static const pen plain_pen = {{" ", ".", ":", "+", "#"}, {" ", ".", ".", ":", ":", "+", "+", "#", "#"}, "", ""};
static const pen block_pen = {
    {" ", "░", "▒", "▓", "█"}, {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "\033[1m", "\033[0m"};

static const pen *choose_pen(void) {
  const char *names[] = {"LC_ALL", "LC_CTYPE", "LANG"}; /* the first that is set counts */
  const char *locale = "";
  for (size_t i = 0; i < sizeof names / sizeof *names && !*locale; ++i)
    if (getenv(names[i]))
      locale = getenv(names[i]);
  int shows_blocks = strstr(locale, "UTF-8") || strstr(locale, "utf8");
  return isatty(STDOUT_FILENO) && shows_blocks ? &block_pen : &plain_pen;
}

static void draw_title(int image) {
  printf("\nimage %d, a %d\n  %-*s ", image, (int)digits_in_labels[image], 2 * PIXELS, "row");
  for (int digit = 0; digit < DIGITS; ++digit)
    printf("  %d", digit);
  printf("   best guess\n");
}

/* One row of the image on the left; on the right how sure the encoder is of each digit, having seen the rows so far. */
static void draw_row(const pen *pen, const float *pixels, const float *scores) {
  double probabilities[DIGITS];
  probabilities_of(scores, probabilities);
  int best = best_of(scores);
  printf("  ");
  for (int pixel = 0; pixel < PIXELS; ++pixel) {
    const char *grey = pen->grey[(int)lround(pixels[pixel] * 4)];
    printf("%s%s", grey, grey); /* a character is about twice as high as it is wide */
  }
  printf(" ");
  for (int digit = 0; digit < DIGITS; ++digit) {
    const char *height = pen->height[(int)ceil(probabilities[digit] * 8 - 0.08)]; /* nothing below 1 % */
    printf("  %s%s%s", digit == best ? pen->bold : "", height, digit == best ? pen->normal : "");
  }
  printf("   %s%d%s  %3.0f %%\n", pen->bold, best, pen->normal, 100 * probabilities[best]);
}

/* ---- Comparing */

static int is_right(int image, const float *scores) { return best_of(scores) == digits_in_labels[image]; }

/* Largest difference from the expected scores. */
static double difference(const float *scores, const double *expected) {
  double largest = 0;
  for (int digit = 0; digit < DIGITS; ++digit)
    largest = fmax(largest, fabs(scores[digit] - expected[digit]));
  return largest;
}

/* Prints an accuracy; 1 where it is not the stated one, which has four digits. */
static int report_accuracy(const char *what, int row, int right, double stated) {
  double accuracy = (double)right / IMAGES;
  int wrong = fabs(accuracy - stated) > 0.00005;
  printf("  %-8s after row %d   %.4f", what, row, accuracy);
  if (wrong)
    printf("   WRONG: stated %.4f", stated);
  printf("\n");
  return wrong;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: digits WEIGHTS.safetensors\n");
    return 2;
  }
  char message[512] = "";
  burin_open_options options = {.weights_path = argv[1], .message = message, .message_bytes = sizeof message};
  burin_model *model;
  require(digit_reader_open(&options, &model), message);

  /* All the memory that the model will use from here on is this. */
  size_t scratch_bytes = digit_reader_scratch_bytes(ROWS), state_bytes = digit_reader_state_bytes();
  void *scratch = aligned_memory(scratch_bytes), *state = aligned_memory(state_bytes);

  const pen *pen = choose_pen();
  const int drawn[] = {5, 17, 181};
  int right_by_step[ROWS] = {0}, right_by_forward = 0;
  double largest = 0;
  for (int image = 0; image < IMAGES; ++image) {
    const float(*pixels)[PIXELS] = &digits_in_x[image * ROWS];
    const double(*expected)[DIGITS] = &digits_out_prefixes[image * ROWS];
    int draws = 0;
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; ++i)
      draws |= drawn[i] == image;
    if (draws)
      draw_title(image);

    float scores[DIGITS];
    require(digit_reader_reset(model, state, state_bytes), "");
    for (int row = 0; row < ROWS; ++row) {
      require(digit_reader_step(model, state, scratch, scratch_bytes, pixels[row], scores), "");
      right_by_step[row] += is_right(image, scores);
      largest = fmax(largest, difference(scores, expected[row]));
      if (draws)
        draw_row(pen, pixels[row], scores);
    }

    /* The whole image at once gives what the last step gave. */
    require(digit_reader_forward(model, scratch, scratch_bytes, ROWS, pixels[0], scores), "");
    right_by_forward += is_right(image, scores);
    largest = fmax(largest, difference(scores, expected[ROWS - 1]));
  }

  printf("\naccuracy over %d images\n", IMAGES);
  int wrong = 0;
  for (int row = 0; row < ROWS; ++row)
    wrong += report_accuracy("step", row + 1, right_by_step[row], stated_accuracy[row]);
  wrong += report_accuracy("forward", ROWS, right_by_forward, stated_accuracy[ROWS - 1]);
  wrong += !(largest <= 1e-4);
  printf("\nlargest difference from the golden scores, step and forward: %.1e%s\n", largest,
         largest <= 1e-4 ? "" : "   WRONG: more than 1e-4");

  digit_reader_close(model);
  free(scratch);
  free(state);
  return wrong ? 1 : 0;
}
