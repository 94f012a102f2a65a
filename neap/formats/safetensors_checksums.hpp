// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The checksums in a safetensors file that Neap wrote: two texts of its
// metadata, which other readers pass over.
//
//   neap.xxh3.tensors   16 digits for each tensor, in the order of the data:
//                       the digest of its elements as they lie in the file
//   neap.xxh3.header    16 digits: the digest of the N bytes of the header,
//                       spaces included and these digits as 16 zeros, and then
//                       of the 8 bytes in front of it
//
// So the header's digest stands for the names, the shapes and the metadata, and
// for the digests of the tensors as well. Of this room alone.
#pragma once

#include "neap/formats/digest.hpp"
#include "neap/formats/safetensors_header.hpp"

namespace neap::formats {

inline constexpr std::string_view kHeaderDigestKey = "neap.xxh3.header";
inline constexpr std::string_view kTensorDigestsKey = "neap.xxh3.tensors";
/// Keys of metadata that begin so are those of checksums alone.
inline constexpr std::string_view kDigestPrefix = "neap.xxh3.";
/// In place of the header's digits while the header is digested.
inline constexpr DigestText kBlankDigest = {'0', '0', '0', '0', '0', '0',
                                            '0', '0', '0', '0', '0', '0',
                                            '0', '0', '0', '0'};

/// Takes the two texts out of the header's metadata, and checks the header
/// against its digest. RETURNS: the digits of all tensors; empty where the
/// file has no checksums, or with Verify::kOff. Failures: kCorrupt for another
/// digest than the header's, or texts of another form. THROWS: OutOfMemory.
Result<memory::String> take_checksums(SafetensorsHeader& header,
                                      std::string_view text,
                                      std::string_view file, Verify verify);

}  // namespace neap::formats
