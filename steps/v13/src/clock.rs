//! Times by the host's clock.

use std::time::Instant;

use harness::{Gpu, StepError, out};
use records::Samples;
use records::process::Entry;

pub(crate) struct Clock {
    repeat: u32,
    pub(crate) emulated: bool,
    pub(crate) entries: Vec<Entry>,
}

impl Clock {
    pub(crate) fn new(gpu: &Gpu, repeat: u32) -> Self {
        Self { repeat, emulated: gpu.emulator.is_some(), entries: Vec::new() }
    }

    pub(crate) fn record(&mut self, what: &str, bytes: usize, ms: Vec<f64>) -> Result<(), StepError> {
        let samples = Samples(if self.emulated { Vec::new() } else { ms });
        let text = match samples.0.as_slice() {
            [] => "done".to_owned(),
            [one] => format!("{one:.3} ms"),
            [first, ..] => {
                let [least, most] = samples.extent();
                let rate = match bytes {
                    0 => String::new(),
                    bytes => format!(", at most {:.1} GB/s", bytes as f64 / least / 1e6),
                };
                format!("first {first:.3} ms, {least:.3} … {most:.3} ms{rate}")
            }
        };
        let size = match bytes {
            0 => String::new(),
            n => crate::bytes(n),
        };
        out::write(&format!("{what:<44} {size:>10}  {text}\n"))?;
        self.entries.push(Entry { what: what.to_owned(), bytes, ms: samples });
        Ok(())
    }

    pub(crate) fn time<E: Into<StepError>>(
        &mut self,
        what: &str,
        bytes: usize,
        mut run: impl FnMut() -> Result<(), E>,
    ) -> Result<(), StepError> {
        let n = if self.emulated { 1 } else { self.repeat };
        let mut ms = Vec::new();
        for _ in 0..n {
            let begin = Instant::now();
            run().map_err(Into::into)?;
            ms.push(begin.elapsed().as_secs_f64() * 1e3);
        }
        self.record(what, bytes, ms)
    }
}
