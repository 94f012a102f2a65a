// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A fused call has the bits of one call after another: for random graphs of
// elementwise kernels over random shapes, broadcasts, layouts and dtypes.
#include "neap/kernels/fused.hpp"

#include <memory>
#include <random>

#include "neap/kernels/activation/activation_attrs.hpp"
#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/activation/rectifiers.hpp"
#include "neap/kernels/activation/relu_bits.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/cast.hpp"
#include "neap/kernels/elementwise/compare.hpp"
#include "neap/kernels/elementwise/dropout.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/elementwise/where.hpp"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/bits.hpp"
#include "neap/kernels/engine/kernel_testing.hpp"

namespace neap::kernels {
namespace {

using testing::Array;
using testing::BackwardExecutor;
using testing::call;
using testing::kLays;
using testing::Lay;
using testing::noise;
using Place = FusedOperand::Place;

const DropoutAttrs kDropout{0.4, {11, 5}};
const SlopeAttrs kSlope{0.25};

struct MemberOf {
  const KernelList* list = nullptr;
  const void* attrs = nullptr;
  std::vector<std::size_t> in;
  std::vector<std::size_t> out;
};

// A straight line of calls over values; each value in an array of its own.
struct Graph {
  Shape shape;
  std::vector<std::unique_ptr<Array>> values;
  std::vector<bool> is_bits;
  std::vector<bool> is_kept;  // needed outside
  std::vector<MemberOf> members;
  std::size_t input_count = 0;

  std::size_t add(Array array, bool bits = false) {
    values.push_back(std::make_unique<Array>(std::move(array)));
    is_bits.push_back(bits);
    is_kept.push_back(false);
    return values.size() - 1;
  }
  DType dtype(std::size_t value) const { return values[value]->view().dtype; }
  const Kernel& kernel(const MemberOf& member) const {
    return find(*member.list, memory::kHost, dtype(member.in[0]), {});
  }
  std::vector<Strided> views(const std::vector<std::size_t>& of) const {
    std::vector<Strided> views;
    for (std::size_t value : of) {
      views.push_back(values[value]->view());
    }
    return views;
  }
  void run_one_by_one() const {
    for (const MemberOf& member : members) {
      call(kernel(member), views(member.in), views(member.out), member.attrs);
    }
  }
};

Strided seen_as(const Strided& view, const Shape& shape) {
  return {view.data, view.dtype, shape, broadcast_strides(view, shape)};
}

// The same as one call, its outputs in arrays of their own.
struct Fused {
  explicit Fused(const Graph& graph, std::mt19937* lays = nullptr)
      : call(graph.shape.element_count()) {
    isa();
    std::uint8_t inner = 0;
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      const Strided view = graph.values[v]->view();
      FusedOperand operand{Place::kInner, inner, view.dtype, graph.is_bits[v]};
      if (v < graph.input_count) {
        operand.place = Place::kIn;
        operand.index = static_cast<std::uint8_t>(in.size());
        in.push_back(graph.is_bits[v] ? view : seen_as(view, graph.shape));
      } else if (graph.is_kept[v]) {
        operand.place = Place::kOut;
        operand.index = static_cast<std::uint8_t>(out.size());
        const Lay lay = lays != nullptr && !graph.is_bits[v]
                            ? kLays[(*lays)() % 4]
                            : Lay::kDense;
        arrays.push_back(std::make_unique<Array>(view.shape, view.dtype, lay));
        out.push_back(arrays.back()->view());
        kept.push_back(v);
      } else {
        ++inner;
      }
      operands.push_back(operand);
    }
    for (const MemberOf& member : graph.members) {
      fits = add(graph, member) && fits;
    }
    fits = fits && call.prepare(in, out);
  }

