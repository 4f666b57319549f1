// What each word of a recipe declares, and the facts that follow for the laws.
#include "declaration.h"
#include "graph_builder.h"
#include <stdexcept>

namespace burin::laws {

namespace {

[[noreturn]] void refuse(const RecipeOp &op, const std::string &reason) {
  throw std::runtime_error(op.name + ": " + reason);
}

int64_t further(int64_t one, int64_t other) {
  return one == unbounded || other == unbounded ? unbounded : std::max(one, other);
}

/// Declares a recipe, op by op, and gathers its facts.
class Declaration {
public:
  explicit Declaration(const Recipe &recipe) {
    facts.streams = facts.rowWise = facts.unordered = true;
    for (const RecipeOp &op : recipe)
      declare(op);
  }

  Builder builder;
  LawGraph facts;

  llvm::ArrayRef<Known> values() const { return values_; }

  /// Makes outputs of what no op takes; the facts are those of a graph that is complete.
  void finish() {
    bool hasOutput = false, hasRowsOf[2] = {};
    int stream = noAxis;
    facts.reach = 1;
    for (const Known &value : values_) {
      if (value.isInput)
        hasRowsOf[value.axis] = true;
      if (value.isUsed || value.form == Form::latents || value.form == Form::ids)
        continue; // trained rows alone are no result
      builder.output(value.isInput ? relu(value.tensor) : value.tensor);
      hasOutput = true;
      facts.streams &= stream == noAxis || stream == value.axis;
      stream = value.axis;
      facts.reach = further(facts.reach, value.reach);
    }
    for (const GraphError &error : builder.graph.errors())
      throw std::runtime_error(error.message);
    if (!hasOutput || builder.outputs > 16 || builder.inputs > 16)
      throw std::runtime_error("there are no outputs, or too many of them or of inputs");
    if (!hasRowsOf[timeAxis])
      throw std::runtime_error("there are no rows along the axis 0");
    const bool isOne = !hasRowsOf[contextAxis];
    facts.rowWise &= isOne;
    facts.unordered &= isOne;
    facts.contexts = facts.streams && !isOne && !keepsContext_;
    facts.latents &= facts.streams;
    if (!isOne || !facts.streams || !hasWindow_ || endsByTable_ || facts.reach == unbounded)
      facts.reach = 0;
  }

private:
  using Arguments = llvm::ArrayRef<int64_t>;

  struct Word {
    const char *name;
    size_t arguments;
    Known (Declaration::*declare)(const RecipeOp &op);
  };
  static llvm::ArrayRef<Word> words();

  void declare(const RecipeOp &op) {
    for (const Word &word : words())
      if (op.name == word.name) {
        if (op.arguments.size() != word.arguments)
          refuse(op, "it has " + std::to_string(op.arguments.size()) + " arguments, expected " +
                         std::to_string(word.arguments));
        Known value = (this->*word.declare)(op);
        value.features = value.form == Form::ids ? 1 : value.tensor.features();
        for (const GraphError &error : builder.graph.errors())
          if (error.message.find("has no output") == std::string::npos)
            refuse(op, error.message);
        values_.push_back(value);
        return;
      }
    refuse(op, "there is no such word");
  }

  // ---- What words take

  Known &use(const RecipeOp &op, size_t argument) {
    int64_t index = op.arguments[argument];
    if (index < 0 || index >= int64_t(values_.size()))
      refuse(op, "there is no value " + std::to_string(index));
    values_[index].isUsed = true;
    return values_[index];
  }
  /// Rows of a sequence, or a row per sequence.
  Known &rows(const RecipeOp &op, size_t argument) {
    Known &value = use(op, argument);
    if (value.form != Form::rows && value.form != Form::perSequence)
      refuse(op, "it takes rows");
    return value;
  }
  /// Rows along time.
  Known &sequence(const RecipeOp &op, size_t argument) {
    Known &value = use(op, argument);
    if (value.form != Form::rows)
      refuse(op, "it takes rows along time");
    return value;
  }
  int64_t positive(const RecipeOp &op, size_t argument) {
    if (op.arguments[argument] < 1)
      refuse(op, "argument " + std::to_string(argument) + " is below 1");
    return op.arguments[argument];
  }
  TimeAxis axis(const RecipeOp &op, size_t argument) {
    int64_t number = op.arguments[argument];
    if (number != timeAxis && number != contextAxis)
      refuse(op, "there is no axis " + std::to_string(number));
    if (number == contextAxis && !context_)
      context_ = builder.context();
    return number == timeAxis ? builder.time : context_;
  }
  /// A value made of `from` row by row.
  static Known like(const Known &from, Tensor tensor) {
    Known value = from;
    value.isInput = value.isUsed = false;
    value.tensor = tensor;
    return value;
  }
  /// A value whose rows come from both.
  Known join(const Known &one, const Known &other, Tensor tensor) {
    Known value = like(one, tensor);
    value.reach = further(one.reach, other.reach);
    value.seesContext |= other.seesContext;
    if (one.axis != other.axis) // rows per sequence of two axes may be added, but no stream goes on with both
      facts.streams = false;
    return value;
  }
  void notRowWise() { facts.rowWise = false; }
  void ordered() { facts.unordered = false; }
  /// What a stream keeps of this value must not depend on another: a law compares with forward on what came later.
  void keep(const Known &value) { keepsContext_ |= value.seesContext; }

