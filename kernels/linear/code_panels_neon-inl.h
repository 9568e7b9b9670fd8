// Code panels in registers of 128 bits. Part of a source, after code_panels-inl.h and unrolled-inl.h, which brings the
// instruction that multiplies sixteen codes of some rows of weights (a unit) and of x, into 32-bit lanes:
//
//   struct Instruction {
//     static constexpr int weight_rows, x_rows;      of a unit; a product of two units is one register
//     static constexpr int weight_units, x_units;    of a tile, whose eight products are in registers together
//     template <class Vector, class Scalar>
//     static Vector spread(const Scalar* rows);      a number a row of weights, in the lanes of its products
//     static float32x4_t spread_x(const float*);     the same for rows of x
//     static void order(const std::int8_t* const (&rows)[weight_rows], std::int8_t* to);      16 codes of each row
//     static void place(const PanelStep&, int at, std::int8_t* to);   as in code_panels-inl.h
//     template <int weight_count, int x_count>
//     static void multiply(const std::int8_t* weights, std::int64_t unit_bytes, const std::int8_t* x,
//                          int32x4_t (&products)[weight_count][x_count]);
//                                                    16 codes of a tile; units of weights are unit_bytes apart
//     static void rows_of(const float* products, std::int64_t unit_floats, float32x4_t (&rows)[x_rows]);
//                                                    four columns of y, from products with the units that hold them
//   };
//
// Sums of two panels lie as the products do, [unit of weights][unit of x][4], until they are stored.

template <class Block>
struct NeonPanel32 : WeightPanel32 {};

// The integer scales of groups stay beside the codes: a product is multiplied by them in integers, a whole block long.
template <class Block>
struct alignas(64) NeonPanel256 {
  std::int8_t codes[panel_rows][panel_depth + 64];
  std::int16_t group_scales[panel_rows][panel_depth / code_group];
  float scales[panel_rows][panel_depth / 256];
  float minimums[panel_rows][panel_depth / code_group];
};

// Sums of 32 products begin at the bits of 1.5 * 2^23: being below 2^22, they make floats of themselves, and one
// subtraction is left of a conversion, which issues four times less often.
//
// A compiler would copy one register to all that begin alike, and a copy takes a slot of the vector pipes. A load of
// its own takes none, nor does writing zero; naming what a sum waits for anyway, and its index, makes each different.
constexpr float float_start = 0x1.8p23f;
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

template <class Instruction>
class NeonProduct {
  static constexpr int units = panel_rows / Instruction::weight_rows;
  static constexpr int x_units = panel_rows / Instruction::x_rows;
  static constexpr int tile_units = Instruction::weight_units;
  static constexpr int tile_x_units = Instruction::x_units;
  static constexpr int unit_bytes = panel_depth * Instruction::weight_rows + 64;  // not all in one set of the cache
  using Products = int32x4_t[tile_units][tile_x_units];
  using Floats = float32x4_t[tile_units][tile_x_units];

 public:
  static constexpr SimdTarget target = SimdTarget::neon;
  template <class Block>
  using Panel = std::conditional_t<Block::elements == 32, NeonPanel32<Block>, NeonPanel256<Block>>;

  static HWY_INLINE float half_value(StoredHalf half) {
    const std::uint16_t bits = half.bits();
    __fp16 value;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<float>(value);
  }

  template <class Block>
  static HWY_INLINE void place(const PanelStep& codes, int at, const ActivationPart& to) {
    Instruction::place(codes, at, to.codes);
  }

  template <class Block>
  static HWY_INLINE void finish_codes(std::int64_t, int, NeonPanel32<Block>&) {}
  template <class Block>
  static void scale_codes(const std::int8_t (&codes)[256], const std::int16_t (&scales)[16], std::int64_t b, int row,
                          NeonPanel256<Block>& panel) {
    std::memcpy(panel.codes[row] + 256 * b, codes, sizeof(codes));
    std::memcpy(panel.group_scales[row] + 16 * b, scales, sizeof(scales));
  }

