// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>

#include "neap/threads/pool.hpp"

namespace neap::bench {
namespace {

// The value of the first line of /proc/cpuinfo that begins with `key`.
std::string processor(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (line.starts_with(key + "\t") && colon != std::string::npos) {
      return line.substr(std::min(colon + 2, line.size()));
    }
  }
  return "?";
}

// Size of the first processor's cache of that level, as the kernel sees it:
// within a virtual machine sysconf knows the whole socket's.
Bytes cache_bytes(int index, Bytes usual) {
  std::ifstream file(
      fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
  Bytes kib = 0;
  return file >> kib && kib > 0 ? kib * kKiB : usual;
}

std::string describe() {
  utsname system{};
  ::uname(&system);
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) *
                        static_cast<double>(::sysconf(_SC_PAGESIZE));
  return fmt::format(
      "{} x {} (family {} model {}), L2 {} KiB, L3 {} MiB, {:.0f} GiB, {} {}",
      threads::usable_processors(), processor("model name"),
      processor("cpu family"), processor("model"), l2_bytes() / kKiB,
      l3_bytes() / kMiB, memory / static_cast<double>(kGiB), system.sysname,
      system.release);
}

}  // namespace

const std::string& machine_line() {
  static const std::string line = describe();
  return line;
}

Bytes l2_bytes() {
  return cache_bytes(2, kMiB);
}

Bytes l3_bytes() {
  return cache_bytes(3, 32 * kMiB);
}

double load_average() noexcept {
  std::array<double, 1> load{};
  return ::getloadavg(load.data(), 1) == 1 ? load[0] : 0.0;
}

}  // namespace neap::bench
