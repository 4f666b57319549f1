// Several workers in one forward: who gets which rows, and that no result depends on it.
#include "split_plans.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace burin_test;

namespace {

burin_open_options with_threads(int threads) {
  burin_open_options options = {};
  options.threads = threads;
  return options;
}

burin_open_options with_workers(const burin_workers &workers) {
  burin_open_options options = {};
  options.workers = &workers;
  return options;
}

Model opened(burin_open_options options) {
  Opened got = open_with(split_plan, options);
  EXPECT_EQ(got.status, BURIN_OK) << got.message;
  return std::move(got.model);
}

// A caller's own workers: one thread that runs the tasks in some order.
struct OneAfterAnother {
  bool backwards = false, busy = false;
  int begins = 0, ends = 0, runs = 0, most_tasks = 0;

  burin_workers workers(int32_t count) { return {this, count, &run, &begin, &end}; }
  static void run(void *context, void (*task)(void *, int32_t), void *data, int32_t tasks) {
    auto *self = static_cast<OneAfterAnother *>(context);
    EXPECT_GT(self->begins, self->ends);
    ++self->runs;
    self->most_tasks = std::max(self->most_tasks, int(tasks));
    for (int32_t i = 0; i < tasks; ++i)
      task(data, self->backwards ? tasks - 1 - i : i);
  }
  static int begin(void *context) {
    auto *self = static_cast<OneAfterAnother *>(context);
    self->begins += !self->busy;
    return !self->busy;
  }
  static void end(void *context) { ++static_cast<OneAfterAnother *>(context)->ends; }
};

int threads_of_process() {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  for (dirent *entry; folder && (entry = readdir(folder));)
    count += entry->d_name[0] != '.';
  if (folder)
    closedir(folder);
  return count;
}

const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> batches = {
    {{64}, {64}},     {{13}, {40}},
    {{1}, {5}},       {{0}, {3}},
    {{7}, {0}},       {{5, 0, 64}, {9, 4, 2}},
    {{0, 0}, {0, 1}}, {{64, 63, 1, 64, 64, 17}, {1, 64, 0, 30, 64, 5}},
};

} // namespace

TEST(Threads, results_are_the_same_with_any_number) {
  for (int threads = 0; threads <= 7; ++threads) {
    Model model = opened(with_threads(threads));
    for (auto &[rows, others] : batches) {
      SplitBatch batch(rows, others);
      for (int repetition = 0; repetition < 20; ++repetition) {
        ASSERT_EQ(batch.run(model.get()), BURIN_OK) << threads << " threads";
        batch.expect_right_results();
        if (HasFailure())
          FAIL() << threads << " threads, repetition " << repetition << ", " << rows.size() << " sequences";
      }
    }
  }
}

TEST(Threads, a_row_wise_call_is_cut_at_whole_tiles) {
  OneAfterAnother pool;
  burin_workers workers = pool.workers(3);
  Model model = opened(with_workers(workers));
  SplitBatch batch({22}, {22}); // 6 tiles, the last of 2 rows
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  std::vector<Stretch> stretches = split_seen.of("twice");
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].rows, 8);
  EXPECT_EQ(stretches[1].rows, 8);
  EXPECT_EQ(stretches[2].rows, 6);
  EXPECT_EQ(static_cast<const float *>(stretches[1].place) - static_cast<const float *>(stretches[0].place), 8);
}

TEST(Threads, one_sequence_is_cut_at_tiles_of_queries_from_its_end) {
  OneAfterAnother pool;
  burin_workers workers = pool.workers(2);
  Model model = opened(with_workers(workers));
  SplitBatch batch({30}, {10}); // 8 tiles, of which a quarter of what is left is claimed
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  std::vector<int> firsts, counts;
  for (const Stretch &stretch : split_seen.of("look")) {
    firsts.push_back(stretch.first);
    counts.push_back(stretch.rows);
  }
  EXPECT_EQ(firsts, (std::vector<int>{24, 20, 16, 12, 8, 4, 0}));
  EXPECT_EQ(counts, (std::vector<int>{6, 4, 4, 4, 4, 4, 4}));
}

TEST(Threads, sequences_are_dealt_out_whole_where_they_are_short) {
  OneAfterAnother pool;
  burin_workers workers = pool.workers(2);
  Model model = opened(with_workers(workers));
  SplitBatch batch({3, 2, 4, 1}, {5, 5, 5, 5});
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  std::vector<int> rows;
  for (const Stretch &stretch : split_seen.of("look"))
    rows.push_back(stretch.rows);
  EXPECT_EQ(rows, (std::vector<int>{3, 2, 4, 1}));
  EXPECT_EQ(split_seen.of("add_up").size(), 4u);
}

