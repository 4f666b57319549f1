// The numbers of the page that defines this project, from compiled models: attention, blocks, positions, encoders.
//
//     build/bin/attention_page WEIGHTS_FOLDER
//
// Every section opens a model, calls it, and compares. Stated values are the page's own; where it states none, they
// come from golden cases, which an independent library computed in double precision (tests/golden; unpacked to the
// headers
// `*_case.h` while building).
#include "page.h"

// What was compiled from graphs.cpp.
#include "page_add_positions.h"
#include "page_block.h"
#include "page_block_causal.h"
#include "page_encoder.h"
#include "page_encoder_causal.h"
#include "page_learned.h"
#include "page_learned_large.h"
#include "page_mhsa.h"
#include "page_mhsa_causal.h"
#include "page_sdpa.h"
#include "page_sinusoids.h"

// The tables inside a model. Programs do without; here they answer how many parameters a model has, and of which shape.
#include "burin_plan.h"

// Inputs and expected values.
#include "block_page_case.h"
#include "encoder_causal_deep_case.h"
#include "encoder_page_case.h"
#include "learned_positions_case.h"
#include "mhsa_causal_page_case.h"
#include "mhsa_page_case.h"

namespace page {
namespace {

std::string weightsFolder;

std::string weights(const std::string &name) { return weightsFolder + "/" + name + "_weights.safetensors"; }

void scaledDotProductAttention(Report &report) {
  report.section("scaled_dot_product_attention: query [1, 0], keys [1, 0] and [0, 1], values 10 and 20");
  Model model(page_sdpa_open, page_sdpa_close);
  Memory scratch(page_sdpa_scratch_bytes(1, 2));
  const float q[1][2] = {{1, 0}}, k[2][2] = {{1, 0}, {0, 1}};

  auto attend = [&](float v0, float v1) {
    const float v[2] = {v0, v1};
    float y;
    require(page_sdpa_forward(model, scratch, scratch.bytes(), 1, 2, q[0], k[0], v, &y));
    return y;
  };
  // The output is the weighted sum of the values: a value of 1 among zeros shows its own weight.
  report.number("weight of the first key", attend(1, 0), 0.6698);
  report.number("weight of the second key", attend(0, 1), 0.3302);
  report.number("output", attend(10, 20), 13.3024);
}

void multiHeadSelfAttention(Report &report) {
  report.section("multi_head_self_attention: d_model 8, 2 heads");
  Model model(page_mhsa_open, page_mhsa_close, weights("mhsa_page"));
  Memory scratch(page_mhsa_scratch_bytes(4));
  report.count("parameters (no biases)", page_mhsa_plan()->parameter_count, 4);

  static_assert(PAGE_MHSA_X_FEATURES == 8 && PAGE_MHSA_Y_FEATURES == 8);
  const auto &x = mhsa_page_in_x;
  float y[4][8];
  require(page_mhsa_forward(model, scratch, scratch.bytes(), 4, x[0], y[0]));
  report.equal("(4, 8) to (4, 8), as the golden case", y[0], mhsa_page_out_y[0], 4 * 8);

  // Without positions, attention does not know the order of its rows.
  const int order[4] = {2, 0, 3, 1};
  float permuted_x[4][8], permuted_y[4][8], expected[4][8];
  for (int row = 0; row < 4; ++row) {
    std::copy_n(x[order[row]], 8, permuted_x[row]);
    std::copy_n(y[order[row]], 8, expected[row]);
  }
  require(page_mhsa_forward(model, scratch, scratch.bytes(), 4, permuted_x[0], permuted_y[0]));
  report.equal("permuting the rows permutes the outputs", permuted_y[0], expected[0], 4 * 8, 1e-5);
}

void causalSelfAttention(Report &report) {
  report.section("the same, causal: sample by sample with step");
  Model model(page_mhsa_causal_open, page_mhsa_causal_close, weights("mhsa_causal_page"));
  Memory scratch(page_mhsa_causal_scratch_bytes(5)), state(page_mhsa_causal_state_bytes());
  const auto &x = mhsa_causal_page_in_x;
  float forward[5][8], step[5][8], keys[5][8], values[5][8];
  require(page_mhsa_causal_forward(model, scratch, scratch.bytes(), 5, x[0], forward[0]));
  report.equal("forward, as the golden case", forward[0], mhsa_causal_page_out_y[0], 5 * 8);

  int64_t keyRows = 0, valueRows = 0;
  auto readCaches = [&] {
    require(page_mhsa_causal_state_read(model, state, "k_cache", keys[0], 5 * 8, &keyRows));
    require(page_mhsa_causal_state_read(model, state, "v_cache", values[0], 5 * 8, &valueRows));
  };
  require(page_mhsa_causal_reset(model, state, state.bytes()));
  readCaches();
  report.fact("a fresh state is empty", burin_state_position(state) == 0 && keyRows == 0 && valueRows == 0);
  bool grows = true;
  for (int t = 0; t < 5; ++t) {
    require(page_mhsa_causal_step(model, state, scratch, scratch.bytes(), x[t], step[t]));
    readCaches();
    grows &= keyRows == t + 1 && valueRows == t + 1;
  }
  report.fact("each step adds one row to keys and values", grows);
  report.equal("5 samples through step equal forward", step[0], forward[0], 5 * 8, 1e-5);
  report.equal("the cached keys, as the golden case", keys[0], mhsa_causal_page_out_k_cache[0], 5 * 8);
  report.equal("the cached values, as the golden case", values[0], mhsa_causal_page_out_v_cache[0], 5 * 8);

  // The state is full now. The call says so and changes nothing.
  float unused[8];
  report.fact("a step past the capacity is a status",
              page_mhsa_causal_step(model, state, scratch, scratch.bytes(), x[0], unused) == BURIN_STATE_FULL);
}

void transformerBlock(Report &report) {
  report.section("transformer_block: d_model 8, 2 heads, d_ff 16, dropout 0.1");
  report.count("parameters", page_block_plan()->parameter_count, 12);
  Memory scratch(page_block_scratch_bytes(4));
  const auto &x = block_page_in_x;
  float z[4][8];
  {
    Model model(page_block_open, page_block_close, weights("block_page"));
    require(page_block_forward(model, scratch, scratch.bytes(), 4, x[0], z[0]));
    // The golden block has no dropout: it is for training, and inference leaves it out.
    report.equal("as the golden case, which has no dropout", z[0], block_page_out_y[0], 4 * 8);
  }

  // A block ends in a layer norm. Fresh weights have gamma 1 and beta 0, so its rows are seen as the norm leaves them.
  Model fresh(page_block_open, page_block_close, weights("fresh_block"));
  require(page_block_forward(fresh, scratch, scratch.bytes(), 4, x[0], z[0]));
  double means[4], deviations[4];
  for (int row = 0; row < 4; ++row) {
    double sum = 0, squares = 0;
    for (float value : z[row])
      sum += value;
    means[row] = sum / 8;
    for (float value : z[row])
      squares += (value - means[row]) * (value - means[row]);
    deviations[row] = std::sqrt(squares / 8);
  }
  const double zeros[4] = {0, 0, 0, 0}, ones[4] = {1, 1, 1, 1};
  report.equal("every position leaves with mean 0", means, zeros, 4);
  report.equal("and standard deviation 1", deviations, ones, 4);
}

void causalBlock(Report &report) {
  report.section("the same, causal: reset and step");
  // A causal block has the same parameters, so one weights file serves both.
  Model model(page_block_causal_open, page_block_causal_close, weights("block_page"));
  Memory scratch(page_block_causal_scratch_bytes(4)), state(page_block_causal_state_bytes());
  const auto &x = block_page_in_x;
  float forward[4][8], step[4][8], again[4][8];
  require(page_block_causal_forward(model, scratch, scratch.bytes(), 4, x[0], forward[0]));
  auto stepAll = [&](float(&z)[4][8]) {
    require(page_block_causal_reset(model, state, state.bytes()));
    for (int t = 0; t < 4; ++t)
      require(page_block_causal_step(model, state, scratch, scratch.bytes(), x[t], z[t]));
  };
  stepAll(step);
  report.equal("4 samples through step equal forward", step[0], forward[0], 4 * 8, 1e-5);
  stepAll(again);
  report.equal("after a reset, the same bits again", again[0], step[0], 4 * 8, 0);
}

void sinusoidalPositions(Report &report) {
  report.section("sinusoidal_positions: (4, 4), and add_positions");
  Model model(page_sinusoids_open, page_sinusoids_close);
  Memory scratch(page_sinusoids_scratch_bytes(4));
  float positions[4][4];
  require(page_sinusoids_forward(model, scratch, scratch.bytes(), 4, positions[0]));
  const double stated[4] = {0.8415, 0.5403, 0.01, 0.9999};
  for (int feature = 0; feature < 4; ++feature)
    report.number("row 1, feature " + std::to_string(feature), positions[1][feature], stated[feature]);

  Model adds(page_add_positions_open, page_add_positions_close);
  Memory addScratch(page_add_positions_scratch_bytes(16));
  float x[17][4] = {}, y[17][4];
  report.count("add_positions: parameters", page_add_positions_plan()->parameter_count, 0);
  require(page_add_positions_forward(adds, addScratch, addScratch.bytes(), 4, x[0], y[0]));
  report.equal("add_positions: zeros in, the positions out", y[0], positions[0], 4 * 4, 1e-6);
  // max_len is 16. That a graph may not allow more is an error below; that a call has more is a status.
  report.fact("add_positions: 17 rows are refused", page_add_positions_forward(adds, addScratch, addScratch.bytes(), 17,
                                                                               x[0], y[0]) == BURIN_TIME_OUT_OF_RANGE);
}

void learnedPositions(Report &report) {
  report.section("learned_positions: a trained table, added");
  const burin_plan_parameter &table = page_learned_plan()->parameters[0];
  report.fact("one parameter, the table: (max_len 4, d_model 3)",
              page_learned_plan()->parameter_count == 1 && table.shape[0] == 4 && table.shape[1] == 3);
  Model model(page_learned_open, page_learned_close, weights("learned_positions"));
  Memory scratch(page_learned_scratch_bytes(4));
  const float zeros[2][3] = {};
  float y[2][3];
  require(page_learned_forward(model, scratch, scratch.bytes(), 2, zeros[0], y[0]));
  report.equal("zeros in, exactly the first rows out", y[0], learned_positions_param_P[0], 2 * 3, 0);
  require(page_learned_forward(model, scratch, scratch.bytes(), 2, learned_positions_in_x[0], y[0]));
  report.equal("other rows in, as the golden case", y[0], learned_positions_out_y[0], 2 * 3);

  // Zeros through a fresh table of 128 × 64 give the values that `init` drew.
  Model fresh(page_learned_large_open, page_learned_large_close, weights("fresh_learned_large"));
  Memory largeScratch(page_learned_large_scratch_bytes(128));
  static float x[128 * 64], drawn[128 * 64];
  require(page_learned_large_forward(fresh, largeScratch, largeScratch.bytes(), 128, x, drawn));
  double sum = 0, squares = 0;
  for (float value : drawn) {
    sum += value;
    squares += double(value) * value;
  }
  double mean = sum / (128 * 64);
  report.number("a fresh table of 8192 values: mean (within 0.001)", mean, 0, 1e-3);
  report.number("and standard deviation (within 0.001)", std::sqrt(squares / (128 * 64) - mean * mean), 0.02, 1e-3);
}

void transformerEncoder(Report &report) {
  report.section("transformer_encoder: n_in 4, d_model 8, 2 heads, d_ff 16, depth 1, n_out 3, max_len 16");
  Model model(page_encoder_open, page_encoder_close, weights("encoder_page"));
  Memory scratch(page_encoder_scratch_bytes(5));
  static_assert(PAGE_ENCODER_X_FEATURES == 4 && PAGE_ENCODER_Y_FEATURES == 3);
  float y[3];
  require(page_encoder_forward(model, scratch, scratch.bytes(), 5, encoder_page_in_x[0], y));
  report.equal("(5, 4) to (3,), as the golden case", y, encoder_page_out_y, 3);
  report.fact("not causal, so it has no step", page_encoder_plan()->stream_count == 0);
}

void causalEncoder(Report &report) {
  report.section("transformer_encoder, causal: n_in 6, d_model 32, 4 heads, d_ff 64, depth 3, n_out 5, max_len 40");
  Model model(page_encoder_causal_open, page_encoder_causal_close, weights("encoder_causal_deep"));
  Memory scratch(page_encoder_causal_scratch_bytes(40)), state(page_encoder_causal_state_bytes());
  const auto &x = encoder_causal_deep_in_x;
  float y[5], steps[40][5], keys[40 * 32];
  require(page_encoder_causal_forward(model, scratch, scratch.bytes(), 40, x[0], y));
  report.equal("forward, as the golden case", y, encoder_causal_deep_out_y, 5);

  require(page_encoder_causal_reset(model, state, state.bytes()));
  for (int t = 0; t < 40; ++t)
    require(page_encoder_causal_step(model, state, scratch, scratch.bytes(), x[t], steps[t]));
  // Were one block not causal, its past rows would change with every sample, and a step could not know.
  report.equal("after n steps, the golden forward of n samples, n = 1 to 40", steps[0],
               encoder_causal_deep_out_prefixes[0], 40 * 5);
  bool each = true;
  for (const char *name : {"block0.attn.k_cache", "block1.attn.k_cache", "block2.attn.k_cache"}) {
    int64_t rows = 0;
    require(page_encoder_causal_state_read(model, state, name, keys, 40 * 32, &rows));
    each &= rows == 40;
  }
  report.fact("every block is causal: each keeps the keys of its 40 rows", each);
}

} // namespace
} // namespace page

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: attention_page WEIGHTS_FOLDER\n");
    return 2;
  }
  page::weightsFolder = argv[1];
  page::Report report;
  page::scaledDotProductAttention(report);
  page::multiHeadSelfAttention(report);
  page::causalSelfAttention(report);
  page::transformerBlock(report);
  page::causalBlock(report);
  page::sinusoidalPositions(report);
  page::learnedPositions(report);
  page::transformerEncoder(report);
  page::causalEncoder(report);
  page::refusedGraphs(report);
  return report.finish();
}
