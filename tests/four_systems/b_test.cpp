// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support.hpp"
