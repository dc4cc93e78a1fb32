#pragma once

/// From lowered statements to LLVM code: what all CPUs share. A target overrides the hooks at the end of the class.

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "func/LoweredFunc.h"
#include "func/Module.h"
#include "ir/IR.h"
#include "ir/IRVisitor.h"
#include "ir/Target.h"

namespace Halide::Internal {

/// One native instruction for one intrinsic: a row of a target's table. Vectors of other lengths are cut or padded.
struct NativeIntrinsic {
    Call::IntrinsicOp op;
    halide_type_code_t result_code;
    int result_bits;
    /// Element types of the arguments; unused ones have 0 bits. A call's arguments must have exactly these.
    struct Arg {
        halide_type_code_t code;
        int bits;
    } args[3];
    /// Lanes of one instruction; 0: any.
    int lanes;
    /// Features of the target that the instruction needs; FeatureEnd: none.
    Target::Feature feature;
    const char *llvm_name;
    /// Constants that follow the arguments.
    std::vector<int> extra_args = {};
};

class CodeGen_LLVM : public IRVisitor {
public:
    /// The code generator for the target's architecture.
    static std::unique_ptr<CodeGen_LLVM> make(const Target &t, llvm::LLVMContext &context);
    ~CodeGen_LLVM() override;

    /// LLVM code for all functions and constant buffers of a module; not optimized, without the runtime.
    std::unique_ptr<llvm::Module> compile(const Module &m);

    /// Whether a function of the C runtime has the user context as its first argument, which calls in the IR omit.
    static bool takes_user_context(const std::string &name);

    /// The symbol of a function or argument list in LLVM code, given its mangling.
    static std::string symbol_name(const LoweredFunc &f, const Target &t);

protected:
    CodeGen_LLVM(const Target &t, llvm::LLVMContext &context);

    Target target;
    llvm::LLVMContext &context;
    std::unique_ptr<llvm::Module> module;
    std::unique_ptr<llvm::IRBuilder<>> builder;
    llvm::Function *function = nullptr;

    llvm::IntegerType *i1_t, *i8_t, *i16_t, *i32_t, *i64_t;
    llvm::Type *f16_t, *f32_t, *f64_t, *void_t;
    llvm::PointerType *ptr_t;
    llvm::StructType *buffer_t, *dimension_t;

    /// @name Values
    /// @{
    llvm::Value *value = nullptr;
    llvm::Value *codegen(const Expr &e);
    void codegen(const Stmt &s);
    /// A scalar integer as exact 64-bit arithmetic: index expressions do not wrap around.
    llvm::Value *codegen_index(const Expr &e);
    llvm::Type *llvm_type(const Halide::Type &t) const;
    /// As it is in memory: a bool takes a byte.
    llvm::Type *memory_type(const Halide::Type &t) const;
    llvm::Type *vector_type(llvm::Type *element, int lanes) const;
    static int lanes_of(llvm::Value *v);
    llvm::Value *splat(llvm::Value *v, int lanes);
    llvm::Constant *int_constant(llvm::Type *t, int64_t v) const;
    llvm::Value *user_context();
    /// @}

    /// @name Names in scope
    /// @{
    struct Binding {
        llvm::Value *value;
        /// The same as an exact 64-bit integer, for scalar integers.
        llvm::Value *wide = nullptr;
    };
    std::unordered_map<std::string, std::vector<Binding>> symbols;
    void bind(const std::string &name, llvm::Value *v, llvm::Value *wide = nullptr);
    void unbind(const std::string &name);
    const Binding *lookup(const std::string &name) const;
    llvm::Value *symbol(const std::string &name);
    Binding codegen_let_value(const Expr &e, const std::string &name);
    /// @}

