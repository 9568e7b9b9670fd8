// Products of an unpacked panel with rows of x by dot products in registers (lanes.h). Part of a source, after
// lanes_unpack_256-inl.h; of Bytes it also takes:
//
//   static constexpr int rows;                                     of x that registers have room for
//   using Total = ...;                                             sums over groups of a format of 256
//   static Integers add(Integers chain, Integers weights, Integers x);
//   static Integers total(Integers chain, int plane);              32-bit sums
//   static Total add_scaled(Total total, Integers chain, int plane, const float* scales);
//   static Floats to_floats(Total total);

// Formats that are multiplied alike.
struct LaneKind {
  int elements;
  int group;
  CodePlanes planes;
  bool has_base;
};
template <class Block>
constexpr LaneKind kind_of() {
  CodePlanes planes = Bytes::template planes<Block>;
  if (planes.offset != 0) planes.offset = 1;
  return {Block::elements, Block::group, planes, requires(const Block& block){block.base;
}
|| requires(const Block& block) { block.minimum; }
}
;
}

// take(row, chain, plane, is first) with each chain of sums of a group.
template <LaneKind kind, int rows, class Take>
HWY_INLINE void sum_group(const LanePanel& panel, std::int64_t group, const LaneSpan* x, Take take) {
  constexpr int planes = kind.planes.count;
  unrolled<kind.group / 4 / kind.planes.chain_quads>(INGOT_UNROLLED(chain) {
    Lanes::Integers chains[rows][planes];
    unrolled<rows * planes>(INGOT_UNROLLED(i) {
      const bool corrected = kind.planes.offset != 0 && i % planes == planes - 1;
      chains[i / planes][i % planes] = Lanes::words(corrected ? x[i / planes].corrections[group] : 0);
    });
    const std::int64_t first = group * (kind.group / 4) + chain * kind.planes.chain_quads;
    unrolled<kind.planes.chain_quads>(INGOT_UNROLLED(quad) {
      Lanes::Integers weights[planes];
      unrolled<planes>(INGOT_UNROLLED(i) { weights[i] = Lanes::load(panel.codes[i][first + quad]); });
      unrolled<rows>(INGOT_UNROLLED(row) {
        const Lanes::Integers four = Lanes::words(four_codes(x[row].codes + 4 * (first + quad)));
        unrolled<planes>(INGOT_UNROLLED(i) { chains[row][i] = Bytes::add(chains[row][i], weights[i], four); });
      });
    });
    unrolled<rows * planes>(INGOT_UNROLLED(i) {
      constexpr int plane = i % planes;
      take(std::integral_constant<int, i / planes>(), chains[i / planes][plane], std::integral_constant<int, plane>(),
           std::bool_constant<chain == 0 && plane == 0>());
    });
  });
}

template <LaneKind kind, int rows>
HWY_NOINLINE void multiply_rows(const LanePanel& panel, std::int64_t blocks, const LaneSpan* x,
                                float (*out)[Lanes::count]) {
  Lanes::Floats sums[rows];
  unrolled<rows>(INGOT_UNROLLED(row) { sums[row] = Lanes::load_floats(out[row]); });
  // Not the product of both scales first: it may lie below the normal range where the sum does not.
  auto add = [&](auto row, Lanes::Floats product, float scale, const float* scales) __attribute__((always_inline)) {
    const Lanes::Floats x_sum = Lanes::multiply(product, Lanes::floats(scale));
    sums[row] = Lanes::multiply_add(x_sum, Lanes::load_floats(scales), sums[row]);
  };
  if constexpr (kind.elements == 32) {
    for (std::int64_t b = 0; b < blocks; ++b) {
      Lanes::Integers totals[rows];
      sum_group<kind, rows>(
          panel, b, x, [&](auto row, Lanes::Integers chain, auto plane, auto is_first) __attribute__((always_inline)) {
            const Lanes::Integers total = Bytes::total(chain, plane);
            totals[row] = is_first ? total : Lanes::add(totals[row], total);
          });
      unrolled<rows>(INGOT_UNROLLED(row) {
        add(row, Lanes::to_floats(totals[row]), x[row].scales[b], panel.scales[b]);
        if constexpr (kind.has_base) {
          sums[row] = Lanes::multiply_add(Lanes::load_floats(panel.minimums[b]), Lanes::floats(x[row].scaled_sums[b]),
                                          sums[row]);
        }
      });
    }
  } else {
    typename Bytes::Total totals[rows] = {};
    for (std::int64_t g = 0; g < kind.elements / kind.group; ++g) {
      sum_group<kind, rows>(panel, g, x,
                            [&](auto row, Lanes::Integers chain, auto plane, auto) __attribute__((always_inline)) {
                              totals[row] = Bytes::add_scaled(totals[row], chain, plane, panel.scales[g]);
                            });
      if constexpr (kind.has_base) {
        unrolled<rows>(INGOT_UNROLLED(row) {
          sums[row] = Lanes::subtract_product(Lanes::load_floats(panel.minimums[g]),
                                              Lanes::floats(x[row].scaled_sums[g]), sums[row]);
        });
      }
    }
    unrolled<rows>(
        INGOT_UNROLLED(row) { add(row, Bytes::to_floats(totals[row]), x[row].scales[0], panel.block_scales); });
  }
  unrolled<rows>(INGOT_UNROLLED(row) { Lanes::store_floats(out[row], sums[row]); });
}

struct LaneMultiplier {
  template <class Block>
  void multiply(const LanePanel& panel, std::int64_t blocks, const LaneSpan* x, std::int64_t rows,
                float (*sums)[Lanes::count]) {
    using Rows = void (*)(const LanePanel&, std::int64_t, const LaneSpan*, float(*)[Lanes::count]);
    constexpr auto by_rows = []<int... i>(std::integer_sequence<int, i...>) {
      return std::array<Rows, Bytes::rows>{multiply_rows<kind_of<Block>(), i + 1>...};
    }(std::make_integer_sequence<int, Bytes::rows>());
    // Parts of about the same number of rows.
    const std::int64_t parts = (rows + Bytes::rows - 1) / Bytes::rows;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t begin = rows * part / parts;
      const std::int64_t end = rows * (part + 1) / parts;
      by_rows[static_cast<std::size_t>(end - begin - 1)](panel, blocks, x + begin, sums + begin);
    }
  }
};
