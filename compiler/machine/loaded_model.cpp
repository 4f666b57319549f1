#include "machine/loaded_model.h"
#include "emit/installation.h"
#include "machine/emulated_model.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include <dlfcn.h>

namespace burin {

namespace {

class CallsHere : public ModelCalls {
public:
  CallsHere(const burin_plan *plan, burin_model *model) : plan_(plan), model_(model) {}
  ~CallsHere() override { burin_rt_close(model_); }

  llvm::StringRef target() const override { return burin_model_isa(model_); }
  burin_status forward(void *scratch, size_t scratchBytes, const int64_t *rows, const void *const *inputs,
                       void *const *outputs) const override {
    return burin_rt_forward(plan_, model_, scratch, scratchBytes, rows, inputs, outputs);
  }
  burin_status forwardBatch(void *scratch, size_t scratchBytes, int64_t sequences, const int64_t *const *offsets,
                            const void *const *inputs, void *const *outputs) const override {
    return burin_rt_forward_batch(plan_, model_, scratch, scratchBytes, sequences, offsets, inputs, outputs);
  }
  burin_status reset(void *state, size_t stateBytes, int64_t position) const override {
    return burin_rt_reset(plan_, model_, state, stateBytes, position);
  }
  burin_status step(void *state, void *scratch, size_t scratchBytes, const void *const *inputs,
                    void *const *outputs) const override {
    return burin_rt_step(plan_, model_, state, scratch, scratchBytes, inputs, outputs);
  }
  burin_status advance(int32_t stream, void *state, void *scratch, size_t scratchBytes, int64_t count,
                       const void *const *inputs, void *const *outputs) const override {
    return burin_rt_advance(plan_, model_, stream, state, scratch, scratchBytes, count, inputs, outputs);
  }
  burin_status stateRead(const void *state, const char *name, float *values, size_t capacity,
                         int64_t *rows) const override {
    return burin_rt_state_read(plan_, model_, state, name, values, capacity, rows);
  }
  burin_status stateSave(const void *state, void *saved, size_t capacity, size_t *bytes) const override {
    return burin_rt_state_save(plan_, model_, state, saved, capacity, bytes);
  }
  burin_status stateLoad(void *state, size_t stateBytes, const void *saved, size_t bytes) const override {
    return burin_rt_state_load(plan_, model_, state, stateBytes, saved, bytes);
  }

private:
  const burin_plan *plan_;
  burin_model *model_;
};

/// The model's shared library, and the tool's own runtime.
class ModelHere : public LoadedModel {
public:
  static llvm::Expected<std::unique_ptr<LoadedModel>> load(const CompileResult &compiled) {
    auto model = std::make_unique<ModelHere>();
    model->name_ = compiled.plan.name;
    model->library_ = dlopen(compiled.sharedLibraryPath.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!model->library_)
      return llvm::createStringError(std::string("the compiled model cannot be loaded: ") + dlerror());
    auto planFunction = reinterpret_cast<const burin_plan *(*)()>(model->entryPoint("plan"));
    if (!planFunction)
      return llvm::createStringError("the compiled model has no " + model->name_ + "_plan");
    const burin_plan *plan = planFunction();
    if (plan->version != BURIN_PLAN_VERSION)
      return llvm::createStringError("the compiled model has plan version " + llvm::Twine(plan->version) +
                                     ", expected " + llvm::Twine(BURIN_PLAN_VERSION));
    model->plan_ = *plan;
    return model;
  }
  ~ModelHere() override {
    if (library_)
      dlclose(library_);
  }

  const burin_plan &plan() const override { return plan_; }
  size_t scratchBytes(const int64_t *rows, int64_t sequences) const override {
    return burin_rt_scratch_bytes(&plan_, rows, sequences);
  }
  std::unique_ptr<ModelCalls> open(const burin_open_options &options, burin_status &status) const override {
    burin_model *model = nullptr;
    status = burin_rt_open(&plan_, &options, &model);
    return status == BURIN_OK ? std::make_unique<CallsHere>(&plan_, model) : nullptr;
  }
  void setGrain(ParallelGrain grain) override {
    plan_.worker_work = grain.workerWork;
    plan_.entry_work = grain.entryWork;
  }
  void *entryPoint(const std::string &name) const override { return dlsym(library_, (name_ + "_" + name).c_str()); }

private:
  std::string name_;
  void *library_ = nullptr;
  burin_plan plan_ = {}; // a copy of the first, whose tables are the library's
};

} // namespace

bool isInThisProcess(const Target &target) { return runsHere(target); }

std::string whyNotRunnable(const Target &target) {
  if (runsHere(target))
    return "";
  std::string problem = ("target '" + target.name + "' does not run on this machine").str();
  if (sharesArchitecture(target) || target.runner.empty())
    return problem;
  for (llvm::StringRef command : {target.runner, target.programLinker})
    if (llvm::StringRef program = command.split(' ').first; findRunnerProgram(program).empty())
      return problem + " without '" + program.str() +
             "', which is not installed; it comes with: " + llvm::join(llvm::split(target.packages, ' '), ", ");
  for (const std::string &file : {runtimeArchive(target), modelServerObject(target)})
    if (!llvm::sys::fs::exists(file))
      return problem + " without " + file +
             ", which this build lacks: the target's compiler was not installed when it was configured";
  return "";
}

llvm::Expected<std::unique_ptr<LoadedModel>> LoadedModel::load(const CompileResult &compiled) {
  // Of several targets in one object, opening takes one that runs.
  const Target &preferred = *compiled.plan.target;
  if (isInThisProcess(preferred) ||
      llvm::any_of(compiled.fallbacks, [](const ModelPlan &plan) { return isInThisProcess(*plan.target); }))
    return ModelHere::load(compiled);
  if (std::string why = whyNotRunnable(preferred); !why.empty())
    return llvm::createStringError(why);
  return loadEmulated(compiled);
}

} // namespace burin
