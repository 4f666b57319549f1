#include "op_test.h"

using namespace burin;
using namespace burin::laws;

// It has no kernel, and users do not write it: dense_test.cpp has the values of what is merged.

TEST(concatenate, refuses_no_parts) {
  EXPECT_EQ(errorsOf("%y = \"encoder.concatenate\"() {axis = 0 : i64} : () -> tensor<3xf32>"),
            "concatenate: expected at least one part\n'encoder.concatenate' op failed to infer returned types");
}

TEST(concatenate, refuses_an_axis_that_is_not_there) {
  EXPECT_EQ(errorsOf("%y = encoder.concatenate %w3, %w4 axis 1 : tensor<3xf32>, tensor<4xf32>"),
            "concatenate: axis 1 of parts with 1 dimensions");
  EXPECT_EQ(errorsOf("%y = encoder.concatenate %w3, %w4 axis -1 : tensor<3xf32>, tensor<4xf32>"),
            "concatenate: axis -1 of parts with 1 dimensions");
}

TEST(concatenate, refuses_parts_that_do_not_join) {
  EXPECT_EQ(errorsOf("%y = encoder.concatenate %w4x3, %w3x4 axis 0 : tensor<4x3xf32>, tensor<3x4xf32>"),
            "concatenate: a part has shape [3, 4], which does not join [4, 3] along axis 0");
  EXPECT_EQ(errorsOf("%y = encoder.concatenate %w3x4, %w3 axis 0 : tensor<3x4xf32>, tensor<3xf32>"),
            "concatenate: a part has shape [3], which does not join [3, 4] along axis 0");
  EXPECT_EQ(errorsOf("%y = encoder.concatenate %w4x3, %w5x3 axis 0 : tensor<4x3xf32>, tensor<5x3xf32>"), "");
}
