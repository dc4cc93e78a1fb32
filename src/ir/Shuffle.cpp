// Shuffles: their making, and what a list of lanes amounts to.

#include "ir/IR.h"
#include "ir/NewNode.h"

#include <numeric>

namespace Halide {
namespace Internal {

void Shuffle::init() {
    internal_assert(!vectors.empty()) << "Shuffle of no vectors\n";
    internal_assert(!indices.empty()) << "Shuffle to no lanes\n";
    check_defined(vectors, this, "vector");
    const Type element = vectors[0].type().element_of();
    int lanes = 0;
    for (const Expr &v : vectors) {
        internal_assert(v.type().element_of() == element)
            << "Shuffle of mismatched types: " << element << " and " << v.type() << "\n";
        lanes += v.type().lanes();
    }
    for (int i : indices) {
        internal_assert(i >= 0 && i < lanes) << "Shuffle with lane " << i << " of " << lanes << "\n";
    }
    type = Type(element.code(), element.bits(), (int)indices.size(), element.handle_type());
}

Expr Shuffle::make(const std::vector<Expr> &vectors, const std::vector<int> &indices) {
    NewNode<Shuffle> node;
    node->vectors = vectors;
    node->indices = indices;
    return node.finish();
}

namespace {

int total_lanes(const std::vector<Expr> &vectors) {
    int lanes = 0;
    for (const Expr &v : vectors) {
        lanes += v.type().lanes();
    }
    return lanes;
}

// begin, begin + stride, …
std::vector<int> arithmetic_indices(int begin, int stride, int size) {
    std::vector<int> indices(size);
    for (int i = 0; i < size; i++) {
        indices[i] = begin + i * stride;
    }
    return indices;
}

// Reads a matrix of `rows` rows, stored by rows, column by column.
std::vector<int> transposed_indices(int rows, int cols) {
    std::vector<int> indices;
    indices.reserve((size_t)rows * cols);
    for (int c = 0; c < cols; c++) {
        for (int r = 0; r < rows; r++) {
            indices.push_back(r * cols + c);
        }
    }
    return indices;
}

}  // namespace

Expr Shuffle::make_interleave(const std::vector<Expr> &vectors) {
    internal_assert(!vectors.empty()) << "Interleave of no vectors\n";
    if (vectors.size() == 1) {
        return vectors[0];
    }
    const int lanes = vectors[0].type().lanes();
    for (const Expr &v : vectors) {
        internal_assert(v.type().lanes() == lanes) << "Interleave of vectors of different lengths\n";
    }
    return make(vectors, transposed_indices((int)vectors.size(), lanes));
}

Expr Shuffle::make_transpose(Expr e, int cols) {
    const int lanes = e.type().lanes();
    internal_assert(cols > 0 && lanes % cols == 0)
        << "Transpose of " << lanes << " lanes as a matrix of " << cols << " columns\n";
    return make({e}, transposed_indices(lanes / cols, cols));
}

Expr Shuffle::make_concat(const std::vector<Expr> &vectors) {
    internal_assert(!vectors.empty()) << "Concatenation of no vectors\n";
    if (vectors.size() == 1) {
        return vectors[0];
    }
    return make(vectors, arithmetic_indices(0, 1, total_lanes(vectors)));
}

Expr Shuffle::make_broadcast(Expr v, int factor) {
    const int lanes = v.type().lanes();
    std::vector<int> indices;
    indices.reserve((size_t)lanes * factor);
    for (int i = 0; i < lanes * factor; i++) {
        indices.push_back(i % lanes);
    }
    return make({std::move(v)}, indices);
}

Expr Shuffle::make_slice(Expr vector, int begin, int stride, int size) {
    if (begin == 0 && size == vector.type().lanes() && stride == 1) {
        return vector;
    }
    return make({std::move(vector)}, arithmetic_indices(begin, stride, size));
}

Expr Shuffle::make_extract_element(Expr vector, int i) {
    return make_slice(std::move(vector), i, 1, 1);
}

bool Shuffle::is_interleave() const {
    const int lanes = vectors[0].type().lanes();
    // Of scalars this would be a concatenation.
    if (lanes == 1 || vectors.size() == 1) {
        return false;
    }
    for (const Expr &v : vectors) {
        if (v.type().lanes() != lanes) {
            return false;
        }
    }
    return indices == transposed_indices((int)vectors.size(), lanes);
}

int Shuffle::transpose_factor() const {
    const int lanes = vectors.size() == 1 ? vectors[0].type().lanes() : 0;
    if (lanes <= 1 || (int)indices.size() != lanes || indices[0] != 0) {
        return 0;
    }
    const int cols = indices[1];
    if (cols <= 1 || lanes % cols != 0 || cols == lanes) {
        return 0;
    }
    return indices == transposed_indices(lanes / cols, cols) ? cols : 0;
}

bool Shuffle::is_transpose() const {
    return transpose_factor() != 0;
}

bool Shuffle::is_broadcast() const {
    const int lanes = total_lanes(vectors);
    const int count = (int)indices.size();
    if (count <= lanes || count % lanes != 0) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (indices[i] != i % lanes) {
            return false;
        }
    }
    return true;
}

int Shuffle::broadcast_factor() const {
    internal_assert(is_broadcast()) << "not a broadcast\n";
    return (int)indices.size() / total_lanes(vectors);
}

bool Shuffle::is_concat() const {
    return vectors.size() > 1 && indices == arithmetic_indices(0, 1, total_lanes(vectors));
}

bool Shuffle::is_slice() const {
    if (indices.size() < 2) {
        return false;
    }
    // All of it, unchanged, is no slice.
    const int stride = slice_stride();
    if ((int)indices.size() == total_lanes(vectors) && indices[0] == 0 && stride == 1) {
        return false;
    }
    return indices == arithmetic_indices(indices[0], stride, (int)indices.size());
}

bool Shuffle::is_extract_element() const {
    return indices.size() == 1;
}

std::vector<std::pair<int, int>> Shuffle::vector_and_lane_indices() const {
    std::vector<std::pair<int, int>> all, result;
    for (int v = 0; v < (int)vectors.size(); v++) {
        for (int lane = 0; lane < vectors[v].type().lanes(); lane++) {
            all.emplace_back(v, lane);
        }
    }
    result.reserve(indices.size());
    for (int i : indices) {
        result.push_back(all[i]);
    }
    return result;
}

}  // namespace Internal
}  // namespace Halide
