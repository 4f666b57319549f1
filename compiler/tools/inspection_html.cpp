// The inspection as a page: the graph, what it became, its memory and its work, drawn. It stands alone (no script, no
// font, nothing from a network), so it can be sent, kept beside a model, and read on a phone.
#include "tools/flow_chart.h"
#include "tools/html.h"
#include "tools/inspection.h"
#include "tools/inspection_style.h"
#include "tools/latency.h"
#include "tools/memory_chart.h"
#include "tools/repeats.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using Json = nlohmann::ordered_json;

namespace burin {

namespace {

using llvm::formatv;

std::string text(const Json &value) { return value.get<std::string>(); }
int64_t integer(const Json &value) { return value.get<int64_t>(); }
double real(const Json &value) { return value.get<double>(); }

/// With three digits that matter: "604 MFLOP", "1.77 MB", "512 B".
std::string quantity(double value, const char *unit) {
  const char *prefixes[] = {"", "k", "M", "G", "T"};
  int prefix = 0;
  for (; value >= 999.5 && prefix < 4; ++prefix)
    value /= 1000;
  int decimals = prefix == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return formatv("{0} {1}{2}", llvm::format("%.*f", decimals, value), prefixes[prefix], unit);
}
std::string flops(const Json &value) { return quantity(real(value), "FLOP"); }
std::string bytes(int64_t value) { return quantity(double(value), "B"); }

std::string percent(double part) { return formatv("{0:F1} %", 100 * part); }

std::string joined(const Json &list, const char *separator) {
  std::string line;
  for (const Json &item : list)
    line += (line.empty() ? "" : separator) + (item.is_string() ? text(item) : item.dump());
  return line;
}

/// The part of a scope that names a block: "encoder.layer.0" of "encoder.layer.0.attention", "block0" of "block0.attn".
llvm::StringRef blockOf(llvm::StringRef scope) {
  llvm::SmallVector<llvm::StringRef> words;
  scope.split(words, '.');
  auto number =
      llvm::find_if(words, [](llvm::StringRef word) { return !word.empty() && llvm::all_of(word, llvm::isDigit); });
  llvm::StringRef last = number == words.end() ? words.front() : *number;
  return scope.take_front(last.end() - scope.begin());
}

/// Blocks of one box are no blocks: the box says the whole scope.
void frameBlocks(llvm::MutableArrayRef<FlowBox> boxes) {
  for (size_t box = 0; box < boxes.size();) {
    size_t end = box + 1;
    while (end < boxes.size() && blockOf(boxes[end].scope) == blockOf(boxes[box].scope))
      ++end;
    for (bool isBlock = end - box > 1; box < end; ++box)
      boxes[box].block = isBlock ? blockOf(boxes[box].scope).str() : "";
  }
}

/// What is left to say of a scope inside its block's frame.
std::string tagOf(const std::string &scope, const std::string &block) {
  llvm::StringRef rest = llvm::StringRef(scope).drop_front(block.size());
  rest.consume_front(".");
  return rest.empty() ? "" : formatv("<span class=\"tag\">{0}</span>", escaped(rest)).str();
}

/// A chart, and where it shows something once that is there many times, all of it on request.
std::string drawFolded(const std::vector<FlowBox> &boxes, llvm::StringRef things) {
  FlowChart chart = drawFlow(boxes, /*fold=*/true);
  if (chart.isFolded)
    chart.html +=
        formatv("<details class=\"unfolded\"><summary>All {0} {1}, one after another</summary>{2}</details>\n",
                boxes.size(), things, drawFlow(boxes, /*fold=*/false).html);
  return chart.html;
}

/// Inputs and outputs.
FlowBox terminalBox(const char *direction, llvm::StringRef name, llvm::StringRef shape) {
  std::string html = formatv("<div @ class=\"box terminal\"><div class=\"line\"><span>{0}</span> <b>{1}</b><span "
                             "class=\"right\">{2}</span></div></div>",
                             direction, escaped(name), escaped(shape));
  return {html, 1, "", "", direction + name.str(), {}};
}

class HtmlPage {
public:
  explicit HtmlPage(const Json &report) : report_(report), out_(page_) {
    for (const Json &kernel : report["kernels"])
      kernels_[text(kernel["name"])] = &kernel;
  }

