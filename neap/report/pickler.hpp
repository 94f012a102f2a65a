// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pickler: the operations of a Python pickle (protocol 4) of dictionaries,
// lists, whole numbers, booleans and texts, which are all that memory_viz's own
// reader needs to know. A text is written once, and recalled by its number from
// then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "neap/report/sink.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {

/// LIFETIME: the sink outlives the pickler.
class Pickler {
 public:
  explicit Pickler(Sink& sink) : sink_(sink) { sink_.put("\x80\x04"); }

  void text(std::string_view text) {
    if (const auto known = texts_.find(text); known != texts_.end()) {
      recall(known->second);
      return;
    }
    memory::String clean;
    append_utf8(clean, text);
    if (clean.size() < 256) {
      op('\x8c', clean.size(), 1);  // SHORT_BINUNICODE
    } else {
      op('X', clean.size(), 4);  // BINUNICODE
    }
    sink_.put(clean);
    texts_.emplace(text, memoize());
  }

  void number(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    if (bits < 0x100U) {
      op('K', bits, 1);  // BININT1
    } else if (bits < 0x10000U) {
      op('M', bits, 2);  // BININT2
    } else if (bits < 0x80000000U) {
      op('J', bits, 4);  // BININT
    } else {
      sink_.put("\x8a\x08");  // LONG1 of 8 bytes
      raw(bits, 8);
    }
  }

  void boolean(bool value) { sink_.put(value ? '\x88' : '\x89'); }

  template <class Fill>
  void dict(const Fill& fill) {
    sink_.put("}(");  // EMPTY_DICT, MARK
    fill();
    sink_.put('u');  // SETITEMS
  }
  void begin_list() { sink_.put(']'); }  // EMPTY_LIST
  /// Appends to the list before what add() writes: at most some thousand
  /// values, since the viewer's reader takes them as arguments of a call.
  template <class Add>
  void append(const Add& add) {
    sink_.put('(');  // MARK
    add();
    sink_.put('e');  // APPENDS
  }

  void pair(std::string_view key, std::string_view value) {
    text(key);
    text(value);
  }
  void pair(std::string_view key, std::int64_t value) {
    text(key);
    number(value);
  }

  /// RETURNS: the number by which the last value is recalled.
  std::uint32_t memoize() {
    sink_.put('\x94');
    return memoized_++;
  }
  void recall(std::uint32_t index) {
    if (index < 256) {
      op('h', index, 1);  // BINGET
    } else {
      op('j', index, 4);  // LONG_BINGET
    }
  }
  void stop() { sink_.put('.'); }

 private:
  void op(char code, std::uint64_t argument, int bytes) {
    sink_.put(code);
    raw(argument, bytes);
  }
  void raw(std::uint64_t value, int bytes) {
    for (; bytes > 0; --bytes, value >>= 8U) {
      sink_.put(static_cast<char>(value & 0xFFU));
    }
  }

  Sink& sink_;
  std::map<memory::String, std::uint32_t, std::less<>,
           memory::Allocator<std::pair<const memory::String, std::uint32_t>>>
      texts_;
  std::uint32_t memoized_ = 0;
};

}  // namespace neap::report
