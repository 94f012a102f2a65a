// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One number for many, for tests of what must not change (FNV-1a).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace neap::base {

class Digest {
 public:
  void add(std::int64_t number) noexcept {
    for (int byte = 0; byte < 8; ++byte) {
      add_byte(static_cast<std::uint64_t>(number) >> (8 * byte));
    }
  }
  void add(std::string_view text) noexcept {
    for (const char c : text) {
      add_byte(static_cast<unsigned char>(c));
    }
    add(static_cast<std::int64_t>(text.size()));
  }
  template <class Container>
  void add_all(const Container& numbers) noexcept {
    for (const auto number : numbers) {
      add(static_cast<std::int64_t>(number));
    }
    add(static_cast<std::int64_t>(numbers.size()));
  }

  std::uint64_t value() const noexcept { return value_; }

 private:
  void add_byte(std::uint64_t byte) noexcept {
    value_ = (value_ ^ (byte & 0xFFU)) * 0x100000001B3U;
  }
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

/// A test parameter: what is digested, and the digest when it was written.
struct DigestRow {
  const char* name;
  void (*add)(Digest& digest);
  std::uint64_t expected;
};

inline std::ostream& operator<<(std::ostream& out, const DigestRow& row) {
  return out << row.name;
}

/// Fails where the row's digest is another by now, and prints it.
inline void expect_as_written(const DigestRow& row) {
  Digest digest;
  row.add(digest);
  EXPECT_EQ(digest.value(), row.expected)
      << std::hex << "the row's digest is now 0x" << digest.value();
}

/// The row's name, for INSTANTIATE_TEST_SUITE_P.
inline std::string name_of_row(const testing::TestParamInfo<DigestRow>& row) {
  return row.param.name;
}

}  // namespace neap::base
