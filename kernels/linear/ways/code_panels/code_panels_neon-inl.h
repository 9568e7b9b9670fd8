// Code panels in registers of 128 bits. Part of a source, after code_panels-inl.h and weight_units_neon-inl.h, which
// brings the instruction that multiplies sixteen codes of some rows of weights (a unit) and of x, into 32-bit lanes:
//
//   struct Instruction {
//     static constexpr int weight_rows, x_rows;      of a unit; a product of two units is one register
//     static constexpr int weight_units, x_units;    of a tile, whose eight products are in registers together
//     template <class Vector>
//     static void spread(const Vector (&rows)[weight_rows], Vector* to);
//                                                    four numbers of each row of weights, in the lanes of its products
//     static float32x4_t spread_x(const float*);     a number a row of x, likewise
//     static void order(const int8x16_t (&rows)[weight_rows], std::int8_t* to, int eight_bytes);  16 codes of each row
//     static void place(const PanelStep&, int at, std::int8_t* to);   as in code_panels-inl.h
//     template <int weight_count, int x_count>
//     static void multiply(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
//                          int32x4_t (&products)[weight_count][x_count]);
//                                                    16 codes of a tile; units of weights are unit_bytes apart
//     multiply_eight                                 the same with the first eight of them
//     static void rows_of(const float* products, std::int64_t unit_floats, float32x4_t (&rows)[x_rows]);
//                                                    four columns of y, from products with the units that hold them
//   };
//
// Sums of two panels lie as the products do, [unit of weights][unit of x][4], until they are stored.

// A compiler would copy one register to all that begin alike, and a copy takes a slot of the vector pipes. A load of
// its own takes none, nor does writing zero; naming what a sum waits for anyway, and its index, makes each different.
template <int index>
HWY_INLINE int32x4_t start_after(int8x16_t after) {
  alignas(16) static constexpr float start[4] = {float_start, float_start, float_start, float_start};
  int32x4_t loaded;
  __asm__("ldr %q0, %1" : "=w"(loaded) : "m"(start), "w"(after), "n"(index));
  return loaded;
}
template <int index>
HWY_INLINE int32x4_t zero_after(int8x16_t after) {
  int32x4_t zero;
  __asm__("movi %0.2d, #0" : "=w"(zero) : "w"(after), "n"(index));
  return zero;
}

// Sums of a group of x are 64 * upper + lower, bytes both: where a block of 256 has minimums, they are multiplied as
// codes are. Two panels, each 16 deep, stand where other machines keep sums as floats.
inline constexpr int sums_bytes = 16 * panel_rows;
template <class Block>
constexpr bool has_integer_sums = Block::elements == 256 && has_base<Block>;

// Places of units (weight_units_neon-inl.h): those of a panel one after the other.
template <class Instruction>
class PanelUnits {
  static constexpr int rows = Instruction::weight_rows;

 public:
  static constexpr int units = panel_rows / rows;
  static constexpr int eight_bytes = 8 * rows;
  static constexpr int unit_bytes = panel_depth * rows + 64;  // not all in one set of the cache
  static constexpr int minimum_bytes = panel_depth / code_group * rows;

  std::int8_t* codes(int unit, std::int64_t sixteen) { return codes_[unit] + 16 * sixteen * rows; }
  std::int8_t* minimums(int unit, std::int64_t b) { return minimums_[unit] + 16 * b * rows; }
  float32x4_t& scales(int unit, std::int64_t b) { return scales_[unit][b]; }
  float32x4_t& less_starts(int unit, std::int64_t b) { return less_starts_[unit][b]; }
  float32x4_t& bases(int unit, std::int64_t b) { return bases_[unit][b]; }
  int32x4_t& group_scales(int unit, std::int64_t b, std::int64_t g) { return group_scales_[unit][b][g]; }
  float32x4_t& minimum_scales(int unit, std::int64_t b) { return minimum_scales_[unit][b]; }
  float32x4_t& minimum_starts(int unit, std::int64_t b) { return minimum_starts_[unit][b]; }

