// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/paged_arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/owner_book.hpp"
#include "neap/memory/system_pages.hpp"

namespace neap::memory {
namespace {

std::size_t count(Bytes bytes) noexcept {
  return static_cast<std::size_t>(bytes);
}

void check_arguments(Bytes capacity, Bytes end,
                     std::span<const PagedArena::View> views) {
  const auto is_whole = [](Bytes bytes) { return bytes % kPage == 0; };
  if (capacity < 0 || end < capacity || !is_whole(capacity) || !is_whole(end)) {
    base::raise<ValueError>(
        "paged arena: {} B of {} B addresses are not whole pages of {} B",
        capacity, end, kPage);
  }
  for (const PagedArena::View& v : views) {
    if (v.size < 0 || v.from < 0 || v.from > capacity - v.size ||
        v.at < capacity || v.at > end - v.size || !is_whole(v.at) ||
        !is_whole(v.from) || !is_whole(v.size)) {
      base::raise<ValueError>(
          "paged arena: a view of {} B at {} on {} does not fit a capacity of "
          "{} B and {} B of addresses",
          v.size, v.at, v.from, capacity, end);
    }
  }
}

// A file in memory, for as long as its pages are being mapped.
class MemoryFile {
 public:
  explicit MemoryFile(Bytes size) noexcept
      : file_(memfd_create("neap arena", MFD_CLOEXEC)) {
    is_good_ = file_ >= 0 && ftruncate(file_, size) == 0;
  }
  ~MemoryFile() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  bool is_good() const noexcept { return is_good_; }
  /// Puts pages of the file in place of what is mapped at `to`.
  bool map(std::byte* to, Bytes from, Bytes size) const noexcept {
    return size == 0 ||
           ::mmap(to, count(size), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_FIXED, file_, from) != MAP_FAILED;
  }

 private:
  int file_;
  bool is_good_ = false;
};

}  // namespace

PagedArena::PagedArena(Bytes capacity, Bytes end, std::span<const View> views,
                       const Tag& tag, Domain& domain)
    : domain_(&domain), view_bytes_(end - capacity) {
  check_arguments(capacity, end, views);
  block_ = domain.allocate(capacity, tag, kPage);
  try {
    map(views);
  } catch (...) {
    unmap();
    throw;
  }
}

PagedArena::~PagedArena() {
  unmap();
}

PagedArena::PagedArena(PagedArena&& other) noexcept
    : domain_(other.domain_),
      block_(std::exchange(other.block_, Block{})),
      view_bytes_(std::exchange(other.view_bytes_, 0)),
      views_(std::exchange(other.views_, nullptr)),
      is_mapped_(std::exchange(other.is_mapped_, false)) {}

PagedArena& PagedArena::operator=(PagedArena&& other) noexcept {
  PagedArena taken(std::move(other));
  std::swap(domain_, taken.domain_);
  std::swap(block_, taken.block_);
  std::swap(view_bytes_, taken.view_bytes_);
  std::swap(views_, taken.views_);
  std::swap(is_mapped_, taken.is_mapped_);
  return *this;
}

// Without views the block serves as it is.
void PagedArena::map(std::span<const View> views) {
  if (view_bytes_ == 0 || block_.size == 0) {
    return;
  }
  void* addresses = ::mmap(nullptr, count(view_bytes_), PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED) {
    refuse(view_bytes_);
  }
  views_ = static_cast<std::byte*>(addresses);
  const MemoryFile file(block_.size);
  if (!file.is_good() ||
      !file.map(static_cast<std::byte*>(block_.data), 0, block_.size)) {
    refuse(block_.size);
  }
  is_mapped_ = true;
  for (const View& v : views) {
    if (!file.map(views_ + (v.at - block_.size), v.from, v.size)) {
      refuse(v.size);
    }
  }
}

// Views first: then nothing refers to the file but the block, whose pages are
// plain ones again before the door may give them to anybody else. Should the
// system refuse that, they stay the file's, which only a fork would notice.
void PagedArena::unmap() noexcept {
  if (views_ != nullptr) {
    ::munmap(views_, count(view_bytes_));
  }
  if (is_mapped_) {
    void* fresh =
        ::mmap(block_.data, count(block_.size), PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    static_cast<void>(fresh);
  }
  domain_->release(block_, kPage);
}

void PagedArena::refuse(Bytes size) const {
  const Stats stats = domain_->stats();
  OutOfMemory::Details details;
  details.reason = OutOfMemory::Reason::kSystem;
  details.tag = domain_->tag_of(block_.bucket);
  copy_path(domain_->path_of(details.tag.owner), details.owner);
  details.requested = size;
  details.live = stats.live;
  details.held = stats.held;
  details.external = stats.external;
  details.peak = stats.peak;
  details.budget = stats.budget;
  throw OutOfMemory(details);
}

std::byte* PagedArena::at(Bytes address, Bytes size) const {
  const bool is_page = address >= 0 && size >= 0 && address <= capacity() &&
                       size <= capacity() - address;
  const bool is_view = address >= capacity() && size >= 0 && address <= end() &&
                       size <= end() - address;
  if (!is_page && !is_view) {
    base::raise<ValueError>(
        "paged arena: bytes [{}, {} + {}) lie outside its {} bytes", address,
        address, size, end());
  }
  return is_page ? static_cast<std::byte*>(block_.data) + address
                 : views_ + (address - capacity());
}

}  // namespace neap::memory
