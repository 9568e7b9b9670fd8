// Formats of 256 elements, whose scales come out of the same sixteen bytes of each row as registers. Part of a source,
// after lanes_unpack-inl.h.

// Four scales to a word, as bytes.
template <bool has_sign>
HWY_INLINE void put_scales(LanePanel& panel, int first, Lanes::Integers four) {
  unrolled<4>(INGOT_UNROLLED(i) {
    const Lanes::Integers scale = has_sign ? Lanes::signed_right<24>(Lanes::left<24 - 8 * i>(four))
                                           : Lanes::both(Lanes::right<8 * i>(four), Lanes::words(255));
    Bytes::store_scale(panel.scales[first + i], scale);
  });
}
HWY_INLINE void put_minimums(LanePanel& panel, int first, Lanes::Integers four, Lanes::Floats minimum) {
  unrolled<4>(INGOT_UNROLLED(i) {
    const Lanes::Integers one = Lanes::both(Lanes::right<8 * i>(four), Lanes::words(255));
    Lanes::store_floats(panel.minimums[first + i], Lanes::multiply(minimum, Lanes::to_floats(one)));
  });
}

// Scale and minimum, then packed scales: the first sixteen bytes of q4_k and q5_k. As six_bit_pairs has it.
HWY_INLINE void unpack_pairs(const LaneRows& rows, LanePanel& panel) {
  const Quads in = load_quads(rows, 0);
  const Lanes::Integers six = Lanes::bytes(0x3f), four = Lanes::bytes(0x0f), two = Lanes::bytes(0x30);
  const Lanes::Integers first = in.quads[1], second = in.quads[2], third = in.quads[3];
  Lanes::store_floats(panel.block_scales, Lanes::from_lower_halves(in.quads[0]));
  const Lanes::Floats minimum = Lanes::from_lower_halves(Lanes::right<16>(in.quads[0]));
  auto upper = [&](Lanes::Integers low, Lanes::Integers high) {
    return Lanes::either(Lanes::both(low, four), Lanes::both(Lanes::right<2>(high), two));
  };
  put_scales<false>(panel, 0, Lanes::both(first, six));
  put_scales<false>(panel, 4, upper(third, first));
  put_minimums(panel, 0, Lanes::both(second, six), minimum);
  put_minimums(panel, 4, upper(Lanes::right<4>(third), second), minimum);
}

// Sixteen bytes of nibbles: the lower ones of group 2 stretch, the upper ones of the group after it.
template <class Block>
HWY_INLINE void unpack_nibble_groups(const LaneRows& rows, LanePanel& panel) {
  constexpr bool has_high = requires(const Block& block) { block.high; };
  for (int half = 0; half < 2; ++half) {  // of every 32 bytes, so that as much of `high` stays in registers
    Quads high = {};
    if constexpr (has_high) high = load_quads(rows, offsetof(BlockQ5_K, high) + 16 * half);
    unrolled<4>(INGOT_UNROLLED(stretch) {
      const Quads in = load_quads(rows, offsetof(Block, low) + 32 * stretch + 16 * half);
      unrolled<8>(INGOT_UNROLLED(i) {
        constexpr int group = 2 * stretch + i / 4;
        Lanes::Integers codes = bits_at<i / 4 * 4>(in.quads[i % 4], 15);
        if constexpr (has_high) codes = Lanes::set_where(codes, high.quads[i % 4], Lanes::bytes(1 << group), 16);
        put<Block>(panel, 8 * group + 4 * half + i % 4, codes);
      });
    });
  }
}

// Sixteen bytes of two bits, of four stretches of 32 elements.
template <class Block>
HWY_INLINE void unpack_two_bits(const LaneRows& rows, LanePanel& panel) {
  constexpr bool has_high = requires(const Block& block) { block.high; };
  for (int part = 0; part < 2; ++part) {
    Quads high = {};
    if constexpr (has_high) high = load_quads(rows, 16 * part);
    unrolled<2>(INGOT_UNROLLED(half) {
      const Quads in = load_quads(rows, offsetof(Block, low) + 32 * half + 16 * part);
      unrolled<16>(INGOT_UNROLLED(i) {
        constexpr int stretch = 4 * half + i / 4;
        Lanes::Integers codes = bits_at<i / 4 * 2>(in.quads[i % 4], 3);
        if constexpr (has_high) codes = Lanes::set_where(codes, high.quads[i % 4], Lanes::bytes(1 << stretch), 4);
        put<Block>(panel, 8 * stretch + 4 * part + i % 4, codes);
      });
    });
  }
}

HWY_INLINE void unpack_block(const BlockQ4_K*, const LaneRows& rows, LanePanel& panel) {
  unpack_pairs(rows, panel);
  unpack_nibble_groups<BlockQ4_K>(rows, panel);
}
HWY_INLINE void unpack_block(const BlockQ5_K*, const LaneRows& rows, LanePanel& panel) {
  unpack_pairs(rows, panel);
  unpack_nibble_groups<BlockQ5_K>(rows, panel);
}

