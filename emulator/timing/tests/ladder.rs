//! Predictions for the ladder are those of the committed file.

mod recorded;

use timing::accuracy::{self, Set};

/// Multiplications of what is predicted anew: the others take longer than a test should.
const SMALL: u64 = 1 << 27;

#[test]
fn predictions_are_as_committed() {
    let mut n = 0;
    for launch in recorded::replayed(Set::Ladder) {
        if launch.work() > SMALL {
            continue;
        }
        let point = accuracy::points()
            .iter()
            .find(|point| point.kernel == launch.name && point.shape == launch.shape)
            .unwrap_or_else(|| {
                panic!(
                    "{} {:?} is not in data/predictions.tsv",
                    launch.name, launch.shape
                )
            });
        let got = launch
            .predicted()
            .unwrap_or_else(|why| panic!("{}: {why}", launch.name))
            .us;
        assert!(
            (got / point.predicted_us - 1.0).abs() < 1e-3,
            "{} {:?}: {got:.3} µs, in data/predictions.tsv: {:.3}",
            launch.name,
            launch.shape,
            point.predicted_us
        );
        n += 1;
    }
    assert!(n >= 20, "{n} launches");
}
