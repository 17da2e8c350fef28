use super::*;
use clap::Parser;

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    bench: PassedOn<BenchOptions>,
    #[command(flatten)]
    kernels: PassedOn<Kernels>,
    #[command(flatten)]
    device: PassedOn<Device>,
    #[arg(long)]
    save: bool,
}

fn passed(words: &[&str]) -> Vec<String> {
    let cli = Cli::try_parse_from([&["bench"], words].concat()).expect("right options");
    assert!(cli.save);
    [cli.bench.words, cli.kernels.words, cli.device.words].concat()
}

#[test]
fn options_are_passed_on_as_they_were_typed() {
    assert!(passed(&["--save"]).is_empty());
    let words = ["--size", "1024,1025x1023x1021", "--duel", "--kernel", "a b", "--emulate"];
    assert_eq!(passed(&[&["--save"], words.as_slice()].concat()), words);
    let words = ["--m", "3", "--n", "4", "--k", "5"];
    assert_eq!(passed(&[words.as_slice(), &["--save"]].concat()), words);
}
