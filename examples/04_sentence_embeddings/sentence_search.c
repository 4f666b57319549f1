/* Embeds texts and answers queries with the nearest of them.
 *
 *     build/bin/sentence_search WEIGHTS TEXTS.ids QUERIES.ids
 *
 * WEIGHTS is the model's safetensors file or a packed one; the others come from tokenise.py: a line per text, its token
 * ids, a tab, the text. All texts go through `minilm_forward_batch` packed one after another, without padding, some
 * thousand tokens a call; a query is a sequence of its own. Vectors have length 1, so that a product is a cosine.
 */
#define _POSIX_C_SOURCE 200809L /* getline, posix_memalign, clock_gettime */
#include "minilm.h"             /* generated from the imported model */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  WIDTH = MINILM_Y_FEATURES,
  LONGEST = MINILM_TIME_MAX, /* tokens of a text */
  BATCH_TOKENS = 4096,       /* of a call; more only takes more scratch */
  SHOWN = 3
};

typedef struct texts {
  size_t count;
  char **text;
  int64_t *offsets; /* [count + 1], tokens */
  int32_t *ids;     /* all texts, one after another */
  float *vectors;   /* [count][WIDTH] */
} texts;

static void fail(const char *what, const char *why) {
  fprintf(stderr, "sentence_search: error: %s: %s\n", what, why);
  exit(1);
}

static void *memory(size_t bytes) {
  void *block = NULL;
  if (posix_memalign(&block, 64, bytes ? bytes : 64) != 0)
    fail("memory", "none left");
  return block;
}

static void *grown(void *block, size_t bytes) {
  block = realloc(block, bytes);
  if (!block)
    fail("memory", "none left");
  return block;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A file of tokenise.py. */
static texts read_texts(const char *path) {
  texts all = {0, NULL, memory(sizeof(int64_t)), NULL, NULL};
  FILE *file = fopen(path, "r");
  if (!file)
    fail(path, strerror(errno));
  char *line = NULL;
  size_t room = 0, tokens = 0, token_room = 0;
  all.offsets[0] = 0;
  while (getline(&line, &room, file) >= 0) {
    char *next = line;
    for (;;) {
      char *end = next;
      long id = strtol(next, &end, 10);
      if (end == next)
        break;
      if (tokens == token_room)
        all.ids = grown(all.ids, (token_room = 2 * token_room + 64) * sizeof(int32_t));
      all.ids[tokens++] = (int32_t)id;
      next = end;
    }
    if (*next != '\t')
      fail(path, "a line without a tab; tokenise.py writes ids, a tab, the text");
    if (tokens - (size_t)all.offsets[all.count] > LONGEST)
      fail(next + 1, "more tokens than the model takes; tokenise.py --truncate takes the first");
    next[strcspn(next, "\n")] = '\0';
    all.text = grown(all.text, (all.count + 1) * sizeof(char *));
    all.text[all.count] = strdup(next + 1);
    all.offsets = grown(all.offsets, (all.count + 2) * sizeof(int64_t));
    all.offsets[++all.count] = (int64_t)tokens;
  }
  free(line);
  fclose(file);
  all.vectors = memory(all.count * WIDTH * sizeof(float));
  return all;
}

static void release(texts *all) {
  for (size_t i = 0; i < all->count; ++i)
    free(all->text[i]);
  free(all->text);
  free(all->offsets);
  free(all->ids);
  free(all->vectors);
}

/* Fills in the vectors, as many whole texts a call as fit into BATCH_TOKENS. */
static void embed(const burin_model *model, texts *all) {
  size_t scratch_bytes = minilm_batch_scratch_bytes((int64_t)all->count, BATCH_TOKENS);
  void *scratch = memory(scratch_bytes);
  int64_t *offsets = memory((all->count + 1) * sizeof(int64_t));
  double last = seconds();
  for (size_t first = 0, end; first < all->count; first = end) {
    for (end = first; end < all->count && all->offsets[end + 1] - all->offsets[first] <= BATCH_TOKENS; ++end)
      offsets[end + 1 - first] = all->offsets[end + 1] - all->offsets[first];
    offsets[0] = 0;
    burin_status status = minilm_forward_batch(model, scratch, scratch_bytes, (int64_t)(end - first), offsets,
                                               all->ids + all->offsets[first], all->vectors + first * WIDTH);
    if (status != BURIN_OK)
      fail("embedding", burin_status_text(status));
    if (seconds() - last > 2) {
      fprintf(stderr, "%zu of %zu texts\n", end, all->count);
      last = seconds();
    }
  }
  free(offsets);
  free(scratch);
}

static double cosine(const float *a, const float *b) {
  double sum = 0;
  for (int i = 0; i < WIDTH; ++i)
    sum += (double)a[i] * b[i];
  return sum;
}

/* Prints the texts nearest to a vector, the nearest first. */
static void answer(const float *query, const texts *all) {
  char *told = calloc(all->count + 1, 1);
  if (!told)
    fail("memory", "none left");
  for (int rank = 0; rank < SHOWN && (size_t)rank < all->count; ++rank) {
    size_t best = all->count;
    for (size_t i = 0; i < all->count; ++i)
      if (!told[i] &&
          (best == all->count || cosine(query, all->vectors + i * WIDTH) > cosine(query, all->vectors + best * WIDTH)))
        best = i;
    told[best] = 1;
    printf("  %6.3f  %s\n", cosine(query, all->vectors + best * WIDTH), all->text[best]);
  }
  free(told);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: sentence_search WEIGHTS TEXTS.ids QUERIES.ids\n");
    return 2;
  }
  char message[512] = "";
  burin_open_options options = {0};
  options.weights_path = argv[1];
  options.allow_extra_tensors = 1; /* the file also holds what only training needs */
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = NULL;
  double start = seconds();
  burin_status status = minilm_open(&options, &model);
  if (status != BURIN_OK)
    fail(argv[1], *message ? message : burin_status_text(status));
  double opened = seconds();

  texts all = read_texts(argv[2]), queries = read_texts(argv[3]);
  double before = seconds();
  embed(model, &all);
  double after = seconds();
  printf("opened in %.0f ms; %zu texts of %lld tokens embedded in %.1f ms\n", 1e3 * (opened - start), all.count,
         (long long)all.offsets[all.count], 1e3 * (after - before));
  embed(model, &queries);
  for (size_t i = 0; i < queries.count; ++i) {
    printf("\n%s\n", queries.text[i]);
    answer(queries.vectors + i * WIDTH, &all);
  }
  release(&queries);
  release(&all);
  minilm_close(model);
  return 0;
}
