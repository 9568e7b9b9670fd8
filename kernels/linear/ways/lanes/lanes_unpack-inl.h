// 256 elements of as many rows of weights as there are lanes, unpacked to codes (lanes.h). Part of a source, inside its
// target attributes and an unnamed namespace of its own, after lanes_256-inl.h or lanes_512-inl.h; before, it says:
//
//   struct Bytes {
//     static constexpr int most_planes;
//     template <class Block> static constexpr CodePlanes planes;        how codes stand in a panel
//     template <class Block> static constexpr int offset;               what they have on top of a format's integers
//     static void store_scale(float* to, Lanes::Integers scales);       of a group of a format of 256, as products take
//     it
//   };

struct alignas(64) LanePanel {
  // Four neighbours of every row: [plane][neighbours][row]
  std::uint8_t codes[Bytes::most_planes][lane_depth / 4][4 * Lanes::count];
  float scales[16][Lanes::count];            // of blocks of 32, or of groups as the source stores them
  float minimums[16][Lanes::count];          // of groups; bases of blocks of 32
  float block_scales[Lanes::count];          // of a block of 256
  std::uint16_t halves[2][8][Lanes::count];  // scales and bases on their way
};

// Where rows of weights are read: every fourth has a pointer of its own, which the compiler is not to take apart, so
// that all of them are reached without a register each.
struct LaneRows {
  const std::byte* fourth[Lanes::count / 4];
  std::int64_t stride;

  HWY_INLINE LaneRows(const std::byte* from, std::int64_t row_stride) : stride(row_stride) {
    for (int i = 0; i < Lanes::count / 4; ++i) {
      fourth[i] = from + 4 * i * stride;
      asm("" : "+r"(fourth[i]));
    }
  }
  HWY_INLINE const std::byte* row(int i) const { return fourth[i / 4] + i % 4 * stride; }
  HWY_INLINE void move(std::int64_t bytes) {
    for (const std::byte*& from : fourth) from += bytes;
  }
};

// What a source has to do to stored codes to have those it multiplies.
template <class Block>
constexpr int added_offset = Bytes::template offset<Block> - stored_offset<Block>;

template <class Block>
HWY_INLINE void put(LanePanel& panel, int quad, Lanes::Integers codes, int added = added_offset<Block>) {
  if (added != 0) codes = Lanes::add_bytes(codes, Lanes::bytes(added));
  if constexpr (Bytes::template planes<Block>.count == 2) {
    const Lanes::Integers nibble = Lanes::bytes(15);
    Lanes::store(panel.codes[0][quad], Lanes::both(codes, nibble));
    Lanes::store(panel.codes[Bytes::template planes<Block>.count - 1][quad],
                 Lanes::both(Lanes::right<4>(codes), nibble));
  } else {
    Lanes::store(panel.codes[0][quad], codes);
  }
}

// Sixteen bytes of each row: the i-th four of all of them in quads[i].
struct Quads {
  Lanes::Integers quads[4];
};
HWY_INLINE Quads load_quads(const LaneRows& rows, std::int64_t offset) {
  const Lanes::Integers a = Lanes::load_rows(rows, offset, 0), b = Lanes::load_rows(rows, offset, 1);
  const Lanes::Integers c = Lanes::load_rows(rows, offset, 2), d = Lanes::load_rows(rows, offset, 3);
  const Lanes::Integers ab = Lanes::lower_words(a, b), cd = Lanes::lower_words(c, d);
  const Lanes::Integers ab_upper = Lanes::upper_words(a, b), cd_upper = Lanes::upper_words(c, d);
  return {{Lanes::lower_pairs(ab, cd), Lanes::upper_pairs(ab, cd), Lanes::lower_pairs(ab_upper, cd_upper),
           Lanes::upper_pairs(ab_upper, cd_upper)}};
}

template <int shift>
HWY_INLINE Lanes::Integers bits_at(Lanes::Integers v, int mask) {
  return Lanes::both(Lanes::right<shift>(v), Lanes::bytes(mask));
}

// --- formats of 32 ---

