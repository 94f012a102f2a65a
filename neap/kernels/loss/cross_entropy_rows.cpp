// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/loss/cross_entropy_rows.hpp"

#include <array>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/loss/row_losses.hpp"
#include "neap/kernels/loss/samples.hpp"

namespace neap::kernels {
namespace {

template <class T>
void put_losses(const Args& args) noexcept {
  const Samples samples(args.in[1], args.in[0].shape[1],
                        args.attrs_as<CrossEntropyAttrs>());
  const RowLosses<T> losses(args.in[0], args.out[1], samples,
                            means_of_rows(args));
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    element<double>(args.out[0], i) = losses(i);
  }
}

template <class T>
void rows(const Args& args) noexcept {
  lse_of_rows(args);
  put_losses<T>(args);
}

template <class T>
void rows_reference(const Args& args) noexcept {
  lse_of_rows_reference(args);
  put_losses<T>(args);
}

void total(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<CrossEntropyAttrs>();
  const Samples samples(args.in[1], 0, attrs);  // classes do not matter
  LossSum sum;
  for (std::int64_t i = 0; i < samples.size(); ++i) {
    sum.add(element<double>(args.in[0], i), samples.is_ignored(i));
  }
  const double loss = sum.reduced(attrs.reduction);
  if (args.out[0].dtype == f32) {
    *args.out[0].as<float>() = static_cast<float>(loss);
  } else {
    *args.out[0].as<double>() = loss;
  }
}

template <class T>
void share(const Args& args) noexcept {
  const Samples samples(args.in[1], 0, args.attrs_as<CrossEntropyAttrs>());
  *args.out[0].as<T>() =
      *args.in[0].as<T>() / static_cast<T>(samples.counted());
}

constexpr std::array kRows = float_rows<"cross_entropy_rows">(
    {.run = rows<float>, .scratch = bytes_of_means},
    {.run = rows<double>, .scratch = bytes_of_means},
    {.run = rows_reference<float>, .scratch = bytes_of_means},
    {.run = rows_reference<double>, .scratch = bytes_of_means});

constexpr std::array kTotal{
    Kernel{.name = "cross_entropy_total.f64", .dtype = f64, .run = total}};

constexpr std::array kShare{
    Kernel{
        .name = "cross_entropy_share.f32", .dtype = f32, .run = share<float>},
    Kernel{
        .name = "cross_entropy_share.f64", .dtype = f64, .run = share<double>}};

}  // namespace

constinit const KernelList cross_entropy_rows_kernels{"cross_entropy_rows",
                                                      kRows};
constinit const KernelList cross_entropy_total_kernels{"cross_entropy_total",
                                                       kTotal};
constinit const KernelList cross_entropy_share_kernels{"cross_entropy_share",
                                                       kShare};

}  // namespace neap::kernels
