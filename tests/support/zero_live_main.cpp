// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// main() of the test executables: every test must end with as many live bytes
// in the default domain as it began with, or it fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/memory/domain.hpp"

namespace neap {
namespace {

class ZeroLiveListener final : public testing::EmptyTestEventListener {
 public:
  void OnTestStart(const testing::TestInfo& /*test*/) override {
    before_ = live();
  }
  void OnTestEnd(const testing::TestInfo& /*test*/) override {
    const Bytes left = live() - before_;
    if (left != 0) {
      ADD_FAILURE() << "the test ends with " << left
                    << " live bytes more than it began with";
    }
  }

 private:
  static Bytes live() { return memory::default_domain().stats().live; }
  Bytes before_ = 0;
};

}  // namespace
}  // namespace neap

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  // The list of listeners owns it.
  testing::UnitTest::GetInstance()->listeners().Append(
      new neap::ZeroLiveListener);
  return RUN_ALL_TESTS();
}
