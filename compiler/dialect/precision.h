// How the weights of contracts are held, and what their products are computed in: a property of each contract.
//
// An attribute of the op, so that the reference, the passes and the kernels read it where they meet the op, and the
// fingerprints of graph and kernel hold it. Set for a whole graph in one place (setPrecision), by name; never chosen
// silently. What is not a contract (norms, attention, embeddings, biases, sums) stays float32.
//
// Rejected: weights as tensors of another element type. Types would say what files hold, and a float32 file is read at
// any precision.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include <optional>

namespace burin {

/// In the order of their bits, most first.
enum class Precision {
  Float32,
  BFloat16,    // weights rounded to bfloat16; products and sums as in float32
  BFloat16Dot, // rows too, so that an instruction adds up two products; where the target has it
  Int8         // weights and rows quantised to 8 bits; products and sums in integers, which are exact (dialect/int8.h)
};

llvm::StringRef precisionName(Precision precision);
std::optional<Precision> precisionNamed(llvm::StringRef name);
/// "float32, bf16, bf16-dot or int8".
std::string listedPrecisions();

/// Of a contract; float32 where nothing is said.
Precision precisionOf(mlir::Operation *contract);
/// Of all contracts of the module.
void setPrecision(mlir::ModuleOp module, Precision precision);
/// That of its contracts with the fewest bits.
Precision narrowestPrecision(mlir::ModuleOp module);
/// Whether one of its contracts is in `precision`.
bool hasPrecision(mlir::ModuleOp module, Precision precision);
/// The precisions of its contracts, each once, as text: "int8", or "float32 and int8" where they differ.
std::string describePrecision(mlir::ModuleOp module);

/// The nearest bfloat16, ties to even; what is too large becomes an infinity.
float roundToBFloat16(float value);

} // namespace burin
