// What tells one model from another: all of its metadata, and of each tensor its name, type, shape and beginning. To
// read all weights would take as long as to copy the file.
#pragma once

#include "base/sum.h"
#include "engine/adapter.h"

namespace ingot {

void add_model(const Model& model, Sum& sum);
// The same of an adapter's matrices, and of what they are multiplied with.
void add_adapter(const Adapter& adapter, Sum& sum);

}  // namespace ingot