    /// @name Functions and errors
    /// @{
    std::vector<std::pair<std::string, llvm::Function *>> own_functions;
    void declare_function(const LoweredFunc &f);
    void compile_function(const LoweredFunc &f);
    llvm::Function *add_argv_wrapper(llvm::Function *f, const LoweredFunc &lowered, const std::string &name);
    llvm::Function *add_metadata_getter(const LoweredFunc &lowered, const std::string &name, const Module &m);
    void compile_buffer(const Buffer<> &buf);
    llvm::Constant *string_constant(const std::string &s);
    llvm::GlobalVariable *constant_global(llvm::Constant *c, const std::string &name);
    /// Space in the frame, made in the function's entry block.
    llvm::AllocaInst *frame_slot(llvm::Type *t, int64_t count, const std::string &name, int alignment = 0);
    /// Leaves the function with the code if `condition` is false. Continues in a new block.
    void return_unless(llvm::Value *condition, const std::function<llvm::Value *()> &code);
    /// Something to call at every exit if the slot is not null then. Null stored in the slot disarms it.
    struct Cleanup {
        llvm::AllocaInst *slot;
        std::function<void(llvm::Value *)> run;
    };
    std::vector<Cleanup> cleanups;
    llvm::AllocaInst *register_cleanup(llvm::Value *initial, const std::string &name,
                                       const std::function<void(llvm::Value *)> &run);
    /// Slots of the locks that are held where code is generated now, innermost last.
    std::vector<llvm::AllocaInst *> held_locks;
    void arm_unlock(const Call *lock);
    void disarm_unlock();
    llvm::BasicBlock *exit_block = nullptr;
    llvm::PHINode *exit_code = nullptr;
    void exit_function(llvm::Value *code);
    void finish_exit_block();
    llvm::BasicBlock *new_block(const std::string &name);
    /// @}

    /// @name Memory
    /// @{
    struct Allocation {
        llvm::Value *ptr = nullptr;
        llvm::AllocaInst *slot = nullptr;   ///< the frame memory itself, or the armed slot of a heap allocation
        bool on_heap = false;
        bool keep_until_exit = false;       ///< grows when needed, freed at exit
        std::string free_function;
        int alignment = 0;                  ///< bytes
        MemoryType memory_type = MemoryType::Auto;
    };
    std::map<std::string, std::vector<Allocation>> allocations;
    int heap_alignment() const;
    llvm::Value *allocation_bytes(const Allocate *op);
    llvm::Value *heap_allocate(const Allocate *op, llvm::Value *bytes, Allocation &a);
    llvm::Value *growing_allocate(const Allocate *op, llvm::Value *bytes, Allocation &a);
    void free_allocation(Allocation &a);
    llvm::MDNode *alias_tag(const std::string &buffer);
    std::map<std::string, llvm::MDNode *> alias_tags;
    llvm::Instruction *mark(llvm::Instruction *access, const std::string &buffer, bool streaming = false);

    /// Where the lanes of an access are.
    struct Access {
        std::string name;
        Halide::Type type;
        ModulusRemainder alignment;
        Parameter param;
        bool streaming = false;
    };
    llvm::Value *element_address(const Access &a, llvm::Value *index64);
    int access_alignment(const Access &a, const ModulusRemainder &m) const;
    llvm::Value *load_dense(const Access &a, llvm::Value *index64, int lanes, const ModulusRemainder &m,
                            llvm::Value *mask = nullptr);
    void store_dense(const Access &a, llvm::Value *index64, llvm::Value *v, const ModulusRemainder &m,
                     llvm::Value *mask = nullptr);
    llvm::Value *load_strided(const Access &a, const Expr &base, int64_t stride, int lanes);
    llvm::Value *load_lanes(const Access &a, const Expr &index, const Expr &predicate);
    void store_lanes(const Access &a, const Expr &index, llvm::Value *v, const Expr &predicate);
    /// Calls f(lane, address) for each lane of an index.
    void for_each_address(const Access &a, const Expr &index, const std::function<void(int, llvm::Value *)> &f);
    llvm::Value *address_vector(const Access &a, const Expr &index);
    llvm::Value *from_memory(llvm::Value *v, const Halide::Type &t);
    llvm::Value *to_memory(llvm::Value *v, const Halide::Type &t);
    bool wants_scalar_accesses(const Access &a) const;
    /// Set while the value of an atomic update is computed: loads of this buffer read this value.
    struct AtomicLoad {
        std::string name;
        Expr index;
        llvm::Value *value;
    };
    const AtomicLoad *atomic_load = nullptr;
    bool in_atomic = false;
    void store_atomic(const Store *op);
    void store_atomic_scalar(const Store *op, const Expr &index, const Expr &value);
    bool try_atomic_rmw(const Store *op, const Expr &index, const Expr &value);
    /// @}