 private:
  alignas(64) std::int8_t codes_[units][unit_bytes];
  float32x4_t scales_[units][panel_depth / 32];
  float32x4_t less_starts_[units][panel_depth / 32];
  float32x4_t bases_[units][panel_depth / 32];
  int32x4_t group_scales_[units][panel_depth / 256][256 / code_group];
  std::int8_t minimums_[units][minimum_bytes];
  float32x4_t minimum_scales_[units][panel_depth / 256];
  float32x4_t minimum_starts_[units][panel_depth / 256];
};

template <class Instruction>
class NeonProduct {
  using Units = PanelUnits<Instruction>;
  static constexpr int units = Units::units;
  static constexpr int x_units = panel_rows / Instruction::x_rows;
  static constexpr int tile_units = Instruction::weight_units;
  static constexpr int tile_x_units = Instruction::x_units;
  using Products = int32x4_t[tile_units][tile_x_units];
  using Floats = float32x4_t[tile_units][tile_x_units];

 public:
  static constexpr SimdTarget target = SimdTarget::neon;
  template <class Block>
  using Panel = NeonRows<Block>;

  template <class Block>
  static void place(const PanelStep& codes, int at, const ActivationPart& to) {
    Instruction::place(codes, at, to.codes);
    if constexpr (has_integer_sums<Block>) {
      if (at == 0) place_sums<Block::group>(codes, reinterpret_cast<std::int8_t*>(to.scaled_sums));
    }
  }

  template <class Block>
  void unpack(const Block* const (&rows)[panel_rows], std::int64_t blocks) {
    NeonWeightUnits<Instruction, Units>::unpack(rows, blocks, units_);
  }
  // How many rows of x the panels hold that come next.
  void use_rows(std::int64_t count) {
    used_x_units_ = static_cast<int>(divide_rounding_up(count, Instruction::x_rows));
  }

  template <class Block>
  void add(const NeonRows<Block>&, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&, PanelSums& sums) {
    for_tiles([&](int unit, int x_unit) {
      if constexpr (Block::elements == 32) {
        add_32<Block>(unit, x_unit, blocks, x, sums);
      } else {
        add_256<Block>(unit, x_unit, blocks, x, sums);
      }
    });
  }

  static void store(const PanelSums& sums, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
                    std::int64_t stride) {
    float biases[panel_rows] = {};
    if (bias != nullptr) std::memcpy(biases, bias, static_cast<std::size_t>(columns) * sizeof(float));
    for (std::int64_t row = 0; row < rows; row += Instruction::x_rows) {
      float lines[Instruction::x_rows][panel_rows];
      for (int column = 0; column < panel_rows; column += 4) {
        float32x4_t of_rows[Instruction::x_rows];
        Instruction::rows_of(sums_at(sums, column / Instruction::weight_rows, row / Instruction::x_rows), 4 * x_units,
                             of_rows);
        for (int i = 0; i < Instruction::x_rows; ++i) {
          vst1q_f32(lines[i] + column, vaddq_f32(of_rows[i], vld1q_f32(biases + column)));
        }
      }
      for (std::int64_t i = 0; i < std::min<std::int64_t>(Instruction::x_rows, rows - row); ++i) {
        std::memcpy(to + (row + i) * stride, lines[i], static_cast<std::size_t>(columns) * sizeof(float));
      }
    }
  }

 private:
  template <int group>
  static void place_sums(const PanelStep& codes, std::int8_t* to) {
    alignas(64) PanelStep sums = {};
    for (int row = 0; row < panel_rows; ++row) {
      for (int g = 0; g < 256 / group; ++g) {
        int32x4_t four = vdupq_n_s32(0);
        for (int i = 0; i < group; i += 16) four = vdotq_s32(four, vdupq_n_s8(1), vld1q_s8(codes[row] + g * group + i));
        const std::int32_t sum = vaddvq_s32(four);
        const std::int32_t upper = (sum + 32) >> 6;
        sums[row][g] = static_cast<std::int8_t>(upper);
        sums[row][16 + g] = static_cast<std::int8_t>(sum - 64 * upper);
      }
    }
    alignas(64) std::int8_t placed[64 * panel_rows];
    Instruction::place(sums, 0, placed);
    std::memcpy(to, placed, 2 * sums_bytes);
  }

