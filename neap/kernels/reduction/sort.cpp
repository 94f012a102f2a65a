// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sort.hpp"

#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/rows.hpp"
#include "neap/kernels/reduction/sort_keys.hpp"

namespace neap::kernels {
namespace {

struct Call {
  explicit Call(const Args& args) noexcept
      : attrs(args.attrs_as<SortAttrs>()),
        x(args.in[0], static_cast<int>(attrs.axis)),
        values(args.out[0], static_cast<int>(attrs.axis)),
        indices(args.out[1], static_cast<int>(attrs.axis)),
        rows(x.count()),
        parts(std::min<std::int64_t>(rows, args.executor->threads())) {}

  /// Sorting all is better than choosing where many are wanted.
  bool chooses() const noexcept { return values.length() < x.length() / 8; }
  /// In each of the two buffers of a part.
  std::int64_t entries() const noexcept {
    return chooses() ? values.length() : x.length();
  }

  const SortAttrs& attrs;
  Rows x;
  Rows values;
  Rows indices;
  std::int64_t rows;
  std::int64_t parts;
};

template <class T>
Entry<KeyOf<T>> entry_of(const Call& call, const T* x,
                         std::int64_t i) noexcept {
  const KeyOf<T> key = key_of(x[i * call.x.stride()]);
  return {call.attrs.descending ? static_cast<KeyOf<T>>(~key) : key,
          static_cast<std::uint32_t>(i)};
}

// The first entries of a row, in a heap with the last of them on top.
template <class T>
void choose(const Call& call, const T* x, Entry<KeyOf<T>>* heap) noexcept {
  const std::int64_t count = call.values.length();
  for (std::int64_t i = 0; i < count; ++i) {
    heap[i] = entry_of(call, x, i);
  }
  std::make_heap(heap, heap + count);
  for (std::int64_t i = count; i < call.x.length(); ++i) {
    const Entry<KeyOf<T>> entry = entry_of(call, x, i);
    if (entry.key < heap[0].key) {
      std::pop_heap(heap, heap + count);
      heap[count - 1] = entry;
      std::push_heap(heap, heap + count);
    }
  }
  std::sort_heap(heap, heap + count);
}

template <class T>
void sort_row(const Call& call, std::int64_t row, Entry<KeyOf<T>>* entries,
              Entry<KeyOf<T>>* spare) noexcept {
  const T* x = call.x.at<const T>(row);
  if (call.chooses()) {
    choose(call, x, entries);
  } else {
    for (std::int64_t i = 0; i < call.x.length(); ++i) {
      entries[i] = entry_of(call, x, i);
    }
    entries = sort_entries(entries, spare, call.x.length());
  }
  T* values = call.values.at<T>(row);
  std::int64_t* indices = call.indices.at<std::int64_t>(row);
  for (std::int64_t i = 0; i < call.values.length(); ++i) {
    const std::int64_t from = entries[i].index;
    values[i * call.values.stride()] = x[from * call.x.stride()];
    indices[i * call.indices.stride()] = from;
  }
}

template <class T>
Bytes scratch(const Args& args) noexcept {
  const Call call(args);
  if (call.values.length() == 0) {
    return 0;
  }
  return call.parts * 2 * call.entries() *
         static_cast<Bytes>(sizeof(Entry<KeyOf<T>>));
}

template <class T>
void sort(const Args& args) noexcept {
  const Call call(args);
  if (call.values.length() == 0 || call.parts == 0) {
    return;
  }
  auto* const entries = reinterpret_cast<Entry<KeyOf<T>>*>(args.scratch.data());
  threads::parallel_parts(
      *args.executor, static_cast<int>(call.parts), [&](int part) noexcept {
        Entry<KeyOf<T>>* own = entries + 2 * part * call.entries();
        const std::int64_t end = (part + 1) * call.rows / call.parts;
        for (std::int64_t row = part * call.rows / call.parts; row < end;
             ++row) {
          sort_row<T>(call, row, own, own + call.entries());
        }
      });
}

// Each element goes to the place that as many stand before.
template <class T>
void sort_reference(const Args& args) noexcept {
  const Call call(args);
  for (std::int64_t row = 0; row < call.rows; ++row) {
    const T* x = call.x.at<const T>(row);
    const auto at = [&](std::int64_t i) { return x[i * call.x.stride()]; };
    const auto is_less = [](T a, T b) { return a < b || (a == a && b != b); };
    for (std::int64_t i = 0; i < call.x.length(); ++i) {
      std::int64_t place = 0;
      for (std::int64_t j = 0; j < call.x.length(); ++j) {
        const bool comes_before = call.attrs.descending ? is_less(at(i), at(j))
                                                        : is_less(at(j), at(i));
        const bool is_equal = !is_less(at(i), at(j)) && !is_less(at(j), at(i));
        place += comes_before || (is_equal && j < i) ? 1 : 0;
      }
      if (place < call.values.length()) {
        call.values.at<T>(row)[place * call.values.stride()] = at(i);
        call.indices.at<std::int64_t>(row)[place * call.indices.stride()] = i;
      }
    }
  }
}

template <class T>
constexpr Kernel kernel(const char* name, DType dtype) {
  return {.name = name, .dtype = dtype, .run = sort<T>, .scratch = scratch<T>};
}

constexpr std::array kSort{
    kernel<float>("sort.f32", f32),
    kernel<double>("sort.f64", f64),
    kernel<std::int32_t>("sort.i32", i32),
    kernel<std::int64_t>("sort.i64", i64),
    Kernel{.name = "sort.reference.f32",
           .dtype = f32,
           .run = sort_reference<float>},
    Kernel{.name = "sort.reference.f64",
           .dtype = f64,
           .run = sort_reference<double>},
};

constexpr std::array kTopk{
    kernel<float>("topk.f32", f32),
    kernel<double>("topk.f64", f64),
    kernel<std::int32_t>("topk.i32", i32),
    kernel<std::int64_t>("topk.i64", i64),
    Kernel{.name = "topk.reference.f32",
           .dtype = f32,
           .run = sort_reference<float>},
    Kernel{.name = "topk.reference.f64",
           .dtype = f64,
           .run = sort_reference<double>},
};

}  // namespace

constinit const KernelList sort_kernels{"sort", kSort};
constinit const KernelList topk_kernels{"topk", kTopk};

}  // namespace neap::kernels
