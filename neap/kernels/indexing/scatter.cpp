// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/indexing/scatter.hpp"

#include <array>
#include <limits>
#include <type_traits>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/words.hpp"
#include "neap/kernels/indexing/indexed.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements of src; a range of a thread
constexpr std::int64_t kLines = 32;     // of one thread at least, side by side

// The share of one thread: indices in [first, first + slots) alone.
struct Scattering {
  const IndexedLoops* loops = nullptr;
  std::byte* y = nullptr;
  const std::byte* index = nullptr;
  std::byte* src = nullptr;
  std::uint64_t first = 0;
  std::uint64_t slots = 0;

  bool takes(std::int64_t at) const noexcept {
    return static_cast<std::uint64_t>(at) - first < slots;
  }
};

struct Put {
  template <class T>
  static void apply(T& y, T& src) noexcept {
    y = src;
  }
};

struct Take {
  template <class T>
  static void apply(T& y, T& src) noexcept {
    src = y;
    y = T(0);
  }
};

// Integers wrap: unsigned, then the same bits.
struct Add {
  template <class T>
  static void apply(T& y, T& src) noexcept {
    y = static_cast<T>(y + src);
  }
};

// A NaN stays; of equal ones the first stays.
struct Largest {
  template <class T>
  static void apply(T& y, T& src) noexcept {
    y = src > y || src != src ? src : y;
  }
};

struct Smallest {
  template <class T>
  static void apply(T& y, T& src) noexcept {
    y = src < y || src != src ? src : y;
  }
};

template <class Combine, class T, class Index>
void scatter_run(const void* context, const IndexedRun& run) noexcept {
  using Word [[gnu::may_alias]] = T;
  const auto& call = *static_cast<const Scattering*>(context);
  const IndexedLoops& loops = *call.loops;
  Word* y = reinterpret_cast<Word*>(call.y) + run.table;
  const Index* index = reinterpret_cast<const Index*>(call.index) + run.index;
  Word* src = reinterpret_cast<Word*>(call.src) + run.list;
  const std::int64_t y_step = loops.table[run.axis];
  const std::int64_t index_step = loops.index[run.axis];
  const std::int64_t src_step = loops.list[run.axis];
  if (index_step == 0 && run.axis != loops.axis) {
    const auto at = static_cast<std::int64_t>(*index);
    y += at * loops.reach;
    if (!call.takes(at)) {
      return;
    }
    if (y_step == 1 && src_step == 1) {
      for (std::int64_t i = 0; i < run.count; ++i) {
        Combine::apply(y[i], src[i]);
      }
      return;
    }
    for (std::int64_t i = 0; i < run.count; ++i) {
      Combine::apply(y[i * y_step], src[i * src_step]);
    }
    return;
  }
  for (std::int64_t i = 0; i < run.count; ++i) {
    const auto at = static_cast<std::int64_t>(index[i * index_step]);
    if (call.takes(at)) {
      Combine::apply(y[i * y_step + at * loops.reach], src[i * src_step]);
    }
  }
}

// Each output's elements come in order whoever puts them there: threads divide
// the lines along the axis or, where these are few, the outputs, each looking
// at every index.
void run_scatter(const Args& args, const Strided& index, const Strided& src,
                 IndexedRunFunction run) noexcept {
  const Strided& x = args.in[0];
  const Strided& y = args.out[0];
  if (y.shape.element_count() == 0) {
    return;
  }
  if (y.data != x.data) {
    copy_elements(x, y, *args.executor);
  }
  const std::int64_t count = index.shape.element_count();
  if (count == 0) {
    return;
  }
  const IndexedLoops loops =
      plan_indexed(y, index, src, args.attrs_as<AxisAttrs>().axis);
  const Scattering whole{&loops,     y.data,
                         index.data, src.data,
                         0,          std::numeric_limits<std::uint64_t>::max()};
  const std::int64_t lines = fiber_count(loops);
  const int parts = threads::range_count(*args.executor, count, kGrain);
  if (lines >= kLines * parts) {
    const std::int64_t grain = (kGrain / (count / lines) / kLines + 1) * kLines;
    threads::parallel_for(*args.executor, lines, grain,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for_each_indexed_fiber(loops, begin, end, run,
                                                   &whole);
                          });
    return;
  }
  threads::parallel_parts(*args.executor, parts, [&](int part) noexcept {
    const std::int64_t begin = loops.slots * part / parts;
    const std::int64_t end = loops.slots * (part + 1) / parts;
    Scattering own = whole;
    own.first = static_cast<std::uint64_t>(begin);
    own.slots = static_cast<std::uint64_t>(end - begin);
    for_each_indexed_fiber(loops, 0, lines, run, &own);
  });
}

