//! A GEMM between arrays on the host, as `v13` measures it: `{{#process}}`, `{{#n process SIZE WAY WHAT}}`.

use anyhow::{Context as _, Error, Result, anyhow, bail, ensure};
use catalog::text::day;
use records::process::{Bound, Comparison, Entry, ProcessRecord, Queue, Size, Variant, busy_ms};
use records::{Run, Samples};
use serde::Deserialize;

use crate::markdown::Table;
use crate::quote::{Sources, digits, ms, quoted_from};

/// Contents of `book/data/h200-process.json`.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Process(ProcessRecord);

/// Returns the best rate of a copy, in GB/s.
pub(crate) fn rate(entry: &Entry) -> String {
    digits(entry.best_gbs(), 3)
}

pub(crate) fn span(ms: &Samples) -> String {
    let [least, most] = ms.extent();
    format!("{} | {} … {}", digits(ms.median(), 3), digits(least, 3), digits(most, 3))
}

pub(crate) fn size_of(bytes: usize) -> String {
    match bytes {
        0 => String::new(),
        bytes => format!("{} MB", digits(bytes as f64 / 1e6, 3)),
    }
}

/// Formats the time of each part alone.
pub(crate) fn alone(bound: &Bound) -> String {
    let [copy_in, product, copy_out] = [bound.copy_in_ms, bound.kernel_ms, bound.copy_out_ms].map(|ms| digits(ms, 3));
    format!("copy in {copy_in} ms, product {product} ms, copy out {copy_out} ms")
}

pub(crate) fn source(run: &Run) -> String {
    format!("{}, {}", run.device, day(&run.date))
}

impl Process {
    /// Expands `{{#process surroundings}}`, `{{#process ways 8192}}`, `{{#process constants 8192 1024}}` and
    /// `{{#process rows 8192}}`.
    pub(crate) fn table(&self, args: &[&str], sources: &mut Sources) -> Result<String> {
        match args {
            ["surroundings"] => {
                sources.insert(source(&self.0.run));
                Ok(self.surroundings())
            }
            ["ways", size] => self.ways_table(size, sources),
            ["constants", sizes @ ..] if !sizes.is_empty() => self.constants(sizes, sources),
            ["rows", size] => self.rows(size, sources),
            _ => Err(Error::msg(
                "`{{#process}}` wants `surroundings`, `ways SIZE`, `constants SIZE…`, `rows SIZE`, or of two devices \
                 `links SIZE` or `two SIZE`",
            )),
        }
    }

    fn surroundings(&self) -> String {
        let mut table = Table::new("what | >bytes | >first, ms | >median, ms | >least … most, ms | >GB/s, at best");
        let mut put = |entry: &Entry, when: &str| {
            let copies = entry.what.starts_with("pageable") || entry.what.starts_with("pinned");
            let rate = if copies { rate(entry) } else { String::new() };
            let first = entry.ms.0.first().copied().unwrap_or(f64::NAN);
            let what = format!("{}{when}", entry.what);
            table.row(&[&what, &size_of(entry.bytes), &digits(first, 3), &span(&entry.ms), &rate]);
        };
        for entry in &self.0.measured {
            put(entry, "");
            if entry.what == "a module from PTX" {
                self.0.later_process.iter().for_each(|entry| put(entry, ", in the next process"));
                self.0.without_cache.iter().for_each(|entry| put(entry, ", without the driver's cache"));
            }
        }
        let (source, host) = (source(&self.0.run), &self.0.run.host);
        format!("{source}, {host}. Milliseconds by the host's clock, one after the other in one process.\n\n{table}")
    }

    fn sizes(&self, size: &str) -> Result<Vec<(&Comparison, &Size)>> {
        let of = |c: &&Size| c.shape.typed() == size;
        let comparisons = self.0.comparisons.iter();
        let found: Vec<_> =
            comparisons.flat_map(|all| all.sizes.iter().filter(of).map(move |size| (all, size))).collect();
        if found.is_empty() { Err(anyhow!("the process at {size} was not measured by v13")) } else { Ok(found) }
    }

    fn source_of(&self, comparison: &Comparison) -> String {
        source(comparison.run.as_ref().unwrap_or(&self.0.run))
    }

    fn way(&self, size: &str, way: &str) -> Result<(&Comparison, &Size, &Variant)> {
        let sizes = self.sizes(size)?.into_iter();
        let mut all = sizes.flat_map(|(comparison, of)| of.variants.iter().map(move |found| (comparison, of, found)));
        let found = all.find(|(.., found)| found.variant == way);
        found.with_context(|| format!("{way} at {size} was not measured by v13"))
    }