  bool add(const Graph& graph, const MemberOf& member) {
    const auto in_views = graph.views(member.in);
    const auto out_views = graph.views(member.out);
    const Args args{in_views, out_views, member.attrs, {}, nullptr};
    std::vector<FusedOperand> ins;
    std::vector<FusedOperand> outs;
    for (std::size_t v : member.in) {
      ins.push_back(operands[v]);
    }
    for (std::size_t v : member.out) {
      outs.push_back(operands[v]);
    }
    return call.add(graph.kernel(member).piece(args), member.attrs, ins, outs);
  }

  void run(int threads) {
    testing::call(fused_kernel, in, out, &call, threads);
  }

  FusedCall call;
  bool fits = true;
  std::vector<FusedOperand> operands;  // of each value
  std::vector<Strided> in;
  std::vector<Strided> out;
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<std::size_t> kept;
};

class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  Graph graph() {
    static const Shape shapes[] = {
        {},        {1},       {5},          {7, 3},
        {64, 10},  {3, 300},  {40, 1, 130}, {2, 3, 4, 5, 6},
        {33, 512}, {20000, 3}};
    Graph graph;
    graph.shape = shapes[random_() % std::size(shapes)];
    for (DType dtype : {f32, f32, f64, i64, boolean}) {
      input(graph, dtype);
    }
    graph.input_count = graph.values.size();
    const std::size_t count = 2 + random_() % 11;
    while (graph.members.size() < count) {
      member(graph);
    }
    keep(graph);
    return graph;
  }

  std::mt19937& random() { return random_; }

 private:
  Shape broadcast(Shape shape) {
    for (int axis = 0; axis < shape.rank(); ++axis) {
      shape[axis] = random_() % 4 == 0 ? 1 : shape[axis];
    }
    while (shape.rank() > 0 && random_() % 6 == 0) {
      shape.erase(0);
    }
    return shape;
  }

  void input(Graph& graph, DType dtype) {
    const Shape shape =
        random_() % 2 == 0 ? graph.shape : broadcast(graph.shape);
    const Lay lay = random_() % 2 == 0 ? Lay::kDense : kLays[random_() % 4];
    const std::int64_t at = static_cast<std::int64_t>(random_() % 1000);
    if (dtype == f32) {
      graph.add(Array::of<float>(shape, lay, [at](std::int64_t i) {
        return static_cast<float>(noise(i + at));
      }));
    } else if (dtype == f64) {
      graph.add(Array::of<double>(
          shape, lay, [at](std::int64_t i) { return noise(i + at); }));
    } else if (dtype == i64) {
      graph.add(Array::of<std::int64_t>(shape, lay, [at](std::int64_t i) {
        return static_cast<std::int64_t>(noise(i + at) * 100);
      }));
    } else {
      graph.add(Array::of<bool>(
          shape, lay, [at](std::int64_t i) { return noise(i + at) > 0; }));
    }
  }

  // A value of the dtype, full or not; the last ones more often.
  std::size_t pick(const Graph& graph, DType dtype, bool bits = false) {
    std::vector<std::size_t> fitting;
    for (std::size_t v = 0; v < graph.values.size(); ++v) {
      if (graph.dtype(v) == dtype && graph.is_bits[v] == bits) {
        fitting.push_back(v);
      }
    }
    const std::size_t back = std::min(random_(), random_()) % fitting.size();
    return fitting[fitting.size() - 1 - back];
  }

  void member(Graph& graph) {
    const DType floats = random_() % 3 != 0 ? f32 : f64;
    switch (random_() % 8) {
      case 0:
      case 1:
        return unary(graph, floats);
      case 2:
      case 3:
        return binary(graph, random_() % 5 == 0 ? i64 : floats);
      case 4: {
        const KernelList* lists[] = {&lt_kernels, &eq_kernels, &ge_kernels};
        const DType of = random_() % 4 == 0 ? i64 : floats;
        return apply(graph, *lists[random_() % 3], nullptr,
                     {pick(graph, of), pick(graph, of)}, boolean);
      }
      case 5: {
        const DType types[] = {f32, f64, i64, boolean};
        const DType of = types[random_() % 4];
        return apply(graph, where_kernels, nullptr,
                     {pick(graph, boolean), pick(graph, of), pick(graph, of)},
                     of);
      }
      case 6: {
        const DType types[] = {f32, f64, i64, boolean, bf16};
        return apply(graph, cast_kernels, nullptr,
                     {pick(graph, types[random_() % 4])}, types[random_() % 5]);
      }
      default:
        return bits(graph, floats);
    }
  }