  std::string write() {
    std::string model = escaped(text(report_["model"]));
    out_ << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" << model
         << "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         << "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<style>"
         << inspectionStyle() << "</style></head>\n<body>\n";
    writeHead(model);
    out_ << "<div class=\"columns\">\n";
    writeGraph();
    out_ << "<section><h2>After fusion: forward</h2>\n";
    writeEntry(report_["entries"][0]);
    out_ << "</section></div>\n";
    for (const Json &entry : llvm::drop_begin(report_["entries"]))
      writeOtherEntry(entry);
    writeState();
    writeKernels();
    out_ << "</body></html>\n";
    return page_;
  }

private:
  // ---- Head

  void writeFact(llvm::StringRef name, llvm::StringRef value, llvm::StringRef note) {
    out_ << formatv("<div class=\"fact\"><span>{0}</span><b>{1}</b><small>{2}</small></div>", name, value, note);
  }

  void writeHead(llvm::StringRef model) {
    out_ << "<header><h1>" << model << "</h1><p>for <b>" << escaped(text(report_["target"])) << "</b>, in <b>"
         << escaped(text(report_["precision"])) << "</b>";
    for (const Json &axis : report_["time"])
      out_ << formatv(" · {0} ≤ {1}", escaped(text(axis["name"])), integer(axis["max"]));
    out_ << "</p>\n<div class=\"facts\">";
    const Json &parameters = report_["parameters"], &state = report_["state"];
    writeFact("parameters", llvm::StringRef(quantity(real(parameters["values"]), "")).trim(),
              formatv("{0} tensors", integer(parameters["count"])).str());
    writeFact("weights", bytes(integer(report_["packed_weights_bytes"])),
              formatv("packed, for {0} kernels", report_["kernels"].size()).str());
    if (report_["streams"].empty())
      writeFact("state", "none", "no step");
    else
      writeFact("state", bytes(integer(state["bytes"])), formatv("{0} values", state["values"].size()).str());
    if (report_.contains("measured"))
      writeFact("FMA peak", quantity(1e9 * real(report_["measured"]["fma_peak_gflops"]), "FLOP/s"), "one thread");
    out_ << "</div>\n<table><thead><tr><th>entry</th><th>calls</th><th>work</th><th>scratch</th>"
         << (report_.contains("measured") ? "<th>median</th>" : "") << "</tr></thead><tbody>\n";
    for (const Json &entry : report_["entries"]) {
      out_ << formatv("<tr><td>{0}</td><td>{1}</td><td>{2}</td><td>{3}</td>", escaped(text(entry["name"])),
                      entry["calls"].size(), flops(entry["flops"]), bytes(scratchBytes(entry)));
      if (report_.contains("measured")) {
        const Json *times = timesOf(entry);
        out_ << "<td>" << (times ? duration(real((*times)["median_s"])) : "–") << "</td>";
      }
      out_ << "</tr>\n";
    }
    out_ << "</tbody></table><p class=\"note\">Work and scratch at full length.</p>\n";
    if (report_["streams"].empty())
      out_ << "<p class=\"note\">No step: " << escaped(text(report_["no_step"])) << "</p>\n";
    for (const Json &stream : report_["streams"]) {
      out_ << "<p class=\"note\">Stream " << escaped(text(stream["name"])) << ": ";
      if (stream["capacity"].is_null())
        out_ << "no end";
      else
        out_ << "at most " << integer(stream["capacity"]) << " rows after a reset";
      if (!stream["position_end"].is_null())
        out_ << ", positions below " << integer(stream["position_end"]);
      out_ << "; up to " << integer(stream["most_rows_at_once"]) << " at once</p>\n";
    }
    out_ << "<p class=\"key\">";
    llvm::StringMap<bool> seen;
    for (const Json &kernel : report_["kernels"])
      if (std::string name = text(kernel["class"]); seen.try_emplace(name, true).second)
        out_ << formatv("<span class=\"{0}\"><i></i>{0}</span> ", name);
    out_ << "</p></header>\n";
  }

