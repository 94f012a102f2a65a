// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/at_exit.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "neap/base/immortal.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/size_signal.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/default_log.hpp"
#include "neap/report/exit_report.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_file.hpp"

namespace neap::report {

const char internal::kAtExit = 0;

namespace {

constexpr const char* kPage = "NEAP_PAGE";
constexpr const char* kSnapshot = "NEAP_SNAPSHOT";
constexpr std::size_t kEvents = 128 * 1024;  // 6 MiB of the reports' domain

// A line on standard error. A reader that is gone must not end the program.
void say(std::string_view sentence) noexcept {
  try {
    const std::string line = fmt::format("neap: {}\n", sentence);
    std::string_view rest = line;
    while (!rest.empty()) {
      const base::NoSizeSignal guard;
      const ssize_t count = ::write(STDERR_FILENO, rest.data(), rest.size());
      if (count < 0 && errno != EINTR) {
        return;
      }
      rest.remove_prefix(count < 0 ? 0 : static_cast<std::size_t>(count));
    }
  } catch (...) {  // no memory for a sentence
  }
}

// A file or standard error may be a pipe that nobody reads.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() noexcept {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    has_before_ = ::sigaction(SIGPIPE, &ignore, &before_) == 0;
  }
  ~WithoutPipeSignal() {
    if (has_before_) {
      ::sigaction(SIGPIPE, &before_, nullptr);
    }
  }
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;

 private:
  struct sigaction before_ {};
  bool has_before_ = false;
};

// The files that the environment asks for, and what goes into them.
struct Watch {
  std::string page;
  std::string snapshot;
  pid_t process = 0;
  memory::Vector<memory::Event> events;
  std::optional<ExitReport> report;
};

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
Watch* watch = nullptr;  // set once, before main

void write(std::string_view variable, const std::string& path,
           const Snapshot& snapshot,
           Result<void> (*writer)(files::Door&, const std::string&,
                                  const Snapshot&)) {
  if (path.empty()) {
    return;
  }
  files::Door& door = files::system_door();
  const auto there = door.inspect(path);
  if (there && there->kind == files::PathKind::kOther) {
    // Nobody may ever read from a pipe, and the program is at its end.
    say(fmt::format("{}: {} is a device or a pipe; name a file", variable,
                    base::shown_path(path)));
    return;
  }
  const auto done = writer(door, path, snapshot);
  if (!done) {
    say(fmt::format("{}: {}", variable,
                    base::shown_message(done.error().message)));
  }
}

// Once the first is written.
bool is_one_file(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) {
    return false;
  }
  const auto one = files::system_door().inspect(a);
  const auto other = files::system_door().inspect(b);
  return one && other && one->number != 0 && one->number == other->number &&
         one->device == other->device;
}

// Called by exit(), after the destructors of the program's static objects.
void write_all() noexcept {
  if (::getpid() != watch->process) {
    return;  // a child has the parent's threads no longer, nor its files
  }
  const WithoutPipeSignal no_signal;
  try {
    const memory::UseDomain use(report_domain());
    const Snapshot snapshot = watch->report->finish();
    compiler::watch_steps(nullptr);
    graph::watch_updates(nullptr);
    write(kPage, watch->page, snapshot,
          [](files::Door& door, const std::string& path, const Snapshot& s) {
            return write_page(door, path, s);
          });
    if (is_one_file(watch->page, watch->snapshot)) {
      say(
          fmt::format("{} and {} name one file: the page is there, and no "
                      "snapshot",
                      kPage, kSnapshot));
      return;
    }
    write(kSnapshot, watch->snapshot, snapshot, write_snapshot);
  } catch (const std::exception& error) {
    say(fmt::format("nothing is written at exit: {}", error.what()));
  } catch (...) {
    say("nothing is written at exit");
  }
}

std::string path_of(const char* variable) {
  const char* path = ::secure_getenv(variable);
  return path == nullptr || *path == '\0'
             ? std::string()
             : std::filesystem::absolute(path).string();
}

void start() {
  // Nothing may be of the default domain, whose log begins with it.
  const memory::UseDomain use(report_domain());
  static base::Immortal<Watch> instance;  // threads may call steps at exit
  Watch& made = *instance;
  watch = &made;
  made.page = path_of(kPage);
  made.snapshot = path_of(kSnapshot);
  made.process = ::getpid();
  // Static objects that are needed at the end are made before this registers
  // itself, so that they go after it was called.
  files::system_door();
  made.events = memory::Vector<memory::Event>(kEvents);
  static_cast<void>(memory::log_default_domain(made.events));
  made.report.emplace(memory::default_domain(),
                      ::program_invocation_short_name);
  if (std::atexit(&write_all) == 0) {
    compiler::watch_steps(&*made.report);
    graph::watch_updates(&*made.report);
  }
}

// Before other static objects are made, so that all events are in the log and
// all destructors come before write_all().
[[gnu::constructor(101)]] void look_at_environment() noexcept {
  if (::secure_getenv(kPage) == nullptr &&
      ::secure_getenv(kSnapshot) == nullptr) {
    return;
  }
  try {
    start();
  } catch (const std::exception& error) {
    say(fmt::format("{} and {}: {}; nothing will be written", kPage, kSnapshot,
                    error.what()));
  } catch (...) {
    say("nothing will be written at exit");
  }
}

}  // namespace
}  // namespace neap::report
