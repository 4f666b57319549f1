/* The packer: one copy per segment of the plan. Floats move as bytes, as the data of a file may lie at any address.
 * What no segment writes stays zero: the padding of last panels and of vectors.
 */
#include "pack_weights.h"

#include <string.h>

enum { FLOAT = sizeof(float) };

/* [K, N] in the file, so that a row of the source gives a piece to every panel. */
static void pack_rows_to_panels(const burin_plan_segment *segment, const unsigned char *source, int64_t columns,
                                unsigned char *to) {
  int64_t panel = segment->panel;
  for (int64_t k = 0; k < segment->rows; ++k)
    for (int64_t n = 0; n < columns;) {
      int64_t column = segment->column + n, lane = column % panel;
      int64_t run = panel - lane < columns - n ? panel - lane : columns - n;
      memcpy(to + ((column / panel * segment->rows + k) * panel + lane) * FLOAT, source + (k * columns + n) * FLOAT,
             (size_t)run * FLOAT);
      n += run;
    }
}

/* [N, K] in the file. Panels are written front to back, from as many source rows at once. */
static void pack_columns_to_panels(const burin_plan_segment *segment, const unsigned char *source, int64_t columns,
                                   unsigned char *to) {
  int64_t panel = segment->panel;
  for (int64_t n = 0; n < columns;) {
    int64_t column = segment->column + n, lane = column % panel;
    int64_t run = panel - lane < columns - n ? panel - lane : columns - n;
    for (int64_t k = 0; k < segment->rows; ++k) {
      unsigned char *lanes = to + ((column / panel * segment->rows + k) * panel + lane) * FLOAT;
      for (int64_t i = 0; i < run; ++i)
        memcpy(lanes + i * FLOAT, source + ((n + i) * segment->rows + k) * FLOAT, FLOAT);
    }
    n += run;
  }
}

void burin_pack_weights(const burin_plan *plan, const burin_safetensors *file, unsigned char *packed) {
  for (int32_t s = 0; s < plan->segment_count; ++s) {
    const burin_plan_segment *segment = &plan->segments[s];
    const burin_plan_parameter *parameter = &plan->parameters[segment->parameter];
    const burin_file_tensor *tensor = burin_safetensors_find(file, parameter->name);
    const unsigned char *source = file->data + tensor->begin;
    unsigned char *to = packed + segment->destination;
    if (segment->layout == BURIN_PACK_PANELS) {
      if (segment->transposed)
        pack_columns_to_panels(segment, source, parameter->shape[0], to);
      else
        pack_rows_to_panels(segment, source, parameter->shape[1], to);
    } else {
      memcpy(to + segment->column * FLOAT, source, (size_t)(tensor->end - tensor->begin));
    }
  }
}
