// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "launch_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "mpi_job.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/safetensors.hpp"
#include "numbers.hpp"
#include "output_files.hpp"
#include "programs.hpp"
#include "ranks.hpp"
#include "saved_model.hpp"

namespace neap::app {
namespace {

constexpr int kSignalStatus = 128;  // and its number, as mpirun has it
constexpr std::int64_t kMostRanks = 1024;

tl::unexpected<Failure> refuse(std::string message) {
  return failure(FailureKind::kMismatch, std::move(message));
}

// All starts of a run, but for the checkpoint that each goes on from.
struct Course {
  std::vector<std::int64_t> ranks;
  std::vector<std::string> before;  // mpirun and its options
  std::vector<std::string> words;   // neap, train and its options
  bool resumes_other = false;       // --resume is another file than --save
};

Result<std::vector<std::int64_t>> read_ranks(const std::string& text) {
  std::vector<std::int64_t> ranks;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::int64_t count = 0;
    if (!parse_number(std::string_view(text).substr(at, comma - at), count) ||
        count < 1 || count > kMostRanks) {
      return refuse(
          fmt::format("--ranks: '{}' is not numbers from 1 to {}, "
                      "like 4,2",
                      base::shown(text), kMostRanks));
    }
    ranks.push_back(count);
    at = comma + 1;
  }
  return ranks;
}

// Each number of ranks has to suit the shards, which stay as they are.
Result<std::int64_t> shards_for(const std::vector<std::int64_t>& ranks,
                                const TrainSettings& job) {
  const std::int64_t most = *std::ranges::max_element(ranks);
  const std::int64_t shards = job.shards > 1 ? job.shards : most;
  for (const std::int64_t count : ranks) {
    if (shards % count != 0) {
      return refuse(fmt::format(
          "--ranks {}: {} ranks cannot share out {} shards; give numbers that "
          "divide --shards, which decides the bits of the run and stays",
          fmt::join(ranks, ","), count, shards));
    }
    TrainSettings one = job;
    one.shards = shards;
    one.ranks = count;
    if (auto good = check_ranks(one); !good) {
      return tl::unexpected(good.error());
    }
  }
  return shards;
}

void add_words(std::string_view text, std::vector<std::string>& words) {
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) {
      words.emplace_back(text.substr(0, space));
    }
    text.remove_prefix(std::min(space + 1, text.size()));
  }
}

// The words without an option and its value.
std::vector<std::string> without(const std::vector<std::string>& words,
                                 std::string_view option) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == option) {
      ++i;  // its value
    } else if (!words[i].starts_with(fmt::format("{}=", option))) {
      out.push_back(words[i]);
    }
  }
  return out;
}

bool exists(const std::string& path) {
  const auto facts = files::system_door().inspect(path);
  return facts && facts->kind != files::PathKind::kNothing;
}

// The first start goes on from one file, or from nothing.
Result<bool> resumes_other(const TrainSettings& job) {
  const NamedFile save{"--save", job.save};
  const NamedFile resume{"--resume", job.resume};
  if (job.resume.empty() || job.resume == job.save ||
      !check_distinct(files::system_door(), std::span(&save, 1),
                      std::span(&resume, 1))) {
    return false;
  }
  if (exists(job.save)) {
    return refuse(fmt::format(
        "--resume {}: --save names {}, which is there, and launch goes on from "
        "that; leave --resume out, or save to another file",
        base::shown_path(job.resume), base::shown_path(job.save)));
  }
  return true;
}

Result<Course> course_of(const LaunchSettings& settings,
                         const TrainSettings& job) {
  if (job.save.empty()) {
    return refuse(
        "launch: a run without --save cannot go on where a rank is lost; give "
        "--save FILE, and --save-every N");
  }
  Course out;
  auto ranks = read_ranks(settings.ranks);
  if (!ranks) {
    return tl::unexpected(ranks.error());
  }
  out.ranks = std::move(*ranks);
  const auto shards = shards_for(out.ranks, job);
  const auto other = resumes_other(job);
  const auto mpirun = find_mpirun(settings.mpirun);
  const auto program = own_program();
  for (const Failure* error :
       {shards ? nullptr : &shards.error(), other ? nullptr : &other.error(),
        mpirun ? nullptr : &mpirun.error(),
        program ? nullptr : &program.error()}) {
    if (error != nullptr) {
      return tl::unexpected(*error);
    }
  }
  out.resumes_other = *other;
  out.before = {*mpirun};
  add_words(settings.options, out.before);
  out.words = {*program};
  const auto given = without(settings.words, "--shards");
  out.words.insert(out.words.end(), given.begin(), given.end());
  out.words.insert(out.words.end(), {"--shards", fmt::format("{}", *shards)});
  return out;
}

