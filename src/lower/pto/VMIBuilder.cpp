#include "lower/pto/VMIBuilder.h"

#include "ir/IRText.h"
#include "ir/IRVisitor.h"
#include "support/Error.h"

#include <algorithm>

namespace Halide {
namespace Internal {

VMIAttribute vmi_number(const std::string &name, int64_t value) {
    VMIAttribute a;
    a.name = name;
    a.number = value;
    return a;
}

VMIAttribute vmi_word(const std::string &name, const std::string &value) {
    VMIAttribute a;
    a.name = name;
    a.kind = VMIAttribute::Kind::Word;
    a.word = value;
    return a;
}

VMIAttribute vmi_element(const std::string &name, VMIElem value) {
    VMIAttribute a;
    a.name = name;
    a.kind = VMIAttribute::Kind::Element;
    a.elem = value;
    return a;
}

VMIAttribute vmi_flag(const std::string &name) {
    VMIAttribute a;
    a.name = name;
    a.kind = VMIAttribute::Kind::Flag;
    return a;
}

VMIBuilder::VMIBuilder(VMIKernel &kernel)
    : kernel(kernel) {
    blocks.emplace_back();
}

int VMIBuilder::new_value(const VMIType &type, const std::string &hint) {
    kernel.values.push_back(type);
    kernel.hints.push_back(hint);
    value_level.push_back(depth());
    return (int)kernel.values.size() - 1;
}

void VMIBuilder::set_hint(int value, const std::string &hint) {
    if (kernel.hints[value].empty()) {
        kernel.hints[value] = hint;
    }
}

int VMIBuilder::level_of(const Expr &e) const {
    class Finder : public IRGraphVisitor {
    public:
        explicit Finder(const std::map<std::string, int> &levels) : levels(levels) {}
        int level = 0;

    protected:
        using IRGraphVisitor::visit;
        void visit(const Variable *op) override {
            auto it = levels.find(op->name);
            level = std::max(level, it == levels.end() ? 0 : it->second);
        }

    private:
        const std::map<std::string, int> &levels;
    } finder(scalar_level);
    if (e.defined()) {
        e.accept(&finder);
    }
    return finder.level;
}

int VMIBuilder::level_of(const VMIOperand &o) const {
    switch (o.kind) {
    case VMIOperand::Kind::Value:
        return value_level[o.value];
    case VMIOperand::Kind::Values: {
        int level = 0;
        for (int v : o.values) {
            level = std::max(level, value_level[v]);
        }
        return level;
    }
    case VMIOperand::Kind::Scalar:
        return level_of(o.scalar);
    case VMIOperand::Kind::Pointer:
        return level_of(o.scalar);
    }
    return 0;
}

std::string VMIBuilder::key_of(const std::string &name, const std::vector<VMIType> &types,
                               const std::vector<VMIOperand> &operands,
                               const std::vector<VMIAttribute> &attributes) const {
    std::string key = name;
    for (const VMIType &t : types) {
        key += std::string("|") + (t.is_mask ? "m" : vmi_name(t.elem)) + "x" + std::to_string(t.lanes);
    }
    for (const VMIOperand &o : operands) {
        switch (o.kind) {
        case VMIOperand::Kind::Value:
            key += " %" + std::to_string(o.value);
            break;
        case VMIOperand::Kind::Values:
            for (int v : o.values) {
                key += " %" + std::to_string(v);
            }
            break;
        case VMIOperand::Kind::Scalar:
            key += " (" + to_text(o.scalar) + ")" + (o.typed ? vmi_name(o.elem) : "");
            break;
        case VMIOperand::Kind::Pointer: {
            auto it = version.find(o.buffer);
            key += " " + o.buffer + ":" + vmi_name(o.elem) + "#" + std::to_string(it == version.end() ? 0 : it->second) +
                   (o.scalar.defined() ? "+" + to_text(o.scalar) : "");
            break;
        }
        }
    }
    for (const VMIAttribute &a : attributes) {
        key += " " + a.name + "=" + a.word + std::to_string(a.number) + vmi_name(a.elem);
    }
    return key;
}

std::vector<int> VMIBuilder::op(const std::string &name, const std::vector<VMIType> &types,
                                std::vector<VMIOperand> operands, std::vector<VMIAttribute> attributes,
                                VMIPlacement placement) {
    int level = placement == VMIPlacement::Free ? 0 : placement == VMIPlacement::Here || placement == VMIPlacement::Local ? depth() : scope_block;
    for (const VMIOperand &o : operands) {
        level = std::max(level, level_of(o));
    }
    if (placement == VMIPlacement::Pure || placement == VMIPlacement::Load) {
        for (int i = depth(); i > level; i--) {
            if (blocks[i].is_branch) {
                level = i;
            }
        }
    }
    if (placement == VMIPlacement::Load) {
        for (int i = depth(); i > level; i--) {
            if (!blocks[i].runs || blocks[i].stored.count(operands[0].buffer)) {
                level = i;
            }
        }
    }
    const std::string key = key_of(name, types, operands, attributes);
    if (placement != VMIPlacement::Here) {
        for (int i = placement == VMIPlacement::Free ? 0 : scope_block; i <= depth(); i++) {
            const auto &table = placement == VMIPlacement::Free ? blocks[i].rebuildable : blocks[i].known;
            auto it = table.find(key);
            if (it != table.end()) {
                std::vector<int> results;
                for (size_t r = 0; r < types.size(); r++) {
                    results.push_back(it->second + (int)r);
                }
                return results;
            }
        }
    }
    VMIInst inst;
    inst.op = name;
    inst.operands = std::move(operands);
    inst.attributes = std::move(attributes);
    for (const VMIType &t : types) {
        const int v = new_value(t, "");
        value_level[v] = level;
        inst.results.push_back(v);
    }
    if (placement != VMIPlacement::Here && !types.empty()) {
        (placement == VMIPlacement::Free ? blocks[level].rebuildable : blocks[level].known)[key] = inst.results[0];
    }
    std::vector<int> results = inst.results;
    blocks[level].insts.push_back(std::move(inst));
    return results;
}

int VMIBuilder::op(const std::string &name, const VMIType &type, std::vector<VMIOperand> operands,
                   std::vector<VMIAttribute> attributes, VMIPlacement placement) {
    return op(name, std::vector<VMIType>{type}, std::move(operands), std::move(attributes), placement)[0];
}

void VMIBuilder::push_block(bool runs, bool is_branch, std::set<std::string> stored) {
    Block b;
    b.runs = runs;
    b.is_branch = is_branch;
    b.stored = std::move(stored);
    blocks.push_back(std::move(b));
}

std::vector<VMIInst> VMIBuilder::pop_block() {
    std::vector<VMIInst> insts = std::move(blocks.back().insts);
    blocks.pop_back();
    return insts;
}

void VMIBuilder::append(VMIInst inst) {
    blocks.back().insts.push_back(std::move(inst));
}

void VMIBuilder::define_scalar(const std::string &name) {
    scalar_level[name] = depth();
}

void VMIBuilder::let(const std::string &name, const Expr &value) {
    // What is loaded stays where it is: something before may store it.
    class Loads : public IRGraphVisitor {
    public:
        bool found = false;

    protected:
        using IRGraphVisitor::visit;
        void visit(const Load *) override { found = true; }
    } loads;
    value.accept(&loads);
    const int level = loads.found ? depth() : level_of(value);
    scalar_level[name] = level;
    VMIInst inst;
    inst.kind = VMIInst::Kind::Let;
    inst.name = name;
    inst.scalar = value;
    blocks[level].insts.push_back(std::move(inst));
}

void VMIBuilder::begin_scope() {
    scope_block = depth();
}

void VMIBuilder::border() {
    blocks.back().known.clear();
}

void VMIBuilder::bump(const std::string &buffer) {
    version[buffer]++;
}

}  // namespace Internal
}  // namespace Halide