  // ---- The words

  Known inputRows(const RecipeOp &op) {
    TimeAxis along = axis(op, 0);
    return {.axis = int(op.arguments[0]), .isInput = true, .tensor = builder.input(along, positive(op, 1))};
  }
  Known inputIds(const RecipeOp &op) {
    TimeAxis along = axis(op, 0);
    return {.form = Form::ids,
            .axis = int(op.arguments[0]),
            .isInput = true,
            .tensor = builder.graph.ids(builder.unique("ids"), along)};
  }
  Known lookUp(const RecipeOp &op) { // ids, vocabulary, features
    Known &ids = use(op, 0);
    if (ids.form != Form::ids)
      refuse(op, "it takes ids");
    Known value = like(ids, embedding(ids.tensor, builder.weight(positive(op, 1), positive(op, 2))));
    value.form = Form::rows;
    return value;
  }
  Known project(const RecipeOp &op) { // x, outputs, bias, out_in
    Known &x = rows(op, 0);
    Layout layout = op.arguments[3] ? Layout::out_in : Layout::in_out;
    return like(x, builder.project(x.tensor, positive(op, 1), op.arguments[2], layout));
  }
  Known sum(const RecipeOp &op) { // a, b
    Known &a = rows(op, 0), &b = rows(op, 1);
    return join(a, b, add(a.tensor, b.tensor));
  }
  Known sumWithRow(const RecipeOp &op) { // x, rows, row
    Known &x = rows(op, 0);
    return like(x, add_row(x.tensor, builder.weight(positive(op, 1), x.features), op.arguments[2]));
  }
  template <Tensor (*function)(Tensor, Where)> Known elementwise(const RecipeOp &op) { // x
    Known &x = rows(op, 0);
    return like(x, function(x.tensor, Where::current()));
  }
  Known dropped(const RecipeOp &op) { // x; what folds away is never an output of its own
    Known &x = rows(op, 0);
    return like(x, relu(dropout(x.tensor, 0.5)));
  }
  Known columns(const RecipeOp &op) { // x, first, size; likewise
    Known &x = rows(op, 0);
    return like(x, gelu(slice(x.tensor, op.arguments[1], positive(op, 2))));
  }
  Known
  norm(const RecipeOp &op) { // x; of two features it is nearly the sign of their difference, which rounding may turn
    Known &x = rows(op, 0);
    if (x.features == 2)
      refuse(op, "it takes another number of features than 2");
    return like(x, builder.norm(x.tensor));
  }
  Known normalize(const RecipeOp &op) { // x; of one feature it is the sign, which rounding may turn
    Known &x = rows(op, 0);
    if (x.features < 3)
      refuse(op, "it takes 3 features or more");
    return like(x, l2_normalize(x.tensor));
  }
  Known sinusoidal(const RecipeOp &op) { // x
    Known &x = sequence(op, 0);
    notRowWise();
    ordered();
    return like(x, add(x.tensor, sinusoidal_positions(x.tensor.time(), x.features)));
  }
  Known learned(const RecipeOp &op) { // x, rows of the table beyond the longest
    Known &x = sequence(op, 0);
    notRowWise();
    ordered();
    endsByTable_ = true;
    if (op.arguments[1] < 0)
      refuse(op, "the table is too short");
    return like(
        x, add(x.tensor, learned_positions(x.tensor.time(), builder.weight(longest + op.arguments[1], x.features))));
  }
  template <Tensor (*function)(Tensor, Where), bool isFirst> Known pool(const RecipeOp &op) { // x
    Known &x = sequence(op, 0);
    notRowWise();
    if (isFirst)
      ordered();
    keep(x);
    Known value = like(x, function(x.tensor, Where::current()));
    value.form = Form::perSequence;
    value.reach = unbounded;
    return value;
  }
  Known trained(const RecipeOp &op) { // rows, features
    Tensor table = builder.weight(positive(op, 0), positive(op, 1));
    return {.form = Form::latents, .axis = noAxis, .tensor = latents(table)};
  }
  Known attend(const RecipeOp &op) { // q, k, v, heads, causal, window or 0, mask
    Known &q = use(op, 0), &k = use(op, 1), &v = use(op, 2);
    for (const Known *value : {&q, &k, &v})
      if (value->form != Form::rows && value->form != Form::latents)
        refuse(op, "it takes rows along time, or latents");
    bool causal = op.arguments[4], masked = op.arguments[6];
    AttentionOptions options{.heads = op.arguments[3], .causal = causal};
    if (op.arguments[5])
      options.window = op.arguments[5];
    if (q.form == Form::latents && (k.form == Form::latents || causal || options.window || masked))
      refuse(op, "latents ask a sequence for all of it");
    if (k.form == Form::latents && (causal || options.window || masked))
      refuse(op, "of latents every query sees all");
    if (masked)
      options.mask = builder.graph.mask(builder.unique("mask"), {q.tensor.time(), k.tensor.time()});
    Known value = like(q, attention(q.tensor, k.tensor, v.tensor, options));
    if (k.form == Form::latents)
      return value; // every query by itself
    notRowWise();
    if (causal || options.window || masked)
      ordered();
    if (q.form == Form::latents) {
      facts.latents = true;
      value.form = Form::perSequence;
      value.axis = k.axis;
      value.reach = unbounded;
      value.seesContext = k.seesContext || v.seesContext;
      keep(k);
      keep(v);
      return value;
    }
    bool isOneStream = q.axis == k.axis;
    if (masked || (isOneStream ? !causal : causal || options.window))
      facts.streams = false;
    if (!isOneStream) {
      facts.streams &= !k.seesContext && !v.seesContext; // they look at one another
      value.seesContext = true;
      value.reach = unbounded;
      return value;
    }
    int64_t past = further(k.reach, v.reach);
    past = options.window && past != unbounded ? past + *options.window - 1 : unbounded;
    value.reach = further(q.reach, past);
    hasWindow_ |= bool(options.window);
    value.seesContext = q.seesContext || k.seesContext || v.seesContext;
    keep(k);
    keep(v);
    return value;
  }
  Known gated(const RecipeOp &op) { // x, hidden: signals are inputs, so that rounding opens no gate
    Known &x = sequence(op, 0);
    int64_t hidden = positive(op, 1);
    Tensor signal = builder.input(x.tensor.time(), 1);
    return like(x, gate(x.tensor, signal, 0.1,
                        [&] { return builder.project(relu(builder.project(x.tensor, hidden)), x.features); }));
  }
  Known gatedAttend(const RecipeOp &op) { // x, k, heads: x sees k behind a gate
    Known &x = sequence(op, 0), &k = sequence(op, 1);
    int64_t heads = positive(op, 2);
    bool isOneStream = x.axis == k.axis;
    Tensor signal = builder.input(x.tensor.time(), 1);
    Known value = like(x, gate(x.tensor, signal, 0.1, [&] {
                         Tensor keys = builder.project(k.tensor, x.features, false);
                         return builder.project(
                             attention(x.tensor, keys, keys, {.heads = heads, .causal = isOneStream}), x.features);
                       }));
    notRowWise();
    value.reach = unbounded;
    if (isOneStream) {
      ordered();
      keep(k);
    } else {
      facts.streams &= !k.seesContext;
      value.seesContext = true;
    }
    return value;
  }