// 64 rows of a million operations: what is worth a worker, and what is worth waking any, are numbers of the plan.
TEST(Threads, how_much_work_is_worth_a_worker_is_the_plans) {
  struct Case {
    int64_t worker_work, entry_work;
    size_t stretches; // of the row-wise call
    int begins;
  };
  const int64_t all = int64_t(64) * SPLIT_WORK;
  for (const Case &grain : {Case{all / 4, 0, 4, 1}, Case{all / 4 + 1, 0, 3, 1}, Case{all / 2, 0, 2, 1},
                            Case{all / 2 + 1, 0, 1, 1}, Case{1, int64_t(1) << 60, 1, 0}, Case{0, 0, 4, 1}}) {
    OneAfterAnother pool;
    burin_workers workers = pool.workers(4);
    burin_plan plan = split_plan;
    plan.worker_work = grain.worker_work;
    plan.entry_work = grain.entry_work;
    Opened got = open_with(plan, with_workers(workers));
    ASSERT_EQ(got.status, BURIN_OK) << got.message;
    SplitBatch batch({64}, {64});
    ASSERT_EQ(batch.run(got.model.get()), BURIN_OK);
    batch.expect_right_results();
    EXPECT_EQ(split_seen.of("twice").size(), grain.stretches) << grain.worker_work << ", " << grain.entry_work;
    EXPECT_EQ(pool.begins, grain.begins) << grain.worker_work << ", " << grain.entry_work;
  }
}

TEST(Threads, a_callers_workers_may_run_tasks_in_any_order) {
  for (bool backwards : {false, true})
    for (int32_t count = 1; count <= 9; ++count) {
      OneAfterAnother pool;
      pool.backwards = backwards;
      burin_workers workers = pool.workers(count);
      Model model = opened(with_workers(workers));
      for (auto &[rows, others] : batches) {
        SplitBatch batch(rows, others);
        ASSERT_EQ(batch.run(model.get()), BURIN_OK);
        batch.expect_right_results();
      }
      EXPECT_EQ(pool.begins, pool.ends);
      EXPECT_EQ(pool.runs > 0, count > 1) << count;
      EXPECT_EQ(pool.most_tasks, count > 1 ? count : 0);
    }
}

TEST(Threads, begin_and_end_may_be_left_out) {
  burin_workers workers = {};
  workers.count = 4;
  workers.run = [](void *, void (*task)(void *, int32_t), void *data, int32_t tasks) {
    std::vector<std::thread> threads;
    for (int32_t i = 0; i < tasks; ++i)
      threads.emplace_back(task, data, i);
    for (std::thread &thread : threads)
      thread.join();
  };
  Model model = opened(with_workers(workers));
  SplitBatch batch({64, 20}, {64, 8});
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  batch.expect_right_results();
}

TEST(Threads, who_finds_the_workers_busy_runs_alone) {
  OneAfterAnother pool;
  pool.busy = true;
  burin_workers workers = pool.workers(4);
  Model model = opened(with_workers(workers));
  SplitBatch batch({64}, {64});
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  batch.expect_right_results();
  EXPECT_EQ(pool.runs, 0);
  EXPECT_EQ(pool.ends, 0);
  EXPECT_EQ(split_seen.of("twice").size(), 1u);
  EXPECT_EQ(split_seen.of("look").size(), 1u);
  pool.busy = false; // and is let in again
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  EXPECT_EQ(pool.runs, 2);
}

// A forward from within a worker of the same model finds it in use.
TEST(Threads, a_second_caller_of_the_model_runs_alone) {
  struct Nested {
    Model model;
    SplitBatch *inner = nullptr;
    burin_status status = BURIN_KERNEL_FAILED;
  } nested;
  burin_workers workers = {};
  workers.context = &nested;
  workers.count = 2;
  workers.run = [](void *context, void (*task)(void *, int32_t), void *data, int32_t tasks) {
    auto *self = static_cast<Nested *>(context);
    ASSERT_NE(self->inner, nullptr) << "the workers were used twice at once";
    SplitBatch *inner = self->inner;
    self->inner = nullptr;
    self->status = inner->run(self->model.get());
    self->inner = inner;
    for (int32_t i = 0; i < tasks; ++i)
      task(data, i);
  };
  nested.model = opened(with_workers(workers));
  SplitBatch inner({64}, {64}), outer({64}, {64});
  nested.inner = &inner;
  ASSERT_EQ(outer.run(nested.model.get()), BURIN_OK);
  EXPECT_EQ(nested.status, BURIN_OK);
  inner.expect_right_results();
  outer.expect_right_results();
}

