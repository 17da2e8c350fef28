//! Linking of modules: shared names are resolved, names of one module stay its own.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::ast::*;

#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Name in messages: of the file, or the caller's.
    pub name: String,
    pub module: Module,
}

/// Reason for which modules cannot be linked, in the words of CUDA's linker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Two modules define a name that only one may define.
    #[error("Multiple definition of '{name}' in '{input}', first defined in '{first}'")]
    DefinedTwice {
        name: String,
        /// Name of the later module.
        input: String,
        /// Name of the earlier module.
        first: String,
    },
    /// A variable, or a function that is used, which no module defines.
    #[error("Undefined reference to '{name}' in '{input}'")]
    Undefined {
        name: String,
        /// Name of the module that uses it.
        input: String,
    },
    /// A function with other parameters or results in one module than in another.
    #[error("Prototype doesn't match for '{name}' in '{input}', first defined in '{first}'")]
    Prototype {
        name: String,
        /// Name of the later module.
        input: String,
        /// Name of the module that defines it, or else of the earlier one.
        first: String,
    },
}

/// Returns whether the function is one of the system, which no module defines.
pub fn is_system_call(name: &str) -> bool {
    matches!(name, "vprintf" | "__assertfail" | "malloc" | "free")
}

/// Precedence among several definitions of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// `.common`: the largest wins, and anything else wins over it.
    Common,
    /// `.weak`: the first wins.
    Weak,
    /// `.visible`, and kernels: only one.
    Strong,
}

/// Links modules, which are consumed unless there is an error: two modules define the same name, none defines one that
/// is used, or a function has two prototypes. Functions of the system stay external.
///
/// Debug sections are left out: they would have to be merged, and nothing here reads them.
pub fn link(inputs: &mut Vec<Input>) -> Result<Module, LinkError> {
    let mut prototypes = Prototypes::default();
    for input in &*inputs {
        prototypes.add(input)?;
    }
    let chosen = definitions(inputs)?;
    for input in &*inputs {
        check_defined(input, &chosen)?;
    }
    let modules: Vec<Module> = inputs.drain(..).map(|input| input.module).collect();
    let mut taken = shared_names(&modules);
    let mut linked =
        Module { version: (0, 0), target: Vec::new(), address_size: 64, files: Vec::new(), items: Vec::new() };
    let mut dynamic_shared: HashMap<String, usize> = HashMap::new();
    let mut external: HashSet<String> = HashSet::new();
    for (at, mut module) in modules.into_iter().enumerate() {
        linked.version = linked.version.max(module.version);
        if is_newer(&module.target, &linked.target) {
            linked.target = std::mem::take(&mut module.target);
        }
        linked.address_size = linked.address_size.min(module.address_size);
        let renamed = renamed(&module, &mut taken);
        let files = merge_files(&mut linked.files, &module.files);
        for mut item in module.items {
            rename_item(&mut item, &renamed, &files);
            match &mut item {
                Item::Section(..) => continue,
                Item::Variable(v) if v.linkage == Linkage::Extern && v.space == Space::Shared => {
                    // All of them name the same memory, which the launch adds.
                    if let Some(&first) = dynamic_shared.get(&v.name) {
                        if let Item::Variable(known) = &mut linked.items[first] {
                            known.align = known.align.max(v.align);
                        }
                        continue;
                    }
                    dynamic_shared.insert(v.name.clone(), linked.items.len());
                }
                Item::Variable(v) if v.linkage == Linkage::Extern => continue,
                Item::Function(f) if f.body.is_none() && f.linkage != Linkage::Internal => {
                    let defined = chosen.contains_key(&f.name);
                    if defined || !external.insert(f.name.clone()) {
                        continue;
                    }
                }
                _ => {}
            }
            let loses = |name: &str| chosen.get(name).is_some_and(|winner| *winner != at);
            match &item {
                Item::Variable(v) if v.linkage != Linkage::Internal && loses(&v.name) => continue,
                Item::Function(f) if is_shared(f) && loses(&f.name) => continue,
                _ => linked.items.push(item),
            }
        }
    }
    Ok(linked)
}

/// Bytes of each result and each parameter.
type Prototype = (Vec<u64>, Vec<u64>);

/// Prototypes of shared functions, over the inputs of a link.
#[derive(Debug, Default)]
pub struct Prototypes {
    /// By function: its prototype, the first input with it or the one that defines it, and whether one does.
    known: HashMap<String, (Prototype, String, bool)>,
}