  int64_t rowsOf(llvm::StringRef axis) const {
    for (const Json &known : report_["time"])
      if (text(known["name"]) == axis)
        return integer(known["max"]);
    return 1; // one for the sequence, or the call
  }

  int64_t scratchBytes(const Json &entry) const {
    int64_t all = 0;
    for (auto &[axis, each] : entry["scratch_bytes_per"].items())
      all += integer(each) * rowsOf(axis);
    return all;
  }

  /// Null where the entry was not measured.
  const Json *timesOf(const Json &entry) const {
    if (report_.contains("measured"))
      for (const Json &times : report_["measured"]["entries"])
        if (times["entry"] == entry["name"])
          return &times;
    return nullptr;
  }

  // ---- The graph

  void writeGraph() {
    std::vector<FlowBox> boxes;
    llvm::StringMap<size_t> inputs;
    for (const Json &input : report_["inputs"]) {
      inputs[text(input["name"])] = boxes.size();
      boxes.push_back(terminalBox("input", text(input["name"]), text(input["shape"])));
    }
    size_t firstOp = boxes.size();
    auto addEdge = [&](FlowBox &box, const Json &source) {
      if (source.contains("op"))
        box.reads.push_back(firstOp + source["op"].get<size_t>());
      else if (source.contains("input"))
        if (auto input = inputs.find(text(source["input"])); input != inputs.end())
          box.reads.push_back(input->second);
    };
    for (const Json &op : report_["graph"]) {
      FlowBox &box = boxes.emplace_back();
      box.scope = text(op["scope"]);
      box.kind =
          formatv("{0} {1} {2} {3}", text(op["op"]), text(op["shape"]), integer(op["depth"]), op["reads"].size());
      for (const Json &source : op["reads"])
        addEdge(box, source);
    }
    for (const Json &output : report_["outputs"]) {
      FlowBox &box = boxes.emplace_back(terminalBox("output", text(output["name"]), text(output["shape"])));
      addEdge(box, output["from"]);
    }
    // Only now is it known which blocks have frames.
    frameBlocks(llvm::MutableArrayRef(boxes).slice(firstOp, report_["graph"].size()));
    for (auto [number, op] : llvm::enumerate(report_["graph"]))
      boxes[firstOp + number].html = opBox(op, boxes[firstOp + number].block);
    out_ << "<section><h2>The graph</h2>\n" << drawFolded(boxes, "boxes") << "</section>\n";
  }

  static std::string opBox(const Json &op, const std::string &block) {
    std::string title = formatv("{0} {1} {2}\n{3}\nreads {4}", text(op["name"]), text(op["op"]), text(op["shape"]),
                                text(op["scope"]), joined(op["operands"], ", "));
    if (real(op["flops"]) > 0)
      title += "\n" + flops(op["flops"]);
    if (integer(op["parameter_bytes"]) > 0)
      title += "\nparameters " + bytes(integer(op["parameter_bytes"]));
    return formatv(
        "<div @ class=\"box op {0}\" data-op=\"{1}\" title=\"{2}\"><div class=\"line\"><b>{3}{4}</b>{5}<span "
        "class=\"right\">{6}</span></div></div>",
        text(op["class"]), escaped(text(op["name"])), escapedTitle(title), integer(op["depth"]) > 0 ? "↳ " : "",
        escaped(text(op["op"])), tagOf(text(op["scope"]), block), escaped(joined(op["extents"], " × ")));
  }

