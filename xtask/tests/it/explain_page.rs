//! `explain --html`: one valid page that loads nothing.

use std::cell::RefCell;
use std::fs;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};

use crate::{explain::with_explanations, fakes::run_with_note};

/// Tags, ids and what goes on the way of a page that a parser complains about.
#[derive(Default)]
struct Seen {
    open: RefCell<Vec<String>>,
    attributes: RefCell<Vec<(String, String)>>,
    complaints: RefCell<Vec<String>>,
}

/// Elements without an end.
const VOID: [&str; 3] = ["meta", "link", "input"];

impl TokenSink for Seen {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) => {
                let name = tag.name.to_string();
                for attribute in &tag.attrs {
                    let name = attribute.name.local.to_string();
                    self.attributes.borrow_mut().push((name, attribute.value.to_string()));
                }
                match tag.kind {
                    TagKind::StartTag if tag.self_closing || VOID.contains(&name.as_str()) => {}
                    TagKind::StartTag => self.open.borrow_mut().push(name),
                    TagKind::EndTag => {
                        let last = self.open.borrow_mut().pop();
                        if last.as_ref() != Some(&name) {
                            let complaint = format!("</{name}> closes {last:?}");
                            self.complaints.borrow_mut().push(complaint);
                        }
                    }
                }
            }
            Token::ParseError(what) => self.complaints.borrow_mut().push(what.to_string()),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// Checks that a page is valid, that all of its links lead into it, and that it loads nothing.
#[track_caller]
pub(crate) fn check(page: &str) {
    let input = BufferQueue::default();
    input.push_back(StrTendril::from(page));
    let tokenizer = Tokenizer::new(Seen::default(), Default::default());
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let seen = &tokenizer.sink;
    assert_eq!(seen.complaints.borrow().join("\n"), "");
    assert_eq!(seen.open.borrow().join(" "), "");
    let attributes = seen.attributes.borrow();
    let of = |name: &'static str| attributes.iter().filter(move |(known, _)| known == name).map(|(_, value)| value);
    assert!(of("src").next().is_none());
    for target in of("href") {
        let id = target.strip_prefix('#').expect("a place in the page");
        assert!(of("id").any(|known| known == id), "{target}");
    }
    for word in ["http:", "https:", "url(", "@import", "<script", "<link"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn a_page_is_valid_and_loads_nothing() {
    let learner = with_explanations();
    fs::write(learner.path("my/v05.cu"), "void f()\n{\n  if (a < b && \"</td>\") x;\n}\n").expect("a file");
    assert_eq!(learner.output(0, "explain v05 --html page.html"), "wrote page.html\n");
    let page = learner.read("page.html");
    check(&page);
    for word in ["&lt;/td&gt;", "prefers-color-scheme: dark", "@media print", "tabindex=\"0\"", "scope=\"col\""] {
        assert!(page.contains(word), "{word}");
    }

    let (code, _) = run_with_note(&learner, "explain v05 --html nowhere/page.html", "error: writing nowhere/page.html");
    assert_eq!(code, 3);
}
