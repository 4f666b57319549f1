#include "buffer.h"
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <sys/mman.h>
#include <unistd.h>

namespace burin::laws {

static constexpr unsigned char untouched = 0xff;

static size_t roundedUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

Buffer::Buffer(std::string name, size_t bytes, size_t alignment, Placement placement)
    : name_(std::move(name)), bytes_(bytes) {
  if (placement == Placement::anywhere) {
    size_t unit = std::max<size_t>(alignment, sizeof(void *));
    data_ =
        static_cast<unsigned char *>(std::aligned_alloc(unit, roundedUp(bytes + 1, unit))); // never null, even for 0
    if (!data_)
      throw std::bad_alloc();
    fill(untouched);
    return;
  }
  // [guard page][room][guard page]
  size_t page = size_t(sysconf(_SC_PAGESIZE)), room = std::max(roundedUp(bytes, page), page);
  mapped_ = room + 2 * page;
  void *mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    throw std::bad_alloc();
  mapping_ = static_cast<unsigned char *>(mapping);
  if (mprotect(mapping_ + page, room, PROT_READ | PROT_WRITE) != 0)
    throw std::runtime_error("a guard page cannot be made");
  std::memset(mapping_ + page, untouched, room);
  data_ = mapping_ + page;
  if (placement == Placement::beforeGuard)
    data_ += (room - bytes) / alignment * alignment;
}

Buffer::Buffer(Buffer &&other) noexcept
    : name_(std::move(other.name_)), bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)),
      mapping_(std::exchange(other.mapping_, nullptr)), mapped_(other.mapped_) {}

Buffer::~Buffer() {
  if (mapping_)
    munmap(mapping_, mapped_);
  else
    std::free(data_);
}

void Buffer::fill(unsigned char byte) { std::memset(data_, byte, bytes_); }

std::string Buffer::describe(const void *address) const {
  auto place = reinterpret_cast<uintptr_t>(address), first = reinterpret_cast<uintptr_t>(mapping_);
  if (!mapping_ || place < first || place >= first + mapped_)
    return "";
  ptrdiff_t offset = static_cast<const unsigned char *>(address) - data_;
  if (offset < 0)
    return std::to_string(-offset) + " bytes before the start of " + name_;
  return std::to_string(offset - ptrdiff_t(bytes_)) + " bytes past the end of " + name_;
}

bool Buffer::gapIsUntouched() const {
  if (!mapping_)
    return true;
  size_t page = size_t(sysconf(_SC_PAGESIZE));
  for (unsigned char *byte = mapping_ + page; byte < mapping_ + mapped_ - page; ++byte)
    if ((byte < data_ || byte >= data_ + bytes_) && *byte != untouched)
      return false;
  return true;
}

// ---- Faults

static sigjmp_buf afterFault;
static void *volatile faultAddress;

static void onFault(int, siginfo_t *information, void *) {
  faultAddress = information->si_addr;
  siglongjmp(afterFault, 1);
}

std::string faultIn(llvm::function_ref<void()> call, const std::vector<const Buffer *> &buffers) {
  struct sigaction action = {}, oldSegment, oldBus;
  action.sa_sigaction = onFault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &oldSegment);
  sigaction(SIGBUS, &action, &oldBus);
  bool faulted = sigsetjmp(afterFault, 1) != 0;
  if (!faulted)
    call();
  sigaction(SIGSEGV, &oldSegment, nullptr);
  sigaction(SIGBUS, &oldBus, nullptr);
  if (!faulted)
    return "";
  for (const Buffer *buffer : buffers)
    if (std::string text = buffer->describe(faultAddress); !text.empty())
      return text;
  return "memory that belongs to none of the buffers";
}

} // namespace burin::laws
