// Products of many rows of x on tiles (matrix_tile_neon-inl.h). Part of a source, after that and
// braid_tiles_neon-inl.h.
//
// x is a stream of tiles of six rows, panel_depth of each after the other, made once a call. Weights are unpacked, as
// deep, sixteen rows at a time into two tiles (24 KiB), which stay in the first-level cache while all tiles of x pass.
// As much of 512 rows of x is 640 KiB, which stay in the second-level cache for as many columns as a thread takes at
// once. Twice as many tiles of weights, half as deep or not, were slower, and so was twice the depth.
constexpr std::int64_t columns_at_once = 256;
constexpr std::int64_t tiles_at_once = 86;  // of x: 516 rows
// Where all of x is no more than this, weights are taken to their whole depth at once: memory answers long streams
// faster.
constexpr std::size_t few_bytes_of_x = 256 << 10;

// --- x ---

template <class Block>
struct TilesOfX {
  static constexpr std::int64_t whole = panel_depth / Block::elements;
  TileXBlock<Block>* data;
  std::int64_t tiles, blocks;

  TilesOfX(const std::byte* place, const Matmul::Arguments& a)
      : data(reinterpret_cast<TileXBlock<Block>*>(const_cast<std::byte*>(place))),
        tiles(divide_rounding_up(a.x.size(0), tile_rows)),
        blocks(a.x.size(1) / Block::elements) {}
  std::size_t bytes() const { return static_cast<std::size_t>(tiles * blocks) * sizeof(TileXBlock<Block>); }
  TileXBlock<Block>* at(std::int64_t tile, std::int64_t block) const {
    const std::int64_t begin = block / whole * whole;
    return data + begin * tiles + tile * std::min(whole, blocks - begin) + block - begin;
  }
};

HWY_INLINE void place_codes(const std::int8_t* codes, int row, TileXCodes& to) {
  for (int i = 0; i < 4; ++i) std::memcpy(&to.eights[i][row / 2][row % 2 * 8], codes + 8 * i, 8);
}
HWY_INLINE void place_number(float number, int row, float32x4_t* to) {
  to[row / 2][row % 2] = number;
  to[row / 2][row % 2 + 2] = number;
}

// The sums of the groups of a block of 256.
template <class Block>
HWY_INLINE void place_sums(const std::int32_t* sums, int row, std::int8_t (&to)[2][2][tile_x_units][16]) {
  for (int g = 0; g < 256 / Block::group; ++g) {
    std::int32_t sum = sums[g * Block::group / code_group];
    if constexpr (Block::group == 32) sum += sums[2 * g + 1];
    const std::int32_t upper = (sum + 32) >> 6;
    to[0][g / 8][row / 2][row % 2 * 8 + g % 8] = static_cast<std::int8_t>(upper);
    to[1][g / 8][row / 2][row % 2 * 8 + g % 8] = static_cast<std::int8_t>(sum - 64 * upper);
  }
}

template <class Block>
HWY_INLINE void place_block(const std::int8_t* codes, float scale, const std::int32_t* sums, int row,
                            TileXBlock<Block>& to) {
  place_number(scale, row, to.scales);
  if constexpr (Block::elements == 32) {
    place_codes(codes, row, to.codes);
    if constexpr (has_base<Block>) {
      place_number(scale * static_cast<float>(sums[0] + sums[1]), row, to.scaled_sums.values);
    }
  } else {
    for (int i = 0; i < 8; ++i) place_codes(codes + 32 * i, row, to.codes[i]);
    if constexpr (has_base<Block>) place_sums<Block>(sums, row, to.group_sums.values);
  }
}

// Rows past the last one are zeros with scale zero.
template <class Block>
void fill_tile(const Matmul::Arguments& a, const TilesOfX<Block>& x, std::int64_t tile) {
  const EncodeFunction encode = encode_activation_block.neon;
  const std::int64_t first = tile * tile_rows, rows = std::min<std::int64_t>(tile_rows, a.x.size(0) - first);
  for (std::int64_t b = 0; b < x.blocks; ++b) {
    TileXBlock<Block>& to = *x.at(tile, b);
    if (rows < tile_rows) to = {};
    for (int row = 0; row < rows; ++row) {
      const BlockReader from(a.coded(), reinterpret_cast<const std::byte*>(a.x.data()),
                             a.x.stride(0) * static_cast<std::int64_t>(sizeof(float)), first + row, encode);
      alignas(16) std::int8_t codes[Block::elements];
      std::int32_t sums[Block::elements / code_group];
      const float scale = from.read(b * Block::elements, Block::elements, codes, sums);
      place_block<Block>(codes, scale, sums, row, to);
    }
  }
}

