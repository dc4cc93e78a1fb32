#pragma once

#include "ir/Buffer.h"
#include "ir/IR.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// What a statement did that no statement may do: touch memory outside a buffer or after it is freed, use a name that
/// nothing binds, wait for ever. A mistake in the statement, as opposed to an error that it reports.
struct InterpreterFault : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Executes a statement at any level of lowering, from Provide/Realize/calls of Funcs to Allocate/Load/Store, as long as
/// bounds are known (Level::Bounded and later) and parallel loops have not become closures. The judge of all passes.
///
/// * Buffers are bounds-checked; freed memory stays recognizable.
/// * Values that the program leaves open (dead lanes, uninitialized memory, casts out of range) are random, and marked:
///   the mark follows the value through arithmetic and memory, and `undefined_elements` counts what of it is left.
/// * Int(32) and Int(64) are computed exactly; the first result that does not fit its type is noted. Other integers wrap.
/// * f16 and bf16 round after each operation. Nothing is contracted or reassociated.
/// * Vector and unrolled loops that are still loops run serially.
class Interpreter {
public:
    /// In which order the iterations of a parallel loop run. If results differ, there is a race.
    enum class ParallelOrder {
        Ascending,
        Descending,
        Shuffled,
    };

    /// A function that the statement may call. Numbers arrive and leave as what their types say; handles as addresses.
    struct Argument {
        Type type;
        int64_t i = 0;  ///< Integers (wrapped to 64 bits) and handles.
        double f = 0;   ///< Floats.
    };
    using ExternFunction = std::function<Argument(const std::vector<Argument> &)>;

    Interpreter();
    ~Interpreter();
    Interpreter(const Interpreter &) = delete;
    Interpreter &operator=(const Interpreter &) = delete;

    /// Names an input or output. Defines `name`, `name.buffer`, `name.min.0` and so on.
    void set_buffer(const std::string &name, const Buffer<> &buffer);
    /// The same for a buffer that is owned elsewhere; null for a null argument.
    void set_buffer(const std::string &name, halide_buffer_t *buffer);

    /// Names a scalar parameter. The value must be a constant.
    void set_scalar(const std::string &name, const Expr &value);

    /// Defines a function of that name; asked before those that the interpreter knows.
    void set_extern(const std::string &name, ExternFunction function);

    /// The seed also decides the values of what is undefined.
    void set_parallel_order(ParallelOrder order, unsigned seed = 0);

    /// Runs the statement.
    /// @returns  0, or the code of the assertion that failed.
    /// @throws InterpreterFault
    int run(const Stmt &s);

    /// The value of an expression. Its type must be scalar.
    Argument evaluate(const Expr &e);

    /// The text of the assertion that failed.
    const std::string &error_message() const;
    /// What was printed.
    const std::string &printed() const;

    /// The first arithmetic result in Int(32) or Int(64) that did not fit its type; empty if there was none.
    const std::string &overflow() const;

    /// How many elements of this buffer hold values that the program left open.
    int64_t undefined_elements(const std::string &buffer) const;

    /// The first branch that depended on a value that the program left open; empty if there was none.
    const std::string &undefined_branch() const;

private:
    std::unique_ptr<struct InterpreterState> state;
};

}  // namespace Internal
}  // namespace Halide
