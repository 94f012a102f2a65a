// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/kernel.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "neap/base/error.hpp"
#include "neap/kernels/elementwise/cast.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

constexpr memory::SpaceId kOther{2};

class NoKernels final : public SpaceRuntime {
 public:
  const Kernel* find(const KernelList&, DType,
                     const Args&) const noexcept override {
    return nullptr;
  }
  void launch(const Kernel&, const Args&) noexcept override {}
  void copy_from_host(const Strided&, const Strided&) noexcept override {}
  void copy_to_host(const Strided&, const Strided&) noexcept override {}
};

TEST(RegistryTest, ListsStandThereOnceAndAreNamedAsTheirKernels) {
  std::set<std::string_view> names;
  for (const KernelList* list : all_lists()) {
    EXPECT_TRUE(names.insert(list->name).second) << list->name;
    for (const Kernel& kernel : list->kernels) {
      EXPECT_THAT(kernel.name,
                  ::testing::StartsWith(std::string(list->name) + "."));
    }
  }
}

TEST(RegistryTest, FindsByDtypeAndSaysWhatIsMissing) {
  EXPECT_STREQ(find(exp_kernels, memory::kHost, f64, {}).name, "exp.f64");
  try {
    find(exp_kernels, memory::kHost, i32, {});
    FAIL();
  } catch (const DTypeError& error) {
    EXPECT_STREQ(error.what(),
                 "exp: no kernel for i32 in the memory space of its operand");
  }
}

TEST(RegistryTest, ASpaceIsUsableWhileRegistered) {
  NoKernels other;
  EXPECT_THROW(runtime(kOther), DeviceError);
  register_space(kOther, other);
  EXPECT_EQ(&runtime(kOther), &other);
  EXPECT_THROW(register_space(kOther, other), ValueError);
  EXPECT_THROW(find(exp_kernels, kOther, f32, {}), DTypeError);
  remove_space(kOther);
  EXPECT_THROW(find(exp_kernels, kOther, f32, {}), DeviceError);
}

TEST(RegistryTest, TheHostCannotBeReplaced) {
  NoKernels other;
  EXPECT_THROW(register_space(memory::kHost, other), ValueError);
  remove_space(memory::kHost);
  EXPECT_NO_THROW(runtime(memory::kHost));
  EXPECT_THROW(register_space(memory::SpaceId{200}, other), ValueError);
}

TEST(RegistryTest, HostRuntimeCopies) {
  auto x = testing::Array::of<float>(
      {3, 2}, testing::Lay::kTransposed,
      [](std::int64_t i) { return static_cast<float>(i); });
  testing::Array y({3, 2}, f32);
  runtime(memory::kHost).copy_from_host(x.view(), y.view());
  EXPECT_EQ(y.elements(), x.elements());
}

TEST(IsaTest, IsTheOneThatTheEnvironmentNames) {
  const char* wanted = std::getenv("NEAP_ISA");
  if (wanted != nullptr) {
    EXPECT_STREQ(isa(), wanted);
  } else {
    EXPECT_TRUE(std::string_view(isa()) == "avx512" ||
                std::string_view(isa()) == "avx2" ||
                std::string_view(isa()) == "sse4" ||
                std::string_view(isa()) == "baseline");
  }
  EXPECT_STREQ(kernel_set(), "neap");
}

TEST(IsaDeathTest, UnknownNameIsAValueError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        setenv("NEAP_ISA", "mmx", 1);
        try {
          isa();
        } catch (const ValueError&) {
          std::_Exit(7);
        }
        std::_Exit(0);
      },
      ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace neap::kernels
