//! One bad access of the first thread to make it, with all that is known of it.

use super::arrays::Target;
use super::scene::{Draft, Scene};
use super::subscript::Explained;
use simt::check::Kind;
use simt::check::{AccessKind, BadAccess, Details};

/// `read`, `write`, `atomic update`.
pub(crate) fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic update",
    }
}

/// `reads`, `writes`, `updates`.
pub(crate) fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
    }
}

/// One bad access of the first thread, with all that is known of it.
pub(crate) struct Case<'a> {
    pub(crate) scene: &'a Scene<'a>,
    pub(crate) kind: &'a Kind,
    pub(crate) access: BadAccess,
    pub(crate) instr: u32,
    pub(crate) who: (u64, u64),
    pub(crate) target: Option<Target>,
    pub(crate) explained: Option<Explained>,
}

impl<'a> Case<'a> {
    pub(crate) fn new(scene: &'a Scene<'a>, kind: &'a Kind, access: BadAccess) -> Self {
        let event = &kind.first;
        let who = (
            event.block,
            u64::from(event.warp) * 32 + u64::from(event.mask.trailing_zeros() & 31),
        );
        let target = scene.target(
            event.instr,
            access.space,
            access.address,
            access.bytes,
            access.kind,
        );
        let explained = target
            .as_ref()
            .and_then(|target| scene.explain(event.instr, target, access.kind, who));
        Self {
            scene,
            kind,
            access,
            instr: event.instr,
            who,
            target,
            explained,
        }
    }

    /// A draft with carets, array and the line about threads still to come.
    pub(crate) fn draft(&self, title: String) -> Draft {
        let mut draft = Draft::new(title);
        if let Some(target) = &self.target {
            let uses = match &self.explained {
                Some(explained) => vec![explained.used.clone()],
                None => self
                    .scene
                    .uses(self.instr, &target.element.name, self.access.kind),
            };
            draft.carets = uses.iter().map(|found| (found.start, found.end)).collect();
            draft.array = Some(target.element.clone());
        }
        draft
    }

    pub(crate) fn who(&self) -> String {
        let mut text = format!("First: {}.", self.scene.thread_name(self.who.0, self.who.1));
        let values = self
            .explained
            .as_ref()
            .map(Explained::telling)
            .unwrap_or_default();
        if !values.is_empty() {
            text.pop();
            text += &format!(": {values}.");
        }
        if let Some(more) = self.scene.others_do_the_same(self.kind) {
            text = format!("{text} {more}");
        }
        text
    }

    /// Elements that the array would need for all accesses past its end in this launch.
    pub(crate) fn most_used(&self, target: &Target) -> u64 {
        let each = u64::from(target.element.element_bytes.max(1));
        let ends = self
            .scene
            .kinds
            .iter()
            .filter_map(|kind| match &kind.first.details {
                Details::Access(access) if access.space == self.access.space => {
                    let (_, high) = kind.addresses?;
                    let instr = kind.first.instr;
                    let other =
                        self.scene
                            .target(instr, access.space, access.address, access.bytes, access.kind)?;
                    (other.start == target.start)
                        .then(|| high.saturating_sub(target.start) + u64::from(access.bytes))
                }
                _ => None,
            });
        ends.max().unwrap_or(0).div_ceil(each)
    }

    /// `a_tile[15][16]` with the subscripts as computed, or from the address.
    pub(crate) fn element(&self, target: &Target) -> String {
        match &self.explained {
            Some(explained) if explained.subscripts.len() > 1 => explained.indexed(&target.element.name),
            _ => target.indexed(),
        }
    }
}
