// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "doctor_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "child.hpp"
#include "doctor_text.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/context.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/page.hpp"
#include "neap/report/snapshot_file.hpp"
#include "output_files.hpp"

namespace neap::app {
namespace {

constexpr int kSignalStatus = 128;  // and its number, as shells have it

// A folder of this process's own with room for one file; both go with it.
class TemporaryFile {
 public:
  static Result<TemporaryFile> make() {
    const char* place = std::getenv("TMPDIR");
    std::string folder = place != nullptr && *place != '\0' ? place : "/tmp";
    folder += "/neap-doctor-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      return failure(
          FailureKind::kIo,
          fmt::format("cannot make the folder {}: {}; TMPDIR names "
                      "another place",
                      base::shown_path(folder), std::strerror(errno)));
    }
    return TemporaryFile(std::move(folder));
  }
  TemporaryFile(TemporaryFile&& other) noexcept
      : folder_(std::exchange(other.folder_, {})),
        path_(std::move(other.path_)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!folder_.empty()) {
      static_cast<void>(::unlink(path_.c_str()));
      static_cast<void>(::rmdir(folder_.c_str()));
    }
  }

  const std::string& path() const noexcept { return path_; }
  bool is_there() const noexcept { return ::access(path_.c_str(), F_OK) == 0; }

 private:
  explicit TemporaryFile(std::string folder)
      : folder_(std::move(folder)), path_(folder_ + "/run.neapmem") {}

  std::string folder_;
  std::string path_;
};

void print(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

int status_of(const Ending& ending) noexcept {
  return ending.signal != 0 ? kSignalStatus + ending.signal : ending.status;
}

void print_ending(const DoctorSettings& settings, const Ending& ending) {
  print(fmt::format("\nneap doctor: {} ", base::shown_path(settings.words[0])));
  print(ending.signal != 0
            ? fmt::format("was ended by signal {} ({})\n", ending.signal,
                          ::strsignal(ending.signal))
            : fmt::format("ended with status {}\n", ending.status));
}

// `ours`, unless the program has something to say itself.
ExitCode code_of(const Ending& ending, ExitCode ours) noexcept {
  const int status = status_of(ending);
  return status != 0 ? static_cast<ExitCode>(status) : ours;
}

Result<void> write_files(files::Door& door, const DoctorSettings& settings,
                         const report::Snapshot& snapshot) {
  Result<void> done;
  if (!settings.snapshot.empty()) {
    done = report::write_snapshot(door, settings.snapshot, snapshot);
  }
  if (done && !settings.page.empty()) {
    done = report::write_page(door, settings.page, snapshot);
  }
  return done;
}

ExitCode say_of(const DoctorSettings& settings, const Ending& ending,
                const TemporaryFile& file) {
  files::Door& door = files::system_door();
  const memory::UseDomain use(report::report_domain());
  print_ending(settings, ending);
  std::fflush(stdout);  // before what standard error says
  if (!file.is_there()) {
    const memory::String why = why_nothing(ending.signal);
    fail(ExitCode::kData,
         fmt::format("{}: {}", base::shown_path(settings.words[0]),
                     std::string_view(why)));
    return code_of(ending, ExitCode::kData);
  }
  const auto snapshot = report::read_snapshot(door, file.path());
  if (!snapshot) {
    return code_of(ending, fail(ExitCode::kData, snapshot.error().message));
  }
  print(findings(*snapshot));
  const auto written = write_files(door, settings, *snapshot);
  if (!written) {
    return code_of(ending, fail(ExitCode::kOutput, written.error().message));
  }
  return code_of(ending,
                 has_leaks(*snapshot) ? ExitCode::kLeak : ExitCode::kOk);
}

}  // namespace

ExitCode run_doctor(const DoctorSettings& settings) {
  if (settings.words.empty()) {
    return fail(ExitCode::kUsage,
                "doctor needs a program: neap doctor -- ./my_program args");
  }
  const std::array<NamedFile, 2> outputs{
      {{"--page", settings.page}, {"--snapshot", settings.snapshot}}};
  const std::array<NamedFile, 1> inputs{{{"the program", settings.words[0]}}};
  if (auto good = check_distinct(files::system_door(), outputs, inputs);
      !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto file = TemporaryFile::make();
  if (!file) {
    return fail(ExitCode::kOutput, file.error().message);
  }
  std::fflush(stdout);
  const auto ending = run_child(settings.words, "NEAP_SNAPSHOT", file->path());
  return ending ? say_of(settings, *ending, *file)
                : fail(ExitCode::kUsage, ending.error().message);
}

}  // namespace neap::app
