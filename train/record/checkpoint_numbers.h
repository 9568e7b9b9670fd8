// A checkpoint's numbers as the metadata of its file, and back.
#pragma once

#include "model/files/metadata.h"
#include "train/record/checkpoint.h"

namespace ingot {

Result<Metadata> metadata_of(const Checkpoint& checkpoint);
Result<Checkpoint> checkpoint_of(const Metadata& metadata);

// Adds the checksum of all entries there are: the last thing to add.
void seal_metadata(Metadata& metadata);
Result<void> check_seal(const Metadata& metadata);

}  // namespace ingot