template <class Combine, class T>
IndexedRunFunction function_for(DType index) noexcept {
  return index == i32 ? scatter_run<Combine, T, std::int32_t>
                      : scatter_run<Combine, T, std::int64_t>;
}

template <class Combine, class T>
void combine(const Args& args) noexcept {
  run_scatter(args, args.in[1], args.in[2],
              function_for<Combine, T>(args.in[1].dtype));
}

void scatter_put(const Args& args) noexcept {
  by_word(size_of(args.out[0].dtype), [&]<class T>(T*) noexcept {
    run_scatter(args, args.in[1], args.in[2],
                function_for<Put, T>(args.in[1].dtype));
  });
}

// The same view from the other end of an axis.
Strided backward(Strided view, int axis) noexcept {
  if (view.shape.element_count() != 0) {
    view.data +=
        (view.shape[axis] - 1) * view.strides[axis] * size_of(view.dtype);
  }
  view.strides[axis] = -view.strides[axis];
  return view;
}

// Backward along the axis, so that the last to come in scatter is the first.
void scatter_take(const Args& args) noexcept {
  const auto axis = static_cast<int>(args.attrs_as<AxisAttrs>().axis);
  by_word(size_of(args.out[0].dtype), [&]<class T>(T*) noexcept {
    run_scatter(args, backward(args.in[1], axis), backward(args.out[1], axis),
                function_for<Take, T>(args.in[1].dtype));
  });
}

constexpr std::array kPuts =
    rows_of_every_dtype<"scatter">({.run = scatter_put});

constexpr std::array kAdds{
    Kernel{.name = "scatter_add.f32", .dtype = f32, .run = combine<Add, float>},
    Kernel{
        .name = "scatter_add.f64", .dtype = f64, .run = combine<Add, double>},
    Kernel{.name = "scatter_add.i32",
           .dtype = i32,
           .run = combine<Add, std::uint32_t>},
    Kernel{.name = "scatter_add.i64",
           .dtype = i64,
           .run = combine<Add, std::uint64_t>},
};

template <Text kName, class Combine>
constexpr std::array<Kernel, 4> extreme_rows() {
  return {
      detail::row<kName, ".f32">(f32, {.run = combine<Combine, float>}),
      detail::row<kName, ".f64">(f64, {.run = combine<Combine, double>}),
      detail::row<kName, ".i32">(i32, {.run = combine<Combine, std::int32_t>}),
      detail::row<kName, ".i64">(i64, {.run = combine<Combine, std::int64_t>})};
}

constexpr std::array kLargest = extreme_rows<"scatter_amax", Largest>();
constexpr std::array kSmallest = extreme_rows<"scatter_amin", Smallest>();

constexpr std::array kTakes{
    Kernel{.name = "scatter_take.f32", .dtype = f32, .run = scatter_take},
    Kernel{.name = "scatter_take.f64", .dtype = f64, .run = scatter_take},
};

}  // namespace

constinit const KernelList scatter_kernels{"scatter", kPuts};
constinit const KernelList scatter_add_kernels{"scatter_add", kAdds};
constinit const KernelList scatter_amax_kernels{"scatter_amax", kLargest};
constinit const KernelList scatter_amin_kernels{"scatter_amin", kSmallest};
constinit const KernelList scatter_take_kernels{"scatter_take", kTakes};

}  // namespace neap::kernels
