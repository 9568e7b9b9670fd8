#pragma once

namespace ingot {

// Operations a second that the bf16 matrix instructions of this machine do on registers alone, on all these threads
// together; a multiply and an add are two. Zero where there are none.
double bf16_peak_operations(int threads);

}  // namespace ingot
