// Which rows of x a block multiplies, and by whose weights; and how a sum becomes an element of y.
#pragma once

#include "kernels/device/language.h"
#include "kernels/linear/cuda/product_cuda.h"

namespace ingot::device {

struct TokenTile {
  unsigned first;
  unsigned count;  // 0: there is nothing to do
  unsigned expert;
};

// The tile-th of tiles of up to `tokens` rows. Experts have whole tiles: blocks beyond the last of them get none.
INGOT_ON_DEVICE TokenTile token_tile(const DeviceProduct& product, unsigned tile, unsigned tokens) {
  if (product.offsets == nullptr) {
    const unsigned first = tile * tokens;
    const unsigned left = first < product.rows ? product.rows - first : 0;
    return {first, left < tokens ? left : tokens, 0};
  }
  for (unsigned expert = 0; expert < product.experts; ++expert) {
    const auto begin = static_cast<unsigned>(product.offsets[expert * product.offsets_stride]);
    const auto end = static_cast<unsigned>(product.offsets[(expert + 1) * product.offsets_stride]);
    const unsigned tiles = (end - begin + tokens - 1) / tokens;
    if (tile < tiles) {
      const unsigned first = begin + tile * tokens;
      return {first, end - first < tokens ? end - first : tokens, expert};
    }
    tile -= tiles;
  }
  return {0, 0, 0};
}

INGOT_ON_DEVICE float with_bias(const DeviceProduct& product, unsigned column, float sum) {
  return product.bias == nullptr ? sum : sum + product.bias[column];
}
INGOT_ON_DEVICE void store_sum(const DeviceProduct& product, unsigned token, unsigned column, float sum) {
  product.y[token * product.y_stride + column] = with_bias(product, column, sum);
}

}  // namespace ingot::device
