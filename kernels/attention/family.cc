#include "kernels/attention/family.h"

#include "kernels/attention/cached/decode.h"
#include "kernels/attention/cached/prefill.h"
#include "kernels/attention/sdpa/sdpa.h"
#include "kernels/attention/sdpa/sdpa_backward.h"
#include "kernels/attention/softmax/log_softmax.h"
#include "kernels/attention/softmax/softmax.h"

namespace ingot {

std::span<const Operation* const> attention_operations() {
  static const Operation* const operations[] = {
      &describe_operation<Softmax>(),      &describe_operation<SoftmaxBackward>(),
      &describe_operation<LogSoftmax>(),   &describe_operation<LogSoftmaxBackward>(),
      &describe_operation<Sdpa>(),         &describe_operation<Streaming>(),
      &describe_operation<SdpaBackward>(), &describe_operation<Prefill>(),
      &describe_operation<Decode>(),
  };
  return operations;
}

}  // namespace ingot
