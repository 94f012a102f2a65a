// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A thread with a stack on which nothing that recurses gets far.
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

namespace neap::tests {

/// Runs `body` in a thread of 256 KiB of stack.
inline void on_small_stack(std::function<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread{};
  const auto run = [](void* call) -> void* {
    (*static_cast<std::function<void()>*>(call))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

}  // namespace neap::tests
