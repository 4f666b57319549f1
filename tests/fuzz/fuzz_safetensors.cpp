// Weights that anybody wrote: opened as what they are, told by their first bytes. A model is made or a sentence is
// said.
#include "two_parameters.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char message[256];
  burin_open_options options = {};
  options.weights = data;
  options.weights_bytes = size;
  options.allow_extra_tensors = size & 1;
  options.message = message;
  options.message_bytes = sizeof message;
  message[0] = '\0';
  burin_model *model = nullptr;
  burin_status status = burin_rt_open(&burin_fuzz::plan(), &options, &model);
  if ((status == BURIN_OK) != (model != nullptr) || (status != BURIN_OK && message[0] == '\0') ||
      std::strlen(message) >= sizeof message)
    std::abort();
  burin_rt_close(model);
  return 0;
}
