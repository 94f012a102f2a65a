// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/fused.hpp"

#include <algorithm>
#include <cstring>

#include "neap/base/ceil_div.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

template <class T>
void repeat_as(const std::byte* from, std::byte* to,
               std::int64_t count) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * static_cast<std::int64_t>(sizeof(T)), &value,
                sizeof(T));
  }
}

// to[i] = from[i stride]; one element for all where the stride is 0.
void gather_run(int size, const std::byte* from, std::int64_t stride,
                std::byte* to, std::int64_t count) noexcept {
  if (stride == 0 && size == 4) {
    repeat_as<std::uint32_t>(from, to, count);
  } else if (stride == 0 && size == 8) {
    repeat_as<std::uint64_t>(from, to, count);
  } else {
    move_run(size, from, stride, to, 1, count);
  }
}

}  // namespace

Bytes FusedCall::scratch(int threads) const noexcept {
  const std::int64_t blocks = base::ceil_div(count_, kGrain);
  const Bytes parts = std::min<std::int64_t>(blocks, threads);
  return part_bytes_ == 0 ? 0 : parts * part_bytes_ + kLine;
}

// Working storage of one thread.
struct FusedCall::Work {
  // The addresses of a tile of each view, then those of the tiles.
  std::array<std::byte*, kMaxFusedViews + kMaxFusedTiles> places{};
  std::array<std::byte*, kMaxFusedViews> data{};  // of each view
  std::byte* scratch = nullptr;
  // Elements of each gathered input that lie in the buffer.
  std::array<std::int64_t, kMaxFusedViews> gathered_first{};
  std::array<std::int64_t, kMaxFusedViews> gathered_count{};
};

void FusedCall::read_view(Work& work, int view_index, std::int64_t first,
                          std::int64_t size) const noexcept {
  const auto k = static_cast<std::size_t>(view_index);
  const View& view = views_[k];
  std::byte* const data = work.data[k];
  std::byte*& place = work.places[k];
  if (view.access == Access::kDense) {
    place = data + first * view.size;
    return;
  }
  if (view.access == Access::kBits) {
    place = data + first / 8;
    return;
  }
  const std::int64_t inner = view.extents.back();
  if (view.strides.back() == 1 && first % inner + size <= inner) {
    place = data + offset_at(view.extents, view.strides, first) * view.size;
    return;
  }
  place = work.scratch + view.buffer;
  const bool is_there = size <= work.gathered_count[k] &&
                        (first - work.gathered_first[k]) % view.period == 0;
  if (view_index >= input_count_ || is_there) {
    return;
  }
  work.gathered_first[k] = first;
  work.gathered_count[k] = size;
  const Elements<const std::byte> elements{view.extents, view.strides,
                                           view.size, data};
  for_each_run(elements, first, size, place,
               [&view](const std::byte* from, std::int64_t stride,
                       std::int64_t run, std::byte* to) noexcept {
                 gather_run(view.size, from, stride, to, run);
               });
}

void FusedCall::run_tile(Work& work, std::int64_t first,
                         std::int64_t size) const noexcept {
  for (int view = 0; view < view_count_; ++view) {
    read_view(work, view, first, size);
  }
  Piece piece;
  piece.first = first;
  piece.count = size;
  for (int m = 0; m < member_count_; ++m) {
    const Member& member = members_[static_cast<std::size_t>(m)];
    piece.attrs = member.attrs;
    for (std::size_t k = 0; k < kMaxOperands; ++k) {
      piece.data[k] = work.places[member.places[k]];
    }
    member.function(piece);
  }
  for (int at = input_count_; at < view_count_; ++at) {
    const auto k = static_cast<std::size_t>(at);
    const View& view = views_[k];
    if (view.access == Access::kStrided &&
        work.places[k] == work.scratch + view.buffer) {
      scatter({view.extents, view.strides, view.size, work.data[k]}, first,
              size, work.places[k]);
    }
  }
}

void FusedCall::run_part(const Args& args, int part, int parts) const noexcept {
  const std::int64_t blocks = (count_ - 1) / kGrain + 1;
  const std::int64_t begin = blocks * part / parts * kGrain;
  const std::int64_t end =
      std::min(count_, blocks * (part + 1) / parts * kGrain);
  Work work;
  if (part_bytes_ != 0) {
    const auto address =
        reinterpret_cast<std::uintptr_t>(args.scratch.data()) % kLine;
    work.scratch =
        args.scratch.data() + (kLine - address) % kLine + part * part_bytes_;
  }
  for (std::size_t k = 0; k < args.in.size(); ++k) {
    work.data[k] = args.in[k].data;
  }
  for (std::size_t k = 0; k < args.out.size(); ++k) {
    work.data[args.in.size() + k] = args.out[k].data;
  }
  for (int i = 0; i < tile_count_; ++i) {
    const auto k = static_cast<std::size_t>(i);
    work.places[kMaxFusedViews + k] = work.scratch + tiles_[k].offset;
  }
  for (std::int64_t first = begin; first < end; first += tile_) {
    run_tile(work, first, std::min(tile_, end - first));
  }
}

void FusedCall::run(const Args& args) const noexcept {
  const int parts = threads::range_count(*args.executor, count_, kGrain);
  if (parts == 1) {
    run_part(args, 0, 1);
  } else if (parts > 1) {
    threads::parallel_parts(*args.executor, parts, [&](int part) noexcept {
      run_part(args, part, parts);
    });
  }
}

constinit const Kernel fused_kernel{
    .name = "fused",
    .dtype = f32,
    .run =
        [](const Args& args) noexcept { args.attrs_as<FusedCall>().run(args); },
    .scratch = [](const Args& args) noexcept -> Bytes {
      return args.attrs_as<FusedCall>().scratch(args.executor->threads());
    }};

bool has_packed_bits(const KernelList& list) noexcept {
  return &list == &relu_bits_kernels || &list == &relu_grad_kernels;
}

}  // namespace neap::kernels
