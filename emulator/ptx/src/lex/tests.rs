use super::*;

fn check(text: &str, expected: &str) {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    loop {
        match lexer.next() {
            Ok(Token { kind: TokenKind::End, .. }) => break,
            Ok(token) => found.push(format!("{}:{}:{}", token.span.line, token.span.column, token.text)),
            Err(error) => {
                found.push(error.to_string());
                break;
            }
        }
    }
    assert_eq!(found.join(" "), expected);
}

#[test]
fn tokens_know_their_place() {
    check("add.s32 %r1,\r\n  0x1F;", "1:1:add 1:4:s32 1:9:%r1 1:12:, 2:3:0x1F 2:7:;");
    check("/* ä\n */ x // y\n\"ü\" z", "2:5:x 3:1:ü 3:5:z");
}

#[test]
fn dots_join_what_belongs_together() {
    check(".L2::128B .2d 1.5 8.4 .m16n8k16", "1:1:L2::128B 1:11:2d 1:15:1.5 1:19:8.4 1:23:m16n8k16");
    check("1e-3 0f3F800000 1.e4 12U", "1:1:1e-3 1:6:0f3F800000 1:17:1.e4 1:22:12U");
}

#[test]
fn what_cannot_be_read_is_said() {
    check("a /* b", "1:1:a line 1, column 3: this comment is never closed by `*/`");
    check("\"a\nb\"", "line 1, column 1: this string is never closed by `\"`");
    check("a ü", "1:1:a line 1, column 3: the character 'ü' has no meaning here");
}