TEST(Threads, models_share_a_pool_and_callers_share_models) {
  burin_pool_options options = {};
  options.keep_awake_us = 50;
  burin_pool *pool = burin_pool_create(3, &options);
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(burin_pool_workers(pool)->count, 3);
  {
    Model models[2] = {opened(with_workers(*burin_pool_workers(pool))),
                       opened(with_workers(*burin_pool_workers(pool)))};
    std::atomic<int> failures{0};
    std::vector<std::unique_ptr<SplitBatch>> mine;
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
      mine.push_back(std::make_unique<SplitBatch>(std::vector<int64_t>{64, 9}, std::vector<int64_t>{64, 30}));
    for (int caller = 0; caller < 4; ++caller)
      callers.emplace_back([&, caller] {
        for (int repetition = 0; repetition < 200; ++repetition)
          failures += mine[size_t(caller)]->run_unseen(models[caller % 2].get()) != BURIN_OK;
      });
    for (std::thread &caller : callers)
      caller.join();
    EXPECT_EQ(failures, 0);
    for (auto &batch : mine)
      batch->expect_right_results();
  }
  burin_pool_destroy(pool);
}

TEST(Threads, little_work_stays_with_the_caller) {
  OneAfterAnother pool;
  burin_workers workers = pool.workers(4);
  Model model = opened(with_workers(workers));
  SplitBatch little({1}, {1}), more({4}, {4});
  ASSERT_EQ(little.run(model.get()), BURIN_OK);
  EXPECT_EQ(pool.begins, 0);
  ASSERT_EQ(more.run(model.get()), BURIN_OK);
  EXPECT_EQ(pool.begins, 1);
}

TEST(Threads, an_error_in_any_task_is_the_calls_error) {
  Model model = opened(with_threads(3));
  SplitBatch batch({64}, {64});
  for (const char *kernel : {"twice", "look", "add_up"}) {
    split_seen.fails = kernel;
    EXPECT_EQ(batch.run(model.get()), BURIN_KERNEL_FAILED) << kernel;
  }
  split_seen.fails.clear();
  EXPECT_EQ(batch.run(model.get()), BURIN_OK); // it does not last
  batch.expect_right_results();
}

TEST(Threads, scratch_does_not_depend_on_them) {
  size_t alone = SplitBatch({64}, {64}).scratch_bytes();
  Model model = opened(with_threads(7));
  EXPECT_EQ(SplitBatch({64}, {64}).scratch_bytes(), alone);
}

TEST(Threads, closing_ends_them) {
  int before = threads_of_process();
  for (int repetition = 0; repetition < 20; ++repetition) {
    Model model = opened(with_threads(4));
    EXPECT_EQ(threads_of_process(), before + 3);
    if (repetition % 2) {
      SplitBatch batch({64}, {64});
      ASSERT_EQ(batch.run(model.get()), BURIN_OK);
    }
  }
  EXPECT_EQ(threads_of_process(), before);
}

TEST(Threads, a_number_out_of_range_is_refused) {
  for (auto &[threads, message] : std::vector<std::pair<int, std::string>>{{-1, "threads is -1, expected 0 to 64"},
                                                                           {65, "threads is 65, expected 0 to 64"}}) {
    Opened got = open_with(split_plan, with_threads(threads));
    EXPECT_EQ(got.status, BURIN_NO_WORKERS);
    EXPECT_EQ(got.message, message);
    EXPECT_EQ(got.model, nullptr);
  }
  for (int threads : {-1, 0, 1, 65})
    EXPECT_EQ(burin_pool_create(threads, nullptr), nullptr) << threads;
}

TEST(Threads, workers_that_lack_something_are_refused) {
  OneAfterAnother pool;
  const burin_workers good = pool.workers(2);
  auto refused = [&](burin_workers workers, int threads, const std::string &message) {
    burin_open_options options = with_workers(workers);
    options.threads = threads;
    Opened got = open_with(split_plan, options);
    EXPECT_EQ(got.status, BURIN_NO_WORKERS);
    EXPECT_EQ(got.message, message);
  };
  burin_workers workers = good;
  workers.count = 0;
  refused(workers, 0, "the workers' count is 0, expected 1 to 64");
  workers.count = 65;
  refused(workers, 0, "the workers' count is 65, expected 1 to 64");
  workers = good;
  workers.run = nullptr;
  refused(workers, 0, "the workers have no function run");
  workers = good;
  workers.end = nullptr;
  refused(workers, 0, "the workers have one of the functions begin and end, expected both or neither");
  refused(good, 2, "both threads and workers are given, expected one of them");
}