  template <class Block>
  void prepare(const NeonPanel32<Block>& panel, std::int64_t blocks) {
    order_codes(panel.codes, 32 * blocks);
    spread<float32x4_t>(panel.scales, blocks, 1, scales_);
    if constexpr (has_base<Block>) spread<float32x4_t>(panel.minimums, blocks, 1, minimums_);
  }
  template <class Block>
  void prepare(const NeonPanel256<Block>& panel, std::int64_t blocks) {
    const std::int64_t groups = 256 / Block::group * blocks;
    order_codes(panel.codes, 256 * blocks);
    spread<float32x4_t>(panel.scales, blocks, 1, scales_);
    spread<int32x4_t>(panel.group_scales, groups, Block::group / code_group, group_scales_);
    if constexpr (has_base<Block>) spread<float32x4_t>(panel.minimums, groups, 1, minimums_);
  }

  template <class Block>
  void add(const NeonPanel32<Block>&, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&, PanelSums& sums) {
    for_tiles([&](int unit, int x_unit) { add_32(unit, x_unit, blocks, x, sums); });
  }
  template <class Block>
  void add(const NeonPanel256<Block>&, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&, PanelSums& sums) {
    for_tiles([&](int unit, int x_unit) { add_256<Block::group>(unit, x_unit, blocks, x, sums); });
  }

