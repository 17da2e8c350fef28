//! Pictures of recorded speeds that `book/figures/charts.toml` lists.

use anyhow::Context as _;
use records::Record;
use serde::Deserialize;

use crate::bars::Chart;
use crate::ceilings::{self, RooflinePlot};
use crate::machine;
use crate::plots::{self, Lines};

#[derive(Deserialize)]
pub(crate) struct Charts {
    pub(crate) chart: Vec<Chart>,
    pub(crate) lines: Vec<Lines>,
    pub(crate) roofline: Vec<RooflinePlot>,
}

pub(crate) fn load() -> anyhow::Result<Charts> {
    const FILE: &str = "book/figures/charts.toml";
    toml::from_str(&machine::read(FILE)?).context(FILE)
}

/// Draws all of them, with their names.
pub(crate) fn draw(record: &Record) -> anyhow::Result<Vec<(String, anyhow::Result<String>)>> {
    let (Charts { chart, lines, roofline }, ceilings) = (load()?, ceilings::load()?);
    let charts = chart.into_iter().map(|chart| (chart.name.clone(), chart.draw(record, &ceilings)));
    let lines = lines.into_iter().map(|plot| (plot.name.clone(), plots::sizes(record, &plot)));
    let roofs = roofline.into_iter().map(|plot| (plot.name.clone(), ceilings::draw(&plot, record, &ceilings)));
    Ok(charts.chain(lines).chain(roofs).collect())
}