  template <class Function>
  HWY_INLINE void for_tiles(Function function) const {
    for (int unit = 0; unit < units; unit += tile_units) {
      for (int x_unit = 0; x_unit < used_x_units_; x_unit += tile_x_units) function(unit, x_unit);
    }
  }

  static HWY_INLINE const float* sums_at(const PanelSums& sums, std::int64_t unit, std::int64_t x_unit) {
    return sums[0] + 4 * (unit * x_units + x_unit);
  }
  static HWY_INLINE void load(const PanelSums& sums, int unit, int x_unit, Floats& totals) {
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(INGOT_UNROLLED(j) { totals[i][j] = vld1q_f32(sums_at(sums, unit + i, x_unit + j)); });
    });
  }
  static HWY_INLINE void store_tile(const Floats& totals, int unit, int x_unit, PanelSums& sums) {
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(
          INGOT_UNROLLED(j) { vst1q_f32(const_cast<float*>(sums_at(sums, unit + i, x_unit + j)), totals[i][j]); });
    });
  }

  static HWY_INLINE void spread_x(const float* rows, float32x4_t (&of_x)[tile_x_units]) {
    unrolled<tile_x_units>(INGOT_UNROLLED(j) { of_x[j] = Instruction::spread_x(rows + j * Instruction::x_rows); });
  }

  // Scales of both sides, one after the other. Not the product of both first: it may lie below the normal range where
  // the sum does not.
  template <class Block>
  void add_32(int unit, int x_unit, std::int64_t blocks, const ActivationPart& x, PanelSums& sums) {
    Floats totals;
    load(sums, unit, x_unit, totals);
    const std::int8_t* x_codes = x.codes + 16 * x_unit;
    const std::int64_t x_row = x_unit * Instruction::x_rows;
    for (std::int64_t b = 0; b < blocks; ++b) {
      Products products;
      const std::int8_t* weights = units_.codes(unit, 2 * b);
      const std::int8_t* from = x_codes + 32 * b * panel_rows;
      const int8x16_t first = vld1q_s8(from);
      unrolled<tile_units>(INGOT_UNROLLED(i) {
        unrolled<tile_x_units>(INGOT_UNROLLED(j) { products[i][j] = start_after<i * tile_x_units + j>(first); });
      });
      Instruction::multiply(weights, Units::unit_bytes, from, products);
      Instruction::multiply(weights + 16 * Instruction::weight_rows, Units::unit_bytes, from + 16 * panel_rows,
                            products);
      float32x4_t of_x[tile_x_units], sums_of_x[tile_x_units];
      spread_x(x.scales + b * panel_rows + x_row, of_x);
      if constexpr (has_base<Block>) spread_x(x.scaled_sums + b * panel_rows + x_row, sums_of_x);
      unrolled<tile_units>(INGOT_UNROLLED(i) {
        const float32x4_t scale = units_.scales(unit + i, b);
        unrolled<tile_x_units>(INGOT_UNROLLED(j) {
          const float32x4_t sum = vreinterpretq_f32_s32(products[i][j]);
          float32x4_t scaled;
          if constexpr (std::is_same_v<Block, BlockMXFP4>) {  // times the start these scales may leave the range
            scaled = vmulq_f32(vsubq_f32(sum, vdupq_n_f32(float_start)), scale);
          } else {
            scaled = vfmaq_f32(units_.less_starts(unit + i, b), sum, scale);
          }
          totals[i][j] = vfmaq_f32(totals[i][j], scaled, of_x[j]);
          if constexpr (has_base<Block>) {
            totals[i][j] = vfmaq_f32(totals[i][j], units_.bases(unit + i, b), sums_of_x[j]);
          }
        });
      });
    }
    store_tile(totals, unit, x_unit, sums);
  }

  template <class Block>
  void add_256(int unit, int x_unit, std::int64_t blocks, const ActivationPart& x, PanelSums& sums) {
    const std::int8_t* weights = units_.codes(unit, 0);
    const std::int8_t* from = x.codes + 16 * x_unit;
    for (std::int64_t b = 0; b < blocks; ++b) {
      Products block = {};
      for (std::int64_t g = 0; g < 256 / Block::group; ++g) {
        Products products;
        const int8x16_t first = vld1q_s8(from);
        unrolled<tile_units>(INGOT_UNROLLED(i) {
          unrolled<tile_x_units>(INGOT_UNROLLED(j) { products[i][j] = zero_after<i * tile_x_units + j>(first); });
        });
        unrolled<Block::group / 16>(INGOT_UNROLLED() {
          Instruction::multiply(weights, Units::unit_bytes, from, products);
          weights += 16 * Instruction::weight_rows;
          from += 16 * panel_rows;
        });
        unrolled<tile_units>(INGOT_UNROLLED(i) {
          unrolled<tile_x_units>(INGOT_UNROLLED(j) {
            block[i][j] = vmlaq_s32(block[i][j], products[i][j], units_.group_scales(unit + i, b, g));
          });
        });
      }
      Floats scaled;
      if constexpr (has_integer_sums<Block>) {
        const auto* of_x = reinterpret_cast<const std::int8_t*>(x.scaled_sums + b * (256 / Block::group) * panel_rows);
        negated_minimums<Block>(unit, b, of_x + 16 * x_unit, scaled);
      }
      unrolled<tile_units * tile_x_units>(INGOT_UNROLLED(n) {
        constexpr int i = n / tile_x_units, j = n % tile_x_units;
        const float32x4_t sum = vcvtq_f32_s32(block[i][j]), scale = units_.scales(unit + i, b);
        scaled[i][j] = has_integer_sums<Block> ? vfmaq_f32(scaled[i][j], sum, scale) : vmulq_f32(sum, scale);
      });
      Floats totals;
      float32x4_t of_x[tile_x_units];
      load(sums, unit, x_unit, totals);
      spread_x(x.scales + b * panel_rows + x_unit * Instruction::x_rows, of_x);
      unrolled<tile_units * tile_x_units>(INGOT_UNROLLED(n) {
        constexpr int i = n / tile_x_units, j = n % tile_x_units;
        totals[i][j] = vfmaq_f32(totals[i][j], scaled[i][j], of_x[j]);
      });
      store_tile(totals, unit, x_unit, sums);
    }
  }

  // -scale * sum_g minimum[g] * (64 * upper[g] + lower[g]): sums below 2^22, and so floats by their start.
  template <class Block>
  HWY_INLINE void negated_minimums(int unit, std::int64_t b, const std::int8_t* x_sums, Floats& to) {
    const std::int8_t* minimums = units_.minimums(unit, b);
    auto multiply = [&](const std::int8_t* of_x, Products& products) __attribute__((always_inline)) {
      if constexpr (Block::group == 32) {
        Instruction::multiply_eight(minimums, Units::minimum_bytes, of_x, products);
      } else {
        Instruction::multiply(minimums, Units::minimum_bytes, of_x, products);
      }
    };
    Products products;
    unrolled<tile_units * tile_x_units>(
        INGOT_UNROLLED(n) { products[n / tile_x_units][n % tile_x_units] = vdupq_n_s32(float_start_bits >> 6); });
    multiply(x_sums, products);
    unrolled<tile_units * tile_x_units>(INGOT_UNROLLED(n) {
      int32x4_t& product = products[n / tile_x_units][n % tile_x_units];
      product = vshlq_n_s32(product, 6);
    });
    multiply(x_sums + sums_bytes, products);
    unrolled<tile_units * tile_x_units>(INGOT_UNROLLED(n) {
      constexpr int i = n / tile_x_units, j = n % tile_x_units;
      to[i][j] = vfmsq_f32(units_.minimum_starts(unit + i, b), vreinterpretq_f32_s32(products[i][j]),
                           units_.minimum_scales(unit + i, b));
    });
  }

  Units units_;
  int used_x_units_ = x_units;
};
