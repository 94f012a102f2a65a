// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/executor.hpp"

#include "neap/base/immortal.hpp"

namespace neap::threads {
namespace {

class SerialExecutor final : public Executor {
 public:
  int threads() const noexcept override { return 1; }
  void run(int parts, PartFunction function, void* context) noexcept override {
    for (int part = 0; part < parts; ++part) {
      function(context, part);
    }
  }
};

}  // namespace

Executor::~Executor() = default;

Executor& serial_executor() noexcept {
  static base::Immortal<SerialExecutor> instance;
  return *instance;
}

}  // namespace neap::threads
