#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// What a gate becomes: gate_test.cpp has its values.

TEST(gated_add, refuses_what_is_not_rows) {
  EXPECT_EQ(errorsOf("%y = encoder.gated_add %w3, %signal above 0.5, %w3 : tensor<3xf32>, !signal, tensor<3xf32>"),
            "gated_add: x has shape [3], expected [rows, features]");
}

TEST(gated_add, refuses_signals_that_are_not_one_for_each_row) {
  EXPECT_EQ(errorsOf("%y = encoder.gated_add %x3, %signal above 0.5, %x3 : !x3, !signal, !x3"), "");
  EXPECT_EQ(errorsOf("%y = encoder.gated_add %x3, %x4 above 0.5, %x3 : !x3, !x4, !x3"),
            "gated_add: the signal has shape [time <= 6, 4], expected [time <= 6, 1]");
}

TEST(gated_add, refuses_unequal_shapes) {
  EXPECT_EQ(errorsOf("%y = encoder.gated_add %x3, %signal above 0.5, %x4 : !x3, !signal, !x4"),
            "gated_add: x has shape [time <= 6, 3], the update has shape [time <= 6, 4]; expected equal shapes");
}
