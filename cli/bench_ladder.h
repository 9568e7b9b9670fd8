// `ingot bench linear.matmul --ladder`.
#pragma once

namespace ingot {

int run_ladder(int threads, bool json);

}  // namespace ingot
