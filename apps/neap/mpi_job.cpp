// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "mpi_job.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "neap/base/shown.hpp"

namespace neap::app {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLook{50};
constexpr seconds kGrace{30};      // for a job that was told to end
constexpr seconds kFarewell{2};    // for processes that outlive mpirun
constexpr int kNotRunnable = 127;  // as shells have it

constexpr std::array<int, 3> kKinds{SIGINT, SIGTERM, SIGHUP};
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t job = 0;  // its process; 0: none
volatile std::sig_atomic_t first = 0;
std::array<struct sigaction, kKinds.size()> before{};
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

void hand_on(int signal) {
  const int error = errno;
  first = first == 0 ? signal : static_cast<int>(first);
  if (job != 0) {
    ::kill(static_cast<pid_t>(job), signal);
  }
  errno = error;
}

// All signals wait while it lives.
class Blocked {
 public:
  Blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &mask_);
  }
  ~Blocked() { ::sigprocmask(SIG_SETMASK, &mask_, nullptr); }
  Blocked(const Blocked&) = delete;
  Blocked& operator=(const Blocked&) = delete;
  const sigset_t& mask() const noexcept { return mask_; }

 private:
  sigset_t mask_{};
};

class Descriptor {
 public:
  explicit Descriptor(int number) noexcept : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const noexcept { return number_; }
  void close() noexcept {
    if (number_ >= 0) {
      ::close(std::exchange(number_, -1));
    }
  }

 private:
  int number_;
};

// In the child, where only what is safe in a signal handler may be called.
[[noreturn]] void become(char* const* arguments, int error, pid_t parent,
                         const sigset_t& mask) noexcept {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) {
    ::_exit(kNotRunnable);
  }
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(error, STDERR_FILENO);
  for (const int signal : {SIGPIPE, SIGXFSZ}) {  // the tool ignores them
    static_cast<void>(::signal(signal, SIG_DFL));
  }
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(arguments[0], arguments);
  ::_exit(kNotRunnable);
}

// The processes whose parent is this one, at most as many as there is room for.
std::size_t children(std::array<pid_t, 256>& into) noexcept {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%ld/children",
                static_cast<long>(::gettid()));
  std::FILE* file = std::fopen(path.data(), "re");
  std::size_t count = 0;
  int process = 0;
  while (file != nullptr && count < into.size() &&
         std::fscanf(file, "%d", &process) == 1) {
    into[count++] = process;
  }
  if (file != nullptr) {
    std::fclose(file);
  }
  return count;
}

// Ranks whose mpirun is gone are children of this process (it is their
// subreaper). They are given a moment, since they may be about to end.
void end_leftovers() noexcept {
  const auto start = Clock::now();
  std::array<pid_t, 256> left{};
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::size_t count = children(left);
    if (count == 0) {
      return;
    }
    const bool is_over = Clock::now() - start > kFarewell;
    for (std::size_t i = 0; i < count && is_over; ++i) {
      ::kill(left[i], SIGKILL);
    }
    std::this_thread::sleep_for(kLook);
  }
}

// Passes on what has come so far. RETURNS: false at its end.
bool pump(int from, int timeout, LauncherText& text) {
  struct pollfd look {
    from, POLLIN, 0
  };
  if (::poll(&look, 1, timeout) <= 0) {
    return true;
  }
  std::array<char, 4096> bytes{};
  const ssize_t count = ::read(from, bytes.data(), bytes.size());
  if (count <= 0) {
    return count < 0 && (errno == EINTR || errno == EAGAIN);
  }
  const auto size = static_cast<std::size_t>(count);
  for (std::size_t at = 0; at < size;) {
    const ssize_t written =
        ::write(STDERR_FILENO, bytes.data() + at, size - at);
    if (written < 0 && errno != EINTR) {
      break;  // nobody reads it, which is no reason to end the job
    }
    at += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  text.take({bytes.data(), size});
  return true;
}

Ending ending_of(int status) noexcept {
  return WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                             : Ending{.status = WEXITSTATUS(status)};
}

Ending attend(pid_t process, int from, LauncherText& text) {
  bool is_open = true;
  std::optional<Clock::time_point> told;
  int status = 0;
  while (::waitpid(process, &status, WNOHANG) == 0) {
    if (is_open) {
      is_open = pump(from, static_cast<int>(kLook.count()), text);
    } else {
      std::this_thread::sleep_for(kLook);
    }
    // mpirun may hang over ranks that have ended because of another one.
    if (!told && (first != 0 || !text.cause().empty())) {
      told = Clock::now();
    }
    if (told && Clock::now() - *told > kGrace) {
      ::kill(process, SIGKILL);
    }
  }
  const Blocked blocked;
  job = 0;
  return ending_of(status);
}

}  // namespace

JobSignals::JobSignals() {
  first = 0;
  // Ranks are this process's to end, where mpirun itself is killed.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    ::sigaction(kKinds[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction action {};
    action.sa_handler = &hand_on;
    action.sa_flags = static_cast<int>(SA_RESTART);
    ::sigaction(kKinds[i], &action, nullptr);
  }
}

JobSignals::~JobSignals() {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    ::sigaction(kKinds[i], &before[i], nullptr);
  }
}

int JobSignals::caught() noexcept {
  return first;
}

Result<JobEnd> run_job(const std::vector<std::string>& words) {
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return failure(FailureKind::kIo,
                   fmt::format("launch: no pipe: {}", std::strerror(errno)));
  }
  const Descriptor from(ends[0]);
  Descriptor into(ends[1]);
  const pid_t parent = ::getpid();
  pid_t process = 0;
  {
    const Blocked blocked;
    process = ::fork();
    if (process == 0) {
      become(arguments.data(), into.get(), parent, blocked.mask());
    }
    job = process > 0 ? process : 0;
  }
  if (process < 0) {
    return failure(FailureKind::kIo,
                   fmt::format("cannot run {}: {}", base::shown_path(words[0]),
                               std::strerror(errno)));
  }
  into.close();
  JobEnd end;
  end.ending = attend(process, from.get(), end.text);
  end_leftovers();
  ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 1024; ++i) {  // what came since the last look
    std::array<struct pollfd, 1> look{{{from.get(), POLLIN, 0}}};
    if (::poll(look.data(), 1, 0) <= 0 || !pump(from.get(), 0, end.text)) {
      break;
    }
  }
  return end;
}

}  // namespace neap::app
