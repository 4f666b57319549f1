#include "tools/flow_chart.h"
#include "tools/html.h"
#include "tools/repeats.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cctype>

namespace burin {

std::string withoutDigits(const std::string &name) {
  std::string out;
  for (char c : name)
    if (!std::isdigit((unsigned char)c))
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  return out;
}

std::string nameRange(llvm::StringRef first, llvm::StringRef last) {
  if (first == last)
    return first.str();
  size_t before = std::mismatch(first.begin(), first.end(), last.begin(), last.end()).first - first.begin();
  while (before > 0 && std::isdigit((unsigned char)first[before - 1]))
    --before; // a number stays whole
  llvm::StringRef from = first.drop_front(before), to = last.drop_front(before);
  size_t behind = 0;
  while (behind < std::min(from.size(), to.size()) && from[from.size() - 1 - behind] == to[to.size() - 1 - behind] &&
         !std::isdigit((unsigned char)from[from.size() - 1 - behind]))
    ++behind;
  return (first.take_front(before) + from.drop_back(behind) + "…" + to).str();
}

namespace {

using llvm::formatv;

// Pixels.
constexpr int lineHeight = 18, boxPadding = 12, boxGap = 12, headingHeight = 26, blockPadding = 8, blockGap = 12;
constexpr int laneWidth = 9, edgeRoom = 12, margin = 6;
constexpr size_t shortestUnscoped = 3; // three projections of the same rows are no block
constexpr size_t laneColours = 4;

/// An edge bundle: all that read what one box makes, but for the next box.
struct Lane {
  size_t from;
  std::vector<size_t> to;
  size_t place = 0; // 0 is nearest to the boxes
};

class Drawing {
public:
  Drawing(const std::vector<FlowBox> &boxes, bool fold) : boxes_(boxes) {
    if (fold)
      repeats_ = findRepeats(boxes.size(), 1, [&](size_t a, size_t b) { return alike(a, b); });
    for (size_t box = 0; box < boxes.size(); ++box)
      shownAs_.push_back(box);
    for (const Repeat &repeat : repeats_)
      for (size_t box = repeat.first; box < repeat.first + repeat.length * repeat.times; ++box)
        shownAs_[box] = repeat.first + (box - repeat.first) % repeat.length;
  }

  FlowChart draw() {
    findLanes();
    gutter_ = margin + int(lanes_) * laneWidth + edgeRoom;
    placeBoxes();
    std::string svg;
    for (const Lane &lane : bundles_)
      svg += drawLane(lane);
    for (size_t box : straight_)
      svg += drawStraight(box);
    return {formatv("<div class=\"flow\" style=\"height:{0}px\">{1}<svg class=\"lanes\" width=\"{2}\" height=\"{0}\" "
                    "aria-hidden=\"true\">{3}</svg>{4}</div>\n",
                    height_, frames_, gutter_ + 40, svg, content_)
                .str(),
            !repeats_.empty()};
  }

private:
  bool alike(size_t a, size_t b) const {
    const FlowBox &one = boxes_[a], &other = boxes_[b];
    bool isElsewhere = one.scope.empty() ? b - a >= shortestUnscoped : one.scope != other.scope;
    return one.kind == other.kind && isElsewhere && withoutDigits(one.scope) == withoutDigits(other.scope) &&
           one.reads.size() == other.reads.size() && llvm::all_of(llvm::zip(one.reads, other.reads), [&](auto pair) {
             auto [first, second] = pair;
             return second == first || second - first == b - a; // the same from outside, or the counterpart
           });
  }

  const Repeat *repeatAt(size_t box) const {
    auto found = llvm::find_if(repeats_, [&](const Repeat &repeat) {
      return repeat.first <= box && box < repeat.first + repeat.length * repeat.times;
    });
    return found == repeats_.end() ? nullptr : &*found;
  }

  size_t nextShown(size_t box) const {
    for (++box; box < boxes_.size() && shownAs_[box] != box;)
      ++box;
    return box;
  }

  /// Edges as drawn; those from one unit of a repeat to the next would go upwards, and are left to its heading.
  void findLanes() {
    std::vector<Lane> all(boxes_.size());
    for (size_t box = 0; box < boxes_.size(); ++box)
      for (size_t read : boxes_[box].reads) {
        size_t from = shownAs_[read], to = shownAs_[box];
        if (from < to && !llvm::is_contained(all[from].to, to))
          all[from].to.push_back(to);
      }
    for (size_t box = 0; box < boxes_.size(); ++box) {
      all[box].from = box;
      auto next = llvm::find(all[box].to, nextShown(box));
      if (next != all[box].to.end()) {
        straight_.push_back(box);
        all[box].to.erase(next);
      }
      llvm::sort(all[box].to);
      if (!all[box].to.empty())
        bundles_.push_back(all[box]);
    }
    // Short ones first, so that they lie near the boxes; each takes the nearest lane that is free along it.
    llvm::stable_sort(bundles_,
                      [](const Lane &a, const Lane &b) { return a.to.back() - a.from < b.to.back() - b.from; });
    for (size_t bundle = 0; bundle < bundles_.size(); ++bundle) {
      Lane &lane = bundles_[bundle];
      auto isTaken = [&](const Lane &other) {
        return other.place == lane.place && other.from < lane.to.back() && lane.from < other.to.back();
      };
      while (llvm::any_of(llvm::ArrayRef(bundles_).take_front(bundle), isTaken))
        ++lane.place;
      lanes_ = std::max(lanes_, lane.place + 1);
    }
  }

