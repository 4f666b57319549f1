// What tuning found, as a page: first what was gained, then the roofline, then each search. It stands alone (no script,
// no font, nothing from a network). Every figure has its number beside it or in a tooltip.
#include "schedules/tuner/row_buckets.h"
#include "tools/html.h"
#include "tools/inspection_style.h"
#include "tools/latency.h"
#include "tuner/tune_graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <set>

namespace burin {

namespace {

using llvm::formatv;

const char *style = R"css(
.chart { display: block; width: 100%; max-width: 640px; height: auto; background: var(--surface); border: 1px solid var(--line);
  border-radius: 6px; margin: 6px 0; }
.chart text { font-size: 12px; fill: var(--quiet); }
.chart .axis { stroke: var(--line); }
.chart .roof { stroke: var(--text); stroke-width: 1.5; fill: none; }
.chart .point { fill: var(--colour); }
.chart .before { fill: var(--page); stroke: var(--colour); stroke-width: 1.5; }
.chart .gain { stroke: var(--colour); stroke-width: 1.5; }
.chart .best { stroke: var(--colour); stroke-width: 1.5; fill: none; }
.chart .refused { stroke: var(--attend); stroke-width: 1.5; }
.heat { border-collapse: separate; border-spacing: 2px; width: auto; }
.heat td, .heat th, .heat th:first-child { text-align: center; white-space: nowrap; overflow-wrap: normal; padding: 4px 6px; border: 0; font-size: 13px; }
.heat td { background: color-mix(in srgb, var(--colour) calc(var(--good) * 1%), var(--surface)); border-radius: 3px; }
.scroll { overflow-x: auto; }
)css";

template <typename Result> double gainOf(const Result &result) { return result.defaultSeconds / result.seconds; }

/// Lines of a value on a logarithmic axis.
struct Axis {
  double low, high, from, to;
  double at(double value) const {
    double part = (std::log(value) - std::log(low)) / (std::log(high) - std::log(low));
    return from + std::clamp(part, 0.0, 1.0) * (to - from);
  }
};

class TuningPage {
public:
  explicit TuningPage(const TuneReport &report) : report_(report), out_(page_) {}

  std::string write() {
    out_ << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width, initial-scale=1\"><title>"
         << escaped(report_.model) << " tuned</title><style>" << inspectionStyle() << style
         << "</style></head><body>\n";
    writeHead();
    writeGains();
    writeRoofline();
    for (const TuneResult &result : report_.results)
      if (!result.tried.empty())
        writeSearch(result);
    out_ << "</body></html>\n";
    return page_;
  }

private:
  /// "contract, 17-64 rows".
  static std::string nameOf(const TuneResult &result) {
    return result.kernelClass + ", " + bucketText(result.bucket) + (result.bucket ? " rows" : " row");
  }

  void writeFact(llvm::StringRef what, llvm::StringRef value) {
    out_ << "<div class=\"fact\"><span>" << what << "</span><b>" << escaped(value) << "</b></div>";
  }

  void writeHead() {
    double logs = 0, best = 1;
    int count = 0;
    size_t tried = 0;
    for (const TuneResult &result : report_.results) {
      if (!result.problem.empty())
        continue;
      logs += std::log(gainOf(result));
      best = std::max(best, gainOf(result));
      tried += result.tried.size();
      ++count;
    }
    out_ << "<h1>" << escaped(report_.model) << "</h1><p class=\"note\">schedules tuned for " << escaped(report_.target)
         << " on " << escaped(report_.cpu) << "; no schedule changes a bit of a result</p><div class=\"facts\">";
    writeFact("kernels and rows", std::to_string(count));
    writeFact("gain, geometric mean", formatv("{0:F2}x", count ? std::exp(logs / count) : 1).str());
    writeFact("largest gain", formatv("{0:F2}x", best).str());
    writeFact("measurements", std::to_string(tried));
    if (report_.peakGflops > 0)
      writeFact("FMA peak, one core", formatv("{0:F0} GFLOP/s", report_.peakGflops).str());
    out_ << "</div>\n";
  }

