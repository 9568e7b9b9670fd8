// What products on code panels (code_panels.h) do alike on every machine: make the panels of x, unpack those of
// weights, hand out the columns, store the sums. Part of a source, inside its target attributes and an unnamed
// namespace of its own, which says in its instructions how two panels are multiplied:
//
//   struct Product {
//     static constexpr SimdTarget target;                  whose shared functions encode x and unpack weights
//     template <class Block> using Panel = ...;            16 rows of weights, panel_depth of them, of that format:
//                                                          WeightPanel32, WeightPanel256, or one like them
//     static float half_value(StoredHalf);
//     template <class Block>
//     static void place(const PanelStep& codes, int at, const ActivationPart& to);
//                                                          64 codes of sixteen rows, from `at` on, in the order in
//                                                          which the product reads them; and `to.corrections`, if it
//                                                          uses any
//     template <class Block> static void finish_codes(std::int64_t count, int row, Panel&);
//                                                          formats of 32: signed codes stand in the panel's row
//     template <class Block> static void scale_codes(codes[256], scales[16], block, row, Panel&);
//                                                          formats of 256: codes and the integer scales of each 16
//     void prepare(const Panel&, std::int64_t blocks);     before the products with that panel
//     void unpack(const Block* const (&rows)[panel_rows], std::int64_t blocks);
//                                                          instead of the three above: the product unpacks blocks
//                                                          itself. Panel is then where rows are gathered, `blocks` in
//                                                          it
//     void use_rows(std::int64_t count);                   if it has this: rows of x in the panel that comes next
//     void add(const Panel&, std::int64_t blocks, const ActivationPart& x, PanelWorkspace&, PanelSums& sums);
//     static void subtract_minimums(const Panel&, std::int64_t groups, const float* scaled_sums, PanelSums& sums);
//                                                          sums -= minimums * scaled_sums, over groups of the depth;
//                                                          without it, add does that
//     static void store(const PanelSums&, std::int64_t rows, std::int64_t columns, const float* bias, float* to,
//                       std::int64_t stride);              transposed: to[row * stride + column], plus bias or null
//   };

template <class Block>
constexpr bool has_base =
    requires(const Block& block) { block.base; } || requires(const Block& block) { block.minimum; };

// --- x ---

// Rows past the last one, and depth past the end, are zeros with scale zero.
template <class Product, class Block>
void fill_panel(const Matmul::Arguments& a, const ActivationPanels& x, std::int64_t panel) {
  const EncodeFunction encode = encode_activation_block.widest(Product::target);
  const std::int64_t depth = a.x.size(1);
  const std::int64_t rows = std::min<std::int64_t>(panel_rows, a.x.size(0) - panel * panel_rows);
  std::memset(x.codes(panel), 0, static_cast<std::size_t>(x.bytes_each()));
  for (std::int64_t begin = 0; begin < depth; begin += panel_step) {
    alignas(64) PanelStep codes = {};
    const std::int64_t length = std::min<std::int64_t>(panel_step, depth - begin);
    for (std::int64_t row = 0; row < rows; ++row) {
      const BlockReader from(a.coded(), reinterpret_cast<const std::byte*>(a.x.data()),
                             a.x.stride(0) * static_cast<std::int64_t>(sizeof(float)), panel * panel_rows + row,
                             encode);
      for (std::int64_t at = 0; at < length; at += Block::elements) {
        std::int32_t sums[Block::elements / code_group];
        const ActivationPart to = x.part<Block>(panel, begin + at);
        const float scale = from.read(begin + at, Block::elements, codes[row] + at, sums);
        to.scales[row] = scale;
        for (int i = 0; has_base<Block> && i < Block::elements / code_group; ++i) {
          to.scaled_sums[i * code_group / Block::group * panel_rows + row] += scale * static_cast<float>(sums[i]);
        }
      }
    }
    for (int at = 0; at < length; at += 64) {
      Product::template place<Block>(codes, at, x.part<Block>(panel, begin + at));
    }
  }
}

