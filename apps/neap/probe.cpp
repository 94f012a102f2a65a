// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "probe.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "support/counting_malloc.hpp"

namespace neap::app {
namespace {

std::int64_t page_faults_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

}  // namespace

void Probe::step(double seconds) {
  const std::int64_t heap_calls = support::outside_stats().heap_calls;
  const std::int64_t page_faults = page_faults_so_far();
  // Warm-up steps are overwritten by the first steady one.
  const std::int64_t index = steps_ < kWarmUp ? 0 : (steps_ - kWarmUp) % kKept;
  samples_[static_cast<std::size_t>(index)] = {
      seconds, static_cast<double>(heap_calls - last_heap_calls_),
      static_cast<double>(page_faults - last_page_faults_)};
  ++steps_;
  last_heap_calls_ = support::outside_stats().heap_calls;
  last_page_faults_ = page_faults_so_far();
}

std::optional<double> Probe::median(double Sample::*field) const {
  const std::int64_t steady = steps_ > kWarmUp ? steps_ - kWarmUp : steps_;
  const auto count = static_cast<std::size_t>(
      std::min<std::int64_t>({steady, kKept, steps_ > kWarmUp ? kKept : 1}));
  if (count == 0) {
    return std::nullopt;
  }
  std::array<double, kKept> values{};
  std::transform(samples_.begin(), samples_.begin() + count, values.begin(),
                 [field](const Sample& sample) { return sample.*field; });
  const auto middle = values.begin() + count / 2;
  std::nth_element(values.begin(), middle, values.begin() + count);
  return *middle;
}

std::optional<double> Probe::step_ms() const {
  const auto seconds = median(&Sample::seconds);
  return seconds ? std::optional(*seconds * 1e3) : std::nullopt;
}

std::optional<double> Probe::heap_calls() const {
  return support::is_counting() ? median(&Sample::heap_calls) : std::nullopt;
}

std::optional<double> Probe::page_faults() const {
  return median(&Sample::page_faults);
}

// rusage has what the process had before it became this program, too.
Bytes max_rss_bytes() {
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file >= 0) {
    std::array<char, 4096> text{};
    const ssize_t got = ::read(file, text.data(), text.size() - 1);
    ::close(file);
    constexpr const char* kName = "VmHWM:";
    const char* line = got > 0 ? std::strstr(text.data(), kName) : nullptr;
    if (line != nullptr) {
      return std::strtoll(line + std::strlen(kName), nullptr, 10) * kKiB;
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * kKiB;
}

}  // namespace neap::app
