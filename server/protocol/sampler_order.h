// `samplers`: llama-server's list of the links that a token is drawn by, in their order. Here the order is the
// sampler's own (engine/sampler.h): a list is honoured where the links that change anything stand in it so.
#pragma once

#include "engine/sampler.h"
#include "server/protocol/field_reader.h"

namespace ingot::protocol {

// Links that a list leaves out are switched off. After the fields that set them.
void read_sampler_order(FieldReader& reader, SamplerOptions& sampling);

}  // namespace ingot::protocol