  void writeGains() {
    out_ << "<section><h2>What was gained</h2><div class=\"bars\">\n";
    double most = 1;
    for (const TuneResult &result : report_.results)
      most = result.problem.empty() ? std::max(most, gainOf(result)) : most;
    for (const ChoiceResult &result : report_.choices)
      most = result.problem.empty() ? std::max(most, gainOf(result)) : most;
    for (const TuneResult &result : report_.results) {
      if (!result.problem.empty()) {
        out_ << "<div class=\"bar\"><span><b>" << escaped(result.kernelClass) << "</b> " << escaped(result.problem)
             << "</span></div>\n";
        continue;
      }
      out_ << formatv("<div class=\"bar {0}\" data-gain=\"{1} {2}\"><span><b>{3}</b> <small>{4}</small></span><span "
                      "class=\"right\">{5} to {6}, {7:F2}x</span><span class=\"track\"><i style=\"width:{8:F1}%\"></i>"
                      "</span></div>\n",
                      result.kernelClass, result.kernel, bucketText(result.bucket), escaped(nameOf(result)),
                      escaped(result.about), duration(result.defaultSeconds), duration(result.seconds), gainOf(result),
                      100 * gainOf(result) / most);
    }
    for (const ChoiceResult &result : report_.choices)
      if (result.problem.empty())
        out_ << formatv(
            "<div class=\"bar whole\" data-gain=\"{0} any\"><span><b>{1}</b> <small>{2}: {3}</small></span>"
            "<span class=\"right\">{4} to {5}, {6:F2}x</span><span class=\"track\"><i style=\"width:{7:F1}%\">"
            "</i></span></div>\n",
            result.record, result.of, escaped(result.about), result.best.empty() ? "the default" : result.best.text(),
            duration(result.defaultSeconds), duration(result.seconds), gainOf(result), 100 * gainOf(result) / most);
    out_ << "</div></section>\n";
  }

