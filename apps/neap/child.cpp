// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "child.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>

#include "neap/base/shown.hpp"

namespace neap::app {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t child = 0;  // its process; 0: none

void hand_on(int signal) {
  const int before = errno;
  if (child != 0) {
    ::kill(static_cast<pid_t>(child), signal);
  }
  errno = before;
}

// While a child runs: the terminal's signals are ignored here, since it sends
// them to the child, too; others are handed on. A signal that this process was
// started to ignore stays ignored, here and there.
class Signals {
 public:
  Signals() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, &mask_);
    ::sigemptyset(&defaults_);
    for (const int signal : {SIGPIPE, SIGXFSZ}) {  // the tool ignores them
      ::sigaddset(&defaults_, signal);
    }
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      ::sigaction(kKinds[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) {
        continue;
      }
      struct sigaction action {};
      action.sa_handler = i < 2 ? SIG_IGN : &hand_on;
      action.sa_flags = static_cast<int>(SA_RESTART);
      ::sigaction(kKinds[i], &action, nullptr);
      ::sigaddset(&defaults_, kKinds[i]);
    }
  }
  ~Signals() {
    child = 0;
    for (std::size_t i = 0; i < kKinds.size(); ++i) {
      ::sigaction(kKinds[i], &before_[i], nullptr);
    }
    unblock();
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  const sigset_t& defaults() const noexcept { return defaults_; }
  const sigset_t& mask() const noexcept { return mask_; }
  void unblock() const noexcept { ::sigprocmask(SIG_SETMASK, &mask_, nullptr); }

 private:
  static constexpr std::array<int, 4> kKinds{SIGINT, SIGQUIT, SIGTERM, SIGHUP};

  sigset_t mask_{};
  sigset_t defaults_{};
  std::array<struct sigaction, kKinds.size()> before_{};
};

class SpawnAttributes {
 public:
  explicit SpawnAttributes(const Signals& signals) noexcept {
    ::posix_spawnattr_init(&value_);
    ::posix_spawnattr_setsigdefault(&value_, &signals.defaults());
    ::posix_spawnattr_setsigmask(&value_, &signals.mask());
    ::posix_spawnattr_setflags(&value_,
                               POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&value_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const noexcept { return &value_; }

 private:
  posix_spawnattr_t value_{};
};

// The environment with one entry ("NAME=VALUE") in place of another.
std::vector<char*> environment_with(std::string& entry) {
  const std::string_view name(entry.data(), entry.find('=') + 1);
  std::vector<char*> out;
  for (char** at = environ; *at != nullptr; ++at) {
    if (!std::string_view(*at).starts_with(name)) {
      out.push_back(*at);
    }
  }
  out.push_back(entry.data());
  out.push_back(nullptr);
  return out;
}

Ending wait_for(pid_t process) noexcept {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                             : Ending{.status = WEXITSTATUS(status)};
}

}  // namespace

Result<Ending> run_child(const std::vector<std::string>& words,
                         const std::string& variable,
                         const std::string& value) {
  std::string entry = variable + "=" + value;
  std::vector<char*> environment = environment_with(entry);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  const Signals signals;
  const SpawnAttributes attributes(signals);
  pid_t process = 0;
  const int error =
      ::posix_spawnp(&process, arguments[0], nullptr, attributes.get(),
                     arguments.data(), environment.data());
  if (error != 0) {
    return failure(FailureKind::kIo,
                   fmt::format("cannot run {}: {}", base::shown_path(words[0]),
                               std::strerror(error)));
  }
  child = process;
  signals.unblock();
  return wait_for(process);
}

}  // namespace neap::app
