//! One bad access of the first thread to make it, with all that is known of it.

use super::{arrays::Target, subscript::Explained};
use crate::launch_context::{Draft, LaunchContext, first_thread};
use crate::trace::{End, ThreadContext};
use program::{MemSpace, OpKind};
use simt::check::{AccessKind, BadAccess, MistakeDetails, MistakeGroup, RaceParty, ThreadId, coordinates};

/// Returns an access as a noun: `read`, `write`, `atomic update`.
pub(crate) fn noun(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic update",
    }
}

/// Returns an access as a verb: `reads`, `writes`, `updates`.
pub(crate) fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "updates",
    }
}

/// One bad access of the first thread, with all that is known of it.
pub(crate) struct Case<'a> {
    pub(crate) launch: &'a LaunchContext<'a>,
    pub(crate) mistake: &'a MistakeGroup,
    pub(crate) access: BadAccess,
    pub(crate) instr: u32,
    pub(crate) who: ThreadId,
    pub(crate) target: Option<Target>,
    pub(crate) explained: Option<Explained>,
}

/// Returns whether a line may hold an access to memory: a subscript, a member, a dereference, a call.
fn may_access(line: &str) -> bool {
    let bytes: Vec<u8> = line.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let dereferences = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b';');
        !is_word(before) && before != b')' && before != b']'
    };
    let calls = |at: usize| at > 0 && is_word(bytes[at - 1]);
    let index = line.contains("blockIdx") || line.contains("threadIdx");
    line.contains(['[', '{', '}'])
        || line.contains("->")
        || !index
        || bytes.iter().enumerate().any(|(at, byte)| match byte {
            b'*' => dereferences(at),
            b'(' => calls(at),
            _ => false,
        })
}

/// A value from memory that an index is made of.
pub(crate) struct Data {
    pub(crate) instr: u32,
    pub(crate) atomic: bool,
    pub(crate) value: i64,
    pub(crate) element: Option<String>,
    /// Whether the index is made of nothing else that differs between threads or rounds.
    pub(crate) alone: bool,
}

impl<'a> Case<'a> {
    pub(crate) fn new(launch: &'a LaunchContext<'a>, mistake: &'a MistakeGroup, access: BadAccess) -> Self {
        Self::of_instr(launch, mistake, access, mistake.first.instr)
    }

    /// Returns the case of an access by instruction `instr`, which need not be the mistake's.
    pub(crate) fn of_instr(
        launch: &'a LaunchContext<'a>, mistake: &'a MistakeGroup, access: BadAccess, instr: u32,
    ) -> Self {
        let who = first_thread(mistake);
        let target = launch.reached(instr, &access);
        let explained = target.as_ref().and_then(|target| launch.explain(instr, target, access.kind, who));
        Self { launch, mistake, access, instr, who, target, explained }
    }

    pub(crate) fn of_party(
        launch: &'a LaunchContext<'a>, mistake: &'a MistakeGroup, party: RaceParty, target: &Target,
        explained: Explained,
    ) -> Self {
        let address = target.start.wrapping_add_signed(target.element.byte_offset);
        let access =
            BadAccess { kind: party.kind, space: MemSpace::Generic, address, high: address, bytes: party.bytes };
        Self {
            launch,
            mistake,
            access,
            instr: party.instr,
            who: party.thread_id(),
            target: Some(target.clone()),
            explained: Some(explained),
        }
    }

    /// Starts a draft with carets, array and the line about threads; the caller adds the reason.
    pub(crate) fn draft(&self, title: String) -> Draft {
        let mut draft = Draft::new(title);
        if let Some(target) = &self.target {
            draft.carets = self.launch.underlined(self.instr, target, self.access.kind, self.explained.as_ref());
            draft.array = Some(target.element.clone());
        }
        if let Some((first, last)) = self.explained.as_ref().and_then(|explained| explained.joined) {
            draft.notes.push(format!(
                "The compiler joined the accesses of lines {first} to {last} into one of {} bytes.",
                self.access.bytes
            ));
        }
        // The compiler may attribute an access to the line of its index; a caret there would blame the wrong line.
        let line = self.launch.place(self.instr).text.unwrap_or_default();
        if draft.carets.is_empty() && !line.is_empty() && !may_access(&line) {
            draft.no_caret = true;
            draft.notes.push("The compiler names this line for the access; it computes the index.".into());
        }
        draft
    }

