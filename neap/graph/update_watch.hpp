// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// UpdateWatcher: is told where the steps of an eager program end, for reports
// on a program that does not know of them: at updates of parameters by an
// optimizer outside of a trace, and, of a program that does not train, at calls
// of a model. There is one for the whole process, or none; then an update, and
// a call of a module by no other, read one pointer for it.
#pragma once

#include "neap/base/api.hpp"

namespace neap::graph {

/// Called by whatever thread updates or calls, in its context. The addresses
/// tell callers apart, and may be of what is gone.
class NEAP_API UpdateWatcher {
 public:
  /// An optimizer's step that did not throw has ended.
  virtual void updated(const void* optimizer) noexcept = 0;
  /// A call of a module, which no other module made, has ended and did not
  /// throw.
  virtual void called(const void* module) noexcept = 0;

 protected:
  UpdateWatcher() = default;
  UpdateWatcher(const UpdateWatcher&) = default;
  UpdateWatcher& operator=(const UpdateWatcher&) = default;
  ~UpdateWatcher() = default;
};

/// Exchanges the watcher; nullptr: none. LIFETIME: until all updates and calls
/// that run now have ended, after the next exchange.
NEAP_API void watch_updates(UpdateWatcher* watcher) noexcept;
/// nullptr: there is none.
UpdateWatcher* update_watcher() noexcept;

}  // namespace neap::graph
