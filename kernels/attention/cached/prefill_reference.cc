#include "kernels/attention/cached/cached_truth.h"
#include "kernels/attention/cached/prefill.h"

namespace ingot {

void prefill_reference(const Prefill::Arguments& a, Context&) {
  CachedTruth truth(a);
  for (std::int64_t run = 0; run < a.sequences(); ++run) {
    for (std::int64_t i = 0; i < a.run_tokens(run); ++i) {
      truth.attend(a.run_begins(run) + i, run, a.first_position(run) + i);
    }
  }
}

}  // namespace ingot
