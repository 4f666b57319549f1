#include "mistake.h"

namespace burin {

TEST_P(DslMistake, IsSaidOnceAtItsLine) {
  Graph g("model");
  int line = GetParam().declare(g);
  std::vector<GraphError> errors = g.errors();
  // A row's graph never comes to an output.
  std::erase_if(errors, [](const GraphError &error) { return error.message == "graph: 'model' has no output"; });
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].file, GetParam().table.file_name());
  EXPECT_EQ(errors[0].line, line);
  EXPECT_EQ(errors[0].message, GetParam().message);
  EXPECT_EQ(errors[0].note, GetParam().note);
}

} // namespace burin
