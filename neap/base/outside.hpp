// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OutsideListener: hears, while a step is traced, what the step's own code asks
// about the world outside: counts, figures, positions, identities. Its program
// would go on with the first answer, so the trace is refused.
//
// A public function whose answer may be another one at the next call, and that
// no guard covers, tells of itself by tell_of_question(). The library's own
// code asks by functions that do not, or under HearOutside(nullptr).
//
// Thread rule: each thread has its own.
#pragma once

#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/call_site.hpp"

namespace neap::base {

struct OutsideQuestion {
  const char* function;  // that is called
  const char* about;     // continues "the step asks"
  CallSite site;
};

class NEAP_API OutsideListener {
 public:
  OutsideListener() = default;
  virtual ~OutsideListener();
  OutsideListener(const OutsideListener&) = delete;
  OutsideListener& operator=(const OutsideListener&) = delete;

  /// The question is answered, and the trace will fail.
  virtual void on_outside_asked(const OutsideQuestion& question) noexcept = 0;
  /// A TraceError with this message is about to be thrown. The trace will fail,
  /// also where the step catches it.
  virtual void on_refusal(std::string_view message) noexcept = 0;

  /// The listener of the current thread, or nullptr.
  static OutsideListener* current() noexcept;
};

/// Tells the thread's listener, if there is one.
inline void tell_of_question(const char* function, const char* about,
                             const CallSite& site) noexcept {
  if (OutsideListener* listener = OutsideListener::current()) [[unlikely]] {
    listener->on_outside_asked({function, about, site});
  }
}

/// Lets `listener` hear in this thread, for a block of code; nullptr: nobody,
/// where the library asks for what is no question of the step's.
class NEAP_API HearOutside {
 public:
  explicit HearOutside(OutsideListener* listener) noexcept;
  ~HearOutside();
  HearOutside(const HearOutside&) = delete;
  HearOutside& operator=(const HearOutside&) = delete;

 private:
  OutsideListener* outer_;
};

}  // namespace neap::base
