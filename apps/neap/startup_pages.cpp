// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "startup_pages.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace neap::app {
namespace {

// Segments that nobody may write are the file's own bytes, unchanged.
int drop_segments(dl_phdr_info* info, std::size_t, void* page_size) noexcept {
  const auto page = *static_cast<const std::uintptr_t*>(page_size);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) {
      continue;
    }
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    const std::uintptr_t end = begin + segment.p_memsz;
    const std::uintptr_t first = begin & ~(page - 1);
    ::madvise(reinterpret_cast<void*>(first),  // NOLINT: a loaded segment
              end - first, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void drop_startup_pages() noexcept {
  auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(drop_segments, &page);
}

}  // namespace neap::app
