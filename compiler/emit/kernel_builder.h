// Turns a kernel function (ops of the encoder dialect) into Halide Funcs, by calling the ops' rooms, and records which
// Func plays which part, for the target's schedules.
//
// The rooms see this class and write algorithms; the schedules see the records (schedules/schedule.h) and never the
// ops. Rejected: lowering to MLIR's linalg and vector dialects. The schedules that reach the machine's peak are a page
// of Halide each (measured before this was written), and one page per target is what a target may cost.
#pragma once

#include "dialect/encoder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "schedules/packed_panels.h"
#include "schedules/schedule.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>

namespace burin {

class KernelBuilder {
public:
  /// `parameters` of the schedules that are not derived.
  KernelBuilder(mlir::func::FuncOp kernel, const Target &target, const ScheduleParameters &parameters = {},
                int64_t mostRows = 0);

  // ---- For the rooms: the op at hand -------------------------------------------------------------------------------

  /// Operand i as a Func: (feature, row) of rows, of a parameter's table (column, row), of ids (0, row), of a mask
  /// (key, query),
  /// (feature) of a parameter vector, (feature) of an accumulator's storage in double.
  Halide::Func operand(unsigned i);
  bool hasOperand(unsigned i) const;
  /// A packed weight in float32, whatever it is packed as: (lane, k, panel), column panel · width + lane. Columns
  /// beyond the last are zero.
  Halide::Func panels(unsigned i);
  /// One packed as terms of an instruction, of int8 or the bits of bfloat16: (term, lane, k / terms, panel). Of int8
  /// also: the scale of a group of a column; where the target's rows have no sign, what the sum of a group begins with;
  /// and the sum of a column's weights.
  Halide::Func termPanels(unsigned i);
  Halide::Expr groupScale(unsigned i, Halide::Expr group, Halide::Expr column);
  Halide::Expr groupCorrection(unsigned i, Halide::Expr group, Halide::Expr column);
  Halide::Expr columnSum(unsigned i, Halide::Expr column);
  PackedPanels packedPanels(unsigned i) const;
  const IntegerDot &integerDot() const { return target_.integerDot; }
  int64_t panelWidth(unsigned i) const;
  int64_t features(unsigned i) const;
  /// Number of rows of operand i; 1 exactly when it has one row.
  Halide::Expr rows(unsigned i);
  /// Row of operand i, kept below its number of rows: what a tile of rows reads beyond the last is some other row.
  Halide::Expr rowWithin(unsigned i, Halide::Expr row);
  bool hasOneRow(unsigned i) const;
  /// int64 position, in its sequence or stream, of a row of positions operand i.
  Halide::Expr position(unsigned i, Halide::Expr row);
  /// int64 number of rows that a stream has taken: operand i. It is at most `most`, where that is given.
  Halide::Expr count(unsigned i, int64_t most = 0);
  /// Element (feature, row) of the storage of a cache, in the cache's own layout.
  Halide::Expr cached(unsigned i, Halide::Expr feature, Halide::Expr row);
  /// Rows that the storage of a cache has room for.
  int64_t cacheRows(unsigned i) const;
  /// How many of the rows before `count` a reader of cache i is given: all of them, or, of a ring, those from the last
  /// tile on that begins at or before the next row's window. int32.
  Halide::Expr pastRows(unsigned i, unsigned count);
  /// Row `row` of those, and beyond them anything.
  Halide::Expr cachedPast(unsigned i, unsigned count, Halide::Expr feature, Halide::Expr row);
  /// True where rows of operand i lie with their features across lanes already (a cache of keys).
  bool keysInLanes(unsigned i) const;
  /// Most rows that operand i may have in one sequence; exactly so many where their number is fixed.
  int64_t mostRows(unsigned i) const;
  int rowLanes() const;
  int keyTile() const;
  int queryTile(unsigned i) const;

