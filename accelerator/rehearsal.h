// Rehearsal: a broker's one look at what its workers will run, before there is a client. What a kernel asks the system
// for when it first runs (how large caches are) is asked here, because a confined worker may not.
#pragma once

#include "accelerator/worker.h"

namespace ingot {

// Runs a few cases of every contract, as proofs have them, in the rows that clients will get.
Result<void> rehearse(const WorkerTask& task);

}  // namespace ingot
