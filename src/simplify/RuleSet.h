#pragma once

#include "ir/Expr.h"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace Halide {
namespace Internal {

/// The rewrite rules as data. One line of a `.rules` file is one rule:
///
///     name   before -> after   condition   types   proved-by: argument
///
/// with columns separated by two spaces or more; condition and the last column are optional. In patterns
///   x y z … (one letter)   match anything; the same letter matches equal expressions;
///   X Y Z …                match anything but constants;
///   c0 c1 …                match constants (or broadcasts of them); n0 n1 … match numbers of lanes;
///   ~+ ~* ~== ~!= ~&& ~|| ~min( ~max(   also match with their operands swapped;
///   min max select ramp broadcast   are the nodes; 0 1 -1 true false constants.
/// `after` and `condition` may compute with constants: + - * / % min max, comparisons, && || !; in `after`, exact(…)
/// asks that its value does not wrap.
/// `types`: nowrap = Int(32) and Int(64), exact; wrap = the other integers; int = both; float; any = all of them.
/// They restrict the wildcards that are numbers. A rule does not fire if a constant it computes does not fit.
class RuleSet {
public:
    enum TypeClass : uint8_t {
        Nowrap = 1,
        Wrap = 2,
        Float = 4,
        Other = 8,
    };

    enum class Kind : uint8_t {
        Wildcard,
        Constant,   ///< c0 …; in `after` and conditions, its value
        Lanes,      ///< n0 …
        Literal,
        Node,
        Negate,     ///< only in computations
        Exact,      ///< exact(…): in a type that wraps, the rule does not fire if the value wraps
    };

    /// What a wildcard may be bound to.
    enum class Sort : uint8_t {
        Unknown,
        Bool,
        Number,
        LaneCount,
    };

    struct Node {
        Kind kind = Kind::Literal;
        IRNodeType node = IRNodeType::IntImm;
        Sort sort = Sort::Unknown;
        /// A wildcard that does not match constants.
        bool varies = false;
        /// Computed from constants only.
        bool computed = false;
        uint8_t slot = 0;
        uint8_t children = 0;
        std::array<int16_t, 3> child{-1, -1, -1};
        int64_t literal = 0;
    };

    struct Rule {
        std::string name;
        /// The line and where it stands.
        std::string text, file;
        int line = 0;
        uint8_t types = 0;
        std::string proved_by;
        std::vector<Node> nodes;
        int before = -1, after = -1, condition = -1;
        int wildcards = 0, constants = 0, lane_counts = 0;
    };

    static constexpr int max_slots = 8;

    struct Bindings {
        std::array<const Expr *, max_slots> wildcard{};
        std::array<int64_t, max_slots> constant{};
        std::array<int, max_slots> lanes{};
        uint8_t bound_constants = 0;
    };

    /// Reads rules from text. Malformed lines are internal errors that name file and line.
    /// With `expand`, rules with ~ are written out: the form that is matched.
    static std::vector<Rule> parse(std::string_view text, const std::string &file, bool expand);

    /// All rules of this process, parsed on first use.
    static const RuleSet &get();

    /// The lines as embedded at build time: file name and text.
    static const std::vector<std::pair<const char *, const char *>> &sources();

    const std::vector<Rule> &all() const {
        return rules;
    }

    /// What an expression looks like two levels down: kinds of nodes, by which most rules are seen not to match.
    struct Shape {
        IRNodeType root;
        /// Of the first two children, and of the first two of each.
        std::array<uint8_t, 2> child;
        std::array<uint8_t, 4> grandchild;
        /// Of the first child.
        uint8_t type_class;
    };
    static Shape shape_of(const Expr &e);

    /// The rules of which the root and its children can match, in order.
    const std::vector<uint16_t> &candidates(const Shape &shape) const;

    /// Whether the rest of the shape does not exclude a candidate.
    bool may_match(uint16_t rule, const Shape &shape) const {
        const Quick &q = quick[rule];
        return (q.types & shape.type_class) && (q.grandchild[0] >> shape.grandchild[0] & 1) &&
               (q.grandchild[1] >> shape.grandchild[1] & 1) && (q.grandchild[2] >> shape.grandchild[2] & 1) &&
               (q.grandchild[3] >> shape.grandchild[3] & 1);
    }

    /// Binds the wildcards of a rule, and checks its types and condition.
    static bool match(const Rule &rule, const Expr &e, Bindings &bindings);

    /// The value of a computation on constants, if it fits int64 at every step.
    static std::optional<int64_t> compute(const Rule &rule, int node, const Bindings &bindings);

    /// The same in the arithmetic of a type: exact and representable for Int(32) and Int(64), else wrapped.
    static std::optional<int64_t> compute_in(const Rule &rule, int node, const Bindings &bindings, const Type &type);

    static TypeClass class_of(const Type &type);

private:
    RuleSet();

    static constexpr int child_kinds = 40;
    std::vector<Rule> rules;
    struct Index {
        std::vector<uint16_t> rules;
        std::vector<std::vector<uint16_t>> by_children;
    };
    std::vector<Index> index;
    /// Sets of kinds, and of type classes, that a rule allows.
    struct Quick {
        std::array<uint64_t, 4> grandchild;
        uint8_t types;
    };
    std::vector<Quick> quick;
};

}  // namespace Internal
}  // namespace Halide
