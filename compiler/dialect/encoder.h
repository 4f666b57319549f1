// The encoder dialect in C++: its ops, its encodings, and the few questions that every pass asks of a type.
#pragma once

#include "dialect/host_tensor.h"
#include "dialect/kernel_class.h"
#include "dialect/precision.h"
#include "dialect/stream_rule.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace burin {
class KernelBuilder;
}

#include "dialect/encoder_dialect.h.inc"
#include "dialect/encoder_interfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialect/encoder_attributes.h.inc"
#define GET_OP_CLASSES
#include "dialect/encoder_ops.h.inc"

namespace burin {

// Names of the discardable attributes that the passes leave for one another.
namespace attribute {
inline constexpr llvm::StringLiteral name = "encoder.name";           // of an argument or result of an entry
inline constexpr llvm::StringLiteral positions = "encoder.positions"; // the argument that the driver feeds
inline constexpr llvm::StringLiteral count = "encoder.count";        // its symbol; the argument that says how many rows
inline constexpr llvm::StringLiteral stream = "encoder.stream";      // of an entry: the symbol whose rows it takes
inline constexpr llvm::StringLiteral many = "encoder.many";          // of an entry: it takes several rows
inline constexpr llvm::StringLiteral mostRows = "encoder.most_rows"; // of an entry that takes many: at most so many
inline constexpr llvm::StringLiteral capacity = "encoder.capacity";  // of an entry: rows its stream takes, or -1
inline constexpr llvm::StringLiteral positionEnd = "encoder.position_end"; // of an entry: no position reaches it, or -1
inline constexpr llvm::StringLiteral streams = "encoder.streams";          // of the module: symbols, step's first
inline constexpr llvm::StringLiteral scope = "encoder.scope";              // the DSL scope of an op, or of a call
inline constexpr llvm::StringLiteral keys = "encoder.keys";                // of a state value: read as keys
inline constexpr llvm::StringLiteral kernel = "encoder.kernel";            // a kernel function's class
inline constexpr llvm::StringLiteral weightOffset = "encoder.weight_offset"; // floats, of a weight in its kernel's blob
inline constexpr llvm::StringLiteral panel = "encoder.panel";                // columns of a panel of packed weights
inline constexpr llvm::StringLiteral outIn = "encoder.out_in";       // of packed weights: the file holds [out, in]
inline constexpr llvm::StringLiteral packedAs = "encoder.packed_as"; // of packed weights: their precision
inline constexpr llvm::StringLiteral precision = "precision"; // of a contract, part of the op: dialect/precision.h
inline constexpr llvm::StringLiteral blobBytes = "encoder.blob_bytes"; // of a kernel: all its weights
inline constexpr llvm::StringLiteral blob = "encoder.blob";            // of a call: byte offset of its blob
inline constexpr llvm::StringLiteral scratch = "encoder.scratch";      // of a call: offset of each result
inline constexpr llvm::StringLiteral scratchRowBytes = "encoder.scratch_row_bytes"; // of an entry: per axis
inline constexpr llvm::StringLiteral axes = "encoder.axes";                         // of the module: its time symbols
inline constexpr llvm::StringLiteral weightsBytes = "encoder.weights_bytes";        // of the module
inline constexpr llvm::StringLiteral stateBytes = "encoder.state_bytes";            // of the module
inline constexpr llvm::StringLiteral noStep = "encoder.no_step"; // of the module: why there is no step
inline constexpr llvm::StringLiteral graph = "encoder.graph";    // of the module: fingerprint of the graph
inline constexpr llvm::StringLiteral gate = "encoder.gate";      // of a call: the guard that it ends
inline constexpr llvm::StringLiteral guard = "encoder.guard";    // of a call: it runs where this guard is open
inline constexpr llvm::StringLiteral requireStep = "encoder.require_step"; // of the module: no step is an error
} // namespace attribute

/// The tensor type with the rows of `rows` and `features` columns.
mlir::RankedTensorType withFeatures(mlir::Type rows, int64_t features);

/// Number of columns of a row tensor.
int64_t featuresOf(mlir::Type rows);

/// What the rows of a tensor count; null where they are one row, one row per sequence, or a parameter's.
RowsAttr rowsOf(mlir::Type type);

/// True for [rows, features] of any kind: time steps, some per sequence, or a fixed number such as the row of a step.
bool isRows(mlir::Type type);

/// True for the rows that a stream keeps.
bool isKept(RowsAttr rows);

/// Rows for each unit of what a tensor's rows count: 1 of time steps, else as many as its encoding or shape says.
int64_t rowsEach(mlir::Type type);

/// Elements of a state value's storage, whole tiles included.
int64_t storageElements(mlir::Type storage);

/// "[time ≤ 64, 32]", "[4, 8]": a type's shape as error messages show it.
std::string describe(mlir::Type type);

/// A number as error messages show it: "0.001", "1e-12".
std::string describe(double number);

/// Emits "<op>: expected …" at `location` and returns failure; the shape rules' one way to complain.
mlir::LogicalResult refuse(std::optional<mlir::Location> location, const llvm::Twine &message);

} // namespace burin