  void writeRoofline() {
    std::vector<const TuneResult *> points;
    for (const TuneResult &result : report_.results)
      if (result.problem.empty() && result.flops > 0 && result.bytes > 0)
        points.push_back(&result);
    if (points.empty() || report_.peakGflops <= 0 || report_.bytesPerSecond <= 0)
      return;
    auto intensity = [](const TuneResult &result) { return result.flops / result.bytes; };
    double lowX = 1, highX = 8, lowY = report_.peakGflops / 10;
    for (const TuneResult *point : points) {
      lowX = std::min(lowX, intensity(*point) / 1.5);
      highX = std::max(highX, intensity(*point) * 1.5);
      lowY = std::min(lowY, point->flops / point->defaultSeconds * 1e-9 / 1.5);
    }
    Axis x{lowX, highX, 46, 630}, y{lowY, report_.peakGflops * 1.3, 268, 12};
    double memory = report_.bytesPerSecond * 1e-9, knee = report_.peakGflops / memory;
    out_ << "<section><h2>Roofline</h2><p class=\"note\">Before (rings) and after, under what this core can do: "
         << formatv("{0:F0} GFLOP/s, and {1:F1} GB/s from memory. What stays in caches may lie above the slope.",
                    report_.peakGflops, memory)
         << "</p>\n<svg class=\"chart\" viewBox=\"0 0 640 300\" role=\"img\" aria-label=\"roofline\">\n";
    for (double decade = 1e-2; decade < 1e4; decade *= 10) {
      if (decade > lowX && decade < highX)
        out_ << formatv("<line class=\"axis\" x1=\"{0:F1}\" x2=\"{0:F1}\" y1=\"12\" y2=\"268\"/><text x=\"{0:F1}\" "
                        "y=\"284\" text-anchor=\"middle\">{1}</text>",
                        x.at(decade), llvm::format("%.3g", decade));
      if (decade > lowY && decade < report_.peakGflops * 1.3)
        out_ << formatv("<line class=\"axis\" x1=\"46\" x2=\"630\" y1=\"{0:F1}\" y2=\"{0:F1}\"/><text x=\"42\" "
                        "y=\"{2:F1}\" text-anchor=\"end\">{1}</text>",
                        y.at(decade), llvm::format("%.3g", decade), y.at(decade) + 4);
    }
    out_ << "<text x=\"630\" y=\"297\" text-anchor=\"end\">FLOP per byte of operands</text><text x=\"50\" y=\"10\">"
            "GFLOP/s</text>";
    double start = std::max(lowX, lowY / memory);
    out_ << formatv("<path class=\"roof\" d=\"M{0:F1} {1:F1} L{2:F1} {3:F1} L{4:F1} {3:F1}\"/>\n", x.at(start),
                    y.at(start * memory), x.at(std::clamp(knee, lowX, highX)), y.at(report_.peakGflops), x.at(highX));
    for (const TuneResult *point : points) {
      double before = point->flops / point->defaultSeconds * 1e-9, after = point->flops / point->seconds * 1e-9;
      double at = x.at(intensity(*point));
      out_ << formatv("<g class=\"{0}\" data-roof=\"{1} {2}\"><title>{3}: {4:F1} to {5:F1} GFLOP/s</title>"
                      "<line class=\"gain\" x1=\"{6:F1}\" x2=\"{6:F1}\" y1=\"{7:F1}\" y2=\"{8:F1}\"/>"
                      "<circle class=\"before\" cx=\"{6:F1}\" cy=\"{7:F1}\" r=\"4\"/>"
                      "<circle class=\"point\" cx=\"{6:F1}\" cy=\"{8:F1}\" r=\"4\"/></g>\n",
                      point->kernelClass, point->kernel, bucketText(point->bucket), escaped(nameOf(*point)), before,
                      after, at, y.at(before), y.at(after));
    }
    out_ << "</svg></section>\n";
  }

  void writeSearch(const TuneResult &result) {
    out_ << formatv("<section class=\"{0}\" data-search=\"{1} {2}\"><h3>{3}</h3><p>{4}</p>", result.kernelClass,
                    result.kernel, bucketText(result.bucket), escaped(nameOf(result)), escaped(result.about));
    out_ << "<p class=\"note\">default " << escaped(result.derived.text());
    if (result.best != result.derived)
      out_ << "; tuned " << escaped(result.best.text());
    size_t refused = llvm::count_if(result.tried, [](auto &point) { return !point.refused.empty(); });
    out_ << formatv("; {0} points, {1} refused</p>\n", result.tried.size(), refused);
    writeCourse(result);
    writeLandscape(result);
    out_ << "</section>\n";
  }

  /// Every point in the order of trial, as the speed beside the default's, and the best so far.
  void writeCourse(const TuneResult &result) {
    double low = 0.5, high = 1.1;
    for (const TriedPoint &point : result.tried)
      if (point.refused.empty())
        high = std::max(high, 1.05 / point.cost);
    Axis y{low, high, 128, 10};
    double step = 584.0 / double(std::max<size_t>(result.tried.size(), 2)), best = 1;
    out_ << "<svg class=\"chart\" viewBox=\"0 0 640 150\" role=\"img\" aria-label=\"course of the search\">\n";
    for (double value : {0.5, 1.0, 2.0, 4.0, 8.0, 16.0})
      if (value >= low && value <= high)
        out_ << formatv(
            "<line class=\"axis\" x1=\"46\" x2=\"630\" y1=\"{0:F1}\" y2=\"{0:F1}\"/><text x=\"42\" y=\"{1:F1}\" "
            "text-anchor=\"end\">{2}x</text>",
            y.at(value), y.at(value) + 4, llvm::format("%g", value));
    std::string path = formatv("M46 {0:F1}", y.at(1)).str();
    for (auto [number, point] : llvm::enumerate(result.tried)) {
      double x = 50 + step * double(number);
      if (!point.refused.empty()) {
        out_ << formatv("<g><title>{0}: {1}</title><path class=\"refused\" d=\"M{2:F1} 124 l6 6 m0 -6 l-6 6\"/></g>\n",
                        escaped(point.used.text()), escaped(llvm::StringRef(point.refused).take_front(120)), x - 3);
        continue;
      }
      out_ << formatv(
          "<circle class=\"point\" cx=\"{0:F1}\" cy=\"{1:F1}\" r=\"3\"><title>{2}: {3:F2}x</title></circle>\n", x,
          y.at(1 / point.cost), escaped(point.used.text()), 1 / point.cost);
      best = std::max(best, 1 / point.cost);
      path += formatv(" H{0:F1} V{1:F1}", x, y.at(best)).str();
    }
    out_ << "<path class=\"best\" d=\"" << path
         << "\"/><text x=\"630\" y=\"146\" text-anchor=\"end\">points in the order "
         << "of trial; speed beside the default's</text></svg>\n";
  }