void fill_tiles(const Matmul::Arguments& a, Workers& workers, std::byte* place) {
  with_block_type(a.weights.dtype(), [&]<class Block>() {
    const TilesOfX<Block> x(place, a);
    workers.for_chunks(x.tiles, 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t tile = begin; tile < end; ++tile) fill_tile<Block>(a, x, tile);
    });
  });
}
std::size_t tile_bytes(const Matmul::Arguments& a) {
  std::size_t bytes = 0;
  with_block_type(a.weights.dtype(), [&]<class Block>() { bytes = TilesOfX<Block>(nullptr, a).bytes(); });
  return bytes;
}

// --- weights ---

constexpr int tiles_of_panel = panel_rows / tile_columns;

// Places of units (weight_units_neon-inl.h): tile by tile.
template <class Block>
struct WeightTiles {
  static constexpr int eight_bytes = 16 * tile_units;
  TileBlock<Block> blocks[tiles_of_panel][panel_depth / Block::elements];
  Scales kind;

  std::int8_t* codes(int unit, std::int64_t sixteen) {
    if constexpr (Block::elements == 32) {
      return at(unit, sixteen / 2).codes.eights[sixteen % 2 * 2][unit % tile_units];
    } else {
      return at(unit, sixteen / 16).codes[sixteen % 16 / 2].eights[sixteen % 2 * 2][unit % tile_units];
    }
  }
  std::int8_t* minimums(int unit, std::int64_t b) { return at(unit, b).minimums[0][unit % tile_units]; }
  float32x4_t& scales(int unit, std::int64_t b) { return at(unit, b).scales[unit % tile_units]; }
  float32x4_t& less_starts(int unit, std::int64_t b) { return at(unit, b).less_starts[unit % tile_units]; }
  float32x4_t& bases(int unit, std::int64_t b) { return at(unit, b).bases.values[unit % tile_units]; }
  int32x4_t& group_scales(int unit, std::int64_t b, int g) { return at(unit, b).steps[g + 1][unit % tile_units]; }
  float32x4_t& minimum_scales(int unit, std::int64_t b) { return at(unit, b).minimum_scales[unit % tile_units]; }
  float32x4_t& minimum_starts(int unit, std::int64_t b) { return at(unit, b).minimum_starts[unit % tile_units]; }

 private:
  TileBlock<Block>& at(int unit, std::int64_t b) { return blocks[unit / tile_units][b]; }
};

// From the scales of groups, each in the place after its own, to what is between them.
template <class Block>
HWY_INLINE void make_steps(TileBlock<Block>& block) {
  for (int unit = 0; unit < tile_units; ++unit) block.steps[0][unit] = vdupq_n_s32(0);
  for (int g = 1; g < 256 / Block::group; ++g) {
    for (int unit = 0; unit < tile_units; ++unit) {
      block.steps[g][unit] = vsubq_s32(block.steps[g][unit], block.steps[g + 1][unit]);
    }
  }
}

// MXFP4 alone has scales that times the start leave the range of floats.
HWY_INLINE Scales kind_of_scales(const WeightTiles<BlockMXFP4>& tiles, std::int64_t blocks) {
  float32x4_t largest = vdupq_n_f32(0);
  for (const auto& tile : tiles.blocks) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      for (const float32x4_t scale : tile[b].scales) largest = vmaxq_f32(largest, scale);
    }
  }
  return vmaxvq_f32(largest) > 0x1p100f ? Scales::wide : Scales::usual;
}

// Rows as they are stored. Those past the last one are that one again.
template <class Block>
void unpack_rows(const Matmul::Arguments& a, std::int64_t column, std::int64_t first, std::int64_t blocks,
                 WeightTiles<Block>& to) {
  const Block* rows[panel_rows];
  for (int row = 0; row < panel_rows; ++row) {
    rows[row] = reinterpret_cast<const Block*>(a.weights.row(std::min(column + row, a.y.size(1) - 1))) + first;
  }
  NeonWeightUnits<MatrixMultiply, WeightTiles<Block>>::unpack(rows, blocks, to);
  if constexpr (std::is_same_v<Block, BlockMXFP4>) to.kind = kind_of_scales(to, blocks);
  if constexpr (Block::elements == 256) {
    for (std::int64_t i = 0; i < tiles_of_panel * blocks; ++i) make_steps(to.blocks[i / blocks][i % blocks]);
  }
}

// Blocks `first` to `first + blocks` of sixteen rows, from row `column` on.
template <class Block>
void unpack_tiles(const Matmul::Arguments& a, std::int64_t column, std::int64_t first, std::int64_t blocks,
                  WeightTiles<Block>& to) {
  if constexpr (has_braid_tiles<Block>) {
    if (is_interleaved(a)) {
      for (std::int64_t i = 0; i < tiles_of_panel && column + i * tile_columns < a.y.size(1); ++i) {
        const std::byte* braid = a.weights.row(column + i * tile_columns);
        unpack_braid<Block>(reinterpret_cast<const InterleavedBlocks<Block>*>(braid) + first, blocks, to.blocks[i]);
      }
      return;
    }
  }
  unpack_rows<Block>(a, column, first, blocks, to);
}

