#include "machine/server_process.h"
#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace burin {

ServerProcess::ServerProcess(const std::vector<std::string> &command, std::string what) : what_(std::move(what)) {
  int sockets[2]; // closed on exec: no other child holds this one's connection open
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw MachineError(what_ + " cannot be started: no sockets: " + std::strerror(errno));
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  int error = posix_spawnp(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  socket_ = sockets[0];
  if (error != 0) {
    process_ = -1;
    close(socket_);
    throw MachineError(what_ + " cannot be started with '" + command[0] + "': " + std::strerror(error));
  }
}

ServerProcess::~ServerProcess() {
  close(socket_);
  if (process_ < 0)
    return;
  kill(process_, SIGKILL); // it holds nothing that has to be put in order
  waitpid(process_, nullptr, 0);
}

void ServerProcess::failEnded(const char *during) {
  std::string how = "closed its connection";
  shutdown(socket_, SHUT_RDWR); // ends a process that goes on
  int status = 0;
  if (process_ >= 0 && waitpid(process_, &status, 0) == process_) {
    if (WIFSIGNALED(status))
      how = "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
    else
      how = "ended with status " + std::to_string(WEXITSTATUS(status));
    process_ = -1;
  }
  throw MachineError(what_ + " " + how + " while it " + during);
}

void ServerProcess::send(const void *from, size_t bytes, const char *during) {
  for (size_t done = 0; done < bytes;) {
    ssize_t now = ::send(socket_, static_cast<const char *>(from) + done, bytes - done, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR)
      continue;
    if (now <= 0)
      failEnded(during);
    done += size_t(now);
  }
}

void ServerProcess::receive(void *to, size_t bytes, const char *during) {
  for (size_t done = 0; done < bytes;) {
    ssize_t now = recv(socket_, static_cast<char *>(to) + done, bytes - done, 0);
    if (now < 0 && errno == EINTR)
      continue;
    if (now <= 0)
      failEnded(during);
    done += size_t(now);
  }
}

Reply ServerProcess::receiveReply(const char *during) {
  burin_reply head;
  receive(&head, sizeof head, during);
  if (head.block_count < 0 || head.block_count > BURIN_MOST_BLOCKS)
    throw MachineError(what_ + " replied with " + std::to_string(head.block_count) + " blocks, expected at most " +
                       std::to_string(BURIN_MOST_BLOCKS));
  Reply reply{head.status, head.value, {}};
  for (int64_t i = 0; i < head.block_count; ++i) {
    int64_t bytes;
    receive(&bytes, sizeof bytes, during);
    if (bytes < BURIN_NULL_BLOCK || bytes > BURIN_MOST_BLOCK_BYTES)
      throw MachineError(what_ + " replied with a block of " + std::to_string(bytes) + " bytes, expected at most " +
                         std::to_string(BURIN_MOST_BLOCK_BYTES));
    std::vector<char> &block = reply.blocks.emplace_back(bytes > 0 ? size_t(bytes) : 0);
    receive(block.data(), block.size(), during);
  }
  return reply;
}

static const char *describe(int64_t kind) {
  switch (kind) {
  case BURIN_REQUEST_OPEN:
    return "opened the weights";
  case BURIN_REQUEST_CLOSE:
    return "closed the model";
  case BURIN_REQUEST_SCRATCH_BYTES:
    return "was asked for the size of scratch";
  case BURIN_REQUEST_FORWARD:
    return "ran forward";
  case BURIN_REQUEST_FORWARD_BATCH:
    return "ran forward_batch";
  case BURIN_REQUEST_RESET:
    return "ran reset";
  case BURIN_REQUEST_STEP:
    return "ran step";
  case BURIN_REQUEST_ADVANCE:
    return "ran advance";
  case BURIN_REQUEST_STATE_READ:
    return "ran state_read";
  case BURIN_REQUEST_STATE_SAVE:
    return "ran state_save";
  case BURIN_REQUEST_STATE_LOAD:
    return "ran state_load";
  default:
    return "was asked for what is not in the protocol";
  }
}

Reply ServerProcess::ask(const Request &request, const std::vector<RequestBlock> &blocks) {
  const char *during = describe(request.kind);
  if (process_ < 0)
    throw MachineError(what_ + " has ended before; it is not there for what was to be done: " + during);
  const burin_request head = {request.kind,   request.model, request.scratchBytes,
                              request.number, request.count, int64_t(blocks.size())};
  // One write for what is small: a step is a few hundred bytes.
  std::vector<char> message(reinterpret_cast<const char *>(&head), reinterpret_cast<const char *>(&head + 1));
  for (const RequestBlock &block : blocks) {
    int64_t bytes = block.data ? block.bytes : BURIN_NULL_BLOCK;
    message.insert(message.end(), reinterpret_cast<const char *>(&bytes), reinterpret_cast<const char *>(&bytes + 1));
    if (bytes > 0)
      message.insert(message.end(), static_cast<const char *>(block.data),
                     static_cast<const char *>(block.data) + bytes);
  }
  send(message.data(), message.size(), during);
  return receiveReply(during);
}

} // namespace burin
