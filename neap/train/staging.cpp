// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "neap/base/shown.hpp"
#include "neap/formats/elements.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/train/measures.hpp"

namespace neap::train {
namespace {

std::span<std::byte> dense_bytes(const Tensor& tensor) noexcept {
  return {tensor.array()->strided().data,
          static_cast<std::size_t>(tensor.element_count() *
                                   size_of(tensor.dtype()))};
}

}  // namespace

void Staging::add(const formats::SafetensorsEntry& entry, const Tensor& into,
                  const CallSite& site) {
  if (!is_rehearsed(into)) {
    tensor::check_host_access(into, "load", site, true);
  }
  staged_.push_back({&entry, into, Tensor()});
}

void Staging::add_name(const formats::SafetensorsEntry& other) {
  names_.push_back({staged_.size() - 1, &other});
}

Result<void> Staging::read(const CallSite& site) {
  const memory::OutsideScopes outside;
  for (Staged& staged : staged_) {
    memory::Tag tag = staged.into.array()->storage()->tag();
    tag.category = memory::Category::kData;
    tag.site = base::intern(site);
    staged.from = Tensor(tensor::Array::allocate(
        staged.into.spec(), tag, staged.into.array()->storage()->domain()));
  }
  for (const Staged& staged : staged_) {
    if (is_rehearsed(staged.from)) {
      return {};
    }
    auto read = file_.read_elements(*staged.entry, 0, dense_bytes(staged.from));
    if (!read) {
      return read;
    }
  }
  for (const Name& name : names_) {
    if (auto same = compare(name); !same) {
      return same;
    }
  }
  return {};
}

Result<void> Staging::compare(const Name& name) {
  const Staged& staged = staged_[name.staged];
  std::array<std::byte, 8 * kKiB> buffer;
  std::span<const std::byte> rest = dense_bytes(staged.from);
  std::int64_t first = 0;
  while (!rest.empty()) {
    const std::span part(buffer.data(), std::min(rest.size(), buffer.size()));
    if (auto read = file_.read_elements(*name.entry, first, part); !read) {
      return read;
    }
    if (std::memcmp(part.data(), rest.data(), part.size()) != 0) {
      return failure(
          FailureKind::kMismatch,
          fmt::format("{}: \"{}\" and \"{}\" are one tensor of the model and "
                      "two in the file",
                      file_.name(), base::shown(staged.entry->name),
                      base::shown(name.entry->name)));
    }
    rest = rest.subspan(part.size());
    first +=
        static_cast<std::int64_t>(part.size()) / size_of(staged.entry->dtype);
  }
  return {};
}

void Staging::commit(base::SiteId site) noexcept {
  for (const Staged& staged : staged_) {
    if (is_rehearsed(staged.from)) {
      return;
    }
    const tensor::Array& into = *staged.into.array();
    const std::span<const std::byte> from = dense_bytes(staged.from);
    if (tensor::is_contiguous(into.layout())) {
      std::ranges::copy(from, into.strided().data);
    } else {
      formats::scatter(from, into.strided(), 0);
    }
    into.storage()->bump_version(site);
  }
}

}  // namespace neap::train