// --- the product ---

struct alignas(64) TileWorkspace {
  std::byte weights[std::max(sizeof(WeightTiles<BlockQ4_1>), sizeof(WeightTiles<BlockQ2_K>))];  // the largest
  TileSums sums[columns_at_once / tile_columns][tiles_at_once];
};

template <class Block>
void multiply_some_tiles(const Matmul::Arguments& a, const TilesOfX<Block>& x, std::int64_t first_tile,
                         std::int64_t end_tile, std::int64_t column, std::int64_t end_column,
                         TileWorkspace& workspace) {
  using Weights = WeightTiles<Block>;
  static_assert(sizeof(Weights) <= sizeof(workspace.weights) && std::is_trivial_v<Weights>);
  Weights& weights = *reinterpret_cast<Weights*>(workspace.weights);
  for (std::int64_t i = 0; i * tile_columns < end_column - column; ++i) {
    std::memset(workspace.sums[i], 0, static_cast<std::size_t>(end_tile - first_tile) * sizeof(TileSums));
  }
  const std::int64_t at_once = x.bytes() <= few_bytes_of_x ? std::max(x.blocks, x.whole) : x.whole;
  for (std::int64_t begin = 0; begin < x.blocks; begin += at_once) {
    for (std::int64_t panel = column; panel < end_column; panel += panel_rows) {
      for (std::int64_t first = begin; first < std::min(begin + at_once, x.blocks); first += x.whole) {
        const std::int64_t count = std::min(x.whole, x.blocks - first);
        unpack_tiles<Block>(a, panel, first, count, weights);
        for (std::int64_t tile = first_tile; tile < end_tile; ++tile) {
          for (std::int64_t i = 0; i < tiles_of_panel && panel + i * tile_columns < end_column; ++i) {
            add_tile<Block>(weights.blocks[i], weights.kind, x.at(tile, first), count,
                            workspace.sums[(panel - column) / tile_columns + i][tile - first_tile]);
          }
        }
      }
    }
  }
}

// Tiles side by side, so that a row gets a whole line of the cache at once: rows of y often fall into one set.
void store_panel(const Matmul::Arguments& a, const TileSums* const (&tiles)[tiles_of_panel], std::int64_t row,
                 std::int64_t column) {
  const std::int64_t rows = std::min<std::int64_t>(tile_rows, a.y.size(0) - row);
  const auto columns = static_cast<std::size_t>(std::min<std::int64_t>(panel_rows, a.y.size(1) - column));
  float biases[panel_rows] = {};
  if (a.bias.data() != nullptr) std::memcpy(biases, a.bias.data() + column, columns * sizeof(float));
  for (std::int64_t i = 0; i < rows; i += 2) {
    float lines[2][panel_rows];
    for (int four = 0; four < panel_rows / 4; ++four) {
      float32x4_t of_rows[2];
      const TileSums& sums = *tiles[four / 2];
      MatrixMultiply::rows_of(sums[four % 2 * 2 * tile_x_units + i / 2], 4 * tile_x_units, of_rows);
      const float32x4_t bias = vld1q_f32(biases + 4 * four);
      for (int n = 0; n < 2; ++n) vst1q_f32(lines[n] + 4 * four, vaddq_f32(of_rows[n], bias));
    }
    for (std::int64_t n = 0; n < std::min<std::int64_t>(2, rows - i); ++n) {
      float* to = &a.y(row + i + n, 0) + column;
      if (columns == panel_rows) {
        std::memcpy(to, lines[n], sizeof(lines[n]));
      } else {
        std::memcpy(to, lines[n], columns * sizeof(float));
      }
    }
  }
}

void multiply_tiles(const Matmul::Arguments& a, const std::byte* place, std::byte* workspace_place) {
  auto& workspace = *reinterpret_cast<TileWorkspace*>(workspace_place);
  with_block_type(a.weights.dtype(), [&]<class Block>() {
    const TilesOfX<Block> x(place, a);
    for (std::int64_t first = 0; first < x.tiles; first += tiles_at_once) {
      const std::int64_t end = std::min(x.tiles, first + tiles_at_once);
      for (std::int64_t column = 0; column < a.y.size(1); column += columns_at_once) {
        const std::int64_t end_column = std::min(a.y.size(1), column + columns_at_once);
        multiply_some_tiles<Block>(a, x, first, end, column, end_column, workspace);
        for (std::int64_t tile = first; tile < end; ++tile) {
          for (std::int64_t at = column; at < end_column; at += panel_rows) {
            const auto* sums = &workspace.sums[(at - column) / tile_columns];
            store_panel(a, {&sums[0][tile - first], &sums[1][tile - first]}, tile * tile_rows, at);
          }
        }
      }
    }
  });
}
