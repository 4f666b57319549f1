/* The packer: one copy per segment of the plan. Floats move as bytes, as the data of a file may lie at any address.
 * What no segment writes stays zero: the padding of last panels and of vectors.
 */
#include "pack_weights.h"

#include "file_floats.h"

#include <string.h>

enum { FLOAT = sizeof(float) };

/* A transposed matrix goes through a tile of TILE_LANES rows, each TILE_ROWS floats of the file, which is a cache line:
 * read whole, while it is there. Rows of the file are often a multiple of 4096 bytes apart, and a column read float by
 * float then finds no two of its lines in the cache at once. */
enum { TILE_LANES = 64, TILE_ROWS = 16 };

/* The matrix of a segment, as it lies in the file. */
typedef struct source_matrix {
  const unsigned char *data;
  int64_t columns; /* of the destination: N */
  int type;
  int64_t float_bytes;
} source_matrix;

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* [K, N] in the file, so that a row of the source gives a piece to every panel. */
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

/* Up to TILE_LANES rows of the file, from `n`, to as many lanes of one panel, whose row 0 has its lane at `lanes`. */
static void transpose_lanes(const burin_plan_segment *segment, const source_matrix *source, int64_t n, int64_t run,
                            unsigned char *lanes) {
  unsigned char tile[TILE_LANES][TILE_ROWS * FLOAT];
  for (int64_t first = 0; first < segment->rows; first += TILE_ROWS) {
    int64_t rows = least(TILE_ROWS, segment->rows - first);
    for (int64_t i = 0; i < run; ++i)
      burin_copy_floats(tile[i], source->data + ((n + i) * segment->rows + first) * source->float_bytes, rows,
                        source->type);
    for (int64_t k = 0; k < rows; ++k) {
      unsigned char *row = lanes + (first + k) * segment->panel * FLOAT;
      for (int64_t i = 0; i < run; ++i)
        memcpy(row + i * FLOAT, tile[i] + k * FLOAT, FLOAT);
    }
  }
}

/* [N, K] in the file. Panels are written front to back. */
static void pack_columns_to_panels(const burin_plan_segment *segment, const source_matrix *source, unsigned char *to) {
  int64_t panel = segment->panel;
  for (int64_t n = 0; n < source->columns;) {
    int64_t column = segment->column + n, lane = column % panel;
    int64_t run = least(least(panel - lane, source->columns - n), TILE_LANES);
    transpose_lanes(segment, source, n, run, to + (column / panel * segment->rows * panel + lane) * FLOAT);
    n += run;
  }
}

void burin_pack_weights(const burin_plan *plan, const burin_safetensors *file, unsigned char *packed) {
  for (int32_t s = 0; s < plan->segment_count; ++s) {
    const burin_plan_segment *segment = &plan->segments[s];
    const burin_plan_parameter *parameter = &plan->parameters[segment->parameter];
    const burin_file_tensor *tensor = burin_safetensors_find(file, parameter->name);
    int type = burin_file_float_type(tensor->type);
    source_matrix source = {file->data + tensor->begin, 0, type, burin_file_float_bytes(type)};
    unsigned char *to = packed + segment->destination;
    if (segment->layout != BURIN_PACK_PANELS) {
      burin_copy_floats(to + segment->column * FLOAT, source.data, (tensor->end - tensor->begin) / source.float_bytes,
                        type);
    } else if (segment->transposed) {
      source.columns = parameter->shape[0];
      pack_columns_to_panels(segment, &source, to);
    } else {
      source.columns = parameter->shape[1];
      pack_rows_to_panels(segment, &source, to);
    }
  }
}