  void unary(Graph& graph, DType dtype) {
    const KernelList* lists[] = {&exp_kernels, &tanh_kernels, &square_kernels,
                                 &relu_kernels, &dropout_kernels};
    const KernelList* list = lists[random_() % 5];
    apply(graph, *list, list == &dropout_kernels ? &kDropout : nullptr,
          {pick(graph, dtype)}, dtype);
  }

  void binary(Graph& graph, DType dtype) {
    const KernelList* lists[] = {&add_kernels, &sub_kernels, &mul_kernels};
    apply(graph, *lists[random_() % 3], nullptr,
          {pick(graph, dtype), pick(graph, dtype)}, dtype);
  }

  // relu_bits of what has the full shape, and relu_grad of it and its bits.
  void bits(Graph& graph, DType dtype) {
    const std::size_t x = pick(graph, dtype);
    if (graph.values[x]->shape() != graph.shape) {
      return;
    }
    const std::int64_t bytes = bit_bytes(graph.shape.element_count());
    const std::size_t y = graph.add(Array(graph.shape, dtype));
    const std::size_t mask = graph.add(Array({bytes}, u8), true);
    graph.members.push_back({&relu_bits_kernels, &kSlope, {x}, {y, mask}});
    const std::size_t g = pick(graph, dtype);
    if (graph.values[g]->shape() == graph.shape) {
      const std::size_t dx = graph.add(Array(graph.shape, dtype));
      const std::size_t from = pick(graph, u8, true);
      graph.members.push_back({&relu_grad_kernels, &kSlope, {g, from}, {dx}});
    }
  }

  static void apply(Graph& graph, const KernelList& list, const void* attrs,
                    std::vector<std::size_t> in, DType result) {
    const std::size_t out = graph.add(Array(graph.shape, result));
    graph.members.push_back({&list, attrs, std::move(in), {out}});
  }

  // Keeps most of the values that no member reads, and some of the others.
  void keep(Graph& graph) {
    std::vector<bool> is_read(graph.values.size(), false);
    for (const MemberOf& member : graph.members) {
      for (std::size_t v : member.in) {
        is_read[v] = true;
      }
    }
    for (std::size_t v = graph.input_count; v < graph.values.size(); ++v) {
      graph.is_kept[v] = random_() % 40 < (is_read[v] ? 8U : 35U);
    }
  }

  std::mt19937 random_;
};

TEST(FusedTest, RandomGraphsHaveTheBitsOfOneCallAfterAnother) {
  int fitting = 0;
  for (unsigned seed = 0; seed < 250; ++seed) {
    Maker maker(seed);
    const Graph graph = maker.graph();
    graph.run_one_by_one();
    Fused fused(graph, &maker.random());
    if (!fused.fits) {
      continue;
    }
    ++fitting;
    for (int threads = 1; threads <= 3; ++threads) {
      fused.run(threads);
      for (std::size_t k = 0; k < fused.kept.size(); ++k) {
        ASSERT_EQ(fused.arrays[k]->elements(),
                  graph.values[fused.kept[k]]->elements())
            << "seed " << seed << " output " << k << " " << threads;
        ASSERT_TRUE(fused.arrays[k]->has_intact_guards()) << seed;
      }
    }
  }
  EXPECT_GT(fitting, 200);
}

