// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/debug_run.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/fill.hpp"

namespace neap::compiler {
namespace {

constexpr auto kPoison = 0xFF;  // a NaN of every float type
constexpr auto kGuard = std::byte{0xA5};

// Sizes are whole units.
void poison_bytes(std::byte* data, Bytes size, memory::SpaceId space) {
  if (size == 0) {
    return;
  }
  if (space == memory::kHost) {
    std::memset(data, kPoison, static_cast<std::size_t>(size));
    return;
  }
  const tensor::Strided view{data, DType::kF32, {size / 4}, {1}};
  const kernels::FillAttrs attrs{std::numeric_limits<double>::quiet_NaN()};
  const kernels::Args args{
      {}, std::span(&view, 1), &attrs, {}, &threads::serial_executor()};
  kernels::SpaceRuntime& runtime = kernels::runtime(space);
  runtime.launch(
      kernels::find(kernels::fill_kernels, runtime, DType::kF32, args), args);
}

bool is_band(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == kGuard; });
}

}  // namespace

DebugRun::DebugRun(const Program& program, const Plan& plan,
                   Instructions& instructions)
    : program_(program), plan_(plan), instructions_(instructions) {
  const memory::Vector<Buffer>& buffers = plan.lifetimes.buffers;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].where == Where::kArena && buffers[i].size != 0 &&
        buffers[i].first <= buffers[i].last) {
      by_first_.push_back({i});
    }
  }
  by_last_ = by_first_;
  const auto by = [&](auto member) {
    return [&buffers, member](BufferId a, BufferId b) {
      return std::pair(buffers[a.value].*member, a.value) <
             std::pair(buffers[b.value].*member, b.value);
    };
  };
  std::sort(by_first_.begin(), by_first_.end(), by(&Buffer::first));
  std::sort(by_last_.begin(), by_last_.end(), by(&Buffer::last));
  live_.reserve(by_first_.size());
}

DebugRun::Block DebugRun::block_of(BufferId id) const noexcept {
  const Buffer& buffer = plan_.lifetimes.at(id);
  const Bytes bands = plan_.debug.guards ? 2 * kBand : 0;
  const bool is_in_views = plan_.is_in_views(id);
  std::byte* const begin = instructions_.base(
      is_in_views ? instructions_.views() : instructions_.arena(buffer.space));
  const Bytes offset =
      plan_.offsets[id.value] - (is_in_views ? plan_.space().bytes : 0);
  return {begin + offset, base::round_up(buffer.size + bands, kUnit)};
}

bool DebugRun::is_here(BufferId id) const noexcept {
  return plan_.lifetimes.at(id).space == memory::kHost;
}

void DebugRun::poison(BufferId id) const {
  const Block block = block_of(id);
  poison_bytes(block.data, block.size, plan_.lifetimes.at(id).space);
}

void DebugRun::poison_all() const {
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    const memory::SpaceId space{s};
    poison_bytes(instructions_.base(instructions_.arena(space)),
                 plan_.space(space).bytes, space);
  }
}

void DebugRun::set_bands(BufferId id) const noexcept {
  const Block block = block_of(id);
  const Bytes end = kBand + plan_.lifetimes.at(id).size;
  std::fill_n(block.data, kBand, kGuard);
  std::fill(block.data + end, block.data + block.size, kGuard);
}

void DebugRun::check_bands(std::uint32_t call) const {
  for (const BufferId id : live_) {
    const Block block = block_of(id);
    const Buffer& buffer = plan_.lifetimes.at(id);
    const std::span bytes(block.data, static_cast<std::size_t>(block.size));
    const bool is_before = !is_band(bytes.first(kBand));
    if (!is_before &&
        is_band(bytes.subspan(static_cast<std::size_t>(kBand + buffer.size)))) {
      continue;
    }
    const Call& by = program_.calls[call];
    base::raise<InternalError>(
        "guards: call {} ('{}', at {}) wrote {} the {} of {} {}", call, by.name,
        base::format_site(by.site), is_before ? "before" : "beyond",
        format_bytes(buffer.size),
        buffer.value == kNoValue ? "scratch of call" : "value",
        buffer.value == kNoValue ? buffer.first : buffer.value.value);
  }
}

void DebugRun::run(std::size_t& at) {
  live_.clear();
  if (plan_.debug.poison) {
    poison_all();
  }
  std::size_t begun = 0;
  std::size_t ended = 0;
  for (at = 0; at < instructions_.size(); ++at) {
    const std::uint32_t call = instructions_.call(at);
    const auto& lifetimes = plan_.lifetimes;
    for (; plan_.debug.guards && begun < by_first_.size() &&
           lifetimes.at(by_first_[begun]).first <= call;
         ++begun) {
      if (is_here(by_first_[begun])) {
        set_bands(by_first_[begun]);
        live_.push_back(by_first_[begun]);
      }
    }
    instructions_.run_one(at);
    check_bands(call);
    std::erase_if(live_,
                  [&](BufferId id) { return lifetimes.at(id).last <= call; });
    for (;
         ended < by_last_.size() && lifetimes.at(by_last_[ended]).last <= call;
         ++ended) {
      if (plan_.debug.poison) {
        poison(by_last_[ended]);
      }
    }
  }
}

}  // namespace neap::compiler