  /// The two parameters that the time depends on most, and the best that was seen for each pair of their values.
  void writeLandscape(const TuneResult &result) {
    std::vector<std::pair<double, Parameter>> telling;
    for (auto [parameter, value] : result.derived.values()) {
      std::map<int, double> bestOf;
      for (const TriedPoint &point : result.tried)
        if (point.refused.empty()) {
          double &best = bestOf.try_emplace(point.used.get(parameter).value_or(0), point.cost).first->second;
          best = std::min(best, point.cost);
        }
      double low = INFINITY, high = 0;
      for (auto [its, best] : bestOf) {
        low = std::min(low, best);
        high = std::max(high, best);
      }
      if (bestOf.size() > 1)
        telling.push_back({high / low, parameter});
    }
    llvm::stable_sort(telling, [](auto &a, auto &b) { return a.first > b.first; });
    if (telling.empty())
      return;
    Parameter rowsBy = telling[0].second, columnsBy = telling.size() > 1 ? telling[1].second : rowsBy;
    std::set<int> rowValues, columnValues;
    std::map<std::pair<int, int>, double> cells;
    double least = 1;
    auto add = [&](const ScheduleParameters &used, double cost) {
      std::pair<int, int> place(used.get(rowsBy).value_or(0),
                                columnsBy == rowsBy ? 0 : used.get(columnsBy).value_or(0));
      rowValues.insert(place.first);
      columnValues.insert(place.second);
      double &best = cells.try_emplace(place, cost).first->second;
      best = std::min(best, cost);
      least = std::min(least, cost);
    };
    add(result.derived, 1);
    for (const TriedPoint &point : result.tried)
      if (point.refused.empty())
        add(point.used, point.cost);
    out_ << "<div class=\"scroll\"><table class=\"heat\"><tr><th>" << rowOf(rowsBy).name
         << (columnsBy == rowsBy ? "" : " \\ " + rowOf(columnsBy).name.str()) << "</th>";
    for (int column : columnValues)
      out_ << "<th>" << (columnsBy == rowsBy ? "speed" : std::to_string(column)) << "</th>";
    out_ << "</tr>\n";
    for (int row : rowValues) {
      out_ << "<tr><th>" << row << "</th>";
      for (int column : columnValues) {
        auto cell = cells.find({row, column});
        if (cell == cells.end())
          out_ << "<td></td>";
        else
          out_ << formatv("<td style=\"--good:{0:F0}\">{1:F2}x</td>", 70 * std::pow(least / cell->second, 3),
                          1 / cell->second);
      }
      out_ << "</tr>\n";
    }
    out_ << "</table></div>\n";
  }

  const TuneReport &report_;
  std::string page_;
  llvm::raw_string_ostream out_;
};

} // namespace

std::string tuningPage(const TuneReport &report) { return TuningPage(report).write(); }

} // namespace burin
