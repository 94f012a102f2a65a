// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Formatters for programs that use fmt (9 or later), which Neap's other headers
// do not need: fmt::print("{}\n", tensor). Each prints what operator<< does.
#pragma once

#include <fmt/ostream.h>

#include <concepts>

#include "neap/neap.hpp"

template <>
struct fmt::formatter<neap::Tensor> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::Shape> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::DType> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::ByteCount> : fmt::ostream_formatter {};
template <std::derived_from<neap::Error> E>
struct fmt::formatter<E> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::compiler::Prediction> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::compiler::Program> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::memory::ScopeStats> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::memory::Stats> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::nn::MemoryMap> : fmt::ostream_formatter {};
template <>
struct fmt::formatter<neap::report::Breakdown> : fmt::ostream_formatter {};
