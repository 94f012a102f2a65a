// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/paged_arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/base/size_signal.hpp"
#include "neap/memory/refusal.hpp"
#include "neap/memory/slab_heap.hpp"
#include "neap/memory/system_pages.hpp"

namespace neap::memory {
namespace {

std::size_t count(Bytes bytes) noexcept {
  return static_cast<std::size_t>(bytes);
}

void check_views(Bytes pages, Bytes size,
                 std::span<const PagedArena::View> views) {
  const auto is_whole = [](Bytes bytes) { return bytes % page_bytes() == 0; };
  if (size < 0 || !is_whole(size)) {
    base::raise<ValueError>("paged arena: {} B are not whole pages of {} B",
                            size, page_bytes());
  }
  for (const PagedArena::View& v : views) {
    if (v.size < 0 || v.from < 0 || v.from > pages - v.size || v.at < 0 ||
        v.at > size - v.size || !is_whole(v.at) || !is_whole(v.from) ||
        !is_whole(v.size)) {
      base::raise<ValueError>(
          "paged arena: a view of {} B at {} of {} does not fit {} B of pages "
          "and {} B of addresses",
          v.size, v.at, v.from, pages, size);
    }
  }
}

// Closed again unless it is taken.
class NewFile {
 public:
  NewFile() = default;
  ~NewFile() {
    if (file_ >= 0) {
      ::close(file_);
    }
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  bool make(Bytes size) noexcept {
    const base::NoSizeSignal guard;  // limits of files count for it, too
    file_ = ::memfd_create("neap arena", MFD_CLOEXEC);
    return file_ >= 0 && ::ftruncate(file_, size) == 0;
  }
  int get() const noexcept { return file_; }
  int take() noexcept { return std::exchange(file_, -1); }

 private:
  int file_ = -1;
};

// A rehearsal counts a small block where it is used, so small ones are there.
Block block_for(Bytes capacity, const Tag& tag, Domain& domain) {
  return domain.is_rehearsal() && capacity > kLargestSmall
             ? domain.allocate_elements(capacity, tag)
             : domain.allocate(capacity, tag, page_bytes());
}

}  // namespace

// --- views ---

PagedArena::Views::~Views() {
  if (data_ != nullptr) {
    ::munmap(data_, count(size_));
  }
}

PagedArena::Views::Views(Views&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

PagedArena::Views& PagedArena::Views::operator=(Views&& other) noexcept {
  Views taken(std::move(other));
  std::swap(data_, taken.data_);
  std::swap(size_, taken.size_);
  return *this;
}

// --- the pages ---

PagedArena::PagedArena(Bytes capacity, const Tag& tag, Domain& domain)
    : domain_(&domain), block_(block_for(capacity, tag, domain)) {}

Bytes PagedArena::pages() const noexcept {
  return block_.size / page_bytes() * page_bytes();
}

// The block's pages are plain ones again before the domain may give them to
// anybody else. Should the system refuse that, they stay the file's, which only
// a fork would notice.
PagedArena::~PagedArena() {
  if (file_ >= 0) {
    void* plain = ::mmap(block_.data, count(pages()), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    static_cast<void>(plain);
    ::close(file_);
  }
  domain_->release(block_, page_bytes());
}

PagedArena::PagedArena(PagedArena&& other) noexcept
    : domain_(other.domain_),
      block_(std::exchange(other.block_, Block{})),
      is_shown_(std::exchange(other.is_shown_, false)),
      file_(std::exchange(other.file_, -1)) {}

PagedArena& PagedArena::operator=(PagedArena&& other) noexcept {
  PagedArena taken(std::move(other));
  std::swap(domain_, taken.domain_);
  std::swap(block_, taken.block_);
  std::swap(is_shown_, taken.is_shown_);
  std::swap(file_, taken.file_);
  return *this;
}

// The block comes last: until then nothing of the arena has changed.
PagedArena::Views PagedArena::show(std::span<const View> views, Bytes size) {
  check_views(pages(), size, views);
  Views shown;
  if (size == 0) {
    return shown;
  }
  shown.data_ = map(nullptr, size, -1, 0);
  shown.size_ = size;
  NewFile made;
  if (!is_shown_ && !domain_->is_rehearsal() && !made.make(pages())) {
    refuse(pages());
  }
  const int file = is_shown_ ? file_ : made.get();
  for (const View& v : views) {
    map(shown.data_ == nullptr ? nullptr : shown.data_ + v.at, v.size, file,
        v.from);
  }
  if (!is_shown_) {
    map(data(), pages(), file, 0);
    file_ = made.take();
    is_shown_ = true;
  }
  return shown;
}

// Pages of the file in place of what is at `to`; nullptr: fresh addresses, for
// pages to come. First the domain is asked for a block of no bytes, so that
// each mapping is one of the requests that can be told to fail.
std::byte* PagedArena::map(std::byte* to, Bytes size, int file,
                           Bytes from) const {
  domain_->release(domain_->allocate(0, domain_->tag_of(block_.bucket)));
  if (domain_->is_rehearsal() || size == 0) {
    return nullptr;
  }
  void* mapped =
      to == nullptr ? ::mmap(nullptr, count(size), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                    : ::mmap(to, count(size), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_FIXED, file, from);
  if (mapped == MAP_FAILED) {
    refuse(size);
  }
  return static_cast<std::byte*>(mapped);
}

void PagedArena::refuse(Bytes size) const {
  memory::refuse(*domain_, OutOfMemory::Reason::kSystem,
                 domain_->tag_of(block_.bucket), size);
}

}  // namespace neap::memory