// ---- Forks, signals, idle threads, and many callers

// A child has the caller's thread alone (pytorch#17199). It finishes without the others, which can neither be woken nor
// joined.
TEST(Threads, a_child_of_a_fork_runs_without_them) {
  Model model = opened(with_threads(4));
  SplitBatch batch({64, 9}, {64, 30});
  for (int repetition = 0; repetition < 20; ++repetition) {
    ASSERT_EQ(batch.run(model.get()), BURIN_OK);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20); // where it hangs
      SplitBatch own({64, 9}, {64, 30});
      bool good = own.run_unseen(model.get()) == BURIN_OK && own.run_unseen(model.get()) == BURIN_OK;
      own.expect_right_results();
      model.reset();
      _exit(good && !testing::Test::HasFailure() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    ASSERT_EQ(WEXITSTATUS(status), 0);
    ASSERT_EQ(batch.run(model.get()), BURIN_OK);
    batch.expect_right_results();
  }
}

// A thread that waits is interrupted by signals, and waits on.
TEST(Threads, signals_disturb_no_call) {
  struct sigaction action = {}, old;
  action.sa_handler = [](int) {};
  sigaction(SIGUSR1, &action, &old);
  {
    Model model = opened(with_threads(3));
    SplitBatch batch({64, 9}, {64, 30});
    std::atomic<bool> ended{false};
    std::thread sender([&, pid = getpid()] {
      while (!ended) {
        kill(pid, SIGUSR1); // to whichever thread the system chooses
        DIR *folder = opendir("/proc/self/task");
        for (dirent *entry; folder && (entry = readdir(folder));)
          if (int thread = std::atoi(entry->d_name))
            syscall(SYS_tgkill, pid, thread, SIGUSR1);
        if (folder)
          closedir(folder);
      }
    });
    for (int repetition = 0; repetition < 200; ++repetition)
      EXPECT_EQ(batch.run(model.get()), BURIN_OK);
    batch.expect_right_results();
    model.reset(); // joins them while signals come
    ended = true;
    sender.join();
  }
  sigaction(SIGUSR1, &old, nullptr);
}

// A pool never spins while idle unless asked (onnxruntime#6725).
TEST(Threads, sleep_between_calls) {
  Model model = opened(with_threads(4));
  SplitBatch batch({64, 9}, {64, 30});
  ASSERT_EQ(batch.run(model.get()), BURIN_OK);
  auto seconds = [] {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
  };
  usleep(20000); // time to fall asleep
  double before = seconds();
  usleep(300000);
  EXPECT_LT(seconds() - before, 0.1) << "seconds of processor time in 0.3 s of waiting";
}

// Eight threads, two models, 200 runs each; every thread with scratch and a state of its own (openvino#24509).
TEST(Threads, eight_callers_of_two_models_get_what_one_gets) {
  Model models[2] = {opened(with_threads(2)), opened({})};
  std::atomic<int> failures{0};
  std::vector<std::unique_ptr<SplitBatch>> mine;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 8; ++caller)
    mine.push_back(std::make_unique<SplitBatch>(std::vector<int64_t>{64, 9, caller}, std::vector<int64_t>{64, 30, 7}));
  for (int caller = 0; caller < 8; ++caller)
    callers.emplace_back([&, caller] {
      for (int run = 0; run < 200; ++run)
        failures += mine[size_t(caller)]->run_unseen(models[(caller + run) % 2].get()) != BURIN_OK;
    });
  for (std::thread &caller : callers)
    caller.join();
  EXPECT_EQ(failures, 0);
  for (auto &batch : mine)
    batch->expect_right_results();
}

// A pool that is made and ended over and over, with and without a call in between.
TEST(Threads, pools_start_and_stop) {
  for (int repetition = 0; repetition < 200; ++repetition) {
    Model model = opened(with_threads(2 + repetition % 7));
    if (repetition % 3) {
      SplitBatch batch({64}, {64});
      ASSERT_EQ(batch.run(model.get()), BURIN_OK);
    }
  }
}
