#include "emit/target_list.h"
#include "schedules/target_features.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace burin {

namespace {

std::string listed(ArrayRef<std::string> items) {
  std::string text;
  for (auto [index, item] : enumerate(items))
    text += (index == 0 ? "" : index + 1 == items.size() ? " and " : ", ") + item;
  return text;
}

/// The names at the least distance from what was given, where that is near enough to be what was meant.
std::vector<std::string> nearestTo(StringRef given) {
  std::vector<std::string> nearest;
  unsigned least = std::max<unsigned>(2, given.size() / 3);
  auto consider = [&](StringRef name) {
    unsigned distance = given.edit_distance(name);
    if (distance < least)
      nearest.clear();
    if (distance <= least)
      nearest.push_back(name.str());
    least = std::min(least, distance);
  };
  consider("host");
  for (const TargetFamily &family : allTargetFamilies())
    consider(family.name);
  for (const Target &target : allTargets())
    consider(target.name);
  for (const TargetOption &option : allTargetOptions())
    for (StringRef value : option.values)
      consider(nameWithOption(option, value));
  for (const TargetFeature &feature : allTargetFeatures())
    consider(nameWithFeature(feature));
  if (!nearest.empty())
    return nearest;
  // A target with an option or a feature that it has not: those that it has.
  for (const TargetOption &option : allTargetOptions())
    if (given.starts_with((option.target + "-").str()))
      for (StringRef value : option.values)
        nearest.push_back(nameWithOption(option, value));
  for (const TargetFeature &feature : allTargetFeatures())
    if (given.starts_with((feature.target + "-").str()))
      nearest.push_back(nameWithFeature(feature));
  return nearest;
}

Error unknown(StringRef name) {
  if (name == "host")
    return createStringError("this machine runs none of the targets, so that there is no 'host'; `burin targets` lists "
                             "them");
  std::vector<std::string> nearest = nearestTo(name);
  return createStringError("target '" + name + "' is not known" +
                           (nearest.empty() ? "" : "; near it " + std::string(nearest.size() == 1 ? "is " : "are ")) +
                           listed(nearest) + "; `burin targets` lists all");
}

const TargetFamily *findFamily(StringRef name) {
  auto families = allTargetFamilies();
  auto found = find_if(families, [&](const TargetFamily &family) { return name == family.name; });
  return found == families.end() ? nullptr : &*found;
}

} // namespace

std::string listed(ArrayRef<const Target *> targets) {
  std::vector<std::string> names;
  for (const Target *target : targets)
    names.push_back(target->name.str());
  return listed(names);
}

Error checkOneObject(ArrayRef<const Target *> targets) {
  for (const Target *target : targets) {
    Triple one(targets[0]->triple), other(target->triple);
    if (one.getArch() != other.getArch() || one.getOS() != other.getOS())
      return createStringError("targets " + targets[0]->name + " and " + target->name +
                               " cannot be in one object: it is for " + targets[0]->triple + " or for " +
                               target->triple + "; compile once for each");
  }
  for (const Target *target : targets)
    for (const Target *other : targets)
      if (target->row && (target->row == other || (target < other && target->row == other->row)) &&
          target->cpuBits.data() == other->cpuBits.data()) // the row's own: opening could not choose
        return createStringError("targets " + other->name + " and " + target->name +
                                 " cannot be in one object: they are one target with two values of an option; compile "
                                 "once for each");
  return Error::success();
}

Expected<std::vector<const Target *>> targetsNamed(StringRef list, Precision precision) {
  SmallVector<StringRef> names;
  list.split(names, ',');
  std::vector<const Target *> targets;
  for (StringRef name : names) {
    name = name.trim();
    if (const TargetFamily *family = findFamily(name))
      append_range(targets, family->targets);
    else if (const Target *target = findTarget(name, precision))
      targets.push_back(target);
    else
      return unknown(name);
  }
  stable_sort(targets, [](const Target *a, const Target *b) { return a->preference > b->preference; });
  std::vector<const Target *> once;
  for (const Target *target : targets)
    if (!is_contained(once, target))
      once.push_back(target);
  if (Error error = checkOneObject(once))
    return error;
  return once;
}

Expected<const Target *> targetNamed(StringRef name, Precision precision) {
  Expected<std::vector<const Target *>> targets = targetsNamed(name, precision);
  if (!targets)
    return targets.takeError();
  if (targets->size() != 1)
    return createStringError("'" + name + "' are several targets, expected one of " + listed(*targets));
  return targets->front();
}

} // namespace burin
