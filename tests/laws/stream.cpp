#include "stream.h"
#include <cstring>
#include <stdexcept>

namespace burin::laws {

constexpr size_t blockAlignment = 64, rowAlignment = 4; // of state and scratch, of inputs and outputs: burin.h

static size_t scratchBytes(const OpenedModel &model, int64_t rows) {
  const burin_plan &plan = model.plan();
  std::vector<int64_t> lengths;
  for (int axis = 0; axis < plan.axis_count; ++axis)
    lengths.push_back(std::min(rows, plan.axes[axis].maximum));
  return model.loaded().scratchBytes(lengths.data(), 1);
}

/// Elements for each row of its stream.
static int64_t elementsOf(const burin_plan_tensor &tensor) { return tensor.rows_each * tensor.columns; }

Stream::Stream(const OpenedModel &model, int64_t most, Placement placement, int64_t scratchRows)
    : model_(model), most_(most), state_("state", size_t(model.plan().state_bytes), blockAlignment, placement),
      scratch_("scratch", scratchBytes(model, scratchRows ? scratchRows : most), blockAlignment, placement) {
  const burin_plan &plan = model.plan();
  auto reserve = [&](const char *what, const burin_plan_tensor &tensor) {
    return Buffer(std::string(what) + tensor.name, most * elementsOf(tensor) * sizeof(float), rowAlignment, placement);
  };
  for (int stream = 0; stream < plan.stream_count; ++stream) {
    const burin_plan_entry &entry = *plan.streams[stream].one;
    Rows rows;
    for (int i = 0; i < entry.input_count; ++i) {
      rows.inputs.push_back(reserve("input ", entry.inputs[i]));
      rows.pointers.push_back(rows.inputs.back().as());
    }
    rows_.push_back(std::move(rows));
  }
  const burin_plan_entry &entry = *plan.streams[0].one;
  for (int i = 0; i < entry.output_count; ++i) {
    outputs_.push_back(reserve("output ", entry.outputs[i]));
    outputPointers_.push_back(outputs_.back().as());
  }
  require("reset", reset());
}

Stream::Stream(const Stream &other, int64_t most) : Stream(other.model_, most) {
  std::memcpy(state_.as(), other.state_.as(), state_.bytes());
}

burin_status Stream::reset(int64_t position) { return model_.calls().reset(state_.as(), state_.bytes(), position); }

void Stream::feed(const Sequence &sequence, int64_t first, int64_t count, int stream) {
  if (count > most_)
    throw std::runtime_error("a test feeds more rows than its stream has memory for");
  const burin_plan_entry &entry = *model_.plan().streams[stream].one;
  const std::vector<EntryTensor> &given = model_.graph().signature().inputs;
  for (int i = 0; i < entry.input_count; ++i) {
    const burin_plan_tensor &tensor = entry.inputs[i];
    auto place = llvm::find_if(given, [&](const EntryTensor &input) { return input.name == tensor.name; });
    const InputValues &input = sequence.inputs[place - given.begin()];
    const Buffer &to = rows_[stream].inputs[i];
    if (tensor.type == BURIN_I32)
      std::copy_n(input.ids.data() + first * tensor.columns, count * tensor.columns, to.as<int32_t>());
    else
      std::copy_n(input.floats.data() + first * tensor.columns, count * tensor.columns, to.as<float>());
  }
}

bool Stream::hasRoom(int stream) const {
  const burin_plan_stream &its = model_.plan().streams[stream];
  return (its.capacity < 0 || position(stream) < its.capacity) &&
         (its.position_end < 0 || position(stream) < its.position_end);
}

burin_status Stream::step() {
  return model_.calls().step(state_.as(), scratch_.as(), scratch_.bytes(), rows_[0].pointers.data(),
                             outputPointers_.data());
}

burin_status Stream::advance(int64_t count, int stream) {
  return model_.calls().advance(stream, state_.as(), scratch_.as(), scratch_.bytes(), count,
                                rows_[stream].pointers.data(), outputPointers_.data());
}

Outputs Stream::results(int64_t count) const {
  Outputs results;
  const burin_plan_entry &entry = *model_.plan().streams[0].one;
  for (int i = 0; i < entry.output_count; ++i)
    results.emplace_back(outputs_[i].as<float>(), outputs_[i].as<float>() + count * elementsOf(entry.outputs[i]));
  return results;
}

std::vector<const Buffer *> Stream::buffers() const {
  std::vector<const Buffer *> all{&state_, &scratch_};
  for (const Rows &rows : rows_)
    for (const Buffer &buffer : rows.inputs)
      all.push_back(&buffer);
  for (const Buffer &buffer : outputs_)
    all.push_back(&buffer);
  return all;
}

std::string Stream::stateBytes() const {
  if (model_.plan().device)
    save(); // brings what the device has of it to the state's own memory
  return std::string(state_.as<char>(), state_.bytes());
}

Outputs Stream::step(const Sequence &sequence, int64_t row) {
  feed(sequence, row);
  require("step", step());
  return results();
}

Outputs Stream::advance(const Sequence &sequence, int64_t first, int64_t count) {
  feed(sequence, first, count);
  require("advance", advance(count));
  return results(count);
}

void Stream::append(int stream, const Sequence &sequence, int64_t first, int64_t count) {
  for (int64_t done = 0, rows; done < count; done += rows) {
    rows = std::min(most_, count - done);
    feed(sequence, first + done, rows, stream);
    require(std::string("append_") + model_.plan().streams[stream].name, advance(rows, stream));
  }
}

void Stream::appendContexts(const Sequence &sequence) {
  for (int stream = 1; stream < model_.plan().stream_count; ++stream)
    append(stream, sequence, 0, sequence.rows[model_.axisOf(stream)]);
}

burin_status Stream::read(const std::string &name, std::vector<float> &values, int64_t &rows) const {
  return model_.calls().stateRead(state_.as(), name.c_str(), values.data(), values.size(), &rows);
}

std::vector<float> Stream::read(const std::string &name) const {
  const burin_plan &plan = model_.plan();
  for (int i = 0; i < plan.state_value_count; ++i) {
    if (name != plan.state_values[i].name)
      continue;
    std::vector<float> values(plan.state_values[i].rows * plan.state_values[i].features);
    int64_t rows = 0;
    require("state_read", read(name, values, rows));
    values.resize(rows * plan.state_values[i].features);
    return values;
  }
  throw std::runtime_error("the state has no value " + name);
}

burin_status Stream::save(std::vector<char> &saved, size_t &bytes) const {
  return model_.calls().stateSave(state_.as(), saved.data(), saved.size(), &bytes);
}

std::vector<char> Stream::save() const {
  std::vector<char> saved;
  size_t bytes = 0;
  require("state_save", save(saved, bytes));
  saved.resize(bytes);
  require("state_save", save(saved, bytes));
  return saved;
}

burin_status Stream::load(llvm::ArrayRef<char> saved) {
  return model_.calls().stateLoad(state_.as(), state_.bytes(), saved.data(), saved.size());
}

} // namespace burin::laws