// --- weights ---

// Blocks `first` to `first + count` of a row: where they lie, or gathered into `buffer`.
template <class Block>
HWY_INLINE const Block* row_blocks(const Matmul::Arguments& a, std::int64_t row, std::int64_t first, std::int64_t count,
                                   Block* buffer) {
  if (is_interleaved(a)) {
    gather_blocks(a.weights, row, first, count, reinterpret_cast<std::byte*>(buffer));
    return buffer;
  }
  return reinterpret_cast<const Block*>(a.weights.row(row)) + first;
}

template <class Product, class Block, class Panel>
  requires(Block::elements == 32)
void unpack_row(DType dtype, const Block* blocks, std::int64_t count, int row, Panel& panel) {
  unpack_block_codes.widest(Product::target)(dtype, reinterpret_cast<const std::byte*>(blocks), count,
                                             panel.codes[row]);
  Product::template finish_codes<Block>(32 * count, row, panel);
  for (std::int64_t b = 0; b < count; ++b) {
    if constexpr (std::is_same_v<Block, BlockMXFP4>) {
      panel.scales[row][b] = mxfp4_scale(blocks[b].exponent);
    } else {
      panel.scales[row][b] = Product::half_value(blocks[b].scale);
    }
    if constexpr (has_base<Block>) panel.minimums[row][b] = -Product::half_value(blocks[b].base);
  }
  if (count % 2 != 0) {  // products may take two blocks at a time; x is zero there
    std::memset(panel.codes[row] + 32 * count, 0, 32);
    panel.scales[row][count] = 0;
    panel.minimums[row][count] = 0;
  }
}

template <class Product, class Block, class Panel>
  requires(Block::elements == 256)
void unpack_row(DType dtype, const Block* blocks, std::int64_t count, int row, Panel& panel) {
  const UnpackFunction unpack = unpack_block_codes.widest(Product::target);
  for (std::int64_t b = 0; b < count; ++b) {
    alignas(64) std::int8_t codes[256];
    std::int16_t scales[16];
    unpack(dtype, reinterpret_cast<const std::byte*>(blocks + b), 1, codes);
    for (int i = 0; i < 16; ++i) {
      scales[i] = static_cast<std::int16_t>(group_scale(blocks[b], i * code_group / Block::group));
    }
    Product::template scale_codes<Block>(codes, scales, b, row, panel);
    panel.scales[row][b] = Product::half_value(blocks[b].scale);
    if constexpr (has_base<Block>) {
      constexpr int groups = 256 / Block::group;
      const float minimum = Product::half_value(blocks[b].minimum);
      for (int group = 0; group < groups; ++group) {
        panel.minimums[row][b * groups + group] = minimum * static_cast<float>(group_minimum(blocks[b], group));
      }
    }
  }
}

// Sixteen rows of weights from row `column` on; those past the last count for nothing.
template <class Product, class Block, class Panel>
void unpack_panel(const Matmul::Arguments& a, std::int64_t column, std::int64_t first, std::int64_t count,
                  Panel& panel) {
  const std::int64_t columns = std::min<std::int64_t>(panel_rows, a.y.size(1) - column);
  for (int row = 0; row < panel_rows; ++row) {
    if (row < columns) {
      Block buffer[panel_depth / Block::elements];
      unpack_row<Product, Block>(a.weights.dtype(), row_blocks(a, column + row, first, count, buffer), count, row,
                                 panel);
    } else {
      std::memset(panel.scales[row], 0, sizeof(panel.scales[row]));
      std::memset(panel.minimums[row], 0, sizeof(panel.minimums[row]));
    }
  }
}

// The same rows where a product unpacks blocks itself. Those past the last one are that one again.
template <class Block, class Panel>
void find_rows(const Matmul::Arguments& a, std::int64_t column, std::int64_t first, std::int64_t count, Panel& panel,
               const Block* (&rows)[panel_rows]) {
  for (int row = 0; row < panel_rows; ++row) {
    rows[row] = row_blocks(a, std::min(column + row, a.y.size(1) - 1), first, count, panel.blocks[row]);
  }
}

