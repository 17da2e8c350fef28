//! Runs the conformance fixtures as machine code, and names those that answer otherwise than the hardware did.
//!
//! `cargo run -p tests --example machine_conformance -- PTXAS [WORD…] [--save] [--text]`
//!
//! WORD: only fixtures with it in their name. `--text` shows the code of those. `--save` writes those that answer right
//! to `tests/data/machine/conformance.z`. ptxas comes with NVIDIA's CUDA toolkit, and in the Python package
//! `nvidia-cuda-nvcc-cu12`.

#![expect(clippy::print_stdout, reason = "a program that talks to whoever runs it")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tests::conformance::{
    Answers, Fixture, TARGET, answers_in, difference, emulate_machine_code, fixtures, module, write_code,
};

const PER_MODULE: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let mut option = |name: &str| {
        let n = words.len();
        words.retain(|word| word != name);
        words.len() < n
    };
    let (save, text) = (option("--save"), option("--text"));
    if words.is_empty() {
        return Err("usage: machine_conformance PTXAS [WORD…] [--save] [--text]".into());
    }
    let ptxas = PathBuf::from(words.remove(0));
    let data = tests::root().join("tests/data");
    let hardware = answers_in(&data.join("conformance"))?;
    let list = fixtures();
    let wanted =
        |fixture: &&Fixture| fixture.target == TARGET && words.iter().all(|word| fixture.name.contains(word.as_str()));
    let list: Vec<&Fixture> = list.iter().filter(wanted).collect();
    let (mut right, mut wrong) = (Vec::new(), BTreeMap::new());
    for group in list.chunks(PER_MODULE) {
        try_all(&ptxas, group, &hardware, &mut right, &mut wrong);
    }
    for (name, why) in &wrong {
        println!("{name}: {why}");
        let fixture = list.iter().find(|fixture| fixture.name == *name);
        if let (true, Some(fixture)) = (text, fixture)
            && let Ok(cubin) = assemble(&ptxas, &module(&[fixture]))
            && let Ok(module) = sass::Module::read(&cubin)
        {
            for instruction in module.kernels.iter().flat_map(|kernel| &kernel.instructions) {
                println!("    {:#06x} {instruction}", instruction.address);
            }
        }
    }
    println!("{} of {} answer as the hardware does", right.len(), list.len());
    if save {
        let modules: Vec<(Vec<String>, Vec<u8>)> = right
            .chunks(PER_MODULE)
            .map(|group| {
                let names = group.iter().map(|fixture| fixture.name.clone()).collect();
                Ok((names, assemble(&ptxas, &module(group))?))
            })
            .collect::<Result<_, String>>()?;
        fs::write(data.join("machine/conformance.z"), write_code(&modules))?;
    }
    Ok(())
}

/// Sorts fixtures by whether they answer right. What does not assemble or load together is tried in halves.
fn try_all<'a>(
    ptxas: &Path, group: &[&'a Fixture], hardware: &Answers, right: &mut Vec<&'a Fixture>,
    wrong: &mut BTreeMap<String, String>,
) {
    let cubin = assemble(ptxas, &module(group));
    match cubin.and_then(|cubin| emulate_machine_code(group, &cubin)) {
        Ok(answers) => {
            for (fixture, answer) in group.iter().zip(answers) {
                let complaint = match (hardware.get(&fixture.name), answer) {
                    (Some(Ok(hardware)), Ok(ours)) => difference(fixture, hardware, &ours),
                    (_, Err(why)) => Some(why),
                    _ => Some("no answer from hardware".into()),
                };
                match complaint {
                    Some(complaint) => drop(wrong.insert(fixture.name.clone(), complaint)),
                    None => right.push(fixture),
                }
            }
        }
        Err(why) => match group {
            [one] => drop(wrong.insert(one.name.clone(), format!("does not load: {why}"))),
            _ => {
                let (a, b) = group.split_at(group.len() / 2);
                try_all(ptxas, a, hardware, right, wrong);
                try_all(ptxas, b, hardware, right, wrong);
            }
        },
    }
}

fn assemble(ptxas: &Path, text: &str) -> Result<Vec<u8>, String> {
    let file = |ending: &str| std::env::temp_dir().join(format!("fixture-{}.{ending}", std::process::id()));
    let (source, cubin) = (file("ptx"), file("cubin"));
    let told = |error: std::io::Error| error.to_string();
    fs::write(&source, text).map_err(told)?;
    let mut command = Command::new(ptxas);
    let done = { command.args(["-arch=sm_90", "-o"]) }.args([&cubin, &source]).output().map_err(told)?;
    if done.status.success() {
        fs::read(&cubin).map_err(told)
    } else {
        Err(String::from_utf8_lossy(&done.stderr).into_owned())
    }
}
