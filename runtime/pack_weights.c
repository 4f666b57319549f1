/* The packer: one copy per segment of the plan. Floats move as bits, so that no NaN changes, and the data of a file may
 * lie at any address. What no segment writes stays zero: the padding of last panels and of vectors.
 */
#include "pack_weights.h"

#include "file_floats.h"
#include "quantise.h"

#include <string.h>

enum { FLOAT = sizeof(float), HALF = 2 };

/* A matrix goes through tiles of TILE_LANES columns by TILE_ROWS floats, which in a row of a transposed file is a cache
 * line: read whole, while it is there. Rows of the file are often a multiple of 4096 bytes apart, and a column read
 * float by float then finds no two of its lines in the cache at once. */
enum { TILE_LANES = 64, TILE_ROWS = 16 };

/* The matrix of a segment, as it lies in the file. */
typedef struct source_matrix {
  const unsigned char *data;
  int64_t columns; /* of the destination: N */
  int type;
  int64_t float_bytes;
} source_matrix;

/* Columns that lie side by side in one panel. */
typedef struct column_run {
  const burin_plan_segment *segment;
  const source_matrix *source;
  int64_t first; /* in the source */
  int64_t panel, lane;
  int64_t lanes;
} column_run;

/* Some rows of a run, as bits of float32: element (row, lane) at row · row_step + lane · lane_step. */
typedef struct tile {
  uint32_t bits[TILE_LANES * TILE_ROWS];
  int64_t rows, row_step, lane_step;
} tile;

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline uint32_t bits_at(const tile *from, int64_t row, int64_t lane) {
  return from->bits[row * from->row_step + lane * from->lane_step];
}

static void read_floats(uint32_t *to, const source_matrix *source, int64_t index, int64_t count) {
  burin_copy_floats((unsigned char *)to, source->data + index * source->float_bytes, count, source->type);
}

static void read_tile(tile *to, const column_run *run, int64_t first_row, int64_t end_row) {
  const source_matrix *source = run->source;
  to->rows = least(TILE_ROWS, end_row - first_row);
  to->row_step = run->segment->transposed ? 1 : TILE_LANES;
  to->lane_step = run->segment->transposed ? TILE_ROWS : 1;
  if (run->segment->transposed) /* [N, K] in the file */
    for (int64_t lane = 0; lane < run->lanes; ++lane)
      read_floats(to->bits + lane * to->lane_step, source, (run->first + lane) * run->segment->rows + first_row,
                  to->rows);
  else
    for (int64_t row = 0; row < to->rows; ++row)
      read_floats(to->bits + row * to->row_step, source, (first_row + row) * source->columns + run->first, run->lanes);
}

/* [N / panel][K][panel] floats. */
static void write_floats(const column_run *run, unsigned char *packed) {
  const burin_plan_segment *segment = run->segment;
  tile read;
  for (int64_t first = 0; first < segment->rows; first += TILE_ROWS) {
    read_tile(&read, run, first, segment->rows);
    for (int64_t row = 0; row < read.rows; ++row) {
      unsigned char *to = packed + segment->destination +
                          ((run->panel * segment->rows + first + row) * segment->panel + run->lane) * FLOAT;
      for (int64_t lane = 0; lane < run->lanes; ++lane) {
        uint32_t bits = bits_at(&read, row, lane);
        memcpy(to + lane * FLOAT, &bits, FLOAT);
      }
    }
  }
}

/* In bfloat16, [N / panel][K / terms][panel][terms]. */
static void write_bfloats(const column_run *run, unsigned char *packed) {
  const burin_plan_segment *segment = run->segment;
  int64_t terms = segment->terms, steps = (segment->rows + terms - 1) / terms;
  tile read;
  for (int64_t first = 0; first < segment->rows; first += TILE_ROWS) {
    read_tile(&read, run, first, segment->rows);
    for (int64_t row = 0; row < read.rows; ++row) {
      int64_t k = first + row;
      int64_t place = ((run->panel * steps + k / terms) * segment->panel + run->lane) * terms + k % terms;
      for (int64_t lane = 0; lane < run->lanes; ++lane) {
        uint16_t half = burin_bf16_of(bits_at(&read, row, lane));
        memcpy(packed + segment->destination + (place + lane * terms) * HALF, &half, HALF);
      }
    }
  }
}