// Bits 4 quad to 4 quad + 3 of every word, as 16 in four bytes.
HWY_INLINE Lanes::Integers with_fifth_bits(Lanes::Integers codes, Lanes::Integers high, int quad) {
  const auto byte = static_cast<char>(quad / 2);
  const auto next = [&](int word) { return static_cast<char>(byte + 4 * word); };
  alignas(16) const char spread[16] = {byte,    byte,    byte,    byte,    next(1), next(1), next(1), next(1),
                                       next(2), next(2), next(2), next(2), next(3), next(3), next(3), next(3)};
  const Lanes::Integers own = Lanes::words(quad % 2 == 0 ? 0x08040201 : static_cast<int>(0x80402010));
  return Lanes::set_where(codes, Lanes::look_up(high, Lanes::sixteen_bytes(spread)), own, 16);
}

template <class Block>
HWY_INLINE void put_looked_up(LanePanel& panel, int quad, Lanes::Integers at, const std::int8_t (&values)[16]) {
  const Lanes::Integers added = Lanes::bytes(added_offset<Block>);
  put<Block>(panel, quad, Lanes::look_up(Lanes::add_bytes(Lanes::sixteen_bytes(values), added), at), 0);
}

template <class Block>
HWY_INLINE void unpack_codes(const LaneRows& rows, int first, LanePanel& panel) {
  if constexpr (std::is_same_v<Block, BlockQ8_0>) {
    unrolled<2>(INGOT_UNROLLED(half) {
      const Quads in = load_quads(rows, offsetof(Block, codes) + 16 * half);
      unrolled<4>(INGOT_UNROLLED(i) { put<Block>(panel, first + 4 * half + i, in.quads[i]); });
    });
  } else {
    const Quads low = load_quads(rows, offsetof(Block, low));
    Lanes::Integers high = {};
    if constexpr (requires(const Block& block) { block.high; }) {
      high = load_quads(rows, offsetof(Block, high)).quads[0];
    }
    unrolled<8>(INGOT_UNROLLED(i) {
      Lanes::Integers codes = bits_at<i / 4 * 4>(low.quads[i % 4], 15);
      if constexpr (std::is_same_v<Block, BlockIQ4_NL>) {
        put_looked_up<Block>(panel, first + i, codes, iq4_nl_values);
      } else if constexpr (std::is_same_v<Block, BlockMXFP4>) {
        put_looked_up<Block>(panel, first + i, codes, mxfp4_values);
      } else {
        if constexpr (requires(const Block& block) { block.high; }) codes = with_fifth_bits(codes, high, i);
        put<Block>(panel, first + i, codes);
      }
    });
  }
}

// Through a register of integers: that keeps scales off the ports of vector arithmetic, which is what there is too
// little of. Left alone, compilers gather them by shuffles.
HWY_INLINE void copy_half(std::uint16_t half, std::uint16_t& to) {
  asm("" : "+r"(half));
  to = half;
}

// 2^(exponent - 128), as mxfp4_scale has it.
HWY_INLINE Lanes::Floats from_exponents(const std::uint16_t* exponents) {
  const Lanes::Integers e = Lanes::widen(exponents);
  const Lanes::Integers normal = Lanes::left<23>(Lanes::add(e, Lanes::words(-1)));
  const Lanes::Integers subnormal = Lanes::left_by(Lanes::words(0x00200000), e);
  return Lanes::same_bits(Lanes::where_less(e, Lanes::words(2), subnormal, normal));
}

template <class Block>
  requires(Block::elements == 32)
HWY_NOINLINE void unpack(const std::byte* from, std::int64_t stride, std::int64_t blocks, LanePanel& panel) {
  constexpr bool has_base = requires(const Block& block) { block.base; };
  LaneRows rows(from, stride);
  for (std::int64_t b = 0; b < blocks; ++b, rows.move(sizeof(Block))) {
    unrolled<Lanes::count>(INGOT_UNROLLED(row) {
      const auto& block = *reinterpret_cast<const Block*>(rows.row(row));
      if constexpr (std::is_same_v<Block, BlockMXFP4>) {
        copy_half(block.exponent, panel.halves[0][b][row]);
      } else {
        copy_half(block.scale.bits(), panel.halves[0][b][row]);
      }
      if constexpr (has_base) copy_half(block.base.bits(), panel.halves[1][b][row]);
    });
    unpack_codes<Block>(rows, static_cast<int>(8 * b), panel);
  }
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::uint16_t* halves = panel.halves[0][b];
    Lanes::store_floats(panel.scales[b],
                        std::is_same_v<Block, BlockMXFP4> ? from_exponents(halves) : Lanes::from_halves(halves));
    if constexpr (has_base) Lanes::store_floats(panel.minimums[b], Lanes::from_halves(panel.halves[1][b]));
  }
}