// The step of the checkpoint that --save names; nothing: there is none yet.
Result<std::optional<std::string>> saved_step(const TrainSettings& job) {
  if (!exists(job.save)) {
    return std::optional<std::string>();
  }
  return formats::SafetensorsFile::open(files::system_door(), job.save,
                                        verify_of(job.verify))
      .map([](const formats::SafetensorsFile& file) {
        const memory::String* step = file.find_text("neap.step");
        return std::optional<std::string>(step != nullptr ? std::string(*step)
                                                          : std::string("?"));
      });
}

std::vector<std::string> words_of_start(const Course& course,
                                        std::int64_t ranks, bool has_saved,
                                        const TrainSettings& job) {
  std::vector<std::string> words = course.before;
  words.insert(words.end(), {"-n", fmt::format("{}", ranks)});
  const bool resumes = has_saved || !course.resumes_other;
  const auto rest = resumes ? without(course.words, "--resume") : course.words;
  words.insert(words.end(), rest.begin(), rest.end());
  if (has_saved) {
    words.insert(words.end(), {"--resume", job.save});
  }
  return words;
}

int status_of(const Ending& ending) noexcept {
  return ending.signal != 0 ? kSignalStatus + ending.signal : ending.status;
}

// Another start may mend it: a rank was lost, or mpirun itself. Neap's own
// statuses say what would be the same again.
bool is_lost(const JobEnd& end) noexcept {
  if (end.text.is_mismatch()) {
    return false;
  }
  const auto status = static_cast<ExitCode>(status_of(end.ending));
  switch (status) {
    case ExitCode::kOk:
    case ExitCode::kUsage:
    case ExitCode::kData:
    case ExitCode::kMemory:
    case ExitCode::kOutput:
    case ExitCode::kInterrupted:
    case ExitCode::kTerminated:
      return end.ending.signal != 0;
    case ExitCode::kInternal:  // mpirun's, too
      return end.text.is_host_lost();
    case ExitCode::kRanks:
    default:
      return true;
  }
}

std::string cause_of(const JobEnd& end) {
  const std::string& cause = end.text.cause();
  if (end.ending.signal != 0) {
    return fmt::format("mpirun was ended by signal {} ({})", end.ending.signal,
                       ::strsignal(end.ending.signal));
  }
  const std::string status = fmt::format("status {}", end.ending.status);
  return cause.empty() ? status : fmt::format("{} ({})", cause, status);
}

std::string start_line(const Course& course, std::int64_t start,
                       std::int64_t ranks, const TrainSettings& job,
                       const std::optional<std::string>& step) {
  const std::string from =
      step
          ? fmt::format("from step {} of {}", *step, base::shown_path(job.save))
      : course.resumes_other
          ? fmt::format("from {}", base::shown_path(job.resume))
          : std::string("from the beginning");
  return fmt::format("launch: start {}, {} rank{}, {}", start + 1, ranks,
                     ranks == 1 ? "" : "s", from);
}

ExitCode code_of(const JobEnd& end) noexcept {
  switch (JobSignals::caught()) {
    case 0:
      return static_cast<ExitCode>(status_of(end.ending));
    case SIGINT:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kTerminated;
  }
}

}  // namespace

ExitCode launch(const LaunchSettings& settings, const TrainSettings& job) {
  const auto course = course_of(settings, job);
  if (!course) {
    return fail(ExitCode::kUsage, course.error().message);
  }
  const JobSignals signals;
  std::string why;
  for (std::int64_t start = 0;; ++start) {
    const auto last = static_cast<std::int64_t>(course->ranks.size()) - 1;
    const std::int64_t ranks =
        course->ranks[static_cast<std::size_t>(std::min(start, last))];
    const auto step = saved_step(job);
    if (!step) {
      return fail(ExitCode::kData, step.error().message);
    }
    write_failure(start_line(*course, start, ranks, job, *step) + why);
    const auto end =
        run_job(words_of_start(*course, ranks, step->has_value(), job));
    if (!end) {
      return fail(ExitCode::kUsage, end.error().message);
    }
    if (JobSignals::caught() != 0 || !is_lost(*end)) {
      return code_of(*end);
    }
    if (start == settings.restarts) {
      write_failure(fmt::format("launch: {} restarts were not enough: {}",
                                settings.restarts, cause_of(*end)));
      return code_of(*end);
    }
    why = fmt::format("; before it {}", cause_of(*end));
  }
}

}  // namespace neap::app
