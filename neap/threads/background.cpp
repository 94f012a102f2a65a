// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/background.hpp"

#include <unistd.h>

#include "neap/base/raise.hpp"
#include "neap/threads/thread_error.hpp"
#include "neap/threads/worker_stack.hpp"

namespace neap::threads {

Bytes Background::external_bytes(Bytes stack_bytes) noexcept {
  return stack_bytes_for(stack_bytes) + guard_bytes();
}

Background::Background(const char* name, Main main, void* context,
                       Bytes stack_bytes)
    : main_(main),
      context_(context),
      stack_bytes_(stack_bytes_for(stack_bytes)),
      stack_(map_stack(stack_bytes_)),
      process_(::getpid()) {
  if (stack_ == nullptr ||
      !start_on_stack(thread_, stack_, stack_bytes_, &run, this, name)) {
    if (stack_ != nullptr) {
      unmap_stack(stack_, stack_bytes_);
    }
    base::raise<ThreadError>("threads: the system starts no thread for '{}'",
                             name);
  }
}

Background::~Background() {
  if (is_here()) {
    ::pthread_join(thread_, nullptr);
  }
  unmap_stack(stack_, stack_bytes_);
}

bool Background::is_here() const noexcept {
  return ::getpid() == process_;
}

void* Background::run(void* self) noexcept {
  const auto& background = *static_cast<const Background*>(self);
  background.main_(background.context_);
  return nullptr;
}

}  // namespace neap::threads
