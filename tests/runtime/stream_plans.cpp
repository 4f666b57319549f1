#include "stream_plans.h"
#include "plan_arguments.h"

#include <memory>

namespace burin_test {

StreamsSeen streams_seen;

namespace {

int finish() { return streams_seen.calls++ == streams_seen.fail_at_call ? 1 : 0; }

int64_t number(void *argument) { return *static_cast<int64_t *>(argument); }

int64_t place(int64_t row, int column, int tile) {
  return tile == 0 ? row * 2 + column : (row / tile * 2 + column) * tile + row % tile;
}

// context, x, h
int twice(void **arguments) {
  View<float> x(arguments[1]), h(arguments[2]);
  streams_seen.rows.push_back(x.rows());
  for (int r = 0; r < x.rows(); ++r)
    for (int c = 0; c < 2; ++c)
      h(c, r) = 2 * x(c, r);
  return finish();
}

// context, row, its place in the state
int keep_one(void **arguments) {
  View<float> row(arguments[1]), kept(arguments[2]);
  if (row.rows() != 1 || kept.rows() != 1)
    return 1;
  for (int c = 0; c < 2; ++c)
    kept(c) = row(c);
  return finish();
}

// context, h, count, ring, positions, position: each row's position is one more than that of the row before
template <int tile> int keep_many(void **arguments) {
  View<float> h(arguments[1]), ring(arguments[3]);
  View<int64_t> positions(arguments[4]);
  if (positions.columns() != 1 || positions.rows() != h.rows())
    return 1;
  for (int r = 0; r < h.rows(); ++r) {
    if (positions(0, r) != number(arguments[5]) + r)
      return 1;
    for (int c = 0; c < 2; ++c)
      ring(int(place((number(arguments[2]) + r) % RING, c, tile))) = h(c, r);
  }
  return finish();
}

// context, h, position, count, count of contexts, ring, contexts, total, y
template <int tile> int answer(void **arguments) {
  View<float> h(arguments[1]), ring(arguments[5]), contexts(arguments[6]), y(arguments[8]);
  View<double> total(arguments[7]);
  for (int r = 0; r < h.rows(); ++r) {
    int64_t last = number(arguments[3]) + r;
    float window = 0, context = 0;
    for (int64_t row = last < WINDOW ? 0 : last - WINDOW + 1; row <= last; ++row)
      window += ring(int(place(row % RING, 0, tile)));
    for (int64_t row = 0; row < number(arguments[4]); ++row)
      context += contexts(int(place(row, 0, tile)));
    total(0) += double(h(1, r));
    y(0, r) = window;
    y(1, r) = context + float(number(arguments[2]) + r);
  }
  return finish();
}

// Everything that the tables of one plan point to.
template <int tile> struct Tables {
  enum : int64_t { ELEMENTS = 16, RING_AT = 128, CONTEXTS_AT = 192, TOTAL_AT = 256, STATE_BYTES = 320 };

  burin_plan_argument twice_one[3] = {context_argument(), input(0, ONE, 2), scratch_rows(ONE, 2, 0)};
  burin_plan_argument keep_h[3] = {context_argument(), scratch_rows(ONE, 2, 0),
                                   state_row(QUERIES, tile, RING, 2, RING_AT)};
  burin_plan_argument answer_one[9] = {context_argument(),
                                       scratch_rows(ONE, 2, 0),
                                       position_argument(QUERIES),
                                       count_argument(QUERIES),
                                       count_argument(CONTEXT),
                                       storage(BURIN_F32, ELEMENTS, RING_AT),
                                       storage(BURIN_F32, ELEMENTS, CONTEXTS_AT),
                                       storage(BURIN_F64, 1, TOTAL_AT),
                                       output(0, ONE, 2)};
  burin_plan_call one_calls[3] = {call(twice, "twice", twice_one), call(keep_one, "keep", keep_h),
                                  call(answer<tile>, "answer", answer_one)};
  burin_plan_tensor one_inputs[1] = {tensor("x", ONE, 2)}, one_outputs[1] = {tensor("y", ONE, 2)};
  burin_plan_entry one = entry(one_calls, one_inputs, one_outputs);

  burin_plan_argument twice_many[3] = {context_argument(), input(0, QUERIES, 2), scratch_rows(QUERIES, 2, 0)};
  burin_plan_argument keep_many_h[6] = {context_argument(),          scratch_rows(QUERIES, 2, 0),
                                        count_argument(QUERIES),     storage(BURIN_F32, ELEMENTS, RING_AT),
                                        positions_argument(QUERIES), position_argument(QUERIES)};
  burin_plan_argument answer_many[9];
  burin_plan_call many_calls[3] = {call(twice, "twice", twice_many), call(keep_many<tile>, "keep", keep_many_h),
                                   call(answer<tile>, "answer", answer_many, /*per_sequence=*/1)};
  burin_plan_tensor many_inputs[1] = {tensor("x", QUERIES, 2)}, many_outputs[1] = {tensor("y", QUERIES, 2)};
  burin_plan_entry many = entry(many_calls, many_inputs, many_outputs);

  burin_plan_argument keep_context[3] = {context_argument(), input(0, ONE, 2),
                                         state_row(CONTEXT, tile, 0, 2, CONTEXTS_AT)};
  burin_plan_call append_calls[1] = {call(keep_one, "keep", keep_context)};
  burin_plan_tensor append_inputs[1] = {tensor("c", ONE, 2)};
  burin_plan_entry append = {append_calls, append_inputs, nullptr, nullptr, 1, 1, 0, 0, 0, {}, 0};

  burin_plan_stream streams[2] = {{"t", &one, &many, QUERIES, MOST_ROWS, -1, -1},
                                  {"context", &append, nullptr, CONTEXT, 1, CONTEXT_CAPACITY, -1}};
  burin_plan_state_value values[3] = {
      {"ring", BURIN_F32, tile, QUERIES, 0, RING, WINDOW, 2, RING_AT, 64},
      {"contexts", BURIN_F32, tile, CONTEXT, 0, CONTEXT_CAPACITY, 0, 2, CONTEXTS_AT, 64},
      {"total", BURIN_F64, 0, QUERIES, 0, 1, 0, 1, TOTAL_AT, 8}};
  burin_plan_axis axes[2] = {{"t", 100}, {"context", CONTEXT_CAPACITY}};
  burin_plan_entry forward = {};
  burin_plan plan = {};

  Tables() {
    for (int i = 0; i < 9; ++i)
      answer_many[i] = answer_one[i];
    answer_many[1].row_axis = answer_many[8].row_axis = QUERIES;
    one.scratch_row_bytes[5] = 64;
    many.scratch_row_bytes[QUERIES] = 64;
    many.uses_positions = 1;
    plan.version = BURIN_PLAN_VERSION;
    plan.fingerprint = 20 + tile;
    plan.graph = 2000;
    plan.name = "two_streams";
    plan.target = "generic";
    plan.axes = axes;
    plan.axis_count = 2;
    plan.forward = &forward;
    plan.streams = streams;
    plan.stream_count = 2;
    plan.state_values = values;
    plan.state_value_count = 3;
    plan.state_bytes = STATE_BYTES;
  }
};

size_t scratch_for(const burin_plan &plan, int64_t rows) {
  int64_t lengths[] = {rows, 0};
  return burin_rt_scratch_bytes(&plan, lengths, 1);
}

Model open(const burin_plan &plan) {
  burin_open_options options = {};
  burin_model *model = nullptr;
  burin_rt_open(&plan, &options, &model);
  return Model(model);
}

} // namespace

const burin_plan &two_streams(int tile) {
  static const Tables<0> plain;
  static const Tables<2> twos;
  static const Tables<4> fours;
  return tile == 0 ? plain.plan : tile == 2 ? twos.plan : fours.plan;
}

Streams::Streams(const burin_plan &of, int64_t at_once)
    : plan(of), streams{of.streams[0], of.streams[1]}, state(size_t(of.state_bytes)),
      scratch(scratch_for(of, at_once)) {
  plan.streams = streams;
  model = open(plan);
  streams_seen = {};
  reset();
}

burin_status Streams::reset(int64_t position) {
  return burin_rt_reset(&plan, model.get(), state.data(), state.size(), position);
}

burin_status Streams::step(float a, float b) {
  float x[] = {a, b};
  const void *inputs[] = {x};
  y.assign(2, -1.0f);
  void *outputs[] = {y.data()};
  return burin_rt_step(&plan, model.get(), state.data(), scratch.data(), scratch.size(), inputs, outputs);
}

burin_status Streams::advance(const std::vector<float> &x) {
  const void *inputs[] = {x.data()};
  y.assign(x.size(), -1.0f);
  void *outputs[] = {y.data()};
  return burin_rt_advance(&plan, model.get(), QUERIES, state.data(), scratch.data(), scratch.size(),
                          int64_t(x.size() / 2), inputs, outputs);
}

burin_status Streams::append(const std::vector<float> &c) {
  const void *inputs[] = {c.data()};
  return burin_rt_advance(&plan, model.get(), CONTEXT, state.data(), scratch.data(), scratch.size(),
                          int64_t(c.size() / 2), inputs, nullptr);
}

std::vector<float> Streams::read(const char *name) const {
  std::vector<float> values(64, -1.0f);
  int64_t rows = -1;
  if (burin_rt_state_read(&plan, model.get(), state.data(), name, values.data(), values.size(), &rows) != BURIN_OK)
    return {-1};
  values.resize(size_t(rows) * (std::string(name) == "total" ? 1 : 2));
  return values;
}

std::vector<unsigned char> Streams::save() const {
  size_t bytes = 0;
  if (burin_rt_state_save(&plan, model.get(), state.data(), nullptr, 0, &bytes) != BURIN_OK)
    return {};
  std::vector<unsigned char> saved(bytes);
  size_t written = 0;
  burin_status status = burin_rt_state_save(&plan, model.get(), state.data(), saved.data(), bytes, &written);
  return status == BURIN_OK && written == bytes ? saved : std::vector<unsigned char>();
}

burin_status Streams::load(const std::vector<unsigned char> &saved) {
  return burin_rt_state_load(&plan, model.get(), state.data(), state.size(), saved.data(), saved.size());
}

} // namespace burin_test
