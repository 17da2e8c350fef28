//! Times of products by each plan, as `tune` measured them: each of a launch in a chain of equal ones.

use harness::Shape;

/// One time of one kernel.
#[derive(Debug, Clone)]
pub struct Sample {
    pub kernel: String,
    pub shape: Shape,
    pub us: f64,
}

impl Sample {
    /// Reads a line that [`written`] wrote; `None` for its head.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let (kernel, shape, us) = (fields.next()?, fields.next()?, fields.next()?);
        Some(Self { kernel: kernel.to_owned(), shape: shape.parse().ok()?, us: us.parse().ok()? })
    }
}

/// Returns the samples that were there when this was built.
pub fn committed() -> Vec<Sample> {
    read(include_str!("../data/samples.tsv"))
}

pub fn read(text: &str) -> Vec<Sample> {
    text.lines().filter_map(Sample::read).collect()
}

pub fn written(samples: &[Sample]) -> String {
    let line = |Sample { kernel, shape, us }: &Sample| format!("{kernel}\t{shape}\t{us:.3}\n");
    "kernel\tshape\tus\n".to_owned() + &samples.iter().map(line).collect::<String>()
}