  /// What the scopes of some boxes begin with.
  std::string scopeOf(size_t box, size_t end) const {
    llvm::SmallVector<llvm::StringRef> words, others;
    llvm::StringRef(boxes_[box].scope).split(words, '.');
    for (; ++box < end; others.clear()) {
      llvm::StringRef(boxes_[box].scope).split(others, '.');
      words.erase(std::mismatch(words.begin(), words.end(), others.begin(), others.end()).first, words.end());
    }
    return llvm::join(words, ".");
  }

  std::string headingOf(size_t box, size_t end) const {
    const Repeat *repeat = repeatAt(box);
    if (!repeat)
      return boxes_[box].block.empty() ? "" : "<b>" + escaped(boxes_[box].block) + "</b>";
    std::string first = scopeOf(box, box + repeat->length), last = scopeOf(end - repeat->length, end);
    std::string name = first.empty() ? formatv("{0} in a row", repeat->length).str() : nameRange(first, last);
    return formatv("<span class=\"times\">× {0}</span> <b>{1}</b>", repeat->times, escaped(name)).str();
  }

  /// From top to bottom, a frame around each block and each repeat.
  void placeBoxes() {
    top_.resize(boxes_.size());
    bottom_.resize(boxes_.size());
    int y = 0;
    for (size_t box = 0; box < boxes_.size();) {
      const Repeat *repeat = repeatAt(box);
      size_t end = box + (repeat ? repeat->length : 1), after = repeat ? box + repeat->length * repeat->times : end;
      while (!repeat && end < boxes_.size() && !repeatAt(end) && boxes_[end].block == boxes_[box].block)
        after = ++end;
      std::string heading = headingOf(box, after);
      int frameTop = y;
      y += heading.empty() ? 0 : headingHeight;
      for (; box < end; ++box) {
        top_[box] = y;
        bottom_[box] = y + boxPadding + boxes_[box].lines * lineHeight;
        std::string style = formatv("style=\"top:{0}px;left:{1}px;height:{2}px;right:{3}px\"", y, gutter_,
                                    bottom_[box] - y, heading.empty() ? 0 : blockPadding);
        llvm::StringRef html = boxes_[box].html;
        auto [before, behind] = html.split('@');
        content_ += (before + style + behind).str();
        y = bottom_[box] + boxGap;
      }
      y += heading.empty() ? 0 : blockPadding - boxGap;
      if (!heading.empty())
        frames_ += formatv("<div class=\"frame{0}\" style=\"top:{1}px;height:{2}px\"><div class=\"heading\" "
                           "style=\"left:{3}px\">{4}</div></div>",
                           repeat ? " repeat" : "", frameTop, y - frameTop, gutter_ + 36, heading);
      y += heading.empty() ? 0 : blockGap;
      box = after;
    }
    height_ = y;
  }

  int laneX(const Lane &lane) const { return margin + int(lanes_ - 1 - lane.place) * laneWidth + laneWidth / 2; }

  static std::string arrowHead(int x, int y, bool down) {
    return down ? formatv("<path class=\"head\" d=\"M{0} {1}l-4 -6h8z\"/>", x, y).str()
                : formatv("<path class=\"head\" d=\"M{0} {1}l-6 -4v8z\"/>", x, y).str();
  }

  std::string drawLane(const Lane &lane) const {
    int x = laneX(lane), start = bottom_[lane.from] - 8;
    std::string path = formatv("M{0} {1}H{2}Q{3} {1} {3} {4}", gutter_, start, x + 5, x, start + 5), heads;
    for (size_t to : lane.to) {
      int end = top_[to] + 10;
      path += formatv("V{0}Q{1} {2} {3} {2}H{4}M{1} {0}", end - 5, x, end, x + 5, gutter_ - 5);
      heads += arrowHead(gutter_, end, /*down=*/false);
    }
    return formatv("<g class=\"lane lane{0}\"><path d=\"{1}\"/>{2}</g>", lane.place % laneColours, path, heads);
  }

  std::string drawStraight(size_t box) const {
    int x = gutter_ + 22, end = top_[nextShown(box)];
    return formatv("<g class=\"lane\"><path d=\"M{0} {1}V{2}\"/>{3}</g>", x, bottom_[box], end - 5,
                   arrowHead(x, end, /*down=*/true));
  }

  const std::vector<FlowBox> &boxes_;
  std::vector<Repeat> repeats_;
  std::vector<size_t> shownAs_; // of each box: itself, or its counterpart in the first unit of its repeat
  std::vector<Lane> bundles_;
  std::vector<size_t> straight_; // boxes whose result the next box reads
  std::vector<int> top_, bottom_;
  std::string frames_, content_;
  size_t lanes_ = 0;
  int gutter_ = 0, height_ = 0;
};

} // namespace

FlowChart drawFlow(const std::vector<FlowBox> &boxes, bool fold) { return Drawing(boxes, fold).draw(); }

} // namespace burin
