// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What users name, in one include.
#pragma once

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/base/error.hpp"
#include "neap/base/shape.hpp"
#include "neap/base/version.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/arena.hpp"
#include "neap/memory/context.hpp"
#include "neap/memory/domain.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/tensor/print.hpp"
#include "neap/tensor/tensor.hpp"
#include "neap/threads/pool.hpp"
