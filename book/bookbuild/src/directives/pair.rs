//! A GEMM on two devices: `{{#process links SIZE}}`, `{{#process two SIZE}}`, `{{#n two SIZE WAY WHAT}}`.

use anyhow::{Context as _, Result, bail};
use records::process::Queue;
use records::two_devices::{PairBound, Size, TwoRecord, Way};
use serde::Deserialize;

use crate::directives::process::{alone, rate, size_of, source, span};
use crate::markdown::Table;
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
        let mut table = Table::new("what | >MB | >median, ms | >least … most, ms | >GB/s, at best");
        let matrix = size.shape.m * size.shape.k / 2 * 2 * size_of_val(&0.0f32);
        for entry in &self.0.links {
            if [1, 2, 4].map(|n| n * matrix).contains(&entry.bytes) {
                table.row(&[&entry.what, &digits(entry.bytes as f64 / 1e6, 3), &span(&entry.ms), &rate(entry)]);
            }
        }
        let nccl = self.0.nccl.as_deref().unwrap_or("none");
        format!(
            "{}; NCCL {nccl}. By the host's clock, each of a matrix of {}; what moves at once is counted together.\n\n{table}",
            self.source(),
            size.shape.typed()
        )
    }

    fn ways_table(&self, size: &Size) -> String {
        let PairBound { copy_in_ms, exchange_ms, kernel_ms, copy_out_ms, .. } = size.pair_bound;
        let [copy_in, exchange, product, copy_out] =
            [copy_in_ms, exchange_ms, kernel_ms, copy_out_ms].map(|ms| digits(ms, 3));
        let mut table =
            Table::new("way | >operations | >memory of each | >total, ms | >least … most, ms | >speed-up over one");
        for way in &size.ways {
            let most = way.device_bytes.iter().copied().max().unwrap_or_default();
            let speed_up =
                if way.on_two() { format!("{:.2}", size.best_of_one() / way.total_ms.median()) } else { "–".into() };
            let operations: usize = way.operations.iter().sum();
            table.row(&[&in_words(way), &operations, &size_of(most), &span(&way.total_ms), &speed_up]);
        }
        format!(
            "{}. Each part alone, on one device: {}. On two, of the slower one: copy in {copy_in} ms, exchange {exchange} ms, \
             product {product} ms, copy out {copy_out} ms.\n\n{table}",
            self.source(),
            alone(&size.bound)
        )
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
