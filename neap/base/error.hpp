// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The typed errors of broken preconditions. Every message reads
// "<op>: <fact>, <expectation>". The text lives inside the exception, so that
// throwing one needs no heap beyond what the C++ runtime takes for any throw,
// and copying one cannot fail.
#pragma once

#include <array>
#include <exception>
#include <iosfwd>
#include <string_view>

#include "neap/base/api.hpp"

namespace neap {

class NEAP_API Error : public std::exception {
 public:
  static constexpr int kCapacity = 768;  // bytes kept of a message, with NUL

  explicit Error(std::string_view message) noexcept;
  const char* what() const noexcept override { return text_.data(); }

 private:
  std::array<char, kCapacity> text_;
};

/// The message.
NEAP_API std::ostream& operator<<(std::ostream& out, const Error& error);

/// Shapes, ranks, axes or element counts that do not fit together.
class NEAP_API ShapeError : public Error {
  using Error::Error;
};

/// An element type that the operation does not take, or a mix of two.
class NEAP_API DTypeError : public Error {
  using Error::Error;
};

/// An argument outside its documented range.
class NEAP_API ValueError : public Error {
  using Error::Error;
};

/// Data of one memory space used as if it were in another.
class NEAP_API DeviceError : public Error {
  using Error::Error;
};

/// A derivative asked of a graph that cannot give it (any more).
class NEAP_API GraphError : public Error {
  using Error::Error;
};

/// A handle used after its scope released it, or an undefined handle.
class NEAP_API UseAfterRelease : public Error {
  using Error::Error;
};

/// A name that is unknown, or used twice.
class NEAP_API NameError : public Error {
  using Error::Error;
};

/// A step that cannot be traced: it reads elements that do not exist during
/// tracing, or does what a program cannot repeat.
class NEAP_API TraceError : public Error {
  using Error::Error;
};

/// A plan that does not fit the memory it was given.
class NEAP_API PlanError : public Error {
  using Error::Error;
};

/// A compiled step failed after it had begun to write: the message names what
/// was written first.
class NEAP_API TornStep : public Error {
  using Error::Error;
};

/// A bug in Neap itself, found by an internal check.
class NEAP_API InternalError : public Error {
  using Error::Error;
};

}  // namespace neap
