// Which stream each value of a graph belongs to, what a stream must keep, and why a graph may have no step: what
// derive_step builds entries from.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace burin {

/// Why a graph has no step: an op (or the whole graph), the reason, and what to change.
struct Refusal {
  mlir::Location location;
  std::string subject, reason, fix;

  /// One sentence that begins with the user's line, without its folder, so that objects and headers do not depend on
  /// where a graph's source lies.
  std::string text() const;
};

/// A state value: what an op needs of the rows before.
struct KeptValue {
  std::string name;
  mlir::Location location;
  mlir::Value value; // of forward
  mlir::StringAttr stream;
  mlir::RankedTensorType storage;
  bool keys = false;         // read as keys
  bool isForAnother = false; // an op of another stream needs it
};

class Streams {
public:
  explicit Streams(mlir::func::FuncOp forward);

  const std::optional<Refusal> &refusal() const { return refusal_; }
  /// The time symbols: step's first, the others in order of declaration.
  llvm::ArrayRef<mlir::StringAttr> symbols() const { return symbols_; }
  /// Null: it does not depend on any.
  mlir::StringAttr of(mlir::Value value) const { return valueStreams_.lookup(value); }
  mlir::StringAttr of(mlir::Operation *op) const { return opStreams_.lookup(op); }
  /// What is kept for an operand that looks back or is running; null for others.
  const KeptValue *keptFor(mlir::OpOperand &operand) const;
  llvm::ArrayRef<KeptValue> kept() const { return kept_; }
  /// Rows that a stream takes after a reset, and the position that it does not reach; -1: no bound.
  int64_t capacityOf(mlir::StringAttr symbol) const { return boundOf(capacities_, symbol); }
  int64_t positionEndOf(mlir::StringAttr symbol) const { return boundOf(ends_, symbol); }

private:
  void refuse(mlir::Location location, llvm::StringRef subject, const llvm::Twine &reason, const llvm::Twine &fix);
  void visit(mlir::Operation &op);
  void keep(mlir::OpOperand &operand, const StreamRule &rule, mlir::StringAttr stream);
  void chooseStep(mlir::func::FuncOp forward);
  bool dependsOn(mlir::Value value, mlir::StringAttr stream) const;
  static int64_t boundOf(const llvm::DenseMap<mlir::StringAttr, int64_t> &bounds, mlir::StringAttr symbol);

  std::optional<Refusal> refusal_; // the first
  llvm::SmallVector<mlir::StringAttr> symbols_;
  llvm::DenseMap<mlir::Value, mlir::StringAttr> valueStreams_;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::StringAttr, 2>> looksAt_; // other streams, through any ops before
  llvm::DenseMap<mlir::Operation *, mlir::StringAttr> opStreams_;
  llvm::SmallVector<KeptValue> kept_;
  llvm::DenseMap<mlir::OpOperand *, size_t> keptFor_;
  llvm::DenseMap<mlir::StringAttr, int64_t> maxima_, capacities_, ends_;
  llvm::StringMap<int> names_;
};

} // namespace burin