  /// Lines of a title stay lines.
  static std::string escapedTitle(llvm::StringRef title) {
    std::string out;
    for (llvm::StringRef line : llvm::split(title, '\n'))
      if (!line.empty())
        out += (out.empty() ? "" : "&#10;") + escaped(line);
    return out;
  }

  // ---- Entries

  void writeOtherEntry(const Json &entry) {
    out_ << formatv("<details class=\"entry\"><summary><h2>{0}</h2> {1} {2}, {3}</summary>\n",
                    escaped(text(entry["name"])), entry["calls"].size(), entry["calls"].size() == 1 ? "call" : "calls",
                    flops(entry["flops"]));
    out_ << "<div class=\"columns\">";
    writeEntry(entry);
    out_ << "</div></details>\n";
  }

  void writeEntry(const Json &entry) {
    for (auto [number, guard] : llvm::enumerate(entry["guards"])) {
      out_ << formatv("<p class=\"note guards\">Guard {0}: its calls run where some row's signal is above {1}", number,
                      guard["open_above"].dump());
      if (!guard["parent"].is_null())
        out_ << " and guard " << integer(guard["parent"]) << " is open";
      out_ << ".</p>\n";
    }
    out_ << "<div>";
    writeCalls(entry);
    out_ << "</div><div>";
    writeWork(entry);
    writeScratch(entry);
    out_ << "</div>\n";
  }

  const Json &kernelOf(const Json &call) const { return *kernels_.lookup(text(call["kernel"])); }

  void writeCalls(const Json &entry) {
    std::vector<FlowBox> boxes;
    llvm::StringMap<size_t> inputs;
    for (const Json &input : report_["inputs"]) {
      std::string name = text(input["name"]);
      Json source = {{"input", name}};
      if (llvm::none_of(entry["calls"], [&](const Json &call) { return llvm::count(call["reads"], source) > 0; }))
        continue; // of another stream
      inputs[name] = boxes.size();
      boxes.push_back(terminalBox("input", name, ""));
    }
    size_t firstCall = boxes.size();
    std::vector<std::pair<std::string, size_t>> outputs;
    for (auto [number, call] : llvm::enumerate(entry["calls"])) {
      FlowBox &box = boxes.emplace_back();
      box.scope = text(call["scope"]);
      box.kind = text(call["kernel"]) + call["guard"].dump();
      for (const Json &source : call["reads"])
        if (source.contains("call"))
          box.reads.push_back(firstCall + source["call"].get<size_t>());
        else if (source.contains("input") && inputs.count(text(source["input"])))
          box.reads.push_back(inputs[text(source["input"])]);
      for (const Json &write : call["writes"])
        if (write["to"] == "output")
          outputs.emplace_back(text(write["name"]), firstCall + number);
    }
    frameBlocks(llvm::MutableArrayRef(boxes).drop_front(firstCall));
    for (auto [number, call] : llvm::enumerate(entry["calls"]))
      fillCallBox(boxes[firstCall + number], call, real(entry["flops"]));
    for (auto &[name, call] : outputs) {
      boxes.push_back(terminalBox("output", name, ""));
      boxes.back().reads.push_back(call);
    }
    out_ << drawFolded(boxes, "boxes");
  }

  /// "3 × slice · attention"
  static std::string opsOf(const Json &group) {
    std::string line;
    for (size_t op = 0, end = 0; op < group.size(); op = end) {
      while (end < group.size() && group[end] == group[op])
        ++end;
      line += (line.empty() ? "" : " · ") + (end - op > 1 ? std::to_string(end - op) + " × " : "") + text(group[op]);
    }
    return line;
  }

