// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/read_ahead.hpp"

#include <utility>

#include "neap/memory/context.hpp"
#include "neap/memory/external_room.hpp"

namespace neap::data {

ReadAhead::ReadAhead(Fill fill, void* context)
    : fill_(fill),
      context_(context),
      domain_(&domain_with_room()),
      thread_("neap-reader", &main, this) {}

memory::Domain& ReadAhead::domain_with_room() {
  memory::expect_external_room(threads::Background::external_bytes(),
                               memory::current_tag(memory::Category::kData));
  return memory::domain();
}

ReadAhead::~ReadAhead() {
  if (is_here()) {
    {
      const std::lock_guard lock(mutex_);
      is_ending_ = true;
    }
    ring(thread_bell_);
  }
}

void ReadAhead::rewind(std::int64_t number) noexcept {
  while (true) {
    const std::int32_t seen = owner_bell_.load();
    {
      const std::lock_guard lock(mutex_);
      limit_ = 0;
      if (!is_busy_) {
        filled_ = number;
        is_failed_ = false;
        error_ = nullptr;
        return;
      }
    }
    owner_bell_.wait(seen);
  }
}

void ReadAhead::allow(std::int64_t limit) noexcept {
  {
    const std::lock_guard lock(mutex_);
    limit_ = limit;
    if (error_ == nullptr) {
      is_failed_ = false;
    }
  }
  ring(thread_bell_);
}

void ReadAhead::await(std::int64_t number) {
  while (true) {
    const std::int32_t seen = owner_bell_.load();
    {
      const std::lock_guard lock(mutex_);
      if (filled_ > number) {
        return;
      }
      if (error_ != nullptr) {
        std::rethrow_exception(std::exchange(error_, nullptr));
      }
    }
    owner_bell_.wait(seen);
  }
}

void ReadAhead::main(void* self) noexcept {
  auto& ahead = *static_cast<ReadAhead*>(self);
  const memory::UseDomain use(*ahead.domain_);
  while (true) {
    const std::int32_t seen = ahead.thread_bell_.load();
    bool may_fill = false;
    {
      const std::lock_guard lock(ahead.mutex_);
      if (ahead.is_ending_) {
        return;
      }
      may_fill = !ahead.is_failed_ && ahead.filled_ < ahead.limit_;
      ahead.is_busy_ = may_fill;
    }
    if (may_fill) {
      ahead.fill_next();
    } else {
      ahead.thread_bell_.wait(seen);
    }
  }
}

void ReadAhead::fill_next() noexcept {
  std::exception_ptr error;
  try {
    fill_(context_, filled_);
  } catch (...) {
    error = std::current_exception();
  }
  {
    const std::lock_guard lock(mutex_);
    is_busy_ = false;
    if (error != nullptr) {
      is_failed_ = true;
      error_ = std::move(error);
    } else {
      ++filled_;
    }
  }
  ring(owner_bell_);
}

void ReadAhead::ring(std::atomic<std::int32_t>& bell) noexcept {
  bell.fetch_add(1);
  bell.notify_one();
}

}  // namespace neap::data
