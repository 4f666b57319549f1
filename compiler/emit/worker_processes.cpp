// Messages in both directions keep their bounds (SOCK_SEQPACKET): a job, and how it ended. The socket is the server's
// standard input.
#include "emit/worker_processes.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char **environ;

namespace burin {

namespace {
/// Of a message to the server; the path of the errors' file and the job's text follow it, each ended by a zero.
struct JobHead {
  uint64_t job;
};
struct JobEnd {
  uint64_t job;
  int32_t status; // as waitpid says it
  int32_t error;  // why there was no process for it, as errno; else 0
};

constexpr size_t mostMessageBytes = 16 * 1024; // two paths, each of PATH_MAX at most
} // namespace

// ---- The parent -----------------------------------------------------------------------------------------------------

static llvm::Error cannotStart(int error) {
  return llvm::createStringError("cannot start a worker: " + llvm::StringRef(std::strerror(error)));
}

llvm::Expected<WorkerProcesses> WorkerProcesses::start(const std::string &program, const char *flag,
                                                       unsigned limitSeconds) {
  int sockets[2], process = -1; // closed on exec: no other child holds this one's connection open
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0)
    return cannotStart(errno);
  std::string limit = std::to_string(limitSeconds);
  char *arguments[] = {const_cast<char *>(program.c_str()), const_cast<char *>(flag), limit.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int error = posix_spawn(&process, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  if (error == 0)
    return WorkerProcesses(process, sockets[0]);
  close(sockets[0]);
  return cannotStart(error);
}

WorkerProcesses::WorkerProcesses(WorkerProcesses &&other) noexcept
    : process_(std::exchange(other.process_, -1)), socket_(std::exchange(other.socket_, -1)) {}

WorkerProcesses::~WorkerProcesses() {
  if (process_ < 0)
    return;
  close(socket_); // the server sees it, and ends
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR)
    continue;
}

llvm::Error WorkerProcesses::begin(size_t job, llvm::StringRef text, llvm::StringRef errorsPath) {
  JobHead head = {job};
  std::string message(reinterpret_cast<const char *>(&head), sizeof head);
  message.append(errorsPath).push_back('\0');
  message.append(text).push_back('\0');
  while (send(socket_, message.data(), message.size(), MSG_NOSIGNAL) < 0)
    if (errno != EINTR)
      return cannotStart(errno);
  return llvm::Error::success();
}

llvm::Expected<WorkerProcesses::Ended> WorkerProcesses::wait() {
  JobEnd end;
  ssize_t bytes;
  while ((bytes = recv(socket_, &end, sizeof end, 0)) < 0 && errno == EINTR)
    continue;
  if (bytes != sizeof end)
    return llvm::createStringError("the process that starts workers has ended");
  Ended ended = {size_t(end.job), false, false, ""};
  if (end.error) {
    ended.how = "cannot be started: " + std::string(std::strerror(end.error));
  } else if (WIFSIGNALED(end.status)) {
    int signal = WTERMSIG(end.status);
    ended.late = signal == SIGXCPU;
    ended.how = "was ended by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
  } else {
    ended.good = WEXITSTATUS(end.status) == 0;
    ended.how = "ended with status " + std::to_string(WEXITSTATUS(end.status));
  }
  return ended;
}

// ---- The server -----------------------------------------------------------------------------------------------------

namespace {
struct Child {
  pid_t process;
  uint64_t job;
};

/// In the child: does the job and ends.
[[noreturn]] void runJob(const char *errorsPath, llvm::StringRef text, unsigned limitSeconds,
                         llvm::function_ref<int(llvm::StringRef)> job) {
  int errors = open(errorsPath, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO); // the server's alone
  dup2(errors, STDERR_FILENO);
  rlimit limit = {};
  getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, limitSeconds);
  setrlimit(RLIMIT_CPU, &limit);
  std::signal(SIGXCPU, SIG_DFL);
  int status = job(text);
  fflush(nullptr);
  _exit(status);
}
} // namespace

int serveJobs(unsigned limitSeconds, llvm::function_ref<int(llvm::StringRef)> job) {
  // Children's ends come as data to poll; an interruption from the terminal is the parent's to answer.
  sigset_t childEnds, before;
  sigemptyset(&childEnds);
  sigaddset(&childEnds, SIGCHLD);
  sigprocmask(SIG_BLOCK, &childEnds, &before);
  int ends = signalfd(-1, &childEnds, SFD_CLOEXEC | SFD_NONBLOCK);
  auto onInterrupt = std::signal(SIGINT, SIG_IGN);

  std::vector<Child> children;
  std::vector<char> message(mostMessageBytes);
  pollfd events[] = {{STDIN_FILENO, POLLIN, 0}, {ends, POLLIN, 0}};
  while (ends >= 0) {
    if (poll(events, 2, -1) < 0 && errno != EINTR)
      break;
    if (events[1].revents) {
      signalfd_siginfo told;
      while (read(ends, &told, sizeof told) > 0)
        continue;
      int status;
      for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
        auto child = std::find_if(children.begin(), children.end(), [&](Child &c) { return c.process == process; });
        if (child == children.end())
          continue;
        JobEnd end = {child->job, status, 0};
        send(STDIN_FILENO, &end, sizeof end, MSG_NOSIGNAL);
        children.erase(child);
      }
    }
    if (!events[0].revents)
      continue;
    ssize_t bytes = recv(STDIN_FILENO, message.data(), message.size(), 0);
    if (bytes < 0 && errno == EINTR)
      continue;
    if (bytes < ssize_t(sizeof(JobHead)))
      break; // the parent is gone
    JobHead head;
    std::memcpy(&head, message.data(), sizeof head);
    const char *errorsPath = message.data() + sizeof head, *text = errorsPath + std::strlen(errorsPath) + 1;
    pid_t process = fork();
    if (process == 0) {
      std::signal(SIGINT, onInterrupt);
      sigprocmask(SIG_SETMASK, &before, nullptr);
      close(ends);
      runJob(errorsPath, text, limitSeconds, job);
    }
    if (process > 0) {
      children.push_back({process, head.job});
    } else {
      JobEnd end = {head.job, 0, errno};
      send(STDIN_FILENO, &end, sizeof end, MSG_NOSIGNAL);
    }
  }
  for (const Child &child : children)
    kill(child.process, SIGKILL);
  return 0;
}

} // namespace burin
