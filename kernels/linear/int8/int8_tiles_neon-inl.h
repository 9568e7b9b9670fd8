// Panels of plain bytes in registers of 128 bits, by an Instruction of code_panels_neon-inl.h. Part of a source, after
// int8_tiles-inl.h and the instruction.
//
// A tile is eight rows of weights by eight of x: sixteen sums, which need eight loads for sixteen SMMLA, half of what
// the load pipes can do beside four of them a cycle.

// `count` codes, a multiple of 64, made signed. Returns their sum.
HWY_INLINE std::int32_t copy_signed(const std::byte* from, std::int64_t count, std::uint8_t flip, std::int8_t* to) {
  const auto* codes = reinterpret_cast<const std::int8_t*>(from);
  const int8x16_t flips = vdupq_n_s8(static_cast<std::int8_t>(flip));
  int32x4_t sums[4] = {};
  for (std::int64_t at = 0; at < count; at += 64) {
    unrolled<4>(INGOT_UNROLLED(i) {
      const int8x16_t loaded = veorq_s8(vld1q_s8(codes + at + 16 * i), flips);
      sums[i] = vdotq_s32(sums[i], loaded, vdupq_n_s8(1));
      vst1q_s8(to + at + 16 * i, loaded);
    });
  }
  return vaddvq_s32(vaddq_s32(vaddq_s32(sums[0], sums[1]), vaddq_s32(sums[2], sums[3])));
}

template <class Instruction>
struct NeonTiles {
  static constexpr int code_bytes = 1;
  static constexpr std::uint32_t x_offset = 0, weight_offset = 0;
  static constexpr int x_panels = 1, weight_panels = 1;

  static constexpr int units = panel_rows / Instruction::weight_rows;
  static constexpr int x_units = panel_rows / Instruction::x_rows;
  static constexpr int tile_units = 8 / Instruction::weight_rows;
  static constexpr int tile_x_units = 8 / Instruction::x_rows;
  static constexpr int unit_bytes = 16 * Instruction::weight_rows;  // of sixteen codes
  // Sixteen codes of all units, then the next sixteen: a tile reads two streams, one of weights and one of x.
  struct Panel {
    alignas(64) std::int8_t codes[int8_depth * panel_rows];
  };

  static constexpr auto copy_x = copy_signed, copy_weights = copy_signed;
  static HWY_INLINE void place(const PanelStep& codes, int at, std::int8_t* to) { Instruction::place(codes, at, to); }
  static HWY_INLINE Int8Rows& rows(Panel&, Int8Rows& staged) { return staged; }
  static void order(const Int8Rows& rows, std::int64_t bytes, Panel& panel) {
    for (std::int64_t at = 0; at < bytes; at += 16) {
      for (int unit = 0; unit < units; ++unit) {
        const std::int8_t* from[Instruction::weight_rows];
        for (int i = 0; i < Instruction::weight_rows; ++i) from[i] = rows[unit * Instruction::weight_rows + i] + at;
        Instruction::order(from, panel.codes + at * panel_rows + unit * unit_bytes);
      }
    }
  }

  static void add(const TileStep<Panel>& step) {
    for (int x_unit = 0; x_unit * Instruction::x_rows < step.x_rows; x_unit += tile_x_units) {
      for (int unit = 0; unit < units; unit += tile_units) add_tile(step, unit, x_unit);
    }
  }

  static void lines(const PanelSums& sums, std::int32_t* to) {
    for (int row = 0; row < panel_rows; row += Instruction::x_rows) {
      for (int column = 0; column < panel_rows; column += 4) {
        float32x4_t of_rows[Instruction::x_rows];
        Instruction::rows_of(sums[0] + sum_at(column / Instruction::weight_rows, row / Instruction::x_rows),
                             4 * x_units, of_rows);
        for (int i = 0; i < Instruction::x_rows; ++i) {
          vst1q_s32(to + (row + i) * columns_at_once + column, vreinterpretq_s32_f32(of_rows[i]));
        }
      }
    }
  }

 private:
  static constexpr int sum_at(int unit, int x_unit) { return 4 * (unit * x_units + x_unit); }

  // A barrier: GCC would copy sums to other registers and back, ten a round, beside instructions that fill all pipes.
  static HWY_INLINE void stay(int32x4_t (&products)[tile_units][tile_x_units]) {
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(INGOT_UNROLLED(j) {
        int32x4_t& product = products[i][j];  // named, because clang captures nothing that only assembly uses
        __asm__ volatile("" : "+w"(product));
      });
    });
  }

  static HWY_INLINE void add_tile(const TileStep<Panel>& step, int unit, int x_unit) {
    float* sums = step.sums[0][0] + sum_at(unit, x_unit);
    int32x4_t products[tile_units][tile_x_units];
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(
          INGOT_UNROLLED(j) { products[i][j] = vreinterpretq_s32_f32(vld1q_f32(sums + sum_at(i, j))); });
    });
    const std::int8_t* weights = step.weights->codes + unit * unit_bytes;
    const std::int8_t* x = step.x + 16 * x_unit;
    for (std::int64_t at = 0; at < step.bytes; at += 16) {
      const std::int8_t* from = x + at * panel_rows;
      __builtin_prefetch(from + 1024);
      __builtin_prefetch(from + 1024 + 8 * panel_rows);
      if constexpr (Instruction::weight_rows == 2) {
        Instruction::multiply_eight(weights + at * panel_rows, unit_bytes, from, products);
        stay(products);
        Instruction::multiply_eight(weights + at * panel_rows + 16, unit_bytes, from + 8 * panel_rows, products);
      } else {
        Instruction::multiply(weights + at * panel_rows, unit_bytes, from, products);
      }
      stay(products);
    }
    unrolled<tile_units>(INGOT_UNROLLED(i) {
      unrolled<tile_x_units>(
          INGOT_UNROLLED(j) { vst1q_f32(sums + sum_at(i, j), vreinterpretq_f32_s32(products[i][j])); });
    });
  }
};