/* One group of rows of a run, [first, end); adds its weights to `sums`. 0 where a value is not finite. */
static int write_group(const column_run *run, int64_t first, int64_t end, double *sums, unsigned char *packed) {
  const burin_plan_segment *segment = run->segment;
  int64_t terms = segment->terms, depth = (segment->rows + segment->group - 1) / segment->group * segment->group;
  int64_t beside = (first / segment->group * segment->columns + run->panel * segment->panel + run->lane) * FLOAT;
  uint32_t largest[TILE_LANES] = {0};
  float scale[TILE_LANES], inverse[TILE_LANES];
  int32_t integers[TILE_LANES] = {0};
  tile read;
  for (int64_t at = first; at < end; at += TILE_ROWS) {
    read_tile(&read, run, at, end);
    for (int64_t row = 0; row < read.rows; ++row)
      for (int64_t lane = 0; lane < run->lanes; ++lane) {
        uint32_t magnitude = burin_magnitude_of(bits_at(&read, row, lane));
        largest[lane] = magnitude > largest[lane] ? magnitude : largest[lane];
      }
  }
  for (int64_t lane = 0; lane < run->lanes; ++lane)
    if (!burin_int8_scale_of(largest[lane], &scale[lane], &inverse[lane]))
      return 0;
  for (int64_t at = first; at < end; at += TILE_ROWS) {
    read_tile(&read, run, at, end);
    for (int64_t row = 0; row < read.rows; ++row) {
      int64_t k = at + row;
      unsigned char *to = packed + segment->destination +
                          ((run->panel * (depth / terms) + k / terms) * segment->panel + run->lane) * terms + k % terms;
      for (int64_t lane = 0; lane < run->lanes; ++lane) {
        int32_t value = burin_int8_of(bits_at(&read, row, lane), inverse[lane]);
        to[lane * terms] = (unsigned char)value;
        integers[lane] += value;
      }
    }
  }
  memcpy(packed + segment->scales + beside, scale, (size_t)run->lanes * FLOAT);
  for (int64_t lane = 0; lane < run->lanes; ++lane) {
    int32_t correction = -128 * integers[lane];
    sums[lane] += (double)scale[lane] * integers[lane];
    if (segment->corrections >= 0)
      memcpy(packed + segment->corrections + beside + lane * FLOAT, &correction, FLOAT);
  }
  return 1;
}

/* [N / panel][K / terms][panel][terms] bytes, K rounded up to whole groups; scales, sums and corrections beside them.
 */
static int write_bytes(const column_run *run, unsigned char *packed) {
  const burin_plan_segment *segment = run->segment;
  double sums[TILE_LANES] = {0};
  for (int64_t first = 0; first < segment->rows; first += segment->group)
    if (!write_group(run, first, least(first + segment->group, segment->rows), sums, packed))
      return 0;
  for (int64_t lane = 0; lane < run->lanes; ++lane) {
    float sum = (float)sums[lane];
    memcpy(packed + segment->sums + (run->panel * segment->panel + run->lane + lane) * FLOAT, &sum, FLOAT);
  }
  return 1;
}

/* A run after another, panels front to back. */
static int pack_panels(const burin_plan_segment *segment, const source_matrix *source, unsigned char *packed) {
  int good = 1;
  for (int64_t n = 0; n < source->columns && good;) {
    int64_t column = segment->column + n, lane = column % segment->panel;
    column_run run = {segment, source, n, column / segment->panel, lane, 0};
    run.lanes = least(least(segment->panel - lane, source->columns - n), TILE_LANES);
    if (segment->layout == BURIN_PACK_PANELS_INT8)
      good = write_bytes(&run, packed);
    else if (segment->layout == BURIN_PACK_PANELS_BF16)
      write_bfloats(&run, packed);
    else
      write_floats(&run, packed);
    n += run.lanes;
  }
  return good;
}

/* [K, N] in the file and as floats: a row of the source gives a piece to every panel, which needs no tile. */
static void pack_rows_to_panels(const burin_plan_segment *segment, const source_matrix *source, unsigned char *to) {
  int64_t panel = segment->panel;
  for (int64_t k = 0; k < segment->rows; ++k)
    for (int64_t n = 0; n < source->columns;) {
      int64_t column = segment->column + n, lane = column % panel;
      int64_t run = least(panel - lane, source->columns - n);
      burin_copy_floats(to + ((column / panel * segment->rows + k) * panel + lane) * FLOAT,
                        source->data + (k * source->columns + n) * source->float_bytes, run, source->type);
      n += run;
    }
}

static burin_status fail(const burin_plan_parameter *parameter, burin_message *message) {
  burin_message_text(message, "tensor ");
  burin_message_name(message, parameter->name, strlen(parameter->name));
  burin_message_text(message, " holds a value that is not finite, which int8 cannot hold");
  return BURIN_WEIGHTS_MISMATCH;
}

burin_status burin_pack_weights(const burin_plan *plan, const burin_safetensors *file, unsigned char *packed,
                                burin_message *message) {
  for (int32_t s = 0; s < plan->segment_count; ++s) {
    const burin_plan_segment *segment = &plan->segments[s];
    const burin_plan_parameter *parameter = &plan->parameters[segment->parameter];
    const burin_file_tensor *tensor = burin_safetensors_find(file, parameter->name);
    int type = burin_file_float_type(tensor->type);
    source_matrix source = {file->data + tensor->begin, 0, type, burin_file_float_bytes(type)};
    unsigned char *to = packed + segment->destination;
    source.columns = parameter->shape[segment->transposed ? 0 : 1];
    if (segment->layout == BURIN_PACK_VECTOR || segment->layout == BURIN_PACK_ROWS)
      burin_copy_floats(to + segment->column * FLOAT, source.data, (tensor->end - tensor->begin) / source.float_bytes,
                        type);
    else if (segment->layout == BURIN_PACK_PANELS && !segment->transposed)
      pack_rows_to_panels(segment, &source, to);
    else if (!pack_panels(segment, &source, packed))
      return fail(parameter, message);
  }
  return BURIN_OK;
}
