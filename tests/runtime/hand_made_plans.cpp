#include "hand_made_plans.h"
#include "plan_arguments.h"

namespace burin_test {

Seen seen;

namespace {

int finish(void *context) {
  ++seen.calls;
  if (seen.complain_next)
    burin_rt_error(context, "complaint");
  int error = seen.fail_next ? 1 : 0;
  seen.fail_next = seen.complain_next = false;
  return error;
}

void *context_of(void **arguments) { return *static_cast<void **>(arguments[0]); }

// --- rows_plan ---

// context, weights [16], x, h; the rows pass through memory of the arena.
int triple(void **arguments) {
  View<float> weights(arguments[1]), x(arguments[2]), h(arguments[3]);
  auto *row = static_cast<float *>(burin_rt_malloc(context_of(arguments), 2 * sizeof(float)));
  if (!row)
    return 1;
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < x.columns(); ++c)
      row[c] = weights(0) * x(c, r);
    for (int c = 0; c < x.columns(); ++c)
      h(c, r) = row[c];
  }
  burin_rt_free(context_of(arguments), row);
  return finish(context_of(arguments));
}

// context, h, mean
int mean(void **arguments) {
  View<float> h(arguments[1]), result(arguments[2]);
  if (result.rows() != 1)
    return 1;
  for (int c = 0; c < h.columns(); ++c) {
    double sum = 0;
    for (int r = 0; r < h.rows(); ++r)
      sum += h(c, r);
    result(c) = h.rows() == 0 ? 0.0f : float(sum / h.rows());
  }
  return finish(context_of(arguments));
}

// context, h, positions, placed
int place(void **arguments) {
  View<float> h(arguments[1]), placed(arguments[3]);
  View<int64_t> positions(arguments[2]);
  if (positions.columns() != 1 || positions.rows() != h.rows())
    return 1;
  for (int r = 0; r < h.rows(); ++r)
    for (int c = 0; c < h.columns(); ++c)
      placed(c, r) = h(c, r) + float(positions(0, r));
  return finish(context_of(arguments));
}

enum : int32_t { TIME = 0 };

const burin_plan_argument triple_arguments[] = {context_argument(), weights_argument(16, 64), input(0, TIME, 2),
                                                scratch_rows(TIME, 2, 64)};
const burin_plan_argument mean_arguments[] = {context_argument(), scratch_rows(TIME, 2, 64),
                                              scratch_rows(SEQUENCE, 2, 0)};
const burin_plan_argument copy_mean_arguments[] = {context_argument(), scratch_rows(SEQUENCE, 2, 0),
                                                   output(0, SEQUENCE, 2)};
const burin_plan_argument place_arguments[] = {context_argument(), scratch_rows(TIME, 2, 64), positions_argument(TIME),
                                               output(1, TIME, 2)};

// context, from, to: whole rows
int copy(void **arguments) {
  View<float> from(arguments[1]), to(arguments[2]);
  for (int r = 0; r < from.rows(); ++r)
    for (int c = 0; c < from.columns(); ++c)
      to(c, r) = from(c, r);
  return finish(context_of(arguments));
}

const burin_plan_call rows_calls[] = {
    call(triple, "triple", triple_arguments),
    call(mean, "mean", mean_arguments, 1),
    call(copy, "copy_mean", copy_mean_arguments),
    call(place, "place", place_arguments),
};
const burin_plan_tensor rows_inputs[] = {tensor("x", TIME, 2)};
const burin_plan_tensor rows_outputs[] = {tensor("mean", SEQUENCE, 2), tensor("placed", TIME, 2)};
const burin_plan_entry rows_forward = [] {
  burin_plan_entry made = entry(rows_calls, rows_inputs, rows_outputs);
  made.uses_positions = 1;
  made.scratch_row_bytes[TIME] = 128;
  made.scratch_row_bytes[4] = 64;
  made.kernel_scratch_bytes = BURIN_ARENA_BLOCK_BYTES(8);
  return made;
}();
const burin_plan_axis rows_axes[] = {{"time", 5}};
const burin_plan_parameter rows_parameters[] = {{"factor", 1, 0, {1, 1}}};
const burin_plan_segment rows_segments[] = {{0, BURIN_PACK_VECTOR, 0, 0, 0, 0, 64}};

// --- mask_plan ---

enum : int32_t { T_Q = 0, T_K = 1 };

// context, q, k, mask, y
int masked_sum(void **arguments) {
  View<float> q(arguments[1]), k(arguments[2]), y(arguments[4]);
  View<uint8_t> mask(arguments[3]);
  if (mask.columns() != k.rows() || mask.rows() != q.rows())
    return 1;
  for (int i = 0; i < q.rows(); ++i) {
    float sum = q(0, i);
    for (int j = 0; j < k.rows(); ++j)
      sum += mask(j, i) ? k(0, j) : 0.0f;
    y(0, i) = sum;
  }
  return finish(context_of(arguments));
}

const burin_plan_argument mask_arguments[] = {context_argument(), input(0, T_Q, 1), input(1, T_K, 1),
                                              mask_input(2, T_Q, T_K), output(0, T_Q, 1)};