impl Prototypes {
    /// Compares an input's functions with those of earlier inputs. Fails when results or parameters differ.
    pub fn add(&mut self, input: &Input) -> Result<(), LinkError> {
        for item in &input.module.items {
            let Item::Function(f) = item else { continue };
            if !is_shared(f) || f.kind == FunctionKind::Entry {
                continue;
            }
            let sizes = |list: &[Variable]| list.iter().map(bytes).collect::<Vec<_>>();
            let prototype = (sizes(&f.returns), sizes(&f.params));
            let defines = f.body.is_some();
            match self.known.get_mut(&f.name) {
                Some((known, first, defined)) if *known != prototype => {
                    let first = if defines && !*defined { &input.name } else { first };
                    return Err(LinkError::Prototype {
                        name: f.name.clone(),
                        input: input.name.clone(),
                        first: first.clone(),
                    });
                }
                Some((_, first, defined)) => {
                    if defines && !std::mem::replace(defined, true) {
                        first.clone_from(&input.name);
                    }
                }
                None => {
                    let entry = (prototype, input.name.clone(), defines);
                    self.known.insert(f.name.clone(), entry);
                }
            }
        }
        Ok(())
    }
}

/// Checks that some module, or the system, defines each name that this one uses.
fn check_defined<'a>(input: &'a Input, chosen: &BTreeMap<String, usize>) -> Result<(), LinkError> {
    let mut missing = Vec::new();
    for item in &input.module.items {
        match item {
            Item::Variable(v) if v.linkage == Linkage::Extern && v.space != Space::Shared => missing.push(&v.name),
            Item::Function(f) if f.body.is_none() && is_shared(f) && !is_system_call(&f.name) => {
                missing.push(&f.name);
            }
            _ => {}
        }
    }
    missing.retain(|name| !chosen.contains_key(*name));
    if missing.is_empty() {
        return Ok(());
    }
    let mut used: HashSet<&str> = HashSet::new();
    let mut see = |name: &'a String| {
        used.insert(name);
    };
    for item in &input.module.items {
        match item {
            Item::Function(Function { body: Some(body), .. }) => names_in(body, &mut see),
            Item::Variable(Variable { init: Some(init), .. }) => init.for_each_name(&mut see),
            _ => {}
        }
    }
    // A declaration alone needs no definition.
    match missing.iter().find(|name| used.contains(name.as_str())) {
        Some(name) => Err(LinkError::Undefined { name: (*name).clone(), input: input.name.clone() }),
        None => Ok(()),
    }
}

/// Calls `see` for the names that statements mention.
fn names_in<'a>(statements: &'a [Statement], see: &mut dyn FnMut(&'a String)) {
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => instruction.operands.iter().for_each(|o| o.for_each_name(see)),
            Statement::Block(inner) => names_in(inner, see),
            Statement::CallTargets { targets, .. } => targets.iter().for_each(&mut *see),
            _ => {}
        }
    }
}

/// Returns whether other modules can use the name.
fn is_shared(function: &Function) -> bool {
    function.linkage != Linkage::Internal || function.kind == FunctionKind::Entry
}

/// Finds the index of the module whose definition of each shared name counts.
fn definitions(inputs: &[Input]) -> Result<BTreeMap<String, usize>, LinkError> {
    let mut found: BTreeMap<String, (Strength, u64, usize)> = BTreeMap::new();
    for (at, input) in inputs.iter().enumerate() {
        for item in &input.module.items {
            let (name, strength, bytes) = match item {
                Item::Variable(v) => match v.linkage {
                    Linkage::Visible => (&v.name, Strength::Strong, 0),
                    Linkage::Weak => (&v.name, Strength::Weak, 0),
                    Linkage::Common => (&v.name, Strength::Common, bytes(v)),
                    Linkage::Internal | Linkage::Extern => continue,
                },
                Item::Function(f) if f.body.is_some() && is_shared(f) => match f.linkage {
                    Linkage::Weak => (&f.name, Strength::Weak, 0),
                    _ => (&f.name, Strength::Strong, 0),
                },
                _ => continue,
            };
            match found.get(name) {
                Some((Strength::Strong, _, other)) if strength == Strength::Strong && *other != at => {
                    return Err(LinkError::DefinedTwice {
                        name: name.clone(),
                        input: input.name.clone(),
                        first: inputs[*other].name.clone(),
                    });
                }
                Some((known, size, _)) if (*known, *size) >= (strength, bytes) => {}
                _ => {
                    found.insert(name.clone(), (strength, bytes, at));
                }
            }
        }
    }
    Ok(found.into_iter().map(|(name, (_, _, at))| (name, at)).collect())
}

fn bytes(variable: &Variable) -> u64 {
    let elements = variable.dims.iter().fold(1u64, |n, dim| n.saturating_mul(dim.unwrap_or(1)));
    elements.saturating_mul(u64::from(variable.vector)).saturating_mul(u64::from(variable.ty.bytes()))
}

/// Returns whether the first target is of a newer architecture.
fn is_newer(target: &[String], than: &[String]) -> bool {
    let number = |target: &[String]| -> u32 {
        let digits = target.first().and_then(|t| t.strip_prefix("sm_"));
        digits.and_then(|t| t.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()).unwrap_or(0)
    };
    than.is_empty() || number(target) > number(than)
}

