// The inspection for people: a page, most important things first.
#include "tools/inspection.h"
#include "tools/latency.h"
#include "llvm/ADT/STLExtras.h"
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

/// "scratch time+256", "output y", "state block0.attn.k_cache".
std::string place(const Json &write) {
  std::string to = text(write["to"]);
  return to + " " +
         (to == "scratch" ? text(write["axis"]) + "+" + std::to_string(write["offset"].get<int64_t>())
                          : text(write["name"]));
}

std::string places(const Json &writes) {
  std::string line;
  for (const Json &write : writes)
    line += (line.empty() ? "" : ", ") + place(write);
  return line;
}

/// "dense, relu"; those of a whole's groups in brackets: "(dense, relu), (dense)".
std::string ops(const Json &groups) {
  if (groups.size() == 1)
    return joined(groups[0], ", ");
  std::string line;
  for (const Json &group : groups)
    line += (line.empty() ? "(" : ", (") + joined(group, ", ") + ")";
  return line;
}

class Page {
public:
  explicit Page(const Json &report) : report_(report), stream_(page_) {}

  std::string print() {
    printHead();
    printGraph();
    printStreams();
    for (const Json &entry : report_["entries"])
      printEntry(entry);
    printKernels();
    printThreads();
    if (!report_["streams"].empty())
      printState();
    if (report_.contains("measured"))
      printMeasured();
    return page_;
  }

private:
  void printHead() {
    stream_ << "model " << text(report_["model"]) << " for " << text(report_["target"]) << ", in "
            << text(report_["precision"]) << "\n";
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
      stream_ << formatv("  {0,-5} {1,-20} {2,-20} {3,-16} {4}\n", text(op["name"]),
                         std::string(2 * op["depth"].get<int>(), ' ') + text(op["op"]), text(op["shape"]),
                         text(op["scope"]), joined(op["operands"], ", "));
  }

  void printStreams() {
    if (report_["streams"].empty())
      stream_ << "\nno step: " << text(report_["no_step"]) << "\n";
    else
      stream_ << "\nstreams\n";
    for (const Json &stream : report_["streams"]) {
      std::string name = text(stream["name"]);
      bool isFirst = &stream == &report_["streams"][0];
      stream_ << formatv("  {0}, which {1} takes: ", name, isFirst ? "step" : "append_" + name);
      if (stream["capacity"].is_null())
        stream_ << "no end";
      else
        stream_ << formatv("at most {0} rows after a reset", stream["capacity"].get<int64_t>());
      if (!stream["position_end"].is_null())
        stream_ << formatv(", positions below {0}", stream["position_end"].get<int64_t>());
      stream_ << formatv("; up to {0} at once\n", stream["most_rows_at_once"].get<int64_t>());
    }
  }

  void printEntry(const Json &entry) {
    std::string scratch;
    for (auto &[axis, bytes] : entry["scratch_bytes_per"].items())
      scratch += formatv("{0}{1} bytes per {2}", scratch.empty() ? "" : ", ", bytes.get<int64_t>(), axis).str();
    stream_ << formatv("\n{0}: {1} calls, {2} FLOP at full length; scratch {3}\n", text(entry["name"]),
                       entry["calls"].size(), amount(entry["flops"].get<double>()), scratch.empty() ? "none" : scratch);
    if (!text(entry["choices"]).empty())
      stream_ << "  kernels are formed as a record says: " << text(entry["choices"]) << "\n";
    for (auto [number, guard] : llvm::enumerate(entry["guards"])) {
      stream_ << formatv("  guard {0}: open where some row's signal is above {1}", number, guard["open_above"].dump());
      if (!guard["parent"].is_null())
        stream_ << formatv(" and guard {0} is open", guard["parent"].get<int>());
      stream_ << "\n";
    }
    for (const Json &call : entry["calls"]) {
      std::string when = call["per_sequence"].get<bool>() ? "for each sequence" : "once";
      if (!call["guard"].is_null())
        when += formatv(", guard {0}", call["guard"].get<int>());
      stream_ << formatv("  {0,-12} {1,-26} {2,9} FLOP  -> {3}\n", text(call["kernel"]), when,
                         amount(call["flops"].get<double>()), places(call["writes"]));
    }
  }

  void printKernels() {
    stream_ << "\nkernels (what each needs of the arena is known when it is compiled)\n";
    for (const Json &kernel : report_["kernels"]) {
      std::string calls;
      for (auto &[entry, count] : kernel["calls"].items())
        if (count.get<int64_t>() > 0)
          calls += formatv("{0}{1} in {2}", calls.empty() ? "" : ", ", count.get<int64_t>(), entry).str();
      stream_ << formatv("  {0,-12} {1,-10} {2}; calls: {3}\n", text(kernel["name"]), text(kernel["class"]),
                         ops(kernel["groups"]), calls);
      bool hasRecord = llvm::any_of(kernel["schedules"], [](const Json &schedule) {
        return llvm::StringRef(text(schedule["from"])).starts_with("record");
      });
      for (const Json &schedule : kernel["schedules"])
        if (hasRecord)
          stream_ << formatv("  {0,-12} rows {1}: {2}{3}{4}\n", "", text(schedule["rows"]), text(schedule["from"]),
                             schedule["parameters"].empty() ? "" : ", ", text(schedule["text"]));
    }
  }

  void printThreads() {
    const Json &threads = report_["threads"];
    stream_ << formatv(
        "\nthreads: a worker gets at least {0} FLOP of a call, a forward is split from {1} FLOP on ({2})\n",
        amount(threads["worker_work"].get<double>()), amount(threads["entry_work"].get<double>()),
        text(threads["from"]));
  }

  void printState() {
    stream_ << formatv("\nstate: {0} bytes, of which {1} are its header\n", report_["state"]["bytes"].get<int64_t>(),
                       BURIN_STATE_HEADER_BYTES);
    for (const Json &value : report_["state"]["values"]) {
      int64_t tile = value["tile"].get<int64_t>(), window = value["window"].get<int64_t>();
      stream_ << formatv("  {0,8} {1,-24} {2}[{3},{4}] of {5}, {6} bytes{7}{8}\n", value["offset"].get<int64_t>(),
                         text(value["name"]), text(value["type"]), value["rows"].get<int64_t>(),
                         value["features"].get<int64_t>(), text(value["stream"]), value["bytes"].get<int64_t>(),
                         window ? formatv(", a ring of which the last {0} count", window).str() : "",
                         tile ? formatv(", {0} rows across lanes", tile).str() : "");
    }
  }

  void printMeasured() {
    stream_ << formatv("\nmeasured, one thread; FMA peak {0:F1} GFLOP/s\n",
                       report_["measured"]["fma_peak_gflops"].get<double>());
    for (const Json &entry : report_["measured"]["entries"]) {
      stream_ << formatv("  {0}: {1} median, {2:F1} % of peak\n", text(entry["what"]),
                         duration(entry["median_s"].get<double>()), entry["percent_of_fma_peak"].get<double>());
      for (const Json &kernel : entry["kernels"])
        stream_ << formatv("    {0,-12} {1,11}, {2,5:F1} % of the kernels' time, {3:F1} % of peak\n",
                           text(kernel["kernel"]), duration(kernel["mean_s"].get<double>()),
                           100 * kernel["part"].get<double>(), kernel["percent_of_fma_peak"].get<double>());
    }
  }

  const Json &report_;
  std::string page_;
  llvm::raw_string_ostream stream_;
};

} // namespace

std::string inspectionText(const Json &report) { return Page(report).print(); }

} // namespace burin