  TimeAxis context_;
  std::vector<Known> values_;
  bool keepsContext_ = false, hasWindow_ = false, endsByTable_ = false;
};

llvm::ArrayRef<Declaration::Word> Declaration::words() {
  static const Word all[] = {
      {"rows", 2, &Declaration::inputRows},
      {"ids", 1, &Declaration::inputIds},
      {"embedding", 3, &Declaration::lookUp},
      {"dense", 4, &Declaration::project},
      {"add", 2, &Declaration::sum},
      {"add_row", 3, &Declaration::sumWithRow},
      {"relu", 1, &Declaration::elementwise<relu>},
      {"gelu", 1, &Declaration::elementwise<gelu>},
      {"gelu_tanh", 1, &Declaration::elementwise<gelu_tanh>},
      {"dropout", 1, &Declaration::dropped},
      {"slice", 3, &Declaration::columns},
      {"layer_norm", 1, &Declaration::norm},
      {"l2_normalize", 1, &Declaration::normalize},
      {"sinusoidal_positions", 1, &Declaration::sinusoidal},
      {"learned_positions", 2, &Declaration::learned},
      {"mean_over_time", 1, &Declaration::pool<mean_over_time, false>},
      {"first_step", 1, &Declaration::pool<first_step, true>},
      {"latents", 2, &Declaration::trained},
      {"attention", 7, &Declaration::attend},
      {"gate", 2, &Declaration::gated},
      {"gated_attention", 3, &Declaration::gatedAttend},
  };
  return all;
}

} // namespace

std::vector<Known> valuesOf(const Recipe &recipe) { return Declaration(recipe).values().vec(); }

LawGraph graphOf(const Recipe &recipe, std::string name) {
  Declaration declaration(recipe);
  declaration.finish();
  LawGraph graph = declaration.facts;
  graph.name = std::move(name);
  graph.build = [recipe] {
    Declaration again(recipe);
    again.finish();
    return again.builder.take();
  };
  return graph;
}

} // namespace burin::laws
