#pragma once

#include "func/VMIProgram.h"
#include "ir/Scope.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace Halide {
namespace Internal {

/// Where an instruction may be moved to from the place where it is asked for.
enum class VMIPlacement {
    Free,  ///< anywhere, across scope borders too: masks and broadcasts of scalars, which the tools rebuild (spec 6)
    Pure,  ///< out of loops, as far as its operands allow, within one vector scope
    Load,  ///< the same, as long as nothing stores to the buffer and the loop is known to run
    Local,  ///< nowhere, but an equal one before it in the same block will do
    Here,   ///< nowhere
};

/// Appends instructions to nested blocks. What does not depend on a loop lands before it, because the enclosing block
/// ends exactly there while the loop is being built; equal instructions are made once.
class VMIBuilder {
public:
    explicit VMIBuilder(VMIKernel &kernel);

    VMIKernel &kernel;

    /// One instruction with one result.
    int op(const std::string &name, const VMIType &type, std::vector<VMIOperand> operands,
           std::vector<VMIAttribute> attributes = {}, VMIPlacement placement = VMIPlacement::Pure);
    /// With several, or none.
    std::vector<int> op(const std::string &name, const std::vector<VMIType> &types, std::vector<VMIOperand> operands,
                        std::vector<VMIAttribute> attributes, VMIPlacement placement);

    const VMIType &type(int value) const {
        return kernel.values[value];
    }
    int new_value(const VMIType &type, const std::string &hint);
    void set_hint(int value, const std::string &hint);

    /// @name Blocks
    /// @{
    struct Block {
        std::vector<VMIInst> insts;
        std::map<std::string, int> known;        ///< what was computed here, by its text
        std::map<std::string, int> rebuildable;  ///< the same for VMIPlacement::Free
        std::set<std::string> stored;  ///< buffers that something inside stores to
        bool runs = true;              ///< known to run at least once
        bool is_branch = false;
    };
    void push_block(bool runs, bool is_branch, std::set<std::string> stored);
    std::vector<VMIInst> pop_block();
    void append(VMIInst inst);
    int depth() const {
        return (int)blocks.size() - 1;
    }
    /// @}

    /// Names a scalar that is defined in the current block.
    void define_scalar(const std::string &name);
    /// A scalar let, as far out as its value allows.
    void let(const std::string &name, const Expr &value);

    /// The vector scope begins in the current block; values of earlier scopes are out of reach.
    void begin_scope();
    /// What was computed or loaded before is out of reach.
    void border();
    /// Later loads of the buffer give other values.
    void bump(const std::string &buffer);

    /// The innermost block that defines something this expression uses.
    int level_of(const Expr &e) const;

private:
    std::vector<Block> blocks;
    std::vector<int> value_level;
    std::map<std::string, int> scalar_level;
    std::map<std::string, int> version;
    int scope_block = 0;

    int level_of(const VMIOperand &o) const;
    std::string key_of(const std::string &name, const std::vector<VMIType> &types,
                       const std::vector<VMIOperand> &operands, const std::vector<VMIAttribute> &attributes) const;
};

VMIAttribute vmi_number(const std::string &name, int64_t value);
VMIAttribute vmi_word(const std::string &name, const std::string &value);
VMIAttribute vmi_element(const std::string &name, VMIElem value);
VMIAttribute vmi_flag(const std::string &name);

}  // namespace Internal
}  // namespace Halide
