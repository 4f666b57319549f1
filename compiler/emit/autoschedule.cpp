// An autoscheduler wants an estimate of every extent and scalar: what is constant is taken from the buffers, everything
// else counts rows, but for weights, which are one long vector.
#include "emit/autoschedule.h"
#include "llvm/ADT/StringRef.h"
#include <dlfcn.h>

using namespace Halide;

namespace burin {

llvm::ArrayRef<const char *> cpuAutoschedulers() {
  static const char *const names[] = {"Mullapudi2016", "Adams2019"};
  return names;
}

llvm::ArrayRef<const char *> gpuAutoschedulers() {
  static const char *const names[] = {"Li2018", "Anderson2021"};
  return names;
}

namespace {

constexpr int weightsEstimate = 1 << 20;

/// Sets the estimates of the inputs of all functions that it visits.
class EstimateInputs : public Internal::IRVisitor {
public:
  explicit EstimateInputs(int rows) : rows_(rows) {}

  void estimate(Halide::Parameter parameter) {
    if (!parameter.defined())
      return;
    if (!parameter.is_buffer()) {
      parameter.set_estimate(Internal::make_const(parameter.type(), rows_));
      return;
    }
    for (int d = 0; d < parameter.dimensions(); ++d) {
      Expr known = parameter.extent_constraint(d);
      auto constant = known.defined() ? Internal::as_const_int(known) : std::nullopt;
      parameter.set_min_constraint_estimate(d, 0);
      parameter.set_extent_constraint_estimate(
          d, constant ? Expr(int(*constant)) : Expr(parameter.dimensions() == 1 ? weightsEstimate : rows_));
    }
  }

private:
  using IRVisitor::visit;
  void visit(const Internal::Call *call) override {
    estimate(call->param);
    IRVisitor::visit(call);
  }
  void visit(const Internal::Variable *variable) override { estimate(variable->param); }

  int rows_;
};

/// The plugin lies beside Halide itself.
std::string pluginOf(const std::string &name) {
  Dl_info info = {};
  dladdr(reinterpret_cast<void *>(&load_plugin), &info);
  std::string folder = info.dli_fname ? llvm::StringRef(info.dli_fname).rsplit('/').first.str() + "/" : "";
  return folder + "libautoschedule_" + llvm::StringRef(name).lower() + ".so";
}

} // namespace

void autoschedule(Pipeline pipeline, const Target &target, const std::string &name, int64_t rows) {
  load_plugin(pluginOf(name));
  EstimateInputs inputs{int(rows)};
  std::vector<Internal::Function> outputs;
  for (Func output : pipeline.outputs()) {
    outputs.push_back(output.function());
    Halide::Parameter buffer = output.output_buffer().parameter();
    inputs.estimate(buffer);
    for (int d = 0; d < output.dimensions(); ++d)
      output.set_estimate(output.args()[size_t(d)], buffer.min_constraint_estimate(d),
                          buffer.extent_constraint_estimate(d));
  }
  for (auto &[function, its] : Internal::build_environment(outputs))
    its.accept(&inputs);
  // Of a processor one thread; of a GPU the multiprocessors, as many as an A100 has.
  const char *parallelism = target.has_gpu_feature() ? "108" : "1";
  pipeline.apply_autoscheduler(target, AutoschedulerParams(name, {{"parallelism", parallelism}}));
}

} // namespace burin