const burin_plan_call mask_calls[] = {call(masked_sum, "masked_sum", mask_arguments, 1)};
const burin_plan_tensor mask_inputs[] = {tensor("q", T_Q, 1), tensor("k", T_K, 1), mask_tensor("mask", T_Q, T_K)};
const burin_plan_tensor mask_outputs[] = {tensor("y", T_Q, 1)};
const burin_plan_entry mask_forward = entry(mask_calls, mask_inputs, mask_outputs);
const burin_plan_axis mask_axes[] = {{"t_q", 4}, {"t_k", 1000000}};

// --- step_plan ---

// context, x, position, tiled cache, plain cache, sum, h, y, row of tiled, row of plain, sum
int remember(void **arguments) {
  View<float> x(arguments[1]), tiled(arguments[3]), plain(arguments[4]), h(arguments[6]), y(arguments[7]);
  View<float> tiled_row(arguments[8]), plain_row(arguments[9]);
  View<double> sum(arguments[5]), new_sum(arguments[10]);
  int64_t position = *static_cast<int64_t *>(arguments[2]);
  for (int c = 0; c < 2; ++c) {
    tiled_row(c) = plain_row(c) = x(c);
    new_sum(c) = sum(c) + double(x(c));
    float from_tiled = 0, from_plain = 0;
    for (int row = 0; row <= int(position); ++row) {
      from_tiled += tiled((row / STEP_TILE * 2 + c) * STEP_TILE + row % STEP_TILE);
      from_plain += plain(row * 2 + c);
    }
    if (from_tiled != from_plain || double(from_plain) != new_sum(c))
      return 1;
    h(c) = from_plain;
    y(c) = h(c);
  }
  return finish(context_of(arguments));
}

enum { TILED_AT = 128, PLAIN_AT = 192, SUM_AT = 256 };
const burin_plan_argument step_arguments[] = {
    context_argument(),
    input(0, ONE, 2),
    position_argument(0),
    storage(BURIN_F32, 16, TILED_AT),
    storage(BURIN_F32, 12, PLAIN_AT),
    storage(BURIN_F64, 2, SUM_AT),
    scratch_rows(ONE, 2, 0),
    output(0, ONE, 2),
    state_row(0, STEP_TILE, 0, 2, TILED_AT),
    state_row(0, 0, 0, 2, PLAIN_AT),
    storage(BURIN_F64, 2, SUM_AT),
};
const burin_plan_call step_calls[] = {call(remember, "remember", step_arguments)};
const burin_plan_tensor step_inputs[] = {tensor("x", ONE, 2)};
const burin_plan_tensor step_outputs[] = {tensor("y", ONE, 2)};
const burin_plan_entry step_entry = [] {
  burin_plan_entry made = entry(step_calls, step_inputs, step_outputs);
  made.scratch_row_bytes[5] = 64;
  return made;
}();
const burin_plan_stream step_streams[] = {{"time", &step_entry, nullptr, TIME, 1, STEP_CAPACITY, -1}};
const burin_plan_entry no_forward = {};
const burin_plan_axis step_axes[] = {{"time", STEP_CAPACITY}};
const burin_plan_state_value step_values[] = {{"tiled", BURIN_F32, STEP_TILE, 0, 0, STEP_CAPACITY, 0, 2, TILED_AT, 64},
                                              {"plain", BURIN_F32, 0, 0, 0, STEP_CAPACITY, 0, 2, PLAIN_AT, 48},
                                              {"sum", BURIN_F64, 0, 0, 0, 1, 0, 2, SUM_AT, 16}};

burin_plan make_plan(const char *name, uint64_t fingerprint, const burin_plan_entry *forward,
                     const burin_plan_axis *axes, int32_t axis_count) {
  burin_plan plan = {};
  plan.version = BURIN_PLAN_VERSION;
  plan.fingerprint = fingerprint;
  plan.name = name;
  plan.target = "generic";
  plan.forward = forward;
  plan.axes = axes;
  plan.axis_count = axis_count;
  return plan;
}

} // namespace

const burin_plan rows_plan = [] {
  burin_plan plan = make_plan("rows", 11, &rows_forward, rows_axes, 1);
  plan.parameters = rows_parameters;
  plan.parameter_count = 1;
  plan.segments = rows_segments;
  plan.segment_count = 1;
  plan.weights_bytes = 128;
  return plan;
}();

const burin_plan mask_plan = make_plan("mask", 12, &mask_forward, mask_axes, 2);

const burin_plan step_plan = [] {
  burin_plan plan = make_plan("step", 13, &no_forward, step_axes, 1);
  plan.graph = 1300;
  plan.streams = step_streams;
  plan.stream_count = 1;
  plan.state_values = step_values;
  plan.state_value_count = 3;
  plan.state_bytes = 320;
  return plan;
}();

Model open_rows_model(const burin_plan &plan) {
  return open_bytes(plan, file_with(R"({"factor":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", float_bytes({3})))
      .model;
}

Model open_without_weights(const burin_plan &plan) {
  burin_open_options options = {};
  burin_model *model = nullptr;
  burin_rt_open(&plan, &options, &model);
  return Model(model);
}

} // namespace burin_test
