// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/born_away.hpp"

#include <utility>

#include "neap/base/raise.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/memory/domain.hpp"

namespace neap {

BornAway::BornAway(const SpillOptions& options)
    : domain_(memory::domain()), least_(options.least), use_(*this) {
  if (options.folder.empty()) {
    base::raise<ValueError>("BornAway: no .folder for the file");
  }
  file_ = compiler::StateFile::create(compiler::door_of(options),
                                      options.folder, domain_, options.part);
}

BornAway::~BornAway() {
  try {
    send_latest();
  } catch (const Error&) {
    latest_ = nullptr;  // it has not changed
  }
}

void BornAway::take(const base::Ref<tensor::Storage>& storage) {
  if (storage == latest_ || storage->size() < least_ ||
      storage->space() != memory::kHost || !storage->may_go_away() ||
      &storage->domain() != &domain_) {
    return;
  }
  send_latest();
  latest_ = storage;
}

void BornAway::send_latest() {
  const base::Ref<tensor::Storage> storage = std::exchange(latest_, nullptr);
  if (storage && !storage->is_away()) {
    file_->take(*storage);
  }
}

}  // namespace neap
