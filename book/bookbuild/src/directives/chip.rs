//! `{{#n chip FIELD}}`: a measured constant of the H200, from the data of the timing model.

use anyhow::{Context as _, Error, Result, anyhow, bail};
use serde::Deserialize;
use serde_json::Value;

use crate::RepoPaths;
use crate::quote::{Sources, quoted};

const FILE: &str = "emulator/timing/data/h200.json";

#[derive(Deserialize)]
struct File {
    constants: Vec<Constant>,
}

#[derive(Deserialize)]
struct Constant {
    constant: String,
    value: Value,
    how: String,
    measured: String,
}

/// Returns a constant, or one value of a list by its index from 0: `{{#n chip shared_latency 2}}`.
pub(crate) fn number(repo: &RepoPaths, args: &[&str], sources: &mut Sources) -> Result<String> {
    let (name, place) = match args {
        [name] => (*name, None),
        [name, place] => {
            (*name, Some(place.parse::<usize>().map_err(|_| anyhow!("`{place}` is not an index of a list"))?))
        }
        _ => return Err(Error::msg("`{{#n chip}}` wants a constant, and of a list the place in it")),
    };
    let path = repo.root().join(FILE);
    let text = repo.read(&path)?;
    let file: File = serde_json::from_str(&text).map_err(|error| anyhow!("{FILE}: {error}"))?;
    let constant = file.constants.iter().find(|constant| constant.constant == name).with_context(|| {
        let names: Vec<&str> = file.constants.iter().map(|constant| constant.constant.as_str()).collect();
        format!("{FILE} has no constant `{name}`; it has {}", names.join(", "))
    })?;
    let value = match (&constant.value, place) {
        (Value::Array(values), Some(place)) => {
            values.get(place).with_context(|| format!("{FILE} has {} values for {name}", values.len()))?
        }
        (Value::Array(_), None) => bail!("{FILE} has {name} as a list; name the place in it"),
        (_, Some(_)) => return Err(anyhow!("{FILE} has a single value for {name}")),
        (value, None) => value,
    };
    sources.insert(format!("<code>{FILE}</code>"));
    Ok(quoted(&value.to_string(), &format!("{name} in {FILE}: {}; {}", constant.how, constant.measured)))
}