  /// A kernel's ops; a whole's groups one below the other, equal ones that follow one another once.
  static std::vector<std::string> opLines(const Json &kernel) {
    std::vector<std::string> groups;
    for (const Json &group : kernel["groups"])
      groups.push_back(escaped(opsOf(group)));
    std::vector<Repeat> repeats =
        findRepeats(groups.size(), 2, [&](size_t a, size_t b) { return groups[a] == groups[b]; });
    std::vector<std::string> lines;
    for (size_t group = 0; group < groups.size(); ++group) {
      auto repeat = llvm::find_if(repeats, [&](const Repeat &repeat) {
        return repeat.first <= group && group < repeat.first + repeat.length * repeat.times;
      });
      if (repeat == repeats.end())
        lines.push_back(groups[group]);
      else if (group < repeat->first + repeat->length)
        lines.push_back(formatv("{0} <span class=\"times\">× {1}</span>", groups[group], repeat->times));
    }
    return lines;
  }

  static std::string workOf(double flops, double share) {
    return flops > 0 ? quantity(flops, "FLOP") + " · " + percent(share) : "";
  }

  void fillCallBox(FlowBox &box, const Json &call, double all) {
    const Json &kernel = kernelOf(call);
    std::string name = text(call["kernel"]), states;
    double share = all > 0 ? real(call["flops"]) / all : 0;
    for (const Json &write : call["writes"])
      if (write["to"] == "state")
        states += (states.empty() ? "" : ", ") + text(write["name"]);
    std::vector<std::string> lines = opLines(kernel);
    bool isGuarded = !call["guard"].is_null();
    std::string note = call["per_sequence"].get<bool>() ? "for each sequence" : "";
    if (isGuarded)
      note += formatv("{0}guard {1}", note.empty() ? "" : ", ", integer(call["guard"]));
    std::string title = formatv("{0}, {1}\n{2}\n{3}: {4} of {5}\nweights {6}\n{7}", name, text(kernel["class"]),
                                text(call["scope"]), flops(call["flops"]), percent(share), quantity(all, "FLOP"),
                                bytes(integer(call["weights_bytes"])), note);
    for (const Json &group : kernel["groups"])
      title += "\n" + opsOf(group);
    std::string html = formatv("<a @ class=\"box call {0}{1}\" href=\"#{2}\" data-kernel=\"{2}\" title=\"{3}\"><div "
                               "class=\"line\"><b>{2}</b>{4}<span class=\"right\">{5}</span></div>",
                               text(kernel["class"]), isGuarded ? " guarded" : "", name, escapedTitle(title),
                               tagOf(text(call["scope"]), box.block), workOf(real(call["flops"]), share));
    for (auto [number, line] : llvm::enumerate(lines)) {
      html += "<div class=\"line ops\"><span>" + line + "</span>";
      if (number == 0 && integer(call["weights_bytes"]) > 0)
        html += "<span class=\"right\">" + bytes(integer(call["weights_bytes"])) + "</span>";
      html += "</div>";
    }
    if (!note.empty())
      html += "<div class=\"line more\"><span>" + note + "</span></div>";
    if (!states.empty())
      html += "<div class=\"line more\"><span>keeps " + escaped(states) + "</span></div>";
    html += formatv("<i class=\"share\" style=\"width:{0:F2}%\"></i></a>", 100 * share);
    box.html = html;
    box.lines = 1 + int(lines.size()) + !note.empty() + !states.empty();
  }