  template <class SomePanel>
  void subtract_minimums(const SomePanel&, std::int64_t groups, const float* scaled_sums, PanelSums& sums) const {
    for_tiles([&](int unit, int x_unit) {
      Floats totals;
      load(sums, unit, x_unit, totals);
      for (std::int64_t g = 0; g < groups; ++g) {
        float32x4_t of_x[tile_x_units];
        const float* from = scaled_sums + g * panel_rows + x_unit * Instruction::x_rows;
        unrolled<tile_x_units>(INGOT_UNROLLED(j) { of_x[j] = Instruction::spread_x(from + j * Instruction::x_rows); });
        unrolled<tile_units>(INGOT_UNROLLED(i) {
          unrolled<tile_x_units>(
              INGOT_UNROLLED(j) { totals[i][j] = vfmsq_f32(totals[i][j], minimums_[unit + i][g], of_x[j]); });
        });
      }
      store_tile(totals, unit, x_unit, sums);
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
  template <class Function>
  static HWY_INLINE void for_tiles(Function function) {
    for (int unit = 0; unit < units; unit += tile_units) {
      for (int x_unit = 0; x_unit < x_units; x_unit += tile_x_units) function(unit, x_unit);
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

  template <std::size_t length>
  void order_codes(const std::int8_t (&codes)[panel_rows][length], std::int64_t depth) {
    for (int unit = 0; unit < units; ++unit) {
      for (std::int64_t at = 0; at < depth; at += 16) {
        const std::int8_t* rows[Instruction::weight_rows];
        for (int i = 0; i < Instruction::weight_rows; ++i) rows[i] = codes[unit * Instruction::weight_rows + i] + at;
        Instruction::order(rows, codes_[unit] + at * Instruction::weight_rows);
      }
    }
  }

  // The numbers of a unit's rows at every `step`, each in the lanes of its products.
  template <class Vector, class Scalar, std::size_t length, std::size_t count>
  static void spread(const Scalar (&from)[panel_rows][length], std::int64_t used, int step,
                     Vector (&to)[units][count]) {
    for (int unit = 0; unit < units; ++unit) {
      for (std::int64_t i = 0; i < used; ++i) {
        Scalar rows[Instruction::weight_rows];
        for (int row = 0; row < Instruction::weight_rows; ++row) {
          rows[row] = from[unit * Instruction::weight_rows + row][i * step];
        }
        to[unit][i] = Instruction::template spread<Vector>(rows);
      }
    }
  }

  // totals + (products * x scales) * weight scales. Not the product of both scales first: it may lie below the normal
  // range where the sum does not.
  template <class Convert>
  HWY_INLINE void add_scaled(const Products& products, Convert convert, const float* x_scales, int unit, std::int64_t b,
                             Floats& totals) const {
    float32x4_t of_x[tile_x_units];
    unrolled<tile_x_units>(INGOT_UNROLLED(j) { of_x[j] = Instruction::spread_x(x_scales + j * Instruction::x_rows); });
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(INGOT_UNROLLED(j) {
        const float32x4_t x_sum = vmulq_f32(convert(products[i][j]), of_x[j]);
        totals[i][j] = vfmaq_f32(totals[i][j], x_sum, scales_[unit + i][b]);
      });
    });
  }

  void add_32(int unit, int x_unit, std::int64_t blocks, const ActivationPart& x, PanelSums& sums) const {
    Floats totals;
    load(sums, unit, x_unit, totals);
    const std::int8_t* x_codes = x.codes + 16 * x_unit;
    const float* x_scales = x.scales + x_unit * Instruction::x_rows;
    for (std::int64_t b = 0; b < blocks; ++b) {
      Products products;
      const std::int8_t* weights = codes_[unit] + 32 * b * Instruction::weight_rows;
      const std::int8_t* from = x_codes + 32 * b * panel_rows;
      const int8x16_t first = vld1q_s8(from);
      unrolled<tile_units>(INGOT_UNROLLED(i) {
        unrolled<tile_x_units>(INGOT_UNROLLED(j) { products[i][j] = start_after<i * tile_x_units + j>(first); });
      });
      Instruction::multiply(weights, unit_bytes, from, products);
      Instruction::multiply(weights + 16 * Instruction::weight_rows, unit_bytes, from + 16 * panel_rows, products);
      auto convert = [](int32x4_t sum) __attribute__((always_inline)) {
        return vsubq_f32(vreinterpretq_f32_s32(sum), vdupq_n_f32(float_start));
      };
      add_scaled(products, convert, x_scales + b * panel_rows, unit, b, totals);
    }
    store_tile(totals, unit, x_unit, sums);
  }

  template <int group>
  void add_256(int unit, int x_unit, std::int64_t blocks, const ActivationPart& x, PanelSums& sums) const {
    const std::int8_t* weights = codes_[unit];
    const std::int8_t* from = x.codes + 16 * x_unit;
    std::int64_t g = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      Products block = {};
      for (const std::int64_t end = g + 256 / group; g < end; ++g) {
        Products products;
        const int8x16_t first = vld1q_s8(from);
        unrolled<tile_units>(INGOT_UNROLLED(i) {
          unrolled<tile_x_units>(INGOT_UNROLLED(j) { products[i][j] = zero_after<i * tile_x_units + j>(first); });
        });
        unrolled<group / 16>(INGOT_UNROLLED() {
          Instruction::multiply(weights, unit_bytes, from, products);
          weights += 16 * Instruction::weight_rows;
          from += 16 * panel_rows;
        });
        unrolled<tile_units>(INGOT_UNROLLED(i) {
          unrolled<tile_x_units>(
              INGOT_UNROLLED(j) { block[i][j] = vmlaq_s32(block[i][j], products[i][j], group_scales_[unit + i][g]); });
        });
      }
      Floats totals;
      load(sums, unit, x_unit, totals);
      auto convert = [](int32x4_t sum) __attribute__((always_inline)) { return vcvtq_f32_s32(sum); };
      add_scaled(block, convert, x.scales + b * panel_rows + x_unit * Instruction::x_rows, unit, b, totals);
      store_tile(totals, unit, x_unit, sums);
    }
  }

  alignas(64) std::int8_t codes_[units][unit_bytes];
  float32x4_t scales_[units][panel_depth / 32];
  int32x4_t group_scales_[units][panel_depth / code_group];
  float32x4_t minimums_[units][panel_depth / code_group];
};