    fn ways_table(&self, size: &str, sources: &mut Sources) -> Result<String> {
        let sizes = self.sizes(size)?;
        let bound = &sizes[0].1.bound;
        let alone = format!(
            "{}. Each part alone, with pinned arrays: {}; the longest {} ms, all three {} ms.\n\n",
            self.source_of(sizes[0].0),
            alone(bound),
            digits(bound.longest().0, 3),
            digits(bound.sum(), 3)
        );
        let mut table = Table::new(
            "way | >parts | >operations | >device memory | >total, ms | >least … most, ms | >of the longest | >of all three",
        );
        for (comparison, size) in sizes {
            sources.insert(self.source_of(comparison));
            for way in &size.variants {
                let is_whole = matches!(way.variant.as_str(), "pinned" | "pageable" | "tiles");
                let parts = if is_whole { "–".into() } else { comparison.chunks.to_string() };
                let total = way.total_ms.median();
                let of = |ms: f64| format!("{:.0} %", 100.0 * total / ms);
                let (of_longest, of_all) = (of(size.bound.longest().0), of(size.bound.sum()));
                let (memory, span) = (size_of(way.device_bytes), span(&way.total_ms));
                table.row(&[&way.variant, &parts, &way.operations, &memory, &span, &of_longest, &of_all]);
            }
        }
        Ok(format!("{alone}{table}"))
    }

    /// Returns the total times of graphs beside their limit: 110 % of the longest part, plus the time without work.
    fn constants(&self, sizes: &[&str], sources: &mut Sources) -> Result<String> {
        let mut table = Table::new(
            ">size | >parts | >operations | >total, ms | >110 % of the longest, ms | >the empty graph, ms | >both, ms",
        );
        for size in sizes {
            for (comparison, size) in self.sizes(size)? {
                for way in size.variants.iter().filter(|way| way.variant == "graph") {
                    let Some(empty) = &way.empty_ms else { continue };
                    sources.insert(self.source_of(comparison));
                    let (allowed, empty) = (1.1 * size.bound.longest().0, empty.median());
                    let [total, allowed, empty, both] =
                        [way.total_ms.median(), allowed, empty, allowed + empty].map(|ms| digits(ms, 4));
                    let (shape, parts) = (size.shape.typed(), comparison.chunks);
                    table.row(&[&shape, &parts, &way.operations, &total, &allowed, &empty, &both]);
                }
            }
        }
        ensure!(table.n_rows > 0, "no graph of {} was measured with nothing to do", sizes.join(", "));
        Ok(table.to_string())
    }

    /// Returns the copies to the device by `panels`: columns of A, which are short rows, beside as many rows of B.
    fn rows(&self, size: &str, sources: &mut Sources) -> Result<String> {
        let (comparison, of_size, way) = self.way(size, "panels")?;
        sources.insert(self.source_of(comparison));
        let mut table = Table::new("copy | >bytes of a row | >MB | >ms | >GB/s");
        for event in way.events.iter().filter(|event| event.queue == Queue::In) {
            // Only copies of the full height of A or the full width of B.
            let (columns, rows) = (event.what.starts_with("A, columns"), event.what.starts_with("B, rows"));
            if !columns && !rows {
                continue;
            }
            let row = if columns { event.bytes / of_size.shape.m } else { of_size.shape.n * size_of_val(&0.0f32) };
            let ms = event.end_ms - event.start_ms;
            let mb = event.bytes as f64 / 1e6;
            table.row(&[&event.what, &row, &digits(mb, 3), &digits(ms, 3), &digits(mb / ms, 3)]);
        }
        Ok(table.to_string())
    }

    /// Returns one number, formatted for a sentence, from the first comparison that has the way.
    pub(crate) fn number(&self, [size, way, what]: [&str; 3], sources: &mut Sources) -> Result<String> {
        let (comparison, text) = if way == "alone" {
            let (comparison, of_size) = self.sizes(size)?[0];
            let bound = &of_size.bound;
            let text = match what {
                "copy_in" => ms(bound.copy_in_ms),
                "product" => ms(bound.kernel_ms),
                "copy_out" => ms(bound.copy_out_ms),
                _ => bail!("`alone` has copy_in, product and copy_out, not `{what}`"),
            };
            (comparison, text)
        } else {
            let (comparison, of_size, found) = self.way(size, way)?;
            let bound = &of_size.bound;
            let total = found.total_ms.median();
            let missing = || format!("{what} of {way} at {size} was not recorded");
            let text = match what {
                "ms" => ms(total),
                "of_longest" => format!("{:.0} %", 100.0 * total / bound.longest().0),
                "of_sum" => format!("{:.0} %", 100.0 * total / bound.sum()),
                "products" => {
                    let busy = Some(busy_ms(&found.events, Queue::Kernel)).filter(|busy| *busy > 0.0);
                    busy.map(ms).with_context(missing)?
                }
                "calls" => ms(found.calls_ms.as_ref().with_context(missing)?.median()),
                _ => bail!("of {way} there are ms, of_longest, of_sum, products and calls; not `{what}`"),
            };
            (comparison, text)
        };
        Ok(quoted_from(self.source_of(comparison), &text, &format!("v13, {way} at {size}"), sources))
    }
}
