// The inspection for people: a page, most important things first.
#include "tools/inspection.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using Json = nlohmann::ordered_json;

namespace burin {

namespace {

using llvm::formatv;

/// A number of bytes or operations with three digits that matter: "1.57 M".
std::string amount(double value) {
  const char *units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit)
    value /= 1000;
  return unit ? formatv("{0:F2}{1}", value, units[unit]).str() : formatv("{0:F0}", value).str();
}

std::string text(const Json &value) { return value.get<std::string>(); }

std::string joined(const Json &list, const char *separator) {
  std::string line;
  for (const Json &item : list)
    line += (line.empty() ? "" : separator) + text(item);
  return line;
}

class Page {
public:
  explicit Page(const Json &report) : report_(report), stream_(page_) {}

  std::string print() {
    printHead();
    printGraph();
    printEntry("forward");
    if (report_.contains("step"))
      printEntry("step");
    else
      stream_ << "\nno step: " << text(report_["no_step"]) << "\n";
    printKernels();
    if (report_.contains("step"))
      printState();
    return page_;
  }

private:
  void printHead() {
    stream_ << "model " << text(report_["model"]) << " for " << text(report_["target"]) << "\n";
    for (const Json &axis : report_["time"])
      stream_ << formatv("  {0} <= {1}\n", text(axis["name"]), axis["max"].get<int64_t>());
    for (const char *direction : {"inputs", "outputs"})
      for (const Json &tensor : report_[direction])
        stream_ << formatv("  {0} {1}: {2}\n", llvm::StringRef(direction).drop_back(), text(tensor["name"]),
                           text(tensor["shape"]));
    stream_ << formatv("  {0} parameters, {1} values; packed {2} bytes\n",
                       report_["parameters"]["count"].get<int64_t>(), report_["parameters"]["values"].get<int64_t>(),
                       report_["packed_weights_bytes"].get<int64_t>());
  }

  void printGraph() {
    stream_ << "\ngraph\n";
    for (const Json &op : report_["graph"])
      stream_ << formatv("  {0,-5} {1,-20} {2,-20} {3,-16} {4}\n", text(op["name"]), text(op["op"]), text(op["shape"]),
                         text(op["scope"]), joined(op["operands"], ", "));
  }

  void printEntry(const char *name) {
    const Json &entry = report_[name];
    std::string scratch;
    for (auto &[axis, bytes] : entry["scratch_bytes_per"].items())
      scratch += formatv("{0}{1} bytes per {2}", scratch.empty() ? "" : ", ", bytes.get<int64_t>(), axis).str();
    stream_ << formatv("\n{0}: {1} calls, {2} FLOP at full length; scratch {3}\n", name, entry["calls"].size(),
                       amount(entry["flops"].get<double>()), scratch.empty() ? "none" : scratch);
    for (const Json &call : entry["calls"])
      stream_ << formatv("  {0,-12} {1,-17} {2,9} FLOP  -> {3}\n", text(call["kernel"]),
                         call["per_sequence"].get<bool>() ? "for each sequence" : "once",
                         amount(call["flops"].get<double>()), joined(call["writes"], ", "));
  }

  void printKernels() {
    stream_ << "\nkernels (what each needs of the arena is known when it is compiled)\n";
    for (const Json &kernel : report_["kernels"])
      stream_ << formatv("  {0,-12} {1,-10} {2,3} calls in forward, {3,3} in step: {4}\n", text(kernel["name"]),
                         text(kernel["class"]), kernel["calls_in_forward"].get<int64_t>(),
                         kernel["calls_in_step"].get<int64_t>(), text(kernel["ops"]));
  }

  void printState() {
    stream_ << formatv("\nstate: {0} bytes, of which 64 are its header\n", report_["state"]["bytes"].get<int64_t>());
    for (const Json &value : report_["state"]["values"]) {
      int64_t tile = value["tile"].get<int64_t>();
      stream_ << formatv("  {0,8} {1,-24} {2}[{3},{4}], {5} bytes{6}\n", value["offset"].get<int64_t>(),
                         text(value["name"]), text(value["type"]), value["rows"].get<int64_t>(),
                         value["features"].get<int64_t>(), value["bytes"].get<int64_t>(),
                         tile ? formatv(", {0} rows across lanes", tile).str() : "");
    }
  }

  const Json &report_;
  std::string page_;
  llvm::raw_string_ostream stream_;
};

} // namespace

std::string inspectionText(const Json &report) { return Page(report).print(); }

} // namespace burin
