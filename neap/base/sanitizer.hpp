// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Whether this program is compiled for AddressSanitizer.
#pragma once

namespace neap::base {

#if defined(__SANITIZE_ADDRESS__)  // g++
inline constexpr bool kAddressSanitizer = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)  // clang
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#else
inline constexpr bool kAddressSanitizer = false;
#endif

}  // namespace neap::base
