#include "tools/memory_chart.h"
#include "tools/html.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

namespace burin {

using llvm::formatv;

// Heights are pixels, widths are percent of the page's.
static constexpr double leastHeight = 40, mostHeight = 150, heightPerBlock = 30;
static constexpr double labelHeight = 15, letterWidth = 1.8; // on a phone

static std::string drawBlock(const MemoryBlock &block, double x, double width, double y, double height) {
  std::string text;
  if (width >= letterWidth * double(block.label.size()) && height >= labelHeight)
    text =
        formatv("<text x=\"{0:F3}%\" y=\"{1:F1}\">{2}</text>", x + width / 2, y + height / 2 + 4, escaped(block.label));
  return formatv("<g class=\"{0}\"><title>{1}</title><rect x=\"{2:F3}%\" y=\"{3:F1}\" width=\"{4:F3}%\" "
                 "height=\"{5:F1}\"/>{6}</g>",
                 block.style, escaped(block.title), x, y, width, height, text);
}

std::string drawLifetimes(const std::vector<MemoryBlock> &blocks, int64_t arenaBytes, size_t calls) {
  std::string svg;
  double chartHeight = std::clamp(heightPerBlock * double(blocks.size()), leastHeight, mostHeight);
  double perCall = 100.0 / double(calls), perByte = chartHeight / double(arenaBytes);
  for (const MemoryBlock &block : blocks)
    svg += drawBlock(block, double(block.first) * perCall, double(block.last - block.first + 1) * perCall,
                     chartHeight - double(block.offset + block.bytes) * perByte, double(block.bytes) * perByte);
  return formatv("<svg class=\"memory\" role=\"img\" width=\"100%\" height=\"{0}\">{1}</svg>\n", chartHeight, svg);
}

std::string drawStrip(const std::vector<MemoryBlock> &blocks, int64_t bytes) {
  constexpr double height = 26;
  std::string svg;
  for (const MemoryBlock &block : blocks)
    svg += drawBlock(block, 100.0 * double(block.offset) / double(bytes), 100.0 * double(block.bytes) / double(bytes),
                     0, height);
  return formatv("<svg class=\"memory\" role=\"img\" width=\"100%\" height=\"{0}\">{1}</svg>\n", height, svg);
}

} // namespace burin