  /// A value of rows that is read more than once; returns what to read.
  Halide::Func keep(Halide::Func value, int64_t features);
  /// Σ over the features of x(feature, row), a Func of row, in the target's numeric form.
  Halide::Func rowSum(Halide::Func x, int64_t features, const std::string &name);
  /// The pieces of adding up (or taking the largest of) the lanes of x(lane, …): a fixed binary tree.
  Halide::Func combineLanes(Halide::Func x, int lanes, bool largest, std::vector<Halide::Func> &halves,
                            const std::string &name);
  void rowValue(Halide::Func value);
  /// Products of a contract that are summed apart, in the target's numeric form; 0: all are summed in one.
  int64_t depthTile() const { return target_.depthTile; }
  void contract(ContractStage stage);
  void attend(AttendStage stage);
  void pool(PoolStage stage);
  /// Writes fresh(feature, row), of so many rows, to the places of row `count` and those behind it of the cache that is
  /// operand i.
  void writeCache(unsigned i, Halide::Func fresh, Halide::Expr rows, unsigned count);
  /// Writes value(feature), or value(feature, rows − 1), to the accumulator that is operand i. Returns what later
  /// readers must read: the storage is overwritten in place.
  Halide::Func writeAccumulator(unsigned i, Halide::Func value, Halide::Expr rows = {});

  /// The op's result: (feature, row).
  void define(Halide::Func y);
  /// The same, of a result with a number of rows of its own.
  void define(Halide::Func y, Halide::Expr rows);
  /// The same, of rows that lie as the cache of the op's operands lies.
  void defineCached(Halide::Func y, Halide::Expr rows);

  // ---- For the worker ----------------------------------------------------------------------------------------------

  /// Builds all ops of the kernel and applies the target's schedules. Returns an error's text, empty when all is well.
  std::string build();
  Halide::Pipeline pipeline() const;
  /// In ABI order, without the user context.
  const std::vector<Halide::Argument> &arguments() const { return arguments_; }
  /// What the schedules made of the parameters that they have.
  const ScheduleParameters &usedParameters() const { return choice_->used; }
  /// Largest value of every symbol that a loop or an allocation may depend on, by its name in lowered code.
  const std::map<std::string, int64_t> &maxima() const { return maxima_; }

private:
  /// What a value of the IR is in the kernel.
  struct Binding {
    enum class Kind { Rows, Weight, Positions, Scalar, Ids, Mask, Cache, Accumulator } kind;
    Halide::Func func;        // Rows: (feature, row)
    Halide::ImageParam image; // of the argument
    Halide::Param<int64_t> scalar;
    Halide::Expr rows;
    int64_t offset = 0;                       // Weight: floats in the blob
    int64_t panel = 0;                        // Weight: packed with this width
    Precision precision = Precision::Float32; // Weight: packed as this
    bool stored = false;                      // Rows: in memory already
    bool keysInLanes = false;                 // Rows: read from a cache whose rows lie across lanes
    Halide::Func accumulator;                 // Accumulator: what holds its new value
  };

  void bind(mlir::Value value, Binding binding);
  void bindArguments();
  void bindArgument(mlir::BlockArgument argument, mlir::DictionaryAttr attributes);
  void buildFunction(mlir::func::FuncOp function);
  void finishGroup(mlir::func::FuncOp function, mlir::Value result, bool intermediate);
  void addOutputs();
  const Binding &binding(unsigned i) const;
  Halide::Expr rowsOfType(mlir::Type type) const;
  Halide::Expr besidePanels(unsigned i, int64_t offset, Halide::Expr group, Halide::Expr column);
  CacheAttr cacheOf(unsigned i) const;
  void allowAtMost(const Halide::ImageParam &image, int dimension, int64_t most);

  mlir::func::FuncOp kernel_;
  const Target &target_;
  std::shared_ptr<ParameterChoice> choice_;
  mlir::Operation *op_ = nullptr; // the op whose room is at work
  llvm::DenseMap<mlir::Value, Binding> values_;
  std::map<Precision, Halide::ImageParam> blobs_; // the bytes of all weights, as each type that the kernel reads
  KernelGroup group_;
  std::vector<KernelGroup> groups_;
  std::vector<StateWrite> roots_;  // accumulators' new values: stored before anything is written
  std::vector<StateWrite> writes_; // in order of append and accumulate in the body
  std::vector<Halide::Func> outputs_;
  Halide::Param<int> firstTile_{"first_tile"}; // of queries, where the kernel takes it
  llvm::StringMap<Halide::Expr> symbolRows_;   // by symbol: number of rows
  std::vector<Halide::Argument> arguments_;
  std::map<std::string, int64_t> maxima_;
};

} // namespace burin
