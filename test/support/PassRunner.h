#pragma once

// Runs passes on IR text: what golden tests, tools/passes and bug reports share.

#include <string>

namespace bromide {

/// One test file (style.md §8): `// RUN: passes=a,b target=T` or `// RUN: simplify`, then `in:` and `out:` sections.
struct GoldenCase {
    std::string run_line, input, expected;
    bool not_fired = false;   ///< `out: same`: the output must equal the input
};

/// @throws std::runtime_error  naming what is missing in the file.
GoldenCase read_golden_case(const std::string &path);

/// The output of the case's passes on its input, with generated names renamed in order of appearance.
std::string run_golden_case(const GoldenCase &c);

/// The text with names of the form `prefix.$7` renumbered in order of appearance.
std::string rename_generated(const std::string &text);

/// The table of lowering passes.
std::string pass_table();

}  // namespace bromide