  /// A bar for each kernel of an entry: of time where it was measured, else of work.
  void writeWork(const Json &entry) {
    const Json *times = timesOf(entry);
    if (times)
      out_ << formatv("<h3>Time of each kernel</h3><p class=\"note\">{0}: {1} median, {2:F1} % of the FMA peak.</p>\n",
                      escaped(text((*times)["what"])), duration(real((*times)["median_s"])),
                      real((*times)["percent_of_fma_peak"]));
    else
      out_ << "<h3>Work of each kernel</h3><p class=\"note\">Shares of the FLOPs; not measured"
           << (report_.contains("measured") ? "" : ": <code>--measure</code> times it") << ".</p>\n";
    out_ << "<div class=\"bars\">";
    if (times) {
      for (const Json &kernel : (*times)["kernels"]) {
        std::string value = duration(real(kernel["mean_s"])) + " · " + percent(real(kernel["part"]));
        if (double ofPeak = real(kernel["percent_of_fma_peak"]); ofPeak > 0)
          value += formatv(" · {0:F1} % of peak", ofPeak);
        writeBar(text(kernel["kernel"]), real(kernel["calls"]), real(kernel["part"]), value);
      }
    } else {
      for (const Json &kernel : report_["kernels"]) {
        double calls = real(kernel["calls"][text(entry["name"])]), work = 0;
        for (const Json &call : entry["calls"])
          work += call["kernel"] == kernel["name"] ? real(call["flops"]) : 0;
        double share = real(entry["flops"]) > 0 ? work / real(entry["flops"]) : 0;
        if (calls > 0)
          writeBar(text(kernel["name"]), calls, share, work > 0 ? workOf(work, share) : "0 FLOP");
      }
    }
    out_ << "</div>\n";
  }

  void writeBar(const std::string &kernel, double calls, double part, llvm::StringRef value) {
    out_ << formatv(
        "<a class=\"bar {0}\" href=\"#{1}\" data-bar=\"{1}\"><span>{1} <span class=\"times\">× {2}</span>"
        "</span><span class=\"right\">{3}</span><span class=\"track\"><i style=\"width:{4:F2}%\"></i></span>"
        "</a>\n",
        text((*kernels_.lookup(kernel))["class"]), kernel, llvm::format("%.3g", calls), value, 100 * part);
  }

  /// A chart for each region of the arena.
  void writeScratch(const Json &entry) {
    size_t calls = entry["calls"].size();
    if (entry["scratch_bytes_per"].empty())
      return;
    out_ << formatv(
        "<h3>Scratch over the calls</h3><p class=\"note\">Offsets upwards, calls 1 to {0} from left to right: a "
        "value lies where it is from the call that makes it to the last that reads it.</p>\n",
        calls);
    for (auto &[axis, each] : entry["scratch_bytes_per"].items()) {
      std::vector<MemoryBlock> blocks;
      for (auto [number, call] : llvm::enumerate(entry["calls"]))
        for (const Json &write : call["writes"]) {
          if (write["to"] != "scratch" || text(write["axis"]) != axis)
            continue;
          size_t last = write["last_read_by"].get<size_t>();
          std::string kernel = text(call["kernel"]);
          std::string title =
              formatv("{0} at {1}, made by {2}, call {3} of {4}, read up to call {5}", bytes(integer(write["bytes"])),
                      integer(write["offset"]), kernel, number + 1, calls, last + 1);
          blocks.push_back({integer(write["offset"]), integer(write["bytes"]), number, last,
                            text(kernelOf(call)["class"]), kernel, title});
        }
      out_ << formatv("<p class=\"note\">{0} for each {1}</p>\n", bytes(integer(each)), escaped(axis))
           << drawLifetimes(blocks, integer(each), calls);
    }
  }

  // ---- State