// --- the product ---

template <class Product, class Block>
void multiply_panel(const Matmul::Arguments& a, const ActivationPanels& x, std::int64_t column, Product& product,
                    PanelWorkspace& workspace) {
  using Panel = typename Product::template Panel<Block>;
  static_assert(sizeof(Panel) <= sizeof(workspace.weights) && std::is_trivial_v<Panel>);
  Panel& weights = *reinterpret_cast<Panel*>(workspace.weights);
  const std::int64_t depth = a.x.size(1);
  const std::int64_t panels = divide_rounding_up(a.x.size(0), panel_rows);
  for (std::int64_t first_panel = 0; first_panel < panels; first_panel += panels_at_once) {
    const std::int64_t end_panel = std::min(panels, first_panel + panels_at_once);
    std::memset(workspace.sums, 0, sizeof(PanelSums) * static_cast<std::size_t>(end_panel - first_panel));
    for (std::int64_t begin = 0; begin < depth; begin += panel_depth) {
      const std::int64_t length = std::min<std::int64_t>(panel_depth, depth - begin);
      const std::int64_t first = begin / Block::elements, count = length / Block::elements;
      const Block* rows[panel_rows];
      if constexpr (requires { product.unpack(rows, count); }) {
        find_rows(a, column, first, count, weights, rows);
        product.unpack(rows, count);
      } else {
        unpack_panel<Product, Block>(a, column, first, count, weights);
        product.prepare(weights, count);
      }
      for (std::int64_t panel = first_panel; panel < end_panel; ++panel) {
        PanelSums& sums = workspace.sums[panel - first_panel];
        const ActivationPart part = x.part<Block>(panel, begin);
        if constexpr (requires { product.use_rows(panel); }) {
          product.use_rows(std::min<std::int64_t>(panel_rows, a.y.size(0) - panel * panel_rows));
        }
        product.add(weights, count, part, workspace, sums);
        if constexpr (has_base<Block> && requires { product.subtract_minimums(weights, 0, part.scaled_sums, sums); }) {
          product.subtract_minimums(weights, length / Block::group, part.scaled_sums, sums);
        }
      }
    }
    const std::int64_t columns = std::min<std::int64_t>(panel_rows, a.y.size(1) - column);
    const float* bias = a.bias.data() == nullptr ? nullptr : a.bias.data() + column;
    for (std::int64_t panel = first_panel; panel < end_panel; ++panel) {
      const std::int64_t row = panel * panel_rows;
      Product::store(workspace.sums[panel - first_panel], std::min<std::int64_t>(panel_rows, a.y.size(0) - row),
                     columns, bias, &a.y(row, 0) + column, a.y.stride(0));
    }
  }
}

template <class Product>
void fill_panels(const Matmul::Arguments& a, Workers& workers, std::byte* place) {
  const ActivationPanels x(place, a.x.size(1));
  with_block_type(a.weights.dtype(), [&]<class Block>() {
    workers.for_chunks(divide_rounding_up(a.x.size(0), panel_rows), 1, [&](std::int64_t begin, std::int64_t end, int) {
      for (std::int64_t panel = begin; panel < end; ++panel) fill_panel<Product, Block>(a, x, panel);
    });
  });
}

template <class Product>
void multiply_columns(const Matmul::Arguments& a, const std::byte* place, std::byte* workspace) {
  const ActivationPanels x(const_cast<std::byte*>(place), a.x.size(1));  // only read
  with_block_type(a.weights.dtype(), [&]<class Block>() {
    Product product;
    for (std::int64_t column = 0; column < a.y.size(1); column += panel_rows) {
      multiply_panel<Product, Block>(a, x, column, product, *reinterpret_cast<PanelWorkspace*>(workspace));
    }
  });
}

template <class Product>
constexpr PanelProduct panel_product = {panel_bytes, sizeof(PanelWorkspace), panel_rows, fill_panels<Product>,
                                        multiply_columns<Product>};
