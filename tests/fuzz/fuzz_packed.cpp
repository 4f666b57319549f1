// Packed files: as they come, and with a checksum that is right, which a damaged file has by chance only.
#include "two_parameters.h"
extern "C" {
#include "hash.h"
#include "packed_file.h"
}

#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  const unsigned choices = data[0];
  std::vector<uint8_t> file(data + 1, data + size);
  if ((choices & 1) && file.size() >= sizeof(burin_packed_header)) {
    burin_packed_header header;
    std::memcpy(&header, file.data(), sizeof header);
    header.checksum = 0;
    header.checksum = burin_hash(&header, sizeof header, 0);
    std::memcpy(file.data(), &header, sizeof header);
  }
  char message[256] = "";
  burin_open_options options = {};
  options.weights = file.data();
  options.weights_bytes = file.size();
  options.verify_content = choices >> 1 & 1;
  options.copy = choices >> 2 & 1;
  options.message = message;
  options.message_bytes = sizeof message;
  burin_model *model = nullptr;
  burin_status status = burin_rt_open(&burin_fuzz::plan(), &options, &model);
  if ((status == BURIN_OK) != (model != nullptr) || (status != BURIN_OK && message[0] == '\0'))
    std::abort();
  burin_rt_close(model);
  return 0;
}
