//! `{{#n chip FIELD}}`: a measured constant of the H200, from the data of the timing model.

use serde::Deserialize;

use crate::RepoPaths;
use crate::quote::{Sources, quoted};

const FILE: &str = "emulator/timing/data/h200.toml";

#[derive(Deserialize)]
struct Constant {
    value: toml::Value,
    how: String,
    measured: String,
}

/// Returns a constant, or one value of a list by its index from 0: `{{#n chip shared_latency 2}}`.
pub(crate) fn number(repo: &RepoPaths, args: &[&str], sources: &mut Sources) -> Result<String, String> {
    let (name, place) = match args {
        [name] => (*name, None),
        [name, place] => {
            (*name, Some(place.parse::<usize>().map_err(|_| format!("`{place}` is no place in a list"))?))
        }
        _ => return Err("`{{#n chip}}` wants a constant, and of a list the place in it".into()),
    };
    let path = repo.root().join(FILE);
    let text = repo.read(&path)?;
    let file: toml::Table = toml::from_str(&text).map_err(|error| format!("{FILE}: {error}"))?;
    let constant = file.get(name).filter(|value| value.is_table());
    let constant = constant.ok_or_else(|| {
        let tables = file.iter().filter(|(_, value)| value.is_table());
        let names: Vec<&str> = tables.map(|(name, _)| name.as_str()).collect();
        format!("{FILE} has no constant `{name}`; it has {}", names.join(", "))
    })?;
    let constant: Constant =
        constant.clone().try_into().map_err(|error| format!("{name} in {FILE}: {error}"))?;
    let value = match (&constant.value, place) {
        (toml::Value::Array(values), Some(place)) => {
            values.get(place).ok_or_else(|| format!("{FILE} has {} values for {name}", values.len()))?
        }
        (toml::Value::Array(_), None) => {
            return Err(format!("{FILE} has {name} as a list; name the place in it"));
        }
        (_, Some(_)) => return Err(format!("{FILE} has a single value for {name}")),
        (value, None) => value,
    };
    sources.insert(format!("<code>{FILE}</code>"));
    Ok(quoted(&value.to_string(), &format!("{name} in {FILE}: {}; {}", constant.how, constant.measured)))
}
