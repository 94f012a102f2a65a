// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CIFAR-10 and CIFAR-100 in their binary version
// (https://www.cs.toronto.edu/~kriz/cifar.html): files of whole records, with
// no header.
//
//   CIFAR-10     | label | 1024 red | 1024 green | 1024 blue |
//   CIFAR-100    | coarse | fine | 1024 red | 1024 green | 1024 blue |
//
// Images are (3, 32, 32), both parts standardised channel by channel with the
// training part's statistics. A file that is not a whole number of records, has
// none, or holds a label out of range is refused; sizes are checked before
// memory is allocated.
#pragma once

#include "neap/data/image_set.hpp"

namespace neap::data {

/// data_batch_1.bin .. data_batch_5.bin and test_batch.bin: ten classes.
/// Failures: kNotFound, kTruncated, kCorrupt; file-system failures. THROWS:
/// OutOfMemory.
[[nodiscard]] NEAP_API Result<TrainAndTest> read_cifar10(
    files::Door& door, std::string_view directory);

enum class Cifar100Labels : std::uint8_t { kFine, kCoarse };  // 100, or 20

/// train.bin and test.bin. Failures, THROWS: as read_cifar10.
[[nodiscard]] NEAP_API Result<TrainAndTest> read_cifar100(
    files::Door& door, std::string_view directory,
    Cifar100Labels labels = Cifar100Labels::kFine);

}  // namespace neap::data
