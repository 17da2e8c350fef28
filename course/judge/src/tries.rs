//! Trials of edited kernels: a quick look at each, which turns down most of those that are no remedy.

use catalog::{Shape, parallel};
use reference::inputs::Accumulator;
use simt::{check::Severity, gpu::Value, launch::CheckLevel};
use tasks::{Task, edits::Tries, verdict::Status};

use crate::emulated_module::EmulatedModule;
use crate::trial::{Trial, trials};
use crate::{Judgement, Request, TrialOutcome};

const MAX_THREADS: usize = 4;

/// Returns the edited kernels that do on one launch what the kernel of the request fails to do there, by their indices.
/// There is no such launch where that kernel, as it was compiled for the trials, does everything. With `only_right`, it
/// is the smallest launch.
pub fn promising(request: &Request<'_>, tries: &Tries) -> Vec<usize> {
    if request.task.work.is_double() { Screen::<f64>::run(request, tries) } else { Screen::<f32>::run(request, tries) }
}

/// The launch that decides whether an edit is worth a full check.
struct Screen<'a, T: Accumulator> {
    request: &'a Request<'a>,
    trial: Trial<T>,
    check_level: CheckLevel,
    /// The id of the criterion that the kernel fails, where that is all.
    criterion: Option<&'a str>,
}

impl<T: Accumulator + Value + Sync> Screen<'_, T> {
    fn run(request: &Request<'_>, tries: &Tries) -> Vec<usize> {
        let task = request.task;
        let request = &Request { threads: 1, ..request.clone() };
        let is_criterion = |id: &str| id == tries.code && !tries.only_right;
        let criterion = task.criteria.iter().find(|criterion| is_criterion(&criterion.id));
        let screens: Vec<Screen<'_, T>> = match criterion {
            Some(criterion) => {
                let trial = trials(task.work, criterion.shape(), request.seed, 1).next_back();
                let screen = |trial| Screen {
                    request,
                    trial,
                    check_level: CheckLevel::Count,
                    criterion: Some(criterion.id.as_str()),
                };
                trial.map(screen).into_iter().collect()
            }
            None => {
                let of_shape = |shape| trials(task.work, shape, request.seed, 1);
                let check_level = CheckLevel::CheckedWithGlobalRaces;
                let screen = |trial| Screen { request, trial, check_level, criterion: None };
                small_shapes(task).into_iter().chain([tries.shape]).flat_map(of_shape).map(screen).collect()
            }
        };
        let mut decide = screens.iter().filter(|screen| tries.only_right || !screen.passes(request.ptx));
        let Some(screen) = decide.next() else { return Vec::new() };
        let passed = parallel::run(&tries.kernels, MAX_THREADS, |ptx| screen.passes(ptx), |_| true);
        (0..).zip(passed).filter_map(|(at, passed)| passed.then_some(at)).collect()
    }

    fn passes(&self, ptx: &str) -> bool {
        let request = Request { ptx, ..self.request.clone() };
        let Ok(mut module) = EmulatedModule::new(&request) else { return false };
        // Built for debugging, a kernel takes several times as many instructions.
        module.patience = 4;
        let setup = module.launch_setup(self.trial.shape);
        if let Some(id) = self.criterion {
            // What is wrong takes longer to diagnose.
            if !module.run(&self.trial, CheckLevel::Off, &setup).is_ok_and(|(_, got)| self.trial.is_right(&got)) {
                return false;
            }
            let mut judgement = Judgement::<T>::new(&request, &module);
            let TrialOutcome::Right(report) = judgement.launch(&self.trial, self.check_level, &setup) else {
                return false;
            };
            let of_id = request.task.criteria.iter().find(|criterion| criterion.id == id);
            return of_id
                .is_some_and(|of_id| judgement.criterion(of_id, &self.trial, &report).status == Status::Passed);
        }
        // Most are wrong, which shows without checks, too.
        [CheckLevel::Off, self.check_level].into_iter().all(|check_level| {
            let launched = module.run(&self.trial, check_level, &setup);
            launched.is_ok_and(|(report, got)| {
                self.trial.is_right(&got) && {
                    let report = report();
                    let is_clean = report.findings.iter().all(|finding| finding.severity != Severity::Error);
                    is_clean && report.undefined_outputs.is_empty()
                }
            })
        })
    }
}

/// Shapes that take little time: one block, two below each other, two beside each other, with more than one round.
fn small_shapes(task: &Task) -> [Shape; 3] {
    let [rows, cols] = task.tile.map(|n| n as usize);
    let k = match rows.min(cols) {
        _ if task.work.is_transpose() => 0,
        64.. => task.criteria.iter().filter_map(|criterion| criterion.bk).max().unwrap_or(8) + 3,
        _ => 43,
    };
    // Rows start at multiples of 16 bytes, as wide loads and stores require.
    let (m, n) = (if rows > 5 { rows - 5 } else { rows }, if cols > 8 { cols - 4 } else { cols });
    [[m, n], [rows + 3, n], [m, cols + 4]].map(|[m, n]| Shape { m, n, k })
}
