// Short names for the pieces of plans written by hand: arguments by kind, and the tensors of an entry.
#pragma once

#include "burin_plan.h"

namespace burin_test {

enum : int32_t { SEQUENCE = BURIN_AXIS_SEQUENCE, ONE = BURIN_AXIS_ONE, NONE = BURIN_AXIS_NONE };

constexpr burin_plan_argument argument(int32_t kind, int32_t index, int32_t type, int32_t axis, int64_t columns,
                                       int64_t offset = 0, int32_t rows_each = 1) {
  return {kind, index, type, axis, NONE, rows_each, 0, 0, columns, offset};
}

constexpr burin_plan_argument context_argument() { return argument(BURIN_ARG_CONTEXT, 0, BURIN_F32, NONE, 0); }
constexpr burin_plan_argument weights_argument(int64_t columns, int64_t offset) {
  return argument(BURIN_ARG_WEIGHTS, 0, BURIN_F32, NONE, columns, offset);
}
constexpr burin_plan_argument input(int32_t index, int32_t axis, int64_t columns, int32_t rows_each = 1) {
  return argument(BURIN_ARG_INPUT, index, BURIN_F32, axis, columns, 0, rows_each);
}
constexpr burin_plan_argument output(int32_t index, int32_t axis, int64_t columns, int32_t rows_each = 1) {
  return argument(BURIN_ARG_OUTPUT, index, BURIN_F32, axis, columns, 0, rows_each);
}
constexpr burin_plan_argument scratch_rows(int32_t axis, int64_t columns, int64_t offset, int32_t rows_each = 1) {
  return argument(BURIN_ARG_SCRATCH, 0, BURIN_F32, axis, columns, offset, rows_each);
}
constexpr burin_plan_argument mask_input(int32_t index, int32_t axis, int32_t column_axis) {
  return {BURIN_ARG_INPUT, index, BURIN_U8, axis, column_axis, 1, 0, 0, 0, 0};
}
constexpr burin_plan_argument positions_argument(int32_t axis) {
  return argument(BURIN_ARG_POSITIONS, 0, BURIN_I64, axis, 1);
}
constexpr burin_plan_argument position_argument(int32_t stream) {
  return argument(BURIN_ARG_POSITION, stream, BURIN_I64, NONE, 0);
}
constexpr burin_plan_argument count_argument(int32_t stream) {
  return argument(BURIN_ARG_COUNT, stream, BURIN_I64, NONE, 0);
}
constexpr burin_plan_argument storage(int32_t type, int64_t elements, int64_t offset) {
  return argument(BURIN_ARG_STATE, 0, type, NONE, elements, offset);
}
constexpr burin_plan_argument state_row(int32_t stream, int32_t tile, int32_t ring, int64_t columns, int64_t offset) {
  return {BURIN_ARG_STATE_ROW, stream, BURIN_F32, NONE, NONE, 1, tile, ring, columns, offset};
}

constexpr burin_plan_tensor tensor(const char *name, int32_t axis, int64_t columns, int32_t rows_each = 1) {
  return {name, BURIN_F32, axis, NONE, 0, rows_each, columns};
}
constexpr burin_plan_tensor mask_tensor(const char *name, int32_t axis, int32_t column_axis) {
  return {name, BURIN_U8, axis, column_axis, 0, 1, 0};
}

template <int arguments>
constexpr burin_plan_call call(int (*kernel)(void **), const char *name,
                               const burin_plan_argument (&described)[arguments], int32_t per_sequence = 0,
                               int32_t guard = -1) {
  return {kernel, name, described, arguments, per_sequence, guard};
}

// The rest of an entry, such as what it takes of scratch, is set by its maker.
template <int calls, int inputs, int outputs>
constexpr burin_plan_entry entry(const burin_plan_call (&called)[calls], const burin_plan_tensor (&taken)[inputs],
                                 const burin_plan_tensor (&given)[outputs]) {
  return {called, taken, given, nullptr, calls, inputs, outputs, 0, 0, {}, 0};
}

} // namespace burin_test