    /// @name Vectors
    /// @{
    llvm::Value *shuffle(llvm::Value *a, llvm::Value *b, const std::vector<int> &indices);
    llvm::Value *shuffle(llvm::Value *a, const std::vector<int> &indices);
    llvm::Value *slice(llvm::Value *v, int begin, int lanes);
    llvm::Value *concat(const std::vector<llvm::Value *> &parts);
    llvm::Value *interleave(const std::vector<llvm::Value *> &parts);
    llvm::Value *mask_of(const Expr &predicate, int lanes);
    /// Computes each lane by itself: f gets the lane's scalar arguments.
    llvm::Value *per_lane(int lanes, llvm::Type *element, const std::vector<llvm::Value *> &args,
                          const std::function<llvm::Value *(const std::vector<llvm::Value *> &)> &f);
    llvm::Value *combine(VectorReduce::Operator op, const Halide::Type &t, llvm::Value *a, llvm::Value *b);
    /// @}

    /// @name Arithmetic
    /// @{
    bool native_type(const Halide::Type &t) const;
    llvm::Value *float_arith(const Expr &e, const std::function<Expr(const Expr &, const Expr &)> &op, const Expr &a,
                             const Expr &b);
    virtual llvm::Value *min_or_max(const Halide::Type &t, llvm::Value *a, llvm::Value *b, bool is_min);
    llvm::Value *euclidean_div(const Halide::Type &t, llvm::Value *a, const Expr &a_expr, const Expr &b_expr);
    llvm::Value *convert(llvm::Value *v, const Halide::Type &from, const Halide::Type &to);
    llvm::Value *small_float_to_f32(llvm::Value *v, const Halide::Type &from);
    llvm::Value *f32_to_small_float(llvm::Value *v, const Halide::Type &to);
    llvm::Value *round_to_odd_f32(llvm::Value *f64, int lanes);
    llvm::Value *call_llvm(llvm::Intrinsic::ID id, llvm::Type *result, const std::vector<llvm::Value *> &args);
    /// @}

    /// @name Calls
    /// @{
    llvm::Value *codegen_intrinsic(const Call *op);
    llvm::Value *codegen_math(const Call *op);
    llvm::Value *codegen_buffer_access(const Call *op);
    llvm::Value *codegen_stringify(const std::vector<Expr> &args);
    llvm::Value *codegen_cached_indirect_call(const Call *op);
    llvm::Value *codegen_prefetch(const Call *op);
    llvm::Value *codegen_shift(const Call *op, bool left);
    llvm::Value *codegen_if_then_else(const Call *op);
    llvm::Value *divide_toward_zero(const Call *op, bool remainder);
    llvm::Value *strict_operation(const Call *op);
    llvm::Value *codegen_fma(const Call *op);
    llvm::Value *vector_division(const Halide::Type &t, llvm::Value *a, llvm::Value *b);
    void codegen_register_destructor(const Call *op);
    llvm::Value *make_struct(const Call *op);
    llvm::StructType *struct_type(const Call *op);
    llvm::Value *extern_call(const std::string &name, const Halide::Type &type, const std::vector<Expr> &args,
                             bool pure);
    llvm::FunctionCallee runtime_function(const std::string &name, llvm::Type *result,
                                          const std::vector<llvm::Type *> &args);
    llvm::Value *native_intrinsic(const Call *op, const std::vector<NativeIntrinsic> &table);
    llvm::Value *call_in_pieces(const NativeIntrinsic &row, const Halide::Type &type,
                                const std::vector<llvm::Value *> &args);
    /// Replaces an operand by a name for its value, so that an expansion may use it more than once.
    class Operands;
    llvm::Value *codegen_expansion(const Call *op);
    int temporaries = 0;
    /// @}