HWY_INLINE void unpack_block(const BlockQ2_K*, const LaneRows& rows, LanePanel& panel) {
  const Lanes::Integers both = load_quads(rows, sizeof(BlockQ2_K) - 16).quads[3];  // scale and minimum
  Lanes::store_floats(panel.block_scales, Lanes::from_lower_halves(both));
  const Lanes::Floats minimum = Lanes::from_lower_halves(Lanes::right<16>(both));
  const Quads pairs = load_quads(rows, 0);
  unrolled<4>(INGOT_UNROLLED(i) {
    put_scales<false>(panel, 4 * i, bits_at<0>(pairs.quads[i], 15));
    put_minimums(panel, 4 * i, bits_at<4>(pairs.quads[i], 15), minimum);
  });
  unpack_two_bits<BlockQ2_K>(rows, panel);
}

HWY_INLINE void unpack_block(const BlockQ3_K*, const LaneRows& rows, LanePanel& panel) {
  // The last sixteen bytes: two of codes, twelve of scales, the block's scale. As six_bit_scales has it.
  const Quads in = load_quads(rows, sizeof(BlockQ3_K) - 16);
  auto word = [&](int i) { return Lanes::either(Lanes::right<16>(in.quads[i]), Lanes::left<16>(in.quads[i + 1])); };
  const Lanes::Integers a = word(0), b = word(1), c = word(2);
  const Lanes::Integers four = Lanes::bytes(0x0f), two = Lanes::bytes(0x30), offset = Lanes::bytes(-32);
  auto scales = [&](Lanes::Integers low, Lanes::Integers high) {
    return Lanes::add_bytes(Lanes::either(Lanes::both(low, four), Lanes::both(high, two)), offset);
  };
  put_scales<true>(panel, 0, scales(a, Lanes::left<4>(c)));
  put_scales<true>(panel, 4, scales(b, Lanes::left<2>(c)));
  put_scales<true>(panel, 8, scales(Lanes::right<4>(a), c));
  put_scales<true>(panel, 12, scales(Lanes::right<4>(b), Lanes::right<2>(c)));
  Lanes::store_floats(panel.block_scales, Lanes::from_lower_halves(Lanes::right<16>(in.quads[3])));
  unpack_two_bits<BlockQ3_K>(rows, panel);
}

HWY_INLINE void unpack_block(const BlockQ6_K*, const LaneRows& rows, LanePanel& panel) {
  using Block = BlockQ6_K;
  const Lanes::Integers last = load_quads(rows, sizeof(Block) - 16).quads[3];
  Lanes::store_floats(panel.block_scales, Lanes::from_lower_halves(Lanes::right<16>(last)));
  const Quads scales = load_quads(rows, offsetof(Block, scales));
  unrolled<4>(INGOT_UNROLLED(i) { put_scales<true>(panel, 4 * i, scales.quads[i]); });
  for (int part = 0; part < 4; ++part) {  // half of the block, then half of every 32 elements
    const std::int64_t low = 64 * (part / 2) + 16 * (part % 2);
    const Quads high = load_quads(rows, offsetof(Block, high) + 16 * part);
    const int first = 32 * (part / 2) + 4 * (part % 2);
    unrolled<2>(INGOT_UNROLLED(stretch) {
      const Quads in = load_quads(rows, low + 32 * stretch);
      unrolled<4>(INGOT_UNROLLED(i) {
        const Lanes::Integers mask = Lanes::bytes(0x30);
        const Lanes::Integers lower = Lanes::both(Lanes::left<4 - 2 * stretch>(high.quads[i]), mask);
        const Lanes::Integers upper = Lanes::both(Lanes::right<2 * stretch>(high.quads[i]), mask);
        put<Block>(panel, first + 8 * stretch + i, Lanes::either(bits_at<0>(in.quads[i], 15), lower));
        put<Block>(panel, first + 16 + 8 * stretch + i, Lanes::either(bits_at<4>(in.quads[i], 15), upper));
      });
    });
  }
}

HWY_INLINE void unpack_block(const BlockIQ4_XS*, const LaneRows& rows, LanePanel& panel) {
  using Block = BlockIQ4_XS;
  const Quads start = load_quads(rows, 0);  // the block's scale, then the groups'
  const Lanes::Integers high = start.quads[0], low = start.quads[1];
  Lanes::store_floats(panel.block_scales, Lanes::from_lower_halves(high));
  unrolled<8>(INGOT_UNROLLED(g) {
    const Lanes::Integers four = Lanes::both(Lanes::right<4 * g>(low), Lanes::words(15));
    const Lanes::Integers two = Lanes::both(Lanes::right<16 + 2 * g>(high), Lanes::words(3));
    const Lanes::Integers six = Lanes::either(four, Lanes::left<4>(two));
    Bytes::store_scale(panel.scales[g], Lanes::add(six, Lanes::words(-32)));
  });
  unrolled<8>(INGOT_UNROLLED(g) {
    const Quads in = load_quads(rows, offsetof(Block, low) + 16 * g);
    unrolled<8>(INGOT_UNROLLED(i) {
      put_looked_up<Block>(panel, 8 * g + i, bits_at<i / 4 * 4>(in.quads[i % 4], 15), iq4_nl_values);
    });
  });
}

template <class Block>
  requires(Block::elements == 256)
HWY_NOINLINE void unpack(const std::byte* from, std::int64_t stride, std::int64_t, LanePanel& panel) {
  unpack_block(static_cast<const Block*>(nullptr), LaneRows(from, stride), panel);
}