    pub(crate) fn first_thread_note(&self) -> String {
        let who = self.launch.thread_name(self.who.block, self.who.thread);
        let values = self.explained.as_ref().map(Explained::variable_values).filter(|values| !values.is_empty());
        let values = values.map(|values| format!(": {values}")).unwrap_or_default();
        self.launch.with_others(self.mistake, format!("First: {who}{values}."))
    }

    fn thread_context(&self) -> ThreadContext<'_> {
        let request = self.launch.inputs.request;
        ThreadContext { request, block: coordinates(self.who.block, request.grid), thread: self.who.thread }
    }

    /// Returns whether the index follows from the thread's position in its block alone.
    pub(crate) fn by_thread_alone(&self) -> bool {
        let ends = self.launch.trace().ends(self.instr);
        ends.is_some_and(|ends| ends.iter().all(|end| matches!(end, End::Thread(_) | End::Size | End::Symbol)))
    }

    /// Returns the value from memory that the index is made of, when there is one, and the element follows from it.
    pub(crate) fn data(&self) -> Option<Data> {
        let trace = self.launch.trace();
        let ends = trace.ends(self.instr)?;
        let varies = |end: &&End| !matches!(end, End::Param(_) | End::Symbol | End::Size);
        let mut from_memory = ends.iter().filter(|end| matches!(end, End::Loaded(_) | End::Atomic(_)));
        let (end, None) = (*from_memory.next()?, from_memory.next()) else { return None };
        let (instr, atomic) = match end {
            End::Loaded(instr) => (instr, false),
            End::Atomic(instr) => (instr, true),
            _ => return None,
        };
        // Addresses in shared memory count from its start, however they are made.
        let low = match self.access.space {
            MemSpace::Global | MemSpace::Generic | MemSpace::Const => 64,
            _ => 32,
        };
        let value = trace.solve(self.instr, self.thread_context(), end, self.access.address, low)?;
        let element = self.loaded_from(instr);
        // What `const int bin = in[i];` reads is an index. A pointer from memory is not.
        (value.unsigned_abs() < 1 << 36).then(|| Data {
            instr,
            atomic,
            value,
            element,
            alone: ends.iter().filter(varies).count() == 1,
        })
    }

    /// Returns the element that a load reads for this thread: `in[33]`.
    fn loaded_from(&self, instr: u32) -> Option<String> {
        let OpKind::Load(access) = self.launch.ops(instr).next()? else { return None };
        let address = self.launch.trace().known_address(instr, self.thread_context())?;
        let bytes = u32::from(access.element);
        let target = self.launch.target(instr, access.space, address, bytes, AccessKind::Read)?;
        let inside = (0..target.element.n_elements as i64).contains(&target.element.index);
        (inside && target.named).then(|| target.indexed())
    }

    /// Returns the number of elements that the array would need for all accesses past its end in this launch.
    pub(crate) fn most_used(&self, target: &Target) -> u64 {
        let each = u64::from(target.element.element_bytes.max(1));
        let ends = self.launch.mistakes.iter().filter_map(|mistake| match &mistake.first.details {
            MistakeDetails::Access { access, .. } if access.space == self.access.space => {
                let (_, high) = mistake.addresses?;
                let instr = mistake.first.instr;
                let other = self.launch.reached(instr, access)?;
                (other.start == target.start).then(|| high.saturating_sub(target.start) + u64::from(access.bytes))
            }
            _ => None,
        });
        ends.max().unwrap_or(0).div_ceil(each)
    }

    /// Returns the element accessed, such as `a_tile[15][16]`: its subscripts as computed, or from the address.
    pub(crate) fn element(&self, target: &Target) -> String {
        match &self.explained {
            Some(explained) if explained.subscripts.len() > 1 => explained.indexed(&target.element.name),
            _ => target.indexed(),
        }
    }

    /// Returns [`Self::element`] as code, if the array has a name.
    pub(crate) fn quoted_element(&self, target: &Target) -> String {
        if target.named { format!("`{}`", self.element(target)) } else { self.element(target) }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_that_only_compute_an_index_access_nothing() {
        let may = |line: &str| super::may_access(line);
        assert!(!may("    const int i = blockIdx.x * blockDim.x + threadIdx.x;"));
        assert!(!may("int row = (blockIdx.y * 16 + ty) * K;"));
        assert!(may("sum += A[i];") && may("*total += threadIdx.x;") && may("y = load(threadIdx.x);"));
        assert!(may("m = x > m ? x : m;"));
    }
}
