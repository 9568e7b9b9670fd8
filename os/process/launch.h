// From a cast image to a running program: the manifest says what to run, with which arguments, in which tree.
#pragma once

#include "base/image/image_manifest.h"
#include "base/result.h"

namespace ingot::os {

struct Kernel;

// Precondition of both: the kernel carries an image (BootInfo::image).
Result<Manifest> manifest_of(Kernel& kernel);
// The program's exit status, after its last thread ended.
Result<int> run_image(Kernel& kernel);

}  // namespace ingot::os