  void writeState() {
    const Json &values = report_["state"]["values"];
    if (values.empty())
      return;
    int64_t all = integer(report_["state"]["bytes"]);
    auto shapeOf = [](const Json &value) {
      return formatv("{0} × {1} {2} of {3}", integer(value["rows"]), integer(value["features"]), text(value["type"]),
                     text(value["stream"]))
          .str();
    };
    std::vector<MemoryBlock> blocks;
    struct Kind {
      std::string first, last, shape, note;
      int64_t count = 0, bytes = 0;
    };
    llvm::MapVector<std::string, Kind, llvm::StringMap<unsigned>> kinds; // the same value of equal blocks is one
    for (auto [number, value] : llvm::enumerate(values)) {
      std::string name = text(value["name"]), shape = shapeOf(value);
      blocks.push_back(
          {integer(value["offset"]), integer(value["bytes"]), 0, 0, number % 2 ? "odd" : "even", name,
           formatv("{0}: {1}, {2} at {3}", name, shape, bytes(integer(value["bytes"])), integer(value["offset"]))});
      Kind &kind = kinds[withoutDigits(name) + shape];
      if (kind.count++ == 0)
        kind.first = name;
      kind.last = name;
      kind.shape = shape;
      kind.bytes += integer(value["bytes"]);
      if (int64_t window = integer(value["window"]))
        kind.note = formatv("a ring of which the last {0} count", window);
    }
    out_ << "<section><h2>State</h2><p class=\"note\">" << bytes(all)
         << ", one block of memory; its header comes first.</p>\n"
         << drawStrip(blocks, all) << "<div class=\"values\">";
    for (auto &[key, kind] : kinds) {
      std::string name = escaped(nameRange(kind.first, kind.last));
      if (kind.count > 1)
        name += formatv(" <span class=\"times\">× {0}</span>", kind.count);
      out_ << formatv("<div><b>{0}</b><span>{1}{2}{3}</span><span class=\"right\">{4}</span></div>\n", name,
                      escaped(kind.shape), kind.note.empty() ? "" : ", ", kind.note, bytes(kind.bytes));
    }
    out_ << "</div></section>\n";
  }

  // ---- Kernels

  void writeKernels() {
    out_ << "<section><h2>Kernels</h2><p class=\"note\">Each is compiled once, however many calls it has.</p>\n"
         << "<div class=\"cards\">\n";
    for (const Json &kernel : report_["kernels"]) {
      std::string name = text(kernel["name"]), calls;
      double work = 0;
      for (const Json &entry : report_["entries"]) {
        if (int64_t count = integer(kernel["calls"][text(entry["name"])]))
          calls += formatv("{0}{1} in {2}", calls.empty() ? "" : "; ", count, text(entry["name"]));
        for (const Json &call : entry["calls"])
          if (call["kernel"] == kernel["name"])
            work = std::max(work, real(call["flops"]));
      }
      out_ << formatv("<div class=\"card {0}\" id=\"{1}\" data-card=\"{1}\"><div class=\"line\"><b>{1}</b><span "
                      "class=\"tag\">{0}</span><span class=\"right\">{2}</span></div>",
                      text(kernel["class"]), name, quantity(work, "FLOP"));
      for (const std::string &line : opLines(kernel))
        out_ << "<div>" << line << "</div>";
      out_ << "<small>" << escaped(calls);
      if (int64_t weights = integer(kernel["weights_bytes"]))
        out_ << "; weights " << bytes(weights) << " a call";
      out_ << "</small>";
      writeSchedules(kernel);
      out_ << "</div>\n";
    }
    out_ << "</div></section>\n";
  }

  /// Where the parameters of a kernel's schedules come from, by numbers of rows.
  void writeSchedules(const Json &kernel) {
    for (const Json &schedule : kernel["schedules"]) {
      std::string rows = text(schedule["rows"]), parameters = text(schedule["text"]);
      for (size_t comma = parameters.find(','); comma != std::string::npos; comma = parameters.find(',', comma + 2))
        parameters.insert(comma + 1, " "); // where a narrow screen may break the line
      out_ << formatv("<small class=\"schedule\" data-schedule=\"{0}\">{1}: {2}{3}{4}</small>\n", text(kernel["name"]),
                      rows == "all" ? "any number of rows" : rows + " rows", escaped(text(schedule["from"])),
                      parameters.empty() ? "" : ", ", escaped(parameters));
    }
  }

  const Json &report_;
  llvm::StringMap<const Json *> kernels_;
  std::string page_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string inspectionHtml(const Json &report) { return HtmlPage(report).write(); }

} // namespace burin
