// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The one visibility macro: what it marks is exported from a shared build.
#pragma once

#define NEAP_API __attribute__((visibility("default")))
