#include "op_test.h"
#include <cmath>
#include <limits>

using namespace burin;
using namespace burin::laws;

static OpGraph lookUp() {
  Graph g("op");
  Tensor ids = g.ids("ids", g.time("time", {.max = 4}));
  g.output("y", embedding(ids, parameter(g, "table", {3, 2}, Init::normal)));
  return OpGraph("embedding", std::move(g), {{"table", {0, 1, 10, 11, 20, 21}}});
}

static InputValues ids(std::vector<int32_t> values) { return InputValues(std::move(values)); }

TEST(embedding, is_the_row_of_each_id) {
  OpGraph op = lookUp();
  const Rows rows = {{20, 21}, {0, 1}, {20, 21}, {10, 11}};
  op.expect({4}, {ids({2, 0, 2, 1})}, {rows}, 0);
  op.expectSteps(4, {ids({2, 0, 2, 1})}, {rows}, 0);
}

// Ids that no table has, in the first place, in the last, alone (lattice#1083): a status, and nothing is written.
TEST(embedding, of_an_id_that_is_not_in_the_table_is_a_status) {
  OpGraph op = lookUp();
  for (int32_t bad : {-1, 3, std::numeric_limits<int32_t>::max(), std::numeric_limits<int32_t>::min()})
    for (std::vector<int32_t> values : {std::vector<int32_t>{bad}, {bad, 0, 1}, {0, 1, bad}})
      for (auto &[target, model] : op.models()) {
        Sequence sequence{{int64_t(values.size())}, {ids(values)}}, good{{1}, {ids({1})}};
        ForwardCall one(*model, sequence), batch(*model, {good, sequence});
        for (auto [call, status] : {std::pair(&one, one.run()), std::pair(&batch, batch.runBatch())}) {
          EXPECT_EQ(status, BURIN_BAD_ID) << target->name.str() << " id " << bad << "\nrerun: " << rerunCommand();
          for (const Outputs &outputs : call->results())
            for (float value : outputs[0])
              EXPECT_TRUE(std::isnan(value)); // as it was before the call
        }
      }
}

TEST(embedding, of_a_bad_id_leaves_a_stream_as_it_was) {
  OpGraph op = lookUp();
  for (auto &[target, model] : op.models()) {
    Sequence sequence{{3}, {ids({1, -1, 2})}};
    Stream stream(*model, 3);
    stream.step(sequence, 0);
    stream.feed(sequence, 1);
    EXPECT_EQ(stream.step(), BURIN_BAD_ID) << target->name.str() << "\nrerun: " << rerunCommand();
    stream.feed(sequence, 0, 3);
    EXPECT_EQ(stream.advance(3), BURIN_BAD_ID);
    EXPECT_EQ(stream.position(), 1);
    EXPECT_EQ(stream.step(sequence, 2)[0], (std::vector<float>{20, 21}));
  }
}

// One input, two tables: the smaller counts.
TEST(embedding, in_two_tables_takes_what_both_have) {
  Graph g("op");
  Tensor ids_ = g.ids("ids", g.time("time", {.max = 4}));
  g.output("y", add(embedding(ids_, parameter(g, "a", {5, 2}, Init::normal)),
                    embedding(ids_, parameter(g, "b", {3, 2}, Init::normal))));
  OpGraph op("embedding", std::move(g));
  for (auto &[target, model] : op.models()) {
    EXPECT_EQ(model->plan().forward->inputs[0].limit, 3);
    EXPECT_EQ(ForwardCall(*model, Sequence{{1}, {ids({3})}}).run(), BURIN_BAD_ID);
    EXPECT_EQ(ForwardCall(*model, Sequence{{1}, {ids({2})}}).run(), BURIN_OK);
  }
}

TEST(embedding, refuses_ids_or_a_table_of_another_shape) {
  EXPECT_EQ(errorsOf("%y = encoder.embedding %pairs_of_ids, %w5x3 : !pairs_of_ids, tensor<5x3xf32>"),
            "embedding: the ids have shape [time <= 6, 2], expected [rows, 1]");
  EXPECT_EQ(errorsOf("%y = encoder.embedding %ids, %w3 : !ids, tensor<3xf32>"),
            "embedding: the table has shape [3], expected [vocabulary, features]");
}