// t = x + bias; y = exp(t); z = y x
Graph bias_exp_mul(const Shape& shape, const Shape& bias) {
  Graph graph;
  graph.shape = shape;
  for (const Shape& of : {shape, bias}) {
    graph.add(Array::of<float>(of, Lay::kDense, [](std::int64_t i) {
      return static_cast<float>(noise(i));
    }));
  }
  graph.input_count = 2;
  for (int i = 0; i < 3; ++i) {
    graph.add(Array(shape, f32));
  }
  graph.members = {{&add_kernels, nullptr, {0, 1}, {2}},
                   {&exp_kernels, nullptr, {2}, {3}},
                   {&mul_kernels, nullptr, {3, 0}, {4}}};
  graph.is_kept[4] = true;
  return graph;
}

TEST(FusedTest, WritesOverAnInputThatNobodyReadsLater) {
  const Graph graph = bias_exp_mul({40, 1000}, {1000});
  graph.run_one_by_one();
  Fused fused(graph);
  ASSERT_TRUE(fused.fits);
  fused.out[0].data = fused.in[0].data;
  fused.run(2);
  EXPECT_EQ(graph.values[0]->elements(), graph.values[4]->elements());
}

TEST(FusedTest, TakesNoScratchForValuesThatAreAllOutside) {
  Graph graph = bias_exp_mul({100}, {100});
  graph.is_kept[2] = true;
  graph.is_kept[3] = true;
  EXPECT_EQ(Fused(graph).call.scratch(2), 0);
}

TEST(FusedTest, TilesAreWholeRowsOfWhatIsRepeated) {
  const Graph graph = bias_exp_mul({1000, 96}, {96});
  EXPECT_EQ(Fused(graph).call.tile() % 96, 0);
}

TEST(FusedTest, ScratchIsBoundedWhateverTheSize) {
  const Graph graph = bias_exp_mul({4000, 96}, {96});
  EXPECT_LE(Fused(graph).call.scratch(2), 2 * 24 * 1024);
  EXPECT_EQ(Fused(graph).call.scratch(2), Fused(graph).call.scratch(2));
}

TEST(FusedTest, RefusesMoreThanFits) {
  FusedCall call(10);
  const FusedOperand x{Place::kIn, 0, f32};
  const FusedOperand y{Place::kOut, 0, f32};
  for (int i = 0; i < kMaxFusedMembers; ++i) {
    EXPECT_TRUE(call.add(nullptr, nullptr, std::span(&x, 1), std::span(&y, 1)));
  }
  EXPECT_FALSE(call.add(nullptr, nullptr, std::span(&x, 1), std::span(&y, 1)));
}

// Makes so many values, then reads them all.
bool fits_inner(int values) {
  FusedCall call(10);
  const FusedOperand x{Place::kIn, 0, f32};
  const FusedOperand y{Place::kOut, 0, f32};
  const auto inner = [](int i) {
    return FusedOperand{Place::kInner, static_cast<std::uint8_t>(i), f32};
  };
  bool fits = true;
  for (int i = 0; i < values; ++i) {
    fits &= call.add(nullptr, nullptr, {{x}}, {{inner(i)}});
  }
  for (int i = 0; i < values; i += 3) {
    const FusedOperand three[] = {inner(i), inner(std::min(i + 1, values - 1)),
                                  inner(std::min(i + 2, values - 1))};
    fits &= call.add(nullptr, nullptr, three, {{y}});
  }
  EXPECT_TRUE(fits);
  const Strided view{nullptr, f32, {10}, {1}};
  return call.prepare({{view}}, {{view}});
}

TEST(FusedTest, RefusesMoreInnerValuesAtOneTimeThanFit) {
  EXPECT_TRUE(fits_inner(kMaxFusedTiles));
  EXPECT_FALSE(fits_inner(kMaxFusedTiles + 1));
}

TEST(FusedTest, AnEmptyCallDoesNothing) {
  const Graph graph = bias_exp_mul({3, 0}, {1, 0});
  Fused fused(graph);
  ASSERT_TRUE(fused.fits);
  fused.run(2);
}

}  // namespace
}  // namespace neap::kernels