    /// @name What a target knows
    /// @{
    /// Bits of one vector register.
    virtual int native_vector_bits() const = 0;
    /// Arithmetic on this small float type is done by the machine.
    virtual bool has_native_arithmetic(const Halide::Type &t) const;
    /// Conversions between this small float type and float32 are done by the machine.
    virtual bool has_native_conversion(const Halide::Type &t) const;
    virtual bool has_gather(const Halide::Type &t) const;
    virtual bool has_scatter(const Halide::Type &t) const;
    /// Code of the target's own for a call, or null.
    virtual llvm::Value *target_call(const Call *op);
    /// Code of the target's own for a reduction, or null.
    virtual llvm::Value *target_reduce(const VectorReduce *op);
    /// @}

    void visit(const IntImm *) override;
    void visit(const UIntImm *) override;
    void visit(const FloatImm *) override;
    void visit(const StringImm *) override;
    void visit(const Broadcast *) override;
    void visit(const Cast *) override;
    void visit(const Reinterpret *) override;
    void visit(const Variable *) override;
    void visit(const Add *) override;
    void visit(const Sub *) override;
    void visit(const Mod *) override;
    void visit(const Mul *) override;
    void visit(const Div *) override;
    void visit(const Min *) override;
    void visit(const Max *) override;
    void visit(const EQ *) override;
    void visit(const NE *) override;
    void visit(const LT *) override;
    void visit(const LE *) override;
    void visit(const GT *) override;
    void visit(const GE *) override;
    void visit(const And *) override;
    void visit(const Or *) override;
    void visit(const Not *) override;
    void visit(const Select *) override;
    void visit(const Load *) override;
    void visit(const Ramp *) override;
    void visit(const Call *) override;
    void visit(const Let *) override;
    void visit(const Shuffle *) override;
    void visit(const VectorReduce *) override;
    void visit(const LetStmt *) override;
    void visit(const AssertStmt *) override;
    void visit(const ProducerConsumer *) override;
    void visit(const For *) override;
    void visit(const Acquire *) override;
    void visit(const Store *) override;
    void visit(const Provide *) override;
    void visit(const Allocate *) override;
    void visit(const Free *) override;
    void visit(const Realize *) override;
    void visit(const Block *) override;
    void visit(const Fork *) override;
    void visit(const IfThenElse *) override;
    void visit(const Evaluate *) override;
    void visit(const Prefetch *) override;
    void visit(const Atomic *) override;
    void visit(const StreamingStore *) override;
    void visit(const StreamingLoads *) override;
    void visit(const HoistedStorage *) override;

private:
    llvm::CmpInst::Predicate comparison(const Halide::Type &t, IRNodeType n) const;
    template<typename Op>
    void visit_comparison(const Op *op);
    template<typename Op>
    bool visit_small_float(const Op *op);
    llvm::Function *add_function(const std::string &name, const LoweredFunc &f);
    llvm::GlobalValue::LinkageTypes linkage_of(LinkageType l) const;
};

std::unique_ptr<CodeGen_LLVM> new_CodeGen_X86(const Target &t, llvm::LLVMContext &context);
std::unique_ptr<CodeGen_LLVM> new_CodeGen_ARM(const Target &t, llvm::LLVMContext &context);
std::unique_ptr<CodeGen_LLVM> new_CodeGen_Generic(const Target &t, llvm::LLVMContext &context);

}  // namespace Halide::Internal