/// Adds a module's files, and returns their numbers among all files.
fn merge_files(all: &mut Vec<SourceFile>, files: &[SourceFile]) -> BTreeMap<u32, u32> {
    let mut numbers = BTreeMap::new();
    let mut known: HashMap<String, u32> = all.iter().map(|f| (f.path.clone(), f.index)).collect();
    for file in files {
        let next = all.len() as u32 + 1;
        let number = *known.entry(file.path.clone()).or_insert(next);
        if number == next {
            all.push(SourceFile { index: number, path: file.path.clone() });
        }
        numbers.insert(file.index, number);
    }
    numbers
}

/// Returns the names that modules share: no private item can keep one of them.
fn shared_names(modules: &[Module]) -> HashSet<String> {
    let shared = |item: &Item| match item {
        Item::Variable(v) if v.linkage != Linkage::Internal => Some(v.name.clone()),
        Item::Function(f) if is_shared(f) => Some(f.name.clone()),
        _ => None,
    };
    modules.iter().flat_map(|module| &module.items).filter_map(shared).collect()
}

/// Chooses new names for private items of a module whose names are `taken`, and takes those.
fn renamed(module: &Module, taken: &mut HashSet<String>) -> HashMap<String, String> {
    let mut renamed = HashMap::new();
    for item in &module.items {
        let name = match item {
            Item::Variable(v) if v.linkage == Linkage::Internal => &v.name,
            Item::Function(f) if !is_shared(f) => &f.name,
            Item::Alias { name, .. } => name,
            _ => continue,
        };
        // A declaration before the definition.
        if renamed.contains_key(name) {
            continue;
        }
        let free = (1u32..)
            .map(|n| if n == 1 { name.clone() } else { format!("{name}$link{n}") })
            .find(|candidate| !taken.contains(candidate));
        let free = free.unwrap_or_else(|| name.clone());
        taken.insert(free.clone());
        renamed.insert(name.clone(), free);
    }
    renamed.retain(|from, to| from != to);
    renamed
}

fn rename_item(item: &mut Item, names: &HashMap<String, String>, files: &BTreeMap<u32, u32>) {
    match item {
        Item::Variable(v) => {
            rename(&mut v.name, names);
            v.init.iter_mut().for_each(|init| init.for_each_name_mut(&mut |name| rename(name, names)));
        }
        Item::Function(f) => {
            rename(&mut f.name, names);
            let Some(body) = &mut f.body else { return };
            let mut own = f.returns.iter().chain(&f.params).map(|v| v.name.clone()).collect();
            declared(body, &mut own);
            let mut visible = names.clone();
            visible.retain(|from, _| !own.contains(from));
            rename_statements(body, &visible, files);
        }
        Item::Alias { name, target, .. } => {
            rename(name, names);
            rename(target, names);
        }
        Item::Pragma(..) | Item::Section(..) => {}
    }
}

/// Collects names that a body declares: they hide those of the module.
fn declared(statements: &[Statement], own: &mut HashSet<String>) {
    for statement in statements {
        match statement {
            Statement::Label(_, name)
            | Statement::BranchTargets { name, .. }
            | Statement::CallTargets { name, .. }
            | Statement::CallPrototype { name, .. } => {
                own.insert(name.clone());
            }
            Statement::Variable(v) => {
                own.insert(v.name.clone());
            }
            // Numbered registers begin with `%`, which names of modules do not.
            Statement::Reg(reg) => own.extend(reg.names.iter().map(|(name, _)| name.clone())),
            Statement::Block(inner) => declared(inner, own),
            Statement::Instruction(_) | Statement::Loc(_) | Statement::Pragma(..) => {}
        }
    }
}

fn rename(name: &mut String, names: &HashMap<String, String>) {
    if let Some(new) = names.get(name) {
        name.clone_from(new);
    }
}

fn rename_statements(statements: &mut [Statement], names: &HashMap<String, String>, files: &BTreeMap<u32, u32>) {
    let number = |file: &mut u32| *file = files.get(file).copied().unwrap_or(0);
    for statement in statements {
        match statement {
            Statement::Instruction(instruction) => {
                instruction.operands.iter_mut().for_each(|o| o.for_each_name_mut(&mut |name| rename(name, names)));
            }
            Statement::Block(inner) => rename_statements(inner, names, files),
            Statement::Variable(v) => {
                v.init.iter_mut().for_each(|init| init.for_each_name_mut(&mut |name| rename(name, names)));
            }
            Statement::CallTargets { targets, .. } => targets.iter_mut().for_each(|t| rename(t, names)),
            Statement::Loc(loc) => {
                number(&mut loc.file);
                if let Some(inlined) = &mut loc.inlined_at {
                    number(&mut inlined.file);
                }
            }
            Statement::Label(..)
            | Statement::Reg(_)
            | Statement::Pragma(..)
            | Statement::BranchTargets { .. }
            | Statement::CallPrototype { .. } => {}
        }
    }
}
