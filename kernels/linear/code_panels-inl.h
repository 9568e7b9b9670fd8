// What products on code panels (code_panels.h) do alike on every AVX-512 machine: make the panels of x, unpack those of
// weights, hand out the columns, store the sums. Part of a source, inside its target attributes and an unnamed
// namespace of its own, which says how two panels are multiplied:
//
//   struct Product {
//     void prepare(const WeightPanel32&, std::int64_t blocks);      before the products with that panel
//     void add(const WeightPanel32&, std::int64_t blocks, const std::int8_t* x, const float* scales, PanelWorkspace&,
//              PanelSums& sums);
//   };
//
// and the same for WeightPanel256.

// Sixteen registers of sixteen 32-bit numbers: row i becomes column i.
HWY_INLINE void transpose(__m512i (&rows)[16]) {
  __m512i pairs[16];
  for (int i = 0; i < 16; i += 2) {
    pairs[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {  // rows[i + c]: column c of each quarter, rows i to i + 3
    rows[i] = _mm512_unpacklo_epi64(pairs[i], pairs[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(pairs[i], pairs[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(pairs[i + 1], pairs[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(pairs[i + 1], pairs[i + 3]);
  }
  for (int c = 0; c < 4; ++c) {
    pairs[c] = _mm512_shuffle_i32x4(rows[c], rows[4 + c], 0x88);      // quarters 0 and 2 of both
    pairs[4 + c] = _mm512_shuffle_i32x4(rows[c], rows[4 + c], 0xdd);  // 1 and 3
    pairs[8 + c] = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], 0x88);
    pairs[12 + c] = _mm512_shuffle_i32x4(rows[8 + c], rows[12 + c], 0xdd);
  }
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm512_shuffle_i32x4(pairs[c], pairs[8 + c], 0x88);
    rows[4 + c] = _mm512_shuffle_i32x4(pairs[4 + c], pairs[12 + c], 0x88);
    rows[8 + c] = _mm512_shuffle_i32x4(pairs[c], pairs[8 + c], 0xdd);
    rows[12 + c] = _mm512_shuffle_i32x4(pairs[4 + c], pairs[12 + c], 0xdd);
  }
}

// --- x ---

// Rows past the last one, and depth past the end, are zeros with scale zero.
template <class Block>
void fill_panel(const Matmul::Arguments& a, const ActivationPanels& x, std::int64_t panel) {
  constexpr int step = 256;  // a whole number of blocks
  const std::int64_t depth = a.x.size(1);
  const std::int64_t rows = std::min<std::int64_t>(panel_rows, a.x.size(0) - panel * panel_rows);
  std::memset(x.codes(panel), 0, static_cast<std::size_t>(x.bytes_each()));
  for (std::int64_t begin = 0; begin < depth; begin += step) {
    alignas(64) std::int8_t codes[panel_rows][step] = {};
    const std::int64_t length = std::min<std::int64_t>(step, depth - begin);
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t at = 0; at < length; at += Block::elements) {
        std::int32_t sums[Block::elements / code_group];
        const float scale = encode_activation_block.widest()(&a.x(panel * panel_rows + row, 0) + begin + at,
                                                             Block::elements, codes[row] + at, sums);
        x.scales(panel)[(begin + at) / Block::elements * panel_rows + row] = scale;
        for (int i = 0; i < Block::elements / code_group; ++i) {
          x.scaled_sums(panel)[((begin + at) / Block::group + i * code_group / Block::group) * panel_rows + row] +=
              scale * static_cast<float>(sums[i]);
        }
      }
    }
    for (std::int64_t at = 0; at < length; at += 64) {
      __m512i quads[panel_rows];
      for (int row = 0; row < panel_rows; ++row) quads[row] = _mm512_load_si512(codes[row] + at);
      transpose(quads);
      std::int8_t* to = x.codes(panel) + (begin + at) * panel_rows;
      for (int i = 0; i < 16; ++i) _mm512_store_si512(to + 64 * i, quads[i]);
    }
  }
}

// --- weights ---

// Blocks `first` to `first + count` of a row: where they lie, or gathered into `buffer`.
template <class Block>
HWY_INLINE const Block* row_blocks(const Matmul::Arguments& a, std::int64_t row, std::int64_t first, std::int64_t count,
                                   Block* buffer) {
  if constexpr (std::is_same_v<Block, BlockQ4_0> || std::is_same_v<Block, BlockQ8_0>) {
    if (is_interleaved(a)) {
      gather_blocks(a.weights, row, first, count, reinterpret_cast<std::byte*>(buffer));
      return buffer;
    }
  }
  return reinterpret_cast<const Block*>(a.weights.row(row)) + first;
}

HWY_INLINE float half_value(StoredHalf half) { return _cvtsh_ss(half.bits()); }

template <class Block>
void unpack_row(DType dtype, const Block* blocks, std::int64_t count, int row, WeightPanel32& panel) {
  unpack_block_codes.widest()(dtype, reinterpret_cast<const std::byte*>(blocks), count, panel.codes[row]);
  for (std::int64_t b = 0; b < count; ++b) {
    if constexpr (std::is_same_v<Block, BlockMXFP4>) {
      panel.scales[row][b] = mxfp4_scale(blocks[b].exponent);
    } else {
      panel.scales[row][b] = half_value(blocks[b].scale);
    }
    if constexpr (requires { blocks->base; }) panel.minimums[row][b] = -half_value(blocks[b].base);
  }
  if (count % 2 != 0) {  // products take two blocks at a time; x is zero there
    std::memset(panel.codes[row] + 32 * count, 0, 32);
    panel.scales[row][count] = 0;
    panel.minimums[row][count] = 0;
  }
}

template <class Block>
void unpack_row(DType dtype, const Block* blocks, std::int64_t count, int row, WeightPanel256& panel) {
  for (std::int64_t b = 0; b < count; ++b) {
    alignas(64) std::int8_t codes[256];
    unpack_block_codes.widest()(dtype, reinterpret_cast<const std::byte*>(blocks + b), 1, codes);
    for (int at = 0; at < 256; at += 32) {
      const __m512i wide = _mm512_cvtepi8_epi16(_mm256_load_si256(reinterpret_cast<const __m256i*>(codes + at)));
      const int group = at / Block::group;
      const __m256i first = _mm256_set1_epi16(static_cast<std::int16_t>(group_scale(blocks[b], group)));
      const __m256i second =
          Block::group == 32 ? first : _mm256_set1_epi16(static_cast<std::int16_t>(group_scale(blocks[b], group + 1)));
      const __m512i product = _mm512_mullo_epi16(wide, _mm512_inserti64x4(_mm512_castsi256_si512(first), second, 1));
      auto store = [](std::int8_t* to, __m512i words) {
        _mm256_store_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi16_epi8(words));
      };
      store(panel.lower[row] + 256 * b + at, _mm512_and_si512(product, _mm512_set1_epi16(127)));
      store(panel.upper[row] + 256 * b + at, _mm512_srai_epi16(product, 7));
    }
    panel.scales[row][b] = half_value(blocks[b].scale);
    if constexpr (requires { blocks->minimum; }) {
      constexpr int groups = 256 / Block::group;
      const float minimum = half_value(blocks[b].minimum);
      for (int group = 0; group < groups; ++group) {
        panel.minimums[row][b * groups + group] = minimum * static_cast<float>(group_minimum(blocks[b], group));
      }
    }
  }
}

// Sixteen rows of weights from row `column` on; those past the last count for nothing.
template <class Block, class Panel>
void unpack_panel(const Matmul::Arguments& a, std::int64_t column, std::int64_t first, std::int64_t count,
                  Panel& panel) {
  const std::int64_t columns = std::min<std::int64_t>(panel_rows, a.y.size(1) - column);
  for (int row = 0; row < panel_rows; ++row) {
    if (row < columns) {
      Block buffer[panel_depth / Block::elements];
      unpack_row(a.weights.dtype(), row_blocks(a, column + row, first, count, buffer), count, row, panel);
    } else {
      std::memset(panel.scales[row], 0, sizeof(panel.scales[row]));
      std::memset(panel.minimums[row], 0, sizeof(panel.minimums[row]));
    }
  }
}

// sums -= minimums * scaled_sums, over `groups` of the depth.
template <class Panel>
HWY_INLINE void subtract_minimums(const Panel& panel, std::int64_t groups, const float* scaled_sums, PanelSums& sums) {
  __m512 totals[panel_rows];
  for (int row = 0; row < panel_rows; ++row) totals[row] = _mm512_load_ps(sums[row]);
  for (std::int64_t g = 0; g < groups; ++g) {
    const __m512 x = _mm512_load_ps(scaled_sums + g * panel_rows);
#pragma GCC unroll 16
    for (int row = 0; row < panel_rows; ++row) {
      totals[row] = _mm512_fnmadd_ps(_mm512_set1_ps(panel.minimums[row][g]), x, totals[row]);
    }
  }
  for (int row = 0; row < panel_rows; ++row) _mm512_store_ps(sums[row], totals[row]);
}

// --- the product ---

inline void store_sums(const Matmul::Arguments& a, std::int64_t row, std::int64_t column, const PanelSums& sums) {
  const std::int64_t rows = std::min<std::int64_t>(panel_rows, a.y.size(0) - row);
  const std::int64_t columns = std::min<std::int64_t>(panel_rows, a.y.size(1) - column);
  const auto used = static_cast<__mmask16>((1u << columns) - 1);
  const __m512 bias =
      a.bias.data() == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(used, a.bias.data() + column);
  __m512i by_row[panel_rows];
  for (int i = 0; i < panel_rows; ++i) by_row[i] = _mm512_load_si512(sums[i]);
  transpose(by_row);
  for (std::int64_t i = 0; i < rows; ++i) {
    _mm512_mask_storeu_ps(&a.y(row + i, 0) + column, used, _mm512_add_ps(_mm512_castsi512_ps(by_row[i]), bias));
  }
}

template <class Product, class Block, class Panel>
void multiply_panel(const Matmul::Arguments& a, const ActivationPanels& x, std::int64_t column, Product& product,
                    Panel& weights, PanelWorkspace& workspace) {
  const std::int64_t depth = a.x.size(1);
  const std::int64_t panels = divide_rounding_up(a.x.size(0), panel_rows);
  for (std::int64_t first_panel = 0; first_panel < panels; first_panel += panels_at_once) {
    const std::int64_t end_panel = std::min(panels, first_panel + panels_at_once);
    std::memset(workspace.sums, 0, sizeof(PanelSums) * static_cast<std::size_t>(end_panel - first_panel));
    for (std::int64_t begin = 0; begin < depth; begin += panel_depth) {
      const std::int64_t length = std::min<std::int64_t>(panel_depth, depth - begin);
      unpack_panel<Block>(a, column, begin / Block::elements, length / Block::elements, weights);
      product.prepare(weights, length / Block::elements);
      for (std::int64_t panel = first_panel; panel < end_panel; ++panel) {
        PanelSums& sums = workspace.sums[panel - first_panel];
        product.add(weights, length / Block::elements, x.codes(panel) + begin * panel_rows,
                    x.scales(panel) + begin / Block::elements * panel_rows, workspace, sums);
        if constexpr (requires(const Block& block) { block.base; } || requires(const Block& block) { block.minimum; }) {
          subtract_minimums(weights, length / Block::group, x.scaled_sums(panel) + begin / Block::group * panel_rows,
                            sums);
        }
      }
    }
    for (std::int64_t panel = first_panel; panel < end_panel; ++panel) {
      store_sums(a, panel * panel_rows, column, workspace.sums[panel - first_panel]);
    }
  }
}

template <class Product, class Block>
void multiply_blocks(const Matmul::Arguments& a, Context& context) {
  const ActivationPanels x(context.scratch.data(), a.x.size(1));
  const std::int64_t panels = divide_rounding_up(a.x.size(0), panel_rows);
  context.workers.for_chunks(panels, 1, [&](std::int64_t begin, std::int64_t end, int) {
    for (std::int64_t panel = begin; panel < end; ++panel) fill_panel<Block>(a, x, panel);
  });
  auto* workspaces = reinterpret_cast<PanelWorkspace*>(context.scratch.data() + panels * x.bytes_each());
  const std::int64_t columns = divide_rounding_up(a.y.size(1), panel_rows);
  context.workers.for_chunks(columns, 1, [&](std::int64_t begin, std::int64_t end, int worker) {
    Product product;
    PanelWorkspace& workspace = workspaces[worker];
    for (std::int64_t column = begin; column < end; ++column) {
      if constexpr (Block::elements == 32) {
        multiply_panel<Product, Block>(a, x, column * panel_rows, product, workspace.weights_32, workspace);
      } else {
        multiply_panel<Product, Block>(a, x, column * panel_rows, product, workspace.weights_256, workspace);
      }
    }
  });
}

template <class Product>
void multiply_panels(const Matmul::Arguments& a, Context& context) {
  if (a.y.count() == 0) return;
  with_block_type(a.weights.dtype(), [&]<class Block>() { multiply_blocks<Product, Block>(a, context); });
}
