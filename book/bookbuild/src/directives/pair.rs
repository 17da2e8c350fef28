//! A GEMM on two devices: `{{#process links SIZE}}`, `{{#process two SIZE}}`, `{{#n two SIZE WAY WHAT}}`.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use records::process::Queue;
use records::two_devices::{Size, TwoRecord, Way};
use serde::Deserialize;

use crate::directives::process::{rate, size_of, source, span};
use crate::quote::{Sources, digits, ms, quoted_from};

/// Contents of `book/data/h200-two.json`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Pair(TwoRecord);

fn in_words(way: &Way) -> &str {
    match way.way.as_str() {
        "one" => "one device",
        "graph" => "one device, as a graph",
        "sent" => "two: B from the host to both",
        "broadcast" => "two: B to one, broadcast by NCCL",
        "gathered" => "two: half of B to each, gathered by NCCL",
        "copied" => "two: half of B to each, gathered by copies",
        other => other,
    }
}

impl Pair {
    fn source(&self) -> String {
        format!("two of {}", source(&self.0.run))
    }

    /// Expands `{{#process links 8192}}` and `{{#process two 8192}}`.
    pub(crate) fn table(&self, what: &str, size: &str, sources: &mut Sources) -> Result<String> {
        let size = self.size(size)?;
        sources.insert(self.source());
        Ok(match what {
            "links" => self.links(size),
            _ => self.ways_table(size),
        })
    }

    fn size(&self, size: &str) -> Result<&Size> {
        let found = self.0.sizes.iter().find(|candidate| candidate.shape.typed() == size);
        found.with_context(|| format!("{size} was not measured on two devices by v13"))
    }

    fn links(&self, size: &Size) -> String {
        let nccl = self.0.nccl.as_deref().unwrap_or("none");
        let mut out = format!(
            "{}; NCCL {nccl}. By the host's clock, each of a matrix of {}; what moves at once is counted together.\n\n\
             | what | MB | median, ms | least … most, ms | GB/s, at best |\n\
             | --- | ---: | ---: | ---: | ---: |\n",
            self.source(),
            size.shape.typed()
        );
        let matrix = size.shape.m * size.shape.k / 2 * 2 * size_of_val(&0.0f32);
        for entry in &self.0.links {
            if [1, 2, 4].map(|n| n * matrix).contains(&entry.bytes) {
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} |",
                    entry.what,
                    digits(entry.bytes as f64 / 1e6, 3),
                    span(&entry.ms),
                    rate(entry)
                );
            }
        }
        out
    }

    fn ways_table(&self, size: &Size) -> String {
        let (bound, pair) = (&size.bound, &size.pair_bound);
        let mut out = format!(
            "{}. Each part alone, on one device: copy in {} ms, product {} ms, copy out {} ms. \
             On two, of the slower one: copy in {} ms, exchange {} ms, product {} ms, copy out {} ms.\n\n\
             | way | operations | memory of each | total, ms | least … most, ms | speed-up over one |\n\
             | --- | ---: | ---: | ---: | ---: | ---: |\n",
            self.source(),
            digits(bound.copy_in_ms, 3),
            digits(bound.kernel_ms, 3),
            digits(bound.copy_out_ms, 3),
            digits(pair.copy_in_ms, 3),
            digits(pair.exchange_ms, 3),
            digits(pair.kernel_ms, 3),
            digits(pair.copy_out_ms, 3)
        );
        for way in &size.ways {
            let most = way.device_bytes.iter().copied().max().unwrap_or_default();
            let speed_up =
                if way.on_two() { format!("{:.2}", size.best_of_one() / way.total_ms.median()) } else { "–".into() };
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {speed_up} |",
                in_words(way),
                way.operations.iter().sum::<usize>(),
                size_of(most),
                span(&way.total_ms)
            );
        }
        out
    }

    pub(crate) fn number(&self, [size, way, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
        let of_size = self.size(size)?;
        let text = match (way, what) {
            ("alone", "exchange") => ms(of_size.pair_bound.exchange_ms),
            (_, "speed_up" | "exchanges" | "products") => {
                let found = of_size.ways.iter().find(|candidate| candidate.way == way);
                let found = found.with_context(|| format!("{way} at {size} was not measured on two devices"))?;
                let total = found.total_ms.median();
                let busy = |queue| {
                    let busy = found.busy_ms(queue);
                    busy.map(ms).with_context(|| format!("{what} of {way} at {size} were not recorded"))
                };
                match what {
                    "exchanges" => busy(Queue::Peer)?,
                    "products" => busy(Queue::Kernel)?,
                    _ => format!("{:.2}", of_size.best_of_one() / total),
                }
            }
            _ => bail!("of {way} there are speed_up, exchanges and products, of `alone` exchange; not `{what}`"),
        };
        Ok(quoted_from(self.source(), &text, &format!("v13 two, {way} at {size}"), sources))
    }
}
