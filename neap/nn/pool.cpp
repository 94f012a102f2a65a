// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/pool.hpp"

namespace neap::nn {

template class Cloneable<MaxPool1d>;
template class Cloneable<MaxPool2d>;
template class Cloneable<AvgPool1d>;
template class Cloneable<AvgPool2d>;
template class Cloneable<Upsample>;
template class Cloneable<AdaptiveAvgPool2d>;
template class Cloneable<AdaptiveMaxPool2d>;

}  // namespace neap::nn
