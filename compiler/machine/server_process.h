// The child process in which a model is emulated: requests and replies (model_protocol.h) over a pair of sockets.
#pragma once

#include "machine/loaded_model.h"
#include "machine/model_protocol.h"
#include <string>
#include <vector>

namespace burin {

/// burin_request without its blocks.
struct Request {
  int64_t kind = 0, model = 0, scratchBytes = BURIN_NULL_BLOCK, number = 0, count = 0;
};

/// What a pointer of a call stands for in a request: bytes, or null.
struct RequestBlock {
  const void *data;
  int64_t bytes;
};

struct Reply {
  int64_t status = 0, value = 0;
  std::vector<std::vector<char>> blocks; // a null block is empty
};

class ServerProcess {
public:
  /// Starts the command; `what` names it in errors. Throws MachineError.
  ServerProcess(const std::vector<std::string> &command, std::string what);
  /// Ends it.
  ~ServerProcess();
  ServerProcess(const ServerProcess &) = delete;
  ServerProcess &operator=(const ServerProcess &) = delete;

  /// Throws MachineError where the process has ended, and with what status.
  Reply ask(const Request &request, const std::vector<RequestBlock> &blocks);
  /// What the server says first.
  Reply greeting() { return receiveReply("started"); }
  int processId() const { return process_; }

private:
  void send(const void *from, size_t bytes, const char *during);
  void receive(void *to, size_t bytes, const char *during);
  Reply receiveReply(const char *during);
  [[noreturn]] void failEnded(const char *during);

  std::string what_;
  int process_ = -1, socket_ = -1;
};

} // namespace burin
